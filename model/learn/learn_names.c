/* SPDX-License-Identifier: Apache-2.0 */
/* DNS and NetBIOS name queries. Resolvers repeat a query without an answer, which counts as one
 * query. Of names only the kind is kept, which is known at the end (learn_capture_finish()). */
#include <stdio.h>
#include <string.h>

#include "model/learn/learn_frames_private.h"

enum { NAME_SIZE = 256, QUERY = 0 };

static uint64_t question_of(const struct learn_frames *frames, enum learn_line_field id);
static int take_query(struct learn_frames *frames, uint64_t opcode);
static void learn_names_add_type(struct learn_form *form, uint64_t type);
static void note_realm(struct learn_frames *frames, const char *name);
static void learn_names_take_reply(struct learn_frames *frames);
static void note_target(struct learn_capture *capture, const char *name);
static void note_address(struct learn_capture *capture, uint32_t name, const char *text);

int learn_dns_frame(struct learn_frames *frames)
{
    uint64_t response, opcode = QUERY, question = question_of(frames, LEARN_LINE_DNS_ID);
    if (!learn_line_number(frames->line, LEARN_LINE_DNS_RESPONSE, 0, &response))
        return 0;
    learn_line_number(frames->line, LEARN_LINE_DNS_OPCODE, 0, &opcode);
    if (!response)
        return learn_frames_retried(frames, question) ? 0 : take_query(frames, opcode);
    frames->udp = true; /* even over TCP it does not indicate a domain controller */
    learn_frames_answer(frames);
    learn_names_take_reply(frames);
    return 0;
}

/* Ids are random, so the same id with the same name and type is the same question, even if the
 * answer and the repetition crossed. */
static uint64_t question_of(const struct learn_frames *frames, enum learn_line_field id)
{
    uint64_t parts[3] = {id, 0, 0};
    const char *name = frames->line->values[LEARN_LINE_DNS_NAME];
    const char *type = frames->line->values[LEARN_LINE_DNS_TYPE];
    learn_line_number(frames->line, id, 0, &parts[1]);
    parts[2] = intern_hash(intern_hash(0, name, strlen(name) + 1), type, strlen(type));
    return intern_hash(0, parts, sizeof parts);
}

static int take_query(struct learn_frames *frames, uint64_t opcode)
{
    struct learn_form form;
    char name[NAME_SIZE], text[24];
    uint64_t type;
    snprintf(text, sizeof text, "%u", (unsigned)opcode & 0xf);
    learn_form_init(&form, "dns", text);
    if (opcode == QUERY && learn_line_number(frames->line, LEARN_LINE_DNS_TYPE, 0, &type))
        learn_names_add_type(&form, type);
    if (opcode == QUERY &&
        learn_line_value(frames->line, LEARN_LINE_DNS_NAME, 0, name, sizeof name)) {
        uint32_t number = learn_capture_name(frames->capture, name);
        note_realm(frames, name);
        if (number == UINT32_MAX)
            learn_form_add(&form, "name", "other");
        else
            learn_form_add_name(&form, number);
    }
    return learn_frames_request(frames, form.text, false);
}

static void learn_names_add_type(struct learn_form *form, uint64_t type)
{
    static const struct {
        uint64_t number;
        const char *name;
    } types[] = {{1, "A"},   {2, "NS"},   {5, "CNAME"}, {6, "SOA"},  {12, "PTR"},
                 {15, "MX"}, {16, "TXT"}, {28, "AAAA"}, {33, "SRV"}, {255, "ANY"}};
    char text[16];
    snprintf(text, sizeof text, "TYPE%u", (unsigned)type & 0xffff);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == type)
            snprintf(text, sizeof text, "%s", types[i].name);
    learn_form_add(form, "type", text);
}

/* _ldap._tcp.dc._msdcs.example.com and _kerberos._udp.example.com both end in the domain's name. */
static void note_realm(struct learn_frames *frames, const char *name)
{
    const char *rest = strstr(name, "._msdcs.");
    if (rest)
        rest += strlen("._msdcs.");
    else if ((rest = strstr(name, "._tcp.")) || (rest = strstr(name, "._udp.")))
        rest += strlen("._tcp.");
    if (rest && name[0] == '_')
        learn_capture_realm(frames->capture, rest);
}

static void learn_names_take_reply(struct learn_frames *frames)
{
    const struct learn_line *line = frames->line;
    char name[NAME_SIZE], text[NAME_SIZE];
    uint32_t number;
    for (size_t i = 0; learn_line_value(line, LEARN_LINE_DNS_TARGET, i, text, sizeof text); i++)
        note_target(frames->capture, text);
    if (!learn_line_value(line, LEARN_LINE_DNS_NAME, 0, name, sizeof name))
        return;
    number = learn_capture_name(frames->capture, name);
    for (size_t i = 0;
         number != UINT32_MAX && learn_line_value(line, LEARN_LINE_DNS_A, i, text, sizeof text);
         i++)
        note_address(frames->capture, number, text);
    for (size_t i = 0;
         number != UINT32_MAX && learn_line_value(line, LEARN_LINE_DNS_AAAA, i, text, sizeof text);
         i++)
        note_address(frames->capture, number, text);
}

static void note_target(struct learn_capture *capture, const char *name)
{
    uint32_t number = learn_capture_name(capture, name);
    if (number != UINT32_MAX)
        capture->name_facts[number].is_target = true;
}

static void note_address(struct learn_capture *capture, uint32_t name, const char *text)
{
    struct learn_name *facts = &capture->name_facts[name];
    uint32_t address = intern_find(&capture->addresses, text, strlen(text));
    if (address != UINT32_MAX && facts->address_count < LEARN_NAME_ADDRESSES)
        facts->addresses[facts->address_count++] = address;
}

/* The id of a repeated query is the same (RFC 1002 4.2.1). */
int learn_nbns_frame(struct learn_frames *frames)
{
    uint64_t response, opcode = QUERY, question = question_of(frames, LEARN_LINE_NBNS_ID);
    struct learn_form form;
    char text[8];
    if (!learn_line_number(frames->line, LEARN_LINE_NBNS_RESPONSE, 0, &response))
        return 0;
    learn_line_number(frames->line, LEARN_LINE_NBNS_OPCODE, 0, &opcode);
    if (response) {
        learn_frames_answer(frames);
        return 0;
    }
    if (learn_frames_retried(frames, question))
        return 0;
    snprintf(text, sizeof text, "%u", (unsigned)opcode & 0xf);
    learn_form_init(&form, "nbns", text);
    return learn_frames_request(frames, form.text, false);
}
