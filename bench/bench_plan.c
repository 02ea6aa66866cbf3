/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a plan: of loading a model and making its plan, and of each packet on the generator's
 * hot path.
 *
 * usage: bench_plan [MODEL [PACKETS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "model/model_load.h"
#include "model/plan.h"

static bool every_packet(const struct model_type *type, void *context)
{
    (void)type;
    (void)context;
    return true;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Walks one client after another until this many packets were drawn; returns their number. */
static unsigned long walk(const struct plan *plan, unsigned long packets)
{
    unsigned long count = 0;
    for (uint32_t client = 0; count < packets; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(plan, client, &cursor);
        while (plan_client_next(plan, &cursor, &step))
            count += step.kind == PLAN_PACKET;
    }
    return count;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/office.yaml";
    unsigned long wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000000;
    struct plan_settings settings = {
        .seed = 1, .replay_rate = 4, .scale = 100, .duration = 1000, .is_operation = every_packet};
    struct model *model = NULL;
    struct plan *plan = NULL;
    struct error error = {0};
    double start = now();
    if (model_load(path, &model, &error, NULL, NULL) < 0 ||
        plan_make(model, &settings, &plan, &error) < 0) {
        fprintf(stderr, "bench_plan: %s\n", error.text);
        model_free(model);
        return 2;
    }
    double made = now();
    unsigned long packets = walk(plan, wanted);
    double walked = now();
    printf("model and plan made in %.2f ms\n", (made - start) * 1e3);
    printf("%.1f ns per packet (%lu packets, pauses included)\n",
           (walked - made) * 1e9 / (double)packets, packets);
    printf("%zu bytes per client\n", sizeof(struct plan_client));
    plan_free(plan);
    model_free(model);
    return 0;
}
