/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *checked_value(const struct learn_form *form, const char *key, const char *value);
static void append_field(struct learn_form *form, const char *key, const char *value);

void learn_form_init(struct learn_form *form, const char *protocol, const char *opcode)
{
    form->length = (size_t)snprintf(form->text, sizeof form->text, "%s:%s", protocol, opcode);
    form->row = packet_row_find(protocol, opcode);
    form->full = false;
}

bool learn_form_add(struct learn_form *form, const char *key, const char *value)
{
    const char *checked = checked_value(form, key, value);
    /* The characters that separate fields, here and in recordings, must not be in a value. */
    if (!checked || strpbrk(checked, "\x1f\t\n"))
        return false;
    append_field(form, key, checked);
    return true;
}

/* The value as it is kept, or NULL. The items of lists were checked by the caller. */
static const char *checked_value(const struct learn_form *form, const char *key, const char *value)
{
    const struct packet_rule *rule = packet_rule_find(form->row, key);
    if (!rule)
        return NULL;
    return packet_rule_is_list(rule) ? value : packet_rule_check(rule, value);
}

static void append_field(struct learn_form *form, const char *key, const char *value)
{
    size_t room = sizeof form->text - form->length;
    size_t length = strlen(key) + strlen(value) + 2;
    form->full = form->full || length >= room;
    if (!form->full)
        form->length +=
            (size_t)sprintf(form->text + form->length, "%c%s=%s", LEARN_FIELD, key, value);
}

bool learn_form_add_number(struct learn_form *form, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return learn_form_add(form, key, text);
}

void learn_form_add_name(struct learn_form *form, uint32_t number)
{
    char text[24];
    snprintf(text, sizeof text, "@%" PRIu32, number);
    append_field(form, "name", text);
}

size_t learn_form_type(const char *form)
{
    return strcspn(form, "\x1f");
}

void learn_form_split(char *text, struct learn_form_parts *parts)
{
    static const char separator[] = {LEARN_FIELD, '\0'};
    char *rest = text, *packet = strsep(&rest, separator), *item;
    char *opcode = strchrnul(packet, ':');
    if (*opcode)
        *opcode++ = '\0';
    *parts = (struct learn_form_parts){.protocol = packet, .opcode = opcode};
    while ((item = strsep(&rest, separator)) && parts->count < LEARN_FORM_FIELDS) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = '\0';
        parts->fields[parts->count].key = item;
        parts->fields[parts->count++].value = value;
    }
}
