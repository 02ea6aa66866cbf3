/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_netlogon: the Netlogon Remote Protocol (MS-NRPC), the calls that members of a domain make. */
#ifndef PROTOCOLS_RPC_RPC_NETLOGON_H
#define PROTOCOLS_RPC_RPC_NETLOGON_H

#include "protocols/rpc/rpc_interface.h"

enum netlogon_opnum {
    NETLOGON_LOGON_SAM_LOGON = 2,
    NETLOGON_SERVER_REQ_CHALLENGE = 4,
    NETLOGON_DSR_GET_DC_NAME = 20,
    NETLOGON_LOGON_GET_CAPABILITIES = 21,
    NETLOGON_SERVER_AUTHENTICATE3 = 26,
    NETLOGON_LOGON_GET_DOMAIN_INFO = 29,
    NETLOGON_SERVER_PASSWORD_SET2 = 30,
    NETLOGON_DSR_GET_DC_NAME_EX2 = 34,
    NETLOGON_LOGON_SAM_LOGON_EX = 39,
    NETLOGON_DSR_ENUMERATE_DOMAIN_TRUSTS = 40,
    NETLOGON_LOGON_SAM_LOGON_WITH_FLAGS = 45
};

/* NETLOGON_SECURE_CHANNEL_TYPE, MS-NRPC 2.2.1.3.13 */
enum { NETLOGON_CHANNEL_WORKSTATION = 2, NETLOGON_CHANNEL_SERVER = 6 };

/* NETLOGON_LOGON_INFO_CLASS and NETLOGON_VALIDATION_INFO_CLASS */
enum { NETLOGON_LOGON_NETWORK = 2, NETLOGON_LOGON_NETWORK_TRANSITIVE = 6 };
enum { NETLOGON_VALIDATION_SAM_INFO2 = 3, NETLOGON_VALIDATION_SAM_INFO4 = 6 };

enum { NETLOGON_CREDENTIAL_SIZE = 8, NETLOGON_PASSWORD_SIZE = 512 };

/* NETLOGON_AUTHENTICATOR */
struct netlogon_authenticator {
    uint8_t credential[NETLOGON_CREDENTIAL_SIZE];
    uint32_t timestamp;
};

struct netlogon_ServerReqChallenge_request {
    char *server_name, *computer_name;
    uint8_t client_challenge[NETLOGON_CREDENTIAL_SIZE];
};
struct netlogon_ServerReqChallenge_reply {
    uint8_t server_challenge[NETLOGON_CREDENTIAL_SIZE];
    uint32_t status;
};

struct netlogon_ServerAuthenticate3_request {
    char *server_name, *account_name;
    uint16_t channel_type;
    char *computer_name;
    uint8_t client_credential[NETLOGON_CREDENTIAL_SIZE];
    uint32_t flags;
};
struct netlogon_ServerAuthenticate3_reply {
    uint8_t server_credential[NETLOGON_CREDENTIAL_SIZE];
    uint32_t flags, rid;
    uint32_t status;
};

struct netlogon_LogonGetCapabilities_request {
    char *server_name, *computer_name;
    struct netlogon_authenticator authenticator, return_authenticator;
    uint32_t level; /* 1: what the server supports; 2: what it was asked for */
};
struct netlogon_LogonGetCapabilities_reply {
    struct netlogon_authenticator return_authenticator;
    uint32_t level, capabilities;
    uint32_t status;
};

/* OSVERSIONINFOEXW without a service pack's name, MS-NRPC 2.2.1.3.6 and MS-RPRN 2.2.3.10.1 */
struct netlogon_os_version {
    uint32_t major, minor, build;
    uint32_t platform; /* 2: Windows NT */
    uint16_t service_pack_major, service_pack_minor, suite;
    uint8_t product; /* 1: workstation */
};
/* NETLOGON_WORKSTATION_INFO: what a member reports about itself */
struct netlogon_workstation {
    char *dns_host_name, *site_name;
    struct netlogon_os_version *os_version;
    char *os_name;
    uint32_t flags, encryption_types;
};
struct netlogon_LogonGetDomainInfo_request {
    char *server_name, *computer_name;
    struct netlogon_authenticator authenticator, return_authenticator;
    uint32_t level; /* 1 */
    struct netlogon_workstation *workstation;
};
/* NETLOGON_ONE_DOMAIN_INFO */
struct netlogon_domain {
    char *name, *dns_domain, *dns_forest;
    struct ndr_guid guid;
    struct ndr_sid *sid;
    char *trust_extension, *dummy_strings[3];
    uint32_t dummy_longs[4];
};
/* NETLOGON_DOMAIN_INFO */
struct netlogon_domain_info {
    struct netlogon_domain primary;
    uint32_t trusted_count;
    struct netlogon_domain *trusted;
    uint32_t policy_size;
    uint8_t *policy;
    char *dns_host_name, *dummy_strings[3];
    uint32_t flags, encryption_types, dummy_longs[2];
};
struct netlogon_LogonGetDomainInfo_reply {
    struct netlogon_authenticator return_authenticator;
    uint32_t level;
    struct netlogon_domain_info *info;
    uint32_t status;
};

/* NL_TRUST_PASSWORD, encrypted with the session key */
struct netlogon_ServerPasswordSet2_request {
    char *server_name, *account_name;
    uint16_t channel_type;
    char *computer_name;
    struct netlogon_authenticator authenticator;
    uint8_t password[NETLOGON_PASSWORD_SIZE];
    uint8_t length[4]; /* little-endian once decrypted */
};
struct netlogon_ServerPasswordSet2_reply {
    struct netlogon_authenticator return_authenticator;
    uint32_t status;
};

/* STRING: bytes of a response to a challenge */
struct netlogon_response {
    uint16_t size;
    uint8_t *bytes;
};
/* NETLOGON_NETWORK_INFO with its NETLOGON_LOGON_IDENTITY_INFO */
struct netlogon_network {
    char *domain;
    uint32_t parameter_control;
    uint32_t logon_id_low, logon_id_high;
    char *account, *workstation;
    uint8_t challenge[NETLOGON_CREDENTIAL_SIZE];
    struct netlogon_response nt, lm;
};
struct netlogon_group {
    uint32_t rid, attributes;
};
struct netlogon_extra_sid {
    struct ndr_sid *sid;
    uint32_t attributes;
};
/* NETLOGON_VALIDATION_SAM_INFO2; _INFO4 has the last members too */
struct netlogon_sam_info {
    uint16_t level;
    uint64_t logon_time, logoff_time, kickoff_time;
    uint64_t password_last_set, password_can_change, password_must_change;
    char *account, *full_name, *script, *profile, *home, *home_drive;
    uint16_t logon_count, bad_password_count;
    uint32_t rid, primary_gid, group_count;
    struct netlogon_group *groups;
    uint32_t user_flags;
    uint8_t user_session_key[16];
    char *logon_server, *logon_domain;
    struct ndr_sid *domain_sid;
    uint8_t lm_key[8];
    uint32_t account_control, sub_authentication_status;
    uint64_t last_successful_logon, last_failed_logon;
    uint32_t failed_logon_count, reserved;
    uint32_t extra_count;
    struct netlogon_extra_sid *extra_sids;
    char *dns_domain, *upn, *expansion[10];
};

struct netlogon_LogonSamLogonEx_request {
    char *server_name, *computer_name;
    uint16_t level;
    struct netlogon_network *network;
    uint16_t validation_level;
    uint32_t flags;
};
struct netlogon_LogonSamLogonEx_reply {
    uint16_t validation_level;
    struct netlogon_sam_info *info;
    uint8_t authoritative;
    uint32_t flags;
    uint32_t status;
};
/* LogonSamLogonWithFlags; LogonSamLogon is the same without flags. */
struct netlogon_LogonSamLogonWithFlags_request {
    char *server_name, *computer_name;
    struct netlogon_authenticator *authenticator, *return_authenticator;
    uint16_t level;
    struct netlogon_network *network;
    uint16_t validation_level;
    uint32_t flags;
};
struct netlogon_LogonSamLogonWithFlags_reply {
    struct netlogon_authenticator *return_authenticator;
    uint16_t validation_level;
    struct netlogon_sam_info *info;
    uint8_t authoritative;
    uint32_t flags;
    uint32_t status;
};
#define netlogon_LogonSamLogon_request netlogon_LogonSamLogonWithFlags_request
#define netlogon_LogonSamLogon_reply   netlogon_LogonSamLogonWithFlags_reply

struct netlogon_DsrEnumerateDomainTrusts_request {
    char *server_name;
    uint32_t flags; /* 1 in forest, 2 outbound, 0x20 inbound */
};
/* DS_DOMAIN_TRUSTSW */
struct netlogon_trust {
    char *netbios_name, *dns_name;
    uint32_t flags, parent_index, type, attributes;
    struct ndr_sid *sid;
    struct ndr_guid guid;
};
struct netlogon_DsrEnumerateDomainTrusts_reply {
    uint32_t count;
    struct netlogon_trust *trusts;
    uint32_t status; /* WERROR */
};

struct netlogon_DsrGetDcName_request {
    char *computer_name, *domain_name;
    struct ndr_guid *domain_guid, *site_guid;
    uint32_t flags;
};
/* DOMAIN_CONTROLLER_INFOW */
struct netlogon_dc_info {
    char *dc_name, *address;
    uint32_t address_type;
    struct ndr_guid domain_guid;
    char *domain, *forest;
    uint32_t flags;
    char *dc_site, *client_site;
};
struct netlogon_DsrGetDcName_reply {
    struct netlogon_dc_info *info;
    uint32_t status; /* WERROR */
};
struct netlogon_DsrGetDcNameEx2_request {
    char *computer_name, *account_name;
    uint32_t account_types;
    char *domain_name;
    struct ndr_guid *domain_guid;
    char *site_name;
    uint32_t flags;
};
#define netlogon_DsrGetDcNameEx2_reply netlogon_DsrGetDcName_reply

#endif
