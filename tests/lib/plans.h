/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of plans share: plans that must be valid, and comparisons of random figures. */
#ifndef TESTS_LIB_PLANS_H
#define TESTS_LIB_PLANS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/plan.h"
#include "tests/lib/model_text.h"

/* The caller frees the plan. */
struct plan *plan_of(const struct model *model, const struct plan_settings *settings);

/* True for packets of which a run sends operations: all but hints and unbinds. */
bool every_packet(const struct model_type *type, void *context);

/* The same, of CLDAP, DNS, LDAP and Kerberos only. */
bool first_protocols(const struct model_type *type, void *context);

/* Settings with seed 1 and a warm-up of 5 s; duration is in seconds. */
struct plan_settings plan_settings_of(double r, double s, double duration);

/* The number of packets due in from..to, in seconds. */
uint64_t count_between(const struct plan *plan, double from, double to);

/* tolerance is relative. */
void expect_near(double value, double wanted, double tolerance);

#endif
