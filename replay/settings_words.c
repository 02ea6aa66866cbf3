/* SPDX-License-Identifier: Apache-2.0 */
/* Settings as words again: for a shell, for another traffic-replay's command line and its file. */
#include "replay/settings_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf16.h"
#include "replay/settings_memory.h"
#include "replay/settings_table.h"

struct words {
    char **items;
    size_t count;
    bool failed;
};

static void quote_word(const char *word, FILE *out);
static bool is_among(const char *name, const char *const *names);
static void settings_words_add_word(struct words *words, const char *name, const char *value);
static bool is_overridden(const struct settings *settings, const struct options_row *row);
static void settings_words_add_row(struct words *words, const struct settings *settings,
                                   const struct options_row *row);
static void write_quoted(FILE *out, const char *text);

char *settings_quote(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < argc; i++) {
        bool plain = argv[i][0] && !argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyz"
                                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789-_=+.,:/@%*")];
        if (i > 0)
            fputc(' ', out);
        if (plain)
            fputs(argv[i], out);
        else
            quote_word(argv[i], out);
    }
    if (out && fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return out ? text : NULL;
}

/* A word between quotes; one that would control a terminal, or is not UTF-8 as JSON must be, in
 * bash's form with backslashes. */
static void quote_word(const char *word, FILE *out)
{
    size_t size;
    bool text = utf16le_size(word, &size) == 0;
    for (const char *c = word; *c; c++)
        text = text && !iscntrl((unsigned char)*c);
    if (text) {
        fputc('\'', out);
        for (const char *c = word; *c; c++)
            *c == '\'' ? fputs("'\\''", out) : fputc(*c, out);
    } else {
        fputs("$'", out);
        for (const unsigned char *c = (const unsigned char *)word; *c; c++)
            *c < ' ' || *c >= 0x7f || *c == '\'' || *c == '\\' ? fprintf(out, "\\%03o", *c)
                                                               : fputc(*c, out);
    }
    fputc('\'', out);
}

char **settings_words(const struct settings *settings, const char *const *except)
{
    struct words words = {.items = calloc(1, sizeof *words.items)};
    words.failed = !words.items;
    for (size_t i = 0; !words.failed && i < settings_table.count; i++) {
        const struct options_row *row = &settings_table.rows[i];
        bool hidden = row->kind == OPTIONS_SECRET ||
                      (row->properties & (SETTINGS_CREDENTIALS | SETTINGS_HOLDS_SECRET)) ||
                      strcmp(row->name, "config") == 0;
        if (is_among(row->name, except))
            continue;
        if (strcmp(row->name, "kerberos") == 0 && settings->admin_kerberos)
            settings_words_add_word(&words, row->name, NULL);
        else if (!hidden && !is_overridden(settings, row))
            settings_words_add_row(&words, settings, row);
    }
    if (!words.failed)
        return words.items;
    settings_free_words(words.items);
    return NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void settings_words_add_word(struct words *words, const char *name, const char *value)
{
    char **grown = reallocarray(words->items, words->count + 2, sizeof *grown);
    if (grown)
        words->items = grown;
    if (!grown || asprintf(&grown[words->count], "--%s%s%s", name, value ? "=" : "",
                           value ? value : "") < 0) {
        words->failed = true;
        return;
    }
    grown[++words->count] = NULL;
}

/* One that excludes it came from a stronger source. */
static bool is_overridden(const struct settings *settings, const struct options_row *row)
{
    enum settings_source own = *settings_source_of_row(settings->memory, row);
    for (const struct settings_conflict *pair = settings_conflicts; pair->one; pair++)
        if ((strcmp(row->name, pair->one) == 0 &&
             settings_source_of(settings, pair->other) > own) ||
            (strcmp(row->name, pair->other) == 0 && settings_source_of(settings, pair->one) > own))
            return true;
    return false;
}

/* All assignments of the row's strongest source: the last one of them, or every one of a list. */
static void settings_words_add_row(struct words *words, const struct settings *settings,
                                   const struct options_row *row)
{
    const struct settings_memory *memory = settings->memory;
    enum settings_source source = *settings_source_of_row(memory, row);
    bool every = (row->properties & SETTINGS_LIST) || row->kind == OPTIONS_COUNTER;
    const struct settings_assignment *last = NULL;
    if (row->kind == OPTIONS_FLAG) {
        if (*(const bool *)((const char *)settings + row->offset))
            settings_words_add_word(words, row->name, NULL);
        return;
    }
    for (size_t i = 0; source != SOURCE_NONE && i < memory->count; i++) {
        const struct settings_assignment *assignment = &memory->assignments[i];
        if (assignment->row != row || assignment->source != source)
            continue;
        last = assignment;
        if (every)
            settings_words_add_word(words, row->name, row->argument ? assignment->given : NULL);
    }
    if (last && !every)
        settings_words_add_word(words, row->name, last->given);
}

void settings_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

int settings_write_secrets(const struct settings *settings, FILE *out)
{
    const struct account *admin = &settings->admin;
    if (admin->name && strpbrk(admin->name, settings->play.generic_ldap ? "%" : "%\\/@"))
        return -EINVAL;
    if (admin->name && !settings->admin_kerberos) {
        fputs("user: \"", out);
        if (settings->admin_domain) {
            write_quoted(out, settings->admin_domain);
            write_quoted(out, "\\");
        }
        write_quoted(out, admin->name);
        if (settings->admin_realm) {
            fputc('@', out);
            write_quoted(out, settings->admin_realm);
        }
        if (admin->password)
            fputc('%', out);
        write_quoted(out, admin->password ? admin->password : "");
        fputs("\"\n", out);
    }
    if (settings->fixed_password) {
        fputs("fixed-password: \"", out);
        write_quoted(out, settings->fixed_password);
        fputs("\"\n", out);
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}

/* A double-quoted scalar of YAML 1.2 (7.3.1), without the quotes. */
static void write_quoted(FILE *out, const char *text)
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
