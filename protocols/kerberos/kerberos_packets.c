/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the packets kerberos:, kerberos:10 and kerberos:12. */
#include <errno.h>

#include "packets/packet_words.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"
#include "protocols/packet_players.h"

struct as_details {
    enum kerberos_client client;
};

struct tgs_details {
    const char *service; /* NULL: ldap, cifs and host in turn */
};

static struct outcome kerberos_play_hint(struct conversation *conversation, const void *compiled);
static void fill_as(const struct packet_details *details, void *compiled);
static struct outcome kerberos_play_as(struct conversation *conversation, const void *compiled);
static void fill_tgs(const struct packet_details *details, void *compiled);
static struct outcome kerberos_play_tgs(struct conversation *conversation, const void *compiled);

const struct packet_player packet_players_kerberos[] = {
    {.name = "kerberos:", .play = kerberos_play_hint},
    {.name = "kerberos:10", .play = kerberos_play_as, PACKET_DETAILS(struct as_details, fill_as)},
    {.name = "kerberos:12",
     .play = kerberos_play_tgs,
     PACKET_DETAILS(struct tgs_details, fill_tgs)},
    {.name = NULL},
};

static struct outcome kerberos_play_hint(struct conversation *conversation, const void *compiled)
{
    (void)compiled;
    conversation->kerberos = true;
    return outcome_nothing();
}

static void fill_as(const struct packet_details *details, void *compiled)
{
    struct as_details *as = compiled;
    as->client = (enum kerberos_client)packet_details_get(details, "as")->number;
}

static struct outcome kerberos_play_as(struct conversation *conversation, const void *compiled)
{
    const struct as_details *as = compiled;
    conversation->kerberos = true;
    return kerberos_as_exchange(conversation, as->client == KERBEROS_CLIENT_MACHINE
                                                  ? conversation->machine
                                                  : conversation->user);
}

static void fill_tgs(const struct packet_details *details, void *compiled)
{
    struct tgs_details *tgs = compiled;
    tgs->service = packet_details_get(details, "service")->text;
}

static struct outcome kerberos_play_tgs(struct conversation *conversation, const void *compiled)
{
    static const char *const services[] = {"ldap", "cifs", "host"};
    const struct tgs_details *tgs = compiled;
    struct tickets *tickets = tickets_get(conversation, conversation->user);
    conversation->kerberos = true;
    if (!tickets)
        return outcome_of_error(-ENOMEM);
    const char *service = tgs->service;
    if (!service)
        service =
            services[conversation->krb5->next_service++ % (sizeof services / sizeof services[0])];
    return tgs_fetch(conversation, tickets, service);
}
