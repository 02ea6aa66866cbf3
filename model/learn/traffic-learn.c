/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic-learn: from captures to a model, with proof of how close it is. Reads what it is given
 * into records (learn_input, learn_tshark), learns (learn_model), compares (learn_check).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/document.h"
#include "base/error.h"
#include "model/learn/learn_check.h"
#include "model/learn/learn_input.h"
#include "model/learn/learn_model.h"
#include "model/learn/learn_recording.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, OPTIONS_MAX = 64 };

struct options {
    const char *output, *check, *server, *program, *keytab;
    const char *preferences[OPTIONS_MAX];
    size_t preference_count;
    uint32_t history, max_details; /* history 0: auto */
    double idle;
    uint64_t seed;
    bool by_connection, summary, json, quiet, help, version;
};

/* One row an option: --help is printed from here. */
struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: takes none */
    const char *help;
    size_t flag;                                             /* offset of its bool, or */
    bool (*set)(struct options *options, const char *value); /* takes its argument */
};

/* A file is written beside its place and moved there when it is whole, so that what was there
 * before is never half gone. What is no regular file (a pipe, a device) is written to directly. */
struct output {
    const char *path; /* NULL: standard output */
    char *target;     /* where a symbolic link leads to; NULL: path itself */
    char *temporary;  /* NULL: written directly */
    FILE *file;
};

static bool traffic_learn_read_options(struct options *options, int argc, char **argv);
static void traffic_learn_make_getopt(struct option *long_options, char *letters);
static bool check_options(const struct options *options, int files);
static void traffic_learn_print_help(void);
static int traffic_learn_look(char **paths, size_t count, struct learn_input *input,
                              struct error *error);
static int traffic_learn_failed(const struct error *error);
static int traffic_learn_convert(const struct options *options, const char *path,
                                 const struct learn_input *input);
static void traffic_learn_print_warning(void *context, const char *line);
static int write_model(const struct model *model, const char *path);
static int output_open(struct output *output, const char *path);
static int make_temporary(struct output *output);
static int output_failed(const struct output *output, int result);
static int output_close(struct output *output, int result);
static int traffic_learn_run(const struct options *options, char **paths, size_t count,
                             const struct learn_input *input, struct error *error);
static const char *capture_name(char **paths, size_t count, char *buffer, size_t size);
static int traffic_learn_read_input(const struct options *options, char **paths, size_t count,
                                    const struct learn_input *input, struct learn_capture *capture);
static int choose_walk(const struct options *options, struct learn_capture *capture,
                       const char *name, struct learn_walk_settings *walk);
static int choose_server(const struct options *options, struct learn_capture *capture,
                         const char *name, uint32_t *server);
static int find_server(const struct options *options, struct learn_capture *capture,
                       const char *name, uint32_t *server);
static void print_seen(const struct learn_capture *capture);
static void traffic_learn_print_count(const struct learn_capture *capture, enum learn_count count,
                                      const char *text);
static int traffic_learn_compare(const struct options *options, struct learn_capture *capture,
                                 const struct learn_walk_settings *walk);
static int traffic_learn_summarise(const struct options *options, struct learn_capture *capture,
                                   const struct learn_walk_settings *walk);
static int traffic_learn_write_model(const struct options *options, struct learn_capture *capture,
                                     const char *name, const struct learn_walk_settings *walk);
static int learn_auto(const struct options *options, struct learn_capture *capture,
                      struct learn_settings *settings, struct model **model);
static int learn_one(struct learn_capture *capture, struct learn_settings *settings,
                     uint32_t history, struct model **model);
static void print_learned(const struct options *options, const struct learn_capture *capture,
                          const struct model *model);
static bool set_output(struct options *options, const char *value);
static bool set_history(struct options *options, const char *value);
static bool traffic_learn_parse_whole(const char *text, uint64_t low, uint64_t high,
                                      uint64_t *number);
static bool traffic_learn_wrong(const char *option, const char *value, const char *expected);
static bool set_idle(struct options *options, const char *value);
static bool traffic_learn_parse_number(const char *text, double low, double high, double *number);
static bool set_server(struct options *options, const char *value);
static bool set_max_details(struct options *options, const char *value);
static bool set_check(struct options *options, const char *value);
static bool set_seed(struct options *options, const char *value);
static bool set_keytab(struct options *options, const char *value);
static bool set_preference(struct options *options, const char *value);
static bool set_program(struct options *options, const char *value);

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "where the model (or the summary) goes (standard output)", 0,
     set_output},
    {"history", 0, "N", "how many packets and pauses back the next depends on, or auto (2)", 0,
     set_history},
    {"idle", 0, "SECONDS", "a client silent for longer begins a new conversation (60)", 0,
     set_idle},
    {"by-connection", 0, NULL, "each connection is a conversation, not each client",
     offsetof(struct options, by_connection), NULL},
    {"server", 0, "ADDRESS", "the domain controller (the address that answers most)", 0,
     set_server},
    {"max-details", 0, "N", "so many forms of a packet are kept, the commonest (50)", 0,
     set_max_details},
    {"check", 0, "MODEL", "compares a model with the capture instead of learning one", 0,
     set_check},
    {"json", 0, NULL, "with --check: the comparison as JSON", offsetof(struct options, json), NULL},
    {"random-seed", 0, "N", "with --check: of the plan that is compared (1)", 0, set_seed},
    {"summary", 0, NULL, "writes a traffic-summary text instead of a model",
     offsetof(struct options, summary), NULL},
    {"keytab", 0, "FILE", "keys for tshark to decrypt Kerberos with", 0, set_keytab},
    {"tshark-option", 0, "PREF", "a preference for tshark, name:value; may come again", 0,
     set_preference},
    {"tshark", 0, "PROGRAM", "the tshark to run (tshark)", 0, set_program},
    {"quiet", 'q', NULL, "only errors and warnings on standard error",
     offsetof(struct options, quiet), NULL},
    {"help", 'h', NULL, "this text", offsetof(struct options, help), NULL},
    {"version", 'V', NULL, "the version", offsetof(struct options, version), NULL},
};
enum { ROWS = sizeof rows / sizeof rows[0], FIRST_LONG = 256 };

int main(int argc, char **argv)
{
    struct options options = {
        .program = "tshark", .history = 2, .max_details = 50, .idle = 60, .seed = 1};
    struct learn_input input = {0};
    struct error error = {0};
    if (!traffic_learn_read_options(&options, argc, argv))
        return EXIT_USAGE;
    if (options.help) {
        traffic_learn_print_help();
        return EXIT_OK;
    }
    if (options.version) {
        puts("traffic-learn " TRAFFIC_VERSION);
        return EXIT_OK;
    }
    signal(SIGPIPE, SIG_IGN);
    size_t count = (size_t)(argc - optind);
    if (traffic_learn_look(argv + optind, count, &input, &error) < 0) {
        traffic_learn_failed(&error);
        free(input.begun);
        return EXIT_USAGE;
    }
    int status = input.kind == LEARN_INPUT_MODEL
                     ? traffic_learn_convert(&options, argv[optind], &input)
                     : traffic_learn_run(&options, argv + optind, count, &input, &error);
    free(input.begun);
    return status;
}

static bool traffic_learn_read_options(struct options *options, int argc, char **argv)
{
    struct option long_options[ROWS + 1];
    char letters[2 * ROWS + 1];
    traffic_learn_make_getopt(long_options, letters);
    for (int got; (got = getopt_long(argc, argv, letters, long_options, NULL)) != -1;) {
        size_t row = 0;
        while (row < ROWS && got != FIRST_LONG + (int)row && got != rows[row].letter)
            row++;
        if (row == ROWS)
            return false; /* told already */
        if (!rows[row].set)
            *(bool *)((char *)options + rows[row].flag) = true;
        else if (!rows[row].set(options, optarg))
            return false;
    }
    return check_options(options, argc - optind);
}

/* The rows in the form of getopt_long(3). */
static void traffic_learn_make_getopt(struct option *long_options, char *letters)
{
    for (size_t i = 0; i < ROWS; i++) {
        long_options[i] =
            (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL,
                            FIRST_LONG + (int)i};
        if (rows[i].letter)
            *letters++ = rows[i].letter;
        if (rows[i].letter && rows[i].argument)
            *letters++ = ':';
    }
    long_options[ROWS] = (struct option){0};
    *letters = '\0';
}

static bool check_options(const struct options *options, int files)
{
    const char *message = NULL;
    if (options->help || options->version)
        return true;
    if (files == 0)
        message = "name a capture; --help tells more";
    else if (options->check && options->summary)
        message = "--check and --summary exclude each other";
    else if (options->json && !options->check)
        message = "--json is the form of --check's result: name a model with --check";
    if (message)
        fprintf(stderr, "traffic-learn: %s\n", message);
    return !message;
}

static void traffic_learn_print_help(void)
{
    char name[40];
    puts("Usage: traffic-learn [options] FILE...\n\n"
         "Learns a model for traffic-replay from captures (pcap, pcapng, also compressed; several\n"
         "are merged by time), a traffic-summary text, or a Samba v2 model. \"-\" is standard "
         "input.\n");
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        if (rows[i].letter)
            printf("  -%c, %-21s %s\n", rows[i].letter, name, rows[i].help);
        else
            printf("      %-21s %s\n", name, rows[i].help);
    }
}

/* Looks at all files first: nothing is begun that cannot be ended. */
static int traffic_learn_look(char **paths, size_t count, struct learn_input *input,
                              struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct learn_input one;
        if (count > 1 && strcmp(paths[i], "-") == 0) {
            return error_set(error, -EINVAL, "standard input cannot be one of several");
        }
        int result = learn_input_identify(paths[i], &one, error);
        if (result < 0)
            return result;
        if (count > 1 && one.kind != LEARN_INPUT_CAPTURE) {
            return error_set(error, -EINVAL, "%s: only captures can be merged, give it alone",
                             paths[i]);
        }
        *input = one;
    }
    return 0;
}

static int traffic_learn_failed(const struct error *error)
{
    fprintf(stderr, "traffic-learn: %s\n", error->text);
    return EXIT_FAILED;
}

/* A model that is there already: written as version 3. */
static int traffic_learn_convert(const struct options *options, const char *path,
                                 const struct learn_input *input)
{
    struct error error = {0};
    char *text = NULL;
    size_t size = 0, room = 0;
    struct model *model = NULL;
    int result = 0;
    if (options->check || options->summary) {
        fprintf(stderr, "traffic-learn: %s is a model: --check and --summary want a capture\n",
                path);
        return EXIT_USAGE;
    }
    if (strcmp(path, "-") != 0) {
        result = model_load(path, &model, &error, traffic_learn_print_warning, NULL);
    } else {
        FILE *file = learn_input_open(path, input);
        ssize_t got = file ? getdelim(&text, &room, '\0', file) : -1;
        size = got > 0 ? (size_t)got : 0;
        if (file)
            fclose(file);
        result = model_load_text("stdin", text ? text : "", size, &model, &error,
                                 traffic_learn_print_warning, NULL);
    }
    if (result < 0)
        traffic_learn_failed(&error);
    if (result == 0)
        result = write_model(model, options->output);
    model_free(model);
    free(text);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

static void traffic_learn_print_warning(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "traffic-learn: %s\n", line);
}

static int write_model(const struct model *model, const char *path)
{
    struct output output;
    int result = output_open(&output, path);
    return result < 0 ? result : output_close(&output, model_write_yaml(model, output.file));
}

static int output_open(struct output *output, const char *path)
{
    struct stat status;
    *output = (struct output){.path = path && strcmp(path, "-") != 0 ? path : NULL};
    int result = 0;
    if (!output->path)
        output->file = stdout;
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        result = (output->file = fopen(path, "we")) ? 0 : -errno;
    else
        result = make_temporary(output);
    if (result < 0)
        free(output->target);
    return result < 0 ? output_failed(output, result) : 0;
}

static int make_temporary(struct output *output)
{
    mode_t mask = umask(0);
    umask(mask);
    output->target = realpath(output->path, NULL);
    if (asprintf(&output->temporary, "%s.XXXXXX", output->target ? output->target : output->path) <
        0) {
        output->temporary = NULL;
        return -ENOMEM;
    }
    int file = mkostemp(output->temporary, O_CLOEXEC);
    if (file < 0) {
        int result = -errno;
        free(output->temporary);
        output->temporary = NULL;
        return result;
    }
    if (fchmod(file, 0666 & ~mask) < 0 || !(output->file = fdopen(file, "w"))) {
        int result = -errno;
        close(file);
        unlink(output->temporary);
        free(output->temporary);
        output->temporary = NULL;
        return result;
    }
    return 0;
}

static int output_failed(const struct output *output, int result)
{
    fprintf(stderr, "traffic-learn: %s: %s\n", output->path ? output->path : "standard output",
            strerror(-result));
    return result;
}

/* Ends the output; result is how the writing went. */
static int output_close(struct output *output, int result)
{
    if (result == 0 && (fflush(output->file) != 0 || ferror(output->file)))
        result = errno ? -errno : -EIO;
    if (result == 0 && output->temporary && fsync(fileno(output->file)) < 0)
        result = -errno;
    if (output->path && fclose(output->file) != 0 && result == 0)
        result = -errno;
    if (output->temporary && result == 0 &&
        rename(output->temporary, output->target ? output->target : output->path) < 0)
        result = -errno;
    if (output->temporary && result < 0)
        unlink(output->temporary);
    free(output->temporary);
    free(output->target);
    return result < 0 ? output_failed(output, result) : 0;
}

static int traffic_learn_run(const struct options *options, char **paths, size_t count,
                             const struct learn_input *input, struct error *error)
{
    struct learn_capture capture;
    struct learn_walk_settings walk;
    char buffer[300];
    const char *name = capture_name(paths, count, buffer, sizeof buffer);
    int status = EXIT_FAILED, result = learn_capture_begin(&capture, error);
    if (result == 0)
        result = traffic_learn_read_input(options, paths, count, input, &capture);
    if (result == 0)
        result = choose_walk(options, &capture, name, &walk);
    if (result < 0)
        traffic_learn_failed(error);
    if (!options->quiet && capture.counts[LEARN_FRAMES] > 0)
        print_seen(&capture);
    if (result == 0)
        status = options->check     ? traffic_learn_compare(options, &capture, &walk)
                 : options->summary ? traffic_learn_summarise(options, &capture, &walk)
                                    : traffic_learn_write_model(options, &capture, name, &walk);
    learn_capture_clear(&capture);
    return status;
}

static const char *capture_name(char **paths, size_t count, char *buffer, size_t size)
{
    const char *slash = strrchr(paths[0], '/');
    const char *name = slash ? slash + 1 : document_file_name(paths[0]);
    if (count == 1)
        return name;
    snprintf(buffer, size, "%s and %zu more", name, count - 1);
    return buffer;
}

static int traffic_learn_read_input(const struct options *options, char **paths, size_t count,
                                    const struct learn_input *input, struct learn_capture *capture)
{
    struct learn_tshark_settings settings = {.program = options->program,
                                             .keytab = options->keytab,
                                             .options = options->preferences,
                                             .option_count = options->preference_count,
                                             .warning = traffic_learn_print_warning};
    if (input->kind == LEARN_INPUT_RECORDING)
        return learn_input_read_recording(paths[0], input, capture);
    return learn_tshark_read(&settings, (const char *const *)paths, count, input->begun,
                             input->size, capture);
}

static int choose_walk(const struct options *options, struct learn_capture *capture,
                       const char *name, struct learn_walk_settings *walk)
{
    bool local = false;
    *walk = (struct learn_walk_settings){.by_connection = options->by_connection,
                                         .idle = options->idle};
    int result = choose_server(options, capture, name, &walk->server);
    if (result == 0)
        result = learn_capture_finish(capture, walk->server);
    if (result == 0 && !walk->by_connection)
        result = learn_walk_is_local(capture, walk->server, &local);
    if (result == 0 && local) {
        walk->by_connection = true;
        fputs("traffic-learn: client and server have the same address: each connection is taken "
              "as a conversation (--by-connection)\n",
              stderr);
    }
    return result;
}

static int choose_server(const struct options *options, struct learn_capture *capture,
                         const char *name, uint32_t *server)
{
    if (options->server)
        return find_server(options, capture, name, server);
    if (learn_capture_server(capture, server) < 0) {
        error_set(capture->error, -EINVAL,
                  "%s: no request to a domain controller among %" PRIu64 " frames%s", name,
                  capture->counts[LEARN_FRAMES],
                  capture->record_count == 0
                      ? ""
                      : ", only name queries (--server takes a name server all the same)");
        return -ENOENT;
    }
    if (!options->quiet)
        fprintf(stderr, "traffic-learn: the domain controller is taken to be %s (--server)\n",
                capture->addresses.items[*server].bytes);
    return 0;
}

static int find_server(const struct options *options, struct learn_capture *capture,
                       const char *name, uint32_t *server)
{
    *server = learn_words_find(&capture->addresses, options->server, strlen(options->server));
    if (*server != UINT32_MAX && capture->seen[*server].requests > 0)
        return 0;
    return error_set(capture->error, -ENOENT, "%s: no request to --server %s", name,
                     options->server);
}

static void print_seen(const struct learn_capture *capture)
{
    static const struct {
        enum learn_count count;
        const char *text;
    } texts[] = {
        {LEARN_LEGS, "further messages of binds and session set-ups belong to the packet before"},
        {LEARN_PREAUTH, "Kerberos requests were asked for again by the KDC and are one with it"},
        {LEARN_RETRANSMITTED, "retransmitted TCP segments left out"},
        {LEARN_RETRIED, "datagrams that were asked again left out"},
        {LEARN_MALFORMED, "malformed frames left out"},
        {LEARN_IN_ICMP, "ICMP messages left out, with what they quote"},
        {LEARN_SEALED, "LDAP requests seen only as ciphertext: ldap:3 with sealed: true"},
        {LEARN_TLS, "TLS records of payload, unseen: what they hold is not in the model"},
        {LEARN_SMB_ENCRYPTED,
         "encrypted SMB3 messages, unseen: what they hold is not in the model"},
        {LEARN_UNKNOWN_RPC, "RPC calls of interfaces whose bind was not seen: dcerpc:0"},
        {LEARN_UNPLAYED, "SMB2 and RPC requests with a size, class or level that is not played: "
                         "they are kept without it"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        traffic_learn_print_count(capture, texts[i].count, texts[i].text);
}

static void traffic_learn_print_count(const struct learn_capture *capture, enum learn_count count,
                                      const char *text)
{
    if (capture->counts[count] > 0)
        fprintf(stderr, "traffic-learn: %" PRIu64 " %s\n", capture->counts[count], text);
}

static int traffic_learn_compare(const struct options *options, struct learn_capture *capture,
                                 const struct learn_walk_settings *walk)
{
    struct error error = {0};
    struct model *model = NULL;
    struct learn_check check = {0};
    struct output output;
    int result = model_load(options->check, &model, &error, traffic_learn_print_warning, NULL);
    if (result < 0) {
        traffic_learn_failed(&error);
        return result == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
    }
    if (model_is_recording(model)) {
        fprintf(stderr, "traffic-learn: --check: %s is a recording; give a model\n",
                options->check);
        model_free(model);
        return EXIT_USAGE;
    }
    result = learn_check_make(&check, capture, walk, model, options->seed, LEARN_CHECK_PACKETS,
                              capture->error);
    if (result < 0)
        traffic_learn_failed(capture->error);
    if (result == 0 && (result = output_open(&output, options->output)) == 0)
        result = output_close(&output, options->json ? learn_check_print_json(&check, output.file)
                                                     : learn_check_print(&check, output.file));
    learn_check_clear(&check);
    model_free(model);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

static int traffic_learn_summarise(const struct options *options, struct learn_capture *capture,
                                   const struct learn_walk_settings *walk)
{
    struct output output;
    int result = output_open(&output, options->output);
    if (result < 0)
        return EXIT_FAILED;
    *capture->error = (struct error){0};
    result = learn_recording_write(capture, walk, output.file);
    if (result < 0 && capture->error->code)
        traffic_learn_failed(capture->error);
    return output_close(&output, result) < 0 ? EXIT_FAILED : EXIT_OK;
}

static int traffic_learn_write_model(const struct options *options, struct learn_capture *capture,
                                     const char *name, const struct learn_walk_settings *walk)
{
    struct learn_settings settings = {
        .walk = *walk, .max_details = options->max_details, .name = name};
    struct model *model = NULL;
    int result = options->history == 0 ? learn_auto(options, capture, &settings, &model)
                                       : learn_one(capture, &settings, options->history, &model);
    if (result < 0)
        traffic_learn_failed(capture->error);
    if (result == 0)
        result = write_model(model, options->output);
    if (result == 0)
        print_learned(options, capture, model);
    model_free(model);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

enum { AUTO_FIRST = 2, AUTO_LAST = 6 };

/* What --history auto is content with: Kolmogorov-Smirnov distances of lengths and durations. */
#define AUTO_DISTANCE 0.1

/* The shortest history whose conversations are as long as the capture's, or else the closest. */
static int learn_auto(const struct options *options, struct learn_capture *capture,
                      struct learn_settings *settings, struct model **model)
{
    double best = INFINITY;
    int result = 0;
    *model = NULL;
    for (uint32_t history = AUTO_FIRST; history <= AUTO_LAST && best > AUTO_DISTANCE; history++) {
        struct model *one = NULL;
        struct learn_check check = {0};
        result = learn_one(capture, settings, history, &one);
        if (result == 0)
            result = learn_check_make(&check, capture, &settings->walk, one, options->seed,
                                      LEARN_CHECK_PACKETS / 16, capture->error);
        double distance = fmax(check.lengths, check.durations);
        learn_check_clear(&check);
        if (result < 0) {
            model_free(one);
            break;
        }
        if (!options->quiet)
            fprintf(stderr, "traffic-learn: --history %u: lengths and durations within %.3f\n",
                    history, distance);
        if (distance < best) {
            model_free(*model);
            *model = one;
            best = distance;
        } else {
            model_free(one);
        }
    }
    return result;
}

static int learn_one(struct learn_capture *capture, struct learn_settings *settings,
                     uint32_t history, struct model **model)
{
    settings->history = history;
    return learn_model(capture, settings, model);
}

static void print_learned(const struct options *options, const struct learn_capture *capture,
                          const struct model *model)
{
    const struct model_source *source = &model->source;
    if (options->quiet)
        return;
    fprintf(stderr,
            "traffic-learn: %" PRIu64 " frames, %.0f packets in %.0f conversations over %g s: "
            "%g packets/s; %u packet types, %u histories of %u\n",
            capture->counts[LEARN_FRAMES], source->packets, source->conversations, source->seconds,
            model->packet_rate, model->type_count, model->history_count, model->history_length);
}

static bool set_output(struct options *options, const char *value)
{
    options->output = value;
    return true;
}

static bool set_history(struct options *options, const char *value)
{
    uint64_t number = 0;
    if (strcmp(value, "auto") != 0 &&
        !traffic_learn_parse_whole(value, 1, LEARN_HISTORY_MAX, &number))
        return traffic_learn_wrong("--history", value, "1 to 16, or auto");
    options->history = (uint32_t)number;
    return true;
}

static bool traffic_learn_parse_whole(const char *text, uint64_t low, uint64_t high,
                                      uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number >= low &&
           *number <= high;
}

static bool traffic_learn_wrong(const char *option, const char *value, const char *expected)
{
    fprintf(stderr, "traffic-learn: %s %s: expected %s\n", option, value, expected);
    return false;
}

static bool set_idle(struct options *options, const char *value)
{
    return traffic_learn_parse_number(value, 0.001, 1e6, &options->idle) ||
           traffic_learn_wrong("--idle", value, "seconds from 0.001 to 1000000");
}

static bool traffic_learn_parse_number(const char *text, double low, double high, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    return *text && *end == '\0' && errno == 0 && *number >= low && *number <= high;
}

static bool set_server(struct options *options, const char *value)
{
    options->server = value;
    return true;
}

static bool set_max_details(struct options *options, const char *value)
{
    uint64_t number;
    if (!traffic_learn_parse_whole(value, 1, 100000, &number))
        return traffic_learn_wrong("--max-details", value, "a whole number from 1 to 100000");
    options->max_details = (uint32_t)number;
    return true;
}

static bool set_check(struct options *options, const char *value)
{
    options->check = value;
    return true;
}

static bool set_seed(struct options *options, const char *value)
{
    return traffic_learn_parse_whole(value, 0, UINT64_MAX, &options->seed) ||
           traffic_learn_wrong("--random-seed", value, "a whole number");
}

static bool set_keytab(struct options *options, const char *value)
{
    options->keytab = value;
    return access(value, R_OK) == 0 ||
           traffic_learn_wrong("--keytab", value, "a file that can be read");
}

static bool set_preference(struct options *options, const char *value)
{
    if (!strchr(value, ':'))
        return traffic_learn_wrong("--tshark-option", value, "a preference of tshark, name:value");
    if (options->preference_count == OPTIONS_MAX)
        return traffic_learn_wrong("--tshark-option", value, "at most 64 of these");
    options->preferences[options->preference_count++] = value;
    return true;
}

static bool set_program(struct options *options, const char *value)
{
    options->program = value;
    return true;
}
