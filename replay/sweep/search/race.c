/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two servers has the larger maximum. */
#include "replay/sweep/search/race.h"

#include <math.h>

#include "base/random.h"
#include "summary/compare.h"

static const double outside = 0.0025; /* on each side of the interval of one judgement */

static size_t best_candidate(const struct race *race, size_t side, size_t blocks, double *rate);
static void find_interval(const struct race *race, struct race_verdict *verdict);

bool race_next(const struct race *race, size_t *side, size_t *candidate)
{
    size_t block_size = RACE_SIDES * race->candidates, order[RACE_SIDES * RACE_CANDIDATES];
    size_t block = race->played / block_size, place = race->played % block_size;
    struct random_stream random;
    struct race_verdict verdict;
    if (block >= RACE_BLOCKS_MAX)
        return false;
    race_judge(race, &verdict);
    if (place == 0 && verdict.precise)
        return false;
    random_seed(&random, race->seed, RANDOM_SWEEP, 1000000 + block);
    for (size_t i = 0; i < block_size; i++) {
        size_t other = (size_t)random_below(&random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    *side = order[place] % RACE_SIDES;
    *candidate = order[place] / RACE_SIDES;
    return true;
}

void race_add(struct race *race, size_t side, size_t candidate, double rate, bool missed)
{
    race->rates[side][candidate][race->runs[side][candidate]++] = rate;
    race->missed[side][candidate] += missed;
    race->played++;
}

void race_judge(const struct race *race, struct race_verdict *verdict)
{
    *verdict = (struct race_verdict){.blocks = race->played / (RACE_SIDES * race->candidates),
                                     .ratio = NAN,
                                     .low = NAN,
                                     .high = NAN};
    for (size_t side = 0; side < RACE_SIDES; side++)
        verdict->best[side] = best_candidate(race, side, verdict->blocks, &verdict->rate[side]);
    if (verdict->blocks > 0 && verdict->best[0] != SIZE_MAX && verdict->best[1] != SIZE_MAX)
        find_interval(race, verdict);
}

/* The candidate with the largest mean of those that mostly kept the level. */
static size_t best_candidate(const struct race *race, size_t side, size_t blocks, double *rate)
{
    size_t best = SIZE_MAX;
    *rate = NAN;
    for (size_t candidate = 0; candidate < race->candidates; candidate++) {
        double sum = 0;
        for (size_t block = 0; block < blocks; block++)
            sum += race->rates[side][candidate][block];
        bool kept = 2 * race->missed[side][candidate] < race->runs[side][candidate];
        if (blocks == 0 || !kept || (best != SIZE_MAX && sum / (double)blocks <= *rate))
            continue;
        best = candidate;
        *rate = sum / (double)blocks;
    }
    return best;
}

static void find_interval(const struct race *race, struct race_verdict *verdict)
{
    const double *a = race->rates[0][verdict->best[0]], *b = race->rates[1][verdict->best[1]];
    double sum = 0, squares = 0, count = (double)verdict->blocks;
    for (size_t block = 0; block < verdict->blocks; block++) {
        if (!(a[block] > 0) || !(b[block] > 0))
            return;
        sum += log(b[block] / a[block]);
    }
    double mean = sum / count;
    for (size_t block = 0; block < verdict->blocks; block++)
        squares += pow(log(b[block] / a[block]) - mean, 2);
    verdict->ratio = exp(mean);
    if (verdict->blocks < RACE_BLOCKS_LEAST)
        return;
    double width =
        compare_student_quantile(count - 1, outside) * sqrt(squares / (count - 1) / count);
    verdict->low = exp(mean - width);
    verdict->high = exp(mean + width);
    verdict->precise = verdict->high - verdict->low <= race->precision;
}
