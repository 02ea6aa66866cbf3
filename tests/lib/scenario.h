/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a small model against a TCP server of the test program: the server, the packets of
 * protocol "test", and a scenario, which is one run with its settings and its result.
 */
#ifndef TESTS_LIB_SCENARIO_H
#define TESTS_LIB_SCENARIO_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "model/model.h"
#include "model/plan.h"
#include "protocols/dc.h"
#include "replay/run.h"
#include "replay/tally.h"
#include "tests/lib/servers/echo_server.h"

struct scenario {
    struct echo_server *server;
    struct settings settings;
    const char *model_text;
    double warmup, duration, rate, scale;
    uint64_t seed;

    struct model *model;
    struct plan *plan;
    struct dc *dc;
    struct tally_type *types;
    struct tally *tallies[16];
    unsigned threads;
    uint32_t clients;
    struct run_result result;
    struct error error;
    int status;
    int64_t took;
    void (*tick)(void *context, int64_t now);
    unsigned ticks, most_open_in_warm_up;
};

/* 20 clients at scale 1, each about 6 packets/s at rate 1, ten per conversation. */
extern const char scenario_model[];

/* Successful operations, by client; hints that were played. */
extern atomic_uint scenario_played[10000], scenario_hints;

/* cmocka set-up and tear-down of the test program: the server and the packets. */
int scenario_set_up(void **state);

int scenario_tear_down(void **state);

/* A scenario of 20 clients and one second. */
struct scenario scenario_usual(void);

/* Reads the model and makes the plan. */
void scenario_load(struct scenario *s);

/* scenario_load(), and everything else that a run needs. */
void scenario_prepare(struct scenario *s);

/* Runs it; its exit status is in status, without an assertion. */
void scenario_play(struct scenario *s);

/* Prepares and plays a run that must succeed. */
void scenario_play_well(struct scenario *s);

void scenario_clear(struct scenario *s);

/* The counts of a packet type. */
const struct tally_packet *scenario_counts(const struct scenario *s, const char *opcode);

/* Nearly everything was sent, except for operations that became due just as the window closed. */
void scenario_assert_sent(const struct tally_packet *packet);

/* How often an operation failed for this cause. */
uint64_t scenario_cause(const struct tally_packet *packet, const char *text);

/* The operations of the plan that are due in [from, to), counted one by one. */
uint64_t scenario_planned_between(const struct scenario *s, int64_t from, int64_t to);

/* ... in the window. */
uint64_t scenario_planned_in_window(const struct scenario *s);

/* The sum of scenario_played. */
uint64_t scenario_all_played(void);

/* Values for tick. */
void scenario_count_tick(void *context, int64_t now);

void scenario_remember_most_open(void *context, int64_t now);

#endif
