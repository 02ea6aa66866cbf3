/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/dns_extra.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "protocols/names/dns.h"
#include "replay/worker.h"

/* What one query needs. Slots are reused. */
struct query_slot {
    struct conversation conversation;
    struct dns_extra *extra;
    struct query_slot *next; /* in the list of free slots */
};

struct dns_extra {
    struct worker *worker;
    struct random_stream random;
    struct loop_timer timer;
    double mean_gap; /* ns */
    double due;      /* of the next one, ns since the plan's start */
    struct query_slot *idle;
    uint64_t slots;
};

static void dns_extra_fire(void *argument);
static void start_query(struct dns_extra *extra);
static struct query_slot *slot_new(struct dns_extra *extra);
static void dns_extra_query(void *argument);
static void dns_extra_give_back(struct query_slot *slot);
static void set_next_query(struct dns_extra *extra);

int dns_extra_new(struct worker *worker, struct dns_extra **out)
{
    const struct run_shared *shared = worker->shared;
    *out = NULL;
    if (shared->settings->dns_rate <= 0)
        return 0;
    struct dns_extra *extra = calloc(1, sizeof *extra);
    if (!extra)
        return -ENOMEM;
    extra->worker = worker;
    extra->mean_gap = 1e9 / shared->settings->dns_rate * shared->workers;
    extra->timer = (struct loop_timer){.function = dns_extra_fire, .argument = extra};
    random_seed(&extra->random, plan_settings(shared->plan)->seed, RANDOM_DNS, worker->number);
    *out = extra;
    return 0;
}

static void dns_extra_fire(void *argument)
{
    struct dns_extra *extra = argument;
    if (!worker_may_send(extra->worker, worker_now(extra->worker)))
        return;
    start_query(extra);
    set_next_query(extra);
}

static void start_query(struct dns_extra *extra)
{
    struct worker *worker = extra->worker;
    struct query_slot *slot = extra->idle;
    if (slot)
        extra->idle = slot->next;
    else
        slot = slot_new(extra);
    if (slot && loop_spawn(worker->loop, dns_extra_query, slot) == 0) {
        worker_began(worker);
        return;
    }
    struct outcome outcome = outcome_failed("no memory for a fiber");
    tally_dns_extra(worker->tally, &outcome, worker_now(worker));
    if (slot)
        dns_extra_give_back(slot);
}

static struct query_slot *slot_new(struct dns_extra *extra)
{
    const struct run_shared *shared = extra->worker->shared;
    struct query_slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    slot->extra = extra;
    struct conversation *conversation = &slot->conversation;
    conversation->wire.waiter = loop_waiter(extra->worker->loop);
    if (shared->source
            ->family) /* the queries belong to no client, so any client's address can be used */
        conversation->wire.source_len = source_address(
            shared->source, extra->slots % shared->clients, &conversation->wire.source);
    conversation->dc = shared->dc;
    conversation->user = shared->dc->users;
    conversation->machine = shared->dc->machines;
    conversation->random = random_draw;
    conversation->random_state = &extra->random;
    conversation_init(conversation);
    extra->slots++;
    return slot;
}

static void dns_extra_query(void *argument)
{
    struct query_slot *slot = argument;
    struct worker *worker = slot->extra->worker;
    struct outcome outcome =
        packet_play(&slot->conversation, &dns_extra_player, NULL, worker->shared->timeout);
    tally_dns_extra(worker->tally, &outcome, worker_now(worker));
    dns_extra_give_back(slot);
    worker_ended(worker);
}

static void dns_extra_give_back(struct query_slot *slot)
{
    conversation_reset(&slot->conversation);
    slot->next = slot->extra->idle;
    slot->extra->idle = slot;
}

static void set_next_query(struct dns_extra *extra)
{
    extra->due -= log1p(-random_unit(&extra->random)) * extra->mean_gap;
    /* This cannot fail: the timer has just fired, so the heap has room for it. */
    (void)loop_timer_set(extra->worker->loop, &extra->timer,
                         extra->worker->shared->start + (int64_t)extra->due);
}

void dns_extra_start(struct dns_extra *extra)
{
    if (extra)
        set_next_query(extra);
}

void dns_extra_stop(struct dns_extra *extra)
{
    if (extra)
        loop_timer_stop(extra->worker->loop, &extra->timer);
}

void dns_extra_free(struct dns_extra *extra)
{
    if (!extra)
        return;
    for (struct query_slot *slot = extra->idle, *next; slot; slot = next) {
        next = slot->next;
        conversation_reset(&slot->conversation);
        free(slot);
    }
    free(extra);
}
