/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that exists only as a formula, for the tests of searches: a rate for each r and S, with
 * noise, a drift of the machine and stalls. The same seed gives the same runs.
 */
#ifndef TESTS_LIB_SERVERS_SIMULATED_SERVER_H
#define TESTS_LIB_SERVERS_SIMULATED_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct simulated_server {
    /* Successful operations per second, free of noise. strength: 1, or that of a variant. */
    double (*rate)(double r, double S, double strength);
    double strength;
    double noise;   /* relative standard deviation of a run */
    double drift;   /* relative change of speed over drift_runs; negative: slower */
    double wave;    /* amplitude of a periodic change over drift_runs */
    double stalls;  /* share of runs that a stall spoils */
    double noticed; /* share of those that are marked as disturbed */
    double level; /* largest response time, 1 / (1 - load / capacity) in arbitrary units; 0: none */
    uint64_t seed;
    uint64_t runs; /* so far */
};

struct simulated_run {
    double rate;
    bool missed, disturbed;
};

/* The surfaces. r x S of about 10 to 260 is a useful grid. */
double simulated_saturates(double r, double S, double strength);
double simulated_collapses(double r, double S, double strength);
double simulated_falls_off(double r, double S, double strength);
double simulated_ridge(double r, double S, double strength);
double simulated_dislikes_clients(double r, double S, double strength);
double simulated_soft_knee(double r, double S, double strength);
double simulated_rises(double r, double S, double strength);
double simulated_overloaded(double r, double S, double strength);
double simulated_two_limits(double r, double S, double strength);

/* Response time at a load, free of noise: rises steeply near the limit of 90 x strength. */
double simulated_latency(const struct simulated_server *server, double r, double S);

struct simulated_run simulated_play(struct simulated_server *server, double r, double S);

/* A normal deviate. */
double simulated_normal(uint64_t seed, uint64_t number);

#endif
