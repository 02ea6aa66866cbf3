/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samr: the Security Account Manager (MS-SAMR). Requests and replies of the calls that clients of a
 * DC make. Their names are those of the specification without the prefix Samr.
 */
#ifndef PROTOCOLS_RPC_RPC_SAMR_H
#define PROTOCOLS_RPC_RPC_SAMR_H

#include "protocols/rpc/rpc_interface.h"

enum samr_opnum {
    SAMR_CONNECT = 0,
    SAMR_CLOSE = 1,
    SAMR_QUERY_SECURITY = 3,
    SAMR_LOOKUP_DOMAIN = 5,
    SAMR_ENUM_DOMAINS = 6,
    SAMR_OPEN_DOMAIN = 7,
    SAMR_QUERY_DOMAIN_INFO = 8,
    SAMR_ENUM_DOMAIN_GROUPS = 11,
    SAMR_ENUM_DOMAIN_USERS = 13,
    SAMR_ENUM_DOMAIN_ALIASES = 15,
    SAMR_GET_ALIAS_MEMBERSHIP = 16,
    SAMR_LOOKUP_NAMES = 17,
    SAMR_LOOKUP_RIDS = 18,
    SAMR_OPEN_GROUP = 19,
    SAMR_QUERY_GROUP_MEMBER = 25,
    SAMR_OPEN_USER = 34,
    SAMR_QUERY_USER_INFO = 36,
    SAMR_GET_GROUPS_FOR_USER = 39,
    SAMR_QUERY_DISPLAY_INFO = 40,
    SAMR_GET_USER_PW_INFO = 44,
    SAMR_QUERY_DOMAIN_INFO2 = 46,
    SAMR_CONNECT2 = 57,
    SAMR_CONNECT4 = 62,
    SAMR_CONNECT5 = 64
};

enum { SAMR_MAXIMUM_ALLOWED = 0x02000000, SAMR_NAMES_MAX = 1000 };

/* A handle alone: the request of Close and GetUserPwInfo, the reply of many calls. */
struct samr_handle_request {
    struct ndr_policy_handle handle;
};

struct samr_handle_reply {
    struct ndr_policy_handle handle;
    uint32_t status;
};

struct samr_Connect_request {
    uint16_t *server_name; /* one character, as in the IDL */
    uint32_t access;
};
#define samr_Connect_reply samr_handle_reply

struct samr_Connect2_request {
    char *server_name;
    uint32_t access;
};
#define samr_Connect2_reply samr_handle_reply

struct samr_Connect4_request {
    char *server_name;
    uint32_t client_revision, access;
};
#define samr_Connect4_reply samr_handle_reply

struct samr_Connect5_request {
    char *server_name;
    uint32_t access;
    uint32_t in_version; /* 1 */
    uint32_t revision, features;
};
struct samr_Connect5_reply {
    uint32_t out_version, revision, features;
    struct ndr_policy_handle handle;
    uint32_t status;
};

#define samr_Close_request samr_handle_request
#define samr_Close_reply   samr_handle_reply

struct samr_QuerySecurity_request {
    struct ndr_policy_handle handle;
    uint32_t security_information;
};
struct samr_security_descriptor {
    uint32_t size;
    uint8_t *bytes; /* self-relative, MS-DTYP 2.4.6 */
};
struct samr_QuerySecurity_reply {
    struct samr_security_descriptor *descriptor;
    uint32_t status;
};

struct samr_LookupDomain_request {
    struct ndr_policy_handle handle;
    char *name;
};
struct samr_LookupDomain_reply {
    struct ndr_sid *sid;
    uint32_t status;
};

/* One element of an enumeration: RID or index, and name. */
struct samr_entry {
    uint32_t rid;
    char *name;
};
struct samr_entries {
    uint32_t count;
    struct samr_entry *entries;
};

struct samr_EnumDomains_request {
    struct ndr_policy_handle handle;
    uint32_t resume, max_size;
};
/* The reply of EnumDomains, EnumDomainGroups, EnumDomainUsers and EnumDomainAliases. */
struct samr_enum_reply {
    uint32_t resume;
    struct samr_entries *entries;
    uint32_t count;
    uint32_t status; /* STATUS_MORE_ENTRIES: the next request sends resume */
};
#define samr_EnumDomains_reply         samr_enum_reply
#define samr_EnumDomainGroups_request  samr_EnumDomains_request
#define samr_EnumDomainGroups_reply    samr_enum_reply
#define samr_EnumDomainAliases_request samr_EnumDomains_request
#define samr_EnumDomainAliases_reply   samr_enum_reply
struct samr_EnumDomainUsers_request {
    struct ndr_policy_handle handle;
    uint32_t resume, account_flags, max_size;
};
#define samr_EnumDomainUsers_reply samr_enum_reply

struct samr_OpenDomain_request {
    struct ndr_policy_handle handle;
    uint32_t access;
    struct ndr_sid sid;
};
#define samr_OpenDomain_reply samr_handle_reply

/* MS-SAMR 2.2.3.1. Each level sets only some of the members. Times are in 100 ns. */
struct samr_domain_info {
    uint16_t level;
    uint16_t min_password_length, password_history, lockout_threshold;
    uint32_t password_properties;
    uint64_t max_password_age, min_password_age;
    uint64_t force_logoff, modified_count, created, modified_count_at_promotion;
    uint64_t lockout_duration, lockout_window;
    char *comment, *name, *primary;
    uint32_t server_state, server_role, unknown, users, groups, aliases;
};
struct samr_QueryDomainInfo_request {
    struct ndr_policy_handle handle;
    uint16_t level;
};
struct samr_QueryDomainInfo_reply {
    struct samr_domain_info *info;
    uint32_t status;
};
#define samr_QueryDomainInfo2_request samr_QueryDomainInfo_request
#define samr_QueryDomainInfo2_reply   samr_QueryDomainInfo_reply

struct samr_ids {
    uint32_t count;
    uint32_t *ids;
};
struct samr_GetAliasMembership_request {
    struct ndr_policy_handle handle;
    uint32_t count;
    struct ndr_sid **sids;
};
struct samr_GetAliasMembership_reply {
    struct samr_ids rids;
    uint32_t status;
};

struct samr_LookupNames_request {
    struct ndr_policy_handle handle;
    uint32_t count; /* at most SAMR_NAMES_MAX */
    char **names;
};
struct samr_LookupNames_reply {
    struct samr_ids rids, types;
    uint32_t status;
};

struct samr_LookupRids_request {
    struct ndr_policy_handle handle;
    uint32_t count;
    uint32_t *rids;
};
struct samr_names {
    uint32_t count;
    char **names;
};
struct samr_LookupRids_reply {
    struct samr_names names;
    struct samr_ids types;
    uint32_t status;
};

/* OpenGroup and OpenUser. */
struct samr_open_request {
    struct ndr_policy_handle handle;
    uint32_t access, rid;
};
#define samr_OpenGroup_request samr_open_request
#define samr_OpenGroup_reply   samr_handle_reply
#define samr_OpenUser_request  samr_open_request
#define samr_OpenUser_reply    samr_handle_reply

struct samr_members {
    uint32_t count;
    uint32_t *rids, *attributes;
};
#define samr_QueryGroupMember_request samr_handle_request
struct samr_QueryGroupMember_reply {
    struct samr_members *members;
    uint32_t status;
};

struct samr_membership {
    uint32_t rid, attributes;
};
struct samr_memberships {
    uint32_t count;
    struct samr_membership *memberships;
};
#define samr_GetGroupsForUser_request samr_handle_request
struct samr_GetGroupsForUser_reply {
    struct samr_memberships *groups;
    uint32_t status;
};

enum { SAMR_LOGON_HOURS_MAX = 1260 }; /* bytes, MS-SAMR 2.2.6.5 */

struct samr_logon_hours {
    uint16_t units; /* bits; 168: one per hour of a week */
    uint8_t *bits;
};
/* What a user's account holds (MS-SAMR 2.2.6.6 SAMPR_USER_ALL_INFORMATION). Smaller levels set only
 * some of the members. */
struct samr_user_info {
    uint16_t level;
    char *account_name, *full_name, *admin_comment, *user_comment, *home_directory, *home_drive;
    char *logon_script, *profile_path, *workstations, *parameters, *lm_password, *nt_password;
    char *private_data, *unknown;
    uint64_t last_logon, last_logoff, last_password_change, account_expires;
    uint64_t allow_password_change, force_password_change;
    uint32_t rid, primary_gid, account_control, fields_present;
    uint32_t security_descriptor_size;
    uint8_t *security_descriptor;
    struct samr_logon_hours logon_hours;
    uint16_t bad_password_count, logon_count, country_code, code_page;
    uint8_t lm_password_set, nt_password_set, password_expired, private_data_sensitive;
};

/* SAMPR_USER_INFO_BUFFER of a struct samr_user_info, preceded by its level. Fails on levels that
 * cannot be queried. In rpc_samr_user.c. */
ndr_coder samr_user_info_coder;

struct samr_QueryUserInfo_request {
    struct ndr_policy_handle handle;
    uint16_t level;
};
struct samr_QueryUserInfo_reply {
    struct samr_user_info *info;
    uint32_t status;
};

struct samr_QueryDisplayInfo_request {
    struct ndr_policy_handle handle;
    uint16_t level; /* 1: users */
    uint32_t start, max_entries, max_size;
};
struct samr_display_entry {
    uint32_t index, rid, account_control;
    char *account_name, *comment, *full_name; /* full_name: level 1 only */
};
struct samr_QueryDisplayInfo_reply {
    uint32_t total_size, returned_size;
    uint16_t level;
    uint32_t count;
    struct samr_display_entry *entries;
    uint32_t status;
};

#define samr_GetUserPwInfo_request samr_handle_request
struct samr_GetUserPwInfo_reply {
    uint16_t min_password_length;
    uint32_t password_properties;
    uint32_t status;
};

#endif
