/* SPDX-License-Identifier: Apache-2.0 */
/* Plays one cell of a sweep. */
#include "replay/sweep/sweep_player.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/message.h"
#include "base/text.h"
#include "replay/settings_arguments.h"
#include "replay/sweep/sweep_expand.h"
#include "summary/result/result.h"

enum { VARIABLES_MAX = SWEEP_VARY_MAX + 2 };

static char *find_program(void);
static int ask_version(struct sweep_player *player, struct error *error);
static int open_output(void);
static int write_secrets(struct sweep_player *player, struct error *error);
static int run_hook(struct sweep_player *player, const struct sweep_cell *cell, const char *name,
                    const char *command, struct error *error);
static int expand_command(const struct sweep_player *player, const struct sweep_cell *cell,
                          const char *command, char **out, struct error *error);
static size_t list_variables(const struct sweep_player *player, const struct sweep_cell *cell,
                             struct sweep_variable variables[VARIABLES_MAX]);
static void player_print(const struct sweep_player *player, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int check_hook(struct sweep_player *player, int result, int status, int output,
                      const char *name, const char *command, struct error *error);
static void read_tail(struct sweep_player *player, int fd);
static const char *describe_end(int status, char text[64]);
static int play_and_save(struct sweep_player *player, const struct sweep_cell *cell,
                         const struct sweep_files *files, struct error *error);
static int player_make_accounts(struct sweep_player *player, struct error *error);
static void begin_arguments(const struct sweep_player *player, struct arguments *arguments);
static void end_arguments(const struct sweep_player *player, struct arguments *arguments);
static int begin_samples(struct sweep_player *player, const struct sweep_cell *cell,
                         struct error *error);
static int run_replay(struct sweep_player *player, const struct sweep_cell *cell,
                      const struct sweep_files *files, struct error *error);
static void list_cell_arguments(const struct sweep_player *player, const struct sweep_cell *cell,
                                const struct sweep_files *files, struct arguments *arguments);
static double run_limit(const struct settings *replay);
static int check_run(struct sweep_player *player, int result, int status, int errors,
                     const struct sweep_files *files, struct error *error);
static int save_result(struct sweep_player *player, const struct sweep_files *files,
                       struct error *error);
static int mark_spoiled(struct result *result, const char *why, struct error *error);
static int judge_run(struct sweep_player *player, struct result *result,
                     const struct sweep_files *files, bool *spoiled, struct error *error);
static void end_samples(struct sweep_player *player);

int sweep_player_open(struct sweep_player *player, struct error *error)
{
    player->secrets = -1;
    player->program = find_program();
    if (!player->program)
        return error_set(error, -ENOMEM, "out of memory");
    /* traffic-replay must read the credentials from the file, not from the environment. */
    unsetenv("TRAFFIC_REPLAY_USER");
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    int result = ask_version(player, error);
    return result < 0 ? result : write_secrets(player, error);
}

/* traffic-replay in the folder of this program, or else in PATH. */
static char *find_program(void)
{
    char own[PATH_MAX], *path = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = '\0';
    if (length > 0 && asprintf(&path, "%s/traffic-replay", dirname(own)) < 0)
        return NULL;
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return strdup("traffic-replay");
}

/* Asks traffic-replay for its version, which results contain. */
static int ask_version(struct sweep_player *player, struct error *error)
{
    char *argv[] = {player->program, (char[]){"--version"}, NULL}, text[128] = "";
    int status = 0, output = open_output();
    const struct sweep_child child = {
        .argv = argv, .input = -1, .output = output, .errors = -1, .kept = -1, .limit = 30};
    int result = output < 0 ? -errno : sweep_child_run(player->watch, &child, &status);
    ssize_t got = result == 0 ? pread(output, text, sizeof text - 1, 0) : 0;
    if (output >= 0)
        close(output);
    text[got < 0 ? 0 : got] = '\0';
    if (result == 0 && status == 0 && sscanf(text, "traffic-replay %63s", player->version) == 1)
        return 0;
    if (result == -EINTR)
        return result;
    return error_set(error, result ? result : -EPROTO, "cannot run %s: %s", player->program,
                     result ? strerror(-result) : "it prints no version");
}

static int open_output(void)
{
    return memfd_create("output", MFD_CLOEXEC);
}

static int write_secrets(struct sweep_player *player, struct error *error)
{
    player->secrets = memfd_create("credentials", MFD_CLOEXEC);
    int copy = player->secrets < 0 ? -1 : fcntl(player->secrets, F_DUPFD_CLOEXEC, 0);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");
    if (!stream || fchmod(player->secrets, 0600) != 0)
        return error_set(error, -errno, "cannot store credentials for the runs: %s",
                         strerror(errno));
    setvbuf(stream, NULL, _IONBF, 0); /* leaves no copy of secrets in a buffer */
    int result = settings_write_secrets(&player->options->replay, stream);
    fclose(stream);
    if (result == -EINVAL)
        return error_set(
            error, result,
            "-A: the administrator's name contains %%, \\, / or @, which cannot be passed to "
            "traffic-replay");
    return result ? error_set(error, result, "cannot store credentials for the runs: %s",
                              strerror(-result))
                  : 0;
}

void sweep_player_close(struct sweep_player *player)
{
    if (player->secrets >= 0)
        close(player->secrets);
    player->secrets = -1;
    sweep_sampler_free(player->sampler);
    player->sampler = NULL;
    free(player->program);
    player->program = NULL;
}

void sweep_player_show_tail(struct sweep_player *player)
{
    for (char *rest = player->tail, *line; (line = strsep(&rest, "\n"));) {
        text_clean(line);
        if (*line)
            fprintf(stderr, "  | %s\n", line);
    }
    player->tail[0] = '\0';
}

void sweep_player_tick(struct sweep_player *player)
{
    sweep_sampler_tick(player->sampler, player->watch);
}

int sweep_player_play(struct sweep_player *player, const struct sweep_cell *cell,
                      const struct sweep_files *files, struct error *error)
{
    const struct sweep_options *options = player->options;
    struct error later;
    int result = options->before ? run_hook(player, cell, "before", options->before, error) : 0;
    if (result < 0)
        return result;
    /* --after undoes what --before did, even when the cell failed. */
    result = play_and_save(player, cell, files, error);
    if (!options->after || player->watch->interrupts >= 2)
        return result;
    if (result < 0 && result != -EINTR) {
        player_print(player, "%s", error->text);
        sweep_player_show_tail(player);
    }
    int ended = run_hook(player, cell, "after", options->after, &later);
    if (ended < 0 && ended != -EINTR)
        error_set(error, ended, "%s", later.text);
    else if (result < 0 && result != -EINTR)
        error_set(error, -EINVAL, "see above");
    return ended < 0 && ended != -EINTR ? ended : result < 0 ? result : ended;
}

/* Runs --before or --after. Waits only for the command itself: a daemon that it started can keep
 * the output open. */
static int run_hook(struct sweep_player *player, const struct sweep_cell *cell, const char *name,
                    const char *command, struct error *error)
{
    char *text = NULL;
    int status = 0, output = -1;
    int result = expand_command(player, cell, command, &text, error);
    if (result < 0)
        return result;
    output = open_output();
    if (output < 0) {
        result = error_set(error, -errno, "--%s: %s", name, strerror(errno));
        goto cleanup;
    }
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, text, NULL};
    bool shown = player->options->verbose > 0;
    const struct sweep_child child = {.argv = argv,
                                      .input = -1,
                                      .output = shown ? STDERR_FILENO : output,
                                      .errors = shown ? STDERR_FILENO : output,
                                      .kept = -1,
                                      .limit = player->options->hook_timeout};
    if (shown)
        player_print(player, "--%s: %s", name, text);
    result = sweep_child_run(player->watch, &child, &status);
    result = check_hook(player, result, status, output, name, text, error);
cleanup:
    if (output >= 0)
        close(output);
    free(text);
    return result;
}

static int expand_command(const struct sweep_player *player, const struct sweep_cell *cell,
                          const char *command, char **out, struct error *error)
{
    struct sweep_variable variables[VARIABLES_MAX];
    size_t count = list_variables(player, cell, variables);
    return sweep_expand(command, variables, count, out, error);
}

static size_t list_variables(const struct sweep_player *player, const struct sweep_cell *cell,
                             struct sweep_variable variables[VARIABLES_MAX])
{
    const struct sweep_options *options = player->options;
    variables[0] = (struct sweep_variable){"r", options->r.items[cell->r].text};
    variables[1] = (struct sweep_variable){"S", options->S.items[cell->S].text};
    for (size_t i = 0; i < options->vary_count; i++)
        variables[2 + i] =
            (struct sweep_variable){options->vary[i].name, options->vary[i].values[cell->value[i]]};
    return 2 + options->vary_count;
}

static void player_print(const struct sweep_player *player, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (player->before_message)
        player->before_message(player->context);
    message_print_args(format, args);
    va_end(args);
}

static int check_hook(struct sweep_player *player, int result, int status, int output,
                      const char *name, const char *command, struct error *error)
{
    char how[64];
    if (result == -EINTR || (result == 0 && status == 0))
        return result;
    read_tail(player, output);
    if (result == -ETIMEDOUT)
        return error_set(error, result, "--%s: \"%.200s\" took longer than %.12g s and was stopped",
                         name, command, player->options->hook_timeout);
    if (result < 0)
        return error_set(error, result, "--%s: cannot start: %s", name, strerror(-result));
    return error_set(error, -EIO, "--%s: \"%.200s\" failed (%s)", name, command,
                     describe_end(status, how));
}

/* Stores the end of a child's output. */
static void read_tail(struct sweep_player *player, int fd)
{
    off_t end = lseek(fd, 0, SEEK_END), room = sizeof player->tail - 1;
    ssize_t got = end > 0 ? pread(fd, player->tail, (size_t)room, end > room ? end - room : 0) : 0;
    player->tail[got < 0 ? 0 : got] = '\0';
}

static const char *describe_end(int status, char text[64])
{
    if (WIFSIGNALED(status))
        snprintf(text, 64, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(text, 64, "exit status %d", WEXITSTATUS(status));
    return text;
}

static int play_and_save(struct sweep_player *player, const struct sweep_cell *cell,
                         const struct sweep_files *files, struct error *error)
{
    int result = sweep_watch_wait(player->watch, 0);
    if (result == 0)
        result = player_make_accounts(player, error);
    if (result == 0)
        result = sweep_watch_wait(player->watch, player->options->settle);
    if (result == 0)
        result = begin_samples(player, cell, error);
    if (result == 0)
        result = run_replay(player, cell, files, error);
    if (result == 0)
        result = save_result(player, files, error);
    end_samples(player);
    if (result < 0)
        sweep_files_abandon(files);
    return result;
}

/* Creates the accounts of the largest cell, which are enough for all. traffic-replay may prompt the
 * user, so it runs in the foreground. */
static int player_make_accounts(struct sweep_player *player, struct error *error)
{
    const struct sweep_options *options = player->options;
    const struct sweep_number *largest = &options->S.items[0];
    struct arguments arguments;
    int status = 0, result = -ENOMEM;
    if (player->accounts_made || options->replay.accounts_file || options->replay.play.generic_ldap)
        return 0;
    for (size_t i = 1; i < options->S.count; i++)
        if (options->S.items[i].value > largest->value)
            largest = &options->S.items[i];
    begin_arguments(player, &arguments);
    arguments_add(&arguments, "--make-accounts");
    arguments_add(&arguments, "--scale-traffic=%s", largest->text);
    end_arguments(player, &arguments);
    const struct sweep_child child = {.argv = arguments.items,
                                      .input = STDIN_FILENO,
                                      .output = -1,
                                      .errors = STDERR_FILENO,
                                      .kept = player->secrets,
                                      .foreground = true,
                                      .dies_with_us = true};
    if (player->before_message)
        player->before_message(player->context);
    if (!arguments.failed)
        result = sweep_child_run(player->watch, &child, &status);
    arguments_clear(&arguments);
    char how[64];
    if (player->watch->interrupts > 0)
        return -EINTR;
    if (result < 0)
        return error_set(error, result, "cannot start traffic-replay: %s", strerror(-result));
    if (status != 0)
        return error_set(error, -EIO, "cannot create the test accounts (%s)",
                         describe_end(status, how));
    player->accounts_made = true;
    return 0;
}

/* The arguments that all runs share. */
static void begin_arguments(const struct sweep_player *player, struct arguments *arguments)
{
    *arguments = (struct arguments){0};
    arguments_add(arguments, "%s", player->program);
    for (size_t i = 0; i < player->options->replay_arguments.count; i++)
        arguments_add(arguments, "%s", player->options->replay_arguments.items[i]);
    arguments_add(arguments, "--config=/proc/self/fd/%d", player->secrets);
    if (player->options->replay.yes)
        arguments_add(arguments, "--yes");
}

static void end_arguments(const struct sweep_player *player, struct arguments *arguments)
{
    arguments_add(arguments, "--");
    arguments_add(arguments, "%s", player->options->replay.model);
    arguments_add(arguments, "%s", player->options->replay.dc);
}

static int begin_samples(struct sweep_player *player, const struct sweep_cell *cell,
                         struct error *error)
{
    const struct sweep_options *options = player->options;
    char *command = NULL;
    if (options->sample && strcmp(options->sample, "none") == 0)
        return 0;
    int result =
        options->sample ? expand_command(player, cell, options->sample, &command, error) : 0;
    if (result == 0)
        result = sweep_sampler_open(options->replay.dc, command, &player->sampler);
    free(command);
    if (result < 0)
        return error_set(error, result, "samples: %s", strerror(-result));
    if (!player->sampler && !player->reported_samples)
        player_print(player,
                     "no samples: no visible process on this machine listens on port 389 of %s; "
                     "for a remote server give --sample COMMAND",
                     options->replay.dc);
    player->reported_samples = player->reported_samples || !player->sampler;
    return 0;
}

static int run_replay(struct sweep_player *player, const struct sweep_cell *cell,
                      const struct sweep_files *files, struct error *error)
{
    struct arguments arguments;
    int status = 0, result = -ENOMEM;
    int errors = open_output();
    int text = open(files->unfinished_text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (text < 0 || errors < 0) {
        result = error_set(error, -errno, "cannot write %s: %s",
                           text < 0 ? files->unfinished_text : "anything", strerror(errno));
        goto cleanup;
    }
    list_cell_arguments(player, cell, files, &arguments);
    const struct sweep_child child = {.argv = arguments.items,
                                      .input = -1,
                                      .output = text,
                                      .errors =
                                          player->options->verbose > 0 ? STDERR_FILENO : errors,
                                      .kept = player->secrets,
                                      .dies_with_us = true,
                                      .limit = run_limit(&player->options->replay)};
    sweep_stolen_read(&player->stolen);
    if (!arguments.failed)
        result = sweep_child_run(player->watch, &child, &status);
    arguments_clear(&arguments);
    result = check_run(player, result, status, errors, files, error);
    if (result == 0 && fsync(text) != 0 && errno != EINVAL)
        result = error_set(error, -errno, "cannot write %s: %s", files->text, strerror(errno));
cleanup:
    if (text >= 0)
        close(text);
    if (errors >= 0)
        close(errors);
    return result;
}

static void list_cell_arguments(const struct sweep_player *player, const struct sweep_cell *cell,
                                const struct sweep_files *files, struct arguments *arguments)
{
    const struct sweep_options *options = player->options;
    begin_arguments(player, arguments);
    arguments_add(arguments, "--replay-rate=%s", options->r.items[cell->r].text);
    arguments_add(arguments, "--scale-traffic=%s", options->S.items[cell->S].text);
    arguments_add(arguments, "--random-seed=%" PRIu64, player->identity->seed + cell->repeat - 1);
    for (size_t i = 0; i < options->vary_count; i++)
        arguments_add(arguments, "--label=%s=%s", options->vary[i].name,
                      options->vary[i].values[cell->value[i]]);
    arguments_add(arguments, "--label=repeat=%u", cell->repeat);
    arguments_add(arguments, "--label=options=%s", player->identity->options);
    arguments_add(arguments, "--json=%s", files->unfinished_json);
    end_arguments(player, arguments);
}

/* Seconds for start-up, accounts and keys, in addition to warm-up, window and timeouts. */
static const double start_up_limit = 1800;

static double run_limit(const struct settings *replay)
{
    return start_up_limit + replay->warmup + replay->duration + replay->latency_timeout +
           replay->timeout;
}

static int check_run(struct sweep_player *player, int result, int status, int errors,
                     const struct sweep_files *files, struct error *error)
{
    char how[64];
    bool written = access(files->unfinished_json, F_OK) == 0;
    /* Exit status 1 with a result: the run is complete, but nothing succeeded. */
    if (result == -EINTR ||
        (result == 0 && written && WIFEXITED(status) && WEXITSTATUS(status) < 2))
        return result;
    if (result == -ETIMEDOUT)
        return error_set(error, result, "traffic-replay did not stop in time and was killed");
    if (result < 0)
        return error_set(error, result, "cannot start traffic-replay: %s", strerror(-result));
    read_tail(player, errors);
    return error_set(error, -EIO, "traffic-replay failed (%s)", describe_end(status, how));
}

static int save_result(struct sweep_player *player, const struct sweep_files *files,
                       struct error *error)
{
    struct result result;
    bool spoiled = false;
    result_init(&result);
    int saved = result_read(&result, files->unfinished_json, error);
    if (saved == 0 && result.interrupted)
        saved = error_set(error, -ECANCELED, "traffic-replay was interrupted by a signal");
    if (saved == 0 && sweep_sampler_merge(player->sampler, &result) != 0)
        saved = error_set(error, -ENOMEM, "out of memory");
    if (saved == 0)
        saved = judge_run(player, &result, files, &spoiled, error);
    if (saved == 0 && (result.sample_count > 0 || spoiled))
        saved = result_write(&result, files->unfinished_json, error);
    if (saved == 0)
        saved = sweep_files_finish(files, error);
    result_clear(&result);
    return saved;
}

/* Marks a run whose figures are not the server's. Without its mark, the result of a server that
 * died would stay in the grid as a small number. */
static int judge_run(struct sweep_player *player, struct result *result,
                     const struct sweep_files *files, bool *spoiled, struct error *error)
{
    char why[SWEEP_DISTURBED_SIZE];
    *spoiled = true;
    if (sweep_sampler_server_ended(player->sampler)) {
        player_print(player,
                     "%s: the server's processes ended while this cell was played; it is marked as "
                     "spoiled, and --resume plays it again",
                     files->json);
        player->reported_samples = true;
        return mark_spoiled(result, SWEEP_SPOILED_BY_SERVER, error);
    }
    if (player->repeats_disturbed && sweep_disturbed(result, &player->stolen, why)) {
        player_print(player, "%s: disturbed (%s); playing this cell again", files->json, why);
        return mark_spoiled(result, SWEEP_SPOILED_BY_MACHINE, error);
    }
    *spoiled = false;
    return 0;
}

static int mark_spoiled(struct result *result, const char *why, struct error *error)
{
    struct result_label *labels = result_alloc(result, result->label_count + 1, sizeof *labels);
    if (!labels)
        return error_no_memory(error);
    if (result->label_count)
        memcpy(labels, result->labels, result->label_count * sizeof *labels);
    labels[result->label_count++] = (struct result_label){RESULT_SPOILED, why};
    result->labels = labels;
    return 0;
}

static void end_samples(struct sweep_player *player)
{
    const char *problem = sweep_sampler_problem(player->sampler);
    if (problem && !player->reported_samples)
        player_print(player, "samples: %s", problem);
    player->reported_samples = player->reported_samples || problem;
    sweep_sampler_free(player->sampler);
    player->sampler = NULL;
}
