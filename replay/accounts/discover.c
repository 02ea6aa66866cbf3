/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/discover.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <ldap.h>
#include <net/if.h>
#include <netdb.h>
#include <resolv.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/names/cldap.h"
#include "protocols/names/dns.h"
#include "protocols/stream.h"
#include "protocols/wire.h"
#include "replay/accounts/directory.h"
#include "replay/engine/loop.h"

static const int64_t second = 1000000000;
static const int64_t patience = 6 * second; /* for an answer from any of the addresses */

struct root_dse {
    struct dc *dc;
    int error;
};

struct dns_search {
    struct dc *dc;
    unsigned answered;
};

static int find_addresses(const char *given, struct addrinfo **out, struct error *error);
static int check_host(const char *given, const char *host, bool *address, struct error *error);
static bool looks_like_address(const char *host);
static int set_given(struct dc *dc, const char *given);
static int find_generic(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                        struct error *error);
static int find_file_server(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                            const char *workgroup, struct error *error);
static bool port_answers(const struct dc *dc, uint16_t port);
static int set_address(struct dc *dc, const struct addrinfo *address);
static int discover_set_text(char **text, const char *value);
static int ask_generic(struct dc *dc, struct error *error);
static uint64_t discover_no_random(void *state);
static int search_root_dse(struct dc *dc, struct ldap_connection *connection);
static int take_naming_context(struct dc *dc, LDAP *handle, LDAPMessage *result);
static const char *choose_naming_context(struct berval **values);
static int discover_ask(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                        const char *workgroup, struct error *error);
static int ping_any(struct dc *dc, const struct addrinfo *addresses,
                    struct cldap_netlogon *netlogon, struct error *error);
static int ping_until_answer(const struct dc *dc, int64_t duration,
                             struct cldap_netlogon *netlogon);
static void sleep_for(int64_t duration);
static int discover_explain(const struct dc *dc, int code, struct error *error);
static int discover_check(const struct dc *dc, const struct cldap_netlogon *netlogon,
                          struct error *error);
static int take_netlogon(struct dc *dc, const struct cldap_netlogon *netlogon);
static int keep_server_names(struct dc *dc);
static int set_realm(struct dc *dc, const char *realm);
static int discover_read_root_dse(struct dc *dc);
static void take_root_dse(void *context, const char *attribute, const struct berval *values,
                          size_t count);
static int take_sid(void *context, LDAP *handle, LDAPMessage *entry);
static char *sid_text(const uint8_t *sid, size_t size);
static const char *kerberos_hint(const struct dc *dc, const char *cause);
static void probe_one(struct loop *loop, void *argument, uint64_t i);

int discover_dc(struct dc *dc, const char *given, const char *realm, const char *workgroup,
                struct error *error)
{
    struct addrinfo *addresses = NULL;
    int code = find_addresses(given, &addresses, error);
    if (code)
        return code;
    code = set_given(dc, given);
    if (code)
        error_no_memory(error);
    else if (dc->options.file_server)
        code = find_file_server(dc, addresses, realm, workgroup, error);
    else if (dc->options.generic_ldap)
        code = find_generic(dc, addresses, realm, error);
    else
        code = discover_ask(dc, addresses, realm, workgroup, error);
    freeaddrinfo(addresses);
    return code;
}

static int find_addresses(const char *given, struct addrinfo **out, struct error *error)
{
    char host[DISCOVER_HOST_SIZE];
    bool address;
    if (given[0] == '=' || discover_host(given, host) < 0)
        return error_set(error, -EINVAL,
                         "DC \"%s\" is neither a name, an address, nor NAME=ADDRESS", given);
    int code = check_host(given, host, &address, error);
    if (code)
        return code;
    /* Limits the wait for a DNS server that does not answer. */
    if (res_init() == 0) {
        _res.retrans = 2;
        _res.retry = 2;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = address ? AI_NUMERICHOST : 0};
    code = getaddrinfo(host, NULL, &hints, out);
    if (code == EAI_MEMORY)
        return error_no_memory(error);
    if (code)
        return error_set(
            error, -EINVAL,
            "DC \"%s\" cannot be resolved (%s); give NAME=ADDRESS if you know its address", given,
            code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    return 0;
}

/* Refuses mistyped addresses, which the resolver would take for names or complete: "10.1" for
 * 10.0.0.1. *address: host is an address. */
static int check_host(const char *given, const char *host, bool *address, struct error *error)
{
    const char *text = strchr(given, '=') ? strchr(given, '=') + 1 : given;
    const char *scope = strchr(host, '%');
    struct in6_addr bytes;
    char ipv6[INET6_ADDRSTRLEN] = "";
    *address = text != given || text[0] == '[' || strchr(host, ':') || looks_like_address(host);
    if (!*address || inet_pton(AF_INET, host, &bytes) == 1)
        return 0;
    if (strcspn(host, "%") < sizeof ipv6)
        snprintf(ipv6, sizeof ipv6, "%.*s", (int)strcspn(host, "%"), host);
    if (inet_pton(AF_INET6, ipv6, &bytes) != 1)
        return error_set(error, -EINVAL, "DC \"%s\": \"%s\" is not an address%s", given, host,
                         strchr(host, ':') ? " (a port cannot be given)" : "");
    if (scope && if_nametoindex(scope + 1) == 0 && !isdigit((unsigned char)scope[1]))
        return error_set(error, -EINVAL, "DC \"%s\": this machine has no interface \"%s\"", given,
                         scope + 1);
    if (!scope && IN6_IS_ADDR_LINKLOCAL(&bytes))
        return error_set(error, -EINVAL,
                         "DC \"%s\": a link-local address needs the interface that leads to it; "
                         "give %s%%INTERFACE",
                         given, host);
    return 0;
}

int discover_host(const char *given, char host[DISCOVER_HOST_SIZE])
{
    const char *equals = strchr(given, '=');
    const char *text = equals ? equals + 1 : given;
    size_t length = strlen(text);
    bool brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (length == 0 || length >= DISCOVER_HOST_SIZE || strcmp(text, "[]") == 0)
        return -EINVAL;
    snprintf(host, DISCOVER_HOST_SIZE, "%.*s", (int)(length - (brackets ? 2 : 0)),
             text + (brackets ? 1 : 0));
    return 0;
}

static bool looks_like_address(const char *host)
{
    return host[strspn(host, "0123456789.")] == '\0';
}

/* Keeps the name without the address of NAME=ADDRESS. */
static int set_given(struct dc *dc, const char *given)
{
    char host[DISCOVER_HOST_SIZE];
    free(dc->given);
    dc->given = NULL;
    if (strchr(given, '='))
        dc->given = strndup(given, strcspn(given, "="));
    else if (discover_host(given, host) == 0)
        dc->given = strdup(host);
    return dc->given ? 0 : -ENOMEM;
}

static int find_generic(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                        struct error *error)
{
    int code = -EAFNOSUPPORT;
    for (const struct addrinfo *address = addresses; code && address; address = address->ai_next) {
        code = set_address(dc, address);
        if (!code)
            code = ask_generic(dc, error);
    }
    /* The name for service principals and TLS. */
    if (!code)
        code = discover_set_text(&dc->dns_name, dc->given);
    if (!code && realm)
        code = discover_set_text(&dc->realm, realm);
    return code;
}

/* The first address that accepts connections on the SMB port. */
static int find_file_server(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                            const char *workgroup, struct error *error)
{
    bool found = false;
    int code = -EAFNOSUPPORT;
    for (const struct addrinfo *address = addresses; !found && address;
         address = address->ai_next) {
        code = set_address(dc, address);
        found = code == 0 && port_answers(dc, dc->ports.smb);
    }
    if (code == -ENOMEM)
        return error_no_memory(error);
    if (!found)
        return error_set(error, -EHOSTUNREACH, "%s does not accept connections on port %u (SMB)",
                         dc->given, dc->ports.smb);
    code = discover_set_text(&dc->dns_name, dc->given);
    if (!code && realm)
        code = discover_set_text(&dc->realm, realm);
    if (!code)
        code = discover_set_text(&dc->netbios_domain, workgroup ? workgroup : "");
    return code ? error_no_memory(error) : 0;
}

static int set_address(struct dc *dc, const struct addrinfo *address)
{
    char text[NI_MAXHOST];
    if (address->ai_addrlen > sizeof dc->address ||
        getnameinfo(address->ai_addr, address->ai_addrlen, text, sizeof text, NULL, 0,
                    NI_NUMERICHOST) != 0)
        return -EAFNOSUPPORT;
    memset(&dc->address, 0, sizeof dc->address);
    memcpy(&dc->address, address->ai_addr, address->ai_addrlen);
    dc->address_len = address->ai_addrlen;
    return discover_set_text(&dc->address_text, text);
}

/* Replaces *text by a copy. */
static int discover_set_text(char **text, const char *value)
{
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    free(*text);
    *text = copy;
    return 0;
}

/* Tries LDAP first, then LDAPS. */
static int ask_generic(struct dc *dc, struct error *error)
{
    static const enum ldap_transport transports[] = {LDAP_TRANSPORT_CLEAR, LDAP_TRANSPORT_LDAPS};
    struct conversation conversation = {.dc = dc, .random = discover_no_random};
    conversation.wire.waiter = wire_blocking_waiter();
    conversation_init(&conversation);
    struct outcome outcome = {0};
    for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++) {
        struct ldap_connection *connection = NULL;
        conversation.wire.deadline = clock_now() + patience / 2;
        outcome = ldap_connection_open(&connection, &conversation, transports[i]);
        if (outcome.kind != OUTCOME_OK)
            continue;
        int code = search_root_dse(dc, connection);
        ldap_connection_close(connection);
        if (!code)
            return 0;
        return error_set(error, code, "%s does not list its naming contexts: %s", dc->address_text,
                         code == -ENOENT ? "none" : stream_error_text(code));
    }
    return error_set(error, -ECONNREFUSED, "no LDAP server answers at %s, ports %u and %u: %s",
                     dc->address_text, dc->ports.ldap, dc->ports.ldaps, outcome.cause);
}

static uint64_t discover_no_random(void *state)
{
    (void)state;
    return 0;
}

static int search_root_dse(struct dc *dc, struct ldap_connection *connection)
{
    static const char *const attributes[] = {"namingContexts", "defaultNamingContext", NULL};
    LDAP *handle = ldap_connection_handle(connection);
    LDAPMessage *result = NULL;
    int id;
    if (ldap_search_ext(handle, "", LDAP_SCOPE_BASE, "(objectClass=*)",
                        (char **)(uintptr_t)attributes, 0, NULL, NULL, NULL, 0,
                        &id) != LDAP_SUCCESS)
        return -EPROTO;
    int error = ldap_connection_wait(connection, id, LDAP_MSG_ALL, &result);
    if (!error)
        error = take_naming_context(dc, handle, result);
    ldap_msgfree(result);
    return error;
}

/* Takes the default naming context, or the first one with data if there is no default: AD LDS lists
 * its configuration and schema first. */
static int take_naming_context(struct dc *dc, LDAP *handle, LDAPMessage *result)
{
    static const char *const attributes[] = {"defaultNamingContext", "namingContexts"};
    LDAPMessage *entry = ldap_first_entry(handle, result);
    int error = -ENOENT;
    for (size_t i = 0; entry && error && i < sizeof attributes / sizeof attributes[0]; i++) {
        struct berval **values = ldap_get_values_len(handle, entry, attributes[i]);
        const char *chosen = choose_naming_context(values);
        if (chosen)
            error = discover_set_text(&dc->base_dn, chosen);
        ldap_value_free_len(values);
    }
    return error;
}

static const char *choose_naming_context(struct berval **values)
{
    const char *first = NULL;
    for (; values && *values; values++) {
        const char *name = (*values)->bv_val;
        if (!*name)
            continue;
        if (strncasecmp(name, "CN=Configuration,", 17) != 0 &&
            strncasecmp(name, "CN=Schema,", 10) != 0)
            return name;
        first = first ? first : name;
    }
    return first;
}

static int discover_ask(struct dc *dc, const struct addrinfo *addresses, const char *realm,
                        const char *workgroup, struct error *error)
{
    struct cldap_netlogon netlogon;
    int code = ping_any(dc, addresses, &netlogon, error);
    if (!code)
        code = discover_check(dc, &netlogon, error);
    if (code)
        return code;
    code = take_netlogon(dc, &netlogon);
    if (!code)
        code = keep_server_names(dc);
    if (!code)
        code = set_realm(dc, realm);
    if (!code && workgroup)
        code = discover_set_text(&dc->netbios_domain, workgroup);
    if (code)
        return error_no_memory(error);
    code = discover_read_root_dse(dc);
    return code ? error_set(error, code < 0 ? code : -EPROTO,
                            "%s answers LDAP pings but does not return its root DSE (%s)",
                            dc->address_text,
                            code < 0 ? stream_error_text(code) : "refused by the server")
                : 0;
}

/* Asks the addresses in turn until one answers; each one gets an equal share of the time. */
static int ping_any(struct dc *dc, const struct addrinfo *addresses,
                    struct cldap_netlogon *netlogon, struct error *error)
{
    int count = 0;
    for (const struct addrinfo *address = addresses; address; address = address->ai_next)
        count++;
    int code = -EAFNOSUPPORT;
    for (const struct addrinfo *address = addresses; address; address = address->ai_next) {
        code = set_address(dc, address);
        if (!code)
            code = ping_until_answer(dc, patience / count, netlogon);
        if (!code)
            return 0;
    }
    return code == -ENOMEM ? error_no_memory(error) : discover_explain(dc, code, error);
}

static const int64_t patience_refused = 2 * second; /* for a server that may just be starting */

static const int64_t pause_refused = second / 4;

/* Pings the DC until it answers, but no longer than duration (ns). */
static int ping_until_answer(const struct dc *dc, int64_t duration, struct cldap_netlogon *netlogon)
{
    int64_t start = clock_now();
    struct wire wire = {.waiter = wire_blocking_waiter(), .deadline = start + duration};
    int64_t give_up = start + (duration < patience_refused ? duration : patience_refused);
    for (;;) {
        int error = cldap_netlogon(&wire, dc, NULL, NULL, netlogon);
        if (error != -ECONNREFUSED || clock_now() + pause_refused > give_up)
            return error;
        sleep_for(pause_refused);
    }
}

static void sleep_for(int64_t duration)
{
    struct timespec time = {.tv_sec = duration / second, .tv_nsec = duration % second};
    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        ;
}

static int discover_explain(const struct dc *dc, int code, struct error *error)
{
    const char *where = dc->address_text;
    unsigned port = dc->ports.cldap;
    int failure = code < 0 ? code : -EPROTO;
    if ((code == -ETIMEDOUT || code == -ECONNREFUSED) && port_answers(dc, dc->ports.ldap))
        return error_set(
            error, failure,
            "%s accepts LDAP connections but does not answer LDAP pings on UDP port %u (%s): "
            "either not a domain controller (use --server ldap), or behind a firewall",
            where, port, stream_error_text(code));
    if (code == -ECONNREFUSED)
        return error_set(error, failure,
                         "nothing listens on port %u of %s: is the domain controller running?",
                         port, where);
    if (code == -ETIMEDOUT)
        return error_set(error, failure,
                         "no answer from %s on UDP port %u within %d s: is this the right address?",
                         where, port, (int)(patience / second));
    if (code == -ENOENT)
        return error_set(
            error, failure,
            "%s answers on UDP port %u but is not a domain controller (use --server ldap)", where,
            port);
    if (code == -EBADMSG)
        return error_set(error, failure,
                         "%s answers on UDP port %u, but not like a domain controller", where,
                         port);
    return error_set(error, failure, "LDAP ping to %s on UDP port %u: %s", where, port,
                     code < 0 ? stream_error_text(code) : "refused by the server");
}

/* Whether the LDAP port accepts TCP connections, to explain why UDP fails. */
static bool port_answers(const struct dc *dc, uint16_t port)
{
    struct wire wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + second};
    struct sockaddr_storage peer;
    socklen_t peer_len = dc_address(dc, port, &peer);
    struct stream *stream = NULL;
    int error = stream_open(&stream, &wire, STREAM_TCP, (struct sockaddr *)&peer, peer_len);
    stream_close(stream);
    return error == 0;
}

static int discover_check(const struct dc *dc, const struct cldap_netlogon *netlogon,
                          struct error *error)
{
    if (netlogon->opcode == CLDAP_SAM_PAUSE_RESPONSE_EX)
        return error_set(error, -EAGAIN, "%s: its netlogon service is paused", dc->given);
    if (netlogon->opcode != CLDAP_SAM_LOGON_RESPONSE_EX || !*netlogon->dns_domain ||
        !*netlogon->dns_host || !*netlogon->netbios_domain)
        return discover_explain(dc, -EBADMSG, error);
    return 0;
}

static int take_netlogon(struct dc *dc, const struct cldap_netlogon *netlogon)
{
    const struct {
        char **text;
        const char *value;
    } names[] = {{&dc->dns_domain, netlogon->dns_domain},
                 {&dc->dns_name, netlogon->dns_host},
                 {&dc->netbios_domain, netlogon->netbios_domain},
                 {&dc->netbios_name, netlogon->netbios_name},
                 {&dc->forest, netlogon->forest},
                 {&dc->site, netlogon->dc_site}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int error = discover_set_text(names[i].text, names[i].value);
        if (error)
            return error;
    }
    dc->read_only = !(netlogon->flags & CLDAP_DS_WRITABLE);
    return 0;
}

/* What the server calls its domain; settings may replace the names that are used. */
static int keep_server_names(struct dc *dc)
{
    int error = set_realm(dc, NULL);
    if (!error)
        error = discover_set_text(&dc->server_realm, dc->realm);
    return error ? error : discover_set_text(&dc->server_domain, dc->netbios_domain);
}

/* realm, or the domain's DNS name, in upper case. */
static int set_realm(struct dc *dc, const char *realm)
{
    int error = discover_set_text(&dc->realm, realm ? realm : dc->dns_domain);
    for (char *letter = dc->realm; !error && letter && *letter; letter++)
        *letter = (char)toupper((unsigned char)*letter);
    return error;
}

static int discover_read_root_dse(struct dc *dc)
{
    static char *const attributes[] = {"defaultNamingContext", "configurationNamingContext",
                                       "schemaNamingContext", NULL};
    struct wire wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + patience};
    struct root_dse root_dse = {.dc = dc};
    int error = cldap_root_dse(&wire, dc, attributes, take_root_dse, &root_dse);
    if (error || root_dse.error)
        return error ? error : root_dse.error;
    return dc->base_dn && dc->config_dn && dc->schema_dn ? 0 : -ENOENT;
}

static void take_root_dse(void *context, const char *attribute, const struct berval *values,
                          size_t count)
{
    struct root_dse *root_dse = context;
    struct dc *dc = root_dse->dc;
    const struct {
        const char *attribute;
        char **text;
    } wanted[] = {{"defaultNamingContext", &dc->base_dn},
                  {"configurationNamingContext", &dc->config_dn},
                  {"schemaNamingContext", &dc->schema_dn}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && count > 0; i++)
        if (strcasecmp(attribute, wanted[i].attribute) == 0 && !root_dse->error)
            root_dse->error = discover_set_text(wanted[i].text, values[0].bv_val);
}

int discover_domain_sid(struct dc *dc, struct error *error)
{
    static const char *const attributes[] = {"objectSid", NULL};
    const struct directory_search search = {.base = dc->base_dn,
                                            .scope = LDAP_SCOPE_BASE,
                                            .filter = "(objectClass=*)",
                                            .attributes = attributes,
                                            .entry = take_sid,
                                            .context = dc};
    struct directory directory;
    int code = directory_open(&directory, dc, wire_blocking_waiter());
    if (code)
        error_set(error, code, "cannot bind to %s as the administrator: %s%s", dc->given,
                  directory.error.text, kerberos_hint(dc, directory.error.text));
    else if ((code = directory_search(&directory, &search)) != LDAP_SUCCESS)
        code = error_set(error, code < 0 ? code : -EACCES, "cannot read %s: %s", dc->base_dn,
                         directory.error.text);
    else if (!dc->domain_sid)
        code = error_set(error, -ENOENT, "%s has no objectSid", dc->base_dn);
    directory_close(&directory);
    return code;
}

static int take_sid(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct dc *dc = context;
    struct berval **values = ldap_get_values_len(handle, entry, "objectSid");
    if (values && values[0]) {
        free(dc->domain_sid);
        dc->domain_sid = sid_text((const uint8_t *)values[0]->bv_val, values[0]->bv_len);
    }
    ldap_value_free_len(values);
    return 0;
}

/* MS-DTYP 2.4.2.2 to 2.4.2.1. */
static char *sid_text(const uint8_t *sid, size_t size)
{
    enum { FIXED = 8, SUBAUTHORITIES_MAX = 15 };
    if (size < FIXED || sid[0] != 1 || sid[1] > SUBAUTHORITIES_MAX || size != FIXED + 4u * sid[1])
        return NULL;
    uint64_t authority = 0;
    for (int i = 2; i < FIXED; i++)
        authority = authority << 8 | sid[i];
    char text[256];
    int length = snprintf(text, sizeof text, "S-1-%" PRIu64, authority);
    for (const uint8_t *at = sid + FIXED; at < sid + size; at += 4) {
        uint32_t part;
        memcpy(&part, at, sizeof part);
        length += snprintf(text + length, sizeof text - (size_t)length, "-%" PRIu32, le32toh(part));
    }
    return strdup(text);
}

/* A hint for the administrator whose bind failed, or "": servers may refuse NTLM without saying so.
 */
static const char *kerberos_hint(const struct dc *dc, const char *cause)
{
    if (dc->admin_ccache || dc->options.prefer_kerberos)
        return "";
    if (strstr(cause, "TCP port"))
        return "";
    if (strstr(cause, "NTLM is disabled"))
        return "; use -K for Kerberos";
    if (strstr(cause, "data 52f"))
        return "; members of Protected Users need -K for Kerberos";
    /* A sub-code means that the server has checked name and password. */
    return strstr(cause, "(data ")
               ? ""
               : " (with NTLM; if the server does not accept it, use -K for Kerberos)";
}

int discover_dns(struct dc *dc, unsigned *answered)
{
    struct dns_search search = {.dc = dc};
    int error = dns_names_prepare(&dc->dns_names);
    if (!error)
        error = loop_run_all(probe_one, &search, DNS_PROBES, DNS_PROBES);
    *answered = search.answered;
    return error;
}

static void probe_one(struct loop *loop, void *argument, uint64_t i)
{
    struct dns_search *search = argument;
    struct wire wire = {.waiter = loop_waiter(loop)};
    search->answered += dns_probe(search->dc, &wire, (unsigned)i);
}
