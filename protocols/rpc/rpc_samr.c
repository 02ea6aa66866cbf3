/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of samr (MS-SAMR). In the order of an IDL file: types before the calls that use them, the
 * table of procedures at the end. */
#include "protocols/rpc/rpc_samr.h"

#include <stddef.h>

/* SAMPR_HANDLE alone. */
static void samr_handle_request_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct samr_handle_request *request = value;
    ndr_policy_handle_coder(ndr, "Handle", &request->handle, arg);
}

static void samr_handle_reply_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct samr_handle_reply *reply = value;
    ndr_policy_handle_coder(ndr, "Handle", &reply->handle, arg);
    ndr_u32(ndr, "Status", &reply->status);
}
#define samr_Connect_reply_coder            samr_handle_reply_coder
#define samr_Connect2_reply_coder           samr_handle_reply_coder
#define samr_Connect4_reply_coder           samr_handle_reply_coder
#define samr_Close_request_coder            samr_handle_request_coder
#define samr_Close_reply_coder              samr_handle_reply_coder
#define samr_OpenDomain_reply_coder         samr_handle_reply_coder
#define samr_OpenGroup_reply_coder          samr_handle_reply_coder
#define samr_OpenUser_reply_coder           samr_handle_reply_coder
#define samr_QueryGroupMember_request_coder samr_handle_request_coder
#define samr_GetGroupsForUser_request_coder samr_handle_request_coder
#define samr_GetUserPwInfo_request_coder    samr_handle_request_coder

/* 0: [in,unique] PSAMPR_SERVER_NAME ServerName (a wchar_t *), [in] DesiredAccess */
static void samr_Connect_request_coder(struct ndr *ndr, const char *field, void *value,
                                       uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_Connect_request *request = value;
    ndr_unique(ndr, "ServerName", &request->server_name, ndr_u16_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "DesiredAccess", &request->access);
}

/* 57: [in,unique,string] ServerName, [in] DesiredAccess */
static void samr_Connect2_request_coder(struct ndr *ndr, const char *field, void *value,
                                        uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_Connect2_request *request = value;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_u32(ndr, "DesiredAccess", &request->access);
}

/* 62: [in,unique,string] ServerName, [in] ClientRevision, [in] DesiredAccess */
static void samr_Connect4_request_coder(struct ndr *ndr, const char *field, void *value,
                                        uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_Connect4_request *request = value;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_u32(ndr, "ClientRevision", &request->client_revision);
    ndr_u32(ndr, "DesiredAccess", &request->access);
}

/* 64: [in,unique,string] ServerName, [in] DesiredAccess, [in] InVersion,
 * [in,switch_is(InVersion)] SAMPR_REVISION_INFO (version 1: Revision, SupportedFeatures) */
static void samr_Connect5_request_coder(struct ndr *ndr, const char *field, void *value,
                                        uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_Connect5_request *request = value;
    ndr_unique_wstring(ndr, "ServerName", &request->server_name);
    ndr_flush(ndr);
    ndr_u32(ndr, "DesiredAccess", &request->access);
    ndr_u32_range(ndr, "InVersion", &request->in_version, 1, 1);
    ndr_tag32(ndr, "InRevisionInfo", 1);
    ndr_u32(ndr, "Revision", &request->revision);
    ndr_u32(ndr, "SupportedFeatures", &request->features);
}

static void samr_Connect5_reply_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct samr_Connect5_reply *reply = value;
    ndr_u32_range(ndr, "OutVersion", &reply->out_version, 1, 1);
    ndr_tag32(ndr, "OutRevisionInfo", 1);
    ndr_u32(ndr, "Revision", &reply->revision);
    ndr_u32(ndr, "SupportedFeatures", &reply->features);
    ndr_policy_handle_coder(ndr, "ServerHandle", &reply->handle, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 3: [in] ObjectHandle, [in] SecurityInformation,
 * [out] SAMPR_SR_SECURITY_DESCRIPTOR **: [range(0,262144)] Length, [size_is(Length)] bytes */
static void samr_QuerySecurity_request_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field;
    struct samr_QuerySecurity_request *request = value;
    ndr_policy_handle_coder(ndr, "ObjectHandle", &request->handle, arg);
    ndr_u32(ndr, "SecurityInformation", &request->security_information);
}

static void security_descriptor_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_security_descriptor *descriptor = value;
    ndr_u32_range(ndr, "Length", &descriptor->size, 0, 262144);
    ndr_unique_array(ndr, "SecurityDescriptor", &descriptor->bytes, descriptor->size, ndr_u8_coder);
}

static void samr_QuerySecurity_reply_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_QuerySecurity_reply *reply = value;
    ndr_unique(ndr, "SecurityDescriptor", &reply->descriptor, security_descriptor_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 5: [in] ServerHandle, [in] PRPC_UNICODE_STRING Name, [out] PRPC_SID *DomainId */
static void samr_LookupDomain_request_coder(struct ndr *ndr, const char *field, void *value,
                                            uint32_t arg)
{
    (void)field;
    struct samr_LookupDomain_request *request = value;
    ndr_policy_handle_coder(ndr, "ServerHandle", &request->handle, arg);
    ndr_unicode_string_coder(ndr, "Name", &request->name, 0);
    ndr_flush(ndr);
}

static void samr_LookupDomain_reply_coder(struct ndr *ndr, const char *field, void *value,
                                          uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_LookupDomain_reply *reply = value;
    ndr_unique(ndr, "DomainId", &reply->sid, ndr_sid_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 6, 11, 15: [in] Handle, [in,out] EnumerationContext, [in] PreferedMaximumLength,
 * [out] PSAMPR_ENUMERATION_BUFFER *, [out] CountReturned */
static void samr_EnumDomains_request_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field;
    struct samr_EnumDomains_request *request = value;
    ndr_policy_handle_coder(ndr, "Handle", &request->handle, arg);
    ndr_u32(ndr, "EnumerationContext", &request->resume);
    ndr_u32(ndr, "PreferedMaximumLength", &request->max_size);
}
#define samr_EnumDomainGroups_request_coder  samr_EnumDomains_request_coder
#define samr_EnumDomainAliases_request_coder samr_EnumDomains_request_coder

/* 13: the same, with UserAccountControl before the length */
static void samr_EnumDomainUsers_request_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field;
    struct samr_EnumDomainUsers_request *request = value;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u32(ndr, "EnumerationContext", &request->resume);
    ndr_u32(ndr, "UserAccountControl", &request->account_flags);
    ndr_u32(ndr, "PreferedMaximumLength", &request->max_size);
}

/* SAMPR_RID_ENUMERATION: RelativeId, Name */
static void entry_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_entry *entry = value;
    ndr_u32(ndr, "RelativeId", &entry->rid);
    ndr_unicode_string_coder(ndr, "Name", &entry->name, 0);
}

/* SAMPR_ENUMERATION_BUFFER: EntriesRead, [size_is(EntriesRead)] Buffer */
static void entries_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_entries *entries = value;
    ndr_u32(ndr, "EntriesRead", &entries->count);
    ndr_unique_array(ndr, "Buffer", &entries->entries, entries->count, entry_coder);
}

static void samr_enum_reply_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_enum_reply *reply = value;
    ndr_u32(ndr, "EnumerationContext", &reply->resume);
    ndr_unique(ndr, "Buffer", &reply->entries, entries_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "CountReturned", &reply->count);
    ndr_u32(ndr, "Status", &reply->status);
}
#define samr_EnumDomains_reply_coder       samr_enum_reply_coder
#define samr_EnumDomainGroups_reply_coder  samr_enum_reply_coder
#define samr_EnumDomainUsers_reply_coder   samr_enum_reply_coder
#define samr_EnumDomainAliases_reply_coder samr_enum_reply_coder

/* 7: [in] ServerHandle, [in] DesiredAccess, [in] PRPC_SID DomainId, [out] DomainHandle */
static void samr_OpenDomain_request_coder(struct ndr *ndr, const char *field, void *value,
                                          uint32_t arg)
{
    (void)field;
    struct samr_OpenDomain_request *request = value;
    ndr_policy_handle_coder(ndr, "ServerHandle", &request->handle, arg);
    ndr_u32(ndr, "DesiredAccess", &request->access);
    ndr_sid_coder(ndr, "DomainId", &request->sid, 0);
}

/* 8, 46: [in] DomainHandle, [in] DomainInformationClass */
static void samr_QueryDomainInfo_request_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field;
    struct samr_QueryDomainInfo_request *request = value;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u16(ndr, "DomainInformationClass", &request->level);
}
#define samr_QueryDomainInfo2_request_coder samr_QueryDomainInfo_request_coder

/* DOMAIN_PASSWORD_INFORMATION */
static void domain_password(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_align(ndr, 4);
    ndr_u16(ndr, "MinPasswordLength", &info->min_password_length);
    ndr_u16(ndr, "PasswordHistoryLength", &info->password_history);
    ndr_u32(ndr, "PasswordProperties", &info->password_properties);
    ndr_old_large_integer(ndr, "MaxPasswordAge", &info->max_password_age);
    ndr_old_large_integer(ndr, "MinPasswordAge", &info->min_password_age);
}

/* SAMPR_DOMAIN_GENERAL_INFORMATION */
static void domain_general(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_old_large_integer(ndr, "ForceLogoff", &info->force_logoff);
    ndr_unicode_string_coder(ndr, "OemInformation", &info->comment, 0);
    ndr_unicode_string_coder(ndr, "DomainName", &info->name, 0);
    ndr_unicode_string_coder(ndr, "ReplicaSourceNodeName", &info->primary, 0);
    ndr_old_large_integer(ndr, "DomainModifiedCount", &info->modified_count);
    ndr_u32(ndr, "DomainServerState", &info->server_state);
    ndr_u32(ndr, "DomainServerRole", &info->server_role);
    ndr_u32(ndr, "UasCompatibilityRequired", &info->unknown);
    ndr_u32(ndr, "UserCount", &info->users);
    ndr_u32(ndr, "GroupCount", &info->groups);
    ndr_u32(ndr, "AliasCount", &info->aliases);
}

static void domain_logoff(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_old_large_integer(ndr, "ForceLogoff", &info->force_logoff);
}

static void domain_oem(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_unicode_string_coder(ndr, "OemInformation", &info->comment, 0);
}

static void domain_name(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_unicode_string_coder(ndr, "DomainName", &info->name, 0);
}

static void domain_primary(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_unicode_string_coder(ndr, "ReplicaSourceNodeName", &info->primary, 0);
}

static void domain_role(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_u32(ndr, "DomainServerRole", &info->server_role);
}

static void domain_modified(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_old_large_integer(ndr, "DomainModifiedCount", &info->modified_count);
    ndr_old_large_integer(ndr, "CreationTime", &info->created);
}

static void domain_state(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_u32(ndr, "DomainServerState", &info->server_state);
}

/* LARGE_INTEGER here: aligned to 8 */
static void domain_lockout(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_u64(ndr, "LockoutDuration", &info->lockout_duration);
    ndr_u64(ndr, "LockoutObservationWindow", &info->lockout_window);
    ndr_u16(ndr, "LockoutThreshold", &info->lockout_threshold);
}

static void domain_general2(struct ndr *ndr, struct samr_domain_info *info)
{
    ndr_align(ndr, 8);
    domain_general(ndr, info);
    domain_lockout(ndr, info);
}

static void domain_modified2(struct ndr *ndr, struct samr_domain_info *info)
{
    domain_modified(ndr, info);
    ndr_old_large_integer(ndr, "ModifiedCountAtLastPromotion", &info->modified_count_at_promotion);
}

typedef void domain_arm(struct ndr *ndr, struct samr_domain_info *info);

/* SAMPR_DOMAIN_INFO_BUFFER, MS-SAMR 2.2.3.17 */
static domain_arm *const domain_arms[] = {
    [1] = domain_password, [2] = domain_general,   [3] = domain_logoff,   [4] = domain_oem,
    [5] = domain_name,     [6] = domain_primary,   [7] = domain_role,     [8] = domain_modified,
    [9] = domain_state,    [11] = domain_general2, [12] = domain_lockout, [13] = domain_modified2,
};

static void samr_domain_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct samr_domain_info *info = value;
    ndr_u16(ndr, "DomainInformationClass", &info->level);
    if (info->level >= sizeof domain_arms / sizeof domain_arms[0] || !domain_arms[info->level])
        ndr_fail(ndr, field, "unknown DomainInformationClass");
    else
        domain_arms[info->level](ndr, info);
}

static void samr_QueryDomainInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_QueryDomainInfo_reply *reply = value;
    ndr_unique(ndr, "Buffer", &reply->info, samr_domain_info_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}
#define samr_QueryDomainInfo2_reply_coder samr_QueryDomainInfo_reply_coder

/* SAMPR_ULONG_ARRAY: Count, [size_is(Count)] Element */
static void ids_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct samr_ids *ids = value;
    ndr_u32(ndr, "Count", &ids->count);
    ndr_unique_array(ndr, field, &ids->ids, ids->count, ndr_u32_coder);
    ndr_flush(ndr);
}

/* SAMPR_SID_INFORMATION: PRPC_SID */
static void samr_sid_pointer_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct ndr_sid **sid = value;
    ndr_ref(ndr, field, sid, ndr_sid_coder, 0);
}

/* 16: [in] DomainHandle, [in] SAMPR_PSID_ARRAY (Count, [size_is] Sids), [out] SAMPR_ULONG_ARRAY */
static void samr_GetAliasMembership_request_coder(struct ndr *ndr, const char *field, void *value,
                                                  uint32_t arg)
{
    (void)field;
    struct samr_GetAliasMembership_request *request = value;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u32_range(ndr, "Count", &request->count, 0, 1024);
    ndr_unique_array(ndr, "Sids", &request->sids, request->count, samr_sid_pointer_coder);
    ndr_flush(ndr);
}

static void samr_GetAliasMembership_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                uint32_t arg)
{
    (void)field;
    struct samr_GetAliasMembership_reply *reply = value;
    ids_coder(ndr, "Membership", &reply->rids, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 17: [in] DomainHandle, [in,range(0,1000)] Count,
 * [in,size_is(1000),length_is(Count)] RPC_UNICODE_STRING Names[*],
 * [out] SAMPR_ULONG_ARRAY RelativeIds, [out] SAMPR_ULONG_ARRAY Use */
static void samr_LookupNames_request_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field;
    struct samr_LookupNames_request *request = value;
    uint32_t room = SAMR_NAMES_MAX;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u32_range(ndr, "Count", &request->count, 0, SAMR_NAMES_MAX);
    ndr_varying_array(ndr, "Names", &request->names, &room, request->count,
                      ndr_unicode_string_coder);
    ndr_flush(ndr);
}

static void samr_LookupNames_reply_coder(struct ndr *ndr, const char *field, void *value,
                                         uint32_t arg)
{
    (void)field;
    struct samr_LookupNames_reply *reply = value;
    ids_coder(ndr, "RelativeIds", &reply->rids, arg);
    ids_coder(ndr, "Use", &reply->types, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 18: [in] DomainHandle, [in,range(0,1000)] Count,
 * [in,size_is(1000),length_is(Count)] unsigned long *RelativeIds,
 * [out] SAMPR_RETURNED_USTRING_ARRAY Names, [out] SAMPR_ULONG_ARRAY Use */
static void samr_LookupRids_request_coder(struct ndr *ndr, const char *field, void *value,
                                          uint32_t arg)
{
    (void)field;
    struct samr_LookupRids_request *request = value;
    uint32_t room = SAMR_NAMES_MAX;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u32_range(ndr, "Count", &request->count, 0, SAMR_NAMES_MAX);
    ndr_varying_array(ndr, "RelativeIds", &request->rids, &room, request->count, ndr_u32_coder);
}

static void samr_names_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct samr_names *names = value;
    ndr_u32(ndr, "Count", &names->count);
    ndr_unique_array(ndr, field, &names->names, names->count, ndr_unicode_string_coder);
    ndr_flush(ndr);
}

static void samr_LookupRids_reply_coder(struct ndr *ndr, const char *field, void *value,
                                        uint32_t arg)
{
    (void)field;
    struct samr_LookupRids_reply *reply = value;
    samr_names_coder(ndr, "Names", &reply->names, arg);
    ids_coder(ndr, "Use", &reply->types, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 19, 34: [in] DomainHandle, [in] DesiredAccess, [in] GroupId or UserId, [out] handle */
static void samr_open_request_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct samr_open_request *request = value;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u32(ndr, "DesiredAccess", &request->access);
    ndr_u32(ndr, "RelativeId", &request->rid);
}
#define samr_OpenGroup_request_coder samr_open_request_coder
#define samr_OpenUser_request_coder  samr_open_request_coder

/* 25: [out] PSAMPR_GET_MEMBERS_BUFFER *: MemberCount, [size_is] Members, [size_is] Attributes */
static void members_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_members *members = value;
    ndr_u32(ndr, "MemberCount", &members->count);
    ndr_unique_array(ndr, "Members", &members->rids, members->count, ndr_u32_coder);
    ndr_unique_array(ndr, "Attributes", &members->attributes, members->count, ndr_u32_coder);
}

static void samr_QueryGroupMember_reply_coder(struct ndr *ndr, const char *field, void *value,
                                              uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_QueryGroupMember_reply *reply = value;
    ndr_unique(ndr, "Members", &reply->members, members_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* GROUP_MEMBERSHIP: RelativeId, Attributes */
static void membership_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_membership *membership = value;
    ndr_u32(ndr, "RelativeId", &membership->rid);
    ndr_u32(ndr, "Attributes", &membership->attributes);
}

/* 39: [out] PSAMPR_GET_GROUPS_BUFFER *: MembershipCount, [size_is] Groups */
static void memberships_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_memberships *groups = value;
    ndr_u32(ndr, "MembershipCount", &groups->count);
    ndr_unique_array(ndr, "Groups", &groups->memberships, groups->count, membership_coder);
}

static void samr_GetGroupsForUser_reply_coder(struct ndr *ndr, const char *field, void *value,
                                              uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_GetGroupsForUser_reply *reply = value;
    ndr_unique(ndr, "Groups", &reply->groups, memberships_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 36: [in] UserHandle, [in] UserInformationClass */
static void samr_QueryUserInfo_request_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field;
    struct samr_QueryUserInfo_request *request = value;
    ndr_policy_handle_coder(ndr, "UserHandle", &request->handle, arg);
    ndr_u16(ndr, "UserInformationClass", &request->level);
}

static void samr_QueryUserInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_QueryUserInfo_reply *reply = value;
    ndr_unique(ndr, "Buffer", &reply->info, samr_user_info_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 40: [in] DomainHandle, [in] DisplayInformationClass, [in] Index, [in] EntryCount,
 * [in] PreferredMaximumLength, [out] TotalAvailable, [out] TotalReturned,
 * [out] SAMPR_DISPLAY_INFO_BUFFER */
static void samr_QueryDisplayInfo_request_coder(struct ndr *ndr, const char *field, void *value,
                                                uint32_t arg)
{
    (void)field;
    struct samr_QueryDisplayInfo_request *request = value;
    ndr_policy_handle_coder(ndr, "DomainHandle", &request->handle, arg);
    ndr_u16(ndr, "DisplayInformationClass", &request->level);
    ndr_u32(ndr, "Index", &request->start);
    ndr_u32(ndr, "EntryCount", &request->max_entries);
    ndr_u32(ndr, "PreferredMaximumLength", &request->max_size);
}

/* SAMPR_DOMAIN_DISPLAY_MACHINE and _GROUP (levels 2 and 3) */
static void display_short_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_display_entry *entry = value;
    ndr_u32(ndr, "Index", &entry->index);
    ndr_u32(ndr, "Rid", &entry->rid);
    ndr_u32(ndr, "AccountControl", &entry->account_control);
    ndr_unicode_string_coder(ndr, "AccountName", &entry->account_name, 0);
    ndr_unicode_string_coder(ndr, "AdminComment", &entry->comment, 0);
}

/* SAMPR_DOMAIN_DISPLAY_USER (level 1): with the full name */
static void display_user_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct samr_display_entry *entry = value;
    display_short_coder(ndr, field, value, arg);
    ndr_unicode_string_coder(ndr, "FullName", &entry->full_name, 0);
}

static ndr_coder *const display_coders[] = {
    [1] = display_user_coder, [2] = display_short_coder, [3] = display_short_coder};

static void samr_QueryDisplayInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                              uint32_t arg)
{
    (void)arg;
    struct samr_QueryDisplayInfo_reply *reply = value;
    ndr_u32(ndr, "TotalAvailable", &reply->total_size);
    ndr_u32(ndr, "TotalReturned", &reply->returned_size);
    ndr_align(ndr, 4);
    ndr_u16(ndr, "DisplayInformationClass", &reply->level);
    if (reply->level < 1 || reply->level >= sizeof display_coders / sizeof display_coders[0]) {
        ndr_fail(ndr, field, "unknown DisplayInformationClass");
        return;
    }
    ndr_u32(ndr, "EntriesRead", &reply->count);
    ndr_unique_array(ndr, "Buffer", &reply->entries, reply->count, display_coders[reply->level]);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 44: [out] USER_DOMAIN_PASSWORD_INFORMATION: MinPasswordLength, PasswordProperties */
static void samr_GetUserPwInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field, (void)arg;
    struct samr_GetUserPwInfo_reply *reply = value;
    ndr_align(ndr, 4);
    ndr_u16(ndr, "MinPasswordLength", &reply->min_password_length);
    ndr_u32(ndr, "PasswordProperties", &reply->password_properties);
    ndr_u32(ndr, "Status", &reply->status);
}

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(samr, 0, Connect),
    RPC_PROCEDURE(samr, 1, Close),
    RPC_PROCEDURE(samr, 3, QuerySecurity),
    RPC_PROCEDURE(samr, 5, LookupDomain),
    RPC_PROCEDURE(samr, 6, EnumDomains),
    RPC_PROCEDURE(samr, 7, OpenDomain),
    RPC_PROCEDURE(samr, 8, QueryDomainInfo),
    RPC_PROCEDURE(samr, 11, EnumDomainGroups),
    RPC_PROCEDURE(samr, 13, EnumDomainUsers),
    RPC_PROCEDURE(samr, 15, EnumDomainAliases),
    RPC_PROCEDURE(samr, 16, GetAliasMembership),
    RPC_PROCEDURE(samr, 17, LookupNames),
    RPC_PROCEDURE(samr, 18, LookupRids),
    RPC_PROCEDURE(samr, 19, OpenGroup),
    RPC_PROCEDURE(samr, 25, QueryGroupMember),
    RPC_PROCEDURE(samr, 34, OpenUser),
    RPC_PROCEDURE(samr, 36, QueryUserInfo),
    RPC_PROCEDURE(samr, 39, GetGroupsForUser),
    RPC_PROCEDURE(samr, 40, QueryDisplayInfo),
    RPC_PROCEDURE(samr, 44, GetUserPwInfo),
    RPC_PROCEDURE(samr, 46, QueryDomainInfo2),
    RPC_PROCEDURE(samr, 57, Connect2),
    RPC_PROCEDURE(samr, 62, Connect4),
    RPC_PROCEDURE(samr, 64, Connect5),
    {.name = NULL},
};

const struct rpc_interface rpc_samr = {.name = "samr",
                                       .uuid = "12345778-1234-abcd-ef00-0123456789ac",
                                       .version_major = 1,
                                       .version_minor = 0,
                                       .pipe = "samr",
                                       .procedures = procedures};
