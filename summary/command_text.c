/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a command line as a shell does and looks for options. */
#include "summary/command_text.h"

#include <stdio.h>
#include <string.h>

enum { WORD_SIZE = 1024, SHORTEST_NAME = 4 };

const struct command_option command_options[] = {
    {"server", 0, false},
    {"only", 0, false},
    {"skip", 0, false},
    {"packets-per-second", 'T', false},
    {"conversation-persistence", 0, false},
    {"dns-rate", 0, false},
    {"dns-query-file", 0, false},
    {"timeout", 0, false},
    {"max-backlog", 0, false},
    {"stop-on-any-error", 0, true},
    {"prefer-kerberos", 'K', true},
    {"badpassword-frequency", 'B', false},
    {"kdc-transport", 0, false},
    {"kdc-preauth-legs", 0, false},
    {"plain-simple-bind", 0, true},
    {"smb-share", 0, false},
    {"smb-encrypt", 0, true},
    {"samr-as-user", 0, true},
    {"allow-replication", 0, true},
    {"tls-verify", 0, true},
    {"number-of-users", 'n', false},
    {"number-of-groups", 0, false},
    {"average-groups-per-user", 0, false},
};
const size_t command_option_count = sizeof command_options / sizeof command_options[0];

static const struct command_option *find_option(const char *name);
static const char *next_word(const char *at, char *word);
static const char *take_quoted(const char *at, char *word, size_t *length);
static void append_character(char *word, size_t *length, char character);
static const char *match_option(const struct command_option *option, const char *word,
                                bool *separate);

bool command_text_option(const char *command, const char *name, char *out, size_t size)
{
    const struct command_option *option = find_option(name);
    char word[WORD_SIZE];
    if (!option)
        return false;
    snprintf(out, size, "none");
    for (const char *at = command; (at = next_word(at, word)) && strcmp(word, "--") != 0;) {
        bool separate = false;
        const char *value = match_option(option, word, &separate);
        if (separate && !(at = next_word(at, word)))
            break;
        if (value || separate)
            snprintf(out, size, "%s", separate ? word : value);
    }
    return true;
}

static const struct command_option *find_option(const char *name)
{
    for (size_t i = 0; i < command_option_count; i++)
        if (strcmp(command_options[i].name, name) == 0)
            return &command_options[i];
    return NULL;
}

/* Copies the next word without its quotes. Returns what follows; NULL: there is no word. */
static const char *next_word(const char *at, char *word)
{
    size_t length = 0;
    at += strspn(at, " ");
    if (!*at)
        return NULL;
    while (*at && *at != ' ')
        at = take_quoted(at, word, &length);
    word[length] = '\0';
    return at;
}

/* Takes one character, or the text between two quotation marks. */
static const char *take_quoted(const char *at, char *word, size_t *length)
{
    if (*at == '\\' && at[1]) {
        append_character(word, length, at[1]);
        return at + 2;
    }
    if (*at != '\'' && *at != '"') {
        append_character(word, length, *at);
        return at + 1;
    }
    char quote = *at++;
    while (*at && *at != quote)
        append_character(word, length, *at++);
    return *at ? at + 1 : at;
}

/* Longer words are cut; no option in the table has a value that long. */
static void append_character(char *word, size_t *length, char character)
{
    if (*length + 1 < WORD_SIZE)
        word[(*length)++] = character;
}

/* The value of the option if word contains it. NULL: word is another option, or *separate is true
 * and the next word is the value. */
static const char *match_option(const struct command_option *option, const char *word,
                                bool *separate)
{
    const char *value = NULL;
    bool found = false;
    if (strncmp(word, "--", 2) == 0) {
        size_t length = strcspn(word + 2, "=");
        found = length >= SHORTEST_NAME && strncmp(word + 2, option->name, length) == 0;
        value = word[2 + length] ? word + 3 + length : NULL;
    } else if (option->letter && word[0] == '-' && word[1] == option->letter) {
        found = true;
        value = word[2] && !option->flag ? word + 2 : NULL;
    }
    *separate = found && !value && !option->flag;
    return !found ? NULL : option->flag ? "given" : value;
}
