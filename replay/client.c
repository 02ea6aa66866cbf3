/* SPDX-License-Identifier: Apache-2.0 */
/* A client's life: wait for the next step, play it, go on; close the window. */
#include "replay/client.h"

#include <stddef.h>

#include "replay/worker.h"

/* What an idle client costs beyond its connections. */
_Static_assert(sizeof(struct client) <= 704, "a client is a few hundred bytes");

static void timer_fired(void *argument);
static void end_conversation(struct client *client);
static bool fetch(struct client *client);
static bool client_is_played(const struct worker_run *run, const struct plan_step *step);
static void set_timer(struct client *client);
static uint64_t client_next_random(void *stream);
static void client_play(void *argument);
static void play_step(struct client *client, int64_t now);
static bool drop_if_stale(struct client *client, int64_t now);
static void play_packet(struct client *client);
static const void *details_of(const struct play_row *type, uint32_t number);
static void client_tally(struct client *client, int64_t ready, int64_t ended,
                         const struct outcome *outcome);
static struct tally_event client_describe(const struct client *client, int64_t ready,
                                          int64_t ended);
static bool goes_on(struct client *client);
static void fail_without_stack(struct client *client);
static void leave_rest(struct client *client);

void client_init(struct client *client, struct worker *worker, uint32_t number)
{
    const struct worker_run *run = worker->run;
    client->worker = worker;
    client->number = number;
    client->state = CLIENT_DONE;
    client->timer.function = timer_fired;
    client->timer.argument = client;
    client->previous_ended = INT64_MIN;
    random_seed(&client->random, plan_settings(run->plan)->seed, RANDOM_PLAY, number);

    struct conversation *conversation = &client->conversation;
    conversation->wire.waiter = loop_waiter(worker->loop);
    if (run->source->family)
        conversation->wire.source_len =
            source_address(run->source, number, &conversation->wire.source);
    conversation->dc = run->dc;
    conversation->user = run->dc->users ? &run->dc->users[number] : NULL;
    conversation->machine = run->dc->machines ? &run->dc->machines[number] : NULL;
    conversation->random = client_next_random;
    conversation->random_state = &client->random;
    conversation_init(conversation);
    plan_client_start(run->plan, number, &client->cursor);
}

static void timer_fired(void *argument)
{
    struct client *client = argument;
    struct worker *worker = client->worker;
    tally_timer_late(worker->tally, worker_now(worker) - client->step.due);
    while (client->step.kind == PLAN_END) {
        /* Needs no stack: closing never waits. */
        end_conversation(client);
        if (!fetch(client)) {
            client->state = CLIENT_DONE;
            return;
        }
        if (client->step.due > worker_now(worker)) {
            set_timer(client);
            return;
        }
    }
    if (client->connected || !client->step.operation || worker_may_connect(worker, client))
        client_go(client);
    else
        client->state = CLIENT_WAITING;
}

static void end_conversation(struct client *client)
{
    conversation_reset(&client->conversation);
    if (client->begun)
        tally_conversation_ended(client->worker->tally);
    client->begun = false;
}

/* Finds the next step that is played; those between advance silently. */
static bool fetch(struct client *client)
{
    const struct worker_run *run = client->worker->run;
    while (plan_client_next(run->plan, &client->cursor, &client->step))
        if (client_is_played(run, &client->step))
            return true;
    return false;
}

/* Whether there is something to do for a step, be it only to end a conversation. */
static bool client_is_played(const struct worker_run *run, const struct plan_step *step)
{
    return step->kind == PLAN_END || step->operation ||
           run->table->rows[step->type].part == RUN_STATE;
}

static void set_timer(struct client *client)
{
    struct worker *worker = client->worker;
    client->state = CLIENT_IDLE;
    /* The heap grows to all clients at the start and never fails afterwards. */
    int error = loop_timer_set(worker->loop, &client->timer, worker->run->start + client->step.due);
    if (error)
        worker_fail(worker, error);
}

static uint64_t client_next_random(void *stream)
{
    return random_next(stream);
}

void client_start(struct client *client)
{
    if (fetch(client))
        set_timer(client);
}

void client_go(struct client *client)
{
    client->state = CLIENT_PLAYING;
    worker_began(client->worker);
    if (loop_spawn(client->worker->loop, client_play, client) == 0)
        return;
    fail_without_stack(client);
    worker_ended(client->worker);
}

/* The fiber: plays what is due, one packet as a rule, and gives itself back. A client that is
 * behind goes on, but lets the others have their turn after each packet. */
static void client_play(void *argument)
{
    struct client *client = argument;
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    if (!worker_may_send(worker, now)) {
        client->state = CLIENT_LEFT;
        worker_connected(worker, client);
        worker_ended(worker);
        return;
    }
    for (;;) {
        play_step(client, now);
        if (!fetch(client)) {
            client->state = CLIENT_DONE;
            break;
        }
        if (client->step.due <= worker_now(worker))
            loop_yield(worker->loop);
        if (!goes_on(client))
            break;
        now = worker_now(worker);
    }
    worker_ended(worker);
}

static void play_step(struct client *client, int64_t now)
{
    if (client->step.kind == PLAN_END) {
        end_conversation(client);
        return;
    }
    if (client->step.operation)
        tally_planned(client->worker->tally, client->step.type, client->step.due);
    if (!drop_if_stale(client, now))
        play_packet(client);
    worker_connected(client->worker, client);
}

/* True when the step at hand is older than --max-backlog allows; it is counted as dropped then. */
static bool drop_if_stale(struct client *client, int64_t now)
{
    const struct worker *worker = client->worker;
    if (!client->step.operation || worker->run->max_backlog == 0 ||
        now - client->step.due <= worker->run->max_backlog)
        return false;
    tally_dropped(worker->tally, client->step.type, client->step.due);
    return true;
}

static void play_packet(struct client *client)
{
    struct worker *worker = client->worker;
    const struct play_row *type = &worker->run->table->rows[client->step.type];
    int64_t ready =
        client->step.due > client->previous_ended ? client->step.due : client->previous_ended;
    if (client->step.operation)
        tally_started(worker->tally);
    struct outcome outcome =
        packet_play(&client->conversation, type->packet, details_of(type, client->step.details),
                    worker->run->timeout);
    client->previous_ended = worker_now(worker);
    if (!client->step.operation)
        return;
    client_tally(client, ready, client->previous_ended, &outcome);
    client->connected = true;
}

static const void *details_of(const struct play_row *type, uint32_t number)
{
    return type->details ? type->details[number] : NULL;
}

static void client_tally(struct client *client, int64_t ready, int64_t ended,
                         const struct outcome *outcome)
{
    struct worker *worker = client->worker;
    struct tally_event event = client_describe(client, ready, ended);
    if (event.first && event.first_sent != INT64_MIN) {
        tally_conversation(worker->tally);
        client->begun = true;
    }
    tally_event(worker->tally, &event, outcome);
    if (outcome->kind == OUTCOME_FAILED && worker->run->settings->stop_on_any_error)
        worker->run->cut(worker->run, RUN_END_ERROR);
}

/* What is known of a packet that was just played, as tally.h has it. */
static struct tally_event client_describe(const struct client *client, int64_t ready, int64_t ended)
{
    const struct conversation *conversation = &client->conversation;
    const struct wire *wire = &conversation->wire;
    int64_t start = client->worker->run->start;
    return (struct tally_event){
        .type = client->step.type,
        .client = client->number,
        .conversation = client->step.conversation,
        .first = !client->begun,
        .due = client->step.due,
        .ready = ready,
        .first_sent = wire->first_sent ? wire->first_sent - start : INT64_MIN,
        .last_received = wire->last_received ? wire->last_received - start : INT64_MIN,
        .ended = ended,
        .expected_failures = conversation->expected_failures,
    };
}

/* True when the client's fiber may go on with the step at hand; false when it is to end: the client
 * waits for its timer or its turn, or is done. */
static bool goes_on(struct client *client)
{
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    if (!worker_may_send(worker, now)) {
        client->state = CLIENT_LEFT;
        return false;
    }
    if (client->step.due > now) {
        set_timer(client);
        return false;
    }
    return client->connected || !client->step.operation || worker_may_connect(worker, client);
}

/* No stack to be had: that is this operation's failure; the client goes on with the next. */
static void fail_without_stack(struct client *client)
{
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    struct outcome outcome = outcome_failed("no memory for a fiber");
    client->conversation.wire.first_sent = client->conversation.wire.last_received = 0;
    if (client->step.operation) {
        tally_planned(worker->tally, client->step.type, client->step.due);
        tally_started(worker->tally);
        client_tally(client, client->step.due, now, &outcome);
    }
    worker_connected(worker, client);
    client->state = CLIENT_DONE;
    if (fetch(client))
        set_timer(client);
}

void client_close_window(struct client *client)
{
    if (client->state != CLIENT_IDLE && client->state != CLIENT_WAITING)
        return;
    loop_timer_stop(client->worker->loop, &client->timer);
    client->state = CLIENT_LEFT;
}

void client_finish(struct client *client)
{
    if (client->state == CLIENT_LEFT)
        leave_rest(client);
    conversation_reset(&client->conversation);
}

/* Records the rest of the plan, the step at hand included, as not sent. */
static void leave_rest(struct client *client)
{
    struct worker *worker = client->worker;
    do {
        if (client->step.due >= worker->window_end)
            break;
        if (client->step.kind != PLAN_PACKET || !client->step.operation)
            continue;
        tally_planned(worker->tally, client->step.type, client->step.due);
        tally_not_sent(worker->tally, client->step.type, client->step.due);
    } while (fetch(client));
    client->state = CLIENT_DONE;
}
