/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_tshark.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system.h"
#include "model/learn/learn_frames.h"
#include "model/learn/learn_line.h"
#include "model/learn/learn_profile.h"

enum { ARGUMENTS_MAX = 512, COMPLAINT_SIZE = 4096, PIPE_SIZE = 1 << 20 };

struct tshark_child {
    pid_t pid; /* 0: not started, or gone */
    int status;
    int complaints; /* its standard error, a file without a name; -1: none */
};

struct tshark_run {
    const struct learn_tshark_settings *settings;
    struct learn_capture *capture;
    const char *const *paths;
    size_t path_count;
    const char *begun;
    size_t begun_size;
    enum learn_line_field columns[LEARN_LINE_FIELDS];
    size_t column_count;
    struct tshark_child tshark, merge;
    int input;  /* of tshark; -1: it opens its file itself */
    int feed;   /* where standard input is copied to; -1: nowhere */
    int output; /* of tshark */
    bool feeding;
    pthread_t feeder;
};

static void *feed_tshark(void *argument);
static void close_descriptor(int *file);
static int tshark_probe(struct tshark_run *run);
static int start_children(struct tshark_run *run);
static int start_merge(struct tshark_run *run);
static int make_pipe(int *from, int *to);
static int tshark_failed(struct tshark_run *run, int result, const char *format, const char *name);
static int tshark_start(struct tshark_child *child, const char *const *arguments, int input,
                        int output);
static int make_complaints(struct tshark_child *child);
static int start_feeding(struct tshark_run *run);
static int start_tshark(struct tshark_run *run, int output);
static int read_frames(struct tshark_run *run);
static void tshark_wait_for(struct tshark_child *child);
static int drop_unknown(struct tshark_run *run);
static void add_name(char *list, size_t size, const char *name);
static int report_unknown(struct tshark_run *run, const char *fields);
static void warn_unknown(struct tshark_run *run, const char *fields);
static const char *tshark_version(struct tshark_run *run, char *text, size_t size);
static const char *complaint_of(const struct tshark_child *child, char *text, size_t size);
static void stop_children(struct tshark_run *run);
static void stop_child(struct tshark_child *child);
static int run_once(struct tshark_run *run, bool *again);
static int tshark_judge(struct tshark_run *run, const struct tshark_child *child, const char *name);
static void tshark_warn(struct tshark_run *run, const char *text);

int learn_tshark_read(const struct learn_tshark_settings *settings, const char *const *paths,
                      size_t count, const char *begun, size_t size, struct learn_capture *capture)
{
    struct tshark_run run = {.settings = settings,
                             .capture = capture,
                             .paths = paths,
                             .path_count = count,
                             .begun = begun,
                             .begun_size = size,
                             .tshark = {.complaints = -1},
                             .merge = {.complaints = -1},
                             .input = -1,
                             .feed = -1,
                             .output = -1};
    bool again = false;
    for (int field = 0; field < LEARN_LINE_FIELDS; field++)
        run.columns[run.column_count++] = (enum learn_line_field)field;
    /* Standard input cannot be read twice, so the fields that tshark knows are found before, with
     * an empty file. */
    int result = strcmp(paths[0], "-") == 0 ? tshark_probe(&run) : 0;
    if (result == 0)
        result = run_once(&run, &again);
    if (result == 0 && again)
        result = run_once(&run, &again);
    return result;
}

/* A thread that copies standard input to tshark, after the part that was read before. Stops when
 * tshark has ended; program_begin() ignores SIGPIPE. */
static void *feed_tshark(void *argument)
{
    struct tshark_run *run = argument;
    char buffer[1 << 16];
    bool good = system_write_all(run->feed, run->begun, run->begun_size) == 0;
    while (good) {
        ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        good = got > 0 && system_write_all(run->feed, buffer, (size_t)got) == 0;
    }
    close_descriptor(&run->feed);
    return NULL;
}

static void close_descriptor(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

static int tshark_probe(struct tshark_run *run)
{
    static const char *const nothing[] = {"/dev/null"};
    struct tshark_run test = *run;
    test.paths = nothing;
    int result = start_children(&test);
    if (result == 0) {
        result = read_frames(&test);
        tshark_wait_for(&test.tshark);
        if (result == 0)
            result = drop_unknown(&test);
    }
    stop_children(&test);
    memcpy(run->columns, test.columns, sizeof run->columns);
    run->column_count = test.column_count;
    return result < 0 ? result : 0;
}

static int start_children(struct tshark_run *run)
{
    int output = -1, result = 0;
    if (run->path_count > 1)
        result = start_merge(run);
    else if (strcmp(run->paths[0], "-") == 0)
        result = start_feeding(run);
    if (result == 0 && (result = make_pipe(&run->output, &output)) < 0)
        tshark_failed(run, result, "%s: %s", "pipe");
    if (result == 0) {
        (void)fcntl(output, F_SETPIPE_SZ, PIPE_SIZE);
        result = start_tshark(run, output);
    }
    close_descriptor(&output);
    close_descriptor(&run->input);
    return result;
}

static int start_merge(struct tshark_run *run)
{
    const char *arguments[ARGUMENTS_MAX] = {"mergecap", "-F", "pcapng", "-w", "-"};
    size_t count = 5;
    int output = -1, result = make_pipe(&run->input, &output);
    if (result < 0)
        return tshark_failed(run, result, "%s: %s", "mergecap");
    if (run->path_count > ARGUMENTS_MAX - 8) {
        close_descriptor(&output);
        return tshark_failed(run, -E2BIG, "more captures than %s can be given: %s", "mergecap");
    }
    for (size_t i = 0; i < run->path_count; i++)
        arguments[count++] = run->paths[i];
    result = tshark_start(&run->merge, arguments, -1, output);
    close_descriptor(&output);
    return result < 0 ? tshark_failed(run, result, "cannot start %s: %s (it comes with tshark)",
                                      "mergecap")
                      : 0;
}

static int make_pipe(int *from, int *to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *from = ends[0];
    *to = ends[1];
    return 0;
}

static int tshark_failed(struct tshark_run *run, int result, const char *format, const char *name)
{
    return error_set(run->capture->error, result, format, name, strerror(-result));
}

/* Starts a program with these descriptors as its standard input (-1: empty) and output. */
static int tshark_start(struct tshark_child *child, const char *const *arguments, int input,
                        int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int result = make_complaints(child);
    if (result < 0)
        return result;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return -ENOMEM;
    }
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char **environment = learn_profile_environment();
    if (!environment)
        result = ENOMEM;
    else if (input >= 0)
        result = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    else
        result = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(&actions, child->complaints, STDERR_FILENO);
    if (result == 0)
        result = posix_spawnp(&child->pid, arguments[0], &actions, &attributes,
                              (char *const *)(uintptr_t)arguments, environment);
    learn_profile_free(environment);
    if (result != 0)
        child->pid = 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -result;
}

static int make_complaints(struct tshark_child *child)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/traffic-learn-XXXXXX", folder && *folder ? folder : "/tmp");
    child->complaints = mkostemp(path, O_CLOEXEC);
    if (child->complaints < 0)
        return -errno;
    unlink(path);
    return 0;
}

static int start_feeding(struct tshark_run *run)
{
    int result = make_pipe(&run->input, &run->feed);
    if (result == 0)
        result = -pthread_create(&run->feeder, NULL, feed_tshark, run);
    run->feeding = result == 0;
    return result < 0 ? tshark_failed(run, result, "%s: %s", "standard input") : 0;
}

/* Preferences that counting depends on, in case the user's configuration changes them. */
static const char *const preferences[] = {
    "tcp.desegment_tcp_streams:TRUE",
    /* With TRUE tshark dissects nothing after a segment that the capture lacks. */
    "tcp.reassemble_out_of_order:FALSE",
    /* With TRUE tshark does not dissect what looks like a repetition, though it may be the only
     * copy; learn_segments_add() decides. */
    "tcp.analyze_sequence_numbers:FALSE",
    "ldap.desegment_ldap_messages:TRUE",
    "dcerpc.reassemble_dcerpc:TRUE",
    "nbss.desegment_nbss_commands:TRUE",
    "ip.defragment:TRUE",
};

static int start_tshark(struct tshark_run *run, int output)
{
    const struct learn_tshark_settings *settings = run->settings;
    const char *arguments[ARGUMENTS_MAX] = {settings->program, "-n", "-T", "fields", "-E",
                                            "occurrence=a",    "-E", NULL, "-E",     NULL};
    char separator[] = {
        's', 'e', 'p', 'a', 'r', 'a', 't', 'o', 'r', '=', (char)LEARN_LINE_SEPARATOR, '\0'};
    char aggregator[] = {
        'a', 'g', 'g', 'r', 'e', 'g', 'a', 't', 'o', 'r', '=', (char)LEARN_LINE_AGGREGATOR, '\0'};
    size_t count = 10;
    arguments[7] = separator;
    arguments[9] = aggregator;
    if (settings->option_count > 64)
        return tshark_failed(run, -E2BIG, "more than 64 options for %s: %s", settings->program);
    for (size_t i = 0; i < sizeof preferences / sizeof preferences[0]; i++) {
        arguments[count++] = "-o";
        arguments[count++] = preferences[i];
    }
    for (size_t i = 0; i < settings->option_count; i++) {
        arguments[count++] = "-o";
        arguments[count++] = settings->options[i];
    }
    if (settings->keytab) {
        arguments[count++] = "-o";
        arguments[count++] = "kerberos.decrypt:TRUE";
        arguments[count++] = "-K";
        arguments[count++] = settings->keytab;
    }
    for (size_t i = 0; i < run->column_count; i++) {
        arguments[count++] = "-e";
        arguments[count++] = learn_line_field_name(run->columns[i]);
    }
    arguments[count++] = "-r";
    arguments[count++] = run->input >= 0 ? "-" : run->paths[0];
    int result = tshark_start(&run->tshark, arguments, run->input, output);
    return result < 0 ? tshark_failed(run, result,
                                      "cannot start %s: %s (it comes with Wireshark; Debian: "
                                      "apt install tshark)",
                                      settings->program)
                      : 0;
}

static int read_frames(struct tshark_run *run)
{
    struct learn_frames *frames = learn_frames_new(run->capture);
    FILE *file = fdopen(run->output, "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int result = frames && file ? 0 : tshark_failed(run, -ENOMEM, "%s: %s", run->settings->program);
    if (file)
        run->output = -1;
    while (result == 0 && (length = getline(&text, &room, file)) >= 0) {
        struct learn_line line;
        /* A line without a newline was cut off when tshark ended. */
        if (length == 0 || text[length - 1] != '\n')
            break;
        text[length - 1] = '\0';
        if (learn_line_parse(&line, text, run->columns, run->column_count) == 0)
            result = learn_frames_take(frames, &line);
        else
            run->capture->counts[LEARN_UNREADABLE]++;
    }
    free(text);
    if (file)
        fclose(file);
    learn_frames_free(frames);
    return result;
}

static void tshark_wait_for(struct tshark_child *child)
{
    while (child->pid > 0 && waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
}

/* Drops the fields that tshark reports as unknown. 1 if another run without them makes sense, 0 if
 * there are none, negative if the counts of a model depend on one of them. */
static int drop_unknown(struct tshark_run *run)
{
    char text[COMPLAINT_SIZE], required[200] = "", optional[200] = "";
    const char *list = strstr(complaint_of(&run->tshark, text, sizeof text), "aren't valid:");
    size_t kept = 0, before = run->column_count;
    for (size_t i = 0; list && i < run->column_count; i++) {
        const char *name = learn_line_field_name(run->columns[i]), *at = list;
        size_t length = strlen(name);
        bool unknown = false;
        while (!unknown && (at = strstr(at, name))) {
            unknown = (at[-1] == ' ' || at[-1] == '\t') && (at[length] == ' ' || !at[length]);
            at += length;
        }
        if (!unknown)
            run->columns[kept++] = run->columns[i];
        else if (learn_line_is_required(run->columns[i]))
            add_name(required, sizeof required, name);
        else
            add_name(optional, sizeof optional, name);
    }
    if (list)
        run->column_count = kept;
    if (required[0])
        return report_unknown(run, required);
    if (optional[0])
        warn_unknown(run, optional);
    return list && kept > 0 && kept < before;
}

static void add_name(char *list, size_t size, const char *name)
{
    size_t length = strlen(list);
    snprintf(list + length, size - length, "%s%s", length ? ", " : "", name);
}

static int report_unknown(struct tshark_run *run, const char *fields)
{
    char version[80];
    return error_set(run->capture->error, -ENOTSUP,
                     "%s (%s) lacks fields that counting needs: %s; install a newer tshark, or "
                     "name one with --tshark",
                     run->settings->program, tshark_version(run, version, sizeof version), fields);
}

static void warn_unknown(struct tshark_run *run, const char *fields)
{
    char line[ERROR_TEXT_SIZE], version[80];
    snprintf(line, sizeof line, "%s (%s) lacks fields; details of packets may be missing: %s",
             run->settings->program, tshark_version(run, version, sizeof version), fields);
    tshark_warn(run, line);
}

/* The first line that tshark --version prints. */
static const char *tshark_version(struct tshark_run *run, char *text, size_t size)
{
    const char *const arguments[] = {run->settings->program, "--version", NULL};
    struct tshark_child child = {.complaints = -1};
    int from = -1, to = -1;
    size_t length = 0;
    if (make_pipe(&from, &to) == 0 && tshark_start(&child, arguments, -1, to) == 0) {
        close_descriptor(&to);
        ssize_t got = read(from, text, size - 1);
        length = got > 0 ? (size_t)got : 0;
    }
    text[length] = '\0';
    close_descriptor(&from);
    close_descriptor(&to);
    stop_child(&child);
    text[strcspn(text, "\n")] = '\0';
    return text[0] ? text : "unknown version";
}

/* The text that a program wrote to standard error, without the warning about root. */
static const char *complaint_of(const struct tshark_child *child, char *text, size_t size)
{
    ssize_t length = child->complaints < 0 ? 0 : pread(child->complaints, text, size - 1, 0);
    text[length < 0 ? 0 : length] = '\0';
    char *at = text;
    while (strncmp(at, "Running as user \"root\"", 22) == 0)
        at = strchrnul(at, '\n') + (strchr(at, '\n') != NULL);
    if (strncmp(at, "tshark: ", 8) == 0) /* our messages begin with the name already */
        at += 8;
    for (char *c = at; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = c[1] ? ' ' : '\0';
    return at;
}

static void stop_children(struct tshark_run *run)
{
    close_descriptor(&run->output);
    stop_child(&run->tshark);
    stop_child(&run->merge);
    /* The thread may wait in read() on a terminal or an open pipe. */
    if (run->feeding) {
        pthread_cancel(run->feeder);
        pthread_join(run->feeder, NULL);
        run->feeding = false;
    }
    close_descriptor(&run->feed);
    close_descriptor(&run->input);
}

static void stop_child(struct tshark_child *child)
{
    if (child->pid > 0)
        kill(child->pid, SIGTERM);
    tshark_wait_for(child);
    close_descriptor(&child->complaints);
}

static int run_once(struct tshark_run *run, bool *again)
{
    int result = start_children(run);
    if (result == 0)
        result = read_frames(run);
    if (result == 0) {
        tshark_wait_for(&run->tshark);
        if (run->capture->counts[LEARN_FRAMES] == 0)
            result = drop_unknown(run);
        *again = result > 0;
        if (result == 0)
            result = tshark_judge(run, &run->tshark, run->settings->program);
        result = result < 0 ? result : 0;
    }
    if (result == 0 && !*again && run->path_count > 1) {
        tshark_wait_for(&run->merge);
        result = tshark_judge(run, &run->merge, "mergecap");
    }
    stop_children(run);
    return result;
}

/* Checks how a child ended. A truncated capture causes a warning; its frames are used. */
static int tshark_judge(struct tshark_run *run, const struct tshark_child *child, const char *name)
{
    char text[COMPLAINT_SIZE], line[ERROR_TEXT_SIZE];
    const char *complaint = complaint_of(child, text, sizeof text);
    bool ended = WIFEXITED(child->status) && WEXITSTATUS(child->status) == 0;
    bool cut = strstr(complaint, "cut short") || strstr(complaint, "damaged or corrupt");
    if (WIFSIGNALED(child->status))
        return error_set(run->capture->error, -ECHILD, "%s was ended by signal %d (%s)", name,
                         WTERMSIG(child->status), strsignal(WTERMSIG(child->status)));
    if (cut && run->capture->counts[LEARN_FRAMES] > 0) {
        snprintf(line, sizeof line,
                 "the capture is truncated or damaged; the frames before are used (%.300s)",
                 complaint);
        tshark_warn(run, line);
        return 0;
    }
    if (ended && run->capture->counts[LEARN_FRAMES] == 0 &&
        run->capture->counts[LEARN_UNREADABLE] > 0)
        return error_set(run->capture->error, -EPROTO,
                         "%s printed no frames: the file is not a capture, or --tshark names "
                         "another program",
                         name);
    if (ended && complaint[0]) {
        snprintf(line, sizeof line, "%s reports: %.400s", name, complaint);
        tshark_warn(run, line);
    }
    if (ended)
        return 0;
    return error_set(run->capture->error, -EINVAL, "%s: %.400s", name,
                     complaint[0] ? complaint : "failed without a message");
}

static void tshark_warn(struct tshark_run *run, const char *text)
{
    if (run->settings->warning)
        run->settings->warning(run->settings->context, text);
}
