/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connectionless LDAP (MS-ADTS 3.1.1.3.1.1 "LDAP over UDP" and 6.3.3): the LDAP ping with which a
 * client finds a DC and its properties, and searches of the root DSE.
 */
#ifndef PROTOCOLS_NAMES_CLDAP_H
#define PROTOCOLS_NAMES_CLDAP_H

#include <lber.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/conversation.h"
#include "protocols/dc.h"
#include "protocols/wire.h"

/* MS-ADTS 6.3.1.3: opcodes of the replies to a ping. */
enum {
    CLDAP_SAM_LOGON_RESPONSE_EX = 23,
    CLDAP_SAM_PAUSE_RESPONSE_EX = 24,
    CLDAP_SAM_USER_UNKNOWN_EX = 25
};

/* MS-ADTS 6.3.1.1 NETLOGON_NT_VERSION options. */
enum {
    CLDAP_NT_VERSION_1 = 0x1,
    CLDAP_NT_VERSION_5 = 0x2,
    CLDAP_NT_VERSION_5EX = 0x4,
    CLDAP_NT_VERSION_5EX_WITH_IP = 0x8,
    CLDAP_NT_VERSION_WITH_CLOSEST_SITE = 0x10
};

/* MS-ADTS 6.3.1.2: the server is not an RODC. */
enum { CLDAP_DS_WRITABLE = 0x100 };

enum { CLDAP_NAME_SIZE = 256, CLDAP_GUID_SIZE = 16 };

/* NETLOGON_SAM_LOGON_RESPONSE_EX (MS-ADTS 6.3.1.9), names in UTF-8 with dots. */
struct cldap_netlogon {
    uint16_t opcode;
    uint32_t flags; /* DS_FLAG options, 6.3.1.2 */
    uint8_t domain_guid[CLDAP_GUID_SIZE];
    char forest[CLDAP_NAME_SIZE];
    char dns_domain[CLDAP_NAME_SIZE];
    char dns_host[CLDAP_NAME_SIZE];
    char netbios_domain[CLDAP_NAME_SIZE];
    char netbios_name[CLDAP_NAME_SIZE];
    char user[CLDAP_NAME_SIZE];
    char dc_site[CLDAP_NAME_SIZE];
    char client_site[CLDAP_NAME_SIZE];
    char next_closest_site[CLDAP_NAME_SIZE]; /* "": none */
    uint32_t nt_version;
};

/* Parses the value of the Netlogon attribute. 0, or -EBADMSG, which leaves *out undefined. */
int cldap_netlogon_parse(const uint8_t *value, size_t size, struct cldap_netlogon *out);

/*
 * Pings dc (address and ports.cldap) for dns_domain (NULL: any domain) as host (NULL: no name). 0
 * and *out is filled; or the stream's negative errno; -EBADMSG: malformed reply; -ENOENT: the
 * server speaks CLDAP but has no Netlogon attribute, so it is not a DC of that domain; or a
 * positive LDAP result code.
 */
int cldap_netlogon(struct wire *wire, const struct dc *dc, const char *dns_domain, const char *host,
                   struct cldap_netlogon *out);

/*
 * Searches the root DSE for attributes (NULL-terminated; {"*", NULL}: all) and calls visit (NULL is
 * allowed) for each of them. Returns what cldap_netlogon() returns; -ENOENT: no entry.
 */
typedef void cldap_visit(void *context, const char *attribute, const struct berval *values,
                         size_t count);
int cldap_root_dse(struct wire *wire, const struct dc *dc, char *const *attributes,
                   cldap_visit *visit, void *context);

/* Decodes a reply. bytes[size] must be writable, because liblber writes a NUL there. Returns 0,
 * -EBADMSG, -ENOENT or an LDAP result code. */
int cldap_reply_parse(uint8_t *bytes, size_t size, cldap_visit *visit, void *context);

#endif
