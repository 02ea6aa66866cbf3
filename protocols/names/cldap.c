/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLDAP: liblber encodes requests and decodes replies. A reply is one datagram with the entry and
 * the searchResDone (RFC 1798, MS-ADTS 3.1.1.3.1.1).
 *
 * A conversation keeps one socket for its pings. A real DC locator opens one per ping, which the
 * server sees only in the port numbers; here that would double the processor time of a ping. A ping
 * is repeated after 1, 3 and 7 s and fails after 15 s or at the operation's deadline. With --server
 * ldap, it waits only 4 s, and a missing answer is not a failure.
 */
#include "protocols/names/cldap.h"

#include <arpa/nameser.h>
#include <errno.h>
#include <ldap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/little_endian.h"
#include "protocols/conversation.h"
#include "protocols/datagram.h"
#include "protocols/packet_players.h"

/* With --server ldap: one repetition, 4 s in total. */
static datagram_waits short_waits = {1500, 2500, 0};

struct cursor {
    const uint8_t *start, *at, *end;
};

struct search {
    char *const *attributes;
    bool ping;
    const char *dns_domain, *host; /* of a ping */
    const uint16_t *waits;
};

/*
 * The state from one search to the next. liblber encodes the request once; later only its messageID
 * changes, which always has four bytes. The reply to a ping is usually the same, so a reply that
 * was accepted is not decoded again if only its messageID differs.
 */
struct cldap_state {
    struct conversation_state base;
    struct stream *stream;
    struct berval request;
    struct berval reply;
    ber_len_t reply_ids[2]; /* offsets of the messageIDs of its messages */
};

enum { ID_SIZE = 4, ID_MIN = 0x10000000, IDS = 0x60000000 };

struct netlogon_found {
    struct cldap_netlogon *netlogon;
    int error; /* -ENOENT: no attribute so far */
};

static char *const ping_attributes[] = {"Netlogon", NULL};

static int read_name(struct cursor *cursor, char name[CLDAP_NAME_SIZE]);
static int read_optional_fields(struct cursor *cursor, struct cldap_netlogon *out);
static int cldap_search(struct wire *wire, const struct dc *dc, const struct search *what,
                        struct cldap_state *state, bool *known, cldap_visit *visit, void *context);
static ssize_t send_request(struct wire *wire, const struct dc *dc, struct cldap_state *state,
                            uint32_t id, const struct search *what, uint8_t *reply,
                            size_t reply_size);
static int encode_request(struct cldap_state *state, const struct search *what);
static int cldap_put_request(BerElement *ber, ber_int_t id, const struct search *search);
static int put_search(BerElement *ber, ber_int_t id);
static int put_ping_filter(BerElement *ber, const char *dns_domain, const char *host);
static int put_equal(BerElement *ber, const char *attribute, const void *value, size_t size);
static void put_id(struct berval *message, ber_len_t at, uint32_t id);
static ber_len_t id_offset(const uint8_t *bytes);
static bool cldap_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                            size_t size);
static bool is_known_reply(const struct cldap_state *state, const uint8_t *bytes, size_t size);
static int keep_reply(struct cldap_state *state, uint32_t id, const uint8_t *bytes, size_t size);
static void forget_reply(struct cldap_state *state);
static void find_netlogon(void *context, const char *attribute, const struct berval *values,
                          size_t count);
static void clear_state(struct cldap_state *state);
static ber_len_t bytes_left(BerElement *ber);
static int read_message(BerElement *ber, int *entries, int *code, cldap_visit *visit,
                        void *context);
static int cldap_read_entry(BerElement *ber, cldap_visit *visit, void *context);
static int read_done(BerElement *ber, int *code);
static void cldap_reset(struct conversation *conversation);
static struct outcome cldap_play(struct conversation *conversation, const void *compiled);
static struct cldap_state *cldap_get_state(struct conversation *conversation);
static struct outcome failure_outcome(const struct conversation *conversation, int error);
static struct outcome check_netlogon(const struct dc *dc, const struct cldap_netlogon *reply);

const struct packet_player packet_players_cldap[] = {
    {.name = "cldap:3", .play = cldap_play},
    {.name = NULL},
};

int cldap_netlogon_parse(const uint8_t *value, size_t size, struct cldap_netlogon *out)
{
    enum { FIXED = 24, TAIL = 8 };
    memset(out, 0, sizeof *out);
    if (size < FIXED + TAIL)
        return -EBADMSG;
    out->opcode = le_get16(value);
    if (out->opcode < CLDAP_SAM_LOGON_RESPONSE_EX || out->opcode > CLDAP_SAM_USER_UNKNOWN_EX)
        return -EBADMSG;
    out->flags = le_get32(value + 4);
    memcpy(out->domain_guid, value + 8, sizeof out->domain_guid);
    const uint8_t *tail = value + size - TAIL;
    out->nt_version = le_get32(tail);
    if (le_get16(tail + 4) != 0xffff || le_get16(tail + 6) != 0xffff)
        return -EBADMSG; /* LmNtToken, Lm20Token */
    struct cursor cursor = {.start = value, .at = value + FIXED, .end = tail};
    char *const names[] = {out->forest,       out->dns_domain, out->dns_host, out->netbios_domain,
                           out->netbios_name, out->user,       out->dc_site,  out->client_site};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int error = read_name(&cursor, names[i]);
        if (error)
            return error;
    }
    return read_optional_fields(&cursor, out);
}

/* RFC 1035 4.1.4: labels, possibly compressed. ns_name_unpack() checks bounds and loops. Dots are
 * inserted here, because ns_name_ntop() escapes characters outside host names. */
static int read_name(struct cursor *cursor, char name[CLDAP_NAME_SIZE])
{
    u_char labels[NS_MAXCDNAME];
    int used = ns_name_unpack(cursor->start, cursor->end, cursor->at, labels, sizeof labels);
    if (used < 0)
        return -EBADMSG;
    cursor->at += used;
    size_t length = 0;
    for (const u_char *label = labels; *label; label += *label + 1) {
        if (length > 0)
            name[length++] = '.';
        for (unsigned i = 1; i <= *label; i++) {
            if (label[i] < ' ' || label[i] == 0x7f)
                return -EBADMSG;
            name[length++] = (char)label[i];
        }
    }
    name[length] = '\0';
    return 0;
}

/* The fields between the names and the version: 6.3.1.9 DcSockAddrSize to NextClosestSiteName. */
static int read_optional_fields(struct cursor *cursor, struct cldap_netlogon *out)
{
    if (out->nt_version & CLDAP_NT_VERSION_5EX_WITH_IP) {
        if (cursor->at == cursor->end || *cursor->at >= cursor->end - cursor->at)
            return -EBADMSG;
        cursor->at += 1 + *cursor->at;
    }
    if (!(out->nt_version & CLDAP_NT_VERSION_WITH_CLOSEST_SITE) || cursor->at == cursor->end)
        return 0;
    return read_name(cursor, out->next_closest_site);
}

int cldap_netlogon(struct wire *wire, const struct dc *dc, const char *dns_domain, const char *host,
                   struct cldap_netlogon *out)
{
    const struct search what = {.attributes = ping_attributes,
                                .ping = true,
                                .dns_domain = dns_domain,
                                .host = host,
                                .waits = datagram_waits_default};
    struct cldap_state state = {0};
    struct netlogon_found found = {.netlogon = out, .error = -ENOENT};
    bool known;
    int error = cldap_search(wire, dc, &what, &state, &known, find_netlogon, &found);
    clear_state(&state);
    return error ? error : found.error;
}

enum { REPLY_SIZE = 8192 };

/* Searches, using the state of earlier searches. *known: the reply equals an accepted one. */
static int cldap_search(struct wire *wire, const struct dc *dc, const struct search *what,
                        struct cldap_state *state, bool *known, cldap_visit *visit, void *context)
{
    static _Thread_local uint32_t count;
    uint32_t id = ID_MIN + count++ % IDS;
    uint8_t reply[REPLY_SIZE];
    ssize_t size = send_request(wire, dc, state, id, what, reply, sizeof reply);
    *known = size > 0 && is_known_reply(state, reply, (size_t)size);
    if (*known)
        return 0;
    int result = size < 0 ? (int)size : 0;
    if (!result && what->ping) /* before decoding: liblber changes what it reads */
        result = keep_reply(state, id, reply, (size_t)size);
    if (!result)
        result = cldap_reply_parse(reply, (size_t)size, visit, context);
    if (result < 0 && result != -ENOENT) {
        stream_close(state->stream); /* a late or malformed answer may arrive on it */
        state->stream = NULL;
    }
    return result;
}

/* Sends the request with a new messageID. Returns the size of the reply or a negative errno. */
static ssize_t send_request(struct wire *wire, const struct dc *dc, struct cldap_state *state,
                            uint32_t id, const struct search *what, uint8_t *reply,
                            size_t reply_size)
{
    ssize_t error = state->request.bv_val ? 0 : encode_request(state, what);
    if (!error && !state->stream)
        error = datagram_open(&state->stream, wire, dc, dc->ports.cldap);
    if (error)
        return error;
    put_id(&state->request, id_offset((const uint8_t *)state->request.bv_val), id);
    for (int i = 0; i < 2 && state->reply.bv_val; i++)
        put_id(&state->reply, state->reply_ids[i], id);
    const struct datagram_question question = {.bytes = state->request.bv_val,
                                               .size = state->request.bv_len,
                                               .waits = what->waits,
                                               .is_answer = cldap_is_answer,
                                               .id = id,
                                               .context = state};
    return datagram_ask_on(state->stream, &question, reply, reply_size);
}

static int encode_request(struct cldap_state *state, const struct search *what)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    int error = ber && cldap_put_request(ber, ID_MIN, what) >= 0 &&
                        ber_flatten2(ber, &state->request, 1) == 0
                    ? 0
                    : -ENOMEM;
    ber_free(ber, 1);
    return error;
}

static int cldap_put_request(BerElement *ber, ber_int_t id, const struct search *search)
{
    if (put_search(ber, id) < 0)
        return -1;
    int written = search->ping
                      ? put_ping_filter(ber, search->dns_domain, search->host)
                      : ber_printf(ber, "ts", (ber_tag_t)LDAP_FILTER_PRESENT, "objectClass");
    if (written < 0)
        return -1;
    return ber_printf(ber, "{v}}}", search->attributes);
}

/* LDAPMessage with a base search of the root DSE, up to its filter (RFC 4511 4.5.1). */
static int put_search(BerElement *ber, ber_int_t id)
{
    return ber_printf(ber, "{it{seeiib", id, (ber_tag_t)LDAP_REQ_SEARCH, "",
                      (ber_int_t)LDAP_SCOPE_BASE, (ber_int_t)LDAP_DEREF_NEVER, (ber_int_t)0,
                      (ber_int_t)0, (ber_int_t)0);
}

/* (&(DnsDomain=...)(Host=...)(NtVer=...)), MS-ADTS 6.3.3.2. */
static int put_ping_filter(BerElement *ber, const char *dns_domain, const char *host)
{
    uint32_t version =
        htole32(CLDAP_NT_VERSION_5 | CLDAP_NT_VERSION_5EX | CLDAP_NT_VERSION_WITH_CLOSEST_SITE);
    if (ber_printf(ber, "t{", (ber_tag_t)LDAP_FILTER_AND) < 0)
        return -1;
    if (dns_domain && put_equal(ber, "DnsDomain", dns_domain, strlen(dns_domain)) < 0)
        return -1;
    if (host && put_equal(ber, "Host", host, strcspn(host, "$")) < 0)
        return -1;
    if (put_equal(ber, "NtVer", &version, sizeof version) < 0)
        return -1;
    return ber_printf(ber, "}");
}

static int put_equal(BerElement *ber, const char *attribute, const void *value, size_t size)
{
    return ber_printf(ber, "t{so}", (ber_tag_t)LDAP_FILTER_EQUALITY, attribute, value,
                      (ber_len_t)size);
}

static void put_id(struct berval *message, ber_len_t at, uint32_t id)
{
    id = htobe32(id);
    memcpy(message->bv_val + at, &id, sizeof id);
}

/* The offset of the messageID of the LDAPMessage at bytes: after its tag and length. */
static ber_len_t id_offset(const uint8_t *bytes)
{
    return 2 + (bytes[1] & 0x80 ? bytes[1] & 0x7fu : 0) + 2;
}

/* A well-formed message with another messageID answers another question. Anything else on this
 * socket answers this one, even if it is malformed. */
static bool cldap_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                            size_t size)
{
    if (is_known_reply(question->context, bytes, size))
        return true;
    /* liblber changes its input only when it reads strings. */
    struct berval whole = {.bv_val = (char *)(uintptr_t)bytes, .bv_len = size};
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    if (!ber)
        return true;
    ber_init2(ber, &whole, LBER_USE_DER);
    ber_int_t id;
    ber_len_t len;
    bool strange = ber_skip_tag(ber, &len) == LBER_SEQUENCE &&
                   ber_get_int(ber, &id) != LBER_ERROR && (uint32_t)id != question->id;
    ber_free(ber, 0);
    return !strange;
}

static bool is_known_reply(const struct cldap_state *state, const uint8_t *bytes, size_t size)
{
    return size > 0 && size == state->reply.bv_len && memcmp(bytes, state->reply.bv_val, size) == 0;
}

/* Keeps a reply to the question with this ID, if it consists of two messages. */
static int keep_reply(struct cldap_state *state, uint32_t id, const uint8_t *bytes, size_t size)
{
    uint8_t pattern[2 + ID_SIZE] = {0x02, ID_SIZE};
    id = htobe32(id);
    memcpy(pattern + 2, &id, sizeof id);
    const uint8_t *first = memmem(bytes, size, pattern, sizeof pattern);
    const uint8_t *second =
        first ? memmem(first + 1, size - (size_t)(first + 1 - bytes), pattern, sizeof pattern)
              : NULL;
    forget_reply(state);
    if (!second)
        return 0;
    state->reply.bv_val = malloc(size);
    if (!state->reply.bv_val)
        return -ENOMEM;
    memcpy(state->reply.bv_val, bytes, size);
    state->reply.bv_len = size;
    state->reply_ids[0] = (ber_len_t)(first + 2 - bytes);
    state->reply_ids[1] = (ber_len_t)(second + 2 - bytes);
    return 0;
}

static void forget_reply(struct cldap_state *state)
{
    free(state->reply.bv_val);
    state->reply = (struct berval){0};
}

static void find_netlogon(void *context, const char *attribute, const struct berval *values,
                          size_t count)
{
    struct netlogon_found *found = context;
    if (strcasecmp(attribute, "Netlogon") == 0 && count > 0)
        found->error = cldap_netlogon_parse((const uint8_t *)values[0].bv_val, values[0].bv_len,
                                            found->netlogon);
}

static void clear_state(struct cldap_state *state)
{
    stream_close(state->stream);
    ber_memfree(state->request.bv_val);
    forget_reply(state);
    *state = (struct cldap_state){.base = state->base};
}

int cldap_root_dse(struct wire *wire, const struct dc *dc, char *const *attributes,
                   cldap_visit *visit, void *context)
{
    const struct search what = {.attributes = attributes, .waits = datagram_waits_default};
    struct cldap_state state = {0};
    bool known;
    int error = cldap_search(wire, dc, &what, &state, &known, visit, context);
    clear_state(&state);
    return error;
}

int cldap_reply_parse(uint8_t *bytes, size_t size, cldap_visit *visit, void *context)
{
    struct berval whole = {.bv_val = (char *)bytes, .bv_len = size};
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    if (!ber)
        return -ENOMEM;
    bytes[size] = 0;
    ber_init2(ber, &whole, LBER_USE_DER);
    int error = 0;
    int entries = 0;
    int code = -1;
    while (!error && code < 0 && bytes_left(ber) > 0)
        error = read_message(ber, &entries, &code, visit, context);
    ber_free(ber, 0);
    if (error || code < 0)
        return error ? error : -EBADMSG;
    return code == LDAP_SUCCESS && entries == 0 ? -ENOENT : code;
}

static ber_len_t bytes_left(BerElement *ber)
{
    ber_len_t left = 0;
    ber_get_option(ber, LBER_OPT_BER_REMAINING_BYTES, &left);
    return left;
}

/* Reads one LDAPMessage; skips the controls after its operation. */
static int read_message(BerElement *ber, int *entries, int *code, cldap_visit *visit, void *context)
{
    ber_len_t len;
    ber_int_t id;
    if (ber_skip_tag(ber, &len) != LBER_SEQUENCE || len > bytes_left(ber))
        return -EBADMSG;
    ber_len_t after = bytes_left(ber) - len;
    if (ber_get_int(ber, &id) == LBER_ERROR)
        return -EBADMSG;
    int error = -EBADMSG;
    ber_tag_t operation = ber_peek_tag(ber, &len);
    if (operation == LDAP_RES_SEARCH_ENTRY) {
        error = cldap_read_entry(ber, visit, context);
        ++*entries;
    } else if (operation == LDAP_RES_SEARCH_RESULT) {
        error = read_done(ber, code);
    }
    while (!error && bytes_left(ber) > after) {
        struct berval skipped;
        if (ber_skip_element(ber, &skipped) == LBER_DEFAULT)
            error = -EBADMSG;
    }
    return error || bytes_left(ber) == after ? error : -EBADMSG;
}

/* Visits each attribute of a SearchResultEntry. */
static int cldap_read_entry(BerElement *ber, cldap_visit *visit, void *context)
{
    struct berval name;
    if (ber_scanf(ber, "{m", &name) == LBER_ERROR)
        return -EBADMSG;
    ber_len_t len;
    char *last;
    for (ber_tag_t tag = ber_first_element(ber, &len, &last); tag != LBER_DEFAULT;
         tag = ber_next_element(ber, &len, last)) {
        struct berval attribute;
        BerVarray values = NULL;
        ber_len_t count = sizeof *values; /* in: size of a record, out: number of records */
        if (ber_scanf(ber, "{mM}", &attribute, &values, &count, (ber_len_t)0) == LBER_ERROR)
            return -EBADMSG;
        if (visit)
            visit(context, attribute.bv_val, values, values ? count : 0);
        ber_memfree(values);
    }
    return 0;
}

static int read_done(BerElement *ber, int *code)
{
    struct berval matched, message;
    ber_int_t result;
    if (ber_scanf(ber, "{emm", &result, &matched, &message) == LBER_ERROR || result < 0)
        return -EBADMSG;
    *code = result;
    return 0;
}

static void cldap_reset(struct conversation *conversation)
{
    clear_state(conversation->cldap);
    free(conversation->cldap);
    conversation->cldap = NULL;
}

static struct outcome cldap_play(struct conversation *conversation, const void *compiled)
{
    (void)compiled;
    const struct dc *dc = conversation->dc;
    const struct search what = {.attributes = ping_attributes,
                                .ping = true,
                                .dns_domain = dc->dns_domain,
                                .host = conversation->machine ? conversation->machine->name : NULL,
                                .waits = dc->options.generic_ldap ? short_waits
                                                                  : datagram_waits_default};
    struct cldap_state *state = cldap_get_state(conversation);
    struct cldap_netlogon reply;
    struct netlogon_found found = {.netlogon = &reply, .error = -ENOENT};
    bool known;
    if (!state)
        return outcome_of_error(-ENOMEM);
    int error = cldap_search(&conversation->wire, dc, &what, state, &known, find_netlogon, &found);
    if (known)
        return outcome_ok();
    struct outcome outcome = error || found.error
                                 ? failure_outcome(conversation, error ? error : found.error)
                                 : check_netlogon(dc, &reply);
    if (outcome.kind != OUTCOME_OK)
        forget_reply(state);
    return outcome;
}

/* NULL: no memory. */
static struct cldap_state *cldap_get_state(struct conversation *conversation)
{
    struct cldap_state *state = conversation->cldap;
    if (!state) {
        state = conversation->cldap = calloc(1, sizeof *state);
        if (state)
            state->base.reset = cldap_reset;
    }
    return state;
}

static struct outcome failure_outcome(const struct conversation *conversation, int error)
{
    if (conversation->dc->options.generic_ldap &&
        (error == -ETIMEDOUT || error == -ECONNREFUSED || error == -ENOENT))
        return outcome_no_answer();
    if (error == -ENOENT)
        return outcome_failed("empty reply");
    return error < 0 ? outcome_of_wire(&conversation->wire, error)
                     : outcome_failed("%s", ldap_err2string(error));
}

/* Checks that the reply comes from the expected DC. */
static struct outcome check_netlogon(const struct dc *dc, const struct cldap_netlogon *reply)
{
    if (reply->opcode == CLDAP_SAM_PAUSE_RESPONSE_EX)
        return outcome_failed("netlogon is paused");
    if (reply->opcode != CLDAP_SAM_LOGON_RESPONSE_EX)
        return outcome_failed("unexpected netlogon reply");
    if (dc->dns_domain && strcasecmp(reply->dns_domain, dc->dns_domain) != 0)
        return outcome_failed("reply from another domain");
    if (dc->dns_name && strcasecmp(reply->dns_host, dc->dns_name) != 0)
        return outcome_failed("reply from another DC");
    return outcome_ok();
}
