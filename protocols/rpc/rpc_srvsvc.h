/* SPDX-License-Identifier: Apache-2.0 */
/* srvsvc: the Server Service (MS-SRVS), the calls that clients of a DC make. */
#ifndef PROTOCOLS_RPC_RPC_SRVSVC_H
#define PROTOCOLS_RPC_RPC_SRVSVC_H

#include "protocols/rpc/rpc_interface.h"

enum srvsvc_opnum {
    SRVSVC_NET_SHARE_ENUM_ALL = 15,
    SRVSVC_NET_SHARE_GET_INFO = 16,
    SRVSVC_NET_SRV_GET_INFO = 21
};

/* Each level (0, 1, 2, 501, 502, 1005) sets only some of the members. */
struct srvsvc_share {
    char *name, *comment, *path, *password;
    uint32_t type, permissions, max_users, current_users, flags;
    uint32_t security_descriptor_size;
    uint8_t *security_descriptor;
};

struct srvsvc_NetShareEnumAll_request {
    char *server_name;
    uint32_t level; /* 0, 1, 2, 501 or 502 */
    uint32_t max_size;
    uint32_t *resume;
};
struct srvsvc_shares {
    uint32_t count;
    struct srvsvc_share *shares;
};
struct srvsvc_NetShareEnumAll_reply {
    uint32_t level;
    struct srvsvc_shares *shares;
    uint32_t total;
    uint32_t *resume;
    uint32_t status; /* WERROR */
};

struct srvsvc_NetShareGetInfo_request {
    char *server_name, *share_name;
    uint32_t level;
};
struct srvsvc_NetShareGetInfo_reply {
    uint32_t level;
    struct srvsvc_share *share;
    uint32_t status; /* WERROR */
};

/* Each level (100, 101, 102) sets only some of the members. */
struct srvsvc_server {
    char *name, *comment, *user_path;
    uint32_t platform, version_major, version_minor, type;
    uint32_t users, disconnect, hidden, announce, announce_delta, licenses;
};
struct srvsvc_NetSrvGetInfo_request {
    char *server_name;
    uint32_t level;
};
struct srvsvc_NetSrvGetInfo_reply {
    uint32_t level;
    struct srvsvc_server *server;
    uint32_t status; /* WERROR */
};

#endif
