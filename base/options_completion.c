/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for bash(1) and zsh(1), from a program's table of options. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/options.h"

static void bash_print(const struct options_table *table, FILE *out);
static void bash_print_delegation(const char *program, FILE *out);
static void bash_print_value(const struct options_table *table, const struct options_row *row,
                             FILE *out);
static void bash_print_arguments(const struct options_table *table, FILE *out);
static void bash_print_function(const char *program, FILE *out);
static void zsh_print(const struct options_table *table, FILE *out);
static void zsh_print_row(const struct options_table *table, const struct options_row *row,
                          FILE *out);
static void zsh_print_value(const struct options_table *table, const struct options_row *row,
                            FILE *out);
static void zsh_print_escaped(const char *text, FILE *out);
static void print_choices(const char *argument, FILE *out);

/* What an option's argument is, as far as a shell can complete it. */
enum value { VALUE_OTHER, VALUE_FILE, VALUE_FOLDER, VALUE_COMMAND, VALUE_CHOICES };

static enum value value_of(const struct options_row *row);
static const struct options_words *words_of(const struct options_table *table,
                                            const struct options_row *row);

const char *options_print_completion(const struct options_table *table, const char *shell,
                                     FILE *out)
{
    if (strcmp(shell, "bash") == 0)
        bash_print(table, out);
    else if (strcmp(shell, "zsh") == 0)
        zsh_print(table, out);
    else
        return options_wrong("\"%s\" is neither bash nor zsh", shell);
    return NULL;
}

/*
 * bash splits words at = and :, which the values of options contain. So the word is taken from the
 * line itself, and candidates lose what bash regards as earlier words.
 */
static void bash_print(const struct options_table *table, FILE *out)
{
    fprintf(out, "# bash completion for %s, printed by: %s --completion bash\n", message_program,
            message_program);
    bash_print_function(message_program, out);
    fputs("()\n{\n"
          "    local line=${COMP_LINE:0:COMP_POINT} word before option value list='' words='' i\n"
          "    local program=${COMP_WORDS[0]} others=()\n"
          "    word=${line##*[[:blank:]]}\n"
          "    before=${line%\"$word\"}\n"
          "    option=${before%\"${before##*[![:blank:]]}\"}\n"
          "    option=${option##*[[:blank:]]}\n"
          "    value=$word\n"
          "    [[ $word != --*=* ]] || { option=${word%%=*}; value=${word#*=}; }\n"
          "    for i in \"${COMP_WORDS[@]:1}\"; do\n"
          "        [ ! -e \"$i\" ] || others+=(\"$i\")\n"
          "    done\n"
          "    COMPREPLY=()\n",
          out);
    if (table->completion.after_dashes)
        bash_print_delegation(table->completion.after_dashes, out);
    fputs("    case $option in\n", out);
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].argument)
            bash_print_value(table, &table->rows[i], out);
    bash_print_arguments(table, out);
    fputs("    esac\n"
          "    [ -z \"$list\" ] || list=${value%\"${value##*,}\"}\n"
          "    mapfile -t COMPREPLY < "
          "<(compgen -P \"$list\" -W \"$words\" -- \"${value#\"$list\"}\")\n"
          "    [[ $value != *:* || $COMP_WORDBREAKS != *:* ]] ||\n"
          "        COMPREPLY=(\"${COMPREPLY[@]#\"${value%\"${value##*:}\"}\"}\")\n"
          "}\n"
          "complete -F ",
          out);
    bash_print_function(message_program, out);
    fprintf(out, " %s\n", message_program);
}

/* After "--", the options are those of another program. */
static void bash_print_delegation(const char *program, FILE *out)
{
    fputs("    if [[ $before == *' -- '* ]]; then\n        declare -F ", out);
    bash_print_function(program, out);
    fprintf(out, " >/dev/null || eval \"$(%s --completion bash)\"\n        ", program);
    bash_print_function(program, out);
    fputs("\n        return\n    fi\n", out);
}

/* One branch: the option is given, its value is to be completed. */
static void bash_print_value(const struct options_table *table, const struct options_row *row,
                             FILE *out)
{
    static const char letters[] = {[VALUE_FILE] = 'f', [VALUE_FOLDER] = 'd', [VALUE_COMMAND] = 'c'};
    enum value value = value_of(row);
    const struct options_words *words = words_of(table, row);
    fputs("    ", out);
    if (row->letter)
        fprintf(out, "-%c | ", row->letter);
    fprintf(out, "--%s)", row->name);
    if (value == VALUE_CHOICES) {
        fputs(" words='", out);
        print_choices(row->argument, out);
        fputs("' ;;\n", out);
    } else if (value != VALUE_OTHER) {
        fprintf(out,
                "\n        compopt -o filenames\n"
                "        mapfile -t COMPREPLY < <(compgen -%c -- \"$value\")\n"
                "        return\n        ;;\n",
                letters[value]);
    } else if (words) {
        fprintf(out, " words=%s%s ;;\n", words->text, words->list ? " list=," : "");
    } else {
        fputs(" ;;\n", out);
    }
}

/* The last branch: an option's name, or an argument that is no option. */
static void bash_print_arguments(const struct options_table *table, FILE *out)
{
    const struct options_completion *more = &table->completion;
    fputs("    *)\n        if [[ $word != -* ]]; then\n"
          "            compopt -o filenames\n"
          "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\"",
          out);
    fprintf(out, "%s)\n", more->server ? "; compgen -A hostname -- \"$word\"" : "");
    if (more->models)
        fprintf(out,
                "            for i in \"${!COMPREPLY[@]}\"; do\n"
                "                [[ ! -f ${COMPREPLY[i]} || ${COMPREPLY[i]} =~ \\.(%s)$ ]] ||\n"
                "                    unset \"COMPREPLY[i]\"\n"
                "            done\n"
                "            COMPREPLY=(\"${COMPREPLY[@]}\")\n",
                more->models);
    fputs("            return\n        fi\n        words='", out);
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].letter)
            fprintf(out, "-%c ", table->rows[i].letter);
        fprintf(out, "--%s%s", table->rows[i].name, i + 1 < table->count ? " " : "'\n");
    }
    fputs("        ;;\n", out);
}

/* Names of functions in bash's POSIX mode have no hyphens. */
static void bash_print_function(const char *program, FILE *out)
{
    fputc('_', out);
    for (const char *c = program; *c; c++)
        fputc(*c == '-' ? '_' : *c, out);
}

static void zsh_print(const struct options_table *table, FILE *out)
{
    const struct options_completion *more = &table->completion;
    fprintf(out,
            "#compdef %s\n# zsh completion for %s, printed by: %s --completion zsh\n"
            "local program=$words[1]\nlocal -a others\nothers=(${^words[2,-1]}(N))\n",
            message_program, message_program, message_program);
    if (more->after_dashes)
        fprintf(out,
                "integer dashes=${words[(i)--]}\n"
                "if (( dashes < CURRENT )); then\n"
                "    words=(%s \"${(@)words[dashes + 1,-1]}\")\n"
                "    (( CURRENT -= dashes - 1 ))\n"
                "    _%s\n"
                "    return\n"
                "fi\n",
                more->after_dashes, more->after_dashes);
    for (const struct options_words *words = more->words; words && words->option; words++)
        fprintf(out, "_%s_%s() {\n    local all=%s\n    compadd \"$@\" - ${=all}\n}\n",
                message_program, words->option, words->text);
    fputs("_arguments -s -S", out);
    for (size_t i = 0; i < table->count; i++)
        zsh_print_row(table, &table->rows[i], out);
    if (more->models)
        fprintf(out, " \\\n    '1:model:_files -g \"*.(%s)\"'", more->models);
    else
        fputs(" \\\n    '*:file:_files'", out);
    fprintf(out, "%s\n", more->server ? " \\\n    '2:server:_hosts'" : "");
}

static void zsh_print_row(const struct options_table *table, const struct options_row *row,
                          FILE *out)
{
    const char *equals = row->argument ? "=" : "";
    if (row->letter)
        fprintf(out, " \\\n    '(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
                row->argument ? "+" : "", row->name, equals);
    else
        fprintf(out, " \\\n    '--%s%s[", row->name, equals);
    zsh_print_escaped(row->help, out);
    fputs("]", out);
    if (row->argument)
        zsh_print_value(table, row, out);
    fputs("'", out);
}

static void zsh_print_value(const struct options_table *table, const struct options_row *row,
                            FILE *out)
{
    static const char *const actions[] = {
        [VALUE_FILE] = "_files", [VALUE_FOLDER] = "_files -/", [VALUE_COMMAND] = "_command_names"};
    enum value value = value_of(row);
    const struct options_words *words = words_of(table, row);
    fputs(":", out);
    zsh_print_escaped(row->argument, out);
    fputs(":", out);
    if (value == VALUE_CHOICES) {
        fputs("(", out);
        print_choices(row->argument, out);
        fputs(")", out);
    } else if (value != VALUE_OTHER) {
        fputs(actions[value], out);
    } else if (words) {
        fprintf(out, "%s_%s_%s", words->list ? "_sequence " : "", message_program, words->option);
    } else {
        fputs(" ", out);
    }
}

/* Inside single quotes, in a specification of _arguments. */
static void zsh_print_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void print_choices(const char *argument, FILE *out)
{
    for (; *argument; argument++)
        fputc(*argument == '|' ? ' ' : *argument, out);
}

static enum value value_of(const struct options_row *row)
{
    static const struct {
        const char *argument;
        enum value value;
    } known[] = {{"FILE", VALUE_FILE},
                 {"MODEL", VALUE_FILE},
                 {"FOLDER", VALUE_FOLDER},
                 {"COMMAND", VALUE_COMMAND},
                 {"PROGRAM", VALUE_COMMAND}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(row->argument, known[i].argument) == 0)
            return known[i].value;
    bool choices = strchr(row->argument, '|') != NULL;
    for (const char *c = row->argument; *c; c++)
        choices = choices && (islower((unsigned char)*c) || isdigit((unsigned char)*c) ||
                              strchr("|-.", *c) != NULL);
    return choices ? VALUE_CHOICES : VALUE_OTHER;
}

static const struct options_words *words_of(const struct options_table *table,
                                            const struct options_row *row)
{
    const struct options_words *words = table->completion.words;
    while (words && words->option && strcmp(words->option, row->name) != 0)
        words++;
    return words && words->option ? words : NULL;
}
