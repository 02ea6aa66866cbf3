/* SPDX-License-Identifier: Apache-2.0 */
/* Players of packets. */
#include "protocols/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocols/conversation.h"
#include "protocols/packet_players.h"

static const struct packet_player *const tables[] = {
    packet_players_cldap,    packet_players_dns,    packet_players_nbns,   packet_players_kerberos,
    packet_players_ldap,     packet_players_nbench, packet_players_smb2,   packet_players_dcerpc,
    packet_players_netlogon, packet_players_samr,   packet_players_lsarpc, packet_players_srvsvc,
    packet_players_drsuapi,
};

static const struct packet_player *added; /* packet_players_add() */

static const struct packet_player *find_player(const struct packet_player *table,
                                               const struct packet_row *row);

const struct packet_player *packet_player_of(const struct packet_row *row)
{
    const struct packet_player *found = find_player(added, row);
    for (size_t t = 0; !found && t < sizeof tables / sizeof tables[0]; t++)
        found = find_player(tables[t], row);
    return found;
}

static const struct packet_player *find_player(const struct packet_player *table,
                                               const struct packet_row *row)
{
    size_t length = strlen(row->protocol->name);
    for (const struct packet_player *player = table; player && player->name; player++)
        if (strncmp(player->name, row->protocol->name, length) == 0 &&
            player->name[length] == ':' && strcmp(player->name + length + 1, row->opcode) == 0)
            return player;
    return NULL;
}

const struct packet_player *packet_player_find(const char *protocol, const char *opcode)
{
    const struct packet_row *row = packet_row_find(protocol, opcode);
    return row ? packet_player_of(row) : NULL;
}

void packet_players_add(const struct packet_player *players)
{
    added = players;
}

void packet_players_each(void (*visit)(const struct packet_player *player, void *context),
                         void *context)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct packet_player *player = tables[t]; player->name; player++)
            visit(player, context);
}

bool packet_is_available(const struct packet_row *row, const struct dc_options *options)
{
    const struct {
        const char *option;
        bool given;
    } needed[] = {{"--smb-share", options->smb_share != NULL},
                  {"--allow-replication", options->allow_replication}};
    bool available = options->file_server ? row->protocol->over_smb
                                          : !row->protocol->needs_dc || !options->generic_ldap;
    for (size_t i = 0; row->option && i < sizeof needed / sizeof needed[0]; i++)
        if (strcmp(row->option, needed[i].option) == 0)
            return available && needed[i].given;
    return available && !row->option;
}

bool packet_has_details(const struct packet_player *player)
{
    return player->fill || player->compile;
}

void *packet_compile(const struct packet_player *player, const struct packet_details *details,
                     struct packet_context *context, struct error *error)
{
    if (player->compile)
        return player->compile(details, context, error);
    void *compiled = calloc(1, player->size);
    if (compiled)
        player->fill(details, compiled);
    else
        error_no_memory(error);
    return compiled;
}

void packet_release(const struct packet_player *player, void *compiled)
{
    if (player->release)
        player->release(compiled);
    else
        free(compiled);
}

void packet_context_clear(struct packet_context *context)
{
    if (context->ldap)
        context->ldap->free(context->ldap);
    *context = (struct packet_context){0};
}

struct outcome packet_play(struct conversation *conversation, const struct packet_player *player,
                           const void *compiled, int64_t timeout)
{
    if (!player)
        return outcome_nothing();
    conversation->wire.deadline = clock_now() + timeout;
    conversation->wire.first_sent = 0;
    conversation->wire.last_received = 0;
    conversation->wire.cancelled = false;
    conversation->wire.data = (struct wire_data){0};
    conversation->expected_failures = 0;
    struct outcome outcome = player->play(conversation, compiled);
    /* A library between stream and player may have reported -ECANCELED as another failure. */
    if (conversation->wire.cancelled && outcome.kind != OUTCOME_NOTHING)
        return (struct outcome){.kind = OUTCOME_UNFINISHED};
    return outcome;
}
