/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic-learn(1): reads captures, learns a model from them and checks how close it is. Input
 * files become records (learn_input, learn_tshark), records a model (learn_model) or a comparison
 * (learn_check).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/text_file.h"
#include "base/message.h"
#include "base/options.h"
#include "base/program.h"
#include "base/text.h"
#include "model/learn/learn_check.h"
#include "model/learn/learn_input.h"
#include "model/learn/learn_left_out.h"
#include "model/learn/learn_model.h"
#include "model/learn/learn_recording.h"
#include "model/learn/learn_tshark.h"
#include "model/model_load.h"
#include "model/model_write.h"

enum { PREFERENCES_MAX = 64, SERVERS_MAX = 16, DETAILS_MAX = 100000 };

/* --history auto tries these histories. */
enum { AUTO_FIRST = 2, AUTO_LAST = 6 };

/* The Kolmogorov-Smirnov distance of lengths and of durations that --history auto accepts. */
#define AUTO_DISTANCE 0.1

struct options {
    const char *output, *check, *program, *keytab;
    const char *servers[SERVERS_MAX];
    size_t server_count;
    const char *preferences[PREFERENCES_MAX];
    size_t preference_count;
    unsigned history, max_details; /* history 0: auto */
    double idle;
    uint64_t seed;
    bool by_connection, summary, json, quiet;
};

/* What traffic_learn_print_check() writes. */
struct written_check {
    const struct learn_check *check;
    bool json;
};

/* What traffic_learn_print_recording() writes. */
struct written_recording {
    struct learn_capture *capture;
    const struct learn_walk_settings *walk;
};

static enum step traffic_learn_read_options(struct options *options, int argc, char **argv,
                                            int *first, int *status);
static bool is_same_file(const char *output, const char *input);
static const char *traffic_learn_conflict(const struct options *options, int files);
static int traffic_learn_run_files(const struct options *options, char **paths, size_t count);
static int traffic_learn_identify(char **paths, size_t count, struct learn_input *input,
                                  struct error *error);
static int traffic_learn_failed(const struct error *error);
static int traffic_learn_convert(const struct options *options, const char *path,
                                 const struct learn_input *input);
static int traffic_learn_load(const char *path, const struct learn_input *input,
                              struct model **model, struct error *error);
static void traffic_learn_print_warning(void *context, const char *line);
static int traffic_learn_output(const struct options *options,
                                int (*print)(FILE *stream, void *context), void *context,
                                const struct error *cause);
static int traffic_learn_print_model(FILE *stream, void *context);
static int traffic_learn_run(const struct options *options, char **paths, size_t count,
                             const struct learn_input *input);
static int traffic_learn_load_check(const struct options *options, struct model **model);
static const char *capture_name(char **paths, size_t count, char *buffer, size_t size);
static void make_printable(char *name);
static size_t utf8_length(const unsigned char *bytes);
static int traffic_learn_read_input(const struct options *options, char **paths, size_t count,
                                    const struct learn_input *input, struct learn_capture *capture);
static int choose_walk(const struct options *options, struct learn_capture *capture,
                       const char *name, struct learn_walk_settings *walk);
static int hint_shared(struct learn_capture *capture);
static int choose_server(const struct options *options, struct learn_capture *capture,
                         const char *name, uint32_t *server);
static int find_server(const char *address, struct learn_capture *capture, const char *name,
                       uint32_t *server);
static int traffic_learn_compare(const struct options *options, struct learn_capture *capture,
                                 const struct learn_walk_settings *walk, const struct model *model);
static int traffic_learn_print_check(FILE *stream, void *context);
static int traffic_learn_write_recording(const struct options *options,
                                         struct learn_capture *capture,
                                         const struct learn_walk_settings *walk);
static int traffic_learn_print_recording(FILE *stream, void *context);
static int traffic_learn_write_model(const struct options *options, struct learn_capture *capture,
                                     const char *name, const struct learn_walk_settings *walk);
static int learn_auto(const struct options *options, struct learn_capture *capture,
                      struct learn_settings *settings, struct model **model);
static int learn_one(struct learn_capture *capture, struct learn_settings *settings,
                     uint32_t history, struct model **model);
static void print_learned(const struct options *options, const struct learn_capture *capture,
                          const struct model *model);
static const char *traffic_learn_parse_server(void *owner, char *value);
static const char *traffic_learn_parse_history(void *owner, char *value);
static const char *traffic_learn_parse_preference(void *owner, char *value);
static const char *traffic_learn_parse_seed(void *owner, char *value);
static void traffic_learn_help(FILE *out);

enum row_group { GROUP_INPUT, GROUP_MODEL, GROUP_CHECK, GROUP_OUTPUT, GROUP_OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_INPUT] = "Reading captures",
    [GROUP_MODEL] = "Learning",
    [GROUP_CHECK] = "Comparing a model with a capture",
    [GROUP_OUTPUT] = "Output",
    [GROUP_OTHER] = "Other",
};

#define AT(member) offsetof(struct options, member)

/* clang-format off */
static const struct options_row rows[] = {
    {"server", 0, "ADDRESS", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_INPUT,
     "address of the domain controller; can be given several times\n(default: the address with "
     "most services of a domain\ncontroller)",
     traffic_learn_parse_server},
    {"idle", 0, "SECONDS", OPTIONS_NUMBER, AT(idle), 0.001, 1e6, 0, GROUP_INPUT,
     "silence after which a conversation ends (default 60)", NULL},
    {"by-connection", 0, NULL, OPTIONS_FLAG, AT(by_connection), 0, 0, 0, GROUP_INPUT,
     "treat each connection as a conversation, not each client", NULL},
    {"keytab", 0, "FILE", OPTIONS_INPUT, AT(keytab), 0, 0, 0, GROUP_INPUT,
     "keys with which tshark decrypts Kerberos", NULL},
    {"tshark-option", 0, "NAME:VALUE", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_INPUT,
     "preference of tshark; can be given several times", traffic_learn_parse_preference},
    {"tshark", 0, "PROGRAM", OPTIONS_TEXT, AT(program), 0, 0, 0, GROUP_INPUT,
     "tshark program to run (default tshark)", NULL},

    {"history", 0, "N|auto", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_MODEL,
     "number of preceding packets and pauses that determine\nthe next one (default 2)",
     traffic_learn_parse_history},
    {"max-details", 0, "N", OPTIONS_UNSIGNED, AT(max_details), 1, DETAILS_MAX, 0, GROUP_MODEL,
     "number of forms to keep per packet type, the most\nfrequent ones (default 50)", NULL},

    {"check", 0, "MODEL", OPTIONS_TEXT, AT(check), 0, 0, 0, GROUP_CHECK,
     "compare MODEL with the capture instead of learning", NULL},
    {"json", 0, NULL, OPTIONS_FLAG, AT(json), 0, 0, 0, GROUP_CHECK,
     "write the comparison as JSON", NULL},
    {"random-seed", 0, "N", OPTIONS_CUSTOM, 0, 0, 0, 0, GROUP_CHECK,
     "seed of the plan that is compared (default 1)", traffic_learn_parse_seed},

    {"output", 'o', "FILE", OPTIONS_OUTPUT, AT(output), 0, 0, 0, GROUP_OUTPUT,
     "write the result to FILE (default: standard output)", NULL},
    {"summary", 0, NULL, OPTIONS_FLAG, AT(summary), 0, 0, 0, GROUP_OUTPUT,
     "write a traffic-summary text instead of a model", NULL},
    {"quiet", 'q', NULL, OPTIONS_FLAG, AT(quiet), 0, 0, 0, GROUP_OUTPUT,
     "print only errors and warnings on standard error", NULL},

    OPTIONS_COMPLETION_ROW(GROUP_OTHER),
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};
/* clang-format on */

_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX, "raise OPTIONS_ROWS_MAX");

static const struct options_table table = {.rows = rows,
                                           .count = sizeof rows / sizeof rows[0],
                                           .groups = group_titles,
                                           .group_count = GROUP_COUNT,
                                           .help_column = 33,
                                           .print_help = traffic_learn_help};

int main(int argc, char **argv)
{
    struct options options = {
        .program = "tshark", .history = 2, .max_details = 50, .idle = 60, .seed = 1};
    int first = argc, status;
    program_begin("traffic-learn");
    if (traffic_learn_read_options(&options, argc, argv, &first, &status) == STEP_NEXT)
        status = traffic_learn_run_files(&options, argv + first, (size_t)(argc - first));
    return program_end(status);
}

static enum step traffic_learn_read_options(struct options *options, int argc, char **argv,
                                            int *first, int *status)
{
    if (options_read(&table, options, argc, argv, first, status) == STEP_DONE)
        return STEP_DONE;
    const char *conflict = traffic_learn_conflict(options, argc - *first);
    for (int i = *first; i < argc && !conflict && options->output; i++)
        if (is_same_file(options->output, argv[i]))
            conflict = "--output names a FILE that is read; give another name";
    return conflict ? step_done(status, options_complain("%s", conflict)) : STEP_NEXT;
}

static bool is_same_file(const char *output, const char *input)
{
    struct stat left, right;
    return stat(output, &left) == 0 && stat(input, &right) == 0 && S_ISREG(left.st_mode) &&
           left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

static const char *traffic_learn_conflict(const struct options *options, int files)
{
    if (files == 0)
        return "missing FILE; give a capture, or see --help";
    if (options->check && options->summary)
        return "--check and --summary exclude each other; leave one out";
    if (options->json && !options->check)
        return "--json requires --check MODEL";
    return NULL;
}

static int traffic_learn_run_files(const struct options *options, char **paths, size_t count)
{
    struct learn_input input = {0};
    struct error error = {0};
    int status;
    if (traffic_learn_identify(paths, count, &input, &error) < 0)
        status = options_complain("%s", error.text);
    else if (input.kind == LEARN_INPUT_MODEL)
        status = traffic_learn_convert(options, paths[0], &input);
    else
        status = traffic_learn_run(options, paths, count, &input);
    free(input.begun);
    return status;
}

/* Identifies all files before any work begins. *input describes the last one. */
static int traffic_learn_identify(char **paths, size_t count, struct learn_input *input,
                                  struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct learn_input one;
        if (count > 1 && strcmp(paths[i], "-") == 0)
            return error_set(error, -EINVAL, "-: standard input cannot be merged with other files");
        int result = learn_input_identify(paths[i], &one, error);
        if (result < 0)
            return result;
        *input = one;
        if (count > 1 && one.kind != LEARN_INPUT_CAPTURE)
            return error_set(error, -EINVAL,
                             "%s: only captures can be merged; give this file alone", paths[i]);
    }
    return 0;
}

static int traffic_learn_failed(const struct error *error)
{
    message_print("%s", error->text);
    return EXIT_FAILED;
}

/* Writes a model of any version as version 3. */
static int traffic_learn_convert(const struct options *options, const char *path,
                                 const struct learn_input *input)
{
    struct error error = {0};
    struct model *model = NULL;
    if (options->check || options->summary)
        return options_complain("%s is a model; --check and --summary need a capture", path);
    int result = traffic_learn_load(path, input, &model, &error);
    if (result < 0) {
        traffic_learn_failed(&error);
        return result == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
    }
    result = traffic_learn_output(options, traffic_learn_print_model, model, &error);
    model_free(model);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

static int traffic_learn_load(const char *path, const struct learn_input *input,
                              struct model **model, struct error *error)
{
    if (strcmp(path, "-") != 0)
        return model_load(path, model, error, traffic_learn_print_warning, NULL);
    char *text = NULL;
    size_t room = 0;
    FILE *file = learn_input_open(path, input);
    ssize_t got = file ? getdelim(&text, &room, '\0', file) : -1;
    if (file)
        fclose(file);
    int result = model_load_text("stdin", got > 0 ? text : "", got > 0 ? (size_t)got : 0, model,
                                 error, traffic_learn_print_warning, NULL);
    free(text);
    return result;
}

static void traffic_learn_print_warning(void *context, const char *line)
{
    (void)context;
    message_print("%s", line);
}

/* Writes the program's output to --output FILE. 0 or a negative errno, which is reported: as cause,
 * if print() sets that, else as a failure of the file. */
static int traffic_learn_output(const struct options *options,
                                int (*print)(FILE *stream, void *context), void *context,
                                const struct error *cause)
{
    struct error error = {0};
    int result = atomic_file_write(options->output ? options->output : "-", print, context, &error);
    if (result < 0 && (options->output || !program_reader_is_gone()))
        traffic_learn_failed(cause->code ? cause : &error);
    return result;
}

static int traffic_learn_print_model(FILE *stream, void *context)
{
    return model_write_yaml(context, stream);
}

static int traffic_learn_run(const struct options *options, char **paths, size_t count,
                             const struct learn_input *input)
{
    struct learn_capture capture;
    struct learn_walk_settings walk;
    struct error error = {0};
    struct model *model = NULL;
    char buffer[300];
    const char *name = capture_name(paths, count, buffer, sizeof buffer);
    int status = EXIT_FAILED, result = 0;
    if (options->check && (status = traffic_learn_load_check(options, &model)) != EXIT_OK)
        return status;
    status = EXIT_FAILED;
    result = learn_capture_init(&capture, &error);
    if (result == 0)
        result = traffic_learn_read_input(options, paths, count, input, &capture);
    if (result == 0)
        result = choose_walk(options, &capture, name, &walk);
    if (result < 0)
        traffic_learn_failed(&error);
    if (result == 0 && !options->quiet)
        learn_left_out_print(&capture);
    if (result == 0)
        learn_left_out_warn(&capture);
    if (result == 0 && options->check)
        status = traffic_learn_compare(options, &capture, &walk, model);
    else if (result == 0 && options->summary)
        status = traffic_learn_write_recording(options, &capture, &walk);
    else if (result == 0)
        status = traffic_learn_write_model(options, &capture, name, &walk);
    learn_capture_clear(&capture);
    model_free(model);
    return status;
}

/* Loads the model of --check before the capture is read, so that mistakes are reported at once. */
static int traffic_learn_load_check(const struct options *options, struct model **model)
{
    struct error error = {0};
    int result = model_load(options->check, model, &error, traffic_learn_print_warning, NULL);
    if (result < 0) {
        traffic_learn_failed(&error);
        return result == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
    }
    if (!model_is_recording(*model))
        return EXIT_OK;
    model_free(*model);
    return options_complain("--check: %s is a recording; give a model", options->check);
}

static const char *capture_name(char **paths, size_t count, char *buffer, size_t size)
{
    const char *slash = strrchr(paths[0], '/');
    const char *name = slash ? slash + 1 : text_file_name(paths[0]);
    if (count == 1)
        snprintf(buffer, size, "%s", name);
    else
        snprintf(buffer, size, "%.200s and %zu more", name, count - 1);
    make_printable(buffer);
    return buffer;
}

/* A model is UTF-8 text, but a file's name may be any bytes. */
static void make_printable(char *name)
{
    text_clean(name);
    for (unsigned char *c = (unsigned char *)name; *c;) {
        size_t length = utf8_length(c);
        if (length == 0)
            *c = '?';
        c += length ? length : 1;
    }
}

/* The bytes of a UTF-8 character (RFC 3629 3), 0 if it is not one. */
static size_t utf8_length(const unsigned char *bytes)
{
    size_t length = bytes[0] < 0x80                        ? 1
                    : bytes[0] >= 0xc2 && bytes[0] <= 0xdf ? 2
                    : bytes[0] >= 0xe0 && bytes[0] <= 0xef ? 3
                    : bytes[0] >= 0xf0 && bytes[0] <= 0xf4 ? 4
                                                           : 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
               (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f);
    return bad ? 0 : length;
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
        message_print("client and server have the same address; treating each connection as a "
                      "conversation (--by-connection)");
    }
    if (result == 0 && !walk->by_connection && !options->quiet)
        result = hint_shared(capture);
    return result;
}

static int hint_shared(struct learn_capture *capture)
{
    uint32_t address;
    int result = learn_walk_find_shared(capture, &address);
    if (result == 0 && address != UINT32_MAX)
        message_print("%s uses many connections of one protocol at the same time; if several "
                      "clients share this address (NAT), give --by-connection",
                      capture->addresses.entries[address].bytes);
    return result;
}

static int choose_server(const struct options *options, struct learn_capture *capture,
                         const char *name, uint32_t *server)
{
    for (size_t i = 0; i < options->server_count; i++) {
        int result = find_server(options->servers[i], capture, name, server);
        if (result < 0)
            return result;
        learn_capture_choose(capture, *server);
    }
    if (options->server_count > 0)
        return 0;
    if (learn_capture_server(capture, server) < 0) {
        bool nothing = capture->record_count == 0;
        return error_set(capture->error, -ENOENT,
                         "%s: no request to a domain controller among %" PRIu64 " frames%s", name,
                         capture->counts[LEARN_FRAMES],
                         nothing ? "" : ", only name queries; to use them, give --server ADDRESS");
    }
    if (!options->quiet)
        message_print("domain controller: %s; to choose another, give --server ADDRESS",
                      capture->addresses.entries[*server].bytes);
    return 0;
}

static int find_server(const char *address, struct learn_capture *capture, const char *name,
                       uint32_t *server)
{
    *server = intern_find(&capture->addresses, address, strlen(address));
    if (*server != UINT32_MAX && capture->seen[*server].requests > 0)
        return 0;
    return error_set(capture->error, -ENOENT, "%s: no request to --server %s", name, address);
}

static int traffic_learn_compare(const struct options *options, struct learn_capture *capture,
                                 const struct learn_walk_settings *walk, const struct model *model)
{
    struct learn_check check = {0};
    int result = learn_check_make(&check, capture, walk, model, options->seed, LEARN_CHECK_PACKETS,
                                  capture->error);
    if (result < 0)
        traffic_learn_failed(capture->error);
    else
        result =
            traffic_learn_output(options, traffic_learn_print_check,
                                 &(struct written_check){&check, options->json}, capture->error);
    learn_check_clear(&check);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

static int traffic_learn_print_check(FILE *stream, void *context)
{
    const struct written_check *written = context;
    return written->json ? learn_check_print_json(written->check, stream)
                         : learn_check_print(written->check, stream);
}

static int traffic_learn_write_recording(const struct options *options,
                                         struct learn_capture *capture,
                                         const struct learn_walk_settings *walk)
{
    *capture->error = (struct error){0};
    int result = traffic_learn_output(options, traffic_learn_print_recording,
                                      &(struct written_recording){capture, walk}, capture->error);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

static int traffic_learn_print_recording(FILE *stream, void *context)
{
    const struct written_recording *written = context;
    return learn_recording_write(written->capture, written->walk, stream);
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
    else
        result = traffic_learn_output(options, traffic_learn_print_model, model, capture->error);
    if (result == 0)
        print_learned(options, capture, model);
    model_free(model);
    return result < 0 ? EXIT_FAILED : EXIT_OK;
}

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
            message_print("--history %u: lengths and durations within %.3f", history, distance);
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
    struct model_figures figures = model_figures(model);
    learn_left_out_warn_size(capture, figures.packets);
    learn_left_out_warn_unplayed(model);
    if (options->quiet)
        return;
    message_print("%" PRIu64 " frames, %.0f packets in %.0f conversations over %g s: "
                  "%g packets/s; %u packet types, %u histories of %u",
                  capture->counts[LEARN_FRAMES], figures.packets, figures.conversations,
                  figures.seconds, figures.packet_rate, figures.types, figures.histories,
                  figures.history_length);
}

static const char *traffic_learn_parse_server(void *owner, char *value)
{
    struct options *options = owner;
    if (!value[0])
        return options_wrong("an address is missing");
    if (options->server_count == SERVERS_MAX)
        return options_wrong("too many servers (maximum %d)", SERVERS_MAX);
    options->servers[options->server_count++] = value;
    return NULL;
}

static const char *traffic_learn_parse_history(void *owner, char *value)
{
    struct options *options = owner;
    char *end;
    unsigned long number = strcmp(value, "auto") == 0 ? 0 : strtoul(value, &end, 10);
    bool whole = strspn(value, "0123456789") == strlen(value);
    if (strcmp(value, "auto") != 0 && (!whole || number < 1 || number > LEARN_HISTORY_MAX))
        return options_wrong("\"%s\" is neither auto nor a whole number from 1 to %d", value,
                             LEARN_HISTORY_MAX);
    options->history = (unsigned)number;
    return NULL;
}

static const char *traffic_learn_parse_preference(void *owner, char *value)
{
    struct options *options = owner;
    if (!strchr(value, ':'))
        return options_wrong("\"%s\" is not NAME:VALUE, a preference of tshark", value);
    if (strncmp(value, "tls.keylog_file:", 16) == 0 && access(value + 16, R_OK) < 0)
        return options_wrong("cannot read \"%s\": %s", value + 16, strerror(errno));
    if (options->preference_count == PREFERENCES_MAX)
        return options_wrong("too many preferences (maximum %d)", PREFERENCES_MAX);
    options->preferences[options->preference_count++] = value;
    return NULL;
}

static const char *traffic_learn_parse_seed(void *owner, char *value)
{
    struct options *options = owner;
    return options_parse_seed(value, &options->seed);
}

static void traffic_learn_help(FILE *out)
{
    fputs("traffic-learn learns a model for traffic-replay from captured network traffic.\n"
          "\n"
          "  traffic-learn [OPTION...] FILE...                learn a model\n"
          "  traffic-learn --check MODEL [OPTION...] FILE...  compare a model with a capture\n"
          "  traffic-learn --summary [OPTION...] FILE...      write a traffic-summary text\n"
          "\n"
          "FILE is a capture (pcap or pcapng, may be compressed; several are merged by time), a\n"
          "traffic-summary text, or a Samba v2 model (converted to version 3). - is standard "
          "input.\n",
          out);
    options_help(&table, out);
    fputs("\nSee traffic-learn(1).\n", out);
}
