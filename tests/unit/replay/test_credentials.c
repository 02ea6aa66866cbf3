/* SPDX-License-Identifier: Apache-2.0 */
/* Names and passwords: splitting, wiping, and the prompt on a pseudo terminal. */
#include "replay/accounts/credentials.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

static void check_optional(char *found, const char *expected)
{
    if (expected && found)
        assert_string_equal(found, expected);
    else
        assert_true(!found && !expected);
    free(found);
}

static void passwords_are_wiped_in_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *password, *left;
    } cases[] = {
        {"joe", "joe", NULL, "joe"},          {"joe%secret", "joe", "secret", "joe%***"},
        {"joe%s%t", "joe", "s%t", "joe%***"}, {"joe%", "joe", "", "joe%"},
        {"joe%ab", "joe", "ab", "joe%**"},    {"%ab", "", "ab", "%**"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = strdup(cases[i].text), *name, *password;
        size_t size = strlen(text);
        assert_int_equal(credentials_take(text, &name, &password), 0);
        assert_string_equal(text, cases[i].left);
        /* Nothing is left after the asterisks either. */
        for (size_t c = strlen(cases[i].left); c < size; c++)
            assert_int_equal(text[c], 0);
        check_optional(name, cases[i].name);
        check_optional(password, cases[i].password);
        free(text);
    }
}

static void names_are_split(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *domain, *realm;
    } cases[] = {
        {"joe", "joe", NULL, NULL},          {"DOM\\joe", "joe", "DOM", NULL},
        {"DOM/joe", "joe", "DOM", NULL},     {"joe@REALM", "joe", NULL, "REALM"},
        {"a@b@REALM", "a@b", NULL, "REALM"}, {"DOM\\a@b", "a@b", "DOM", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *name = strdup(cases[i].text), *domain = NULL, *realm = NULL;
        assert_int_equal(credentials_split_name(&name, &domain, &realm), 0);
        check_optional(name, cases[i].name);
        check_optional(domain, cases[i].domain);
        check_optional(realm, cases[i].realm);
    }
}

struct dialogue {
    const char *type; /* what the user types */
    bool secret;
    int result; /* expected */
    const char *answer;
    bool echoed; /* the input is visible */
};

static int ask(const struct dialogue *dialogue)
{
    char *answer = NULL;
    struct termios before, after;
    tcgetattr(STDIN_FILENO, &before);
    int result = credentials_prompt("Password: ", dialogue->secret, &answer);
    tcgetattr(STDIN_FILENO, &after);
    if (before.c_lflag != after.c_lflag)
        return 1;
    if (result != dialogue->result)
        return 2;
    return result || strcmp(answer, dialogue->answer) == 0 ? 0 : 3;
}

/* Reads until text appears or the terminal is closed. */
static size_t read_terminal(int terminal, char *text, size_t used, size_t size, const char *until)
{
    while (used + 1 < size && !(until && strstr(text, until))) {
        struct pollfd wait = {.fd = terminal, .events = POLLIN};
        if (poll(&wait, 1, 10000) <= 0)
            break;
        ssize_t got = read(terminal, text + used, size - used - 1);
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = '\0';
    }
    return used;
}

static void play(const struct dialogue *dialogue)
{
    int terminal, status;
    char seen[4096] = "";
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        _exit(ask(dialogue));
    }
    size_t used = read_terminal(terminal, seen, 0, sizeof seen, "Password: ");
    assert_int_equal(write(terminal, dialogue->type, strlen(dialogue->type)),
                     strlen(dialogue->type));
    read_terminal(terminal, seen, used, sizeof seen, NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(terminal);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("\"%s\": wait status %x", dialogue->type, status);
    assert_int_equal(strstr(seen, "hunter2") != NULL, dialogue->echoed);
}

static void the_prompt_hides_secrets(void **state)
{
    (void)state;
    static const struct dialogue dialogues[] = {
        {"hunter2\n", true, 0, "hunter2", false},
        {"hunter2\n", false, 0, "hunter2", true},
        {"\n", true, -ECANCELED, NULL, false},
    };
    for (size_t i = 0; i < sizeof dialogues / sizeof dialogues[0]; i++)
        play(&dialogues[i]);
}

static void handle_interrupt(int number)
{
    struct termios now;
    tcgetattr(STDIN_FILENO, &now);
    _exit(number + ((now.c_lflag & ECHO) != 0 ? 100 : 0));
}

/* The program's own handler runs, and the terminal echoes again by then. */
static void a_signal_ends_a_prompt_at_once_and_restores_the_terminal(void **state)
{
    (void)state;
    static const struct {
        bool secret;
        int signal;       /* sent to the program; 0: typed */
        const char *type; /* without a line's end */
        int status;
    } cases[] = {
        {true, 0, "hunter2\003", 100 + SIGINT}, {false, 0, "Adm\003", 100 + SIGINT},
        {true, SIGTERM, "hun", 100 + SIGTERM},  {false, SIGTERM, "Adm", 100 + SIGTERM},
        {true, 0, "hun\034", 100 + SIGQUIT},    {false, SIGHUP, "", 100 + SIGHUP},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int terminal, status;
        char seen[4096] = "", *answer;
        pid_t child = forkpty(&terminal, NULL, NULL, NULL);
        assert_true(child >= 0);
        if (child == 0) {
            alarm(20);
            for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++)
                signal(cases[j].signal ? cases[j].signal : SIGINT, handle_interrupt);
            signal(SIGQUIT, handle_interrupt);
            credentials_prompt("Password: ", cases[i].secret, &answer);
            _exit(1);
        }
        read_terminal(terminal, seen, 0, sizeof seen, "Password: ");
        assert_int_equal(write(terminal, cases[i].type, strlen(cases[i].type)),
                         strlen(cases[i].type));
        if (cases[i].signal)
            kill(child, cases[i].signal);
        assert_int_equal(waitpid(child, &status, 0), child);
        close(terminal);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].status);
    }
}

static void without_a_terminal_nothing_is_asked(void **state)
{
    (void)state;
    char *answer = NULL;
    assert_non_null(freopen("/dev/null", "r", stdin));
    assert_int_equal(credentials_prompt("Password: ", true, &answer), -ENOTTY);
    assert_null(answer);
}

static void an_endless_file_is_refused(void **state)
{
    (void)state;
    struct credentials found = {0};
    struct error error = {0};
    bool world_readable;
    assert_int_equal(credentials_read_file("/dev/zero", &found, &world_readable, &error), -EINVAL);
    assert_string_equal(error.text,
                        "/dev/zero:1: expected a line of text of fewer than 4096 bytes");
    assert_int_equal(credentials_read_file("/tmp", &found, &world_readable, &error), -EISDIR);
    credentials_clear(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_file_is_refused),
        cmocka_unit_test(passwords_are_wiped_in_place),
        cmocka_unit_test(names_are_split),
        cmocka_unit_test(the_prompt_hides_secrets),
        cmocka_unit_test(a_signal_ends_a_prompt_at_once_and_restores_the_terminal),
        cmocka_unit_test(without_a_terminal_nothing_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
