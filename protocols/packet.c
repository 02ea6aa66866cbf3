/* SPDX-License-Identifier: Apache-2.0 */
/* The table of packets and what outcomes are made of. */
#include "protocols/packet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/conversation.h"
#include "protocols/packet_tables.h"
#include "protocols/stream.h"

static const struct packet_type *const tables[] = {
    packet_tables_cldap,     packet_tables_dns,    packet_tables_nbns,   packet_tables_kerberos,
    packet_tables_ldap,      packet_tables_smb2,   packet_tables_epm,    packet_tables_netlogon,
    packet_tables_samr,      packet_tables_lsarpc, packet_tables_srvsvc, packet_tables_drsuapi,
    packet_tables_rpc_hints, packet_tables_silent,
};

static const struct packet_type *added; /* packet_types_add() */

static const struct packet_type *find_exact(const char *protocol, const char *opcode);
static const struct packet_type *find_in(const struct packet_type *table, const char *protocol,
                                         const char *opcode);

bool packet_needs_dc(const struct dc_options *options)
{
    return !options->generic_ldap;
}

struct outcome outcome_ok(void)
{
    return (struct outcome){.kind = OUTCOME_OK};
}

struct outcome outcome_nothing(void)
{
    return (struct outcome){.kind = OUTCOME_NOTHING};
}

struct outcome outcome_no_answer(void)
{
    return (struct outcome){.kind = OUTCOME_NO_ANSWER};
}

struct outcome outcome_failed(const char *format, ...)
{
    struct outcome outcome = {.kind = OUTCOME_FAILED};
    va_list args;
    va_start(args, format);
    vsnprintf(outcome.cause, sizeof outcome.cause, format, args);
    va_end(args);
    return outcome;
}

struct outcome outcome_of_error(int error)
{
    if (error == -ECANCELED)
        return (struct outcome){.kind = OUTCOME_UNFINISHED};
    return outcome_failed("%s", stream_error_text(error));
}

const struct packet_type *packet_type_find(const char *protocol, const char *opcode)
{
    const struct packet_type *type = find_exact(protocol, opcode);
    return type ? type : find_exact(protocol, "*");
}

static const struct packet_type *find_exact(const char *protocol, const char *opcode)
{
    const struct packet_type *found = find_in(added, protocol, opcode);
    for (size_t t = 0; !found && t < sizeof tables / sizeof tables[0]; t++)
        found = find_in(tables[t], protocol, opcode);
    return found;
}

static const struct packet_type *find_in(const struct packet_type *table, const char *protocol,
                                         const char *opcode)
{
    for (const struct packet_type *type = table; type && type->protocol; type++)
        if (strcmp(type->protocol, protocol) == 0 && strcmp(type->opcode, opcode) == 0)
            return type;
    return NULL;
}

void packet_types_add(const struct packet_type *table)
{
    added = table;
}

void packet_types_each(void (*visit)(const struct packet_type *type, void *context), void *context)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct packet_type *type = tables[t]; type->protocol; type++)
            visit(type, context);
}

struct outcome packet_play(struct conversation *conversation, const struct packet_type *type,
                           const void *details, int64_t timeout)
{
    if (type->kind == PACKET_SILENT)
        return outcome_nothing();
    conversation->wire.deadline = clock_now() + timeout;
    conversation->wire.first_sent = 0;
    conversation->wire.last_received = 0;
    conversation->wire.cancelled = false;
    conversation->expected_failures = 0;
    struct outcome outcome = type->play(conversation, details);
    /* Libraries in between may have made something else of it. */
    if (conversation->wire.cancelled && outcome.kind != OUTCOME_NOTHING)
        return (struct outcome){.kind = OUTCOME_UNFINISHED};
    return outcome;
}
