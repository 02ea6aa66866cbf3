/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: a table of command lines that must be refused, with message and exit status; sources
 * and their order; the configuration file's mistakes; secrets that leave no trace in the process.
 */
#include "replay/settings.h"

#include "replay/settings_arguments.h"
#include "tests/lib/command_line.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static void write_config(const char *content)
{
    write_file("traffic-replay.yaml", content, 0600);
}

enum { NO_STATUS = -1 };

/* Reads a command line. Returns the exit status; NO_STATUS: the run can begin. Standard error is in
 * told. */
static int read_line(struct settings *settings, const char *line)
{
    int count = cut("traffic-replay", line), status = NO_STATUS;
    hear();
    enum step step = settings_read(settings, count, words, &status);
    heard();
    return step == STEP_NEXT ? NO_STATUS : status;
}

static void read_well(struct settings *settings, const char *line)
{
    int status = read_line(settings, line);
    if (status != NO_STATUS)
        fail_msg("%s: status %d: %s", line, status, told);
}

/* ---- Command lines that are refused ---- */

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
    {"--server nt4 @model dc1", "--server: \"nt4\" is neither dc nor ldap"},
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
    {"-A @missing @model dc1", "-A: @missing: cannot read it: No such file or directory"},
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

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct settings settings;
        int status = read_line(&settings, refused[i].line);
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", refused[i].line, status, told);
        expect_told(refused[i].line, "traffic-replay", refused[i].message);
        settings_clear(&settings);
    }
}

/* ---- Values ---- */

static void test_defaults(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-U admin%pw @model dc1");
    assert_string_equal(told, "");
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

static void test_seeds_differ(void **state)
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

static void test_letters_of_the_field(void **state)
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

static void test_json_alone(void **state)
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

static void test_only_and_skip(void **state)
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

static void test_labels(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "--dry-run --label cpu=8 --label build=v=2 @model");
    assert_int_equal(settings.label_count, 2);
    assert_string_equal(settings.labels[0].name, "cpu");
    assert_string_equal(settings.labels[1].value, "v=2");
    settings_clear(&settings);
}

/* ---- Who ---- */

static void check_optional(const char *found, const char *expected)
{
    if (expected && found)
        assert_string_equal(found, expected);
    else
        assert_true(!found && !expected);
}

static void test_names(void **state)
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

static void test_password_with_percent(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-U admin%a%b @model dc1");
    assert_string_equal(settings.admin.password, "a%b");
    settings_clear(&settings);
}

static void test_authentication_file(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "-A @auth @model dc1");
    assert_string_equal(settings.admin.password, "p = w # %");
    assert_string_equal(told, "");
    settings_clear(&settings);
    assert_int_equal(chmod(path_in_folder("auth"), 0644), 0);
    read_well(&settings, "-A @auth @model dc1");
    assert_non_null(strstr(told, "is world-readable"));
    settings_clear(&settings);
    assert_int_equal(chmod(path_in_folder("auth"), 0600), 0);
}

static void test_environment(void **state)
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

/* ---- The configuration file ---- */

static void test_config(void **state)
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

static void test_environment_beats_config(void **state)
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

static void test_bad_configs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_configs / sizeof bad_configs[0]; i++) {
        struct settings settings;
        write_config(bad_configs[i].content);
        int status = read_line(&settings, "-U a%b @model dc1");
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", bad_configs[i].content, status, told);
        expect_told(bad_configs[i].content, "traffic-replay", bad_configs[i].message);
        settings_clear(&settings);
    }
    write_config("");
}

static void test_open_config_with_password(void **state)
{
    (void)state;
    struct settings settings;
    write_file("traffic-replay.yaml", "user: a%b\n", 0644);
    assert_int_equal(read_line(&settings, "@model dc1"), EXIT_USAGE);
    assert_non_null(
        strstr(told, "the file contains a password and is world-readable; run: chmod o= "));
    assert_null(strstr(told, "a%b"));
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

/* What another traffic-replay is called with: what is in force, without secrets. */
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

static void test_words(void **state)
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
    /* What is stronger stands alone. */
    expect_words("-D 8 --skip nbns --group-memberships 5 @model dc1",
                 "--duration=8 --skip=nbns --prefer-kerberos --group-memberships=5");
    write_config("");
}

static void test_other_config(void **state)
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
    assert_non_null(strstr(told, "--config: cannot read"));
    settings_clear(&settings);
    write_config("");
}

static void test_single_options(void **state)
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

/* ---- Secrets ---- */

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

/* Runs in a process of its own: 0 when nothing of the secrets is to be found. */
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

static void test_secrets_leave_no_trace(void **state)
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

static void test_command_line_is_quoted(void **state)
{
    (void)state;
    struct settings settings;
    read_well(&settings, "--dry-run -F abcdef @model --label a=it's");
    char expected[TEXT_MAX];
    snprintf(expected, sizeof expected, "traffic-replay --dry-run -F *** %s --label 'a=it'\\''s'",
             path_in_folder("model"));
    assert_string_equal(settings.command_line, expected);
    settings_clear(&settings);
    /* What would control a terminal, or is no text for JSON. */
    read_well(&settings, "--dry-run @model --label a=\x1b\\' --json /tmp/\xff --label b=\xc3\xa9");
    snprintf(expected, sizeof expected,
             "traffic-replay --dry-run %s --label $'a=\\033\\134\\047' --json $'/tmp/\\377' "
             "--label 'b=\xc3\xa9'",
             path_in_folder("model"));
    assert_string_equal(settings.command_line, expected);
    settings_clear(&settings);
}

/* ---- Help ---- */

static void test_help_and_version(void **state)
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

/* What --help says, as one text; the caller's. */
static char *help_text(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    settings_help(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Whether text has word, not followed by more letters. */
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

/* Each option of --help, with its letter, stands in the manual page. */
static void test_manual_has_all_of_help(void **state)
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

/* And each of the manual page's stands in --help. */
static void test_help_has_all_of_manual(void **state)
{
    (void)state;
    char *help = help_text(), *page = manual();
    unsigned count = 0;
    for (char *rest = page, *line; (line = strsep(&rest, "\n"));) {
        char wanted[128], *name = strstr(line, "Fl -");
        if (strncmp(line, ".It Fl ", 7) != 0 || !name) /* a letter alone: told of elsewhere */
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

static void test_help_lines_fit(void **state)
{
    (void)state;
    char *text = help_text();
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (strlen(line) > 120)
            fail_msg("line too long: %s", line);
    free(text);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || !freopen("/dev/null", "r", stdin))
        return -1;
    unsetenv("TRAFFIC_REPLAY_USER");
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    setenv("XDG_CONFIG_HOME", folder, 1);
    write_file("model", "version: 3\n", 0600);
    write_file("accounts", "", 0600);
    write_file("auth", "# who\nusername = filed\n password=p = w # %  \ndomain = FILEDOM\n", 0600);
    write_file("auth-wrong", "username = x\npasword = y\n", 0600);
    write_file("auth-nobody", "password = y\n", 0600);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    static const char *const names[] = {"model",      "accounts",    "auth",
                                        "auth-wrong", "auth-nobody", "traffic-replay.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in_folder(names[i]));
    free_words();
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return probe(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_letters_of_the_field),
        cmocka_unit_test(test_json_alone),
        cmocka_unit_test(test_only_and_skip),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_password_with_percent),
        cmocka_unit_test(test_authentication_file),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_environment_beats_config),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_other_config),
        cmocka_unit_test(test_single_options),
        cmocka_unit_test(test_bad_configs),
        cmocka_unit_test(test_open_config_with_password),
        cmocka_unit_test(test_secrets_leave_no_trace),
        cmocka_unit_test(test_command_line_is_quoted),
        cmocka_unit_test(test_help_and_version),
        cmocka_unit_test(test_help_lines_fit),
        cmocka_unit_test(test_manual_has_all_of_help),
        cmocka_unit_test(test_help_has_all_of_manual),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
