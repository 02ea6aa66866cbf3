/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as arguments and configuration file of another traffic-replay. */
#include "replay/settings_arguments.h"

#include <errno.h>
#include <string.h>

#include "replay/settings_private.h"
#include "replay/settings_table.h"

static bool is_among(const char *name, const char *const *names);
static bool is_overridden(const struct settings *settings, const struct options_row *row);
static void settings_add_option(struct arguments *arguments, const char *name, const char *value);
static void settings_add_row(struct arguments *arguments, const struct settings *settings,
                             const struct options_row *row);
static void write_yaml_quoted(FILE *out, const char *text);

void settings_add_arguments(const struct settings *settings, const char *const *except,
                            struct arguments *arguments)
{
    for (size_t i = 0; i < settings_table.count; i++) {
        const struct options_row *row = &settings_table.rows[i];
        bool hidden = row->kind == OPTIONS_SECRET ||
                      (row->properties & (SETTINGS_CREDENTIALS | SETTINGS_HOLDS_SECRET)) ||
                      strcmp(row->name, "config") == 0;
        if (is_among(row->name, except))
            continue;
        if (strcmp(row->name, "kerberos") == 0 && settings->admin_kerberos)
            settings_add_option(arguments, row->name, NULL);
        else if (!hidden && !is_overridden(settings, row))
            settings_add_row(arguments, settings, row);
    }
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Whether a conflicting option comes from a stronger source. */
static bool is_overridden(const struct settings *settings, const struct options_row *row)
{
    enum settings_source own = *settings_source_of_row(settings->sources, row);
    for (const struct settings_conflict *pair = settings_conflicts; pair->one; pair++)
        if ((strcmp(row->name, pair->one) == 0 &&
             settings_source_of(settings, pair->other) > own) ||
            (strcmp(row->name, pair->other) == 0 && settings_source_of(settings, pair->one) > own))
            return true;
    return false;
}

static void settings_add_option(struct arguments *arguments, const char *name, const char *value)
{
    arguments_add(arguments, "--%s%s%s", name, value ? "=" : "", value ? value : "");
}

/* Adds the assignments of the row's strongest source: all of a list, else the last one. */
static void settings_add_row(struct arguments *arguments, const struct settings *settings,
                             const struct options_row *row)
{
    const struct settings_sources *sources = settings->sources;
    enum settings_source source = *settings_source_of_row(sources, row);
    bool every = (row->properties & SETTINGS_LIST) || row->kind == OPTIONS_COUNTER;
    const struct settings_assignment *last = NULL;
    if (row->kind == OPTIONS_FLAG) {
        if (*(const bool *)((const char *)settings + row->offset))
            settings_add_option(arguments, row->name, NULL);
        return;
    }
    for (size_t i = 0; source != SOURCE_NONE && i < sources->count; i++) {
        const struct settings_assignment *assignment = &sources->assignments[i];
        if (assignment->row != row || assignment->source != source)
            continue;
        last = assignment;
        if (every)
            settings_add_option(arguments, row->name, row->argument ? assignment->given : NULL);
    }
    if (last && !every)
        settings_add_option(arguments, row->name, last->given);
}

int settings_write_secrets(const struct settings *settings, FILE *out)
{
    const struct account *admin = &settings->admin;
    if (admin->name && strpbrk(admin->name, settings->play.generic_ldap ? "%" : "%\\/@"))
        return -EINVAL;
    if (admin->name && !settings->admin_kerberos) {
        fputs("user: \"", out);
        if (settings->admin_domain) {
            write_yaml_quoted(out, settings->admin_domain);
            write_yaml_quoted(out, "\\");
        }
        write_yaml_quoted(out, admin->name);
        if (settings->admin_realm) {
            fputc('@', out);
            write_yaml_quoted(out, settings->admin_realm);
        }
        if (admin->password)
            fputc('%', out);
        write_yaml_quoted(out, admin->password ? admin->password : "");
        fputs("\"\n", out);
    }
    if (settings->fixed_password) {
        fputs("fixed-password: \"", out);
        write_yaml_quoted(out, settings->fixed_password);
        fputs("\"\n", out);
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}

/* Writes the inside of a double-quoted scalar (YAML 1.2, 7.3.1). */
static void write_yaml_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}
