/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of lsarpc (MS-LSAD, MS-LSAT). In the order of an IDL file: types before the calls that use
 * them, the table of procedures at the end. */
#include "protocols/rpc/rpc_lsarpc.h"

#include <stddef.h>

static void lsarpc_handle_request_coder(struct ndr *ndr, const char *field, void *value,
                                        uint32_t arg)
{
    (void)field;
    struct lsarpc_handle_request *request = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &request->handle, arg);
}

static void lsarpc_handle_reply_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct lsarpc_handle_reply *reply = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &reply->handle, arg);
    ndr_u32(ndr, "Status", &reply->status);
}
#define lsarpc_Close_request_coder     lsarpc_handle_request_coder
#define lsarpc_Close_reply_coder       lsarpc_handle_reply_coder
#define lsarpc_OpenPolicy_reply_coder  lsarpc_handle_reply_coder
#define lsarpc_OpenPolicy2_reply_coder lsarpc_handle_reply_coder

/* SECURITY_QUALITY_OF_SERVICE: Length 12, impersonation, dynamic tracking, not effective only */
static void quality_of_service_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)value, (void)arg;
    uint32_t length = 12;
    uint16_t impersonation = 2;
    uint8_t tracking = 1, effective_only = 0;
    ndr_u32(ndr, "Length", &length);
    ndr_u16(ndr, "ImpersonationLevel", &impersonation);
    ndr_u8(ndr, "ContextTrackingMode", &tracking);
    ndr_u8(ndr, "EffectiveOnly", &effective_only);
}

/* LSAPR_OBJECT_ATTRIBUTES: Length, RootDirectory, ObjectName, Attributes, SecurityDescriptor,
 * SecurityQualityOfService; "all fields but the last are ignored" (MS-LSAD 2.2.2.4) */
static void object_attributes(struct ndr *ndr)
{
    static const char *const null_pointers[] = {"RootDirectory", "ObjectName", "Attributes",
                                                "SecurityDescriptor"};
    uint32_t length = 24;
    ndr_u32(ndr, "Length", &length);
    for (size_t i = 0; i < sizeof null_pointers / sizeof null_pointers[0]; i++)
        ndr_tag32(ndr, null_pointers[i], 0);
    ndr_unique_member(ndr, "SecurityQualityOfService", true, NULL, quality_of_service_coder, 0);
    ndr_flush(ndr);
}

/* 6: [in,unique] wchar_t *SystemName, [in] ObjectAttributes, [in] DesiredAccess */
static void lsarpc_OpenPolicy_request_coder(struct ndr *ndr, const char *field, void *value,
                                            uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_OpenPolicy_request *request = value;
    ndr_unique(ndr, "SystemName", &request->system_name, ndr_u16_coder, 0);
    ndr_flush(ndr);
    object_attributes(ndr);
    ndr_u32(ndr, "DesiredAccess", &request->access);
}

/* 44: the same with [in,unique,string] SystemName */
static void lsarpc_OpenPolicy2_request_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_OpenPolicy2_request *request = value;
    ndr_unique_wstring(ndr, "SystemName", &request->system_name);
    ndr_flush(ndr);
    object_attributes(ndr);
    ndr_u32(ndr, "DesiredAccess", &request->access);
}

/* 7, 46: [in] PolicyHandle, [in] InformationClass, [out] PLSAPR_POLICY_INFORMATION * */
static void lsarpc_QueryInformationPolicy_request_coder(struct ndr *ndr, const char *field,
                                                        void *value, uint32_t arg)
{
    (void)field;
    struct lsarpc_QueryInformationPolicy_request *request = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &request->handle, arg);
    ndr_u16(ndr, "InformationClass", &request->level);
}
#define lsarpc_QueryInformationPolicy2_request_coder lsarpc_QueryInformationPolicy_request_coder

/* POLICY_AUDIT_LOG_INFO */
static void policy_audit_log(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_align(ndr, 8);
    ndr_u32(ndr, "AuditLogPercentFull", &info->percent_full);
    ndr_u32(ndr, "MaximumLogSize", &info->log_size);
    ndr_u64(ndr, "AuditRetentionPeriod", &info->retention_time);
    ndr_u8(ndr, "AuditLogFullShutdownInProgress", &info->shutdown_in_progress);
    ndr_u64(ndr, "TimeToShutdown", &info->time_to_shutdown);
    ndr_u32(ndr, "NextAuditRecordId", &info->next_audit_record);
}

/* The array's count follows its pointer, so the coder takes it from the holder. */
static void audit_events_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct lsarpc_policy_info *info = value;
    ndr_array(ndr, field, &info->events, info->event_count, ndr_u32_coder);
}

/* LSAPR_POLICY_AUDIT_EVENTS_INFO: AuditingMode, [size_is(Count)] EventAuditingOptions, Count */
static void policy_audit_events(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_u32(ndr, "AuditingMode", &info->auditing_mode);
    ndr_unique_member(ndr, "EventAuditingOptions", info->events != NULL, info, audit_events_coder,
                      0);
    ndr_u32_range(ndr, "MaximumAuditEventCount", &info->event_count, 0, 1000);
}

/* LSAPR_POLICY_PRIMARY_DOM_INFO and LSAPR_POLICY_ACCOUNT_DOM_INFO */
static void policy_domain(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_unicode_string_large_coder(ndr, "DomainName", &info->name, 0);
    ndr_unique(ndr, "DomainSid", &info->sid, ndr_sid_coder, 0);
}

static void policy_pd_account(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_unicode_string_coder(ndr, "Name", &info->name, 0);
}

static void policy_role(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_u32(ndr, "LsaServerRole", &info->role);
}

static void policy_replica(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_unicode_string_coder(ndr, "ReplicaSource", &info->name, 0);
    ndr_unicode_string_coder(ndr, "ReplicaAccountName", &info->account, 0);
}

static void policy_modification(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_u64(ndr, "ModifiedId", &info->modified_id);
    ndr_u64(ndr, "DatabaseCreationTime", &info->created);
}

/* LSAPR_POLICY_DNS_DOMAIN_INFO */
static void policy_dns_domain(struct ndr *ndr, struct lsarpc_policy_info *info)
{
    ndr_unicode_string_large_coder(ndr, "Name", &info->name, 0);
    ndr_unicode_string_large_coder(ndr, "DnsDomainName", &info->dns_domain, 0);
    ndr_unicode_string_large_coder(ndr, "DnsForestName", &info->dns_forest, 0);
    ndr_guid_coder(ndr, "DomainGuid", &info->guid, 0);
    ndr_unique(ndr, "Sid", &info->sid, ndr_sid_coder, 0);
}

typedef void policy_arm(struct ndr *ndr, struct lsarpc_policy_info *info);

/* LSAPR_POLICY_INFORMATION, MS-LSAD 2.2.4.2 */
static policy_arm *const policy_arms[] = {
    [LSARPC_POLICY_AUDIT_LOG] = policy_audit_log,
    [LSARPC_POLICY_AUDIT_EVENTS] = policy_audit_events,
    [LSARPC_POLICY_PRIMARY_DOMAIN] = policy_domain,
    [LSARPC_POLICY_PD_ACCOUNT] = policy_pd_account,
    [LSARPC_POLICY_ACCOUNT_DOMAIN] = policy_domain,
    [LSARPC_POLICY_SERVER_ROLE] = policy_role,
    [LSARPC_POLICY_REPLICA_SOURCE] = policy_replica,
    [LSARPC_POLICY_MODIFICATION] = policy_modification,
    [LSARPC_POLICY_DNS_DOMAIN] = policy_dns_domain,
    [LSARPC_POLICY_DNS_DOMAIN_INT] = policy_dns_domain,
    [LSARPC_POLICY_LOCAL_ACCOUNT_DOMAIN] = policy_domain,
};

static void policy_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct lsarpc_policy_info *info = value;
    ndr_u16(ndr, "InformationClass", &info->level);
    if (info->level >= sizeof policy_arms / sizeof policy_arms[0] || !policy_arms[info->level])
        ndr_fail(ndr, field, "unknown InformationClass");
    else
        policy_arms[info->level](ndr, info);
}

static void lsarpc_QueryInformationPolicy_reply_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_QueryInformationPolicy_reply *reply = value;
    ndr_unique(ndr, "PolicyInformation", &reply->info, policy_info_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}
#define lsarpc_QueryInformationPolicy2_reply_coder lsarpc_QueryInformationPolicy_reply_coder

/* LSAPR_TRUST_INFORMATION: Name, Sid */
static void lsarpc_domain_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct lsarpc_domain *domain = value;
    ndr_unicode_string_large_coder(ndr, "Name", &domain->name, arg);
    ndr_unique(ndr, "Sid", &domain->sid, ndr_sid_coder, 0);
}

/* LSAPR_REFERENCED_DOMAIN_LIST: Entries, [size_is(Entries)] Domains, MaxEntries */
static void domains_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_domains *domains = value;
    ndr_u32_range(ndr, "Entries", &domains->count, 0, LSARPC_NAMES_MAX);
    ndr_unique_array(ndr, "Domains", &domains->domains, domains->count, lsarpc_domain_coder);
    ndr_u32(ndr, "MaxEntries", &domains->max_count);
}

static void referenced_domains(struct ndr *ndr, struct lsarpc_domains **domains)
{
    ndr_unique(ndr, "ReferencedDomains", domains, domains_coder, 0);
    ndr_flush(ndr);
}

/* The parameters of a look-up other than names or SIDs. The [in,out] results and MappedCount are
 * empty in a request. */
static void lookup_parameters(struct ndr *ndr, const char *results, uint16_t *level)
{
    ndr_tag32(ndr, results, 0);
    ndr_tag32(ndr, results, 0);
    ndr_u16(ndr, "LookupLevel", level);
    ndr_tag32(ndr, "MappedCount", 0);
}

/* [in,range(0,1000)] Count, [in,size_is(Count)] RPC_UNICODE_STRING Names[] */
static void name_array(struct ndr *ndr, uint32_t *count, char ***names)
{
    ndr_u32_range(ndr, "Count", count, 0, LSARPC_NAMES_MAX);
    ndr_array(ndr, "Names", names, *count, ndr_unicode_string_coder);
    ndr_flush(ndr);
}

/* 14: [in] PolicyHandle, [in,range(0,1000)] Count, [in,size_is(Count)] RPC_UNICODE_STRING Names[],
 * [out] ReferencedDomains, [in,out] LSAPR_TRANSLATED_SIDS, [in] LookupLevel, [in,out] MappedCount
 */
static void lsarpc_LookupNames_request_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field;
    struct lsarpc_LookupNames_request *request = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &request->handle, arg);
    name_array(ndr, &request->count, &request->names);
    lookup_parameters(ndr, "TranslatedSids", &request->level);
}

/* LSA_TRANSLATED_SID: Use, RelativeId, DomainIndex */
static void translated_sid_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_translated_sid *sid = value;
    ndr_align(ndr, 4);
    ndr_u16(ndr, "Use", &sid->use);
    ndr_u32(ndr, "RelativeId", &sid->rid);
    ndr_u32(ndr, "DomainIndex", &sid->domain_index);
}

/* LSAPR_TRANSLATED_SID_EX2: Use, Sid, DomainIndex, Flags */
static void translated_sid_ex2_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_translated_sid *sid = value;
    ndr_align(ndr, 4);
    ndr_u16(ndr, "Use", &sid->use);
    ndr_unique(ndr, "Sid", &sid->sid, ndr_sid_coder, 0);
    ndr_u32(ndr, "DomainIndex", &sid->domain_index);
    ndr_u32(ndr, "Flags", &sid->flags);
}

static void names_reply(struct ndr *ndr, struct lsarpc_LookupNames_reply *reply, ndr_coder *coder)
{
    referenced_domains(ndr, &reply->domains);
    ndr_u32_range(ndr, "Entries", &reply->sids.count, 0, LSARPC_NAMES_MAX);
    ndr_unique_array(ndr, "Sids", &reply->sids.sids, reply->sids.count, coder);
    ndr_flush(ndr);
    ndr_u32(ndr, "MappedCount", &reply->mapped);
    ndr_u32(ndr, "Status", &reply->status);
}

static void lsarpc_LookupNames_reply_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field, (void)arg;
    names_reply(ndr, value, translated_sid_coder);
}

/* LSAPR_SID_ENUM_BUFFER: [range(0,20480)] Entries, [size_is(Entries)] SidInfo */
static void lsarpc_sid_pointer_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct ndr_sid **sid = value;
    ndr_ref(ndr, field, sid, ndr_sid_coder, arg);
}

static void sid_array(struct ndr *ndr, uint32_t *count, struct ndr_sid ***sids)
{
    ndr_u32_range(ndr, "Entries", count, 0, LSARPC_SIDS_MAX);
    ndr_unique_array(ndr, "SidInfo", sids, *count, lsarpc_sid_pointer_coder);
    ndr_flush(ndr);
}

/* 15: [in] PolicyHandle, [in] SidEnumBuffer, [out] ReferencedDomains,
 * [in,out] LSAPR_TRANSLATED_NAMES, [in] LookupLevel, [in,out] MappedCount */
static void lsarpc_LookupSids_request_coder(struct ndr *ndr, const char *field, void *value,
                                            uint32_t arg)
{
    (void)field;
    struct lsarpc_LookupSids_request *request = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &request->handle, arg);
    sid_array(ndr, &request->count, &request->sids);
    lookup_parameters(ndr, "TranslatedNames", &request->level);
}

/* LSAPR_TRANSLATED_NAME: Use, Name, DomainIndex */
static void translated_name_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct lsarpc_translated_name *name = value;
    ndr_align(ndr, 4);
    ndr_u16(ndr, "Use", &name->use);
    ndr_unicode_string_coder(ndr, "Name", &name->name, arg);
    ndr_u32(ndr, "DomainIndex", &name->domain_index);
}

/* LSAPR_TRANSLATED_NAME_EX: the same with Flags */
static void translated_name_ex_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct lsarpc_translated_name *name = value;
    translated_name_coder(ndr, field, value, arg);
    ndr_u32(ndr, "Flags", &name->flags);
}

static void sids_reply(struct ndr *ndr, struct lsarpc_LookupSids_reply *reply, ndr_coder *coder)
{
    referenced_domains(ndr, &reply->domains);
    ndr_u32_range(ndr, "Entries", &reply->names.count, 0, LSARPC_SIDS_MAX);
    ndr_unique_array(ndr, "Names", &reply->names.names, reply->names.count, coder);
    ndr_flush(ndr);
    ndr_u32(ndr, "MappedCount", &reply->mapped);
    ndr_u32(ndr, "Status", &reply->status);
}

static void lsarpc_LookupSids_reply_coder(struct ndr *ndr, const char *field, void *value,
                                          uint32_t arg)
{
    (void)field, (void)arg;
    sids_reply(ndr, value, translated_name_coder);
}

/* 76: [in] SidEnumBuffer, [out] ReferencedDomains, [in,out] LSAPR_TRANSLATED_NAMES_EX,
 * [in] LookupLevel, [in,out] MappedCount, [in] LookupOptions, [in] ClientRevision */
static void lsarpc_LookupSids3_request_coder(struct ndr *ndr, const char *field, void *value,
                                             uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_LookupSids3_request *request = value;
    sid_array(ndr, &request->count, &request->sids);
    lookup_parameters(ndr, "TranslatedNames", &request->level);
    ndr_u32(ndr, "LookupOptions", &request->options);
    ndr_u32(ndr, "ClientRevision", &request->client_revision);
}

static void lsarpc_LookupSids3_reply_coder(struct ndr *ndr, const char *field, void *value,
                                           uint32_t arg)
{
    (void)field, (void)arg;
    sids_reply(ndr, value, translated_name_ex_coder);
}

/* 77: [in,range(0,1000)] Count, [in,size_is(Count)] Names[], [out] ReferencedDomains,
 * [in,out] LSAPR_TRANSLATED_SIDS_EX2, [in] LookupLevel, [in,out] MappedCount, [in] LookupOptions,
 * [in] ClientRevision */
static void lsarpc_LookupNames4_request_coder(struct ndr *ndr, const char *field, void *value,
                                              uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_LookupNames4_request *request = value;
    name_array(ndr, &request->count, &request->names);
    lookup_parameters(ndr, "TranslatedSids", &request->level);
    ndr_u32(ndr, "LookupOptions", &request->options);
    ndr_u32(ndr, "ClientRevision", &request->client_revision);
}

static void lsarpc_LookupNames4_reply_coder(struct ndr *ndr, const char *field, void *value,
                                            uint32_t arg)
{
    (void)field, (void)arg;
    names_reply(ndr, value, translated_sid_ex2_coder);
}

/* 39: [in] PolicyHandle, [in] PRPC_SID TrustedDomainSid, [in] InformationClass,
 * [out] PLSAPR_TRUSTED_DOMAIN_INFO *: of class 1, LSAPR_TRUSTED_DOMAIN_NAME_INFO */
static void lsarpc_QueryTrustedDomainInfo_request_coder(struct ndr *ndr, const char *field,
                                                        void *value, uint32_t arg)
{
    (void)field;
    struct lsarpc_QueryTrustedDomainInfo_request *request = value;
    ndr_policy_handle_coder(ndr, "PolicyHandle", &request->handle, arg);
    ndr_sid_coder(ndr, "TrustedDomainSid", &request->sid, 0);
    ndr_u16(ndr, "InformationClass", &request->level);
}

static void trusted_name_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct lsarpc_trusted_name *info = value;
    ndr_tag16(ndr, field, 1);
    ndr_unicode_string_large_coder(ndr, "Name", &info->name, arg);
}

static void lsarpc_QueryTrustedDomainInfo_reply_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct lsarpc_QueryTrustedDomainInfo_reply *reply = value;
    ndr_unique(ndr, "TrustedDomainInformation", &reply->info, trusted_name_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(lsarpc, 0, Close),
    RPC_PROCEDURE(lsarpc, 6, OpenPolicy),
    RPC_PROCEDURE(lsarpc, 7, QueryInformationPolicy),
    RPC_PROCEDURE(lsarpc, 14, LookupNames),
    RPC_PROCEDURE(lsarpc, 15, LookupSids),
    RPC_PROCEDURE(lsarpc, 39, QueryTrustedDomainInfo),
    RPC_PROCEDURE(lsarpc, 44, OpenPolicy2),
    RPC_PROCEDURE(lsarpc, 46, QueryInformationPolicy2),
    RPC_PROCEDURE(lsarpc, 76, LookupSids3),
    RPC_PROCEDURE(lsarpc, 77, LookupNames4),
    {.name = NULL},
};

const struct rpc_interface rpc_lsarpc = {.name = "lsarpc",
                                         .uuid = "12345778-1234-abcd-ef00-0123456789ab",
                                         .version_major = 0,
                                         .version_minor = 0,
                                         .pipe = "lsarpc",
                                         .procedures = procedures};
