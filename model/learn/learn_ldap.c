/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LDAP and CLDAP. A frame can contain several messages, whose fields follow each other, so each
 * message takes its fields from where the previous message stopped. Each kind of filter item has a
 * separate field, in the order in which the tree is visited, which is enough to rebuild the
 * filter.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/learn/learn_frames_private.h"
#include "model/shape.h"

/* Numbers of operations and results (RFC 4511 4.2). */
enum {
    BIND_REQUEST = 0,
    BIND_RESPONSE = 1,
    UNBIND_REQUEST = 2,
    SEARCH_REQUEST = 3,
    SEARCH_ENTRY = 4
};
enum { MODIFY_REQUEST = 6, ADD_REQUEST = 8, COMPARE_REQUEST = 14, EXTENDED_REQUEST = 23 };
enum { SEARCH_REFERENCE = 19, INTERMEDIATE = 25, SASL_IN_PROGRESS = 14 };
enum { SICILY_NEGOTIATE = 10, SICILY_RESPONSE = 11, SASL = 3, NESTING_MAX = 64, VALUE_SIZE = 512 };

/* Choices of a filter (RFC 4511 4.5.1). */
enum { FILTER_AND, FILTER_OR, FILTER_NOT, FILTER_EQUAL, FILTER_SUBSTRINGS, FILTER_GREATER };
enum { FILTER_LESS = 6, FILTER_PRESENT, FILTER_APPROX, FILTER_EXTENSIBLE };

/* For each field, the index of the next message's first value. */
struct ldap_cursor {
    size_t results, binds, mechanisms, searches, attribute_counts, attributes, controls;
    size_t filters, ands, ors, and_items, or_items, nots, descriptions, presents, types;
    size_t modifications, request_names;
};

/* RFC 4511 4.14.1. A bind has it as tls: starttls. */
static const char starttls[] = "1.3.6.1.4.1.1466.20037";

struct filter_walk {
    struct learn_frames *frames;
    struct ldap_cursor *cursor;
    char shape[SHAPE_SIZE];
    size_t length;
    unsigned nesting;
};

static bool is_server_port(uint16_t port);
static bool is_clear_port(uint16_t port);
static int learn_ldap_take_sealed(struct learn_frames *frames);
static struct learn_link *link_of(struct learn_frames *frames);
static bool learn_ldap_is_repeated(struct learn_frames *frames, uint64_t op);
static bool is_response(uint64_t op);
static void learn_ldap_take_response(struct learn_frames *frames, struct ldap_cursor *cursor,
                                     uint64_t op);
static int learn_ldap_take_request(struct learn_frames *frames, struct ldap_cursor *cursor,
                                   uint64_t op, size_t messages);
static void learn_ldap_add_operation(struct learn_frames *frames, struct ldap_cursor *cursor,
                                     struct learn_form *form);
static void skip_values(struct learn_frames *frames, struct ldap_cursor *cursor, uint64_t op);
static int learn_ldap_take_bind(struct learn_frames *frames, struct ldap_cursor *cursor);
static int take_search(struct learn_frames *frames, struct ldap_cursor *cursor, size_t messages);
static void add_filter(struct filter_walk *search, struct learn_form *form);
static bool put_filter(struct filter_walk *search, uint64_t kind);
static bool put_items(struct filter_walk *search, uint64_t kind);
static bool learn_ldap_put(struct filter_walk *search, const char *text);
static bool put_comparison(struct filter_walk *search, uint64_t kind);
static void learn_ldap_add_attributes(struct filter_walk *search, struct learn_form *form);
static void add_controls(struct filter_walk *search, struct learn_form *form, size_t messages);
static bool needs_value(const char *oid);
static bool learn_ldap_is_oid(const char *text);

/* A client's last request before it closes the connection without waiting for an answer is the
 * unbind (RFC 4511 4.3), even if it is sealed. */
int learn_ldap_close(struct learn_frames *frames)
{
    struct learn_link *link =
        learn_links_get(frames->links, LEARN_LINK_LDAP, frames->connection, 0, frames->time, false);
    if (!link || link->value == 0 || frames->udp || !is_server_port(frames->to_port))
        return 0;
    uint64_t index = link->value - 1;
    link->value = 0;
    learn_frames_add_count(frames, LEARN_SEALED, -1);
    return learn_capture_amend(frames->capture, index, "ldap:2");
}

static bool is_server_port(uint16_t port)
{
    return is_clear_port(port) || port == 636 || port == 3269;
}

static bool is_clear_port(uint16_t port)
{
    return port == 389 || port == 3268;
}

int learn_ldap_frame(struct learn_frames *frames)
{
    struct ldap_cursor cursor = {0};
    size_t count = learn_line_count(frames->line, LEARN_LINE_LDAP_OP);
    int result = 0;
    if (count == 0)
        return learn_ldap_take_sealed(frames);
    for (size_t i = 0; i < count && result == 0; i++) {
        uint64_t op;
        if (!learn_line_number(frames->line, LEARN_LINE_LDAP_OP, i, &op) || op > INTERMEDIATE ||
            learn_ldap_is_repeated(frames, op))
            continue;
        if (is_response(op))
            learn_ldap_take_response(frames, &cursor, op);
        else
            result = learn_ldap_take_request(frames, &cursor, op, count);
    }
    return result;
}

/* Each buffer of a security layer contains one message. Its content is unknown. */
static int learn_ldap_take_sealed(struct learn_frames *frames)
{
    int result = 0;
    size_t count = learn_line_count(frames->line, LEARN_LINE_LDAP_SASL_LENGTH);
    for (size_t i = 0; i < count && result == 0; i++) {
        if (is_server_port(frames->from_port) && !is_server_port(frames->to_port)) {
            learn_frames_answer(frames);
            link_of(frames)->value = 0;
            continue;
        }
        learn_frames_count(frames, LEARN_SEALED);
        link_of(frames)->value = frames->capture->record_count + 1;
        result = learn_frames_request(frames, "ldap:3\x1fsealed=true", false);
    }
    return result;
}

static struct learn_link *link_of(struct learn_frames *frames)
{
    return learn_links_get(frames->links, LEARN_LINK_LDAP, frames->connection, 0, frames->time,
                           true);
}

/* CLDAP clients repeat the same message. */
static bool learn_ldap_is_repeated(struct learn_frames *frames, uint64_t op)
{
    uint64_t id = 0, parts[3];
    if (!frames->udp)
        return false;
    learn_line_number(frames->line, LEARN_LINE_LDAP_ID, 0, &id);
    parts[0] = LEARN_LINE_LDAP_ID;
    parts[1] = id;
    parts[2] = is_response(op) ? frames->to_port : frames->from_port;
    uint64_t question = intern_hash(0, parts, sizeof parts);
    if (is_response(op)) {
        learn_frames_answered(frames, question);
        return false;
    }
    return learn_frames_retried(frames, question);
}

static bool is_response(uint64_t op)
{
    static const uint8_t responses[] = {1, 4, 5, 7, 9, 11, 13, 15, 19, 24, 25};
    return memchr(responses, (int)op, sizeof responses) != NULL;
}

static void learn_ldap_take_response(struct learn_frames *frames, struct ldap_cursor *cursor,
                                     uint64_t op)
{
    uint64_t code = 0;
    learn_frames_answer(frames);
    if (op == SEARCH_ENTRY || op == SEARCH_REFERENCE || op == INTERMEDIATE)
        return;
    learn_line_number(frames->line, LEARN_LINE_LDAP_RESULT, cursor->results++, &code);
    if (op == BIND_RESPONSE)
        link_of(frames)->busy = code == SASL_IN_PROGRESS;
}

static int learn_ldap_take_request(struct learn_frames *frames, struct ldap_cursor *cursor,
                                   uint64_t op, size_t messages)
{
    struct learn_form form;
    char opcode[8];
    if (op == BIND_REQUEST)
        return learn_ldap_take_bind(frames, cursor);
    if (op == SEARCH_REQUEST)
        return take_search(frames, cursor, messages);
    if (op == UNBIND_REQUEST)
        link_of(frames)->busy = false;
    skip_values(frames, cursor, op);
    snprintf(opcode, sizeof opcode, "%u", (unsigned)op);
    learn_form_init(&form, frames->udp ? "cldap" : "ldap", opcode);
    if (op == EXTENDED_REQUEST)
        learn_ldap_add_operation(frames, cursor, &form);
    return learn_frames_request(frames, form.text, false);
}

static void learn_ldap_add_operation(struct learn_frames *frames, struct ldap_cursor *cursor,
                                     struct learn_form *form)
{
    char oid[VALUE_SIZE];
    learn_line_value(frames->line, LEARN_LINE_LDAP_REQUEST_NAME, cursor->request_names++, oid,
                     sizeof oid);
    if (!frames->udp && learn_ldap_is_oid(oid) && strcmp(oid, starttls) != 0)
        learn_form_add(form, "oid", oid);
}

/* Other requests than searches have fields of the same names: a compare has a description and a
 * value, the items of a modify and an add have types (RFC 4511 4.6, 4.7, 4.10). */
static void skip_values(struct learn_frames *frames, struct ldap_cursor *cursor, uint64_t op)
{
    uint64_t count = 0;
    if (op == COMPARE_REQUEST)
        cursor->descriptions++;
    else if (op == MODIFY_REQUEST)
        learn_line_number(frames->line, LEARN_LINE_LDAP_MODIFICATIONS, cursor->modifications++,
                          &count);
    else if (op == ADD_REQUEST)
        learn_line_number(frames->line, LEARN_LINE_LDAP_ATTRIBUTES, cursor->attribute_counts++,
                          &count);
    cursor->types += count;
}

/* A message during a bind is a further leg of it. The messages of a Sicily bind have different
 * choices (MS-ADTS 5.1.1.1.3). */
static int learn_ldap_take_bind(struct learn_frames *frames, struct ldap_cursor *cursor)
{
    struct learn_form form;
    char mechanism[64];
    uint64_t auth = 0;
    learn_line_number(frames->line, LEARN_LINE_LDAP_AUTH, cursor->binds++, &auth);
    bool leg = link_of(frames)->busy || auth == SICILY_RESPONSE;
    if (auth == SASL)
        learn_line_value(frames->line, LEARN_LINE_LDAP_MECHANISM, cursor->mechanisms++, mechanism,
                         sizeof mechanism);
    link_of(frames)->busy = auth == SICILY_NEGOTIATE || auth == SICILY_NEGOTIATE - 1;
    if (leg) {
        learn_frames_count(frames, LEARN_LEGS);
        return 0;
    }
    learn_form_init(&form, "ldap", "0");
    learn_form_add(&form, "auth", auth == 0 ? "simple" : "sasl");
    if (auth == SASL)
        learn_form_add(&form, "mech", mechanism);
    else if (auth != 0)
        learn_form_add(&form, "mech", "GSS-SPNEGO");
    if (frames->tls)
        learn_form_add(&form, "tls", is_clear_port(frames->to_port) ? "starttls" : "ldaps");
    else if (auth == 0)
        learn_form_add(&form, "tls", "none");
    return learn_frames_request(frames, form.text, learn_frames_has_ticket(frames));
}

static int take_search(struct learn_frames *frames, struct ldap_cursor *cursor, size_t messages)
{
    static const char *const scopes[] = {"base", "one", "sub"};
    struct filter_walk search = {.frames = frames, .cursor = cursor};
    struct learn_form form;
    char base[4096], shape[SHAPE_SIZE];
    uint64_t scope;
    bool udp = learn_line_has_layer(frames->line, ":cldap");
    learn_form_init(&form, udp ? "cldap" : "ldap", "3");
    if (udp) /* always asks for Netlogon, which its player knows */
        return learn_frames_request(frames, form.text, false);
    if (learn_line_number(frames->line, LEARN_LINE_LDAP_SCOPE, cursor->searches, &scope) &&
        scope < 3)
        learn_form_add(&form, "scope", scopes[scope]);
    learn_line_value(frames->line, LEARN_LINE_LDAP_BASE, cursor->searches, base, sizeof base);
    cursor->searches++;
    if (shape_of_dn(base, shape, sizeof shape) == 0)
        learn_form_add(&form, "base", shape);
    add_filter(&search, &form);
    learn_ldap_add_attributes(&search, &form);
    add_controls(&search, &form, messages);
    return learn_frames_request(frames, form.text, false);
}

static void add_filter(struct filter_walk *search, struct learn_form *form)
{
    uint64_t kind;
    search->length = 0;
    if (learn_line_number(search->frames->line, LEARN_LINE_LDAP_FILTER, search->cursor->filters++,
                          &kind) &&
        put_filter(search, kind))
        learn_form_add(form, "filter", search->shape);
}

static bool put_filter(struct filter_walk *search, uint64_t kind)
{
    if (kind > FILTER_EXTENSIBLE || search->nesting == NESTING_MAX)
        return false;
    search->nesting++;
    bool good = kind <= FILTER_NOT ? put_items(search, kind) : put_comparison(search, kind);
    search->nesting--;
    return good;
}

/* The items of an AND or OR, or the item of a NOT. */
static bool put_items(struct filter_walk *search, uint64_t kind)
{
    static const char *const operators[] = {"(&", "(|", "(!"};
    static const enum learn_line_field items[] = {LEARN_LINE_LDAP_AND_ITEM, LEARN_LINE_LDAP_OR_ITEM,
                                                  LEARN_LINE_LDAP_NOT};
    const struct learn_line *line = search->frames->line;
    struct ldap_cursor *cursor = search->cursor;
    size_t *const next[] = {&cursor->and_items, &cursor->or_items, &cursor->nots};
    uint64_t count = 1, item;
    bool good = learn_ldap_put(search, operators[kind]);
    if (kind == FILTER_AND)
        good = good && learn_line_number(line, LEARN_LINE_LDAP_AND, cursor->ands++, &count);
    else if (kind == FILTER_OR)
        good = good && learn_line_number(line, LEARN_LINE_LDAP_OR, cursor->ors++, &count);
    for (uint64_t i = 0; i < count && good; i++)
        good = learn_line_number(line, items[kind], (*next[kind])++, &item) &&
               put_filter(search, item);
    return good && learn_ldap_put(search, ")");
}

static bool learn_ldap_put(struct filter_walk *search, const char *text)
{
    size_t length = strlen(text);
    if (search->length + length + 1 > sizeof search->shape)
        return false;
    memcpy(search->shape + search->length, text, length + 1);
    search->length += length;
    return true;
}

static bool put_comparison(struct filter_walk *search, uint64_t kind)
{
    const struct learn_line *line = search->frames->line;
    struct ldap_cursor *cursor = search->cursor;
    char attribute[VALUE_SIZE], value[VALUE_SIZE] = "", comparison[VALUE_SIZE];
    bool present = kind == FILTER_PRESENT;
    bool typed = kind == FILTER_SUBSTRINGS || kind == FILTER_EXTENSIBLE;
    if (present)
        learn_line_value(line, LEARN_LINE_LDAP_PRESENT, cursor->presents++, attribute,
                         sizeof attribute);
    else if (typed)
        learn_line_value(line, LEARN_LINE_LDAP_TYPE, cursor->types++, attribute, sizeof attribute);
    else
        learn_line_value(line, LEARN_LINE_LDAP_ATTRIBUTE, cursor->descriptions, attribute,
                         sizeof attribute);
    if (!present && !typed) {
        learn_line_value(line, LEARN_LINE_LDAP_VALUE, cursor->descriptions++, value, sizeof value);
        /* An escaped star is a value like any other. */
        if (kind != FILTER_EQUAL || strcmp(value, "*") == 0)
            value[0] = '\0';
    }
    return shape_of_comparison(attribute, present ? "*" : value, comparison, sizeof comparison) ==
               0 &&
           learn_ldap_put(search, comparison);
}

static void learn_ldap_add_attributes(struct filter_walk *search, struct learn_form *form)
{
    const struct learn_line *line = search->frames->line;
    char list[LEARN_FORM_SIZE], name[VALUE_SIZE];
    size_t length = 0, room = sizeof list;
    uint64_t count = 0;
    learn_line_number(line, LEARN_LINE_LDAP_ATTRIBUTES, search->cursor->attribute_counts++, &count);
    for (uint64_t i = 0; i < count; i++) {
        if (!learn_line_value(line, LEARN_LINE_LDAP_ATTRIBUTE_NAME, search->cursor->attributes++,
                              name, sizeof name))
            return;
        bool good = strcmp(name, "*") == 0 || strcmp(name, "+") == 0 || shape_is_attribute(name);
        if (good && length < room)
            length +=
                (size_t)snprintf(list + length, room - length, "%s%s", length ? "," : "", name);
    }
    if (length > 0 && length < room)
        learn_form_add(form, "attrs", list);
}

/* Adds the controls if the frame has only one message, because otherwise it is not certain which
 * message they belong to. */
static void add_controls(struct filter_walk *search, struct learn_form *form, size_t messages)
{
    const struct learn_line *line = search->frames->line;
    char list[1024], oid[VALUE_SIZE];
    size_t length = 0, kept = 0;
    uint64_t count = 0;
    size_t groups = learn_line_count(line, LEARN_LINE_LDAP_CONTROLS);
    if (groups != messages || !learn_line_number(line, LEARN_LINE_LDAP_CONTROLS, 0, &count) ||
        messages > 1)
        return;
    for (uint64_t i = 0; i < count && kept < 16; i++) {
        if (!learn_line_value(line, LEARN_LINE_LDAP_CONTROL, search->cursor->controls++, oid,
                              sizeof oid))
            break;
        if (needs_value(oid))
            learn_frames_count(search->frames, LEARN_CONTROLS);
        else if (learn_ldap_is_oid(oid) && ++kept)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length ? "," : "", oid);
    }
    if (length > 0 && length < sizeof list)
        learn_form_add(form, "controls", list);
}

/* Whether a control means nothing, or another thing, without its value, which models do not have.
 * traffic-replay gives values to SD flags, search options, extended DN and sort. A search with a
 * change notification is not answered before something changes. */
static bool needs_value(const char *oid)
{
    static const char *const oids[] = {
        "1.2.840.113556.1.4.521",   /* cross-domain move (MS-ADTS 3.1.1.3.4.1) */
        "1.2.840.113556.1.4.528",   /* change notification */
        "1.2.840.113556.1.4.841",   /* DirSync */
        "1.2.840.113556.1.4.1338",  /* verify name */
        "1.2.840.113556.1.4.1504",  /* attribute scoped query */
        "1.2.840.113556.1.4.1852",  /* quota */
        "1.2.840.113556.1.4.2026",  /* input DN */
        "1.2.840.113556.1.4.2066",  /* policy hints, deprecated */
        "1.2.840.113556.1.4.2206",  /* search hints */
        "1.2.840.113556.1.4.2211",  /* expected entry count */
        "1.2.840.113556.1.4.2239",  /* policy hints */
        "1.2.826.0.1.3344810.2.3",  /* matched values (RFC 3876) */
        "1.3.6.1.1.12",             /* assertion (RFC 4528) */
        "1.3.6.1.4.1.4203.1.9.1.1", /* sync request (RFC 4533) */
        "2.16.840.1.113730.3.4.3",  /* persistent search */
        "2.16.840.1.113730.3.4.9",  /* virtual list view */
        "2.16.840.1.113730.3.4.18", /* proxied authorization (RFC 4370) */
    };
    for (size_t i = 0; i < sizeof oids / sizeof oids[0]; i++)
        if (strcmp(oids[i], oid) == 0)
            return true;
    return false;
}

/* An OID that models can contain. */
static bool learn_ldap_is_oid(const char *text)
{
    const struct packet_rule *rule = packet_rule_find(packet_row_find("ldap", "23"), "oid");
    return rule && packet_rule_check(rule, text) && strlen(text) < 64;
}
