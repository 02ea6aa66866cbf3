/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/command_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

char folder[] = "/tmp/test-options-XXXXXX", messages[TEXT_MAX], *words[WORDS_MAX + 1];

static int standard_error = -1; /* the original one, during a capture */

static char *make_word(const char *text);

const char *path_in_folder(const char *name)
{
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void write_file(const char *name, const char *content, mode_t mode)
{
    const char *path = path_in_folder(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

void free_words(void)
{
    for (int i = 0; i <= WORDS_MAX; i++) {
        free(words[i]);
        words[i] = NULL;
    }
}

int cut(const char *program, const char *line)
{
    int count = 0;
    free_words();
    words[count++] = make_word(program);
    char *copy = strdup(line);
    assert_non_null(copy);
    for (char *rest = copy, *word; (word = strsep(&rest, " "));) {
        assert_true(count < WORDS_MAX);
        if (*word)
            words[count++] = make_word(word);
    }
    free(copy);
    return count;
}

/* One argument: a leading @ is the test's folder, otherwise ^ is a blank. */
static char *make_word(const char *text)
{
    char *word = NULL;
    if (*text == '@') {
        assert_true(asprintf(&word, "%s/%s", folder, text + 1) > 0);
        return word;
    }
    assert_non_null(word = strdup(text));
    for (char *c = word; *c; c++)
        *c = *c == '^' ? ' ' : *c;
    return word;
}

void capture_messages(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    standard_error = dup(STDERR_FILENO);
    assert_true(standard_error >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    fclose(file);
}

void end_capture(void)
{
    fflush(stderr);
    ssize_t size = pread(STDERR_FILENO, messages, sizeof messages - 1, 0);
    messages[size > 0 ? size : 0] = '\0';
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
}

void expect_message(const char *line, const char *program, const char *message)
{
    char wanted[TEXT_MAX];
    size_t used = (size_t)snprintf(wanted, sizeof wanted, "%s: ", program);
    for (const char *c = message; *c && used + 1 < sizeof wanted; c++) {
        if (*c == '@')
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s/", folder);
        else
            wanted[used++] = *c;
    }
    snprintf(wanted + used, sizeof wanted - used, "\n");
    if (strcmp(messages, wanted) != 0)
        fail_msg("%s:\n  got:    %s  wanted: %s", line, messages, wanted);
}
