/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of packets, which are read and compiled as at the start of a run. */
#ifndef TESTS_LIB_PACKETS_H
#define TESTS_LIB_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocols/packet.h"

struct form {
    const struct packet_player *player;
    void *compiled; /* NULL: the packet has no details, or they were refused */
    struct packet_context context;
};

/* False: refused, with a line in error. */
bool form_compile(struct form *form, const char *protocol, const char *opcode,
                  const struct packet_field *fields, size_t count, struct error *error);

void form_release(struct form *form);

/* Compiles a form, which must be right, and plays it. timeout is in ns. */
struct outcome form_play(struct conversation *conversation, const char *protocol,
                         const char *opcode, const struct packet_field *fields, size_t count,
                         int64_t timeout);

/* As form_play(), with one field of one value; key NULL: without details. */
struct outcome form_play_value(struct conversation *conversation, const char *protocol,
                               const char *opcode, const char *key, const char *value,
                               int64_t timeout);

/* Fails the test unless an outcome is a success; assert_ok_for() reports what was played. */
#define assert_ok(outcome_)            packets_assert_ok(#outcome_, (outcome_), __FILE__, __LINE__)
#define assert_ok_for(what_, outcome_) packets_assert_ok((what_), (outcome_), __FILE__, __LINE__)
void packets_assert_ok(const char *what, struct outcome outcome, const char *file, int line);

/* Fails the test unless an outcome is a failure with this cause. */
#define assert_failed(outcome_, cause_)                                                            \
    packets_assert_failed(#outcome_, (outcome_), (cause_), __FILE__, __LINE__)
void packets_assert_failed(const char *what, struct outcome outcome, const char *cause,
                           const char *file, int line);

/* Fails the test unless an outcome is a failure with this cause and the port that it concerns. */
#define assert_unreached(outcome_, cause_, transport_, port_)                                      \
    packets_assert_unreached(#outcome_, (outcome_), (cause_), (transport_), (port_), __FILE__,     \
                             __LINE__)
void packets_assert_unreached(const char *what, struct outcome outcome, const char *cause,
                              const char *transport, unsigned port, const char *file, int line);

#endif
