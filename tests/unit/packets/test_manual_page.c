/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of details in traffic-model(5) is what the packet table says. `make man-table` runs
 * this program with --write, which brings the page up to date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packets/packet_details.h"

#define PAGE  "man/traffic-model.5"
#define BEGIN ".\\\" The table is printed from packets/packet_table.c: make man-table\n"
#define END   ".El\n"

static void print_rules(FILE *out);
static void print_rule(FILE *out, const struct packet_row *row, const struct packet_rule *rule);
static void print_packets(FILE *out, const struct packet_row *first);
static void print_values(FILE *out, const struct packet_rule *rule);
static void print_words(FILE *out, const struct packet_rule *rule);
static void print_types(FILE *out);
static void print_numbers(FILE *out, const struct packet_rule *rule);
static char *read_page(void);
static char *with_table(const char *page, const char *table);

static char *make_table(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(".Bl -column \"lsarpc:46\" \"controls\" \"GSS-SPNEGO\" \"values\"\n"
          ".It Sy packets Ta Sy field Ta Sy default Ta Sy values\n",
          out);
    print_rules(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Rows that share their rules are one row of the page. */
static void print_rules(FILE *out)
{
    size_t count;
    const struct packet_row *rows = packet_rows(&count);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (rows[first].rules != rows[i].rules)
            first++;
        for (const struct packet_rule *rule = rows[i].rules; first == i && rule && rule->key;
             rule++)
            print_rule(out, &rows[i], rule);
    }
}

static void print_rule(FILE *out, const struct packet_row *row, const struct packet_rule *rule)
{
    fputs(".It ", out);
    if (rule == row->rules)
        print_packets(out, row);
    fprintf(out, "Ta Cm %s Ta ", rule->key);
    if (rule->usual)
        fprintf(out, *rule->usual ? "Cm %s " : "empty ", rule->usual);
    fputs("Ta ", out);
    print_values(out, rule);
    fputc('\n', out);
}

static void print_packets(FILE *out, const struct packet_row *first)
{
    size_t count;
    const struct packet_row *rows = packet_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].rules == first->rules)
            fprintf(out, "%s:%s ", rows[i].protocol->name, rows[i].opcode);
}

static void print_values(FILE *out, const struct packet_rule *rule)
{
    static const char *const texts[] = {[PACKET_FILTER] = "a filter without values",
                                        [PACKET_PATTERN] = "a DN pattern",
                                        [PACKET_NAME] = "",
                                        [PACKET_ATTRIBUTES] = "a list of attributes",
                                        [PACKET_OID] = "an OID",
                                        [PACKET_FLAG] = "Cm true No or Cm false"};
    const char *before = rule->type == PACKET_WORD || rule->type == PACKET_FLAG ? " ; No "
                         : rule->type == PACKET_NAME                            ? ""
                                                                                : "; ";
    if (rule->type == PACKET_WORD)
        print_words(out, rule);
    else if (rule->type == PACKET_RRTYPE)
        print_types(out);
    else if (rule->type == PACKET_NUMBER)
        print_numbers(out, rule);
    else if (rule->type == PACKET_OIDS)
        fprintf(out, "a list of at most %llu OIDs", (unsigned long long)rule->max);
    else
        fputs(texts[rule->type], out);
    if (rule->meaning && rule->type != PACKET_NUMBER)
        fprintf(out, "%s%s", before, rule->meaning);
    if (rule->not_with)
        fprintf(out, " ; No not with Cm %s : %s", rule->not_with, rule->not_value);
}

/* "Cm a , b No or Cm c" */
static void print_words(FILE *out, const struct packet_rule *rule)
{
    for (const struct packet_word *word = rule->words; word->name && !word->of; word++) {
        bool last = !word[1].name || word[1].of;
        fprintf(out, "%s%s", word == rule->words ? "Cm " : last ? " No or Cm " : " , ", word->name);
    }
}

static void print_types(FILE *out)
{
    const char *name;
    for (size_t i = 0; (name = packet_dns_type_name(i)); i++)
        fprintf(out, "%s%s", i ? " , " : "Cm ", name);
    fputs(" No or Cm TYPE Ns Ar n", out);
}

/* "meaning: 1 to 9, 11" */
static void print_numbers(FILE *out, const struct packet_rule *rule)
{
    char ranges[80];
    snprintf(ranges, sizeof ranges, "%llu-%llu", (unsigned long long)rule->min,
             (unsigned long long)rule->max);
    if (rule->ranges)
        snprintf(ranges, sizeof ranges, "%s", rule->ranges);
    fprintf(out, "%s: ", rule->meaning);
    for (const char *at = ranges; *at; at++)
        if (*at == '-')
            fputs(" to ", out);
        else if (*at == ' ')
            fputs(", ", out);
        else
            fputc(*at, out);
}

static char *read_page(void)
{
    char *page = NULL;
    size_t size = 0;
    FILE *file = fopen(PAGE, "r");
    assert_non_null(file);
    assert_true(getdelim(&page, &size, '\0', file) > 0);
    fclose(file);
    return page;
}

/* The page with the table in its place. */
static char *with_table(const char *page, const char *table)
{
    const char *begin = strstr(page, BEGIN);
    const char *end = begin ? strstr(begin, END) : NULL;
    char *text = NULL;
    if (!end)
        fail_msg("%s has no table", PAGE);
    begin += strlen(BEGIN);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(begin - page), page, table, end) > 0);
    return text;
}

static void the_page_has_the_table(void **state)
{
    (void)state;
    char *page = read_page(), *table = make_table(), *wanted = with_table(page, table);
    if (strcmp(page, wanted) != 0)
        fail_msg("%s: the table is not that of the packet table; run: make man-table", PAGE);
    free(wanted);
    free(table);
    free(page);
}

static int write_page(void)
{
    char *page = read_page(), *table = make_table(), *wanted = with_table(page, table);
    FILE *file = fopen(PAGE, "w");
    int failed = !file || fputs(wanted, file) < 0;
    failed |= !file || fclose(file) != 0;
    free(wanted);
    free(table);
    free(page);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_page_has_the_table)};
    if (argc == 2 && strcmp(argv[1], "--write") == 0)
        return write_page();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
