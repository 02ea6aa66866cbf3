/* SPDX-License-Identifier: Apache-2.0 */
/* The scale of plans: figures against an independent simulation, and the load of plans against the
 * nominal load, on average and in each of the first seconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/gaps_private.h"
#include "model/model_private.h"
#include "model/plan_count.h"
#include "tests/lib/plans.h"

static void figures_follow_from_the_model(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 1, 60);
    struct plan *plan = plan_of(model, &settings);
    const struct plan_figures *figures = plan_figures(plan);
    assert_int_equal(figures->clients, 49);
    assert_true(fabs(figures->conversation_packets - 24.447) < 0.0005);
    assert_true(fabs(figures->conversation_seconds - 26.075) < 0.0005);
    assert_true(fabs(figures->client_rate - 0.9375) < 0.00005);
    assert_true(fabs(figures->share - 0.849) < 0.0005);
    expect_near(figures->stretch, 49 * figures->client_rate / model->packet_rate, 1e-15);
    plan_free(plan);
    settings.is_operation = first_protocols;
    plan = plan_of(model, &settings);
    assert_true(fabs(plan_figures(plan)->share - 0.587) < 0.0005);
    plan_free(plan);
    model_free(model);
}

enum { SIM_STATES = 512, SIM_EDGES = 64 };

struct simulation {
    unsigned count;
    char names[SIM_STATES][64];
    unsigned edges[SIM_STATES];
    double counts[SIM_STATES][SIM_EDGES], totals[SIM_STATES], entered[SIM_STATES];
    int next[SIM_STATES][SIM_EDGES]; /* -1: an end */
    int wait[SIM_STATES][SIM_EDGES]; /* -1: a packet */
};

static unsigned sim_state(struct simulation *sim, const char *name)
{
    for (unsigned i = 0; i < sim->count; i++)
        if (strcmp(sim->names[i], name) == 0)
            return i;
    assert_true(sim->count < SIM_STATES);
    snprintf(sim->names[sim->count], sizeof sim->names[0], "%s", name);
    return sim->count++;
}

static void sim_edge(struct simulation *sim, unsigned from, int next, int wait, double count)
{
    unsigned e = sim->edges[from]++;
    assert_true(e < SIM_EDGES);
    sim->counts[from][e] = count;
    sim->next[from][e] = next;
    sim->wait[from][e] = wait;
    sim->totals[from] += count;
    if (next >= 0)
        sim->entered[next] += count;
}

static struct simulation *sim_load(void)
{
    json_error_t error;
    const char *history, *entry;
    json_t *root = json_load_file(OFFICE_V2, 0, &error), *entries, *number;
    struct simulation *sim = calloc(1, sizeof *sim);
    assert_true(root && sim);
    unsigned start = sim_state(sim, "-\t-");
    json_object_foreach(json_object_get(root, "ngrams"), history, entries)
    {
        unsigned from = sim_state(sim, history);
        json_object_foreach(entries, entry, number)
        {
            char name[128];
            int wait = -1;
            sscanf(entry, "wait:%d", &wait);
            snprintf(name, sizeof name, "%s\t%s", strchr(history, '\t') + 1, entry);
            bool end = strcmp(entry, "-") == 0;
            sim_edge(sim, from, end ? -1 : (int)sim_state(sim, name), wait,
                     (double)json_integer_value(number));
        }
    }
    json_decref(root);
    for (unsigned i = 0; i < sim->count; i++)
        if (i != start && sim->entered[i] > sim->totals[i])
            sim_edge(sim, i, -1, -1, sim->entered[i] - sim->totals[i]);
    return sim;
}

/* Packets per second over a number of seconds, from the start of a conversation. */
static double sim_rate(const struct simulation *sim, double seconds, unsigned short seed)
{
    unsigned short x[3] = {seed, 2, 3};
    double now = 0, packets = 0;
    for (unsigned at = 0; now < seconds;) {
        double pick = erand48(x) * sim->totals[at];
        unsigned e = 0;
        while (e + 1 < sim->edges[at] && pick >= sim->counts[at][e])
            pick -= sim->counts[at][e++];
        if (sim->next[at][e] < 0) {
            at = 0;
            continue;
        }
        if (sim->wait[at][e] >= 0)
            now += exp(sim->wait[at][e] + erand48(x)) / 10;
        else
            now += exp(-10 + 7 * erand48(x));
        packets += sim->wait[at][e] < 0;
        at = (unsigned)sim->next[at][e];
    }
    return packets / seconds;
}

static void the_rate_is_that_of_a_simulation(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 1, 60);
    struct plan *plan = plan_of(model, &settings);
    struct simulation *sim = sim_load();
    expect_near(sim_rate(sim, 1e7, 1), plan_figures(plan)->client_rate, 0.005);
    free(sim);
    plan_free(plan);
    model_free(model);
}

/* The plan over the same time: one client, pauses not stretched. */
static void the_rate_is_that_of_a_client(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 1, 1e7);
    struct plan *plan = plan_of(model, &settings);
    double rho = plan_figures(plan)->client_rate;
    plan_free(plan);
    settings.packets_per_second = rho;
    plan = plan_of(model, &settings);
    assert_int_equal(plan_figures(plan)->clients, 1);
    expect_near(plan_figures(plan)->stretch, 1, 1e-15);
    expect_near((double)count_between(plan, 5, 1e7 + 5) / 1e7, rho, 0.005);
    plan_free(plan);
    model_free(model);
}

/* Three packets and a wait with points, one packet with different points after a certain packet,
 * and one packet by the formula. */
static const char by_points[] = "version: 3\n"
                                "packet_rate: 20\n"
                                "history: 1\n"
                                "chain:\n"
                                "  \"-\": {\"ldap:3\": 3, \"ldap:0\": 1}\n"
                                "  \"ldap:3\": {\"ldap:3\": 2, \"wait:2\": 2, \"-\": 1}\n"
                                "  \"wait:2\": {\"ldap:3\": 1, \"ldap:0\": 1}\n"
                                "  \"ldap:0\": {\"ldap:3\": 1, \"dns:0\": 1, \"-\": 1}\n"
                                "  \"dns:0\": {\"ldap:0\": 1, \"wait:0\": 1}\n"
                                "  \"wait:0\": {\"ldap:3\": 1}\n"
                                "gaps:\n"
                                "  \"wait:2\": [0.5, 1, 9]\n"
                                "  \"ldap:3\": [0, 0.001, 0.001, 0.2]\n"
                                "  \"ldap:0 ldap:3\": [0.3, 0.5]\n"
                                "  \"ldap:0\": [0, 0]\n";

/* Sums pauses and packets of this many conversations by hand. State 0 is the start, 1 ldap:3, 2
 * wait:2, 3 ldap:0, 4 dns:0, 5 wait:0. */
static double by_hand_rate(uint64_t conversations)
{
    unsigned short x[3] = {7, 8, 9};
    double seconds = 0, packets = 0;
    for (uint64_t n = 0; n < conversations; n++) {
        int at = 0;
        do {
            double u = erand48(x), v = erand48(x), w = erand48(x);
            int from = at;
            switch (from) {
            case 0:
                at = u < 0.75 ? 1 : 3;
                seconds += exp(-10 + 7 * v);
                break;
            case 1:
                at = u < 0.4 ? 1 : u < 0.8 ? 2 : 0;
                break;
            case 2:
                at = u < 0.5 ? 1 : 3;
                break;
            case 3:
                at = u < 1.0 / 3 ? 1 : u < 2.0 / 3 ? 4 : 0;
                break;
            case 4:
                at = u < 0.5 ? 3 : 5;
                break;
            default: /* wait:0 has no points, so the packet after it has a pause too */
                at = 1;
            }
            if (at == 1 && (from == 1 || from == 5))
                seconds += v < 1.0 / 3 ? 0.001 * w : v < 2.0 / 3 ? 0.001 : 0.001 + 0.199 * w;
            if (at == 1 && from == 3)
                seconds += 0.3 + 0.2 * w;
            if (at == 2)
                seconds += v < 0.5 ? 0.5 + 0.5 * w : 1 + 8 * w;
            if (at == 4)
                seconds += exp(-10 + 7 * v);
            if (at == 5)
                seconds += exp(v) / 10;
            packets += at == 1 || at == 3 || at == 4;
        } while (at != 0);
    }
    return packets / seconds;
}

static void the_rate_follows_the_points(void **state)
{
    (void)state;
    struct model *model = model_of(by_points, NULL);
    struct plan_settings settings = plan_settings_of(1, 1, 60);
    struct plan *plan = plan_of(model, &settings);
    double rho = plan_figures(plan)->client_rate;
    expect_near(by_hand_rate(1000000), rho, 0.005);
    plan_free(plan);
    settings.packets_per_second = rho;
    settings.duration = 1e6;
    plan = plan_of(model, &settings);
    assert_int_equal(plan_figures(plan)->clients, 1);
    expect_near((double)count_between(plan, 5, 1e6 + 5) / 1e6, rho, 0.005);
    plan_free(plan);
    model_free(model);
}

/* Pauses are between the points, fall into each cell equally often, and have the mean of the
 * points. Pauses that are running are longer, by the ratio of the second moment to the mean. */
static void pauses_follow_the_points(void **state)
{
    static const double points[] = {0, 1, 1, 4};
    struct gaps gaps = {.count = 4, .points = points};
    struct arena arena = {0};
    struct random_stream random;
    double sum = 0, running = 0;
    unsigned cells[3] = {0};
    enum { DRAWS = 1000000 };
    (void)state;
    assert_int_equal(gaps_complete(&gaps, &arena), 0);
    expect_near(gaps.mean, (0.5 + 1 + 2.5) / 3, 1e-15);
    random_seed(&random, 1, RANDOM_PLAN, 1);
    for (int i = 0; i < DRAWS; i++) {
        double value = gaps_draw(&gaps, &random);
        assert_true(value >= 0 && value <= 4);
        cells[value < 1 ? 0 : value > 1 ? 2 : 1]++;
        sum += value;
        running += gaps_draw_running(&gaps, &random);
    }
    for (int i = 0; i < 3; i++)
        expect_near(cells[i], DRAWS / 3.0, 0.01);
    expect_near(sum / DRAWS, gaps.mean, 0.005);
    /* E[x^2] = (1/3 + 1 + (64 - 1) / 9) / 3 */
    expect_near(running / DRAWS, (1.0 / 3 + 1 + 7) / 3 / gaps.mean, 0.005);
    arena_free(&arena);
}

static void expect_nominal(const struct model *model, const struct plan_settings *settings,
                           double packets)
{
    struct plan *plan = plan_of(model, settings);
    const struct plan_figures *figures = plan_figures(plan);
    expect_near(figures->nominal_packets, packets, 1e-14);
    expect_near(figures->nominal_operations, packets * figures->share, 1e-14);
    /* and these clients send it, with pauses stretched by q */
    expect_near(figures->clients * figures->client_rate * settings->replay_rate / figures->stretch,
                packets, 1e-14);
    plan_free(plan);
}

static void the_load_is_the_nominal_load(void **state)
{
    (void)state;
    static const double scales[] = {0.1, 0.5, 1, 3.7, 4000}, rates[] = {0.25, 1, 7, 1000};
    struct model *model = model_of_file(OFFICE_V2);
    for (size_t s = 0; s < 5; s++) {
        for (size_t r = 0; r < 4; r++) {
            struct plan_settings settings = plan_settings_of(rates[r], scales[s], 60);
            expect_nominal(model, &settings, rates[r] * scales[s] * model->packet_rate);
            settings.packets_per_second = 100 * scales[s];
            expect_nominal(model, &settings, 100 * scales[s]);
        }
    }
    model_free(model);
}

/* Within 2% if the plan is long enough, else within four standard deviations. */
static void expect_realised(const struct model *model, const struct plan_settings *settings)
{
    struct plan *plan = plan_of(model, settings);
    const struct plan_figures *figures = plan_figures(plan);
    double size = figures->clients * settings->duration * settings->replay_rate;
    double end = settings->warmup + settings->duration;
    double rate = (double)count_between(plan, settings->warmup, end) / settings->duration;
    expect_near(rate, figures->nominal_packets, size >= 1e6 ? 0.02 : 4 * 6 / sqrt(size));
    plan_free(plan);
}

static void the_plan_realises_its_load(void **state)
{
    (void)state;
    static const struct {
        double r, s, t, duration, persistence;
    } table[] = {
        {1, 1, 0, 60, 0},      {4, 5, 0, 60, 0},      {0.5, 0.1, 0, 600, 0}, {1, 3.7, 0, 6000, 0},
        {24, 11, 0, 100, 0},   {10, 100, 0, 21, 0},   {1000, 0.5, 0, 60, 0}, {1, 4000, 0, 6, 0},
        {3, 0, 500, 1000, 0},  {100, 0, 20, 3000, 0}, {2, 20, 0, 1000, 0.5}, {2, 20, 0, 600, 1},
        {0.01, 50, 0, 600, 0},
    };
    struct model *model = model_of_file(OFFICE_V2);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct plan_settings settings = plan_settings_of(table[i].r, table[i].s, table[i].duration);
        settings.packets_per_second = table[i].t;
        settings.persistence = table[i].persistence;
        for (settings.seed = 1; settings.seed <= 3; settings.seed++)
            expect_realised(model, &settings);
    }
    model_free(model);
    model = model_of(by_points, NULL);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct plan_settings settings = plan_settings_of(table[i].r, table[i].s, table[i].duration);
        settings.packets_per_second = table[i].t;
        settings.persistence = table[i].persistence;
        expect_realised(model, &settings);
    }
    model_free(model);
}

/* Pauses between conversations are part of D: the load is the same, with more clients. */
static void pauses_between_conversations_need_more_clients(void **state)
{
    (void)state;
    double mean = 0;
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 1, 60);
    struct plan *without = plan_of(model, &settings);
    settings.persistence = 0.25;
    struct plan *with = plan_of(model, &settings);
    for (int n = 5; n <= 11; n++)
        mean += exp(n) * (M_E - 1) / 10 / 7;
    expect_near(plan_figures(with)->conversation_seconds,
                plan_figures(without)->conversation_seconds + 0.25 * mean, 1e-12);
    assert_true(plan_figures(with)->clients > plan_figures(without)->clients);
    expect_near(plan_figures(with)->nominal_packets, plan_figures(without)->nominal_packets, 0);
    plan_free(without);
    plan_free(with);
    model_free(model);
}

/* The load of each of the first seconds, and of a late second, averaged over 200 seeds. */
static void expect_level_start(const struct model *model, double r, double s, double persistence)
{
    static const double seconds[] = {0, 1, 2, 10};
    uint64_t counts[4] = {0};
    double nominal = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct plan_settings settings = plan_settings_of(r, s, 20);
        settings.seed = seed;
        settings.persistence = persistence;
        struct plan *plan = plan_of(model, &settings);
        nominal = plan_figures(plan)->nominal_packets;
        for (size_t i = 0; i < 4; i++)
            counts[i] += count_between(plan, seconds[i], seconds[i] + 1);
        plan_free(plan);
    }
    for (size_t i = 0; i < 4; i++)
        expect_near((double)counts[i] / 200, nominal, 0.2);
}

static void the_load_is_level_from_the_start(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    expect_level_start(model, 1, 1, 0);
    expect_level_start(model, 4, 5, 0);
    expect_level_start(model, 1, 1, 0.5);
    model_free(model);
    model = model_of(by_points, NULL);
    expect_level_start(model, 1, 5, 0);
    expect_level_start(model, 3, 1, 0.5);
    model_free(model);
}

/* With many clients the load at the start is exact, not only within 20%: tenths of the first two
 * seconds differ by no more than bursts explain. */
static void many_clients_start_in_equilibrium(void **state)
{
    (void)state;
    enum { SLICES = 20 };
    uint64_t counts[SLICES] = {0};
    struct model *model = model_of_file(OFFICE_V2);
    struct plan_settings settings = plan_settings_of(1, 4000, 10);
    struct plan *plan = plan_of(model, &settings);
    for (uint32_t client = 0; client < plan_figures(plan)->clients; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(plan, client, &cursor);
        while (plan_client_next(plan, &cursor, &step) && step.due < INT64_C(2000000000))
            counts[step.due / 100000000] += step.kind == PLAN_PACKET;
    }
    for (int slice = 0; slice < SLICES; slice++)
        expect_near((double)counts[slice] * 10, plan_figures(plan)->nominal_packets, 0.04);
    plan_free(plan);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_follow_from_the_model),
        cmocka_unit_test(the_rate_is_that_of_a_simulation),
        cmocka_unit_test(the_rate_follows_the_points),
        cmocka_unit_test(pauses_follow_the_points),
        cmocka_unit_test(the_rate_is_that_of_a_client),
        cmocka_unit_test(the_load_is_the_nominal_load),
        cmocka_unit_test(the_plan_realises_its_load),
        cmocka_unit_test(pauses_between_conversations_need_more_clients),
        cmocka_unit_test(the_load_is_level_from_the_start),
        cmocka_unit_test(many_clients_start_in_equilibrium),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
