/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS: libresolv's ns_ functions encode queries and decode replies. Like in a resolver, each query
 * has its own socket and port, is repeated after 1, 3 and 7 s, and switches to TCP if the reply is
 * truncated.
 */
#include "protocols/names/dns.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"
#include "packets/packet_words.h"
#include "protocols/datagram.h"
#include "protocols/names/dns_names.h"
#include "protocols/packet_players.h"
#include "protocols/stream.h"

enum { QUERY_SIZE = NS_HFIXEDSZ + NS_MAXCDNAME + 4, UDP_SIZE = 4096 };

/* Names that packets draw from. */
static const struct {
    const char *prefix; /* of the domain's name; NULL: the DC's own name */
    uint16_t type;      /* if the details give none */
} names[DNS_NAMES] = {
    [DNS_NAME_REALM] = {"", ns_t_a},
    [DNS_NAME_DC] = {NULL, ns_t_a},
    [DNS_NAME_LDAP] = {"_ldap._tcp.", ns_t_srv},
    [DNS_NAME_KERBEROS] = {"_kerberos._tcp.", ns_t_srv},
    [DNS_NAME_MSDCS] = {"_ldap._tcp.dc._msdcs.", ns_t_srv},
    [DNS_NAME_OTHER] = {"wpad.", ns_t_a},
};

/* Details, and the query made of them. Name DNS_NAMES or type 0: to be drawn. */
struct details {
    enum dns_name name;
    uint16_t type;
};

/* What dns:0 draws from. */
static const struct details usual[] = {{DNS_NAME_REALM, ns_t_a},      {DNS_NAME_LDAP, ns_t_srv},
                                       {DNS_NAME_KERBEROS, ns_t_srv}, {DNS_NAME_MSDCS, ns_t_srv},
                                       {DNS_NAME_DC, ns_t_a},         {DNS_NAME_DC, ns_t_aaaa}};

static bool make_name(const struct dc *dc, enum dns_name name, char text[DNS_NAME_SIZE]);
static int send_query(struct wire *wire, const struct dc *dc, const struct dns_query *query,
                      uint16_t id, int *rcode);
static int put_query(const char *name, uint16_t type, uint16_t id, u_char query[QUERY_SIZE]);
static bool dns_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                          size_t size);
static int repeat_over_tcp(struct wire *wire, const struct dc *dc, const struct dns_query *query,
                           const u_char *bytes, size_t size, int *rcode);
static int send_over_tcp(struct wire *wire, const struct dc *dc, const u_char *query, size_t size,
                         uint8_t **reply, size_t *reply_size);
static bool is_our_question(ns_msg *message, const char *name, uint16_t type);
static bool is_same_name(const u_char *a, const u_char *b);
static void dns_fill(const struct packet_details *details, void *compiled);
static struct outcome dns_play(struct conversation *conversation, const void *compiled);
static struct details draw_query(struct conversation *conversation, const struct details *details);
static uint16_t draw_id(struct conversation *conversation);
static struct outcome rcode_failure(int rcode);
static bool was_answered(const struct dc *dc, enum dns_name name, uint16_t type);
static struct outcome dns_play_extra(struct conversation *conversation, const void *details);

const struct packet_player packet_players_dns[] = {
    {.name = "dns:0", .play = dns_play, PACKET_DETAILS(struct details, dns_fill)},
    {.name = NULL},
};

const struct packet_player dns_extra_player = {.name = "dns:0", .play = dns_play_extra};

bool dns_probe(struct dc *dc, struct wire *wire, unsigned i)
{
    const int64_t patience = INT64_C(2000000000);
    enum dns_name name = (enum dns_name)(i / DNS_TYPES);
    struct dns_query query = {.type = dns_types[i % DNS_TYPES]};
    int rcode;
    if (!make_name(dc, name, query.name))
        return false;
    wire->deadline = clock_now() + patience;
    int count = send_query(wire, dc, &query, (uint16_t)(i + 1), &rcode);
    bool answered = count > 0 && rcode == ns_r_noerror;
    dc->dns_names->answered[i] = answered;
    return answered;
}

/* False: the domain is unknown, or its name is too long for the prefix. */
static bool make_name(const struct dc *dc, enum dns_name name, char text[DNS_NAME_SIZE])
{
    const char *prefix = names[name].prefix;
    const char *rest = prefix ? dc->dns_domain : dc->dns_name;
    if (!rest)
        return false;
    int length = snprintf(text, DNS_NAME_SIZE, "%s%s", prefix ? prefix : "", rest);
    return length > 0 && length < DNS_NAME_SIZE;
}

/* Sends a query. Returns the number of answer records or a negative errno. */
static int send_query(struct wire *wire, const struct dc *dc, const struct dns_query *query,
                      uint16_t id, int *rcode)
{
    u_char bytes[QUERY_SIZE];
    uint8_t reply[UDP_SIZE];
    int size = put_query(query->name, query->type, id, bytes);
    if (size < 0)
        return size;
    const struct datagram_question question = {.port = dc->ports.dns,
                                               .bytes = bytes,
                                               .size = (size_t)size,
                                               .waits = datagram_waits_default,
                                               .is_answer = dns_is_answer,
                                               .id = id};
    ssize_t got = datagram_ask(wire, dc, &question, reply, sizeof reply);
    if (got < 0 && got != -EMSGSIZE)
        return (int)got;
    int result = got < 0 ? DNS_TRUNCATED
                         : dns_reply_parse(reply, (size_t)got, query->name, query->type, rcode);
    return result == DNS_TRUNCATED ? repeat_over_tcp(wire, dc, query, bytes, (size_t)size, rcode)
                                   : result;
}

/* Writes a header with RD set and the question (RFC 1035 4.1). Its size or -EINVAL: not a name. */
static int put_query(const char *name, uint16_t type, uint16_t id, u_char query[QUERY_SIZE])
{
    enum { RECURSION_DESIRED = 0x0100 };
    memset(query, 0, NS_HFIXEDSZ);
    ns_put16(id, query);
    ns_put16(RECURSION_DESIRED, query + 2);
    ns_put16(1, query + 4);
    int length = ns_name_compress(name, query + NS_HFIXEDSZ, NS_MAXCDNAME, NULL, NULL);
    if (length < 0)
        return -EINVAL;
    u_char *at = query + NS_HFIXEDSZ + length;
    ns_put16(type, at);
    ns_put16(ns_c_in, at + 2);
    return (int)(at + 4 - query);
}

/* A datagram too short for an ID counts as the answer, which is then malformed. */
static bool dns_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                          size_t size)
{
    return size < 2 || ns_get16(bytes) == question->id;
}

static int repeat_over_tcp(struct wire *wire, const struct dc *dc, const struct dns_query *query,
                           const u_char *bytes, size_t size, int *rcode)
{
    uint8_t *reply = NULL;
    size_t reply_size = 0;
    int result = send_over_tcp(wire, dc, bytes, size, &reply, &reply_size);
    if (!result)
        result = dns_reply_parse(reply, reply_size, query->name, query->type, rcode);
    free(reply);
    return result == DNS_TRUNCATED ? -EBADMSG : result;
}

/* RFC 1035 4.2.2: two bytes of length before each message. The reply is allocated. */
static int send_over_tcp(struct wire *wire, const struct dc *dc, const u_char *query, size_t size,
                         uint8_t **reply, size_t *reply_size)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = dc_address(dc, dc->ports.dns, &peer);
    struct stream *stream = NULL;
    u_char message[2 + QUERY_SIZE], length[2];
    ns_put16((unsigned)size, message);
    memcpy(message + 2, query, size);
    int error = stream_open(&stream, wire, STREAM_TCP, (struct sockaddr *)&peer, peer_len);
    if (!error)
        error = stream_write(stream, message, 2 + size);
    if (!error)
        error = stream_read_all(stream, length, sizeof length);
    if (!error) {
        *reply_size = ns_get16(length);
        *reply = malloc(*reply_size ? *reply_size : 1);
        error = *reply ? stream_read_all(stream, *reply, *reply_size) : -ENOMEM;
    }
    stream_close(stream);
    return error;
}

int dns_reply_parse(const uint8_t *bytes, size_t size, const char *name, uint16_t type, int *rcode)
{
    ns_msg message;
    if (size > UINT16_MAX || ns_initparse(bytes, (int)size, &message) < 0 ||
        !ns_msg_getflag(message, ns_f_qr))
        return -EBADMSG;
    *rcode = ns_msg_getflag(message, ns_f_rcode);
    bool without_question = ns_msg_count(message, ns_s_qd) == 0 && *rcode != ns_r_noerror;
    if (!without_question && !is_our_question(&message, name, type))
        return -EBADMSG;
    if (ns_msg_getflag(message, ns_f_tc))
        return DNS_TRUNCATED;
    int count = ns_msg_count(message, ns_s_an);
    for (int i = 0; i < count; i++) {
        ns_rr record;
        if (ns_parserr(&message, ns_s_an, i, &record) < 0)
            return -EBADMSG;
    }
    return count;
}

static bool is_our_question(ns_msg *message, const char *name, uint16_t type)
{
    ns_rr question;
    u_char ours[NS_MAXCDNAME + 1], theirs[NS_MAXCDNAME + 1];
    return ns_msg_count(*message, ns_s_qd) == 1 &&
           ns_parserr(message, ns_s_qd, 0, &question) == 0 && ns_rr_type(question) == type &&
           ns_rr_class(question) == ns_c_in &&
           ns_name_unpack(ns_msg_base(*message), ns_msg_end(*message),
                          ns_msg_base(*message) + NS_HFIXEDSZ, theirs, sizeof theirs) >= 0 &&
           ns_name_pton(name, ours, sizeof ours) >= 0 && is_same_name(ours, theirs);
}

/* Names in wire format; RFC 4343: case does not matter. A length byte is never a letter. */
static bool is_same_name(const u_char *a, const u_char *b)
{
    while (tolower(*a) == tolower(*b)) {
        size_t label = *a;
        if (label == 0)
            return true;
        if (strncasecmp((const char *)a + 1, (const char *)b + 1, label) != 0)
            return false;
        a += label + 1;
        b += label + 1;
    }
    return false;
}

static void dns_fill(const struct packet_details *details, void *compiled)
{
    struct details *query = compiled;
    const struct packet_value *name = packet_details_get(details, "name");
    query->name = name->given ? (enum dns_name)name->number : DNS_NAMES;
    query->type = (uint16_t)packet_details_get(details, "type")->number;
}

static struct outcome dns_play(struct conversation *conversation, const void *compiled)
{
    const struct dc *dc = conversation->dc;
    struct details what = draw_query(conversation, compiled);
    struct dns_query query = {.type = what.type};
    int rcode;
    if (!make_name(dc, what.name, query.name))
        return outcome_failed("the domain is unknown");
    int count = send_query(&conversation->wire, dc, &query, draw_id(conversation), &rcode);
    if (count < 0)
        return outcome_of_wire(&conversation->wire, count);
    if (rcode != ns_r_noerror && rcode != ns_r_nxdomain)
        return rcode_failure(rcode);
    if (count > 0 || !was_answered(dc, what.name, what.type))
        return outcome_ok();
    return rcode ? rcode_failure(rcode) : outcome_failed("no answer record");
}

enum { USUAL = sizeof usual / sizeof usual[0] };

/* Completes the details with one of the usual queries that match them. */
static struct details draw_query(struct conversation *conversation, const struct details *details)
{
    struct details result = details ? *details : (struct details){.name = DNS_NAMES};
    const struct details *fit[USUAL];
    size_t count = 0;
    for (size_t i = 0; i < USUAL; i++)
        if ((result.name == DNS_NAMES || result.name == usual[i].name) &&
            (!result.type || result.type == usual[i].type))
            fit[count++] = &usual[i];
    if (count > 0)
        return *fit[conversation_random(conversation, count)];
    if (result.name == DNS_NAMES)
        result.name = DNS_NAME_REALM;
    if (!result.type)
        result.type = names[result.name].type;
    return result;
}

static uint16_t draw_id(struct conversation *conversation)
{
    return (uint16_t)conversation_random(conversation, UINT16_MAX + 1);
}

/* RFC 1035 4.1.1, RFC 2136 2.2 */
static struct outcome rcode_failure(int rcode)
{
    static const char *const texts[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                        "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                        "NXRRSET", "NOTAUTH", "NOTZONE"};
    if (rcode >= 0 && (size_t)rcode < sizeof texts / sizeof texts[0])
        return outcome_failed("%s", texts[rcode]);
    return outcome_failed("DNS error %d", rcode);
}

static bool was_answered(const struct dc *dc, enum dns_name name, uint16_t type)
{
    for (unsigned i = 0; dc->dns_names && i < DNS_TYPES; i++)
        if (dns_types[i] == type)
            return dc->dns_names->answered[name * DNS_TYPES + i];
    return false;
}

static struct outcome dns_play_extra(struct conversation *conversation, const void *details)
{
    const struct dc *dc = conversation->dc;
    if (!dc->dns_names || dc->dns_names->query_count == 0)
        return dns_play(conversation, details);
    const struct dns_query *query =
        &dc->dns_names->queries[conversation_random(conversation, dc->dns_names->query_count)];
    int rcode;
    int count = send_query(&conversation->wire, dc, query, draw_id(conversation), &rcode);
    if (count < 0)
        return outcome_of_wire(&conversation->wire, count);
    if (query->expected && count == 0)
        return rcode ? rcode_failure(rcode) : outcome_failed("no answer record");
    if (!query->expected && count > 0)
        return outcome_failed("unexpected answer record");
    return outcome_ok();
}
