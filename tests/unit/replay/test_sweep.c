/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps without a server: lists, variables in commands, options, sweep files, names and order of
 * cells, and what --resume refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "replay/sweep/sweep_options.h"

#include "base/message.h"
#include "replay/settings_arguments.h"
#include "replay/sweep/sweep_cell.h"
#include "replay/sweep/sweep_expand.h"
#include "tests/lib/command_line.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static const struct {
    const char *text, *values; /* separated by blanks */
} lists[] = {
    {"4", "4"},
    {"4:8", "4 5 6 7 8"},
    {"4:24:4", "4 8 12 16 20 24"},
    {"4:23:4", "4 8 12 16 20"},
    {"4,8,16", "4 8 16"},
    {"1:3,8,10:12:2", "1 2 3 8 10 12"},
    {"0.5", "0.5"},
    {"0.1:0.5:0.1", "0.1 0.2 0.3 0.4 0.5"},
    {"1:2:0.25", "1 1.25 1.5 1.75 2"},
    {"7:7", "7"},
    {"16,4", "16 4"},
    {"1000000", "1000000"},
    {"1e3", "1000"},
};

static void lists_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct sweep_list list = {0};
        struct error error = {0};
        char text[TEXT_MAX] = "";
        if (sweep_list_parse(lists[i].text, &list, &error) != 0)
            fail_msg("%s: %s", lists[i].text, error.text);
        for (size_t v = 0; v < list.count; v++) {
            if (v)
                strcat(text, " ");
            strcat(text, list.items[v].text);
            assert_true(list.items[v].value == strtod(list.items[v].text, NULL));
        }
        assert_string_equal(text, lists[i].values);
        sweep_list_clear(&list);
    }
}

#define NO_LIST                                                                                    \
    " is not a list: expected numbers and ranges FROM:TO or FROM:TO:STEP, separated by commas"
#define RANGE " is out of range: expected numbers above 0 and at most 1e+06"

static const struct {
    const char *text, *error;
} wrong_lists[] = {
    {"", "\"\"" NO_LIST},
    {",", "\",\"" NO_LIST},
    {"4,", "\"4,\"" NO_LIST},
    {"4,,8", "\"4,,8\"" NO_LIST},
    {"4:", "\"4:\"" NO_LIST},
    {":4", "\":4\"" NO_LIST},
    {"1:2:3:4", "\"1:2:3:4\"" NO_LIST},
    {"x", "\"x\" is not a number"},
    {"4x", "\"4x\" is not a number"},
    {"4:x", "\"x\" is not a number"},
    {" 4", "\" 4\" is not a number"},
    {"0x10", "\"0x10\" is not a number"},
    {"nan", "\"nan\" is not a number"},
    {"inf", "\"inf\" is not a number"},
    {"1e999", "\"1e999\" is not a number"},
    {"0", "\"0\"" RANGE},
    {"-4", "\"-4\"" RANGE},
    {"1000001", "\"1000001\"" RANGE},
    {"4:24:0", "\"0\"" RANGE},
    {"4:24:-1", "\"-1\"" RANGE},
    {"24:4", "\"24:4\" is a descending range; give the smaller number first"},
    {"4,8,4", "4 is given twice"},
    {"1:5,3", "3 is given twice"},
    {"1:1000000", "too many values (maximum 10000)"},
    {"1:1000000:0.000001", "too many values (maximum 10000)"},
};

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_lists / sizeof wrong_lists[0]; i++) {
        struct sweep_list list = {0};
        struct error error = {0};
        assert_int_equal(sweep_list_parse(wrong_lists[i].text, &list, &error), -EINVAL);
        assert_string_equal(error.text, wrong_lists[i].error);
        sweep_list_clear(&list);
    }
}

static const struct sweep_variable variables[] = {{"r", "4"}, {"S", "0.5"}, {"pre-fork", "a b"}};

static const struct {
    const char *text, *expanded, *error;
} expansions[] = {
    {"", "", NULL},
    {"restart", "restart", NULL},
    {"{r} {S} {pre-fork}", "4 0.5 a b", NULL},
    {"{r}{r}", "44", NULL},
    {"x{r}y", "x4y", NULL},
    {"${r} $HOME ${HOME}", "${r} $HOME ${HOME}", NULL},
    {"{{r} {{{r}", "{r} {4", NULL},
    {"{ cmd; }", "{ cmd; }", NULL},
    {"{a,b} {1..3} {", "{a,b} {1..3} {", NULL},
    {"{r", "{r", NULL},
    {"}{r}}", "}4}", NULL},
    {"awk '{{print}'", "awk '{print}'", NULL},
    {"{R}", NULL,
     "unknown variable {R}: expected {r}, {S}, {pre-fork}, or {{R} for a literal brace"},
    {"a {prefork} b", NULL,
     "unknown variable {prefork}: expected {r}, {S}, {pre-fork}, or {{prefork} for a literal "
     "brace"},
};

static void ranges_are_expanded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expansions / sizeof expansions[0]; i++) {
        struct error error = {0};
        char *out = NULL;
        int result = sweep_expand(expansions[i].text, variables, 3, &out, &error);
        if (expansions[i].error) {
            assert_int_equal(result, -EINVAL);
            assert_string_equal(error.text, expansions[i].error);
            assert_null(out);
        } else {
            assert_int_equal(result, 0);
            assert_string_equal(out, expansions[i].expanded);
        }
        free(out);
    }
    assert_true(sweep_is_name("prefork") && sweep_is_name("a-b_1") && sweep_is_name("_x"));
    assert_false(sweep_is_name("") || sweep_is_name("1a") || sweep_is_name("a b") ||
                 sweep_is_name("-a"));
}

enum { NO_STATUS = -1 };

/* Reads a command line. Returns the exit status; NO_STATUS: the sweep can begin. */
static int read_line(struct sweep_options *options, const char *line)
{
    int count = cut("traffic-sweep", line), status = NO_STATUS;
    capture_messages();
    enum step step = sweep_options_read(options, count, words, &status);
    end_capture();
    return step == STEP_NEXT ? NO_STATUS : status;
}

static void read_well(struct sweep_options *options, const char *line)
{
    int status = read_line(options, line);
    if (status != NO_STATUS)
        fail_msg("%s: status %d: %s", line, status, messages);
}

#define LOGON " -- -U a%b @model dc1"

static const struct {
    const char *line, *message;
} refused[] = {
    {"", "missing MODEL; give a model file and a DC, or see --help"},
    {"@model", "missing DC; give its name after the model file"},
    {"-r 4x" LOGON, "-r: \"4x\" is not a number"},
    {"--replay-rate=24:4" LOGON,
     "--replay-rate: \"24:4\" is a descending range; give the smaller number first"},
    {"-S 0" LOGON, "-S: \"0\" is out of range: expected numbers above 0 and at most 1e+06"},
    {"@model dc1 -S", "-S: missing LIST"},
    {"--repeat 0" LOGON, "--repeat: \"0\" is out of range: expected a number from 1 to 1000"},
    {"--repeat -5" LOGON, "--repeat: \"-5\" is out of range: expected a number from 1 to 1000"},
    {"--repeat 1.5" LOGON, "--repeat: \"1.5\" is not a whole number"},
    {"--order up" LOGON, "--order: \"up\" is neither serial nor random"},
    {"--settle -1" LOGON, "--settle: \"-1\" is out of range: expected a number from 0 to 86400"},
    {"--hook-timeout 0" LOGON,
     "--hook-timeout: \"0\" is out of range: expected a number from 0.1 to 86400"},
    {"--results=" LOGON, "--results: empty value"},
    {"--vary x" LOGON, "--vary: \"x\" is not NAME=V1,V2,..."},
    {"--vary =1" LOGON, "--vary: \"=1\" is not NAME=V1,V2,..."},
    {"--vary x=" LOGON, "--vary: x has an empty value"},
    {"--vary x=1,,2" LOGON, "--vary: x has an empty value"},
    {"--vary x=1,2,1" LOGON, "--vary: the value 1 of x is given twice"},
    {"--vary x=1 --vary x=2" LOGON, "--vary: x is given twice"},
    {"--vary r=1" LOGON, "--vary: the name r is reserved; choose another one"},
    {"--vary 1x=1" LOGON,
     "--vary: \"1x\" is not a name: expected a letter, then letters, digits, _ and -"},
    {"--vary x=1 --before {y}" LOGON,
     "--before: unknown variable {y}: expected {r}, {S}, {x}, or {{y} for a literal brace"},
    {"--after {prefork}" LOGON,
     "--after: unknown variable {prefork}: expected {r}, {S}, or {{prefork} for a literal brace"},
    {"--slo success>=99%" LOGON, "--slo requires --find-max, --tune or --versus; for existing "
                                 "results use traffic-summary --slo"},
    {"--find-max --slo p96<=1s" LOGON,
     "--slo: p96<=1s: expected success, ok, failed, achieved, nominal, planned, planned-rate, "
     "MB/s, read-MB/s, write-MB/s, iops, mean, p50, p95 or p99, then "
     ">= or <="},
    {"--find-max --order random" LOGON, "--order and --find-max exclude each other; leave one out"},
    {"--duration 10" LOGON, "--duration: unknown option; put traffic-replay's options after --"},
    {"--nonsense" LOGON, "--nonsense: unknown option; see --help"},
    {"-D 10" LOGON, "-D: unknown option; put traffic-replay's options after --"},
    {"--resume=yes" LOGON, "--resume: takes no value"},
    {"-- -r 4 -U a%b @model dc1", "--replay-rate is an option of traffic-sweep; put it before --"},
    {"-- -S 4 -U a%b @model dc1",
     "--scale-traffic is an option of traffic-sweep; put it before --"},
    {"-- -T 4 -U a%b @model dc1", "--packets-per-second: not allowed in a sweep"},
    {"-- --json @x -U a%b @model dc1", "--json: not allowed in a sweep"},
    {"-- -t @x -U a%b @model dc1", "--timing-data: not allowed in a sweep"},
    {"-- -c -U a%b dc1", "--clean-up: not allowed in a sweep"},
    {"-- --dry-run @model dc1", "--dry-run: not allowed in a sweep"},
    {"-- -D 0 -U a%b @model dc1",
     "-D: \"0\" is out of range: expected a number above 0 and at most 10000000"},
    {"-- --durration 4 -U a%b @model dc1", "--durration: unknown option; did you mean --duration?"},
    {"-- --label repeat=1 -U a%b @model dc1",
     "--label: \"repeat\" is a label of the sweep; choose another name"},
    {"--vary x=1 -- --label x=1 -U a%b @model dc1",
     "--label: \"x\" is a label of the sweep; choose another name"},
    {"-- -U a%b - dc1", "MODEL: standard input can be read only once; give a file"},
    {"-- -U a%b --random-seed 9223372036854775807 @model dc1",
     "--random-seed: too large; repeats add to it"},
    {"-f @missing" LOGON, "@missing: No such file or directory"},
    {"-f @ -- -U a%b @model dc1", "@: expected a file, found a directory"},
};

static void wrong_command_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct sweep_options options;
        int status = read_line(&options, refused[i].line);
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", refused[i].line, status, messages);
        expect_message(refused[i].line, "traffic-sweep", refused[i].message);
        sweep_options_clear(&options);
    }
}

static void options_are_read(void **state)
{
    (void)state;
    struct sweep_options options;
    read_well(&options, "-r 4:6 -S 1,2 --repeat 2 --order random --vary a=1,2 --vary b=x "
                        "--before cmd^{a} --settle 1.5 --resume @model dc1 -- -D 10 -U adm%secret "
                        "--warmup 0 --only ldap,dns --only cldap -K -F hidden");
    assert_int_equal(options.r.count, 3);
    assert_int_equal(options.S.count, 2);
    assert_int_equal(options.repeat, 2);
    assert_true(options.random_order && options.resume && !options.find_max);
    assert_int_equal(options.vary_count, 2);
    assert_string_equal(options.vary[1].values[0], "x");
    assert_string_equal(options.before, "cmd {a}");
    assert_true(options.settle == 1.5 && options.hook_timeout == 300);
    assert_string_equal(options.replay.dc, "dc1");
    assert_string_equal(options.replay.admin.password, "secret");
    assert_string_equal(options.replay.fixed_password, "hidden");
    char *text = sweep_options_text(&options);
    assert_string_equal(text, "--duration=10 --warmup=0 --only=ldap,dns --only=cldap "
                              "--prefer-kerberos --before='cmd {a}' --settle=1.5");
    free(text);
    /* The arguments in a process list contain no secrets. */
    for (int i = 0; words[i]; i++)
        assert_true(!strstr(words[i], "secret") && !strstr(words[i], "hidden"));
    sweep_options_clear(&options);

    read_well(&options, "@model dc1 -- -U a%b");
    assert_string_equal(options.results, "results");
    assert_int_equal(options.r.count, 1);
    assert_string_equal(options.S.items[0].text, "1");
    sweep_options_clear(&options);
}

static void secrets_are_not_passed_on(void **state)
{
    (void)state;
    struct sweep_options options;
    char *text = NULL;
    size_t size = 0;
    read_well(&options, "@model dc1 -- -U DOM\\adm%a\"b\\c%^d -F x");
    assert_int_equal(options.replay_arguments.count, 0);
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(settings_write_secrets(&options.replay, stream), 0);
    fclose(stream);
    assert_string_equal(text, "user: \"DOM\\\\adm%a\\\"b\\\\c% d\"\nfixed-password: \"x\"\n");
    sweep_options_clear(&options);

    /* They can be read back. */
    write_file("secrets", text, 0600);
    free(text);
    struct settings settings;
    int status, count = cut("traffic-sweep", "--config @secrets @model dc1");
    assert_int_equal(settings_read(&settings, count, words, &status), STEP_NEXT);
    assert_string_equal(settings.admin.name, "adm");
    assert_string_equal(settings.admin_domain, "DOM");
    assert_string_equal(settings.admin.password, "a\"b\\c% d");
    assert_string_equal(settings.fixed_password, "x");
    settings_clear(&settings);
}

static const char good_file[] = "model: model\n"
                                "dc: dc9\n"
                                "replay-rate: 4:8:2\n"
                                "scale-traffic: [1, 2.5]\n"
                                "repeat: 3\n"
                                "vary:\n"
                                "  prefork: [1, 2]\n"
                                "  mode: [a]\n"
                                "before: \"restart {prefork}\"\n"
                                "settle: 2\n"
                                "find-max: false\n"
                                "options:\n"
                                "  duration: 10\n"
                                "  prefer-kerberos: true\n"
                                "  smb-encrypt: false\n"
                                "  only: [ldap, \"dns:0\"]\n";

static void a_file_sets_options(void **state)
{
    (void)state;
    struct sweep_options options;
    write_file("sweep.yaml", good_file, 0600);
    read_well(&options, "-f @sweep.yaml -- -U a%b");
    assert_string_equal(options.replay.model, path_in_folder("model"));
    assert_string_equal(options.replay.dc, "dc9");
    assert_int_equal(options.r.count, 3);
    assert_string_equal(options.S.items[1].text, "2.5");
    assert_int_equal(options.repeat, 3);
    assert_int_equal(options.vary_count, 2);
    assert_string_equal(options.vary[0].name, "prefork");
    assert_string_equal(options.vary[0].values[1], "2");
    assert_true(options.replay.duration == 10 && options.replay.play.prefer_kerberos);
    assert_false(options.find_max || options.replay.play.smb_encrypt);
    char *text = sweep_options_text(&options);
    assert_string_equal(text, "--duration=10 --only=ldap --only=dns:0 --prefer-kerberos "
                              "--before='restart {prefork}' --settle=2");
    free(text);
    sweep_options_clear(&options);

    /* The command line overrides it. */
    read_well(&options, "-r 3 -f @sweep.yaml --vary prefork=8 --settle 0 dc2 -- -U a%b -D 20");
    assert_string_equal(options.replay.model, path_in_folder("model"));
    assert_string_equal(options.replay.dc, "dc2");
    assert_int_equal(options.r.count, 1);
    assert_int_equal(options.vary_count, 1);
    assert_string_equal(options.vary[0].values[0], "8");
    assert_true(options.settle == 0 && options.replay.duration == 20);
    sweep_options_clear(&options);

    read_well(&options, "-f @sweep.yaml @other dc3 -- -U a%b");
    assert_string_equal(options.replay.model, path_in_folder("other"));
    assert_string_equal(options.replay.dc, "dc3");
    sweep_options_clear(&options);
}

static const struct {
    const char *content, *message;
} wrong_files[] = {
    {"- 1\n", ":1:1: expected a mapping, found a sequence"},
    {"repeat: 2\nrepeat: 3\n", ":2:1: expected each key once, found 'repeat' again"},
    {"repeat: [\n",
     ":2:1: expected YAML: did not find expected node content, while parsing a flow node"},
    {"colour: 2\n",
     ":1:1: expected one of the keys model, dc, options, replay-rate, scale-traffic, vary, repeat, "
     "order, find-max, tune, precision, budget, slo, before, after, hook-timeout, settle, sample, "
     "results, found 'colour'"},
    {"repeat: 2\nresume: true\n", ":2:1: resume: allowed only on the command line"},
    {"replay-rate: 4x\n", ":1:14: replay-rate: \"4x\" is not a number"},
    {"replay-rate: [4, 5x]\n", ":1:14: replay-rate: \"5x\" is not a number"},
    {"replay-rate: [4, [5]]\n", ":1:18: replay-rate: expected a plain value, found a sequence"},
    {"replay-rate: {4: 5}\n",
     ":1:14: replay-rate: expected a value or a list of values, found a mapping"},
    {"replay-rate: []\n",
     ":1:14: replay-rate: expected a value or a list of values, found an empty sequence"},
    {"repeat: [2]\n", ":1:9: repeat: expected a value, found a sequence"},
    {"repeat: none\n", ":1:9: repeat: \"none\" is not a whole number"},
    {"find-max: maybe\n", ":1:11: find-max: expected true or false, found 'maybe'"},
    {"vary: 3\n", ":1:7: vary: expected a mapping of names to lists of values, found '3'"},
    {"vary: {x: 3}\n", ":1:11: x: expected a list of values, found '3'"},
    {"vary: {x: [3, 3]}\n", ":1:15: vary: the value 3 of x is given twice"},
    {"vary: {r: [3]}\n", ":1:8: vary: the name r is reserved; choose another one"},
    {"vary: {x: [[3]]}\n", ":1:12: x: expected a plain value, found a sequence"},
    {"options: 3\n", ":1:10: options: expected a mapping of traffic-replay's options, found '3'"},
    {"options:\n  durration: 3\n", ":2:14: durration: unknown option; did you mean duration?"},
    {"options:\n  duration: x\n", ":2:13: duration: \"x\" is not a number"},
    {"options:\n  smb-encrypt: x\n", ":2:16: smb-encrypt: \"x\" is neither true nor false"},
    {"options:\n  clean-up: true\n", ":2:13: clean-up: allowed only on the command line"},
    {"options:\n  user: a%b\n", ":2:9: user: passwords are not allowed in a sweep file"},
    {"options:\n  fixed-password: b\n",
     ":2:19: fixed-password: passwords are not allowed in a sweep file"},
    {"options:\n  only: {ldap: 1}\n",
     ":2:9: only: expected a value or a list of values, found a mapping"},
    {"model: []\n", ":1:8: model: expected a model file, found an empty sequence"},
    {"dc:\n", ":1:4: dc: expected a name or an address, found nothing"},
    {"slo: p95\n", ":1:6: slo: p95: expected >=, <=, > or < after p95"},
};

static void wrong_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_files / sizeof wrong_files[0]; i++) {
        struct sweep_options options;
        char wanted[TEXT_MAX];
        write_file("wrong.yaml", wrong_files[i].content, 0600);
        int status = read_line(&options, "-f @wrong.yaml -- -U a%b @model dc1");
        snprintf(wanted, sizeof wanted, "@wrong.yaml%s", wrong_files[i].message);
        if (status != EXIT_USAGE)
            fail_msg("%s: status %d: %s", wrong_files[i].content, status, messages);
        expect_message(wrong_files[i].content, "traffic-sweep", wanted);
        sweep_options_clear(&options);
    }
}

/* The files in examples/ are valid. */
static void the_examples_are_valid(void **state)
{
    (void)state;
    struct sweep_options options;
    read_well(&options, "-f examples/sweeps/grid.yaml -- -U a%b");
    assert_int_equal(options.r.count * options.S.count, 24);
    assert_true(options.random_order && options.replay.duration == 30);
    assert_string_equal(options.replay.model, "examples/sweeps/../office.yaml");
    sweep_options_clear(&options);
    read_well(&options, "-f examples/sweeps/find-max.yaml dc7 -- -U a%b");
    assert_true(options.find_max && options.slo.count == 2 && options.repeat == 3);
    assert_string_equal(options.replay.dc, "dc7");
    sweep_options_clear(&options);
    read_well(&options, "-f examples/sweeps/prefork.yaml -- -U a%b");
    assert_int_equal(options.vary[0].count, 4);
    assert_string_equal(options.before, "lab/dc restart --prefork-children {prefork}");
    assert_true(options.replay.yes);
    sweep_options_clear(&options);
    read_well(&options, "-f examples/sweeps/releases.yaml -- -U a%b");
    assert_string_equal(options.vary[0].values[1], "forky");
    assert_non_null(strstr(options.before, "; lab/dc start --release {release} --dir"));
    sweep_options_clear(&options);
}

static void names_in_order(const struct sweep_options *options, uint64_t seed, char *text)
{
    struct sweep_cells cells;
    assert_int_equal(sweep_cells_make(options, seed, &cells), 0);
    *text = '\0';
    for (size_t i = 0; i < cells.count; i++) {
        char *name = sweep_cell_name(options, &cells.items[i]);
        assert_non_null(name);
        strcat(strcat(text, i ? " " : ""), name);
        free(name);
    }
    sweep_cells_clear(&cells);
}

static void cells_are_in_order(void **state)
{
    (void)state;
    struct sweep_options options;
    char text[TEXT_MAX], again[TEXT_MAX], other[TEXT_MAX];
    read_well(&options, "-r 4,5 -S 1,0.5 @model dc1=192.0.2.7 -- -U a%b");
    names_in_order(&options, 1, text);
    assert_string_equal(text, "dc1_r4_S1 dc1_r4_S0.5 dc1_r5_S1 dc1_r5_S0.5");
    sweep_options_clear(&options);

    read_well(&options, "-r 4 -S 1:2 --repeat 2 --vary a=1,x/y @model .dc/1 -- -U a%b");
    names_in_order(&options, 1, text);
    assert_string_equal(text, "_.dc_1_r4_S1_a-1 _.dc_1_r4_S2_a-1 _.dc_1_r4_S1_a-x_y "
                              "_.dc_1_r4_S2_a-x_y _.dc_1_r4_S1_a-1_2 _.dc_1_r4_S2_a-1_2 "
                              "_.dc_1_r4_S1_a-x_y_2 _.dc_1_r4_S2_a-x_y_2");
    sweep_options_clear(&options);

    /* Shuffled by the seed, each cell once. */
    read_well(&options, "-r 1:10 -S 1 --order random @model dc1 -- -U a%b");
    names_in_order(&options, 7, text);
    names_in_order(&options, 7, again);
    names_in_order(&options, 8, other);
    assert_string_equal(text, again);
    assert_string_not_equal(text, other);
    for (int r = 1; r <= 10; r++) {
        char name[32];
        snprintf(name, sizeof name, "dc1_r%d_S1", r);
        assert_non_null(strstr(text, name));
        assert_int_equal(strlen(text), strlen(other));
    }
    sweep_options_clear(&options);

    /* Values that give the same file name. */
    struct error error = {0};
    read_well(&options, "--vary x=a/b,a_b @model dc1 -- -U a%b");
    assert_int_equal(sweep_cell_check_names(&options, &error), -EINVAL);
    assert_string_equal(error.text,
                        "--vary: the values \"a/b\" and \"a_b\" of x give the same file name");
    sweep_options_clear(&options);
    read_well(&options, "--vary x=10:30,10-30 @model dc1 -- -U a%b");
    assert_int_equal(sweep_cell_check_names(&options, &error), -EINVAL);
    sweep_options_clear(&options);

    /* scp and Windows accept no colons, shells no brackets. */
    read_well(&options, "-r 4 -S 1 @model [fd00::1] -- -U a%b");
    names_in_order(&options, 1, text);
    assert_string_equal(text, "fd00--1_r4_S1");
    sweep_options_clear(&options);
}

static struct result_label labels[] = {{"repeat", "2"}, {"options", "--duration=10 --skip=ldap"}};

static const struct result finished = {.program = "traffic-replay",
                                       .version = "1.0",
                                       .model = "m.yaml",
                                       .model_sha256 = "0123456789abcdef",
                                       .seed = 8,
                                       .dc = "dc1",
                                       .label_count = 2,
                                       .labels = labels};
static const struct sweep_identity own = {.model_sha256 = "0123456789abcdef",
                                          .version = "1.0",
                                          .options = "--duration=10 --skip=ldap",
                                          .dc = "dc1",
                                          .seed = 7};

static void expect_identity(struct sweep_identity identity, const struct result *result,
                            const char *message)
{
    struct error error = {0};
    int wanted = message ? -EINVAL : 0;
    assert_int_equal(sweep_identity_check(&identity, result, 2, "f", &error), wanted);
    if (message)
        assert_string_equal(error.text, message);
}

static void results_of_another_sweep_are_refused(void **state)
{
    (void)state;
    struct sweep_identity identity = own;
    struct result foreign = finished;
    expect_identity(own, &finished, NULL);
    identity.model_sha256 = "fedcba9876543210";
    expect_identity(identity, &finished,
                    "f was played with another model (m.yaml, SHA-256 0123456789ab...; this "
                    "sweep's is fedcba987654...)");
    identity = own;
    identity.version = "1.1";
    expect_identity(identity, &finished, "f was played by traffic-replay 1.0; this version is 1.1");
    identity = own;
    identity.dc = "dc2";
    expect_identity(identity, &finished, "f was played against dc1; this sweep is against dc2");
    identity = own;
    identity.seed = 8;
    expect_identity(identity, &finished, "f was played with --random-seed=8; this sweep needs 9");
    foreign.label_count = 1;
    expect_identity(own, &foreign, "f is not a result of a sweep: it has no label \"options\"");
}

static const struct {
    const char *was, *is, *message;
} different[] = {
    {"--duration=10", "--duration=20",
     "f was played with --duration=10; this sweep has --duration=20"},
    {"--duration=10 -K", "--duration=10", "f was played with -K; this sweep is without it"},
    {"--duration=10", "--duration=10 -K", "f was played without -K, which this sweep has"},
    {"", "-K", "f was played without -K, which this sweep has"},
    {"'--before=a b' -K", "'--before=a c' -K",
     "f was played with '--before=a b'; this sweep has '--before=a c'"},
    {"--only=a --only=b", "--only=b --only=a",
     "f was played with --only=a --only=b; this sweep has --only=b --only=a"},
};

static void other_options_are_another_sweep(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
        struct sweep_identity identity = own;
        struct result_label label = {"options", different[i].was};
        struct result result = finished;
        result.labels = &label;
        result.label_count = 1;
        identity.options = different[i].is;
        expect_identity(identity, &result, different[i].message);
    }
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    message_program = "traffic-sweep";
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("TRAFFIC_REPLAY_USER");
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    write_file("model", "version: 3\n", 0600);
    write_file("other", "version: 3\n", 0600);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"model", "other", "sweep.yaml", "wrong.yaml", "secrets"};
    free_words();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in_folder(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(ranges_are_expanded),
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(secrets_are_not_passed_on),
        cmocka_unit_test(a_file_sets_options),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(the_examples_are_valid),
        cmocka_unit_test(cells_are_in_order),
        cmocka_unit_test(results_of_another_sweep_are_refused),
        cmocka_unit_test(other_options_are_another_sweep),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
