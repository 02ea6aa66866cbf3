/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings. The command line, the environment and the configuration file each give assignments of
 * text to the table's rows; these are applied from the weakest source to the strongest, then what
 * contradicts is told. The first mistake ends it with one line on standard error.
 */
#include "replay/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "base/secret.h"
#include "replay/accounts/credentials.h"
#include "replay/config_file.h"
#include "replay/packet_list.h"
#include "replay/settings_memory.h"
#include "replay/settings_table.h"
#include "replay/settings_words.h"

static void settings_set_defaults(struct settings *settings);
static int read_sources(struct settings *settings, int argc, char **argv);
static int read_command_line(struct settings *settings, int argc, char **argv);
static int settings_take_options(struct settings *settings, int argc, char **argv);
static int assign(struct settings *settings, const struct options_row *row, const char *value,
                  enum settings_source source, char *origin);
static char *row_origin(const struct options_row *row, bool by_letter);
static int settings_take_option(struct settings *settings, const struct options_given *given);
static int read_environment(struct settings *settings);
static int read_config(struct settings *settings);
static int find_config(const struct settings *settings, char **path);
static int settings_take_entry(struct settings *settings, const char *path,
                               const struct config_entry *entry, bool world_readable);
static int apply_all(struct settings *settings);
static void note_lists(struct settings_memory *memory);
static int apply_source(struct settings *settings, enum settings_source source);
static int take_positional(struct settings *settings, char **words, int count);
static void take_back_model(struct settings *settings);
static int check_all(struct settings *settings);
static int check_conflicts(const struct settings *settings);
static int check_server(const struct settings *settings);
static int settings_check_accounts(const struct settings *settings);
static int check_files(const struct settings *settings);
static bool same_file(const char *one, const char *other);
static void settle_scale(struct settings *settings);
static int choose_seed(struct settings *settings);
static int find_admin(struct settings *settings);
static int read_authentication_file(struct settings *settings);
static int take_environment_password(struct settings *settings, const char *name);
static int split_admin(struct settings *settings);
static int complete_admin(struct settings *settings);
static int ask_for(const char *what, const char *of, bool secret, char **answer);
static void free_memory(struct settings_memory *memory);
static bool matches(const struct settings_packet *packets, size_t count, const char *protocol,
                    const char *opcode);

int settings_read(struct settings *settings, int argc, char **argv)
{
    settings_set_defaults(settings);
    settings->memory = calloc(1, sizeof *settings->memory);
    if (!settings->memory || !(settings->memory->source_of_row = calloc(
                                   settings_table.count, sizeof *settings->memory->source_of_row)))
        return options_out_of_memory();
    int status = read_sources(settings, argc, argv);
    int first = settings->memory->first_word;
    if (status < 0)
        status = take_positional(settings, argv + first, argc - first);
    if (status >= 0)
        return status;
    settings->duration_given = settings_source_of(settings, "duration") != SOURCE_NONE;
    settings->warmup_given = settings_source_of(settings, "warmup") != SOURCE_NONE;
    settings->number_of_groups_given =
        settings_source_of(settings, "number-of-groups") != SOURCE_NONE;
    settings->group_memberships_given =
        settings_source_of(settings, "group-memberships") != SOURCE_NONE;
    settings->play.tls_verify = settings->play.tls_verify || settings->tls_ca;
    status = check_all(settings);
    if (status < 0)
        settle_scale(settings);
    if (status < 0)
        status = choose_seed(settings);
    return status < 0 ? find_admin(settings) : status;
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

static int read_sources(struct settings *settings, int argc, char **argv)
{
    int status = read_command_line(settings, argc, argv);
    if (status < 0)
        status = read_environment(settings);
    if (status < 0)
        status = read_config(settings);
    return status < 0 ? apply_all(settings) : status;
}

static int read_command_line(struct settings *settings, int argc, char **argv)
{
    /* Reading moves the words about; the text shows them as they were given. */
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return options_out_of_memory();
    memcpy(words, argv, (size_t)argc * sizeof *words);
    int status = settings_take_options(settings, argc, argv);
    if (status < 0 && !(settings->command_line = settings_quote(argc, words)))
        status = options_out_of_memory();
    free(words);
    return status;
}

static int settings_take_options(struct settings *settings, int argc, char **argv)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &settings_table, argc, argv);
    while (options_next(&scan, &given, &settings->memory->first_word)) {
        int status;
        if (given.fault == OPTIONS_NO_VALUE && (given.row->properties & SETTINGS_MAY_BE_LAST))
            status = assign(settings, given.row, "-", SOURCE_COMMAND_LINE,
                            row_origin(given.row, given.by_letter));
        else if (given.fault != OPTIONS_GOOD)
            status = options_complain_of(&settings_table, &given);
        else
            status = settings_take_option(settings, &given);
        if (status >= 0)
            return status;
    }
    return -1;
}

static int assign(struct settings *settings, const struct options_row *row, const char *value,
                  enum settings_source source, char *origin)
{
    struct settings_memory *memory = settings->memory;
    struct settings_assignment assignment = {.row = row, .source = source, .origin = origin};
    struct settings_assignment *grown =
        reallocarray(memory->assignments, memory->count + 1, sizeof *memory->assignments);
    bool open = value && row->kind != OPTIONS_SECRET && !(row->properties & SETTINGS_HOLDS_SECRET);
    if (grown)
        memory->assignments = grown;
    if (!grown || !origin || (value && !(assignment.value = strdup(value))) ||
        (open && !(assignment.given = strdup(value)))) {
        secret_free(assignment.value);
        free(origin);
        return options_out_of_memory();
    }
    memory->assignments[memory->count++] = assignment;
    return -1;
}

static char *row_origin(const struct options_row *row, bool by_letter)
{
    char *origin;
    int size =
        by_letter ? asprintf(&origin, "-%c", row->letter) : asprintf(&origin, "--%s", row->name);
    return size < 0 ? NULL : origin;
}

static int settings_take_option(struct settings *settings, const struct options_given *given)
{
    const struct options_row *row = given->row;
    int status = EXIT_OK;
    if (options_answer(&settings_table, row, &status) == STEP_DONE)
        return status;
    if (strcmp(row->name, "list-packets") == 0) {
        packet_list_print(stdout);
        return program_flush_output() == 0 ? EXIT_OK : EXIT_FAILED;
    }
    status =
        assign(settings, row, given->value, SOURCE_COMMAND_LINE, row_origin(row, given->by_letter));
    if (!(row->properties & SETTINGS_HOLDS_SECRET))
        return status;
    char *secret = row->kind == OPTIONS_SECRET ? given->value : strchr(given->value, '%');
    if (secret)
        secret_wipe(secret + (*secret == '%' && row->kind != OPTIONS_SECRET));
    return status;
}

/* The words stand in the process's first pages, where /proc shows them: copies are taken and what
 * is secret is overwritten there. */
static int read_environment(struct settings *settings)
{
    struct settings_memory *memory = settings->memory;
    char *user = getenv("TRAFFIC_REPLAY_USER"), *password = getenv("TRAFFIC_REPLAY_PASSWORD");
    int status = -1;
    if (user && *user)
        status = assign(settings, options_find(&settings_table, "user"), user, SOURCE_ENVIRONMENT,
                        strdup("TRAFFIC_REPLAY_USER"));
    if (user && strchr(user, '%'))
        secret_wipe(strchr(user, '%') + 1);
    if (user && *user && !(memory->environment_user = strndup(user, strcspn(user, "%"))))
        status = options_out_of_memory();
    if (password && *password && !(memory->environment_password = strdup(password)))
        status = options_out_of_memory();
    if (password)
        secret_wipe(password);
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    return status;
}

static int read_config(struct settings *settings)
{
    char *path = NULL;
    struct config_file file = {0};
    struct error error = {0};
    int status = find_config(settings, &path);
    if (status >= 0 || !path)
        return status;
    if (config_file_read(path, &file, &error) != 0)
        status = options_complain("%s", error.text);
    for (size_t i = 0; status < 0 && i < file.count; i++)
        status = settings_take_entry(settings, path, &file.entries[i], file.world_readable);
    config_file_clear(&file);
    free(path);
    return status;
}

/* --config's, or the user's own; malloc'd or NULL. A file that is asked for must be there. */
static int find_config(const struct settings *settings, char **path)
{
    const struct settings_memory *memory = settings->memory;
    const char *given = NULL;
    for (size_t i = 0; i < memory->count; i++)
        if (strcmp(memory->assignments[i].row->name, "config") == 0)
            given = memory->assignments[i].given;
    const char *error = given ? options_check_input(given) : NULL;
    if (error)
        return options_complain("--config: %s", error);
    *path = given ? strdup(given) : config_file_path();
    return given && !*path ? options_out_of_memory() : -1;
}

static int settings_take_entry(struct settings *settings, const char *path,
                               const struct config_entry *entry, bool world_readable)
{
    const struct options_row *row = options_find(&settings_table, entry->key);
    const char *nearest = row ? NULL : options_nearest(&settings_table, entry->key);
    char *origin = NULL;
    if (asprintf(&origin, "%s:%zu:%zu: %s", path, entry->line, entry->column, entry->key) < 0)
        return options_out_of_memory();
    int status = EXIT_USAGE;
    if (!row && nearest)
        options_complain("%s: unknown option; did you mean %s?", origin, nearest);
    else if (!row)
        options_complain("%s: unknown option; see --help", origin);
    else if (row->properties & OPTIONS_COMMAND_LINE)
        options_complain("%s: it belongs on the command line", origin);
    else if (entry->in_list && !(row->properties & SETTINGS_LIST))
        options_complain("%s: expected one value, found a list", origin);
    else if (world_readable && (row->kind == OPTIONS_SECRET || strchr(entry->value, '%')) &&
             (row->properties & SETTINGS_HOLDS_SECRET))
        options_complain("%s: everybody may read the file, and it holds a password; chmod o= it",
                         origin);
    else
        return assign(settings, row, entry->value, SOURCE_CONFIG, origin);
    free(origin);
    return status;
}

static int apply_all(struct settings *settings)
{
    note_lists(settings->memory);
    int status = -1;
    for (int source = SOURCE_CONFIG; status < 0 && source <= SOURCE_COMMAND_LINE; source++)
        status = apply_source(settings, (enum settings_source)source);
    return status;
}

/* A list given by a stronger source is known before the weaker one is applied. */
static void note_lists(struct settings_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct settings_assignment *assignment = &memory->assignments[i];
        enum settings_source *strongest = settings_source_of_row(memory, assignment->row);
        if ((assignment->row->properties & SETTINGS_LIST) && assignment->source > *strongest)
            *strongest = assignment->source;
    }
}

/* One source's assignments in order; a list replaces the whole list of a weaker source. */
static int apply_source(struct settings *settings, enum settings_source source)
{
    struct settings_memory *memory = settings->memory;
    for (size_t i = 0; i < memory->count; i++) {
        const struct settings_assignment *assignment = &memory->assignments[i];
        enum settings_source *strongest = settings_source_of_row(memory, assignment->row);
        if (assignment->source != source ||
            ((assignment->row->properties & SETTINGS_LIST) && *strongest > source))
            continue;
        const char *error = options_apply(assignment->row, settings, assignment->value);
        if (error)
            return options_complain("%s: %s", assignment->origin, error);
        *strongest = source;
    }
    return -1;
}

static int take_positional(struct settings *settings, char **words, int count)
{
    bool account_work = settings->clean_up || settings->generate_users_only;
    bool offline = settings->dry_run || settings->traffic_summary;
    if (count > 2)
        return options_complain("\"%s\": there is nothing for this word to mean after MODEL and DC",
                                words[2]);
    if (account_work && count > 0) {
        settings->dc = words[count - 1];
        settings->model = count > 1 ? words[0] : NULL;
    } else if (count > 0) {
        settings->model = words[0];
        settings->dc = count > 1 ? words[1] : NULL;
    }
    if (settings->dry_run)
        take_back_model(settings);
    if (!settings->model && !account_work)
        return options_complain("there is no MODEL; give a model file%s, or see --help",
                                offline ? "" : " and a DC");
    if (!settings->dc && !offline)
        return options_complain("there is no DC; name one after %s",
                                account_work ? "the options" : "the model file");
    return -1;
}

/* `--dry-run --json MODEL`: the word was no file name of --json's. */
static void take_back_model(struct settings *settings)
{
    if (settings->model || !settings->json || strcmp(settings->json, "-") == 0)
        return;
    settings->model = settings->json;
    settings->json = "-";
}

static int check_all(struct settings *settings)
{
    static int (*const checks[])(const struct settings *) = {check_conflicts, check_server,
                                                             settings_check_accounts, check_files};
    int status = -1;
    for (size_t i = 0; status < 0 && i < sizeof checks / sizeof checks[0]; i++)
        status = checks[i](settings);
    return status;
}

static int check_conflicts(const struct settings *settings)
{
    for (const struct settings_conflict *pair = settings_conflicts; pair->one; pair++) {
        enum settings_source one = settings_source_of(settings, pair->one);
        if (one != SOURCE_NONE && one == settings_source_of(settings, pair->other))
            return options_complain("--%s and --%s exclude each other; %s", pair->one, pair->other,
                                    pair->mend);
    }
    return -1;
}

static int check_server(const struct settings *settings)
{
    static const char *const dc_only[] = {"kerberos", "prefer-kerberos", "clean-up",
                                          "generate-users-only", "make-accounts"};
    bool offline = settings->dry_run || settings->traffic_summary;
    if (!settings->play.generic_ldap)
        return -1;
    for (size_t i = 0; i < sizeof dc_only / sizeof dc_only[0]; i++)
        if (settings_source_of(settings, dc_only[i]) != SOURCE_NONE)
            return options_complain(
                "--%s: only a domain controller has it; leave out --server ldap", dc_only[i]);
    if (!settings->accounts_file && !offline)
        return options_complain(
            "--server ldap: no accounts can be made there; give --accounts FILE");
    return -1;
}

static int settings_check_accounts(const struct settings *settings)
{
    if (settings->generate_users_only && settings->number_of_users == 0 &&
        !settings->number_of_groups_given)
        return options_complain("-G: how many? give -n USERS, --number-of-groups GROUPS, or both");
    if (settings->number_of_groups_given &&
        settings->average_groups_per_user > (double)settings->number_of_groups)
        return options_complain("--average-groups-per-user: %.12g is more than the %llu groups of "
                                "--number-of-groups",
                                settings->average_groups_per_user,
                                (unsigned long long)settings->number_of_groups);
    return -1;
}

static int check_files(const struct settings *settings)
{
    const char *model = settings->model;
    const char *error = NULL;
    if (model && strcmp(model, "-") != 0 && (error = options_check_input(model)))
        return options_complain("MODEL: %s", error);
    if (settings->json && (error = options_check_output(settings->json)))
        return options_complain("--json: %s", error);
    const struct {
        const char *name, *path;
    } outputs[] = {{"json", settings->json},
                   {"timing-data", settings->timing_data},
                   {"traffic-summary", settings->traffic_summary}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (same_file(outputs[i].path, model))
            return options_complain("--%s: \"%s\" is the model itself; give another file",
                                    outputs[i].name, outputs[i].path);
    if (settings->json && settings->timing_data &&
        (strcmp(settings->json, settings->timing_data) == 0 ||
         same_file(settings->json, settings->timing_data)))
        return options_complain("--json and --timing-data: both would write \"%s\"; give two files",
                                settings->json);
    return -1;
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return one && other && strcmp(one, "-") != 0 && stat(one, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

/* Of two that exclude each other, the stronger source's stays. */
static void settle_scale(struct settings *settings)
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

/* 32 bits: short enough to be typed again. */
static int choose_seed(struct settings *settings)
{
    uint32_t seed;
    if (settings->random_seed_given)
        return -1;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        options_complain("--random-seed: the system gives no random number: %s", strerror(errno));
        return EXIT_FAILED;
    }
    settings->random_seed = seed;
    return -1;
}

static int find_admin(struct settings *settings)
{
    enum settings_source ccache = settings_source_of(settings, "kerberos");
    if (settings->admin_kerberos && (ccache > settings_source_of(settings, "user")))
        account_clear(&settings->admin);
    else if (settings->admin_kerberos)
        settings->admin_kerberos = false;
    int status = read_authentication_file(settings);
    if (status < 0)
        status = take_environment_password(settings, settings->admin.name);
    if (status < 0)
        status = split_admin(settings);
    if (status < 0)
        status = complete_admin(settings);
    return status;
}

/* -A, unless a stronger source named somebody. */
static int read_authentication_file(struct settings *settings)
{
    const char *path = settings->authentication_file;
    if (!path || settings->admin_kerberos ||
        settings_source_of(settings, "user") > settings_source_of(settings, "authentication-file"))
        return -1;
    struct credentials found = {0};
    bool world_readable = false;
    struct error error = {0};
    int status = -1;
    if (credentials_read_file(path, &found, &world_readable, &error) != 0) {
        status = options_complain("-A: %s", error.text);
    } else if (!found.name || !found.name[0]) {
        status = options_complain("-A: %s: it names nobody; add a line \"username = ...\"", path);
    } else {
        if (world_readable)
            options_complain("-A: %s: everybody may read it; chmod o= it", path);
        account_clear(&settings->admin);
        settings->admin.name = found.name;
        settings->admin.password = found.password;
        settings->memory->admin_domain = found.domain;
        found = (struct credentials){0};
    }
    credentials_clear(&found);
    return status;
}

/* TRAFFIC_REPLAY_PASSWORD belongs to TRAFFIC_REPLAY_USER, or to whoever is named elsewhere when
 * that is not set. */
static int take_environment_password(struct settings *settings, const char *name)
{
    const struct settings_memory *memory = settings->memory;
    if (!name || settings->admin.password || !memory->environment_password ||
        (memory->environment_user && strcmp(memory->environment_user, name) != 0))
        return -1;
    settings->admin.password = strdup(memory->environment_password);
    return settings->admin.password ? -1 : options_out_of_memory();
}

static int split_admin(struct settings *settings)
{
    struct settings_memory *memory = settings->memory;
    char *domain = NULL;
    if (!settings->admin.name || settings->play.generic_ldap)
        return -1;
    if (credentials_split_name(&settings->admin.name, &domain, &memory->admin_realm) != 0)
        return options_out_of_memory();
    if (domain) {
        free(memory->admin_domain);
        memory->admin_domain = domain;
    }
    settings->admin_domain = memory->admin_domain;
    settings->admin_realm = memory->admin_realm;
    return settings->admin.name[0] ? -1 : options_complain("-U: there is no name after the domain");
}

/* Asks the terminal for what is still missing of the administrator. */
static int complete_admin(struct settings *settings)
{
    bool offline = settings->dry_run || settings->traffic_summary;
    if (offline || settings->admin_kerberos ||
        (settings->play.generic_ldap && !settings->admin.name))
        return -1;
    int status = -1;
    if (!settings->admin.name)
        status = ask_for("Administrator's name", NULL, false, &settings->admin.name);
    if (status < 0 && !settings->admin.password)
        status = ask_for("Password", settings->admin.name, true, &settings->admin.password);
    return status;
}

static int ask_for(const char *what, const char *of, bool secret, char **answer)
{
    char question[256];
    snprintf(question, sizeof question, of ? "%s of %s: " : "%s: ", what, of);
    int error = credentials_prompt(question, secret, answer);
    if (error == -ENOTTY)
        return options_complain("no administrator's %s: give -U USER%%PASSWORD, -A FILE, -k, or "
                                "TRAFFIC_REPLAY_USER and _PASSWORD",
                                secret ? "password" : "name");
    return error ? options_complain("no %s was given", secret ? "password" : "name") : -1;
}

void settings_clear(struct settings *settings)
{
    account_clear(&settings->admin);
    secret_free(settings->fixed_password);
    free(settings->only);
    free(settings->skip);
    free(settings->labels);
    free(settings->command_line);
    free_memory(settings->memory);
    *settings = (struct settings){0};
}

static void free_memory(struct settings_memory *memory)
{
    for (size_t i = 0; memory && i < memory->count; i++) {
        secret_free(memory->assignments[i].value);
        free(memory->assignments[i].given);
        free(memory->assignments[i].origin);
    }
    if (memory) {
        free(memory->assignments);
        free(memory->source_of_row);
        free(memory->admin_domain);
        free(memory->admin_realm);
        free(memory->environment_user);
        secret_free(memory->environment_password);
    }
    free(memory);
}

bool settings_plays(const struct settings *settings, const char *protocol, const char *opcode)
{
    if (settings->only_count > 0 &&
        !matches(settings->only, settings->only_count, protocol, opcode))
        return false;
    return !matches(settings->skip, settings->skip_count, protocol, opcode);
}

static bool matches(const struct settings_packet *packets, size_t count, const char *protocol,
                    const char *opcode)
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

int settings_count_words(int argc, char *const *argv)
{
    struct options_scan scan;
    struct options_given given;
    int first = argc;
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return 0;
    memcpy(words, argv, (size_t)argc * sizeof *words);
    options_scan(&scan, &settings_table, argc, words);
    while (options_next(&scan, &given, &first))
        ;
    free(words);
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
        return options_wrong("it belongs on the command line");
    settings_set_defaults(&scratch);
    char *copy = strdup(value);
    const char *error = copy ? options_apply(row, &scratch, copy) : options_wrong("out of memory");
    settings_clear(&scratch);
    secret_free(copy);
    return error;
}

void settings_help(FILE *out)
{
    fputs("traffic-replay plays the traffic of many Active Directory clients against one domain\n"
          "controller and tells how much it can take.\n"
          "\n"
          "  traffic-replay [OPTION...] MODEL DC        play the model\n"
          "  traffic-replay --dry-run [OPTION...] MODEL tell what would be sent\n"
          "  traffic-replay -G -n USERS [OPTION...] DC  make accounts only\n"
          "  traffic-replay -c [OPTION...] DC           remove the accounts\n"
          "\n"
          "MODEL is a model file, or a recording to be played as it is: a traffic-summary text (- "
          "is\n"
          "standard input). DC is a name, an address or NAME=ADDRESS.\n",
          out);
    options_help(&settings_table, out);
    fputs(
        "\n"
        "TRAFFIC_REPLAY_USER and TRAFFIC_REPLAY_PASSWORD stand for -U. Options may also be set by\n"
        "their long names in $XDG_CONFIG_HOME/traffic-replay.yaml. See traffic-replay(1).\n",
        out);
}

enum settings_source *settings_source_of_row(const struct settings_memory *memory,
                                             const struct options_row *row)
{
    return &memory->source_of_row[row - settings_table.rows];
}

enum settings_source settings_source_of(const struct settings *settings, const char *name)
{
    return *settings_source_of_row(settings->memory, options_find(&settings_table, name));
}
