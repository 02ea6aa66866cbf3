/* SPDX-License-Identifier: Apache-2.0 */
/* A client's life: it waits for its next step, plays it and continues, until the window closes. */
#include "replay/client.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/message.h"
#include "base/random.h"
#include "replay/worker.h"

/* The memory that an idle client needs besides its connections. */
_Static_assert(sizeof(struct client) <= 704, "a client is a few hundred bytes");

static void client_timer_fired(void *argument);
static void client_end_conversation(struct client *client);
static bool next_played_step(struct client *client);
static bool client_is_played(const struct run_shared *shared, const struct plan_step *step);
static void client_set_timer(struct client *client);
static void client_play(void *argument);
static void client_done(struct client *client);
static void client_play_step(struct client *client, int64_t now);
static bool client_drop_if_stale(struct client *client, int64_t now);
static void client_play_packet(struct client *client);
static const void *details_of(const struct play_row *type, uint32_t number);
static void client_tally(struct client *client, int64_t ready, int64_t ended,
                         const struct outcome *outcome);
static struct tally_event client_describe(const struct client *client, int64_t ready,
                                          int64_t ended);
static void client_stop_run(const struct client *client, const char *cause);
static bool client_may_connect(struct client *client);
static void client_take_turn(struct client *client);
static void client_end_turn(struct client *client);
static bool client_may_continue(struct client *client);
static void fail_without_stack(struct client *client);
static void count_rest_not_sent(struct client *client);

void client_init(struct client *client, struct worker *worker, uint32_t number)
{
    const struct run_shared *shared = worker->shared;
    client->worker = worker;
    client->number = number;
    client->state = CLIENT_DONE;
    client->timer.function = client_timer_fired;
    client->timer.argument = client;
    client->previous_ended = INT64_MIN;
    random_seed(&client->random, plan_settings(shared->plan)->seed, RANDOM_PLAY, number);

    struct conversation *conversation = &client->conversation;
    conversation->wire.waiter = loop_waiter(worker->loop);
    if (shared->source->family)
        conversation->wire.source_len =
            source_address(shared->source, number, &conversation->wire.source);
    conversation->dc = shared->dc;
    conversation->user = shared->dc->users ? &shared->dc->users[number] : NULL;
    conversation->machine = shared->dc->machines ? &shared->dc->machines[number] : NULL;
    conversation->random = random_draw;
    conversation->random_state = &client->random;
    conversation_init(conversation);
    plan_client_start(shared->plan, number, &client->cursor);
}

static void client_timer_fired(void *argument)
{
    struct client *client = argument;
    struct worker *worker = client->worker;
    tally_timer_late(worker->tally, worker_now(worker) - client->step.due);
    while (client->step.kind == PLAN_END) {
        /* Closing never waits, so it needs no fiber. */
        client_end_conversation(client);
        if (!next_played_step(client)) {
            client_done(client);
            return;
        }
        if (client->step.due > worker_now(worker)) {
            client_set_timer(client);
            return;
        }
    }
    if (client->connected || !client->step.operation || client_may_connect(client))
        client_go(client);
    else
        client->state = CLIENT_WAITING;
}

static void client_end_conversation(struct client *client)
{
    conversation_reset(&client->conversation);
    if (client->begun)
        tally_conversation_ended(client->worker->tally);
    client->begun = false;
}

/* Advances to the next step that is played. False: the client's plan has no more. */
static bool next_played_step(struct client *client)
{
    const struct run_shared *shared = client->worker->shared;
    while (plan_client_next(shared->plan, &client->cursor, &client->step)) {
        if (client->step.after_reply)
            client->step.due += client->previous_ended > 0 ? client->previous_ended : 0;
        if (client_is_played(shared, &client->step))
            return true;
    }
    return false;
}

/* Whether a step needs anything done; the end of a conversation does. */
static bool client_is_played(const struct run_shared *shared, const struct plan_step *step)
{
    return step->kind == PLAN_END || step->operation ||
           shared->table->rows[step->type].part == RUN_STATE;
}

static void client_set_timer(struct client *client)
{
    struct worker *worker = client->worker;
    client->state = CLIENT_IDLE;
    /* The heap grows to all clients at the start and never fails afterwards. */
    int error =
        loop_timer_set(worker->loop, &client->timer, worker->shared->start + client->step.due);
    if (error)
        worker_fail(worker, error);
}

void client_start(struct client *client)
{
    if (next_played_step(client))
        client_set_timer(client);
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

/* Runs on a fiber and plays what is due, usually one packet. A client that is late continues with
 * the next packet, but yields to the other clients after each. */
static void client_play(void *argument)
{
    struct client *client = argument;
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    if (!worker_may_send(worker, now)) {
        client->state = CLIENT_LEFT;
        client_end_turn(client);
        worker_ended(worker);
        return;
    }
    for (;;) {
        client_play_step(client, now);
        if (!next_played_step(client)) {
            client_done(client);
            break;
        }
        if (client->step.due <= worker_now(worker))
            loop_yield(worker->loop);
        if (!client_may_continue(client))
            break;
        now = worker_now(worker);
    }
    worker_ended(worker);
}

/* With --passes, the run ends when the last client has played them. */
static void client_done(struct client *client)
{
    struct run_shared *shared = client->worker->shared;
    client->state = CLIENT_DONE;
    if (plan_settings(shared->plan)->passes > 0)
        client_end_conversation(client);
    if (plan_settings(shared->plan)->passes > 0 &&
        atomic_fetch_add(&shared->clients_done, 1) + 1 == shared->clients)
        shared->end_early(shared, RUN_END_PASSES);
}

static void client_play_step(struct client *client, int64_t now)
{
    if (client->step.kind == PLAN_END) {
        client_end_conversation(client);
        return;
    }
    if (client->step.operation)
        tally_planned(client->worker->tally, client->step.type, client->step.due);
    if (!client_drop_if_stale(client, now))
        client_play_packet(client);
    client_end_turn(client);
}

/* True when the current step is older than --max-backlog allows; counts it as dropped. */
static bool client_drop_if_stale(struct client *client, int64_t now)
{
    const struct worker *worker = client->worker;
    if (!client->step.operation || worker->shared->max_backlog == 0 ||
        now - client->step.due <= worker->shared->max_backlog)
        return false;
    tally_dropped(worker->tally, client->step.type, client->step.due);
    return true;
}

static void client_play_packet(struct client *client)
{
    struct worker *worker = client->worker;
    const struct play_row *type = &worker->shared->table->rows[client->step.type];
    int64_t ready =
        client->step.due > client->previous_ended ? client->step.due : client->previous_ended;
    if (client->step.operation)
        tally_started(worker->tally);
    struct outcome outcome =
        packet_play(&client->conversation, type->player, details_of(type, client->step.details),
                    worker->shared->timeout);
    client->previous_ended = worker_now(worker);
    if (!client->step.operation)
        return;
    client_tally(client, ready, client->previous_ended, &outcome);
    client->connected = true;
}

static const void *details_of(const struct play_row *type, uint32_t number)
{
    if (type->steps)
        return &type->steps[number];
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
    if (outcome->kind == OUTCOME_FAILED && worker->shared->settings->stop_on_any_error)
        client_stop_run(client, outcome->cause);
}

/* For --stop-on-any-error. Only the first failure of the run is reported. */
static void client_stop_run(const struct client *client, const char *cause)
{
    struct run_shared *shared = client->worker->shared;
    const struct packet_player *player = shared->table->rows[client->step.type].player;
    if (shared->end_early(shared, RUN_END_ERROR))
        message_print("--stop-on-any-error: the run ends because %s of client %" PRIu32
                      " failed: %s",
                      player->name, client->number, cause);
}

static struct tally_event client_describe(const struct client *client, int64_t ready, int64_t ended)
{
    const struct conversation *conversation = &client->conversation;
    const struct wire *wire = &conversation->wire;
    int64_t start = client->worker->shared->start;
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
        .data = wire->data,
    };
}

/*
 * During the warm-up only `connecting_max` clients of a worker make their first connections at a
 * time. True: the client has its turn; call client_end_turn() when its packet has ended. False: it
 * is queued, and client_go() is called when its turn comes.
 */
static bool client_may_connect(struct client *client)
{
    struct worker *worker = client->worker;
    if (worker->connecting < worker->shared->connecting_max ||
        worker_now(worker) >= worker->shared->window_start) {
        client_take_turn(client);
        return true;
    }
    client->state = CLIENT_WAITING;
    client->next_waiting = NULL;
    if (worker->waiting_last)
        worker->waiting_last->next_waiting = client;
    else
        worker->waiting_first = client;
    worker->waiting_last = client;
    return false;
}

static void client_take_turn(struct client *client)
{
    client->worker->connecting++;
    client->has_turn = true;
}

/* Passes the turn to the next client in the queue. */
static void client_end_turn(struct client *client)
{
    struct worker *worker = client->worker;
    if (!client->has_turn)
        return;
    client->has_turn = false;
    worker->connecting--;
    struct client *next = worker->waiting_first;
    if (!next)
        return;
    worker->waiting_first = next->next_waiting;
    if (!worker->waiting_first)
        worker->waiting_last = NULL;
    client_take_turn(next);
    client_go(next);
}

void client_release_waiting(struct worker *worker)
{
    struct client *client = worker->waiting_first;
    worker->waiting_first = worker->waiting_last = NULL;
    for (struct client *next; client; client = next) {
        next = client->next_waiting;
        client_take_turn(client);
        client_go(client);
    }
}

/* True when the client's fiber may play the current step now. False: the fiber must end, because
 * the client waits for its timer or its turn, or is done. */
static bool client_may_continue(struct client *client)
{
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    if (!worker_may_send(worker, now)) {
        client->state = CLIENT_LEFT;
        return false;
    }
    if (client->step.due > now) {
        client_set_timer(client);
        return false;
    }
    return client->connected || !client->step.operation || client_may_connect(client);
}

/* No memory for a stack: the operation fails, and the client continues with the next one. */
static void fail_without_stack(struct client *client)
{
    struct worker *worker = client->worker;
    int64_t now = worker_now(worker);
    struct outcome outcome = outcome_failed("no memory for a fiber");
    client->conversation.wire.first_sent = client->conversation.wire.last_received = 0;
    client->conversation.wire.data = (struct wire_data){0};
    if (client->step.operation) {
        tally_planned(worker->tally, client->step.type, client->step.due);
        tally_started(worker->tally);
        client_tally(client, client->step.due, now, &outcome);
    }
    client_end_turn(client);
    if (next_played_step(client))
        client_set_timer(client);
    else
        client_done(client);
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
        count_rest_not_sent(client);
    conversation_reset(&client->conversation);
}

/* Counts the rest of the plan, including the current step, as not sent. */
static void count_rest_not_sent(struct client *client)
{
    struct worker *worker = client->worker;
    do {
        /* In closed loop, nothing is due before it can be sent. */
        if (client->step.due >= worker->window_end || client->step.after_reply)
            break;
        if (client->step.kind != PLAN_PACKET || !client->step.operation)
            continue;
        tally_planned(worker->tally, client->step.type, client->step.due);
        tally_not_sent(worker->tally, client->step.type, client->step.due);
    } while (next_played_step(client));
    client->state = CLIENT_DONE;
}
