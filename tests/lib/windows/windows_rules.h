/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which a patched Windows Server 2025 refuses or answers what Samba accepts: one table
 * for the stand-in, its command line, and the test that plays packets against each rule.
 */
#ifndef TESTS_LIB_WINDOWS_WINDOWS_RULES_H
#define TESTS_LIB_WINDOWS_WINDOWS_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum windows_rule {
    RULE_LOCATOR_SCHANNEL,
    RULE_BINDINGS_ALWAYS,
    RULE_BINDINGS_SUPPORTED,
    RULE_LDAP_SIGNING,
    RULE_SIMPLE_IN_CLEAR,
    RULE_MAX_PAGE_SIZE,
    RULE_MAX_CONNECTIONS,
    RULE_IDLE_CLOSE,
    RULE_IDLE_NOTICE,
    RULE_RID_POOL,
    RULE_BUSY,
    RULE_UNAVAILABLE,
    RULE_PASSWORD_POLICY,
    RULE_CRITICAL_OBJECTS,
    RULE_RECYCLE_BIN,
    RULE_LOCALIZED_NAMES,
    RULE_PASSWORD_UNCHANGED,
    RULE_COMPUTER_NAME,
    RULE_NTLM_DELAY,
    RULE_ANONYMOUS_MAPPER,
    RULE_ANONYMOUS_NETLOGON,
    WINDOWS_RULES
};

struct windows_rule_row {
    const char *name;
    const char *paragraph; /* of the specification */
    const char *touches;   /* the packets or the operation that meet it */
    double usual;          /* the number that the rule needs, in its unit; 0: none */
    const char *unit;      /* NULL: the rule needs no number */
    const char *claim;     /* the test's name */
    const char *form;      /* the test's packets: "PACKET {DETAILS}|PACKET {DETAILS}..." */
    const char *options;   /* of traffic-replay in the test */
    double tested;         /* the number in the test; 0: the usual one */
    const char *on;        /* outcome: "ok", or an extended regular expression in the report */
    bool met;              /* the packets meet the rule; false: they keep to it */
};

extern const struct windows_rule_row windows_rule_rows[WINDOWS_RULES];

struct windows_rules {
    bool on[WINDOWS_RULES];
    double number[WINDOWS_RULES];
    atomic_uint seen[WINDOWS_RULES];   /* how often it was applied, whether on or off */
    atomic_uint broken[WINDOWS_RULES]; /* how often something met it, and it was on */
};

/* Switches a rule on: "NAME" or "NAME=NUMBER". False: there is no such rule, or the number is
 * wrong. */
bool windows_rules_switch(struct windows_rules *rules, const char *text);

/* Counts that something was held against the rule. meets: the DC would refuse it. True: it does,
 * since the rule is on. */
bool windows_rules_apply(struct windows_rules *rules, enum windows_rule rule, bool meets);

/* Meets the rule the first `number` times. */
bool windows_rules_apply_first(struct windows_rules *rules, enum windows_rule rule);

/* One line per rule, fields separated by tabs. */
void windows_rules_print(FILE *out);

/* "NAME: met N of M times" for each rule that is on or was held against something. */
void windows_rules_report(const struct windows_rules *rules, FILE *out);

#endif
