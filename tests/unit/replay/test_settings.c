/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the command line: usage errors with message and exit status, values, --help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "replay/settings.h"

#include "tests/lib/settings_lines.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define NUMBER " is not a number"
#define RATE   " is out of range: expected a number above 0 and at most 1000000"

static const struct {
    const char *line, *message;
} refused[] = {
    {"", "missing MODEL; give a model file and a DC, or see --help"},
    {"@model", "missing DC; give its name after the model file"},
    {"--dry-run", "missing MODEL; give a model file, or see --help"},
    {"-c", "missing DC; give its name after the options"},
    {"-G -n 3", "missing DC; give its name after the options"},
    {"@model dc1 more", "unexpected argument \"more\""},
    {"-U a%b @missing dc1", "MODEL: cannot read \"@missing\": No such file or directory"},
    {"-U a%b @ dc1", "MODEL: cannot read \"@\": Is a directory"},
    {"-r 4x @model dc1", "-r: \"4x\"" NUMBER},
    {"-r nan @model dc1", "-r: \"nan\"" NUMBER},
    {"-r inf @model dc1", "-r: \"inf\"" NUMBER},
    {"-r 0x10 @model dc1", "-r: \"0x10\"" NUMBER},
    {"-r 1e999 @model dc1", "-r: \"1e999\"" NUMBER},
    {"--replay-rate= @model dc1", "--replay-rate: \"\"" NUMBER},
    {"-r 0 @model dc1", "-r: \"0\"" RATE},
    {"-r -1 @model dc1", "-r: \"-1\"" RATE},
    {"-r 1000001 @model dc1", "-r: \"1000001\"" RATE},
    {"-S 0 @model dc1", "-S: \"0\"" RATE},
    {"--scale-traffic=-2 @model dc1", "--scale-traffic: \"-2\"" RATE},
    {"-S 2 -T 100 @model dc1",
     "--scale-traffic and --packets-per-second exclude each other; give one of them"},
    {"-T 0 @model dc1",
     "-T: \"0\" is out of range: expected a number above 0 and at most 100000000"},
    {"-D 0 @model dc1",
     "-D: \"0\" is out of range: expected a number above 0 and at most 10000000"},
    {"--warmup -1 @model dc1",
     "--warmup: \"-1\" is out of range: expected a number from 0 to 10000000"},
    {"--timeout 4000 @model dc1",
     "--timeout: \"4000\" is out of range: expected a number above 0 and at most 3600"},
    {"--latency-timeout x @model dc1", "--latency-timeout: \"x\"" NUMBER},
    {"--max-backlog 0 @model dc1",
     "--max-backlog: \"0\" is out of range: expected a number above 0 and at most 10000000"},
    {"-B 1.5 @model dc1", "-B: \"1.5\" is out of range: expected a number from 0 to 1"},
    {"--conversation-persistence 2 @model dc1",
     "--conversation-persistence: \"2\" is out of range: expected a number from 0 to 1"},
    {"--dns-rate -3 @model dc1",
     "--dns-rate: \"-3\" is out of range: expected a number from 0 to 1000000"},
    {"--threads 0 @model dc1",
     "--threads: \"0\" is out of range: expected a number from 1 to 1024"},
    {"--threads 2.5 @model dc1", "--threads: \"2.5\" is not a whole number"},
    {"--threads 99999999999999999999 @model dc1",
     "--threads: \"99999999999999999999\" is out of range: expected a number from 1 to 1024"},
    {"--kdc-preauth-legs 3 @model dc1",
     "--kdc-preauth-legs: \"3\" is out of range: expected a number from 1 to 2"},
    {"--kdc-transport sctp @model dc1", "--kdc-transport: \"sctp\" is neither tcp nor udp"},
    {"--server nt4 @model dc1", "--server: \"nt4\" is none of dc, ldap and smb"},
    {"--server smb @model fs1", "--server smb requires --accounts FILE"},
    {"--server smb --accounts @accounts @model fs1", "--server smb requires --smb-share SHARE"},
    {"--server smb --accounts @accounts --smb-share s -K @model fs1",
     "--server smb: -K requires --realm REALM"},
    {"--server smb --accounts @accounts --smb-share s -k @model fs1",
     "--kerberos requires a domain controller; leave out --server smb"},
    {"--pace fast @model dc1", "--pace: \"fast\" is neither reply nor a number of MB/s above 0"},
    {"--pace 0 @model dc1", "--pace: \"0\" is neither reply nor a number of MB/s above 0"},
    {"--smb-folder a\\b @model dc1", "--smb-folder: \"a\\b\" is not the name of a folder"},
    {"--smb-folder .. @model dc1", "--smb-folder: \"..\" is not the name of a folder"},
    {"--smb-dialect 1 @model dc1",
     "--smb-dialect: \"1\" is none of 2.0.2, 2.1, 3.0, 3.0.2 and 3.1.1"},
    {"--smb-signing yes @model dc1", "--smb-signing: \"yes\" is neither server nor required"},
    {"--server ldap @model ldap1", "--server ldap requires --accounts FILE"},
    {"--server ldap -K --accounts @accounts @model ldap1",
     "--prefer-kerberos requires a domain controller; leave out --server ldap"},
    {"--server ldap -c ldap1", "--clean-up requires a domain controller; leave out --server ldap"},
    {"-I -1 @model dc1", "-I: \"-1\" is out of range: expected a number from 0 to 99999"},
    {"-I 1x @model dc1", "-I: \"1x\" is not a whole number"},
    {"-n 0 @model dc1", "-n: \"0\" is out of range: expected a number from 1 to 10000000"},
    {"-n 1e3 @model dc1", "-n: \"1e3\" is not a whole number"},
    {"--max-members 0 @model dc1",
     "--max-members: \"0\" is out of range: expected a number from 1 to 1000000000"},
    {"--number-of-groups 3 --average-groups-per-user 4 @model dc1",
     "--average-groups-per-user: 4 is more than the 3 groups of --number-of-groups"},
    {"--average-groups-per-user 2 --group-memberships 10 @model dc1",
     "--average-groups-per-user and --group-memberships exclude each other; give one of them"},
    {"-G dc1", "-G: missing number of accounts; give -n USERS, --number-of-groups GROUPS, or both"},
    {"-c -G -n 3 dc1",
     "--clean-up and --generate-users-only exclude each other; run the program twice"},
    {"--make-accounts -c @model dc1",
     "--make-accounts and --clean-up exclude each other; run the program twice"},
    {"--make-accounts --dry-run @model",
     "--make-accounts and --dry-run exclude each other; leave one out"},
    {"--make-accounts --accounts @accounts @model dc1",
     "--accounts and --make-accounts exclude each other; leave one out"},
    {"--make-accounts --server ldap @model dc1",
     "--make-accounts requires a domain controller; leave out --server ldap"},
    {"--dry-run -c @model", "--dry-run and --clean-up exclude each other; leave one out"},
    {"--dry-run --traffic-summary - @model",
     "--dry-run and --traffic-summary exclude each other; leave one out"},
    {"--accounts @accounts -F x @model dc1",
     "--accounts and --fixed-password exclude each other; the file contains the passwords"},
    {"--accounts @missing @model dc1",
     "--accounts: cannot read \"@missing\": No such file or directory"},
    {"--dns-query-file @missing @model dc1",
     "--dns-query-file: cannot read \"@missing\": No such file or directory"},
    {"--tls-ca @missing @model dc1",
     "--tls-ca: cannot read \"@missing\": No such file or directory"},
    {"--json @no/such/folder @model dc1",
     "--json: cannot write \"@no/such/folder\": No such file or directory"},
    {"--json @ @model dc1", "--json: cannot write \"@\": Is a directory"},
    {"-t @no/file @model dc1", "-t: cannot write \"@no/file\": No such file or directory"},
    {"--json @model @model dc1", "--json: \"@model\" is the model; give another file"},
    {"-t - --json - @model dc1", "--json and --timing-data write the same file \"-\"; give two "
                                 "files"},
    {"--fixed-password= @model dc1", "--fixed-password: empty value"},
    {"-U %secret @model dc1", "-U: missing name before the %"},
    {"-U a%b -A @auth @model dc1",
     "--user and --authentication-file exclude each other; give one of them"},
    {"-U a%b -k @model dc1",
     "--user and --kerberos exclude each other; the tickets contain the name"},
    {"-A @missing @model dc1", "-A: cannot read @missing: No such file or directory"},
    {"-A @auth-wrong @model dc1", "-A: @auth-wrong:2: expected one \"username = ...\", "
                                  "\"password = ...\" or \"domain = ...\""},
    {"-A @auth-nobody @model dc1",
     "-A: @auth-nobody: contains no username; add a line \"username = ...\""},
    {"@model dc1", "missing administrator's name; give -U USER%PASSWORD, -A FILE, -k, or "
                   "TRAFFIC_REPLAY_USER and _PASSWORD"},
    {"-U admin @model dc1",
     "missing administrator's password; give -U USER%PASSWORD, -A FILE, -k, or "
     "TRAFFIC_REPLAY_USER and _PASSWORD"},
    {"--label x @model dc1", "--label: \"x\" is not NAME=VALUE"},
    {"--label =x @model dc1", "--label: \"=x\" is not NAME=VALUE"},
    {"--label \xff=x @model dc1", "--label: \"\xff=x\" is not UTF-8"},
    {"--dry-run /no\x1b[31m\nmodel",
     "MODEL: cannot read \"/no?[31m?model\": No such file or directory"},
    {"--\xc2\x9bx @model dc1", "--??x: unknown option; see --help"},
    {"--label a=1 --label a=2 @model dc1", "--label: \"a\" is given twice"},
    {"--only ,ldap @model dc1",
     "--only: expected PROTOCOL or PROTOCOL:OPCODE, for example ldap or ldap:3"},
    {"--skip :3 @model dc1",
     "--skip: expected PROTOCOL or PROTOCOL:OPCODE, for example ldap or ldap:3"},
    {"--source 10.0.0.1 @model dc1",
     "--source: \"10.0.0.1\" is not ADDRESS/BITS, for example 10.1.0.0/16"},
    {"--source 10.0.0.0/33 @model dc1",
     "--source: \"10.0.0.0/33\" has no valid prefix length; expected 0 to 32"},
    {"--source ::1/129 @model dc1",
     "--source: \"::1/129\" has no valid prefix length; expected 0 to 128"},
    {"--random-seed -4 @model dc1",
     "--random-seed: \"-4\" is not a whole number from 0 to 9223372036854775807"},
    {"--random-seed 9223372036854775808 @model dc1",
     "--random-seed: \"9223372036854775808\" is out of range: expected a number from 0 to "
     "9223372036854775807"},
    {"--replay-rat3 4 @model dc1", "--replay-rat3: unknown option; did you mean --replay-rate?"},
    {"--jsn=x @model dc1", "--jsn: unknown option; did you mean --json?"},
    {"--username x @model dc1", "--username: unknown option; did you mean --user?"},
    {"--frobnicate @model dc1", "--frobnicate: unknown option; see --help"},
    {"--t 3 @model dc1",
     "--t: ambiguous option; it matches --timeout, --threads, --tls-verify, --tls-ca, "
     "--timing-data, --traffic-summary"},
    {"-z @model dc1", "-z: unknown option; see --help"},
    {"-Kz @model dc1", "-z: unknown option; see --help"},
    {"@model dc1 -r", "-r: missing FACTOR"},
    {"@model dc1 --replay-rate", "--replay-rate: missing FACTOR"},
    {"--yes=maybe @model dc1", "--yes: takes no value"},
};

static void wrong_command_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct settings settings;
        int status = read_line(&settings, refused[i].line);
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", refused[i].line, status, messages);
        expect_message(refused[i].line, "traffic-replay", refused[i].message);
        settings_clear(&settings);
    }
}

static void options_have_defaults(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-U admin%pw @model dc1");
    assert_string_equal(messages, "");
    assert_string_equal(settings.model, path_in_folder("model"));
    assert_string_equal(settings.dc, "dc1");
    assert_true(settings.replay_rate == 1 && settings.scale == 1);
    assert_true(settings.packets_per_second == 0);
    assert_true(settings.duration == 60 && settings.warmup == 5);
    assert_true(settings.timeout == 30 && settings.latency_timeout == 1);
    assert_int_equal(settings.play.kdc_preauth_legs, 1);
    assert_int_equal(settings.play.kdc, KDC_TCP);
    assert_false(settings.random_seed_given);
    assert_string_equal(settings.admin.name, "admin");
    assert_string_equal(settings.admin.password, "pw");
    settings_clear(&settings);
}

static void seeds_differ(void **state)
{
    (void)state;
    struct settings one, other;
    read_well(&one, "--dry-run @model");
    read_well(&other, "--dry-run @model");
    assert_true(one.random_seed != other.random_seed);
    assert_true(one.random_seed <= UINT32_MAX);
    settings_clear(&one);
    settings_clear(&other);
}

static void letters_are_the_established_ones(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-r 4 -S 2.5 -D 30 -B 0.1 -K -I 7 -F pass -t - -n 12 -U u%p -W DOM -v -v "
                         "--random-seed 9 @model dc1");
    assert_true(settings.replay_rate == 4 && settings.scale == 2.5 && settings.duration == 30);
    assert_true(settings.play.badpassword_frequency == 0.1 && settings.play.prefer_kerberos);
    assert_int_equal(settings.instance_id, 7);
    assert_string_equal(settings.fixed_password, "pass");
    assert_string_equal(settings.timing_data, "-");
    assert_int_equal(settings.number_of_users, 12);
    assert_string_equal(settings.workgroup, "DOM");
    assert_int_equal(settings.verbose, 2);
    assert_int_equal(settings.random_seed, 9);
    settings_clear(&settings);
    read_well(&settings, "-T 250 -U u%p @model dc1");
    assert_true(settings.packets_per_second == 250 && settings.scale == 0);
    settings_clear(&settings);
    read_well(&settings, "-c -U u%p @model dc1");
    assert_true(settings.clean_up);
    assert_string_equal(settings.dc, "dc1");
    settings_clear(&settings);
    read_well(&settings, "-G --number-of-groups 4 -U u%p dc1");
    assert_true(settings.generate_users_only && settings.number_of_groups_given);
    assert_null(settings.model);
    settings_clear(&settings);
}

static void the_file_of_json_is_optional(void **state)
{
    (void)state;
    static const struct {
        const char *line, *json;
    } cases[] = {
        {"--dry-run --json @model", NULL},
        {"--dry-run @model --json", NULL},
        {"--dry-run --json - @model", NULL},
        {"--dry-run --json @out.json @model", "out.json"},
        {"--dry-run @model --json @out.json", "out.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct settings settings;
        read_well(&settings, cases[i].line);
        assert_true(settings.json_wanted);
        assert_string_equal(settings.json, cases[i].json ? path_in_folder(cases[i].json) : "-");
        assert_string_equal(settings.model, path_in_folder("model"));
        settings_clear(&settings);
    }
}

static void only_and_skip_name_packets(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "--dry-run --only ldap,kerberos:10 --only kerberos: --skip ldap:2 @model");
    assert_true(settings_plays(&settings, "ldap", "3"));
    assert_false(settings_plays(&settings, "ldap", "2"));
    assert_true(settings_plays(&settings, "kerberos", "10"));
    assert_true(settings_plays(&settings, "kerberos", ""));
    assert_false(settings_plays(&settings, "kerberos", "12"));
    assert_false(settings_plays(&settings, "dns", "0"));
    settings_clear(&settings);
}

static void labels_are_read(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "--dry-run --label cpu=8 --label build=v=2 @model");
    assert_int_equal(settings.label_count, 2);
    assert_string_equal(settings.labels[0].name, "cpu");
    assert_string_equal(settings.labels[1].value, "v=2");
    settings_clear(&settings);
}

static void help_and_version_are_printed(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "--version", "-V", "-r 0 --version"};
    int saved = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct settings settings;
        fflush(stdout);
        dup2(null, STDOUT_FILENO);
        int status = read_line(&settings, lines[i]);
        fflush(stdout);
        dup2(saved, STDOUT_FILENO);
        assert_int_equal(status, EXIT_OK);
        settings_clear(&settings);
    }
    close(saved);
    close(null);
}

/* The text of --help; the caller frees it. */
static char *help_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    settings_help(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Whether text contains word, not followed by another letter. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = text; (found = strstr(found, word)); found += length)
        if (!strchr("abcdefghijklmnopqrstuvwxyz-", found[length]) || !found[length])
            return true;
    return false;
}

static char *manual(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen("man/traffic-replay.1", "r");
    if (!in)
        fail_msg("man/traffic-replay.1: %s", strerror(errno));
    assert_true(getdelim(&text, &size, '\0', in) > 0);
    fclose(in);
    return text;
}

/* The manual page lists each option of --help, with its letter. */
static void the_manual_has_all_of_help(void **state)
{
    (void)state;
    char *help = help_text(), *page = manual();
    unsigned count = 0;
    for (char *rest = help, *line; (line = strsep(&rest, "\n"));) {
        char wanted[128], *name = strstr(line, "--");
        if (strncmp(line, "  ", 2) != 0 || !name || name - line > 6)
            continue;
        int length = (int)strcspn(name + 2, " ");
        if (line[2] == '-')
            snprintf(wanted, sizeof wanted, ".It Fl %c , Fl -%.*s", line[3], length, name + 2);
        else
            snprintf(wanted, sizeof wanted, ".It Fl -%.*s", length, name + 2);
        if (!has_word(page, wanted))
            fail_msg("the manual page lacks \"%s\"", wanted);
        count++;
    }
    assert_true(count > 50);
    free(help);
    free(page);
}

/* --help lists each option of the manual page. */
static void help_has_all_of_the_manual(void **state)
{
    (void)state;
    char *help = help_text(), *page = manual();
    unsigned count = 0;
    for (char *rest = page, *line; (line = strsep(&rest, "\n"));) {
        char wanted[128], *name = strstr(line, "Fl -");
        if (strncmp(line, ".It Fl ", 7) != 0 || !name) /* a letter alone, described elsewhere */
            continue;
        snprintf(wanted, sizeof wanted, "--%.*s", (int)strcspn(name + 4, " "), name + 4);
        if (!has_word(help, wanted))
            fail_msg("--help lacks \"%s\"", wanted);
        count++;
    }
    assert_true(count > 50);
    free(help);
    free(page);
}

static void lines_of_help_fit(void **state)
{
    (void)state;
    char *text = help_text();
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (strlen(line) > 120)
            fail_msg("line too long: %s", line);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(options_have_defaults),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(letters_are_the_established_ones),
        cmocka_unit_test(the_file_of_json_is_optional),
        cmocka_unit_test(only_and_skip_name_packets),
        cmocka_unit_test(labels_are_read),
        cmocka_unit_test(help_and_version_are_printed),
        cmocka_unit_test(lines_of_help_fit),
        cmocka_unit_test(the_manual_has_all_of_help),
        cmocka_unit_test(help_has_all_of_the_manual),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
