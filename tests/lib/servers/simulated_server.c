/* SPDX-License-Identifier: Apache-2.0 */
/* A server that exists only as a formula. */
#include "tests/lib/servers/simulated_server.h"

#include <math.h>

#include "base/random.h"

static const double drift_runs = 80;

/* Serves everything up to 900/s. */
double simulated_saturates(double r, double S, double strength)
{
    return fmin(10 * r * S, 900 * strength);
}

/* Past the knee, work is done in vain. */
double simulated_collapses(double r, double S, double strength)
{
    double asked = 10 * r * S, capacity = 900 * strength * pow(r / S / 2, 0.1);
    return asked < capacity ? asked : capacity * exp(-1.5 * (asked / capacity - 1));
}

/* Past the knee, the rate drops at once. */
double simulated_falls_off(double r, double S, double strength)
{
    double asked = 10 * r * S, capacity = 800 * strength * pow(r / S / 2, -0.15);
    return asked < capacity ? asked : 0.5 * capacity;
}

/* One peak. */
double simulated_ridge(double r, double S, double strength)
{
    return 900 * strength * exp(-pow(log(r * S / (80 * strength)), 2)) *
           exp(-pow(log(r / S / 1.8), 2) / 4);
}

/* Each client costs something. */
double simulated_dislikes_clients(double r, double S, double strength)
{
    double capacity = 1300 * strength / (1 + pow(S / 9, 4));
    return fmin(10 * r * S, capacity);
}

double simulated_soft_knee(double r, double S, double strength)
{
    double asked = r * S / (110 * strength);
    return 1100 * strength * asked / pow(1 + pow(asked, 6), 0.25);
}

/* The last cell is the best. */
double simulated_rises(double r, double S, double strength)
{
    return strength * 10 * pow(r * S, 0.8);
}

/* The first cell is the best. */
double simulated_overloaded(double r, double S, double strength)
{
    return strength * 10000 / pow(r * S, 0.7);
}

/* Requests per client, and all requests, have a limit each. */
double simulated_two_limits(double r, double S, double strength)
{
    double asked = 10 * r * S, limit = 95 * strength * S, total = 760 * strength;
    double rate = fmin(asked, fmin(limit, total));
    return asked > 1.4 * total ? rate * 0.7 : rate;
}

double simulated_latency(const struct simulated_server *server, double r, double S)
{
    double used = r * S / (90 * server->strength);
    return used < 0.99 ? 1 / (1 - used) : 100 * used;
}

struct simulated_run simulated_play(struct simulated_server *server, double r, double S)
{
    struct random_stream random;
    uint64_t number = server->runs++;
    double at = (double)number / drift_runs;
    double speed = 1 + server->drift * fmin(at, 1) + server->wave * sin(6.283 * at);
    struct simulated_run run = {0};
    random_seed(&random, server->seed, RANDOM_SWEEP, number);
    run.rate = server->rate(r, S, server->strength) * speed *
               fmax(0.05, 1 + server->noise * simulated_normal(server->seed, number));
    double latency = simulated_latency(server, r, S) / speed *
                     (1 + server->noise * simulated_normal(server->seed + 1, number));
    if (random_unit(&random) < server->stalls) {
        run.rate *= 0.1 + 0.6 * random_unit(&random);
        latency *= 1000;
        run.disturbed = random_unit(&random) < server->noticed;
    }
    run.missed = server->level > 0 && latency > server->level;
    return run;
}

double simulated_normal(uint64_t seed, uint64_t number)
{
    struct random_stream random;
    random_seed(&random, seed, RANDOM_PLAY, number);
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(&random);
    return sum;
}
