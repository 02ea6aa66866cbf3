/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/packets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

bool form_compile(struct form *form, const char *protocol, const char *opcode,
                  const struct packet_field *fields, size_t count, struct error *error)
{
    const struct packet_row *row = packet_row_find(protocol, opcode);
    struct packet_details details;
    *form = (struct form){.player = packet_player_find(protocol, opcode)};
    assert_non_null(form->player);
    if (packet_details_read(&details, row, fields, count, error) < 0)
        return false;
    if (!packet_has_details(form->player))
        return true;
    form->compiled = packet_compile(form->player, &details, &form->context, error);
    return form->compiled != NULL;
}

void form_release(struct form *form)
{
    packet_release(form->player, form->compiled);
    packet_context_clear(&form->context);
}

struct outcome form_play(struct conversation *conversation, const char *protocol,
                         const char *opcode, const struct packet_field *fields, size_t count,
                         int64_t timeout)
{
    struct form form;
    struct error error = {0};
    if (!form_compile(&form, protocol, opcode, fields, count, &error))
        fail_msg("%s:%s: %s", protocol, opcode, error.text);
    struct outcome outcome = packet_play(conversation, form.player, form.compiled, timeout);
    form_release(&form);
    return outcome;
}

struct outcome form_play_value(struct conversation *conversation, const char *protocol,
                               const char *opcode, const char *key, const char *value,
                               int64_t timeout)
{
    struct packet_field field = {key, 1, &value};
    return form_play(conversation, protocol, opcode, &field, key ? 1 : 0, timeout);
}

void packets_assert_ok(const char *what, struct outcome outcome, const char *file, int line)
{
    if (outcome.kind == OUTCOME_OK)
        return;
    print_error("%s: kind %d: %s\n", what, (int)outcome.kind, outcome.cause);
    _fail(file, line);
}

void packets_assert_failed(const char *what, struct outcome outcome, const char *cause,
                           const char *file, int line)
{
    if (outcome.kind == OUTCOME_FAILED && strcmp(outcome.cause, cause) == 0)
        return;
    print_error("%s: kind %d: \"%s\" instead of \"%s\"\n", what, (int)outcome.kind, outcome.cause,
                cause);
    _fail(file, line);
}

void packets_assert_unreached(const char *what, struct outcome outcome, const char *cause,
                              const char *transport, unsigned port, const char *file, int line)
{
    char text[OUTCOME_CAUSE_SIZE];
    snprintf(text, sizeof text, "%s (%s port %u)", cause, transport, port);
    packets_assert_failed(what, outcome, text, file, line);
}
