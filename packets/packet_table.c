/* SPDX-License-Identifier: Apache-2.0 */
/* The rows: protocols, details, packets. */
#include "packets/packet_table.h"

#include <string.h>

#include "packets/packet_words.h"

static const struct packet_row *find_row(const struct packet_protocol *protocol,
                                         const char *opcode);
static const struct packet_row *find_added(const char *protocol, const char *opcode);

static const struct packet_protocol cldap = {
    .name = "cldap", .udp = true, .connections = PACKET_CONNECTION_BRIEF};
static const struct packet_protocol dns = {
    .name = "dns", .udp = true, .needs_dc = true, .connections = PACKET_CONNECTION_BRIEF};
static const struct packet_protocol nbns = {
    .name = "nbns", .udp = true, .needs_dc = true, .connections = PACKET_CONNECTION_BRIEF};
static const struct packet_protocol kerberos = {.name = "kerberos",
                                                .needs_dc = true,
                                                .joins = true,
                                                .connections = PACKET_CONNECTION_BRIEF,
                                                .needs = PACKET_NEEDS_KERBEROS};
static const struct packet_protocol ldap = {
    .name = "ldap", .joins = true, .connections = PACKET_CONNECTION_LDAP};
static const struct packet_protocol smb2 = {.name = "smb2",
                                            .two_sided = true,
                                            .needs_dc = true,
                                            .over_smb = true,
                                            .connections = PACKET_CONNECTION_SMB};
static const struct packet_protocol smb = {.name = "smb",
                                           .two_sided = true,
                                           .needs_dc = true,
                                           .over_smb = true,
                                           .connections = PACKET_CONNECTION_SMB};
/* The operations of loadfiles. */
static const struct packet_protocol nbench = {.name = "nbench",
                                              .needs_dc = true,
                                              .over_smb = true,
                                              .in_loadfiles = true,
                                              .connections = PACKET_CONNECTION_SMB};
static const struct packet_protocol dcerpc = {.name = "dcerpc"};
static const struct packet_protocol epm = {
    .name = "epm", .two_sided = true, .needs_dc = true, .connections = PACKET_CONNECTION_BRIEF};
static const struct packet_protocol netlogon = {.name = "rpc_netlogon",
                                                .two_sided = true,
                                                .needs_dc = true,
                                                .connections = PACKET_CONNECTION_NETLOGON,
                                                .needs = PACKET_NEEDS_MACHINE};
/* LookupSids3 and LookupNames4 go over netlogon's secure channel, all else over the pipe. */
static const struct packet_protocol lsarpc = {
    .name = "lsarpc",
    .two_sided = true,
    .needs_dc = true,
    .connections = PACKET_CONNECTION_SMB | PACKET_CONNECTION_NETLOGON,
    .needs = PACKET_NEEDS_MACHINE | PACKET_NEEDS_MACHINE_KEY};
static const struct packet_protocol samr = {.name = "samr",
                                            .two_sided = true,
                                            .needs_dc = true,
                                            .connections = PACKET_CONNECTION_SAMR,
                                            .needs = PACKET_NEEDS_SAMR_KEY};
static const struct packet_protocol srvsvc = {
    .name = "srvsvc", .two_sided = true, .needs_dc = true, .connections = PACKET_CONNECTION_SMB};
static const struct packet_protocol drsuapi = {.name = "drsuapi",
                                               .two_sided = true,
                                               .needs_dc = true,
                                               .connections = PACKET_CONNECTION_DRSUAPI};
static const struct packet_protocol dnsserver = {.name = "dnsserver", .two_sided = true};
/* Both are mailslots, datagrams of NetBIOS (UDP port 138). */
static const struct packet_protocol browser = {.name = "browser", .udp = true, .two_sided = true};
static const struct packet_protocol smb_netlogon = {
    .name = "smb_netlogon", .udp = true, .two_sided = true};

static const struct packet_protocol *const protocols[] = {
    &cldap, &dns,      &nbns,   &kerberos, &ldap,   &smb2,    &smb,       &nbench,  &dcerpc,
    &epm,   &netlogon, &lsarpc, &samr,     &srvsvc, &drsuapi, &dnsserver, &browser, &smb_netlogon};

enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

static const struct packet_word auths[] = {{.name = "simple", .value = LDAP_AUTH_SIMPLE_BIND},
                                           {.name = "sasl", .value = LDAP_AUTH_SASL_BIND},
                                           {.name = NULL}};
/* A capture shows the mechanism's OID (RFC 4178, MS-SPNG, MS-NLMP, RFC 4121). One that only occurs
 * inside SPNEGO means SPNEGO. */
static const struct packet_word mechanisms[] = {
    {.name = "GSS-SPNEGO", .value = LDAP_MECHANISM_GSS_SPNEGO},
    {.name = "GSSAPI", .value = LDAP_MECHANISM_GSSAPI, .needs = PACKET_NEEDS_KERBEROS},
    {.name = "1.3.6.1.5.5.2", .of = "GSS-SPNEGO"},
    {.name = "1.2.840.48018.1.2.2", .of = "GSS-SPNEGO"},
    {.name = "1.3.6.1.4.1.311.2.2.10", .of = "GSS-SPNEGO"},
    {.name = "1.2.840.113554.1.2.2", .of = "GSSAPI"},
    {.name = NULL}};
static const struct packet_word transports[] = {
    {.name = "none", .value = LDAP_TRANSPORT_CLEAR},
    {.name = "starttls", .value = LDAP_TRANSPORT_STARTTLS},
    {.name = "ldaps", .value = LDAP_TRANSPORT_LDAPS},
    {.name = NULL}};
static const struct packet_rule bind_rules[] = {
    {.key = "auth", .type = PACKET_WORD, .words = auths, .usual = "sasl"},
    {.key = "mech",
     .type = PACKET_WORD,
     .words = mechanisms,
     .usual = "GSS-SPNEGO",
     .not_with = "auth",
     .not_value = "simple"},
    {.key = "tls",
     .type = PACKET_WORD,
     .words = transports,
     .meaning = "default: ldaps with auth: simple, otherwise none"},
    {.key = NULL}};

/* RFC 4511 4.5.1.2 */
static const struct packet_word scopes[] = {{.name = "base", .value = 0},
                                            {.name = "one", .value = 1},
                                            {.name = "sub", .value = 2},
                                            {.name = NULL}};
static const struct packet_rule search_rules[] = {
    {.key = "scope", .type = PACKET_WORD, .words = scopes, .usual = "sub"},
    {.key = "base", .type = PACKET_PATTERN, .usual = "", .meaning = "empty for the root DSE"},
    {.key = "filter", .type = PACKET_FILTER},
    {.key = "attrs", .type = PACKET_ATTRIBUTES},
    {.key = "controls", .type = PACKET_OIDS, .max = LDAP_SEARCH_CONTROLS_MAX},
    {.key = "sealed",
     .type = PACKET_FLAG,
     .usual = "false",
     .meaning = "true if the capture showed only ciphertext"},
    {.key = NULL}};

static const struct packet_rule extended_rules[] = {
    {.key = "oid",
     .type = PACKET_OID,
     .usual = "1.3.6.1.4.1.4203.1.11.3",
     .meaning = "operation to request, without a value (default: Who am I?)"},
    {.key = NULL}};

static const struct packet_word clients[] = {
    {.name = "user", .value = KERBEROS_CLIENT_USER},
    {.name = "machine",
     .value = KERBEROS_CLIENT_MACHINE,
     .needs = PACKET_NEEDS_MACHINE | PACKET_NEEDS_MACHINE_KEY},
    {.name = NULL}};
static const struct packet_rule as_rules[] = {
    {.key = "as", .type = PACKET_WORD, .words = clients, .usual = "user"}, {.key = NULL}};
static const struct packet_rule tgs_rules[] = {
    {.key = "service",
     .type = PACKET_NAME,
     .meaning = "first part of a service principal; default: ldap, cifs and host in turn"},
    {.key = NULL}};

static const struct packet_word dns_names[] = {{.name = "realm", .value = DNS_NAME_REALM},
                                               {.name = "dc", .value = DNS_NAME_DC},
                                               {.name = "ldap", .value = DNS_NAME_LDAP},
                                               {.name = "kerberos", .value = DNS_NAME_KERBEROS},
                                               {.name = "msdcs", .value = DNS_NAME_MSDCS},
                                               {.name = "other", .value = DNS_NAME_OTHER},
                                               {.name = NULL}};
static const struct packet_rule dns_rules[] = {
    {.key = "type", .type = PACKET_RRTYPE},
    {.key = "name", .type = PACKET_WORD, .words = dns_names},
    {.key = NULL}};

static const struct packet_word shares[] = {{.name = "ipc", .value = SMB2_SHARE_IPC},
                                            {.name = "sysvol", .value = SMB2_SHARE_SYSVOL},
                                            {.name = "netlogon", .value = SMB2_SHARE_NETLOGON},
                                            {.name = "other", .value = SMB2_SHARE_OTHER},
                                            {.name = NULL}};
static const struct packet_rule tree_rules[] = {
    {.key = "share", .type = PACKET_WORD, .words = shares, .usual = "ipc"}, {.key = NULL}};

static const struct packet_word files[] = {
    {.name = "policy", .value = SMB2_FILE_POLICY}, {.name = "script", .value = SMB2_FILE_SCRIPT},
    {.name = "dir", .value = SMB2_FILE_DIRECTORY}, {.name = "pipe", .value = SMB2_FILE_PIPE},
    {.name = "other", .value = SMB2_FILE_OTHER},   {.name = NULL}};
static const struct packet_word oplocks[] = {{.name = "none", .value = SMB2_OPLOCK_NONE},
                                             {.name = "level2", .value = SMB2_OPLOCK_II},
                                             {.name = "exclusive", .value = SMB2_OPLOCK_EXCLUSIVE},
                                             {.name = "batch", .value = SMB2_OPLOCK_BATCH},
                                             {.name = "lease", .value = SMB2_OPLOCK_LEASE},
                                             {.name = NULL}};
static const struct packet_word leases[] = {
    {.name = "none", .value = 0},
    {.name = "r", .value = SMB2_LEASE_READ},
    {.name = "rh", .value = SMB2_LEASE_READ | SMB2_LEASE_HANDLE},
    {.name = "rw", .value = SMB2_LEASE_READ | SMB2_LEASE_WRITE},
    {.name = "rwh", .value = SMB2_LEASE_READ | SMB2_LEASE_WRITE | SMB2_LEASE_HANDLE},
    {.name = NULL}};
static const struct packet_word dispositions[] = {
    {.name = "overwrite_if", .value = SMB2_SCRATCH_OVERWRITE_IF},
    {.name = "create", .value = SMB2_SCRATCH_CREATE},
    {.name = "open_if", .value = SMB2_SCRATCH_OPEN_IF},
    {.name = "supersede", .value = SMB2_SCRATCH_SUPERSEDE},
    {.name = NULL}};
static const struct packet_rule create_rules[] = {
    {.key = "file", .type = PACKET_WORD, .words = files, .usual = "policy"},
    {.key = "access",
     .type = PACKET_NUMBER,
     .max = UINT32_MAX,
     .meaning = "access mask, for example 0x120089"},
    {.key = "oplock", .type = PACKET_WORD, .words = oplocks, .usual = "none"},
    {.key = "lease", .type = PACKET_WORD, .words = leases, .usual = "none"},
    {.key = "disposition",
     .type = PACKET_WORD,
     .words = dispositions,
     .usual = "overwrite_if",
     .meaning = "of the scratch file"},
    {.key = NULL}};
static const struct packet_rule read_rules[] = {{.key = "size",
                                                 .type = PACKET_NUMBER,
                                                 .min = 1,
                                                 .max = UINT32_MAX,
                                                 .usual = "65536",
                                                 .meaning = "bytes"},
                                                {.key = NULL}};
static const struct packet_rule write_rules[] = {{.key = "size",
                                                  .type = PACKET_NUMBER,
                                                  .min = 1,
                                                  .max = SMB2_SCRATCH_MAX,
                                                  .usual = "4096",
                                                  .meaning = "bytes"},
                                                 {.key = NULL}};
static const struct packet_word set_classes[] = {
    {.name = "basic", .value = SMB2_SET_BASIC},
    {.name = "allocation", .value = SMB2_SET_ALLOCATION},
    {.name = "end_of_file", .value = SMB2_SET_END_OF_FILE},
    {.name = NULL}};
static const struct packet_rule set_rules[] = {
    {.key = "class", .type = PACKET_WORD, .words = set_classes, .usual = "basic"}, {.key = NULL}};
/* The default is FileIdBothDirectoryInformation, which the Windows shell requests. */
static const struct packet_rule directory_rules[] = {{.key = "class",
                                                      .type = PACKET_NUMBER,
                                                      .min = 1,
                                                      .max = UINT8_MAX,
                                                      .usual = "37",
                                                      .meaning = "information class"},
                                                     {.key = NULL}};
static const struct packet_rule info_rules[] = {
    {.key = "class",
     .type = PACKET_NUMBER,
     .min = 1,
     .max = 0x4ff,
     .meaning = "256 times the information type (0 for file) plus the information class"},
    {.key = NULL}};

/* Information levels whose replies can be read: rpc_samr.c, rpc_lsarpc.c, rpc_srvsvc.c. */
#define LEVEL_RULES(name, ranges_, usual_)                                                         \
    static const struct packet_rule name[] = {{.key = "level",                                     \
                                               .type = PACKET_NUMBER,                              \
                                               .min = 1,                                           \
                                               .max = UINT16_MAX,                                  \
                                               .ranges = (ranges_),                                \
                                               .usual = (usual_),                                  \
                                               .meaning = "information level"},                    \
                                              {.key = NULL}}
#define POLICY_LEVELS "1-7 9 12-14"
LEVEL_RULES(domain_level_rules, "1-9 11-13", NULL);
LEVEL_RULES(user_level_rules, "1-14 16 17 20 21", "1");
LEVEL_RULES(policy_level_rules, POLICY_LEVELS, "5");   /* account domain */
LEVEL_RULES(policy2_level_rules, POLICY_LEVELS, "12"); /* DNS domain */
LEVEL_RULES(share_level_rules, "1 2 501 502 1005", "1");
LEVEL_RULES(server_level_rules, "100-102", "101");
LEVEL_RULES(capabilities_level_rules, "1 2", "1");

/* A SASL bind takes up to four messages, of which the first names the mechanism. */
static const struct packet_legs bind_legs = {
    .joined = true, .field = "auth", .value = "sasl", .first = "mech"};
static const struct packet_legs session_setup_legs = {.joined = false};

#define ROW(protocol_, opcode_, description_, kind_, ...)                                          \
    {                                                                                              \
        .protocol = &(protocol_), .opcode = (opcode_), .description = (description_),              \
        .kind = PACKET_##kind_, __VA_ARGS__                                                        \
    }
#define OPERATION(protocol_, opcode_, description_, ...)                                           \
    ROW(protocol_, opcode_, description_, OPERATION, __VA_ARGS__)
#define STATE(protocol_, opcode_, description_, ...)                                               \
    ROW(protocol_, opcode_, description_, STATE, __VA_ARGS__)
#define SILENT(protocol_, opcode_, description_, ...)                                              \
    ROW(protocol_, opcode_, description_, SILENT, __VA_ARGS__)
#define REPLY(protocol_, opcode_, description_, ...)                                               \
    ROW(protocol_, opcode_, description_, SILENT, .reply = true, __VA_ARGS__)
#define EMPTY .columns = PACKET_COLUMNS_EMPTY

static const struct packet_row rows[] = {
    OPERATION(cldap, "3", "searchRequest", .replies = "4 5", .columns = PACKET_COLUMNS_NETLOGON),
    REPLY(cldap, "4", "searchResEntry"),
    REPLY(cldap, "5", "searchResDone"),

    OPERATION(dns, "0", "query", .replies = "1", .rules = dns_rules),
    REPLY(dns, "1", "response"),

    OPERATION(nbns, "0", "query", .replies = "1"),
    REPLY(nbns, "1", "response"),

    STATE(kerberos, "", "unknown"),
    OPERATION(kerberos, "10", "as-req", .replies = "11 30", .refused_by = "30", .rules = as_rules),
    REPLY(kerberos, "11", "as-rep"),
    OPERATION(kerberos, "12", "tgs-req", .replies = "13 30", .rules = tgs_rules),
    REPLY(kerberos, "13", "tgs-rep"),
    SILENT(kerberos, "14", "ap-req", .replies = "15 30"),
    REPLY(kerberos, "15", "ap-rep"),
    REPLY(kerberos, "30", "krb-error"),

    SILENT(ldap, "", "unknown", EMPTY),
    OPERATION(ldap, "0", "bindRequest", .replies = "1", .legs = &bind_legs, .opens = 1,
              .columns = PACKET_COLUMNS_BIND, .rules = bind_rules),
    REPLY(ldap, "1", "bindResponse", EMPTY),
    STATE(ldap, "2", "unbindRequest", .opens = -1, EMPTY),
    OPERATION(ldap, "3", "searchRequest", .replies = "4 5 19", .columns = PACKET_COLUMNS_SEARCH,
              .rules = search_rules),
    REPLY(ldap, "4", "searchResEntry", EMPTY),
    REPLY(ldap, "5", "searchResDone", EMPTY),
    OPERATION(ldap, "6", "modifyRequest", .replies = "7", EMPTY),
    REPLY(ldap, "7", "modifyResponse", EMPTY),
    OPERATION(ldap, "8", "addRequest", .replies = "9", EMPTY),
    REPLY(ldap, "9", "addResponse", EMPTY),
    OPERATION(ldap, "10", "delRequest", .replies = "11", EMPTY),
    REPLY(ldap, "11", "delResponse", EMPTY),
    OPERATION(ldap, "12", "modDNRequest", .replies = "13", EMPTY),
    REPLY(ldap, "13", "modDNResponse", EMPTY),
    OPERATION(ldap, "14", "compareRequest", .replies = "15", EMPTY),
    REPLY(ldap, "15", "compareResponse", EMPTY),
    OPERATION(ldap, "16", "abandonRequest", EMPTY),
    REPLY(ldap, "19", "searchResRef", EMPTY),
    OPERATION(ldap, "23", "extendedReq", .replies = "24 25", EMPTY, .rules = extended_rules),
    REPLY(ldap, "24", "extendedResp", EMPTY),
    REPLY(ldap, "25", "intermediateResponse", EMPTY),

    OPERATION(smb2, "0", "negotiate"),
    OPERATION(smb2, "1", "session setup", .legs = &session_setup_legs),
    OPERATION(smb2, "2", "logoff"),
    OPERATION(smb2, "3", "tree connect", .rules = tree_rules),
    OPERATION(smb2, "4", "tree disconnect"),
    OPERATION(smb2, "5", "create", .rules = create_rules),
    OPERATION(smb2, "6", "close"),
    OPERATION(smb2, "7", "flush", .option = "--smb-share"),
    OPERATION(smb2, "8", "read", .rules = read_rules),
    OPERATION(smb2, "9", "write", .option = "--smb-share", .rules = write_rules),
    OPERATION(smb2, "10", "lock", .option = "--smb-share"),
    OPERATION(smb2, "11", "ioctl"),
    OPERATION(smb2, "13", "echo"),
    OPERATION(smb2, "14", "query directory", .rules = directory_rules),
    OPERATION(smb2, "16", "query info", .rules = info_rules),
    OPERATION(smb2, "17", "set info", .option = "--smb-share", .rules = set_rules),

    OPERATION(smb, "0x72", "negotiate protocol"),
    SILENT(smb, "*", "SMB1"),

    OPERATION(nbench, "NTCreateX", "open or create"),
    OPERATION(nbench, "Close", "close"),
    OPERATION(nbench, "ReadX", "read"),
    OPERATION(nbench, "WriteX", "write"),
    OPERATION(nbench, "Flush", "flush"),
    OPERATION(nbench, "LockX", "lock"),
    OPERATION(nbench, "UnlockX", "unlock"),
    OPERATION(nbench, "QUERY_PATH_INFORMATION", "query by name"),
    OPERATION(nbench, "QUERY_FILE_INFORMATION", "query open file"),
    OPERATION(nbench, "QUERY_FS_INFORMATION", "query file system"),
    OPERATION(nbench, "SET_FILE_INFORMATION", "set attributes"),
    OPERATION(nbench, "FIND_FIRST", "search a folder"),
    OPERATION(nbench, "Rename", "rename"),
    OPERATION(nbench, "Unlink", "delete a file"),
    OPERATION(nbench, "Mkdir", "create a folder"),
    OPERATION(nbench, "Rmdir", "delete a folder"),
    OPERATION(nbench, "Deltree", "delete a tree"),
    STATE(nbench, "RANDOMSTRING", "choose a string"),

    SILENT(dcerpc, "0", "Request", .replies = "2 3"),
    REPLY(dcerpc, "2", "Response"),
    REPLY(dcerpc, "3", "Fault"),
    SILENT(dcerpc, "11", "Bind", .replies = "12 13"),
    REPLY(dcerpc, "12", "Bind_ack"),
    REPLY(dcerpc, "13", "Bind_nak"),
    SILENT(dcerpc, "14", "Alter_context", .replies = "15"),
    STATE(dcerpc, "15", "Alter_context_resp", .reply = true),
    STATE(dcerpc, "16", "AUTH3"),
    SILENT(dcerpc, "18", "Co_cancel"),

    OPERATION(epm, "3", "Map"),

    OPERATION(netlogon, "2", "NetrLogonSamLogon"),
    OPERATION(netlogon, "4", "NetrServerReqChallenge"),
    OPERATION(netlogon, "20", "DsrGetDcName", .needs = PACKET_NEEDS_MACHINE_KEY,
              .connections = PACKET_CONNECTION_LOCATOR),
    OPERATION(netlogon, "21", "NetrLogonGetCapabilities", .rules = capabilities_level_rules),
    OPERATION(netlogon, "26", "NetrServerAuthenticate3"),
    OPERATION(netlogon, "29", "NetrLogonGetDomainInfo"),
    OPERATION(netlogon, "30", "NetrServerPasswordSet2"),
    OPERATION(netlogon, "34", "DsrGetDcNameEx2", .needs = PACKET_NEEDS_MACHINE_KEY,
              .connections = PACKET_CONNECTION_LOCATOR),
    OPERATION(netlogon, "39", "NetrLogonSamLogonEx"),
    OPERATION(netlogon, "40", "DsrEnumerateDomainTrusts"),
    OPERATION(netlogon, "45", "NetrLogonSamLogonWithFlags"),

    OPERATION(samr, "0", "Connect"),
    OPERATION(samr, "1", "Close"),
    OPERATION(samr, "3", "QuerySecurity"),
    OPERATION(samr, "5", "LookupDomain"),
    OPERATION(samr, "6", "EnumDomains"),
    OPERATION(samr, "7", "OpenDomain"),
    OPERATION(samr, "8", "QueryDomainInfo", .rules = domain_level_rules),
    OPERATION(samr, "11", "EnumDomainGroups"),
    OPERATION(samr, "13", "EnumDomainUsers"),
    OPERATION(samr, "15", "EnumDomainAliases"),
    OPERATION(samr, "16", "GetAliasMembership"),
    OPERATION(samr, "17", "LookupNames"),
    OPERATION(samr, "18", "LookupRids"),
    OPERATION(samr, "19", "OpenGroup"),
    OPERATION(samr, "25", "QueryGroupMember"),
    OPERATION(samr, "34", "OpenUser"),
    OPERATION(samr, "36", "QueryUserInfo", .rules = user_level_rules),
    OPERATION(samr, "39", "GetGroupsForUser"),
    OPERATION(samr, "40", "QueryDisplayInfo"),
    OPERATION(samr, "44", "GetUserPwInfo"),
    OPERATION(samr, "46", "QueryDomainInfo2", .rules = domain_level_rules),
    OPERATION(samr, "57", "Connect2"),
    OPERATION(samr, "62", "Connect4"),
    OPERATION(samr, "64", "Connect5"),

    OPERATION(lsarpc, "0", "lsa_Close"),
    OPERATION(lsarpc, "6", "lsa_OpenPolicy"),
    OPERATION(lsarpc, "7", "lsa_QueryInfoPolicy", .rules = policy_level_rules),
    OPERATION(lsarpc, "14", "lsa_LookupNames"),
    OPERATION(lsarpc, "15", "lsa_LookupSids"),
    OPERATION(lsarpc, "39", "lsa_QueryTrustedDomainInfoBySid"),
    OPERATION(lsarpc, "44", "lsa_OpenPolicy2"),
    OPERATION(lsarpc, "46", "lsa_QueryInfoPolicy2", .rules = policy2_level_rules),
    OPERATION(lsarpc, "76", "lsa_LookupSids3"),
    OPERATION(lsarpc, "77", "lsa_LookupNames4"),

    OPERATION(srvsvc, "15", "NetShareEnumAll"),
    OPERATION(srvsvc, "16", "NetShareGetInfo", .rules = share_level_rules),
    OPERATION(srvsvc, "21", "NetSrvGetInfo", .rules = server_level_rules),

    OPERATION(drsuapi, "0", "DsBind"),
    OPERATION(drsuapi, "1", "DsUnbind"),
    SILENT(drsuapi, "2", "DsReplicaSync"),
    OPERATION(drsuapi, "3", "DsGetNCChanges", .needs = PACKET_NEEDS_ADMIN_KEY,
              .option = "--allow-replication"),
    SILENT(drsuapi, "4", "DsReplicaUpdateRefs"),
    OPERATION(drsuapi, "12", "DsCrackNames"),
    OPERATION(drsuapi, "13", "DsWriteAccountSpn"),

    SILENT(dnsserver, "*", "DNS server management"),
    SILENT(browser, "*", "browser announcement"),
    SILENT(smb_netlogon, "*", "SMB netlogon mailslot"),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct packet_row *added; /* packet_rows_add() */

const struct packet_row *packet_row_find(const char *protocol, const char *opcode)
{
    const struct packet_row *row = find_added(protocol, opcode);
    const struct packet_protocol *known = row ? NULL : packet_protocol_find(protocol);
    if (known)
        row = find_row(known, opcode);
    return row || !known ? row : find_row(known, "*");
}

const struct packet_row *packet_row_find_in_model(const char *protocol, const char *opcode)
{
    const struct packet_row *row = packet_row_find(protocol, opcode);
    return row && row->protocol->in_loadfiles ? NULL : row;
}

static const struct packet_row *find_added(const char *protocol, const char *opcode)
{
    for (const struct packet_row *row = added; row && row->protocol; row++)
        if (strcmp(row->protocol->name, protocol) == 0 && strcmp(row->opcode, opcode) == 0)
            return row;
    return NULL;
}

const struct packet_protocol *packet_protocol_find(const char *protocol)
{
    for (size_t i = 0; i < PROTOCOLS; i++)
        if (strcmp(protocols[i]->name, protocol) == 0)
            return protocols[i];
    return NULL;
}

static const struct packet_row *find_row(const struct packet_protocol *protocol, const char *opcode)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].protocol == protocol && strcmp(rows[i].opcode, opcode) == 0)
            return &rows[i];
    return NULL;
}

const struct packet_row *packet_rows(size_t *count)
{
    *count = ROWS;
    return rows;
}

void packet_rows_add(const struct packet_row *table)
{
    added = table;
}

bool packet_word_in(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length > 0 && at && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}
