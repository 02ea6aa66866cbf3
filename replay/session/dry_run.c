/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/session/dry_run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/json_text.h"
#include "base/files/text_file.h"
#include "base/text.h"
#include "model/plan_count.h"
#include "model/recording_write.h"
#include "protocols/packet.h"
#include "replay/run.h"
#include "replay/run_part.h"
#include "replay/session/dry_run_script.h"

struct dry_run {
    const struct settings *settings;
    const struct plan *plan;
    const struct plan_figures *figures;
    const struct model *model;
    const struct model_type *types;
    size_t type_count;
    packet_index *order; /* types, the one most frequent in the window first */
    enum run_part *parts;
    struct plan_count count;
    uint64_t cut;  /* packets of a recording that are due after the end of the window */
    double window; /* seconds */
};

/* Why packets are not operations, in the order of the listing. */
static const struct {
    enum run_part part;
    const char *key;   /* in JSON */
    const char *title; /* in text */
} reasons[] = {
    {RUN_NO_PLAYER, "skipped", "Packets without a player, skipped"},
    {RUN_LEFT_OUT, "left_out", "Packets left out by --only or --skip"},
    {RUN_STATE, "state",
     "Packets that change the state of a client and send nothing that is counted"},
    {RUN_SILENT, "silent", "Silent packets: implied by other packets"},
};

enum { REASONS = sizeof reasons / sizeof reasons[0] };

static int count_cut(struct dry_run *dry);
static int read_types(struct dry_run *dry);
static int dry_run_compare_types(const void *a, const void *b, void *context);
static int dry_run_print(const struct dry_run *dry, FILE *out);
static int print_json(const struct dry_run *dry, FILE *out);
static json_t *json_of_settings(const struct dry_run *dry);
static json_t *json_of_load(const struct dry_run *dry);
static int add_packets(const struct dry_run *dry, json_t *root);
static json_t *json_of_packet(const struct dry_run *dry, packet_index type);
static const char *packet_description(const struct model_type *type);
static int add_reason(const struct dry_run *dry, json_t *root, size_t reason);
static void dry_run_print_text(const struct dry_run *dry, FILE *out);
static void print_scale(const struct dry_run *dry, FILE *out);
static void dry_run_print_load(const struct dry_run *dry, FILE *out);
static void print_packets(const struct dry_run *dry, FILE *out);
static void print_legs(const struct dry_run *dry, FILE *out);
static void print_reason(const struct dry_run *dry, size_t reason, FILE *out);
static bool has_part(const struct dry_run *dry, enum run_part part);
static int write_json_file(const struct dry_run *dry, const char *path);

int dry_run(const struct settings *settings, const struct plan *plan, FILE *out)
{
    struct dry_run dry = {.settings = settings,
                          .plan = plan,
                          .figures = plan_figures(plan),
                          .model = plan_model(plan),
                          .window = plan_settings(plan)->duration};
    int result = plan_count(plan, run_threads(settings, dry.figures->clients), &dry.count);
    if (result == 0)
        result = count_cut(&dry);
    if (result == 0)
        result = read_types(&dry);
    if (result == 0)
        result = dry_run_print(&dry, out);
    plan_count_clear(&dry.count);
    free(dry.parts);
    free(dry.order);
    return result;
}

/* Compares the plan with that of the whole recording. */
static int count_cut(struct dry_run *dry)
{
    struct plan_settings whole = *plan_settings(dry->plan);
    double seconds = model_recording_seconds(dry->model, whole.replay_rate);
    struct plan *plan = NULL;
    struct plan_count count = {0};
    if (whole.warmup + whole.duration >= seconds)
        return 0;
    whole.warmup = 0;
    whole.duration = seconds;
    int result = plan_make(dry->model, &whole, &plan, NULL);
    if (result == 0)
        result = plan_count(plan, run_threads(dry->settings, dry->figures->clients), &count);
    if (result == 0)
        dry->cut = count.packets - dry->count.packets;
    plan_count_clear(&count);
    plan_free(plan);
    return result;
}

static int read_types(struct dry_run *dry)
{
    dry->types = model_types(dry->model, &dry->type_count);
    dry->order = calloc(dry->type_count, sizeof *dry->order);
    dry->parts = calloc(dry->type_count, sizeof *dry->parts);
    if (!dry->order || !dry->parts)
        return -ENOMEM;
    for (packet_index i = 0; i < dry->type_count; i++) {
        dry->order[i] = i;
        dry->parts[i] = run_part(dry->settings, &dry->types[i]);
    }
    qsort_r(dry->order, dry->type_count, sizeof *dry->order, dry_run_compare_types, dry);
    return 0;
}

static int dry_run_compare_types(const void *a, const void *b, void *context)
{
    const struct dry_run *dry = context;
    packet_index left = *(const packet_index *)a, right = *(const packet_index *)b;
    uint64_t left_count = dry->count.types[left].window_packets;
    uint64_t right_count = dry->count.types[right].window_packets;
    if (left_count != right_count)
        return left_count > right_count ? -1 : 1;
    return left < right ? -1 : left > right;
}

static int dry_run_print(const struct dry_run *dry, FILE *out)
{
    const struct settings *settings = dry->settings;
    bool file = settings->json && strcmp(settings->json, "-") != 0;
    int result = 0;
    errno = 0;
    if (settings->json_wanted && !file)
        result = print_json(dry, out);
    else
        dry_run_print_text(dry, out);
    if (result == 0 && file)
        result = write_json_file(dry, settings->json);
    return result == 0 ? text_file_flush(out) : result;
}

static int print_json(const struct dry_run *dry, FILE *out)
{
    json_t *root = json_of_settings(dry), *load = json_of_load(dry);
    int result = root && load && json_object_update(root, load) == 0 ? 0 : -ENOMEM;
    if (result == 0 && model_script(dry->model) &&
        json_object_set_new(root, "loadfile", dry_run_script_to_json(dry->plan)) < 0)
        result = -ENOMEM;
    if (result == 0 && add_packets(dry, root) < 0)
        result = -ENOMEM;
    for (size_t i = 0; i < REASONS && result == 0; i++)
        if (add_reason(dry, root, i) < 0)
            result = -ENOMEM;
    if (result == 0)
        result = json_text_write(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(load);
    json_decref(root);
    return result;
}

static json_t *json_of_settings(const struct dry_run *dry)
{
    const struct plan_settings *settings = plan_settings(dry->plan);
    const char *command = dry->settings->command_line;
    bool by_rate = settings->packets_per_second > 0;
    char hex[2 * MODEL_SHA256_SIZE + 1], seed[24];
    text_hex(hex, model_sha256(dry->model), MODEL_SHA256_SIZE);
    snprintf(seed, sizeof seed, "%" PRIu64, settings->seed);
    return json_pack("{s:i, s:s, s:s, s:o, s:b, s:o, s:s, s:s, s:f, s:o, s:o, s:f, s:f}", "format",
                     1, "program", "traffic-replay", "version", TRAFFIC_VERSION, "command",
                     json_text_string(command ? command : ""), "dry_run", 1, "model",
                     json_text_string(model_name(dry->model)), "model_sha256", hex, "seed", seed,
                     "r", settings->replay_rate, "S",
                     by_rate ? json_null() : json_real(settings->scale), "T",
                     by_rate ? json_real(settings->packets_per_second) : json_null(), "warmup",
                     settings->warmup, "window", settings->duration);
}

static json_t *json_of_load(const struct dry_run *dry)
{
    const struct plan_figures *figures = dry->figures;
    const struct plan_count *count = &dry->count;
    return json_pack(
        "{s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "clients",
        (json_int_t)figures->clients, "nominal", figures->nominal_operations, "nominal_packets",
        figures->nominal_packets, "planned", (json_int_t)count->window_operations, "window_packets",
        (json_int_t)count->window_packets, "window_conversations",
        (json_int_t)count->window_conversations, "planned_packets", (json_int_t)count->packets,
        "planned_conversations", (json_int_t)count->conversations, "share", figures->share, "K",
        figures->conversation_packets, "O", figures->conversation_operations, "D",
        figures->conversation_seconds, "rho", figures->client_rate, "stretch", figures->stretch);
}

static int add_packets(const struct dry_run *dry, json_t *root)
{
    json_t *packets = json_array();
    int result = packets ? json_object_set_new(root, "packets", packets) : -1;
    for (size_t i = 0; result == 0 && i < dry->type_count; i++)
        if (dry->parts[dry->order[i]] == RUN_OPERATION)
            result = json_array_append_new(packets, json_of_packet(dry, dry->order[i]));
    return result;
}

static json_t *json_of_packet(const struct dry_run *dry, packet_index type)
{
    const struct plan_type_count *count = &dry->count.types[type];
    return json_pack("{s:s, s:s, s:s, s:I, s:I}", "protocol", dry->types[type].protocol, "opcode",
                     dry->types[type].opcode, "description", packet_description(&dry->types[type]),
                     "planned", (json_int_t)count->window_operations, "in_model",
                     (json_int_t)dry->types[type].count);
}

static const char *packet_description(const struct model_type *type)
{
    return type->row ? type->row->description : "";
}

/* Adds {"protocol:opcode": packets of the plan} for packets that are not operations for this
 * reason. */
static int add_reason(const struct dry_run *dry, json_t *root, size_t reason)
{
    json_t *counts = json_object();
    int result = counts ? json_object_set_new(root, reasons[reason].key, counts) : -1;
    for (size_t i = 0; result == 0 && i < dry->type_count; i++) {
        const struct model_type *type = &dry->types[dry->order[i]];
        char name[160];
        snprintf(name, sizeof name, "%s:%s", type->protocol, type->opcode);
        if (dry->parts[dry->order[i]] == reasons[reason].part)
            result = json_object_set_new(
                counts, name, json_integer((json_int_t)dry->count.types[dry->order[i]].packets));
    }
    return result;
}

static void dry_run_print_text(const struct dry_run *dry, FILE *out)
{
    print_scale(dry, out);
    if (model_script(dry->model)) {
        dry_run_print_script(dry->plan, out);
        return;
    }
    dry_run_print_load(dry, out);
    print_packets(dry, out);
    print_legs(dry, out);
    for (size_t i = 0; i < REASONS; i++)
        print_reason(dry, i, out);
}

static void print_scale(const struct dry_run *dry, FILE *out)
{
    const struct plan_settings *settings = plan_settings(dry->plan);
    char hex[2 * MODEL_SHA256_SIZE + 1];
    text_hex(hex, model_sha256(dry->model), MODEL_SHA256_SIZE);
    fprintf(out, "Model:              %s (%s, SHA-256 %s)\n", model_name(dry->model),
            model_script(dry->model)         ? "loadfile"
            : model_is_recording(dry->model) ? "recording"
            : model_is_samba_v2(dry->model)  ? "Samba v2"
                                             : "version 3",
            hex);
    fprintf(out, "Replay rate:        -r %g\n", settings->replay_rate);
    if (settings->packets_per_second > 0)
        fprintf(out, "Packets per second: -T %g\n", settings->packets_per_second);
    else
        fprintf(out, "Scale of traffic:   -S %g\n", settings->scale);
    fprintf(out, "Seed:               %" PRIu64 "\n", settings->seed);
    fprintf(out, "Warm-up, window:    %g s, %g s\n", settings->warmup, settings->duration);
}

static void dry_run_print_load(const struct dry_run *dry, FILE *out)
{
    const struct plan_figures *figures = dry->figures;
    fprintf(out, "Clients:            %" PRIu32 "\n", figures->clients);
    fprintf(out, "Nominal load:       %.3f packets/s, %.3f operations/s\n",
            figures->nominal_packets, figures->nominal_operations);
    fprintf(out, "Planned load:       %.3f packets/s, %.3f operations/s\n",
            (double)dry->count.window_packets / dry->window,
            (double)dry->count.window_operations / dry->window);
    fprintf(out,
            "Planned in window:  %" PRIu64 " packets, %" PRIu64 " operations, %" PRIu64
            " conversations begin\n",
            dry->count.window_packets, dry->count.window_operations,
            dry->count.window_conversations);
    if (dry->cut > 0)
        fprintf(out,
                "Cut:                %" PRIu64
                " packets of the recording are due after the window; give a longer -D\n",
                dry->cut);
    fprintf(out, "Share with player:  %.4f of the packets are operations of this run\n",
            figures->share);
    fprintf(out, "A conversation:     %.3f packets (K), %.3f operations (O), %.3f s (D) at -r 1\n",
            figures->conversation_packets, figures->conversation_operations,
            figures->conversation_seconds);
    fprintf(out, "A client's rate:    %.5f packets/s (rho) at -r 1, pauses stretched by %.5f (q)\n",
            figures->client_rate, figures->stretch);
}

static void print_packets(const struct dry_run *dry, FILE *out)
{
    fprintf(out, "\nOperations in the window\n%-14s %-8s %-28s %12s %12s %8s\n", "Protocol",
            "Op Code", "Description", "Count", "per second", "Share");
    for (size_t i = 0; i < dry->type_count; i++) {
        const struct model_type *type = &dry->types[dry->order[i]];
        uint64_t count = dry->count.types[dry->order[i]].window_operations;
        if (dry->parts[dry->order[i]] != RUN_OPERATION)
            continue;
        double share = dry->count.window_operations
                           ? 100.0 * (double)count / (double)dry->count.window_operations
                           : 0;
        fprintf(out, "%-14s %-8s %-28s %12" PRIu64 " %12.3f %7.2f%%\n", type->protocol,
                type->opcode, packet_description(type), count, (double)count / dry->window, share);
    }
}

/* Lists packets that are not sent on their own, because the first leg of an exchange plays all. */
static void print_legs(const struct dry_run *dry, FILE *out)
{
    for (size_t i = 0; i < dry->type_count; i++) {
        const struct plan_type_count *count = &dry->count.types[i];
        if (dry->parts[i] == RUN_OPERATION && count->window_packets > count->window_operations)
            fprintf(out,
                    "\n%" PRIu64 " packets of %s:%s are later legs of the packet before them\n",
                    count->window_packets - count->window_operations, dry->types[i].protocol,
                    dry->types[i].opcode);
    }
}

static void print_reason(const struct dry_run *dry, size_t reason, FILE *out)
{
    if (!has_part(dry, reasons[reason].part))
        return;
    fprintf(out, "\n%s\n%-14s %-8s %-28s %12s %12s\n", reasons[reason].title, "Protocol", "Op Code",
            "Description", "Count", "in model");
    for (size_t i = 0; i < dry->type_count; i++) {
        const struct model_type *type = &dry->types[dry->order[i]];
        if (dry->parts[dry->order[i]] == reasons[reason].part)
            fprintf(out, "%-14s %-8s %-28s %12" PRIu64 " %12" PRIu64 "\n", type->protocol,
                    type->opcode, packet_description(type),
                    dry->count.types[dry->order[i]].window_packets, type->count);
    }
}

static bool has_part(const struct dry_run *dry, enum run_part part)
{
    for (size_t i = 0; i < dry->type_count; i++)
        if (dry->parts[i] == part)
            return true;
    return false;
}

static int write_json_file(const struct dry_run *dry, const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    int result = print_json(dry, file);
    if (fclose(file) != 0 && result == 0)
        result = -errno;
    return result;
}

int dry_run_write_recording(const struct settings *settings, const struct plan *plan, FILE *out)
{
    size_t count;
    const struct model_type *types = model_types(plan_model(plan), &count);
    bool *written = calloc(count + 1, sizeof *written);
    if (!written)
        return -ENOMEM;
    for (packet_index i = 0; i < count; i++)
        written[i] = settings_plays(settings, types[i].protocol, types[i].opcode);
    int result = recording_write(plan, written, out);
    free(written);
    return result;
}
