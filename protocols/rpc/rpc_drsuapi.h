/* SPDX-License-Identifier: Apache-2.0 */
/* drsuapi: directory replication (MS-DRSR 4.1), the calls that clients of a DC make. */
#ifndef PROTOCOLS_RPC_RPC_DRSUAPI_H
#define PROTOCOLS_RPC_RPC_DRSUAPI_H

#include "protocols/rpc/rpc_interface.h"

enum drsuapi_opnum {
    DRSUAPI_DS_BIND = 0,
    DRSUAPI_DS_UNBIND = 1,
    DRSUAPI_GET_NC_CHANGES = 3,
    DRSUAPI_DS_CRACK_NAMES = 12,
    DRSUAPI_DS_WRITE_ACCOUNT_SPN = 13
};

enum { DRSUAPI_EXTENSIONS_MAX = 10000, DRSUAPI_NAMES_MAX = 10000, DRSUAPI_DN_MAX = 10485761 };

/* NTDSAPI_CLIENT_GUID, MS-DRSR 5.138: with which clients of the management calls bind */
#define DRSUAPI_CLIENT_GUID "e24d201a-4fd6-11d1-a3da-0000f875ae0d"

/* DRS_EXTENSIONS, MS-DRSR 5.38 */
struct drsuapi_extensions {
    uint32_t size;
    uint8_t *bytes;
};
struct drsuapi_DsBind_request {
    struct ndr_guid *client;
    struct drsuapi_extensions *extensions;
};
struct drsuapi_DsBind_reply {
    struct drsuapi_extensions *extensions;
    struct ndr_policy_handle handle;
    uint32_t status; /* WERROR, as in every reply */
};

struct drsuapi_DsUnbind_request {
    struct ndr_policy_handle handle;
};
struct drsuapi_DsUnbind_reply {
    struct ndr_policy_handle handle;
    uint32_t status;
};

/* DRS_MSG_CRACKREQ_V1 */
struct drsuapi_DsCrackNames_request {
    struct ndr_policy_handle handle;
    uint32_t code_page, locale, flags, offered, desired;
    uint32_t count;
    char **names;
};
/* DS_NAME_RESULT_ITEMW */
struct drsuapi_name {
    uint32_t status;
    char *domain, *name;
};
struct drsuapi_names {
    uint32_t count;
    struct drsuapi_name *names;
};
struct drsuapi_DsCrackNames_reply {
    struct drsuapi_names *result;
    uint32_t status;
};

enum { DRSUAPI_SPN_ADD = 0, DRSUAPI_SPN_REPLACE = 1, DRSUAPI_SPN_DELETE = 2 };

/* DRS_MSG_SPNREQ_V1 */
struct drsuapi_DsWriteAccountSpn_request {
    struct ndr_policy_handle handle;
    uint32_t operation, flags;
    char *account_dn;
    uint32_t count;
    char **spns;
};
struct drsuapi_DsWriteAccountSpn_reply {
    uint32_t result; /* WERROR of the operation */
    uint32_t status;
};

enum { DRSUAPI_SID_SIZE = 28 };

/* DSNAME: names an object by DN, by GUID unless that is zero, by SID unless sid_size is 0 */
struct drsuapi_dsname {
    struct ndr_guid guid;
    uint32_t sid_size;
    uint8_t sid[DRSUAPI_SID_SIZE];
    char *dn;
};
struct drsuapi_usn_vector {
    uint64_t object_update, reserved, property_update;
};
/* DRS_MSG_GETCHGREQ_V8 */
struct drsuapi_DsGetNCChanges_request {
    struct ndr_policy_handle handle;
    struct ndr_guid destination, invocation_id;
    struct drsuapi_dsname *naming_context;
    struct drsuapi_usn_vector from;
    uint32_t flags, max_objects, max_bytes, extended_operation;
};
/* DRS_MSG_GETCHGREPLY_V6 without the objects, which the program does not need. Of other versions,
 * only the version is decoded. */
struct drsuapi_DsGetNCChanges_reply {
    uint32_t version;
    struct ndr_guid source, invocation_id;
    struct drsuapi_usn_vector from, to;
    uint32_t extended_result, object_count, byte_count, more_data, value_count, error;
};

#endif
