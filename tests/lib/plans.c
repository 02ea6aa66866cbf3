/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/plans.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

struct plan *plan_of(const struct model *model, const struct plan_settings *settings)
{
    struct plan *plan = NULL;
    struct error error = {0};
    if (plan_make(model, settings, &plan, &error) < 0)
        fail_msg("%s", error.text);
    return plan;
}

bool every_packet(const struct model_type *type, void *context)
{
    (void)context;
    bool unbind = strcmp(type->protocol, "ldap") == 0 && strcmp(type->opcode, "2") == 0;
    return type->opcode[0] != '\0' && !unbind;
}

bool first_protocols(const struct model_type *type, void *context)
{
    static const char *const protocols[] = {"cldap", "dns", "ldap", "kerberos"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(type->protocol, protocols[i]) == 0)
            return every_packet(type, context);
    return false;
}

struct plan_settings plan_settings_of(double r, double s, double duration)
{
    return (struct plan_settings){.seed = 1,
                                  .replay_rate = r,
                                  .scale = s,
                                  .warmup = 5,
                                  .duration = duration,
                                  .is_operation = every_packet};
}

uint64_t count_between(const struct plan *plan, double from, double to)
{
    uint64_t count = 0;
    for (uint32_t client = 0; client < plan_figures(plan)->clients; client++) {
        struct plan_client cursor;
        struct plan_step step;
        plan_client_start(plan, client, &cursor);
        while (plan_client_next(plan, &cursor, &step) && (double)step.due < to * 1e9)
            count += step.kind == PLAN_PACKET && (double)step.due >= from * 1e9;
    }
    return count;
}

void expect_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value / wanted - 1) <= tolerance))
        fail_msg("%.10g is not within %g of %.10g", value, tolerance, wanted);
}
