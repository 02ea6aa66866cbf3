/* SPDX-License-Identifier: Apache-2.0 */
/* lsarpc: the Local Security Authority (MS-LSAD, MS-LSAT), the calls that clients of a DC make. */
#ifndef PROTOCOLS_RPC_RPC_LSARPC_H
#define PROTOCOLS_RPC_RPC_LSARPC_H

#include "protocols/rpc/rpc_interface.h"

enum lsarpc_opnum {
    LSARPC_CLOSE = 0,
    LSARPC_OPEN_POLICY = 6,
    LSARPC_QUERY_INFORMATION_POLICY = 7,
    LSARPC_LOOKUP_NAMES = 14,
    LSARPC_LOOKUP_SIDS = 15,
    LSARPC_QUERY_TRUSTED_DOMAIN_INFO_BY_SID = 39,
    LSARPC_OPEN_POLICY2 = 44,
    LSARPC_QUERY_INFORMATION_POLICY2 = 46,
    LSARPC_LOOKUP_SIDS3 = 76,
    LSARPC_LOOKUP_NAMES4 = 77
};

enum { LSARPC_MAXIMUM_ALLOWED = 0x02000000, LSARPC_NAMES_MAX = 1000, LSARPC_SIDS_MAX = 20480 };

/* POLICY_INFORMATION_CLASS, MS-LSAD 2.2.4.1 */
enum lsarpc_policy_level {
    LSARPC_POLICY_AUDIT_LOG = 1,
    LSARPC_POLICY_AUDIT_EVENTS = 2,
    LSARPC_POLICY_PRIMARY_DOMAIN = 3,
    LSARPC_POLICY_PD_ACCOUNT = 4,
    LSARPC_POLICY_ACCOUNT_DOMAIN = 5,
    LSARPC_POLICY_SERVER_ROLE = 6,
    LSARPC_POLICY_REPLICA_SOURCE = 7,
    LSARPC_POLICY_MODIFICATION = 9,
    LSARPC_POLICY_DNS_DOMAIN = 12,
    LSARPC_POLICY_DNS_DOMAIN_INT = 13,
    LSARPC_POLICY_LOCAL_ACCOUNT_DOMAIN = 14
};

struct lsarpc_handle_request {
    struct ndr_policy_handle handle;
};
struct lsarpc_handle_reply {
    struct ndr_policy_handle handle;
    uint32_t status;
};
#define lsarpc_Close_request lsarpc_handle_request
#define lsarpc_Close_reply   lsarpc_handle_reply

/* The coder adds object attributes that have only a length and a quality of service. */
struct lsarpc_OpenPolicy_request {
    uint16_t *system_name; /* one character, as in the IDL */
    uint32_t access;
};
#define lsarpc_OpenPolicy_reply lsarpc_handle_reply
struct lsarpc_OpenPolicy2_request {
    char *system_name;
    uint32_t access;
};
#define lsarpc_OpenPolicy2_reply lsarpc_handle_reply

struct lsarpc_QueryInformationPolicy_request {
    struct ndr_policy_handle handle;
    uint16_t level;
};
/* Each level sets only some of the members. */
struct lsarpc_policy_info {
    uint16_t level;
    uint32_t role; /* 2 backup, 3 primary */
    uint32_t percent_full, log_size, next_audit_record, auditing_mode, event_count;
    uint32_t *events;
    uint64_t retention_time, time_to_shutdown, modified_id, created;
    uint8_t shutdown_in_progress;
    char *name, *dns_domain, *dns_forest, *account;
    struct ndr_guid guid;
    struct ndr_sid *sid;
};
struct lsarpc_QueryInformationPolicy_reply {
    struct lsarpc_policy_info *info;
    uint32_t status;
};
#define lsarpc_QueryInformationPolicy2_request lsarpc_QueryInformationPolicy_request
#define lsarpc_QueryInformationPolicy2_reply   lsarpc_QueryInformationPolicy_reply

struct lsarpc_domain {
    char *name;
    struct ndr_sid *sid;
};
struct lsarpc_domains {
    uint32_t count;
    struct lsarpc_domain *domains;
    uint32_t max_count;
};

/* LSA_TRANSLATED_SID sets rid; LSAPR_TRANSLATED_SID_EX2 sets sid and flags. */
struct lsarpc_translated_sid {
    uint16_t use;
    uint32_t rid, domain_index, flags;
    struct ndr_sid *sid;
};
struct lsarpc_translated_sids {
    uint32_t count;
    struct lsarpc_translated_sid *sids;
};
/* LSAPR_TRANSLATED_NAME; LSAPR_TRANSLATED_NAME_EX has flags too. */
struct lsarpc_translated_name {
    uint16_t use;
    char *name;
    uint32_t domain_index, flags;
};
struct lsarpc_translated_names {
    uint32_t count;
    struct lsarpc_translated_name *names;
};

struct lsarpc_LookupNames_request {
    struct ndr_policy_handle handle;
    uint32_t count;
    char **names;
    uint16_t level; /* 1: LsapLookupWksta */
};
struct lsarpc_LookupNames_reply {
    struct lsarpc_domains *domains;
    struct lsarpc_translated_sids sids;
    uint32_t mapped;
    uint32_t status;
};
struct lsarpc_LookupSids_request {
    struct ndr_policy_handle handle;
    uint32_t count;
    struct ndr_sid **sids;
    uint16_t level;
};
struct lsarpc_LookupSids_reply {
    struct lsarpc_domains *domains;
    struct lsarpc_translated_names names;
    uint32_t mapped;
    uint32_t status;
};
struct lsarpc_LookupSids3_request {
    uint32_t count;
    struct ndr_sid **sids;
    uint16_t level;
    uint32_t options, client_revision;
};
#define lsarpc_LookupSids3_reply lsarpc_LookupSids_reply
struct lsarpc_LookupNames4_request {
    uint32_t count;
    char **names;
    uint16_t level;
    uint32_t options, client_revision;
};
#define lsarpc_LookupNames4_reply lsarpc_LookupNames_reply

struct lsarpc_QueryTrustedDomainInfo_request {
    struct ndr_policy_handle handle;
    struct ndr_sid sid;
    uint16_t level; /* 1: TrustedDomainNameInformation */
};
struct lsarpc_QueryTrustedDomainInfo_reply {
    struct lsarpc_trusted_name {
        char *name;
    } * info;
    uint32_t status;
};

#endif
