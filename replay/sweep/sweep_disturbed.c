/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the machine disturbed a run. */
#include "replay/sweep/sweep_disturbed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double steal_limit = 0.05; /* share of the processors' time */
static const double late_limit = 0.010; /* seconds; as in the report of a run */
static const double busy_limit = 0.95;  /* share of a worker's time */

/* In a shorter time, a single tick would be a large share. */
enum { LEAST_TICKS = 100 };

static double lag_p99(const struct result *result);

void sweep_stolen_read(struct sweep_stolen *stolen)
{
    char line[256] = "";
    FILE *stream = fopen("/proc/stat", "re");
    if (!stream || !fgets(line, sizeof line, stream))
        line[0] = '\0';
    if (stream)
        fclose(stream);
    sweep_stolen_parse(line, stolen);
}

bool sweep_stolen_parse(const char *line, struct sweep_stolen *stolen)
{
    enum { STEAL = 7, VALUES = 8 }; /* proc(5): user nice system idle iowait irq softirq steal */
    uint64_t values[VALUES] = {0};
    *stolen = (struct sweep_stolen){0};
    if (sscanf(line,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &values[0], &values[1], &values[2], &values[3], &values[4], &values[5], &values[6],
               &values[STEAL]) != VALUES)
        return false;
    for (size_t i = 0; i < VALUES; i++)
        stolen->all += values[i];
    stolen->stolen = values[STEAL];
    return true;
}

bool sweep_disturbed_between(const struct result *result, const struct sweep_stolen *before,
                             const struct sweep_stolen *after, char why[SWEEP_DISTURBED_SIZE])
{
    double all = after->all > before->all ? (double)(after->all - before->all) : 0;
    double steal =
        all > 0 && after->stolen > before->stolen ? (double)(after->stolen - before->stolen) : 0;
    if (all >= LEAST_TICKS && steal > steal_limit * all)
        snprintf(why, SWEEP_DISTURBED_SIZE, "steal time %.0f%%", 100 * steal / all);
    else if (result->timer_p99 >= late_limit)
        snprintf(why, SWEEP_DISTURBED_SIZE, "timers were late by %.0f ms",
                 1000 * result->timer_p99);
    else if (result->busy >= busy_limit && lag_p99(result) > late_limit)
        snprintf(why, SWEEP_DISTURBED_SIZE, "the generator was the bottleneck, %.0f%% busy",
                 100 * result->busy);
    else
        return false;
    return true;
}

/* Seconds; 0 if it is unknown. */
static double lag_p99(const struct result *result)
{
    struct histogram lag;
    histogram_init(&lag);
    double seconds = result_total(result, RESULT_LAG, &lag) == 0 && lag.count > 0
                         ? (double)histogram_quantile(&lag, 0.99) / 1e9
                         : 0;
    histogram_clear(&lag);
    return seconds;
}

bool sweep_disturbed(const struct result *result, const struct sweep_stolen *before,
                     char why[SWEEP_DISTURBED_SIZE])
{
    struct sweep_stolen now;
    sweep_stolen_read(&now);
    return sweep_disturbed_between(result, before, &now, why);
}
