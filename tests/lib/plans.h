/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of plans share: plans that have to be right, and figures that are random. */
#ifndef TESTS_LIB_PLANS_H
#define TESTS_LIB_PLANS_H

#include <math.h>

#include "base/error.h"
#include "model/plan.h"
#include "tests/lib/model_text.h"

static inline struct plan *plan_of(const struct model *model, const struct plan_settings *settings)
{
    struct plan *plan = NULL;
    struct error error = {0};
    if (plan_make(model, settings, &plan, &error) < 0)
        fail_msg("%s", error.text);
    return plan;
}

static inline void expect_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value / wanted - 1) <= tolerance))
        fail_msg("%.10g is not within %g of %.10g", value, tolerance, wanted);
}

#endif
