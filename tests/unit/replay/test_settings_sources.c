/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of settings: the administrator, the environment, the configuration file; arguments for
 * another traffic-replay; secrets leave no trace in the process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "replay/settings.h"

#include "replay/settings_arguments.h"
#include "tests/lib/settings_lines.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void check_optional(const char *found, const char *expected)
{
    if (expected && found)
        assert_string_equal(found, expected);
    else
        assert_true(!found && !expected);
}

static void user_names_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name, *domain, *admin_realm, *workgroup, *realm;
    } cases[] = {
        {"-U DOM\\admin%p @model dc1", "admin", "DOM", NULL, NULL, NULL},
        {"-U DOM/admin%p @model dc1", "admin", "DOM", NULL, NULL, NULL},
        {"-U admin@EXAMPLE.COM%p @model dc1", "admin", NULL, "EXAMPLE.COM", NULL, NULL},
        {"-U DOM\\admin%p -W OTHER @model dc1", "admin", "DOM", NULL, "OTHER", NULL},
        {"-U admin%p --realm R @model dc1", "admin", NULL, NULL, NULL, "R"},
        {"-A @auth @model dc1", "filed", "FILEDOM", NULL, NULL, NULL},
        {"--server ldap --accounts @accounts -U cn=a/b,dc=x%p @model dc1", "cn=a/b,dc=x", NULL,
         NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct settings settings;
        read_well(&settings, cases[i].line);
        assert_string_equal(settings.admin.name, cases[i].name);
        assert_non_null(settings.admin.password);
        check_optional(settings.admin_domain, cases[i].domain);
        check_optional(settings.admin_realm, cases[i].admin_realm);
        check_optional(settings.workgroup, cases[i].workgroup);
        check_optional(settings.realm, cases[i].realm);
        settings_clear(&settings);
    }
}

static void a_password_may_contain_percent_signs(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-U admin%a%b @model dc1");
    assert_string_equal(settings.admin.password, "a%b");
    settings_clear(&settings);
}

static void an_authentication_file_is_read(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-A @auth @model dc1");
    assert_string_equal(settings.admin.password, "p = w # %");
    assert_string_equal(messages, "");
    settings_clear(&settings);
    assert_int_equal(chmod(path_in_folder("auth"), 0644), 0);
    read_well(&settings, "-A @auth @model dc1");
    assert_non_null(strstr(messages, "is world-readable"));
    settings_clear(&settings);
    assert_int_equal(chmod(path_in_folder("auth"), 0600), 0);
}

static void the_environment_is_read(void **state)
{
    (void)state;
    struct settings settings;
    setenv("TRAFFIC_REPLAY_USER", "envuser", 1);
    setenv("TRAFFIC_REPLAY_PASSWORD", "envpass", 1);
    read_well(&settings, "@model dc1");
    assert_string_equal(settings.admin.name, "envuser");
    assert_string_equal(settings.admin.password, "envpass");
    assert_null(getenv("TRAFFIC_REPLAY_PASSWORD"));
    settings_clear(&settings);

    setenv("TRAFFIC_REPLAY_PASSWORD", "envpass", 1);
    assert_int_equal(read_line(&settings, "-U other @model dc1"), EXIT_USAGE);
    settings_clear(&settings);
    setenv("TRAFFIC_REPLAY_PASSWORD", "envpass", 1);
    read_well(&settings, "-U other%own @model dc1");
    assert_string_equal(settings.admin.name, "other");
    assert_string_equal(settings.admin.password, "own");
    settings_clear(&settings);
    read_well(&settings, "-k @model dc1");
    assert_true(settings.admin_kerberos);
    assert_null(settings.admin.name);
    settings_clear(&settings);

    unsetenv("TRAFFIC_REPLAY_USER");
    setenv("TRAFFIC_REPLAY_PASSWORD", "envpass", 1);
    read_well(&settings, "-U DOM\\other @model dc1");
    assert_string_equal(settings.admin.password, "envpass");
    settings_clear(&settings);
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
}

static void the_configuration_file_is_read(void **state)
{
    (void)state;
    struct settings settings;
    write_config("# mine\nreplay-rate: 3\nscale-traffic: 7\nprefer-kerberos: yes\n"
                 "skip: [dns, 'ldap:2']\nuser: conf%pw\nfixed-password: a b\nlabel: [x=1]\n");
    read_well(&settings, "@model dc1");
    assert_true(settings.replay_rate == 3 && settings.scale == 7 && settings.play.prefer_kerberos);
    assert_int_equal(settings.skip_count, 2);
    assert_string_equal(settings.admin.name, "conf");
    assert_string_equal(settings.fixed_password, "a b");
    settings_clear(&settings);

    read_well(&settings, "-r 5 -T 10 -U me%x --skip nbns --label y=2 @model dc1");
    assert_true(settings.replay_rate == 5 && settings.packets_per_second == 10);
    assert_true(settings.scale == 0);
    assert_int_equal(settings.skip_count, 1);
    assert_string_equal(settings.skip[0].protocol, "nbns");
    assert_string_equal(settings.admin.name, "me");
    assert_int_equal(settings.label_count, 1);
    settings_clear(&settings);

    write_config("packets-per-second: 10\n");
    read_well(&settings, "-S 2 --dry-run @model");
    assert_true(settings.packets_per_second == 0 && settings.scale == 2);
    settings_clear(&settings);
    write_config("");
}

static void the_environment_beats_the_file(void **state)
{
    (void)state;
    struct settings settings;
    write_config("user: conf%pw\n");
    setenv("TRAFFIC_REPLAY_USER", "env%pw2", 1);
    read_well(&settings, "@model dc1");
    assert_string_equal(settings.admin.name, "env");
    assert_string_equal(settings.admin.password, "pw2");
    settings_clear(&settings);
    unsetenv("TRAFFIC_REPLAY_USER");
    write_config("");
}

static const struct {
    const char *content, *message;
} bad_configs[] = {
    {"replay-rate: 4x\n", "@traffic-replay.yaml:1:14: replay-rate: \"4x\" is not a number"},
    {"\nreplay-rat: 4\n", "@traffic-replay.yaml:2:13: replay-rat: unknown option; did you "
                          "mean replay-rate?"},
    {"frobnicate: 4\n", "@traffic-replay.yaml:1:13: frobnicate: unknown option; see --help"},
    {"clean-up: true\n", "@traffic-replay.yaml:1:11: clean-up: allowed only on the command line"},
    {"yes: maybe\n", "@traffic-replay.yaml:1:6: yes: \"maybe\" is neither true nor false"},
    {"threads: 1\nthreads: 2\n",
     "@traffic-replay.yaml:2:1: expected each key once, found 'threads' again"},
    {"threads: {a: 2}\n", "@traffic-replay.yaml:1:10: expected a value or a list of values"},
    {"threads: [1, 2]\n", "@traffic-replay.yaml:1:11: threads: expected one value, found a list"},
    {"skip: [[a]]\n", "@traffic-replay.yaml:1:8: expected a plain value in this list"},
    {"[a, b]\n", "@traffic-replay.yaml:1:1: expected lines \"option: value\""},
    {"? [a]\n: b\n", "@traffic-replay.yaml:1:3: expected a plain key"},
    {"a: \"b\n", "@traffic-replay.yaml:2:1: expected YAML: found unexpected end of stream, while "
                 "scanning a quoted scalar"},
    {"yes: \"a\\0b\"\n", "@traffic-replay.yaml:1:6: expected text without NUL characters"},
};

static void wrong_configuration_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_configs / sizeof bad_configs[0]; i++) {
        struct settings settings;
        write_config(bad_configs[i].content);
        int status = read_line(&settings, "-U a%b @model dc1");
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", bad_configs[i].content, status, messages);
        expect_message(bad_configs[i].content, "traffic-replay", bad_configs[i].message);
        settings_clear(&settings);
    }
    write_config("");
}

static void a_readable_file_must_not_hold_a_password(void **state)
{
    (void)state;
    struct settings settings;
    write_file("traffic-replay.yaml", "user: a%b\n", 0644);
    assert_int_equal(read_line(&settings, "@model dc1"), EXIT_USAGE);
    assert_non_null(
        strstr(messages, "the file contains a password and is world-readable; run: chmod o= "));
    assert_null(strstr(messages, "a%b"));
    settings_clear(&settings);
    write_file("traffic-replay.yaml", "fixed-password: b\n", 0644);
    assert_int_equal(read_line(&settings, "@model dc1"), EXIT_USAGE);
    settings_clear(&settings);
    write_file("traffic-replay.yaml", "user: a\nreplay-rate: 2\n", 0644);
    read_well(&settings, "--dry-run @model");
    assert_true(settings.replay_rate == 2);
    settings_clear(&settings);
    write_config("");
}

/* The arguments of another traffic-replay: the options in force, without secrets. */
static void expect_words(const char *line, const char *wanted)
{
    static const char *const except[] = {"replay-rate", "verbose", NULL};
    struct settings settings;
    char text[TEXT_MAX] = "";
    read_well(&settings, line);
    struct arguments got = {0};
    settings_add_arguments(&settings, except, &got);
    assert_false(got.failed);
    for (size_t i = 0; i < got.count; i++)
        strcat(strcat(text, i ? " " : ""), got.items[i]);
    assert_string_equal(text, wanted);
    arguments_clear(&got);
    settings_clear(&settings);
}

static void settings_become_words_of_a_command_line(void **state)
{
    (void)state;
    expect_words("-U a%b @model dc1", "");
    expect_words("-r 4 -v -F c -D 10 -U D\\a%b -D 20 --yes @model dc1", "--duration=20 --yes");
    expect_words("-A @auth --only ldap,dns:0 --label x=y=z @model dc1",
                 "--only=ldap,dns:0 --label=x=y=z");
    expect_words("-k --realm R @model dc1", "--realm=R --kerberos");
    write_config("duration: 7\nskip: [dns, 'ldap:2']\naverage-groups-per-user: 3\n"
                 "prefer-kerberos: true\nsmb-encrypt: false\nuser: x%y\n");
    expect_words("@model dc1", "--duration=7 --skip=dns --skip=ldap:2 --prefer-kerberos "
                               "--average-groups-per-user=3");
    /* The stronger of two conflicting options remains. */
    expect_words("-D 8 --skip nbns --group-memberships 5 @model dc1",
                 "--duration=8 --skip=nbns --prefer-kerberos --group-memberships=5");
    write_config("");
}

static void another_configuration_file_is_read(void **state)
{
    (void)state;
    struct settings settings;
    write_config("duration: 7\nuser: x%y\n");
    write_file("auth-wrong.yaml", "warmup: 3\nuser: \"p%q\"\n", 0600);
    read_well(&settings, "--config @auth-wrong.yaml @model dc1");
    assert_true(settings.duration == 60 && settings.warmup == 3);
    assert_string_equal(settings.admin.password, "q");
    settings_clear(&settings);
    unlink(path_in_folder("auth-wrong.yaml"));
    assert_int_equal(read_line(&settings, "--config @missing @model dc1"), EXIT_USAGE);
    assert_non_null(strstr(messages, "--config: cannot read"));
    settings_clear(&settings);
    write_config("");
}

static void options_can_be_tried_one_by_one(void **state)
{
    (void)state;
    assert_null(settings_try("duration", "10"));
    assert_null(settings_try("only", "ldap,dns:0"));
    assert_null(settings_try("yes", "true"));
    assert_string_equal(settings_try("duration", "x"), "\"x\" is not a number");
    assert_string_equal(settings_try("durations", "1"), "unknown option; did you mean duration?");
    assert_string_equal(settings_try("dry-run", "true"), "allowed only on the command line");
    assert_true(settings_is_flag("yes") && !settings_is_flag("duration") &&
                !settings_is_flag("nothing"));
    int count = cut("traffic-replay", "-D 10 @model -U a%b -- dc1 -x");
    assert_int_equal(settings_count_arguments(count, words), 3);
}

static bool file_holds(const char *path, const char *text)
{
    static char content[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    return memmem(content, size, text, strlen(text)) != NULL;
}

/* Runs in a separate process: 0 when it finds no secrets. */
static int probe(int argc, char **argv)
{
    static const char *const secrets[] = {"Adminsecret", "Fixedsecret", "Environsecret"};
    struct settings settings;
    int status;
    if (settings_read(&settings, argc, argv, &status) != STEP_NEXT)
        return 10;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        if (file_holds("/proc/self/cmdline", secrets[i]) ||
            file_holds("/proc/self/environ", secrets[i]) ||
            strstr(settings.command_line, secrets[i]))
            return 11 + (int)i;
    if (!settings.fixed_password || strcmp(settings.fixed_password, "Fixedsecret") != 0)
        return 20;
    if (!settings.admin.password || !strstr(settings.admin.password, "secret"))
        return 21;
    puts(settings.command_line);
    fflush(stdout);
    settings_clear(&settings);
    return 0;
}

static int run_probe(const char *line, char *const environment[], char *output, size_t size)
{
    int count = cut("traffic-replay", line), pipes[2];
    words[count] = NULL;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        execve("/proc/self/exe", words, environment);
        _exit(99);
    }
    close(pipes[1]);
    ssize_t got = read(pipes[0], output, size - 1);
    output[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void secrets_leave_no_trace(void **state)
{
    (void)state;
    char *nothing[] = {"XDG_CONFIG_HOME=/nowhere", NULL};
    char *both[] = {"XDG_CONFIG_HOME=/nowhere", "TRAFFIC_REPLAY_USER=admin%Environsecret",
                    "TRAFFIC_REPLAY_PASSWORD=Environsecret", NULL};
    static const char *const lines[] = {
        "-U admin%Adminsecret -F Fixedsecret @model dc1",
        "-Uadmin%Adminsecret -KFFixedsecret @model dc1",
        "@model dc1 --user=admin%Adminsecret --fixed-password=Fixedsecret",
        "@model dc1 --us admin%Adminsecret --fixed-password Fixedsecret",
    };
    char output[TEXT_MAX];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        int status = run_probe(lines[i], nothing, output, sizeof output);
        if (status != 0)
            fail_msg("%s: probe says %d", lines[i], status);
        assert_non_null(strstr(output, "admin%***"));
    }
    assert_int_equal(run_probe("-F Fixedsecret @model dc1", both, output, sizeof output), 0);
    assert_null(strstr(output, "Fixed"));
}

static void the_command_line_is_quoted(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "--dry-run -F abcdef @model --label a=it's");
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "traffic-replay --dry-run -F *** %s --label 'a=it'\\''s'",
             path_in_folder("model"));
    assert_string_equal(settings.command_line, expected);
    settings_clear(&settings);
    /* Control characters, and bytes that are not UTF-8. */
    read_well(&settings, "--dry-run @model --label a=\x1b\\' --json /tmp/\xff --label b=\xc3\xa9");
    snprintf(expected, sizeof expected,
             "traffic-replay --dry-run %s --label $'a=\\033\\134\\047' --json $'/tmp/\\377' "
             "--label 'b=\xc3\xa9'",
             path_in_folder("model"));
    assert_string_equal(settings.command_line, expected);
    settings_clear(&settings);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return probe(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_names_are_taken_apart),
        cmocka_unit_test(a_password_may_contain_percent_signs),
        cmocka_unit_test(an_authentication_file_is_read),
        cmocka_unit_test(the_environment_is_read),
        cmocka_unit_test(the_configuration_file_is_read),
        cmocka_unit_test(the_environment_beats_the_file),
        cmocka_unit_test(settings_become_words_of_a_command_line),
        cmocka_unit_test(another_configuration_file_is_read),
        cmocka_unit_test(options_can_be_tried_one_by_one),
        cmocka_unit_test(wrong_configuration_files_are_refused),
        cmocka_unit_test(a_readable_file_must_not_hold_a_password),
        cmocka_unit_test(secrets_leave_no_trace),
        cmocka_unit_test(the_command_line_is_quoted),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
