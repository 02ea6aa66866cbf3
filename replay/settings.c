/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings. The configuration file, the environment and the command line each give texts for rows
 * of the table. These are applied from the weakest source to the strongest, then contradictions are
 * reported. The first error ends the program with one line on standard error.
 */
#include "replay/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/message.h"
#include "base/options.h"
#include "base/secret.h"
#include "base/shell_text.h"
#include "replay/config_file.h"
#include "replay/packet_list.h"
#include "replay/settings_private.h"
#include "replay/settings_table.h"

static enum step settings_read_all(struct settings *settings, int argc, char **argv);
static void note_given(struct settings *settings);
static void settings_set_defaults(struct settings *settings);
static enum step read_sources(struct settings *settings, int argc, char **argv);
static enum step read_command_line(struct settings *settings, int argc, char **argv);
static enum step settings_take_options(struct settings *settings, int argc, char **argv);
static enum step settings_assign(struct settings *settings, const struct options_row *row,
                                 const char *value, enum settings_source source, char *origin);
static char *row_origin(const struct options_row *row, bool by_letter);
static enum step settings_take_option(struct settings *settings, const struct options_given *given);
static enum step read_environment(struct settings *settings);
static enum step read_config(struct settings *settings);
static enum step find_config(const struct settings *settings, char **path);
static enum step settings_take_entry(struct settings *settings, const char *path,
                                     const struct config_entry *entry, bool world_readable);
static enum step apply_all(struct settings *settings);
static void note_lists(struct settings_sources *sources);
static enum step apply_source(struct settings *settings, enum settings_source source);
static enum step take_arguments(struct settings *settings, char **arguments, int count);
static void take_back_model(struct settings *settings);
static enum step check_all(struct settings *settings);
static enum step check_conflicts(const struct settings *settings);
static enum step check_server(const struct settings *settings);
static enum step check_file_server(const struct settings *settings);
static enum step settings_check_accounts(const struct settings *settings);
static enum step check_files(const struct settings *settings);
static bool same_output(const char *one, const char *other);
static bool same_file(const char *one, const char *other);
static void settle_conflicts(struct settings *settings);
static enum step choose_seed(struct settings *settings);
static void settings_free_sources(struct settings_sources *sources);
static bool settings_match(const struct settings_packet *packets, size_t count,
                           const char *protocol, const char *opcode);

enum step settings_read(struct settings *settings, int argc, char **argv, int *status)
{
    settings_set_defaults(settings);
    settings->sources = calloc(1, sizeof *settings->sources);
    if (!settings->sources)
        return step_done(status, options_out_of_memory());
    enum step step = settings_read_all(settings, argc, argv);
    *status = settings->sources->status;
    return step;
}

static enum step settings_read_all(struct settings *settings, int argc, char **argv)
{
    struct settings_sources *sources = settings->sources;
    sources->source_of_row = calloc(settings_table.count, sizeof *sources->source_of_row);
    if (!sources->source_of_row)
        return settings_no_memory(settings);
    enum step step = read_sources(settings, argc, argv);
    int first = sources->first_argument;
    if (step == STEP_NEXT)
        step = take_arguments(settings, argv + first, argc - first);
    if (step == STEP_DONE)
        return step;
    note_given(settings);
    step = check_all(settings);
    if (step == STEP_NEXT)
        step = choose_seed(settings);
    if (step == STEP_NEXT)
        settle_conflicts(settings);
    return step == STEP_NEXT ? settings_find_admin(settings) : step;
}

static void note_given(struct settings *settings)
{
    settings->duration_given = settings_source_of(settings, "duration") != SOURCE_NONE;
    settings->warmup_given = settings_source_of(settings, "warmup") != SOURCE_NONE;
    settings->number_of_groups_given =
        settings_source_of(settings, "number-of-groups") != SOURCE_NONE;
    settings->group_memberships_given =
        settings_source_of(settings, "group-memberships") != SOURCE_NONE;
    settings->play.tls_verify = settings->play.tls_verify || settings->tls_ca;
}

static void settings_set_defaults(struct settings *settings)
{
    *settings = (struct settings){.replay_rate = 1,
                                  .scale = 1,
                                  .duration = 60,
                                  .warmup = 5,
                                  .timeout = 30,
                                  .latency_timeout = 1,
                                  .play = {.kdc_preauth_legs = 1, .kdc = KDC_TCP}};
}

static enum step read_sources(struct settings *settings, int argc, char **argv)
{
    enum step step = read_command_line(settings, argc, argv);
    if (step == STEP_NEXT)
        step = read_environment(settings);
    if (step == STEP_NEXT)
        step = read_config(settings);
    return step == STEP_NEXT ? apply_all(settings) : step;
}

static enum step read_command_line(struct settings *settings, int argc, char **argv)
{
    /* A scan reorders argv; the text shows the original order, with secrets overwritten. */
    char **given = calloc((size_t)argc + 1, sizeof *given);
    if (!given)
        return settings_no_memory(settings);
    memcpy(given, argv, (size_t)argc * sizeof *given);
    enum step step = settings_take_options(settings, argc, argv);
    if (step == STEP_NEXT && !(settings->command_line = shell_text_join(argc, given)))
        step = settings_no_memory(settings);
    free(given);
    return step;
}

static enum step settings_take_options(struct settings *settings, int argc, char **argv)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &settings_table, argc, argv);
    enum step step = STEP_NEXT;
    while (step == STEP_NEXT && options_next(&scan, &given, &settings->sources->first_argument)) {
        if (given.fault == OPTIONS_NO_VALUE && (given.row->properties & SETTINGS_MAY_BE_LAST))
            step = settings_assign(settings, given.row, "-", SOURCE_COMMAND_LINE,
                                   row_origin(given.row, given.by_letter));
        else if (given.fault != OPTIONS_GOOD)
            step = settings_end(settings, options_complain_of(&settings_table, &given));
        else
            step = settings_take_option(settings, &given);
    }
    return step;
}

static enum step settings_assign(struct settings *settings, const struct options_row *row,
                                 const char *value, enum settings_source source, char *origin)
{
    struct settings_sources *sources = settings->sources;
    struct settings_assignment assignment = {.row = row, .source = source, .origin = origin};
    struct settings_assignment *grown =
        array_grow(sources->assignments, sources->count, sizeof *sources->assignments);
    bool open = value && row->kind != OPTIONS_SECRET && !(row->properties & SETTINGS_HOLDS_SECRET);
    if (grown)
        sources->assignments = grown;
    if (!grown || !origin || (value && !(assignment.value = strdup(value))) ||
        (open && !(assignment.given = strdup(value)))) {
        secret_free(assignment.value);
        free(origin);
        return settings_no_memory(settings);
    }
    sources->assignments[sources->count++] = assignment;
    return STEP_NEXT;
}

static char *row_origin(const struct options_row *row, bool by_letter)
{
    char *origin;
    int size =
        by_letter ? asprintf(&origin, "-%c", row->letter) : asprintf(&origin, "--%s", row->name);
    return size < 0 ? NULL : origin;
}

static enum step settings_take_option(struct settings *settings, const struct options_given *given)
{
    const struct options_row *row = given->row;
    if (options_answer(&settings_table, given, &settings->sources->status) == STEP_DONE)
        return STEP_DONE;
    if (strcmp(row->name, "list-packets") == 0) {
        packet_list_print(stdout);
        return settings_end(settings, program_flush_output() == 0 ? EXIT_OK : EXIT_FAILED);
    }
    enum step step = settings_assign(settings, row, given->value, SOURCE_COMMAND_LINE,
                                     row_origin(row, given->by_letter));
    if (!(row->properties & SETTINGS_HOLDS_SECRET))
        return step;
    char *secret = row->kind == OPTIONS_SECRET ? given->value : strchr(given->value, '%');
    if (secret)
        secret_wipe(secret + (*secret == '%' && row->kind != OPTIONS_SECRET));
    return step;
}

/* /proc/PID/environ shows the environment as it was at the start, so secrets are copied and then
 * overwritten in place. */
static enum step read_environment(struct settings *settings)
{
    struct settings_sources *sources = settings->sources;
    char *user = getenv("TRAFFIC_REPLAY_USER"), *password = getenv("TRAFFIC_REPLAY_PASSWORD");
    enum step step = STEP_NEXT;
    if (user && *user)
        step = settings_assign(settings, options_find(&settings_table, "user"), user,
                               SOURCE_ENVIRONMENT, strdup("TRAFFIC_REPLAY_USER"));
    if (user && strchr(user, '%'))
        secret_wipe(strchr(user, '%') + 1);
    if (user && *user && !(sources->environment_user = strndup(user, strcspn(user, "%"))))
        step = settings_no_memory(settings);
    if (password && *password && !(sources->environment_password = strdup(password)))
        step = settings_no_memory(settings);
    if (password)
        secret_wipe(password);
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    return step;
}

static enum step read_config(struct settings *settings)
{
    char *path = NULL;
    struct config_file file = {0};
    struct error error = {0};
    enum step step = find_config(settings, &path);
    if (step == STEP_DONE || !path)
        return step;
    if (config_file_read(path, &file, &error) != 0)
        step = settings_refuse(settings, "%s", error.text);
    for (size_t i = 0; step == STEP_NEXT && i < file.count; i++)
        step = settings_take_entry(settings, path, &file.entries[i], file.world_readable);
    config_file_clear(&file);
    free(path);
    return step;
}

/* The file of --config, which must exist, or the user's; the caller frees *path. NULL: none. */
static enum step find_config(const struct settings *settings, char **path)
{
    const struct settings_sources *sources = settings->sources;
    const char *given = NULL;
    for (size_t i = 0; i < sources->count; i++)
        if (strcmp(sources->assignments[i].row->name, "config") == 0)
            given = sources->assignments[i].given;
    const char *error = given ? options_check_input(given) : NULL;
    if (error)
        return settings_refuse(settings, "--config: %s", error);
    *path = given ? strdup(given) : config_file_path();
    return given && !*path ? settings_no_memory(settings) : STEP_NEXT;
}

static enum step settings_take_entry(struct settings *settings, const char *path,
                                     const struct config_entry *entry, bool world_readable)
{
    const struct options_row *row = options_find(&settings_table, entry->key);
    const char *nearest = row ? NULL : options_nearest(&settings_table, entry->key);
    char *origin = NULL;
    if (asprintf(&origin, "%s:%zu:%zu: %s", path, entry->line, entry->column, entry->key) < 0)
        return settings_no_memory(settings);
    const char *problem = NULL;
    if (!row && nearest)
        problem = options_wrong("unknown option; did you mean %s?", nearest);
    else if (!row)
        problem = "unknown option; see --help";
    else if (row->properties & OPTIONS_COMMAND_LINE)
        problem = "allowed only on the command line";
    else if (entry->in_list && !(row->properties & SETTINGS_LIST))
        problem = "expected one value, found a list";
    else if (world_readable && (row->kind == OPTIONS_SECRET || strchr(entry->value, '%')) &&
             (row->properties & SETTINGS_HOLDS_SECRET))
        problem = options_wrong("the file contains a password and is world-readable; "
                                "run: chmod o= %s",
                                path);
    if (!problem)
        return settings_assign(settings, row, entry->value, SOURCE_CONFIG, origin);
    settings_refuse(settings, "%s: %s", origin, problem);
    free(origin);
    return STEP_DONE;
}

static enum step apply_all(struct settings *settings)
{
    note_lists(settings->sources);
    enum step step = STEP_NEXT;
    for (int source = SOURCE_CONFIG; step == STEP_NEXT && source <= SOURCE_COMMAND_LINE; source++)
        step = apply_source(settings, (enum settings_source)source);
    return step;
}

/* Finds the strongest source of each list before any source is applied. */
static void note_lists(struct settings_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct settings_assignment *assignment = &sources->assignments[i];
        enum settings_source *strongest = settings_source_of_row(sources, assignment->row);
        if ((assignment->row->properties & SETTINGS_LIST) && assignment->source > *strongest)
            *strongest = assignment->source;
    }
}

/* Applies the assignments of one source in order. A list replaces a weaker source's list. */
static enum step apply_source(struct settings *settings, enum settings_source source)
{
    struct settings_sources *sources = settings->sources;
    for (size_t i = 0; i < sources->count; i++) {
        const struct settings_assignment *assignment = &sources->assignments[i];
        enum settings_source *strongest = settings_source_of_row(sources, assignment->row);
        if (assignment->source != source ||
            ((assignment->row->properties & SETTINGS_LIST) && *strongest > source))
            continue;
        const char *error = options_apply(assignment->row, settings, assignment->value);
        if (error)
            return settings_refuse(settings, "%s: %s", assignment->origin, error);
        *strongest = source;
    }
    return STEP_NEXT;
}

/* MODEL and DC; with -c and -G only DC is needed. */
static enum step take_arguments(struct settings *settings, char **arguments, int count)
{
    bool account_work = settings->clean_up || settings->generate_users_only;
    bool offline = settings->dry_run || settings->traffic_summary;
    if (count > 2)
        return settings_refuse(settings, "unexpected argument \"%s\"", arguments[2]);
    if (account_work && count > 0) {
        settings->dc = arguments[count - 1];
        settings->model = count > 1 ? arguments[0] : NULL;
    } else if (count > 0) {
        settings->model = arguments[0];
        settings->dc = count > 1 ? arguments[1] : NULL;
    }
    if (settings->dry_run)
        take_back_model(settings);
    if (!settings->model && !account_work)
        return settings_refuse(settings, "missing MODEL; give a model file%s, or see --help",
                               offline ? "" : " and a DC");
    if (!settings->dc && !offline)
        return settings_refuse(settings, "missing DC; give its name after %s",
                               account_work ? "the options" : "the model file");
    return STEP_NEXT;
}

/* In `--dry-run --json MODEL` the argument of --json is the model. */
static void take_back_model(struct settings *settings)
{
    if (settings->model || !settings->json || strcmp(settings->json, "-") == 0)
        return;
    settings->model = settings->json;
    settings->json = "-";
}

static enum step check_all(struct settings *settings)
{
    static enum step (*const checks[])(const struct settings *) = {
        check_conflicts, check_server, settings_check_accounts, check_files};
    enum step step = STEP_NEXT;
    for (size_t i = 0; step == STEP_NEXT && i < sizeof checks / sizeof checks[0]; i++)
        step = checks[i](settings);
    return step;
}

static enum step check_conflicts(const struct settings *settings)
{
    for (const struct settings_conflict *pair = settings_conflicts; pair->one; pair++) {
        enum settings_source one = settings_source_of(settings, pair->one);
        /* There, -c removes the folder of a run, for which it logs on as one of the accounts. */
        if (settings->play.file_server && strcmp(pair->one, "accounts") == 0 &&
            strcmp(pair->other, "clean-up") == 0)
            continue;
        if (one != SOURCE_NONE && one == settings_source_of(settings, pair->other))
            return settings_refuse(settings, "--%s and --%s exclude each other; %s", pair->one,
                                   pair->other, pair->remedy);
    }
    return STEP_NEXT;
}

static enum step check_file_server(const struct settings *settings)
{
    static const char *const dc_only[] = {"kerberos", "generate-users-only", "make-accounts"};
    bool offline = settings->dry_run || settings->traffic_summary;
    for (size_t i = 0; i < sizeof dc_only / sizeof dc_only[0]; i++)
        if (settings_source_of(settings, dc_only[i]) != SOURCE_NONE)
            return settings_refuse(
                settings, "--%s requires a domain controller; leave out --server smb", dc_only[i]);
    if (offline)
        return STEP_NEXT;
    if (settings->play.prefer_kerberos && !settings->realm)
        return settings_refuse(settings, "--server smb: -K requires --realm REALM");
    if (!settings->accounts_file)
        return settings_refuse(settings, "--server smb requires --accounts FILE");
    if (!settings->play.smb_share)
        return settings_refuse(settings, "--server smb requires --smb-share SHARE");
    return STEP_NEXT;
}

static enum step check_server(const struct settings *settings)
{
    static const char *const dc_only[] = {"kerberos", "prefer-kerberos", "clean-up",
                                          "generate-users-only", "make-accounts"};
    bool offline = settings->dry_run || settings->traffic_summary;
    if (!settings->play.generic_ldap)
        return STEP_NEXT;
    if (settings->play.file_server)
        return check_file_server(settings);
    for (size_t i = 0; i < sizeof dc_only / sizeof dc_only[0]; i++)
        if (settings_source_of(settings, dc_only[i]) != SOURCE_NONE)
            return settings_refuse(
                settings, "--%s requires a domain controller; leave out --server ldap", dc_only[i]);
    if (!settings->accounts_file && !offline)
        return settings_refuse(settings, "--server ldap requires --accounts FILE");
    return STEP_NEXT;
}

static enum step settings_check_accounts(const struct settings *settings)
{
    if (settings->generate_users_only && settings->number_of_users == 0 &&
        !settings->number_of_groups_given)
        return settings_refuse(settings,
                               "-G: missing number of accounts; give -n USERS, --number-of-groups "
                               "GROUPS, or both");
    if (settings->number_of_groups_given &&
        settings->average_groups_per_user > (double)settings->number_of_groups)
        return settings_refuse(settings,
                               "--average-groups-per-user: %.12g is more than the %llu groups of "
                               "--number-of-groups",
                               settings->average_groups_per_user,
                               (unsigned long long)settings->number_of_groups);
    return STEP_NEXT;
}

static enum step check_files(const struct settings *settings)
{
    const char *model = settings->model;
    const char *error = NULL;
    if (settings->dns_query_file && settings->dns_rate <= 0)
        return settings_refuse(settings, "--dns-query-file has no effect without --dns-rate");
    if (model && strcmp(model, "-") != 0 && (error = options_check_input(model)))
        return settings_refuse(settings, "MODEL: %s", error);
    if (settings->json && (error = options_check_output(settings->json)))
        return settings_refuse(settings, "--json: %s", error);
    const struct {
        const char *name, *path;
    } outputs[] = {{"json", settings->json},
                   {"timing-data", settings->timing_data},
                   {"hdr-log", settings->hdr_log},
                   {"seconds-csv", settings->seconds},
                   {"traffic-summary", settings->traffic_summary}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (same_file(outputs[i].path, model))
            return settings_refuse(settings, "--%s: \"%s\" is the model; give another file",
                                   outputs[i].name, outputs[i].path);
        for (size_t j = 0; j < i; j++)
            if (same_output(outputs[i].path, outputs[j].path))
                return settings_refuse(settings,
                                       "--%s and --%s write the same file \"%s\"; give two files",
                                       outputs[j].name, outputs[i].name, outputs[i].path);
    }
    return STEP_NEXT;
}

/* Also of files that do not exist yet. */
static bool same_output(const char *one, const char *other)
{
    return one && other && (strcmp(one, other) == 0 || same_file(one, other));
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return one && other && strcmp(one, "-") != 0 && stat(one, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

/* Of two options that exclude each other, the one of the stronger source counts. */
static void settle_conflicts(struct settings *settings)
{
    if (settings_source_of(settings, "scale-traffic") >
        settings_source_of(settings, "packets-per-second"))
        settings->packets_per_second = 0;
    if (settings->packets_per_second > 0)
        settings->scale = 0;
    if (settings_source_of(settings, "group-memberships") >
        settings_source_of(settings, "average-groups-per-user"))
        settings->average_groups_per_user = 0;
}

/* 32 bits: short enough for typing. */
static enum step choose_seed(struct settings *settings)
{
    uint32_t seed;
    if (settings->random_seed_given)
        return STEP_NEXT;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        settings_refuse(settings, "cannot get a random seed: %s; give --random-seed N",
                        strerror(errno));
        return settings_end(settings, EXIT_FAILED);
    }
    settings->random_seed = seed;
    return STEP_NEXT;
}

void settings_clear(struct settings *settings)
{
    account_clear(&settings->admin);
    secret_free(settings->fixed_password);
    free(settings->only);
    free(settings->skip);
    free(settings->labels);
    free(settings->command_line);
    settings_free_sources(settings->sources);
    *settings = (struct settings){0};
}

static void settings_free_sources(struct settings_sources *sources)
{
    for (size_t i = 0; sources && i < sources->count; i++) {
        secret_free(sources->assignments[i].value);
        free(sources->assignments[i].given);
        free(sources->assignments[i].origin);
    }
    if (sources) {
        free(sources->assignments);
        free(sources->source_of_row);
        free(sources->admin_domain);
        free(sources->admin_realm);
        free(sources->environment_user);
        secret_free(sources->environment_password);
    }
    free(sources);
}

bool settings_plays(const struct settings *settings, const char *protocol, const char *opcode)
{
    if (settings->only_count > 0 &&
        !settings_match(settings->only, settings->only_count, protocol, opcode))
        return false;
    return !settings_match(settings->skip, settings->skip_count, protocol, opcode);
}

static bool settings_match(const struct settings_packet *packets, size_t count,
                           const char *protocol, const char *opcode)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(packets[i].protocol, protocol) == 0 &&
            (!packets[i].opcode || strcmp(packets[i].opcode, opcode) == 0))
            return true;
    return false;
}

bool settings_given(const struct settings *settings, const char *name)
{
    return settings_source_of(settings, name) == SOURCE_COMMAND_LINE;
}

int settings_count_arguments(int argc, char *const *argv)
{
    struct options_scan scan;
    struct options_given given;
    int first = argc;
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    if (!copy)
        return 0;
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    options_scan(&scan, &settings_table, argc, copy);
    while (options_next(&scan, &given, &first))
        ;
    free(copy);
    return argc - first;
}

bool settings_is_flag(const char *name)
{
    const struct options_row *row = options_find(&settings_table, name);
    return row && !row->argument;
}

const char *settings_try(const char *name, const char *value)
{
    const struct options_row *row = options_find(&settings_table, name);
    const char *nearest = row ? NULL : options_nearest(&settings_table, name);
    struct settings scratch;
    if (!row && nearest)
        return options_wrong("unknown option; did you mean %s?", nearest);
    if (!row)
        return options_wrong("unknown option; see traffic-replay --help");
    if (row->properties & OPTIONS_COMMAND_LINE)
        return options_wrong("allowed only on the command line");
    settings_set_defaults(&scratch);
    char *copy = strdup(value);
    const char *error = copy ? options_apply(row, &scratch, copy) : options_wrong("out of memory");
    settings_clear(&scratch);
    secret_free(copy);
    return error;
}

void settings_help(FILE *out)
{
    fputs("traffic-replay simulates an office full of Active Directory clients and measures the\n"
          "load that one domain controller can sustain.\n"
          "\n"
          "  traffic-replay [OPTION...] MODEL DC         play the model\n"
          "  traffic-replay --dry-run [OPTION...] MODEL  print what would be sent\n"
          "  traffic-replay -G -n USERS [OPTION...] DC   create accounts only\n"
          "  traffic-replay -c [OPTION...] DC            remove the accounts\n"
          "\n"
          "MODEL is a model file, or a recording to be played exactly: a traffic-summary text.\n"
          "- is standard input. DC is a name, an address or NAME=ADDRESS.\n",
          out);
    options_help(&settings_table, out);
    fputs("\n"
          "TRAFFIC_REPLAY_USER and TRAFFIC_REPLAY_PASSWORD can be set instead of -U. Options can\n"
          "be set by their long names in $XDG_CONFIG_HOME/traffic-replay.yaml.\n"
          "See traffic-replay(1).\n",
          out);
}

enum step settings_refuse(const struct settings *settings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
    return settings_end(settings, EXIT_USAGE);
}

enum step settings_end(const struct settings *settings, int status)
{
    return step_done(&settings->sources->status, status);
}

enum step settings_no_memory(const struct settings *settings)
{
    return settings_end(settings, options_out_of_memory());
}

enum settings_source *settings_source_of_row(const struct settings_sources *sources,
                                             const struct options_row *row)
{
    return &sources->source_of_row[row - settings_table.rows];
}

enum settings_source settings_source_of(const struct settings *settings, const char *name)
{
    return *settings_source_of_row(settings->sources, options_find(&settings_table, name));
}
