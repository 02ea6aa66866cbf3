/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of srvsvc (MS-SRVS). In the order of an IDL file: types before the calls that use them,
 * the table of procedures at the end. */
#include "protocols/rpc/rpc_srvsvc.h"

#include <stddef.h>

/* Information levels nest: each of these adds fields to the one before. */
enum share_part { SHARE_NAME, SHARE_TYPE, SHARE_USE, SHARE_SECURITY };

/* SHARE_INFO_0, _1, _2, _502_I: name; type, remark; permissions, max uses, current uses, path,
 * password; reserved (the descriptor's size) and descriptor */
static void share_fields(struct ndr *ndr, struct srvsvc_share *share, enum share_part last)
{
    ndr_unique_wstring(ndr, "netname", &share->name);
    if (last >= SHARE_TYPE) {
        ndr_u32(ndr, "type", &share->type);
        ndr_unique_wstring(ndr, "remark", &share->comment);
    }
    if (last >= SHARE_USE) {
        ndr_u32(ndr, "permissions", &share->permissions);
        ndr_u32(ndr, "max_uses", &share->max_users);
        ndr_u32(ndr, "current_uses", &share->current_users);
        ndr_unique_wstring(ndr, "path", &share->path);
        ndr_unique_wstring(ndr, "passwd", &share->password);
    }
    if (last >= SHARE_SECURITY) {
        ndr_u32_range(ndr, "reserved", &share->security_descriptor_size, 0, 262144);
        ndr_unique_array(ndr, "security_descriptor", &share->security_descriptor,
                         share->security_descriptor_size, ndr_u8_coder);
    }
}

static void share_0_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    share_fields(ndr, value, SHARE_NAME);
}

static void share_1_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    share_fields(ndr, value, SHARE_TYPE);
}

static void share_2_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    share_fields(ndr, value, SHARE_USE);
}

/* SHARE_INFO_501: name, type, remark, flags */
static void share_501_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_share *share = value;
    share_fields(ndr, share, SHARE_TYPE);
    ndr_u32(ndr, "flags", &share->flags);
}

static void share_502_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    share_fields(ndr, value, SHARE_SECURITY);
}

/* SHARE_INFO_1005: flags */
static void share_1005_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_share *share = value;
    ndr_u32(ndr, "flags", &share->flags);
}

struct level_coder {
    uint32_t level;
    ndr_coder *coder;
};

static const struct level_coder share_coders[] = {
    {0, share_0_coder},     {1, share_1_coder},       {2, share_2_coder}, {501, share_501_coder},
    {502, share_502_coder}, {1005, share_1005_coder}, {0, NULL},
};

/* The coder of a level; if the table has none, fails the cursor and returns NULL. */
static ndr_coder *level_find(struct ndr *ndr, const struct level_coder *coders, uint32_t level)
{
    for (; coders->coder; coders++)
        if (coders->level == level)
            return coders->coder;
    ndr_fail(ndr, "Level", "unknown information level");
    return NULL;
}

/* SHARE_INFO_n_CONTAINER: EntriesRead, [size_is(EntriesRead)] Buffer; argument is the level */
static void container_coder(struct ndr *ndr, const char *field, void *value, uint32_t level)
{
    (void)field;
    struct srvsvc_shares *shares = value;
    ndr_coder *coder = level_find(ndr, share_coders, level);
    ndr_u32(ndr, "EntriesRead", &shares->count);
    if (coder)
        ndr_unique_array(ndr, "Buffer", &shares->shares, shares->count, coder);
}

static void resume_handle(struct ndr *ndr, uint32_t **resume)
{
    ndr_unique(ndr, "ResumeHandle", resume, ndr_u32_coder, 0);
    ndr_flush(ndr);
}

/* 15: [in,unique,string] ServerName, [in,out] SHARE_ENUM_STRUCT (Level, [switch_is(Level)] a
 * container), [in] PreferedMaximumLength, [out] TotalEntries, [in,out,unique] ResumeHandle */
static void srvsvc_NetShareEnumAll_request_coder(struct ndr *ndr, const char *field, void *value,
                                                 uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetShareEnumAll_request *request = value;
    struct srvsvc_shares empty = {.count = 0}, *shares = &empty;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_u32(ndr, "Level", &request->level);
    ndr_tag32(ndr, "ShareInfo", request->level);
    ndr_unique(ndr, "Container", &shares, container_coder, request->level);
    ndr_flush(ndr);
    ndr_u32(ndr, "PreferedMaximumLength", &request->max_size);
    resume_handle(ndr, &request->resume);
}

static void srvsvc_NetShareEnumAll_reply_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetShareEnumAll_reply *reply = value;
    ndr_u32(ndr, "Level", &reply->level);
    ndr_tag32(ndr, "ShareInfo", reply->level);
    ndr_unique(ndr, "Container", &reply->shares, container_coder, reply->level);
    ndr_flush(ndr);
    ndr_u32(ndr, "TotalEntries", &reply->total);
    resume_handle(ndr, &reply->resume);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 16: [in,unique,string] ServerName, [in,string] NetName, [in] Level,
 * [out,switch_is(Level)] SHARE_INFO */
static void srvsvc_NetShareGetInfo_request_coder(struct ndr *ndr, const char *field, void *value,
                                                 uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetShareGetInfo_request *request = value;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_wstring(ndr, "NetName", &request->share_name);
    ndr_u32(ndr, "Level", &request->level);
}

static void srvsvc_NetShareGetInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetShareGetInfo_reply *reply = value;
    ndr_u32(ndr, "Level", &reply->level);
    ndr_coder *coder = level_find(ndr, share_coders, reply->level);
    if (!coder)
        return;
    ndr_unique(ndr, "InfoStruct", &reply->share, coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 21: [in,unique,string] ServerName, [in] Level, [out,switch_is(Level)] SERVER_INFO */
static void srvsvc_NetSrvGetInfo_request_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetSrvGetInfo_request *request = value;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_u32(ndr, "Level", &request->level);
}

/* SERVER_INFO_100: platform, name */
static void server_100_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_server *server = value;
    ndr_u32(ndr, "platform_id", &server->platform);
    ndr_unique_wstring(ndr, "name", &server->name);
}

/* SERVER_INFO_101: adds version, type, comment */
static void server_101_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct srvsvc_server *server = value;
    server_100_coder(ndr, field, value, arg);
    ndr_u32(ndr, "version_major", &server->version_major);
    ndr_u32(ndr, "version_minor", &server->version_minor);
    ndr_u32(ndr, "type", &server->type);
    ndr_unique_wstring(ndr, "comment", &server->comment);
}

/* SERVER_INFO_102: adds users, disconnect time, hidden, announce, delta, licenses, user path */
static void server_102_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct srvsvc_server *server = value;
    server_101_coder(ndr, field, value, arg);
    ndr_u32(ndr, "users", &server->users);
    ndr_u32(ndr, "disc", &server->disconnect);
    ndr_u32(ndr, "hidden", &server->hidden);
    ndr_u32(ndr, "announce", &server->announce);
    ndr_u32(ndr, "anndelta", &server->announce_delta);
    ndr_u32(ndr, "licenses", &server->licenses);
    ndr_unique_wstring(ndr, "userpath", &server->user_path);
}

static const struct level_coder server_coders[] = {
    {100, server_100_coder}, {101, server_101_coder}, {102, server_102_coder}, {0, NULL}};

static void srvsvc_NetSrvGetInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field, (void)arg;
    struct srvsvc_NetSrvGetInfo_reply *reply = value;
    ndr_u32(ndr, "Level", &reply->level);
    ndr_coder *coder = level_find(ndr, server_coders, reply->level);
    if (!coder)
        return;
    ndr_unique(ndr, "InfoStruct", &reply->server, coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(srvsvc, 15, NetShareEnumAll),
    RPC_PROCEDURE(srvsvc, 16, NetShareGetInfo),
    RPC_PROCEDURE(srvsvc, 21, NetSrvGetInfo),
    {.name = NULL},
};

const struct rpc_interface rpc_srvsvc = {.name = "srvsvc",
                                         .uuid = "4b324fc8-1670-01d3-1278-5a47bf6ee188",
                                         .version_major = 3,
                                         .version_minor = 0,
                                         .pipe = "srvsvc",
                                         .procedures = procedures};
