/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of drsuapi (MS-DRSR). In the order of an IDL file: types before the calls that use them,
 * the table of procedures at the end. */
#include "protocols/rpc/rpc_drsuapi.h"

#include <stddef.h>

#include "base/utf16.h"
#include "protocols/rpc/ndr_private.h"

/* DRS_EXTENSIONS: [range(1,10000)] cb, [size_is(cb)] rgb; the conformance comes first */
static void extensions_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct drsuapi_extensions *extensions = value;
    uint32_t conformance = extensions->size;
    if (ndr->mode != NDR_PRINT)
        ndr_u32(ndr, field, &conformance);
    ndr_u32_range(ndr, "cb", &extensions->size, 1, DRSUAPI_EXTENSIONS_MAX);
    if (!ndr->failed && ndr->mode != NDR_PRINT && conformance != extensions->size)
        ndr_fail(ndr, field, "array size differs from its count");
    if (!ndr->failed && ndr->mode == NDR_DECODE)
        extensions->bytes = ndr_arena_room(ndr, field, extensions->size);
    if (!ndr->failed && !extensions->bytes)
        ndr_fail(ndr, field, "a null pointer to a counted array");
    else
        ndr_bytes(ndr, "rgb", extensions->bytes, extensions->size);
}

/* 0: [in,unique] UUID *puuidClientDsa, [in,unique] DRS_EXTENSIONS *pextClient,
 * [out] DRS_EXTENSIONS **ppextServer, [out] DRS_HANDLE */
static void drsuapi_DsBind_request_coder(struct ndr *ndr, const char *field, void *value,
                                         uint32_t arg)
{
    (void)field, (void)arg;
    struct drsuapi_DsBind_request *request = value;
    ndr_unique(ndr, "puuidClientDsa", &request->client, ndr_guid_coder, 0);
    ndr_flush(ndr);
    ndr_unique(ndr, "pextClient", &request->extensions, extensions_coder, 0);
    ndr_flush(ndr);
}

static void drsuapi_DsBind_reply_coder(struct ndr *ndr, const char *field, void *value,
                                       uint32_t arg)
{
    (void)field;
    struct drsuapi_DsBind_reply *reply = value;
    ndr_unique(ndr, "ppextServer", &reply->extensions, extensions_coder, 0);
    ndr_flush(ndr);
    ndr_policy_handle_coder(ndr, "phDrs", &reply->handle, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 1: [in,out] DRS_HANDLE */
static void drsuapi_DsUnbind_request_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field;
    struct drsuapi_DsUnbind_request *request = value;
    ndr_policy_handle_coder(ndr, "phDrs", &request->handle, arg);
}

static void drsuapi_DsUnbind_reply_coder(struct ndr *ndr, const char *field, void *value,
                                         uint32_t arg)
{
    (void)field;
    struct drsuapi_DsUnbind_reply *reply = value;
    ndr_policy_handle_coder(ndr, "phDrs", &reply->handle, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

static void text_pointer_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    ndr_unique_wstring(ndr, field, value);
}

/* 12: [in] hDrs, [in] dwInVersion 1, DRS_MSG_CRACKREQ_V1: CodePage, LocaleId, dwFlags,
 * formatOffered, formatDesired, [range(1,10000)] cNames, [string,size_is(cNames)] rpNames */
static void drsuapi_DsCrackNames_request_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field;
    struct drsuapi_DsCrackNames_request *request = value;
    ndr_policy_handle_coder(ndr, "hDrs", &request->handle, arg);
    ndr_tag32(ndr, "dwInVersion", 1);
    ndr_tag32(ndr, "pmsgIn", 1);
    ndr_u32(ndr, "CodePage", &request->code_page);
    ndr_u32(ndr, "LocaleId", &request->locale);
    ndr_u32(ndr, "dwFlags", &request->flags);
    ndr_u32(ndr, "formatOffered", &request->offered);
    ndr_u32(ndr, "formatDesired", &request->desired);
    ndr_u32_range(ndr, "cNames", &request->count, 1, DRSUAPI_NAMES_MAX);
    ndr_unique_array(ndr, "rpNames", &request->names, request->count, text_pointer_coder);
    ndr_flush(ndr);
}

/* DS_NAME_RESULT_ITEMW: status, pDomain, pName */
static void name_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct drsuapi_name *name = value;
    ndr_u32(ndr, "status", &name->status);
    ndr_unique_wstring(ndr, "pDomain", &name->domain);
    ndr_unique_wstring(ndr, "pName", &name->name);
}

/* DS_NAME_RESULTW: cItems, [size_is(cItems)] rItems */
static void drsuapi_names_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct drsuapi_names *names = value;
    ndr_u32(ndr, "cItems", &names->count);
    ndr_unique_array(ndr, "rItems", &names->names, names->count, name_coder);
}

static void drsuapi_DsCrackNames_reply_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field, (void)arg;
    struct drsuapi_DsCrackNames_reply *reply = value;
    ndr_tag32(ndr, "pdwOutVersion", 1);
    ndr_tag32(ndr, "pmsgOut", 1);
    ndr_unique(ndr, "pResult", &reply->result, drsuapi_names_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 13: [in] hDrs, [in] dwInVersion 1, DRS_MSG_SPNREQ_V1: operation, flags, [string] pwszAccount,
 * [range(0,10000)] cSPN, [string,size_is(cSPN)] rpwszSPN */
static void drsuapi_DsWriteAccountSpn_request_coder(struct ndr *ndr, const char *field, void *value,
                                                    uint32_t arg)
{
    (void)field;
    struct drsuapi_DsWriteAccountSpn_request *request = value;
    ndr_policy_handle_coder(ndr, "hDrs", &request->handle, arg);
    ndr_tag32(ndr, "dwInVersion", 1);
    ndr_tag32(ndr, "pmsgIn", 1);
    ndr_u32(ndr, "operation", &request->operation);
    ndr_u32(ndr, "flags", &request->flags);
    ndr_unique_wstring(ndr, "pwszAccount", &request->account_dn);
    ndr_u32_range(ndr, "cSPN", &request->count, 0, DRSUAPI_NAMES_MAX);
    ndr_unique_array(ndr, "rpwszSPN", &request->spns, request->count, text_pointer_coder);
    ndr_flush(ndr);
}

static void drsuapi_DsWriteAccountSpn_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                  uint32_t arg)
{
    (void)field, (void)arg;
    struct drsuapi_DsWriteAccountSpn_reply *reply = value;
    ndr_tag32(ndr, "pdwOutVersion", 1);
    ndr_tag32(ndr, "pmsgOut", 1);
    ndr_u32(ndr, "retVal", &reply->result);
    ndr_u32(ndr, "Status", &reply->status);
}

/* USN_VECTOR: usnHighObjUpdate, usnReserved, usnHighPropUpdate */
static void usn_vector(struct ndr *ndr, struct drsuapi_usn_vector *vector)
{
    ndr_u64(ndr, "usnHighObjUpdate", &vector->object_update);
    ndr_u64(ndr, "usnReserved", &vector->reserved);
    ndr_u64(ndr, "usnHighPropUpdate", &vector->property_update);
}

/* DSNAME, MS-DRSR 5.50: structLen, SidLen, Guid, Sid[28], NameLen,
 * [range(0,10485761),size_is(NameLen + 1)] StringName; the conformance comes first */
static void dsname_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct drsuapi_dsname *name = value;
    size_t size = 0;
    if (ndr->mode == NDR_ENCODE && utf16le_size(name->dn, &size) < 0)
        ndr_fail(ndr, field, "text is not UTF-8");
    uint32_t units = (uint32_t)(size / 2), conformance = units + 1, length = 58 + units * 2;
    ndr_u32(ndr, field, &conformance);
    ndr_u32(ndr, "structLen", &length);
    ndr_u32_range(ndr, "SidLen", &name->sid_size, 0, DRSUAPI_SID_SIZE);
    ndr_guid_coder(ndr, "Guid", &name->guid, arg);
    ndr_bytes(ndr, "Sid", name->sid, sizeof name->sid);
    ndr_u32_range(ndr, "NameLen", &units, 0, DRSUAPI_DN_MAX);
    if (!ndr->failed && conformance != units + 1)
        ndr_fail(ndr, field, "array size differs from its count");
    ndr_utf16(ndr, "StringName", &name->dn, (size_t)units * 2);
    ndr_tag16(ndr, "StringName", 0);
}

/* 3: [in] hDrs, [in] dwInVersion 8, DRS_MSG_GETCHGREQ_V8: uuidDsaObjDest, uuidInvocIdSrc, [ref]
 * pNC, usnvecFrom, pUpToDateVecDest, ulFlags, cMaxObjects, cMaxBytes, ulExtendedOp, liFsmoInfo,
 * pPartialAttrSet, pPartialAttrSetEx, PrefixTableDest (PrefixCount, pPrefixEntry) */
static void drsuapi_DsGetNCChanges_request_coder(struct ndr *ndr, const char *field, void *value,
                                                 uint32_t arg)
{
    (void)field;
    struct drsuapi_DsGetNCChanges_request *request = value;
    uint64_t fsmo_info = 0;
    ndr_policy_handle_coder(ndr, "hDrs", &request->handle, arg);
    ndr_tag32(ndr, "dwInVersion", 8);
    ndr_tag32(ndr, "pmsgIn", 8);
    ndr_align(ndr, 8);
    ndr_guid_coder(ndr, "uuidDsaObjDest", &request->destination, arg);
    ndr_guid_coder(ndr, "uuidInvocIdSrc", &request->invocation_id, arg);
    ndr_ref(ndr, "pNC", &request->naming_context, dsname_coder, 0);
    usn_vector(ndr, &request->from);
    ndr_tag32(ndr, "pUpToDateVecDest", 0);
    ndr_u32(ndr, "ulFlags", &request->flags);
    ndr_u32(ndr, "cMaxObjects", &request->max_objects);
    ndr_u32(ndr, "cMaxBytes", &request->max_bytes);
    ndr_u32(ndr, "ulExtendedOp", &request->extended_operation);
    ndr_u64(ndr, "liFsmoInfo", &fsmo_info);
    ndr_tag32(ndr, "pPartialAttrSet", 0);
    ndr_tag32(ndr, "pPartialAttrSetEx", 0);
    ndr_tag32(ndr, "PrefixCount", 0);
    ndr_tag32(ndr, "pPrefixEntry", 0);
    ndr_flush(ndr);
}

/* DRS_MSG_GETCHGREPLY_V6: uuidDsaObjSrc, uuidInvocIdSrc, pNC, usnvecFrom, usnvecTo,
 * pUpToDateVecSrc, PrefixTableSrc (PrefixCount, pPrefixEntry), ulExtendedRet, cNumObjects,
 * cNumBytes, pObjects, fMoreData, cNumNcSizeObjects, cNumNcSizeValues, cNumValues, rgValues,
 * dwDRSError. The pointees follow; they are not decoded. */
static void drsuapi_DsGetNCChanges_reply_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field;
    struct drsuapi_DsGetNCChanges_reply *reply = value;
    uint32_t skipped = 0;
    ndr_u32(ndr, "pdwOutVersion", &reply->version);
    ndr_tag32(ndr, "pmsgOut", reply->version);
    if (reply->version != 6)
        return;
    ndr_align(ndr, 8);
    ndr_guid_coder(ndr, "uuidDsaObjSrc", &reply->source, arg);
    ndr_guid_coder(ndr, "uuidInvocIdSrc", &reply->invocation_id, arg);
    ndr_u32(ndr, "pNC", &skipped);
    usn_vector(ndr, &reply->from);
    usn_vector(ndr, &reply->to);
    ndr_u32(ndr, "pUpToDateVecSrc", &skipped);
    ndr_u32(ndr, "PrefixCount", &skipped);
    ndr_u32(ndr, "pPrefixEntry", &skipped);
    ndr_u32(ndr, "ulExtendedRet", &reply->extended_result);
    ndr_u32(ndr, "cNumObjects", &reply->object_count);
    ndr_u32(ndr, "cNumBytes", &reply->byte_count);
    ndr_u32(ndr, "pObjects", &skipped);
    ndr_u32(ndr, "fMoreData", &reply->more_data);
    ndr_u32(ndr, "cNumNcSizeObjects", &skipped);
    ndr_u32(ndr, "cNumNcSizeValues", &skipped);
    ndr_u32(ndr, "cNumValues", &reply->value_count);
    ndr_u32(ndr, "rgValues", &skipped);
    ndr_u32(ndr, "dwDRSError", &reply->error);
}

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(drsuapi, 0, DsBind),
    RPC_PROCEDURE(drsuapi, 1, DsUnbind),
    RPC_PROCEDURE(drsuapi, 3, DsGetNCChanges),
    RPC_PROCEDURE(drsuapi, 12, DsCrackNames),
    RPC_PROCEDURE(drsuapi, 13, DsWriteAccountSpn),
    {.name = NULL},
};

const struct rpc_interface rpc_drsuapi = {.name = "drsuapi",
                                          .uuid = "e3514235-4b06-11d1-ab04-00c04fc2dcd2",
                                          .version_major = 4,
                                          .version_minor = 0,
                                          .pipe = NULL,
                                          .procedures = procedures};
