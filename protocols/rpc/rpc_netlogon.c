/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of rpc_netlogon (MS-NRPC 3.5.4). In the order of an IDL file: types before the calls that
 * use them, the table of procedures at the end. */
#include "protocols/rpc/rpc_netlogon.h"

#include <stddef.h>

static void netlogon_text(struct ndr *ndr, const char *field, char **value)
{
    ndr_unicode_string_coder(ndr, field, value, 0);
}

/* The same where servers include a NUL in the buffer's size. */
static void text_large(struct ndr *ndr, const char *field, char **value)
{
    ndr_unicode_string_large_coder(ndr, field, value, 0);
}

/* [in,unique,string] wchar_t *, as a parameter */
static void name_parameter(struct ndr *ndr, const char *field, char **name)
{
    ndr_unique_wstring(ndr, field, name);
    ndr_flush(ndr);
}

/* NETLOGON_CREDENTIAL: 8 bytes without alignment */
static void credential_bytes(struct ndr *ndr, const char *field, uint8_t *bytes)
{
    ndr_bytes(ndr, field, bytes, NETLOGON_CREDENTIAL_SIZE);
}

/* NETLOGON_AUTHENTICATOR: Credential, Timestamp; aligned like its Timestamp */
static void authenticator_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_authenticator *authenticator = value;
    ndr_align(ndr, 4);
    credential_bytes(ndr, "Credential", authenticator->credential);
    ndr_u32(ndr, "Timestamp", &authenticator->timestamp);
}

/* 4: [in,unique,string] PrimaryName, [in,string] ComputerName, [in] ClientChallenge,
 * [out] ServerChallenge */
static void netlogon_ServerReqChallenge_request_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_ServerReqChallenge_request *request = value;
    name_parameter(ndr, "PrimaryName", &request->server_name);
    ndr_wstring(ndr, "ComputerName", &request->computer_name);
    credential_bytes(ndr, "ClientChallenge", request->client_challenge);
}

static void netlogon_ServerReqChallenge_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                    uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_ServerReqChallenge_reply *reply = value;
    credential_bytes(ndr, "ServerChallenge", reply->server_challenge);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 26: [in,unique,string] PrimaryName, [in,string] AccountName, [in] SecureChannelType,
 * [in,string] ComputerName, [in] ClientCredential, [out] ServerCredential,
 * [in,out] NegotiateFlags, [out] AccountRid */
static void netlogon_ServerAuthenticate3_request_coder(struct ndr *ndr, const char *field,
                                                       void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_ServerAuthenticate3_request *request = value;
    name_parameter(ndr, "PrimaryName", &request->server_name);
    ndr_wstring(ndr, "AccountName", &request->account_name);
    ndr_u16(ndr, "SecureChannelType", &request->channel_type);
    ndr_wstring(ndr, "ComputerName", &request->computer_name);
    credential_bytes(ndr, "ClientCredential", request->client_credential);
    ndr_u32(ndr, "NegotiateFlags", &request->flags);
}

static void netlogon_ServerAuthenticate3_reply_coder(struct ndr *ndr, const char *field,
                                                     void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_ServerAuthenticate3_reply *reply = value;
    credential_bytes(ndr, "ServerCredential", reply->server_credential);
    ndr_u32(ndr, "NegotiateFlags", &reply->flags);
    ndr_u32(ndr, "AccountRid", &reply->rid);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 21: [in,string] ServerName, [in,unique,string] ComputerName, [in] Authenticator,
 * [in,out] ReturnAuthenticator, [in] QueryLevel,
 * [out,switch_is(QueryLevel)] NETLOGON_CAPABILITIES */
static void netlogon_LogonGetCapabilities_request_coder(struct ndr *ndr, const char *field,
                                                        void *value, uint32_t arg)
{
    struct netlogon_LogonGetCapabilities_request *request = value;
    ndr_wstring(ndr, "ServerName", &request->server_name);
    name_parameter(ndr, "ComputerName", &request->computer_name);
    authenticator_coder(ndr, field, &request->authenticator, arg);
    authenticator_coder(ndr, field, &request->return_authenticator, arg);
    ndr_u32(ndr, "QueryLevel", &request->level);
}

static void netlogon_LogonGetCapabilities_reply_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    struct netlogon_LogonGetCapabilities_reply *reply = value;
    authenticator_coder(ndr, field, &reply->return_authenticator, arg);
    ndr_u32(ndr, "QueryLevel", &reply->level);
    ndr_u32(ndr, "ServerCapabilities", &reply->capabilities);
    ndr_u32(ndr, "Status", &reply->status);
}

enum { OS_VERSION_SIZE = 284, CSD_VERSION_SIZE = 256 };

/* dwOSVersionInfoSize, dwMajorVersion, dwMinorVersion, dwBuildNumber, dwPlatformId,
 * szCSDVersion[128], wServicePackMajor, wServicePackMinor, wSuiteMask, wProductType, wReserved */
static void os_version_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct netlogon_os_version *version = value;
    uint8_t service_pack[CSD_VERSION_SIZE] = {0}, reserved = 0;
    if (ndr->mode != NDR_PRINT) {
        ndr_tag32(ndr, field, OS_VERSION_SIZE / 2);
        ndr_tag32(ndr, field, 0);
        ndr_tag32(ndr, field, OS_VERSION_SIZE / 2);
    }
    ndr_tag32(ndr, "dwOSVersionInfoSize", OS_VERSION_SIZE);
    ndr_u32(ndr, "dwMajorVersion", &version->major);
    ndr_u32(ndr, "dwMinorVersion", &version->minor);
    ndr_u32(ndr, "dwBuildNumber", &version->build);
    ndr_u32(ndr, "dwPlatformId", &version->platform);
    ndr_bytes(ndr, "szCSDVersion", service_pack, sizeof service_pack);
    ndr_u16(ndr, "wServicePackMajor", &version->service_pack_major);
    ndr_u16(ndr, "wServicePackMinor", &version->service_pack_minor);
    ndr_u16(ndr, "wSuiteMask", &version->suite);
    ndr_u8(ndr, "wProductType", &version->product);
    ndr_u8(ndr, "wReserved", &reserved);
}

/* RPC_UNICODE_STRING whose buffer is an OSVERSIONINFOEXW */
static void os_version_text(struct ndr *ndr, struct netlogon_os_version **version)
{
    uint16_t size = *version ? OS_VERSION_SIZE : 0;
    ndr_align(ndr, 4);
    ndr_u16(ndr, "Length", &size);
    ndr_u16(ndr, "MaximumLength", &size);
    ndr_unique(ndr, "OsVersion", version, os_version_coder, 0);
}

/* NETLOGON_WORKSTATION_INFO: LsaPolicy (size, pointer), DnsHostName, SiteName, Dummy1 to Dummy4,
 * OsVersion, OsName, DummyString3, DummyString4, WorkstationFlags,
 * KerberosSupportedEncryptionTypes, DummyLong3, DummyLong4 */
static void workstation_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_workstation *workstation = value;
    char *none = NULL;
    ndr_tag32(ndr, "LsaPolicySize", 0);
    ndr_tag32(ndr, "LsaPolicy", 0);
    ndr_unique_wstring(ndr, "DnsHostName", &workstation->dns_host_name);
    ndr_unique_wstring(ndr, "SiteName", &workstation->site_name);
    for (int i = 0; i < 4; i++)
        ndr_tag32(ndr, "Dummy", 0);
    os_version_text(ndr, &workstation->os_version);
    netlogon_text(ndr, "OsName", &workstation->os_name);
    netlogon_text(ndr, "DummyString3", &none);
    netlogon_text(ndr, "DummyString4", &none);
    ndr_u32(ndr, "WorkstationFlags", &workstation->flags);
    ndr_u32(ndr, "KerberosSupportedEncryptionTypes", &workstation->encryption_types);
    ndr_tag32(ndr, "DummyLong3", 0);
    ndr_tag32(ndr, "DummyLong4", 0);
}

/* 29: [in,string] ServerName, [in,unique,string] ComputerName, [in] Authenticator,
 * [in,out] ReturnAuthenticator, [in] Level, [in,switch_is(Level)] WkstaBuffer,
 * [out,switch_is(Level)] DomBuffer */
static void netlogon_LogonGetDomainInfo_request_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    struct netlogon_LogonGetDomainInfo_request *request = value;
    ndr_wstring(ndr, "ServerName", &request->server_name);
    name_parameter(ndr, "ComputerName", &request->computer_name);
    authenticator_coder(ndr, field, &request->authenticator, arg);
    authenticator_coder(ndr, field, &request->return_authenticator, arg);
    ndr_u32_range(ndr, "Level", &request->level, 1, 1);
    ndr_tag32(ndr, "WkstaBuffer", 1);
    ndr_unique(ndr, "WorkstationInfo", &request->workstation, workstation_coder, 0);
    ndr_flush(ndr);
}

/* NETLOGON_ONE_DOMAIN_INFO: DomainName, DnsDomainName, DnsForestName, DomainGuid, DomainSid,
 * TrustExtension, DummyString2 to 4, DummyLong1 to 4 */
static void netlogon_domain_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct netlogon_domain *domain = value;
    text_large(ndr, "DomainName", &domain->name);
    text_large(ndr, "DnsDomainName", &domain->dns_domain);
    text_large(ndr, "DnsForestName", &domain->dns_forest);
    ndr_guid_coder(ndr, "DomainGuid", &domain->guid, arg);
    ndr_unique(ndr, "DomainSid", &domain->sid, ndr_sid_coder, 0);
    netlogon_text(ndr, "TrustExtension", &domain->trust_extension);
    for (int i = 0; i < 3; i++)
        netlogon_text(ndr, "DummyString", &domain->dummy_strings[i]);
    for (int i = 0; i < 4; i++)
        ndr_u32(ndr, "DummyLong", &domain->dummy_longs[i]);
}

/* NETLOGON_DOMAIN_INFO: PrimaryDomain, TrustedDomainCount, [size_is] TrustedDomains, LsaPolicy
 * (size, pointer), DnsHostNameInDs, DummyString2 to 4, WorkstationFlags, SupportedEncTypes,
 * DummyLong3, DummyLong4 */
static void netlogon_domain_info_coder(struct ndr *ndr, const char *field, void *value,
                                       uint32_t arg)
{
    struct netlogon_domain_info *info = value;
    netlogon_domain_coder(ndr, field, &info->primary, arg);
    ndr_u32(ndr, "TrustedDomainCount", &info->trusted_count);
    ndr_unique_array(ndr, "TrustedDomains", &info->trusted, info->trusted_count,
                     netlogon_domain_coder);
    ndr_u32(ndr, "LsaPolicySize", &info->policy_size);
    ndr_unique_array(ndr, "LsaPolicy", &info->policy, info->policy_size, ndr_u8_coder);
    text_large(ndr, "DnsHostNameInDs", &info->dns_host_name);
    for (int i = 0; i < 3; i++)
        netlogon_text(ndr, "DummyString", &info->dummy_strings[i]);
    ndr_u32(ndr, "WorkstationFlags", &info->flags);
    ndr_u32(ndr, "SupportedEncTypes", &info->encryption_types);
    for (int i = 0; i < 2; i++)
        ndr_u32(ndr, "DummyLong", &info->dummy_longs[i]);
}

static void netlogon_LogonGetDomainInfo_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                    uint32_t arg)
{
    struct netlogon_LogonGetDomainInfo_reply *reply = value;
    authenticator_coder(ndr, field, &reply->return_authenticator, arg);
    ndr_u32_range(ndr, "DomBuffer", &reply->level, 1, 1);
    ndr_unique(ndr, "DomainInfo", &reply->info, netlogon_domain_info_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 30: [in,unique,string] PrimaryName, [in,string] AccountName, [in] SecureChannelType,
 * [in,string] ComputerName, [in] Authenticator, [out] ReturnAuthenticator,
 * [in] NL_TRUST_PASSWORD (Buffer, Length) */
static void netlogon_ServerPasswordSet2_request_coder(struct ndr *ndr, const char *field,
                                                      void *value, uint32_t arg)
{
    struct netlogon_ServerPasswordSet2_request *request = value;
    name_parameter(ndr, "PrimaryName", &request->server_name);
    ndr_wstring(ndr, "AccountName", &request->account_name);
    ndr_u16(ndr, "SecureChannelType", &request->channel_type);
    ndr_wstring(ndr, "ComputerName", &request->computer_name);
    authenticator_coder(ndr, field, &request->authenticator, arg);
    ndr_bytes(ndr, "Buffer", request->password, sizeof request->password);
    ndr_bytes(ndr, "Length", request->length, sizeof request->length);
}

static void netlogon_ServerPasswordSet2_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                    uint32_t arg)
{
    struct netlogon_ServerPasswordSet2_reply *reply = value;
    authenticator_coder(ndr, field, &reply->return_authenticator, arg);
    ndr_u32(ndr, "Status", &reply->status);
}

static void response_bytes_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct netlogon_response *response = value;
    uint32_t room = response->size;
    ndr_varying_array(ndr, field, &response->bytes, &room, response->size, ndr_u8_coder);
}

/* STRING (MS-NRPC 2.2.1.1.2): Length, MaximumLength, [size_is,length_is] Buffer */
static void response_string(struct ndr *ndr, const char *field, struct netlogon_response *response)
{
    uint16_t room = response->size;
    ndr_align(ndr, 4);
    ndr_u16(ndr, field, &response->size);
    ndr_u16(ndr, field, &room);
    if (!ndr->failed && room < response->size)
        ndr_fail(ndr, field, "string longer than its buffer");
    ndr_unique_member(ndr, field, response->bytes != NULL, response, response_bytes_coder, 0);
}

/* NETLOGON_NETWORK_INFO: Identity (LogonDomainName, ParameterControl, Reserved, UserName,
 * Workstation), LmChallenge, NtChallengeResponse, LmChallengeResponse */
static void network_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_network *network = value;
    netlogon_text(ndr, "LogonDomainName", &network->domain);
    ndr_u32(ndr, "ParameterControl", &network->parameter_control);
    ndr_u32(ndr, "Reserved", &network->logon_id_low);
    ndr_u32(ndr, "Reserved", &network->logon_id_high);
    netlogon_text(ndr, "UserName", &network->account);
    netlogon_text(ndr, "Workstation", &network->workstation);
    credential_bytes(ndr, "LmChallenge", network->challenge);
    response_string(ndr, "NtChallengeResponse", &network->nt);
    response_string(ndr, "LmChallengeResponse", &network->lm);
}

/* [in] LogonLevel, [in,switch_is(LogonLevel)] PNETLOGON_LEVEL, [in] ValidationLevel */
static void logon_parameters(struct ndr *ndr, uint16_t *level, struct netlogon_network **network,
                             uint16_t *validation_level)
{
    ndr_u16(ndr, "LogonLevel", level);
    if (!ndr->failed && *level != NETLOGON_LOGON_NETWORK &&
        *level != NETLOGON_LOGON_NETWORK_TRANSITIVE)
        ndr_fail(ndr, "LogonLevel", "not a network logon");
    ndr_tag16(ndr, "LogonInformation", *level);
    ndr_unique(ndr, "LogonNetwork", network, network_coder, 0);
    ndr_flush(ndr);
    ndr_u16(ndr, "ValidationLevel", validation_level);
}

/* GROUP_MEMBERSHIP: RelativeId, Attributes */
static void group_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_group *group = value;
    ndr_u32(ndr, "RelativeId", &group->rid);
    ndr_u32(ndr, "Attributes", &group->attributes);
}

/* NETLOGON_SID_AND_ATTRIBUTES: Sid, Attributes */
static void extra_sid_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_extra_sid *extra = value;
    ndr_unique(ndr, "Sid", &extra->sid, ndr_sid_coder, 0);
    ndr_u32(ndr, "Attributes", &extra->attributes);
}

static void sam_info_times(struct ndr *ndr, struct netlogon_sam_info *info)
{
    ndr_old_large_integer(ndr, "LogonTime", &info->logon_time);
    ndr_old_large_integer(ndr, "LogoffTime", &info->logoff_time);
    ndr_old_large_integer(ndr, "KickOffTime", &info->kickoff_time);
    ndr_old_large_integer(ndr, "PasswordLastSet", &info->password_last_set);
    ndr_old_large_integer(ndr, "PasswordCanChange", &info->password_can_change);
    ndr_old_large_integer(ndr, "PasswordMustChange", &info->password_must_change);
}

static void sam_info_account(struct ndr *ndr, struct netlogon_sam_info *info)
{
    netlogon_text(ndr, "EffectiveName", &info->account);
    netlogon_text(ndr, "FullName", &info->full_name);
    netlogon_text(ndr, "LogonScript", &info->script);
    netlogon_text(ndr, "ProfilePath", &info->profile);
    netlogon_text(ndr, "HomeDirectory", &info->home);
    netlogon_text(ndr, "HomeDirectoryDrive", &info->home_drive);
    ndr_u16(ndr, "LogonCount", &info->logon_count);
    ndr_u16(ndr, "BadPasswordCount", &info->bad_password_count);
    ndr_u32(ndr, "UserId", &info->rid);
    ndr_u32(ndr, "PrimaryGroupId", &info->primary_gid);
    ndr_u32(ndr, "GroupCount", &info->group_count);
    ndr_unique_array(ndr, "GroupIds", &info->groups, info->group_count, group_coder);
}

static void sam_info_logon(struct ndr *ndr, struct netlogon_sam_info *info)
{
    ndr_u32(ndr, "UserFlags", &info->user_flags);
    ndr_bytes(ndr, "UserSessionKey", info->user_session_key, sizeof info->user_session_key);
    text_large(ndr, "LogonServer", &info->logon_server);
    text_large(ndr, "LogonDomainName", &info->logon_domain);
    ndr_unique(ndr, "LogonDomainId", &info->domain_sid, ndr_sid_coder, 0);
    ndr_bytes(ndr, "LMKey", info->lm_key, sizeof info->lm_key);
    ndr_u32(ndr, "UserAccountControl", &info->account_control);
    ndr_u32(ndr, "SubAuthStatus", &info->sub_authentication_status);
    ndr_old_large_integer(ndr, "LastSuccessfulILogon", &info->last_successful_logon);
    ndr_old_large_integer(ndr, "LastFailedILogon", &info->last_failed_logon);
    ndr_u32(ndr, "FailedILogonCount", &info->failed_logon_count);
    ndr_u32(ndr, "Reserved4", &info->reserved);
}

/* NETLOGON_VALIDATION_SAM_INFO2 and _INFO4 (MS-NRPC 2.2.1.4.12, .13); argument is the level */
static void sam_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t level)
{
    (void)field;
    struct netlogon_sam_info *info = value;
    info->level = (uint16_t)level;
    sam_info_times(ndr, info);
    sam_info_account(ndr, info);
    sam_info_logon(ndr, info);
    ndr_u32(ndr, "SidCount", &info->extra_count);
    ndr_unique_array(ndr, "ExtraSids", &info->extra_sids, info->extra_count, extra_sid_coder);
    if (level != NETLOGON_VALIDATION_SAM_INFO4)
        return;
    netlogon_text(ndr, "DnsLogonDomainName", &info->dns_domain);
    netlogon_text(ndr, "Upn", &info->upn);
    for (int i = 0; i < 10; i++)
        netlogon_text(ndr, "ExpansionString", &info->expansion[i]);
}

/* [out,switch_is(ValidationLevel)] PNETLOGON_VALIDATION */
static void validation_parameters(struct ndr *ndr, uint16_t *level, struct netlogon_sam_info **info)
{
    ndr_u16(ndr, "ValidationLevel", level);
    if (!ndr->failed && *level != NETLOGON_VALIDATION_SAM_INFO2 &&
        *level != NETLOGON_VALIDATION_SAM_INFO4)
        ndr_fail(ndr, "ValidationLevel", "unexpected validation level");
    ndr_unique(ndr, "ValidationInformation", info, sam_info_coder, *level);
    ndr_flush(ndr);
}

/* 39: [in,unique,string] LogonServer, [in,unique,string] ComputerName, logon, validation,
 * [out] Authoritative, [in,out] ExtraFlags */
static void netlogon_LogonSamLogonEx_request_coder(struct ndr *ndr, const char *field, void *value,
                                                   uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_LogonSamLogonEx_request *request = value;
    name_parameter(ndr, "LogonServer", &request->server_name);
    name_parameter(ndr, "ComputerName", &request->computer_name);
    logon_parameters(ndr, &request->level, &request->network, &request->validation_level);
    ndr_u32(ndr, "ExtraFlags", &request->flags);
}

static void netlogon_LogonSamLogonEx_reply_coder(struct ndr *ndr, const char *field, void *value,
                                                 uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_LogonSamLogonEx_reply *reply = value;
    validation_parameters(ndr, &reply->validation_level, &reply->info);
    ndr_u8(ndr, "Authoritative", &reply->authoritative);
    ndr_u32(ndr, "ExtraFlags", &reply->flags);
    ndr_u32(ndr, "Status", &reply->status);
}

static void unique_authenticator(struct ndr *ndr, const char *field,
                                 struct netlogon_authenticator **authenticator)
{
    ndr_unique(ndr, field, authenticator, authenticator_coder, 0);
    ndr_flush(ndr);
}

/* 2: [in,unique,string] LogonServer, [in,unique,string] ComputerName, [in,unique] Authenticator,
 * [in,out,unique] ReturnAuthenticator, logon, validation, [out] Authoritative */
static void netlogon_LogonSamLogon_request_coder(struct ndr *ndr, const char *field, void *value,
                                                 uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_LogonSamLogon_request *request = value;
    name_parameter(ndr, "LogonServer", &request->server_name);
    name_parameter(ndr, "ComputerName", &request->computer_name);
    unique_authenticator(ndr, "Authenticator", &request->authenticator);
    unique_authenticator(ndr, "ReturnAuthenticator", &request->return_authenticator);
    logon_parameters(ndr, &request->level, &request->network, &request->validation_level);
}

static void logon_reply(struct ndr *ndr, struct netlogon_LogonSamLogon_reply *reply)
{
    unique_authenticator(ndr, "ReturnAuthenticator", &reply->return_authenticator);
    validation_parameters(ndr, &reply->validation_level, &reply->info);
    ndr_u8(ndr, "Authoritative", &reply->authoritative);
}

static void netlogon_LogonSamLogon_reply_coder(struct ndr *ndr, const char *field, void *value,
                                               uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_LogonSamLogon_reply *reply = value;
    logon_reply(ndr, reply);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 45: the same with [in,out] ExtraFlags */
static void netlogon_LogonSamLogonWithFlags_request_coder(struct ndr *ndr, const char *field,
                                                          void *value, uint32_t arg)
{
    struct netlogon_LogonSamLogonWithFlags_request *request = value;
    netlogon_LogonSamLogon_request_coder(ndr, field, value, arg);
    ndr_u32(ndr, "ExtraFlags", &request->flags);
}

static void netlogon_LogonSamLogonWithFlags_reply_coder(struct ndr *ndr, const char *field,
                                                        void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_LogonSamLogonWithFlags_reply *reply = value;
    logon_reply(ndr, reply);
    ndr_u32(ndr, "ExtraFlags", &reply->flags);
    ndr_u32(ndr, "Status", &reply->status);
}

/* 40: [in,unique,string] ServerName, [in] Flags,
 * [out] NETLOGON_TRUSTED_DOMAIN_ARRAY (DomainCount, [size_is] Domains) */
static void netlogon_DsrEnumerateDomainTrusts_request_coder(struct ndr *ndr, const char *field,
                                                            void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_DsrEnumerateDomainTrusts_request *request = value;
    name_parameter(ndr, "ServerName", &request->server_name);
    ndr_u32(ndr, "Flags", &request->flags);
}

/* DS_DOMAIN_TRUSTSW: NetbiosDomainName, DnsDomainName, Flags, ParentIndex, TrustType,
 * TrustAttributes, DomainSid, DomainGuid */
static void trust_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct netlogon_trust *trust = value;
    ndr_unique_wstring(ndr, "NetbiosDomainName", &trust->netbios_name);
    ndr_unique_wstring(ndr, "DnsDomainName", &trust->dns_name);
    ndr_u32(ndr, "Flags", &trust->flags);
    ndr_u32(ndr, "ParentIndex", &trust->parent_index);
    ndr_u32(ndr, "TrustType", &trust->type);
    ndr_u32(ndr, "TrustAttributes", &trust->attributes);
    ndr_unique(ndr, "DomainSid", &trust->sid, ndr_sid_coder, 0);
    ndr_guid_coder(ndr, "DomainGuid", &trust->guid, arg);
}

static void netlogon_DsrEnumerateDomainTrusts_reply_coder(struct ndr *ndr, const char *field,
                                                          void *value, uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_DsrEnumerateDomainTrusts_reply *reply = value;
    ndr_u32(ndr, "DomainCount", &reply->count);
    ndr_unique_array(ndr, "Domains", &reply->trusts, reply->count, trust_coder);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}

static void unique_guid(struct ndr *ndr, const char *field, struct ndr_guid **guid)
{
    ndr_unique(ndr, field, guid, ndr_guid_coder, 0);
    ndr_flush(ndr);
}

/* 20: [in,unique,string] ComputerName, [in,unique,string] DomainName, [in,unique] DomainGuid,
 * [in,unique] SiteGuid, [in] Flags, [out] PDOMAIN_CONTROLLER_INFOW * */
static void netlogon_DsrGetDcName_request_coder(struct ndr *ndr, const char *field, void *value,
                                                uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_DsrGetDcName_request *request = value;
    name_parameter(ndr, "ComputerName", &request->computer_name);
    name_parameter(ndr, "DomainName", &request->domain_name);
    unique_guid(ndr, "DomainGuid", &request->domain_guid);
    unique_guid(ndr, "SiteGuid", &request->site_guid);
    ndr_u32(ndr, "Flags", &request->flags);
}

/* 34: [in,unique,string] ComputerName, [in,unique,string] AccountName,
 * [in] AllowableAccountControlBits, [in,unique,string] DomainName, [in,unique] DomainGuid,
 * [in,unique,string] SiteName, [in] Flags, [out] PDOMAIN_CONTROLLER_INFOW * */
static void netlogon_DsrGetDcNameEx2_request_coder(struct ndr *ndr, const char *field, void *value,
                                                   uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_DsrGetDcNameEx2_request *request = value;
    name_parameter(ndr, "ComputerName", &request->computer_name);
    name_parameter(ndr, "AccountName", &request->account_name);
    ndr_u32(ndr, "AllowableAccountControlBits", &request->account_types);
    name_parameter(ndr, "DomainName", &request->domain_name);
    unique_guid(ndr, "DomainGuid", &request->domain_guid);
    name_parameter(ndr, "SiteName", &request->site_name);
    ndr_u32(ndr, "Flags", &request->flags);
}

/* DOMAIN_CONTROLLER_INFOW: DomainControllerName, DomainControllerAddress,
 * DomainControllerAddressType, DomainGuid, DomainName, DnsForestName, Flags, DcSiteName,
 * ClientSiteName */
static void dc_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)field;
    struct netlogon_dc_info *info = value;
    ndr_unique_wstring(ndr, "DomainControllerName", &info->dc_name);
    ndr_unique_wstring(ndr, "DomainControllerAddress", &info->address);
    ndr_u32(ndr, "DomainControllerAddressType", &info->address_type);
    ndr_guid_coder(ndr, "DomainGuid", &info->domain_guid, arg);
    ndr_unique_wstring(ndr, "DomainName", &info->domain);
    ndr_unique_wstring(ndr, "DnsForestName", &info->forest);
    ndr_u32(ndr, "Flags", &info->flags);
    ndr_unique_wstring(ndr, "DcSiteName", &info->dc_site);
    ndr_unique_wstring(ndr, "ClientSiteName", &info->client_site);
}

static void netlogon_DsrGetDcName_reply_coder(struct ndr *ndr, const char *field, void *value,
                                              uint32_t arg)
{
    (void)field, (void)arg;
    struct netlogon_DsrGetDcName_reply *reply = value;
    ndr_unique(ndr, "DomainControllerInfo", &reply->info, dc_info_coder, 0);
    ndr_flush(ndr);
    ndr_u32(ndr, "Status", &reply->status);
}
#define netlogon_DsrGetDcNameEx2_reply_coder netlogon_DsrGetDcName_reply_coder

static const struct rpc_procedure procedures[] = {
    RPC_PROCEDURE(netlogon, 2, LogonSamLogon),
    RPC_PROCEDURE(netlogon, 4, ServerReqChallenge),
    RPC_PROCEDURE(netlogon, 20, DsrGetDcName),
    RPC_PROCEDURE(netlogon, 21, LogonGetCapabilities),
    RPC_PROCEDURE(netlogon, 26, ServerAuthenticate3),
    RPC_PROCEDURE(netlogon, 29, LogonGetDomainInfo),
    RPC_PROCEDURE(netlogon, 30, ServerPasswordSet2),
    RPC_PROCEDURE(netlogon, 34, DsrGetDcNameEx2),
    RPC_PROCEDURE(netlogon, 39, LogonSamLogonEx),
    RPC_PROCEDURE(netlogon, 40, DsrEnumerateDomainTrusts),
    RPC_PROCEDURE(netlogon, 45, LogonSamLogonWithFlags),
    {.name = NULL},
};

const struct rpc_interface rpc_netlogon = {.name = "rpc_netlogon",
                                           .uuid = "12345678-1234-abcd-ef00-01234567cffb",
                                           .version_major = 1,
                                           .version_minor = 0,
                                           .pipe = "netlogon",
                                           .procedures = procedures};
