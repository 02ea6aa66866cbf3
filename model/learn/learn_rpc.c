/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCE/RPC over TCP or SMB2 pipes. The interface of a call is known from its bind, so the contexts
 * of each association are remembered. All messages of a bind's authentication are one dcerpc:11; a
 * context that is added later is a dcerpc:14.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/learn/learn_frames_private.h"

/* C706 12.6.4 */
enum { REQUEST = 0, RESPONSE = 2, FAULT = 3, BIND = 11, BIND_ACK = 12, BIND_NAK = 13 };
enum { ALTER_CONTEXT = 14, ALTER_CONTEXT_RESP = 15, AUTH3 = 16, SHUTDOWN = 17 };
enum { UNKNOWN = 0, UUID_SIZE = 40, MESSAGES_MAX = 4096 };

/* The names are Wireshark's. */
static const struct {
    const char *uuid, *protocol;
} interfaces[] = {
    {"", "dcerpc"},
    {"e1af8308-5d1f-11c9-91a4-08002b14a0fa", "epm"},
    {"12345678-1234-abcd-ef00-01234567cffb", "rpc_netlogon"},
    {"12345778-1234-abcd-ef00-0123456789ab", "lsarpc"},
    {"12345778-1234-abcd-ef00-0123456789ac", "samr"},
    {"4b324fc8-1670-01d3-1278-5a47bf6ee188", "srvsvc"},
    {"e3514235-4b06-11d1-ab04-00c04fc2dcd2", "drsuapi"},
    {"50abc2a4-574d-40b3-9d66-ee4fd5fba076", "dnsserver"},
    {"6bffd098-a112-3610-9833-46c3f87e345a", "wkssvc"},
    {"338cd001-2244-31f1-aaaa-900038001003", "winreg"},
    {"367abb81-9844-35f1-ad32-98f038001003", "svcctl"},
    {"12345678-1234-abcd-ef00-0123456789ab", "spoolss"},
    {"4fc742e0-4a10-11cf-8273-00aa004ae673", "netdfs"},
    {"3919286a-b10c-11d0-9ba8-00c04fd92ef5", "dssetup"},
    {"f5cc5a18-4264-101a-8c59-08002b2f8426", "nspi"},
    {"1544f5e0-613c-11d1-93df-00c04fd7bd09", "rfr"},
    {"99fcfec4-5260-101b-bbcb-00aa0021347a", "oxid"},
    {"1ff70682-0a51-30e8-076d-740be8cee98b", "atsvc"},
    {"86d35949-83c9-4044-b424-db363231fd0c", "taskschedulerservice"},
    {"82273fdc-e32a-18c3-3f78-827929dc23ea", "eventlog"},
    {"f6beaff7-1e19-4fbb-9f8f-b89e2018337c", "eventlog6"},
    {"897e2e5f-93f3-4376-9c9c-fd2277495c27", "frstrans"},
    {"f5cc59b4-4264-101a-8c59-08002b2f8426", "frsrpc"},
    {"91ae6020-9e3c-11cf-8d7c-00aa00c091be", "icertpassage"},
    {"8d9f4e40-a03d-11ce-8f69-08003e30051b", "pnp"},
    {"5a7b91f8-ff00-11d0-a9b2-00c04fb6e6fc", "messenger"},
    {"c681d488-d850-11d0-8c52-00c04fd90f7e", "efsrpc"},
};

/* For each field, the index of the next message's value. */
struct rpc_cursor {
    size_t uuids, contexts, calls;
};

static bool learn_rpc_is_reply(uint64_t type);
static int learn_rpc_take_bind(struct learn_frames *frames, struct learn_link *link, uint64_t type,
                               struct rpc_cursor *cursor);
static bool take_contexts(struct learn_frames *frames, struct learn_link *link,
                          struct rpc_cursor *cursor);
static bool set_context(struct learn_link *link, uint64_t context, uint8_t interface);
static int find_context(const struct learn_link *link, uint64_t context);
static uint8_t interface_of(const char *uuid);
static struct learn_link *association(struct learn_frames *frames, uint64_t pipe);
static int take_call(struct learn_frames *frames, struct learn_link *link,
                     const struct rpc_cursor *cursor);
static void add_level(struct learn_frames *frames, struct learn_form *form, size_t ordinal);

int learn_rpc_frame(struct learn_frames *frames, uint64_t pipe)
{
    struct rpc_cursor cursor = {0};
    size_t count = learn_line_count(frames->line, LEARN_LINE_RPC_TYPE);
    int result = 0;
    for (size_t i = 0; i < count && i < MESSAGES_MAX && result == 0; i++) {
        uint64_t type, first = 1;
        if (!learn_line_number(frames->line, LEARN_LINE_RPC_TYPE, i, &type))
            continue;
        learn_line_number(frames->line, LEARN_LINE_RPC_FIRST, i, &first);
        if (learn_rpc_is_reply(type))
            learn_frames_answer(frames);
        else if (type == BIND || type == ALTER_CONTEXT || type == AUTH3)
            result = learn_rpc_take_bind(frames, association(frames, pipe), type, &cursor);
        else if (type == REQUEST) {
            if (first)
                result = take_call(frames, association(frames, pipe), &cursor);
            cursor.contexts++; /* each fragment has these fields */
            cursor.calls++;
        }
    }
    return result;
}

static bool learn_rpc_is_reply(uint64_t type)
{
    return type == RESPONSE || type == FAULT || type == BIND_ACK || type == BIND_NAK ||
           type == ALTER_CONTEXT_RESP;
}

static int learn_rpc_take_bind(struct learn_frames *frames, struct learn_link *link, uint64_t type,
                               struct rpc_cursor *cursor)
{
    if (type == BIND)
        *link = (struct learn_link){.key = link->key, .time = link->time, .bound = true};
    bool fresh = take_contexts(frames, link, cursor);
    bool leg = type == AUTH3 || (type == ALTER_CONTEXT && !fresh && !link->begun);
    if (leg) {
        learn_frames_count(frames, LEARN_LEGS);
        return 0;
    }
    return learn_frames_request(frames, type == BIND ? "dcerpc:11" : "dcerpc:14",
                                learn_frames_has_ticket(frames));
}

/* Remembers the contexts of a bind, which are all contexts of the frame. True if one is new. */
static bool take_contexts(struct learn_frames *frames, struct learn_link *link,
                          struct rpc_cursor *cursor)
{
    char uuid[UUID_SIZE];
    bool fresh = false;
    for (; learn_line_value(frames->line, LEARN_LINE_RPC_UUID, cursor->uuids, uuid, sizeof uuid);
         cursor->uuids++) {
        uint64_t context = cursor->contexts;
        learn_line_number(frames->line, LEARN_LINE_RPC_CONTEXT, cursor->contexts++, &context);
        fresh = set_context(link, context, interface_of(uuid)) || fresh;
    }
    return fresh;
}

/* True if the interface had no context before. */
static bool set_context(struct learn_link *link, uint64_t context, uint8_t interface)
{
    int at = find_context(link, context);
    bool fresh =
        interface == UNKNOWN ? at < 0 : !memchr(link->interfaces, interface, link->context_count);
    if (at < 0 && link->context_count < LEARN_LINK_CONTEXTS)
        at = link->context_count++;
    if (at < 0)
        at = LEARN_LINK_CONTEXTS - 1;
    link->contexts[at] = (uint16_t)context;
    link->interfaces[at] = interface;
    return fresh;
}

static int find_context(const struct learn_link *link, uint64_t context)
{
    for (unsigned i = 0; i < link->context_count; i++)
        if (link->contexts[i] == context)
            return (int)i;
    return -1;
}

static uint8_t interface_of(const char *uuid)
{
    for (uint8_t i = 1; i < sizeof interfaces / sizeof interfaces[0]; i++)
        if (strcasecmp(interfaces[i].uuid, uuid) == 0)
            return i;
    return UNKNOWN;
}

static struct learn_link *association(struct learn_frames *frames, uint64_t pipe)
{
    return learn_links_get(frames->links, LEARN_LINK_RPC, frames->connection, pipe, frames->time,
                           true);
}

static int take_call(struct learn_frames *frames, struct learn_link *link,
                     const struct rpc_cursor *cursor)
{
    struct learn_form form;
    char opcode[24];
    uint64_t opnum = 0, context = 0;
    /* An operation that a short frame cut off is not known. */
    bool whole = learn_line_number(frames->line, LEARN_LINE_RPC_OPNUM, cursor->calls, &opnum);
    learn_line_number(frames->line, LEARN_LINE_RPC_CONTEXT, cursor->contexts, &context);
    int at = find_context(link, context);
    uint8_t interface = at < 0 ? UNKNOWN : link->interfaces[at];
    link->begun = true;
    /* The endpoint mapper is the only interface known by its port. */
    if (at < 0 && !link->bound && !learn_line_count(frames->line, LEARN_LINE_SMB2_COMMAND) &&
        frames->to_port == 135)
        interface = 1;
    if (interface == UNKNOWN || !whole) {
        learn_frames_count(frames, LEARN_UNKNOWN_RPC);
        return learn_frames_request(frames, "dcerpc:0", false);
    }
    snprintf(opcode, sizeof opcode, "%u", (unsigned)opnum & 0xffff);
    learn_form_init(&form, interfaces[interface].protocol, opcode);
    add_level(frames, &form, cursor->calls);
    return learn_frames_request(frames, form.text, false);
}

/* Information levels, of the calls that have one in a model. Levels that cannot be played are left
 * out: a model with them would be refused. */
static void add_level(struct learn_frames *frames, struct learn_form *form, size_t ordinal)
{
    static const struct {
        const char *packet;
        enum learn_line_field field;
    } levels[] = {
        {"samr:8", LEARN_LINE_SAMR_DOMAIN_LEVEL},   {"samr:36", LEARN_LINE_SAMR_USER_LEVEL},
        {"samr:46", LEARN_LINE_SAMR_DOMAIN2_LEVEL}, {"lsarpc:7", LEARN_LINE_LSA_LEVEL},
        {"lsarpc:46", LEARN_LINE_LSA2_LEVEL},       {"srvsvc:16", LEARN_LINE_SHARE_LEVEL},
        {"srvsvc:21", LEARN_LINE_SERVER_LEVEL}};
    uint64_t level;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].packet, form->text) != 0 ||
            !learn_line_number(frames->line, levels[i].field,
                               learn_line_count(frames->line, levels[i].field) > 1 ? ordinal : 0,
                               &level))
            continue;
        if (!learn_form_add_number(form, "level", level))
            learn_frames_count(frames, LEARN_UNPLAYED);
        return; /* the form's text is longer now */
    }
}
