/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans. Each client walks the model's chain with its own stream of random numbers. The plan holds
 * only what all clients share: the factor that stretches pauses, and the distribution of the states
 * in which clients start.
 */
#include "model/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alias.h"
#include "base/error.h"
#include "model/chain.h"
#include "model/gaps_private.h"
#include "model/loadfile/script_plan.h"
#include "model/model_private.h"
#include "model/recording_plan_private.h"

/* Formulas of pauses. The gap before a packet is exp(v) seconds, v uniform in GAP_LOW..GAP_HIGH.
 * wait:N is exp(N + u)/10 seconds, u uniform in 0..1. The rest between conversations is a wait
 * whose N is drawn from REST_LOW..REST_HIGH. */
enum { GAP_LOW = -10, GAP_HIGH = -3, REST_LOW = 5, REST_HIGH = 11, WAITS_PER_SECOND = 10 };

struct plan {
    const struct model *model;
    struct plan_settings settings;
    struct plan_figures figures;
    bool *operations;               /* by type */
    double stretch;                 /* q/r: real seconds per second of the model */
    double end;                     /* seconds; nothing is due from then on */
    struct alias_slot *equilibrium; /* the choice of the transition that is pending at time 0 */
    uint32_t *histories;            /* by transition: the history it leaves */
    double rest_weight;             /* mean of the pause between conversations */
    struct alias_slot rest[REST_HIGH - REST_LOW + 1]; /* the choice of the rest at time 0 */
    struct recording_plan recording;                  /* of a model that is a recording */
    struct script_plan script;                        /* of a loadfile */
};

static int check_settings(const struct plan_settings *settings, struct error *error);
static bool is_above_zero(double number);
static int scale_plan(struct plan *plan, struct error *error);
static int plan_complete(struct plan *plan, struct error *error);
static int find_operations(struct plan *plan);
static bool is_operation(const struct plan *plan, const struct chain_transition *transition);
static int complete_recording(struct plan *plan, struct error *error);
static int plan_script_complete(struct plan *plan, struct error *error);
static int check_script(const struct plan *plan, struct error *error);
static enum script_pace script_pace_of(const struct plan *plan);
static int check_pace(const struct plan *plan, struct error *error);
static void fill_script_figures(struct plan *plan);
static bool plan_script_next(const struct plan *plan, struct plan_client *cursor,
                             struct plan_step *step);
static int check_operations(const struct plan *plan, struct error *error);
static double mean_rest(double persistence);
static double mean_wait(int n);
static void sum_conversation(struct plan *plan);
static double mean_pause(const struct plan *plan, const struct chain_transition *transition);
static const struct gaps *gaps_of(const struct plan *plan,
                                  const struct chain_transition *transition);
static double mean_gap(void);
static int weigh_transitions(struct plan *plan);
static int alias_of_weights(struct alias_slot *slots, const double *weights, size_t count);
static int weigh_rests(struct plan *plan);
static double draw_rest_of_pause(const struct plan *plan, struct random_stream *random,
                                 const struct chain_transition *transition);
static uint32_t draw_transition(const struct plan *plan, struct plan_client *cursor);
static double draw_pause(const struct plan *plan, struct random_stream *random,
                         const struct chain_transition *transition);
static double draw_gap(struct random_stream *random);
static double draw_wait(struct random_stream *random, int n);
static double draw_rest(const struct plan *plan, struct random_stream *random);
static void plan_fill_packet(const struct plan *plan, struct plan_client *cursor,
                             const struct chain_transition *transition, struct plan_step *step);
static uint32_t draw_details(const struct model *model, struct plan_client *cursor,
                             packet_index type);
static int64_t plan_nanoseconds(double seconds);
static void plan_fill_end(const struct plan *plan, struct plan_client *cursor,
                          struct plan_step *step);

int plan_make(const struct model *model, const struct plan_settings *settings, struct plan **out,
              struct error *error)
{
    int result = check_settings(settings, error);
    if (result < 0)
        return result;
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_no_memory(error);
    plan->model = model;
    plan->settings = *settings;
    result = plan_complete(plan, error);
    if (result < 0)
        plan_free(plan);
    else
        *out = plan;
    return result == -ENOMEM ? error_no_memory(error) : result;
}

static int check_settings(const struct plan_settings *settings, struct error *error)
{
    if (!is_above_zero(settings->replay_rate))
        return error_set(error, -EINVAL, "-r: expected a number above 0");
    if (settings->packets_per_second > 0 && !isfinite(settings->packets_per_second))
        return error_set(error, -EINVAL, "-T: expected a number");
    if (!(settings->packets_per_second > 0) && !is_above_zero(settings->scale))
        return error_set(error, -EINVAL, "-S: expected a number above 0");
    if (!(settings->persistence >= 0 && settings->persistence <= 1))
        return error_set(error, -EINVAL,
                         "--conversation-persistence: expected a number from 0 to 1");
    if (!(settings->warmup >= 0 && settings->duration > 0 &&
          settings->warmup + settings->duration <= 1e9))
        return error_set(error, -EINVAL, "-D, --warmup: expected seconds, at most a billion");
    return 0;
}

static bool is_above_zero(double number)
{
    return number > 0 && isfinite(number);
}

static int scale_plan(struct plan *plan, struct error *error)
{
    const struct plan_settings *settings = &plan->settings;
    struct plan_figures *figures = &plan->figures;
    bool by_rate = settings->packets_per_second > 0;
    double rate = by_rate ? settings->packets_per_second / settings->replay_rate
                          : settings->scale * plan->model->packet_rate;
    double clients = fmax(1, round(rate / figures->client_rate));
    if (!(clients <= PLAN_CLIENTS_MAX))
        return error_set(
            error, -ERANGE,
            "this takes %.12g clients, more than %d: lower %s (%s asks for %g packets/s)", clients,
            PLAN_CLIENTS_MAX, by_rate ? "-T" : "-S", plan->model->name,
            rate * settings->replay_rate);
    figures->clients = (uint32_t)clients;
    figures->stretch = clients * figures->client_rate / rate;
    figures->nominal_packets = settings->replay_rate * rate;
    figures->nominal_operations = figures->nominal_packets * figures->share;
    plan->stretch = figures->stretch / settings->replay_rate;
    return 0;
}

static int plan_complete(struct plan *plan, struct error *error)
{
    int result = find_operations(plan);
    if (result < 0)
        return result;
    if (plan->model->recording)
        return complete_recording(plan, error);
    if (plan->model->script)
        return plan_script_complete(plan, error);
    plan->rest_weight = mean_rest(plan->settings.persistence);
    plan->end = plan->settings.warmup + plan->settings.duration;
    sum_conversation(plan);
    result = check_operations(plan, error);
    if (result == 0)
        result = scale_plan(plan, error);
    if (result == 0)
        result = weigh_transitions(plan);
    if (result == 0)
        result = weigh_rests(plan);
    return result;
}

static int find_operations(struct plan *plan)
{
    const struct model *model = plan->model;
    plan->operations = calloc(model->type_count, sizeof *plan->operations);
    if (!plan->operations)
        return -ENOMEM;
    for (uint32_t t = 0; t < model->type_count; t++)
        plan->operations[t] = plan->settings.is_operation(&model->types[t], plan->settings.context);
    return 0;
}

static bool is_operation(const struct plan *plan, const struct chain_transition *transition)
{
    return chain_is_packet(transition->entry) && plan->operations[transition->entry] &&
           !transition->further_leg;
}

static int complete_recording(struct plan *plan, struct error *error)
{
    int result = recording_plan_make(plan->model, &plan->settings, plan->operations,
                                     &plan->recording, &plan->figures, error);
    return result < 0 ? result : check_operations(plan, error);
}

static int plan_script_complete(struct plan *plan, struct error *error)
{
    const struct model *model = plan->model;
    int result = check_script(plan, error);
    if (result < 0)
        return result;
    plan->script = (struct script_plan){.script = model->script,
                                        .pace = script_pace_of(plan),
                                        .replay_rate = plan->settings.replay_rate,
                                        .bytes_per_second = plan->settings.bytes_per_second,
                                        .passes = plan->settings.passes,
                                        .end = plan->settings.warmup + plan->settings.duration};
    for (int op = 0; op < SCRIPT_PACKETS; op++)
        plan->script.plays[op] =
            model->script->operations[op] > 0 &&
            (op == SCRIPT_RANDOMSTRING || plan->operations[model->script_types[op]]);
    result = check_pace(plan, error);
    if (result < 0)
        return result;
    fill_script_figures(plan);
    result = check_operations(plan, error);
    return result < 0 ? result : script_plan_init(&plan->script);
}

static int check_script(const struct plan *plan, struct error *error)
{
    const struct plan_settings *settings = &plan->settings;
    const char *name = plan->model->name;
    if (settings->packets_per_second > 0)
        return error_set(error, -EINVAL,
                         "-T: %s is a loadfile, which each client plays at its own pace; give -S "
                         "CLIENTS",
                         name);
    if (settings->persistence > 0)
        return error_set(error, -EINVAL,
                         "--conversation-persistence: %s is a loadfile; omit the option", name);
    if (settings->scale != floor(settings->scale))
        return error_set(error, -EINVAL, "-S: %s is a loadfile, which takes whole clients", name);
    if (settings->scale > PLAN_CLIENTS_MAX)
        return error_set(error, -ERANGE, "-S: expected at most %d clients", PLAN_CLIENTS_MAX);
    return 0;
}

static enum script_pace script_pace_of(const struct plan *plan)
{
    if (plan->settings.bytes_per_second > 0)
        return SCRIPT_PACE_BYTES;
    return plan->model->script->times && !plan->settings.after_reply ? SCRIPT_PACE_TIMES
                                                                     : SCRIPT_PACE_REPLY;
}

/* A pass in open loop must take time, or no client would ever reach the end of the window. */
static int check_pace(const struct plan *plan, struct error *error)
{
    const struct script_plan *script = &plan->script;
    const char *name = plan->model->name;
    if (script->pace == SCRIPT_PACE_REPLY && plan->settings.replay_rate != 1)
        return error_set(error, -EINVAL,
                         "-r: %s is played in closed loop, where each reply sets the pace; omit "
                         "the option",
                         name);
    if (script->pace == SCRIPT_PACE_REPLY)
        return 0;
    if (script->pace == SCRIPT_PACE_BYTES && plan->model->script->computed_sizes)
        return error_set(error, -EINVAL,
                         "--pace: %s computes sizes as it is played; give --pace reply", name);
    if (!(script_plan_pass_seconds(script) > 0) && script->passes == 0)
        return error_set(error, -EINVAL,
                         "--pace: %s takes no time at this pace; give --pace reply or --passes N",
                         name);
    return 0;
}

static void fill_script_figures(struct plan *plan)
{
    const struct script *script = plan->model->script;
    struct plan_figures *figures = &plan->figures;
    double seconds = script_plan_pass_seconds(&plan->script);
    *figures = (struct plan_figures){.clients = (uint32_t)plan->settings.scale, .stretch = 1};
    for (int op = 0; op < SCRIPT_PACKETS; op++) {
        figures->conversation_packets += op == SCRIPT_RANDOMSTRING ? 0 : script->operations[op];
        if (op != SCRIPT_RANDOMSTRING && plan->script.plays[op])
            figures->conversation_operations += script->operations[op];
    }
    figures->conversation_seconds = seconds;
    figures->share = figures->conversation_operations / figures->conversation_packets;
    if (!(seconds > 0))
        return;
    figures->client_rate = figures->conversation_packets / seconds;
    figures->nominal_packets = figures->clients * figures->client_rate;
    figures->nominal_operations = figures->nominal_packets * figures->share;
}

static bool plan_script_next(const struct plan *plan, struct plan_client *cursor,
                             struct plan_step *step)
{
    struct script_due due;
    if (!script_plan_next(&plan->script, &cursor->script, &due))
        return false;
    uint8_t op = plan->model->script->steps[due.step].op;
    *step = (struct plan_step){.kind = PLAN_PACKET,
                               .first = cursor->fresh,
                               .operation = op != SCRIPT_RANDOMSTRING,
                               .type = plan->model->script_types[op],
                               .details = due.step,
                               .due = due.due,
                               .after_reply = due.after_reply};
    cursor->fresh = false;
    return true;
}

bool plan_is_closed(const struct plan *plan)
{
    return plan->model->script && plan->script.pace == SCRIPT_PACE_REPLY;
}

void plan_pace(const struct plan *plan, char text[PLAN_PACE_SIZE])
{
    *text = '\0';
    if (!plan->model->script)
        return;
    if (plan->script.pace == SCRIPT_PACE_BYTES)
        snprintf(text, PLAN_PACE_SIZE, "%g MB/s", plan->script.bytes_per_second / 1e6);
    else
        snprintf(text, PLAN_PACE_SIZE, "%s",
                 plan->script.pace == SCRIPT_PACE_REPLY ? "reply" : "times");
}

static int check_operations(const struct plan *plan, struct error *error)
{
    if (plan->figures.conversation_operations > 0)
        return 0;
    char names[128] = "";
    for (uint32_t t = 0, used = 0; t < plan->model->type_count && used < sizeof names - 1; t++)
        used += (uint32_t)snprintf(names + used, sizeof names - used, "%s%s:%s", t ? ", " : "",
                                   plan->model->types[t].protocol, plan->model->types[t].opcode);
    return error_set(error, -EINVAL,
                     "nothing to send: no packet of %s (%s%s) has a player and passes --only and "
                     "--skip",
                     plan->model->name, names, strlen(names) == sizeof names - 1 ? "..." : "");
}

static double mean_rest(double persistence)
{
    double sum = 0;
    for (int n = REST_LOW; n <= REST_HIGH; n++)
        sum += mean_wait(n);
    return persistence * sum / (REST_HIGH - REST_LOW + 1);
}

static double mean_wait(int n)
{
    return exp(n) * (M_E - 1) / WAITS_PER_SECOND;
}

/* K, O and D: sums over all transitions, weighted by their expected number per conversation. */
static void sum_conversation(struct plan *plan)
{
    const struct model *model = plan->model;
    struct plan_figures *figures = &plan->figures;
    for (uint32_t h = 0; h < model->history_count; h++) {
        const struct chain_history *history = &model->histories[h];
        for (uint32_t t = history->first; t < history->first + history->count; t++) {
            const struct chain_transition *transition = &model->transitions[t];
            double times = history->visits * (double)transition->count / (double)history->total;
            figures->conversation_seconds += times * mean_pause(plan, transition);
            if (chain_is_packet(transition->entry))
                figures->conversation_packets += times;
            if (is_operation(plan, transition))
                figures->conversation_operations += times;
        }
    }
    figures->client_rate = figures->conversation_packets / figures->conversation_seconds;
    figures->share = figures->conversation_operations / figures->conversation_packets;
}

/* The mean pause before an entry, in seconds of the model. */
static double mean_pause(const struct plan *plan, const struct chain_transition *transition)
{
    uint32_t entry = transition->entry;
    if (transition->gaps == CHAIN_GAPS_NONE)
        return 0;
    if (transition->gaps != CHAIN_GAPS_FORMULA)
        return gaps_of(plan, transition)->mean;
    if (chain_is_packet(entry))
        return mean_gap();
    return chain_is_wait(entry) ? mean_wait((int)(entry - CHAIN_WAIT)) : plan->rest_weight;
}

static const struct gaps *gaps_of(const struct plan *plan,
                                  const struct chain_transition *transition)
{
    return &plan->model->gaps[transition->gaps];
}

static double mean_gap(void)
{
    return (exp(GAP_HIGH) - exp(GAP_LOW)) / (GAP_HIGH - GAP_LOW);
}

/* A transition is pending at time 0 with a probability proportional to the time spent waiting for
 * it. */
static int weigh_transitions(struct plan *plan)
{
    const struct model *model = plan->model;
    double *weights = calloc(model->transition_count, sizeof *weights);
    plan->equilibrium = calloc(model->transition_count, sizeof *plan->equilibrium);
    plan->histories = calloc(model->transition_count, sizeof *plan->histories);
    int result = weights && plan->equilibrium && plan->histories ? 0 : -ENOMEM;
    for (uint32_t h = 0; h < model->history_count && result == 0; h++) {
        const struct chain_history *history = &model->histories[h];
        for (uint32_t t = history->first; t < history->first + history->count; t++) {
            const struct chain_transition *transition = &model->transitions[t];
            weights[t] = history->visits * (double)transition->count / (double)history->total *
                         mean_pause(plan, transition);
            plan->histories[t] = h;
        }
    }
    if (result == 0)
        result = alias_of_weights(plan->equilibrium, weights, model->transition_count);
    free(weights);
    return result;
}

/* Alias slots for real weights, which become whole numbers with a sum of 2^62. Choices less likely
 * than about 2^-61 never happen. */
static int alias_of_weights(struct alias_slot *slots, const double *weights, size_t count)
{
    double sum = 0;
    uint64_t *whole = calloc(count, sizeof *whole);
    if (!whole)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    for (size_t i = 0; i < count; i++)
        whole[i] = (uint64_t)llround(weights[i] / sum * 0x1p62);
    int result = alias_build(slots, whole, count);
    free(whole);
    return result;
}

static int weigh_rests(struct plan *plan)
{
    double weights[REST_HIGH - REST_LOW + 1];
    for (int n = REST_LOW; n <= REST_HIGH; n++)
        weights[n - REST_LOW] = mean_wait(n);
    return alias_of_weights(plan->rest, weights, REST_HIGH - REST_LOW + 1);
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->operations);
    free(plan->equilibrium);
    free(plan->histories);
    script_plan_clear(&plan->script);
    free(plan);
}

const struct plan_figures *plan_figures(const struct plan *plan)
{
    return &plan->figures;
}

const struct plan_settings *plan_settings(const struct plan *plan)
{
    return &plan->settings;
}

const struct model *plan_model(const struct plan *plan)
{
    return plan->model;
}

void plan_client_start(const struct plan *plan, uint32_t client, struct plan_client *cursor)
{
    const struct model *model = plan->model;
    if (model->recording) {
        recording_plan_client_start(&plan->recording, client, cursor);
        return;
    }
    if (model->script) {
        *cursor = (struct plan_client){.fresh = true};
        script_plan_start(&cursor->script);
        return;
    }
    *cursor = (struct plan_client){.history = CHAIN_START};
    random_seed(&cursor->random, plan->settings.seed, RANDOM_PLAN, client);
    uint32_t pending =
        alias_pick(plan->equilibrium, model->transition_count, random_next(&cursor->random));
    uint32_t entry = model->transitions[pending].entry;
    cursor->now =
        plan->stretch * draw_rest_of_pause(plan, &cursor->random, &model->transitions[pending]);
    /* The pause between conversations: the client starts one next. */
    if (entry == CHAIN_NONE)
        return;
    cursor->pending = pending;
    cursor->fresh = true;
    cursor->history = plan->histories[pending];
}

/* The rest of the pause that is running at time 0. A log-uniform pause that is running at a random
 * time has a uniform length, and a uniform share of it is left. */
static double draw_rest_of_pause(const struct plan *plan, struct random_stream *random,
                                 const struct chain_transition *transition)
{
    uint32_t entry = transition->entry;
    double low, high;
    if (transition->gaps != CHAIN_GAPS_FORMULA) {
        double pause = gaps_draw_running(gaps_of(plan, transition), random);
        return pause * random_unit(random);
    }
    if (chain_is_packet(entry)) {
        low = exp(GAP_LOW);
        high = exp(GAP_HIGH);
    } else {
        int n = (int)(entry - CHAIN_WAIT);
        if (!chain_is_wait(entry))
            n = REST_LOW +
                (int)alias_pick(plan->rest, REST_HIGH - REST_LOW + 1, random_next(random));
        low = exp(n) / WAITS_PER_SECOND;
        high = exp(n + 1) / WAITS_PER_SECOND;
    }
    double pause = low + (high - low) * random_unit(random);
    return pause * random_unit(random);
}

bool plan_client_next(const struct plan *plan, struct plan_client *cursor, struct plan_step *step)
{
    if (plan->model->recording)
        return recording_plan_client_next(&plan->recording, cursor, step);
    if (plan->model->script)
        return plan_script_next(plan, cursor, step);
    while (!cursor->ended) {
        const struct chain_transition *transition;
        if (!cursor->fresh) {
            cursor->pending = draw_transition(plan, cursor);
            transition = &plan->model->transitions[cursor->pending];
            if (transition->entry != CHAIN_NONE)
                cursor->now += plan->stretch * draw_pause(plan, &cursor->random, transition);
        }
        transition = &plan->model->transitions[cursor->pending];
        cursor->fresh = false;
        /* Written so that NaN ends the walk too. */
        cursor->ended = !(cursor->now < plan->end);
        if (cursor->ended)
            break;
        cursor->history = transition->next;
        if (chain_is_packet(transition->entry)) {
            plan_fill_packet(plan, cursor, transition, step);
            return true;
        }
        if (transition->entry == CHAIN_NONE) {
            plan_fill_end(plan, cursor, step);
            return true;
        }
    }
    return false;
}

static uint32_t draw_transition(const struct plan *plan, struct plan_client *cursor)
{
    const struct chain_history *history = &plan->model->histories[cursor->history];
    uint64_t fraction;
    uint32_t slot =
        history->first + alias_slot(random_next(&cursor->random), history->count, &fraction);
    const struct chain_transition *transition = &plan->model->transitions[slot];
    return fraction < transition->threshold ? slot : history->first + transition->alias;
}

/* Draws the pause before an entry, in seconds of the model. */
static double draw_pause(const struct plan *plan, struct random_stream *random,
                         const struct chain_transition *transition)
{
    uint32_t entry = transition->entry;
    if (transition->gaps == CHAIN_GAPS_NONE)
        return 0;
    if (transition->gaps != CHAIN_GAPS_FORMULA)
        return gaps_draw(gaps_of(plan, transition), random);
    if (chain_is_packet(entry))
        return draw_gap(random);
    if (chain_is_wait(entry))
        return draw_wait(random, (int)(entry - CHAIN_WAIT));
    return draw_rest(plan, random);
}

static double draw_gap(struct random_stream *random)
{
    return exp(GAP_LOW + (GAP_HIGH - GAP_LOW) * random_unit(random));
}

static double draw_wait(struct random_stream *random, int n)
{
    return exp(n + random_unit(random)) / WAITS_PER_SECOND;
}

/* Draws the pause between two conversations, in seconds of the model. */
static double draw_rest(const struct plan *plan, struct random_stream *random)
{
    if (plan->settings.persistence > 0 && random_unit(random) < plan->settings.persistence)
        return draw_wait(random, REST_LOW + (int)random_below(random, REST_HIGH - REST_LOW + 1));
    return 0;
}

static void plan_fill_packet(const struct plan *plan, struct plan_client *cursor,
                             const struct chain_transition *transition, struct plan_step *step)
{
    *step = (struct plan_step){.kind = PLAN_PACKET,
                               .first = !cursor->begun,
                               .operation = is_operation(plan, transition),
                               .type = transition->entry,
                               .details = draw_details(plan->model, cursor, transition->entry),
                               .conversation = cursor->conversation,
                               .due = plan_nanoseconds(cursor->now)};
    cursor->begun = true;
}

static uint32_t draw_details(const struct model *model, struct plan_client *cursor,
                             packet_index type)
{
    const struct alias_slot *slots = model->details[type];
    if (!slots)
        return 0;
    return alias_pick(slots, (uint32_t)model->types[type].details_count,
                      random_next(&cursor->random));
}

static int64_t plan_nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

/* An end takes no time; the pause before the next conversation follows it. */
static void plan_fill_end(const struct plan *plan, struct plan_client *cursor,
                          struct plan_step *step)
{
    *step = (struct plan_step){.kind = PLAN_END,
                               .conversation = cursor->conversation,
                               .due = plan_nanoseconds(cursor->now)};
    cursor->conversation++;
    cursor->begun = false;
    cursor->now += plan->stretch * draw_rest(plan, &cursor->random);
}
