/* SPDX-License-Identifier: Apache-2.0 */
/* --traffic-summary: all clients' plans merged by time with a heap, one line a packet. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_text.h"
#include "protocols/packet.h"
#include "replay/dry_run.h"

/* A client and the packet that it sends next. */
struct source {
    struct plan_client cursor;
    struct plan_step step;
    uint32_t client;
};

struct summary {
    const struct settings *settings;
    const struct plan *plan;
    const struct model_type *types;
    size_t type_count;
    bool *written;             /* by type: not left out by --only or --skip */
    const char **descriptions; /* by type */
    struct source *heap;
    size_t count;
    FILE *out;
};

static void look_up_types(struct summary *summary);
static void start_clients(struct summary *summary);
static bool advance(const struct summary *summary, struct source *source);
static void traffic_summary_sift_down(struct source *heap, size_t count, size_t at);
static bool is_before(const struct source *a, const struct source *b);
static void traffic_summary_merge(struct summary *summary);
static void write_line(const struct summary *summary, const struct source *source);
static bool traffic_summary_is_udp(const char *protocol);

int write_traffic_summary(const struct settings *settings, const struct plan *plan, FILE *out)
{
    struct summary summary = {.settings = settings, .plan = plan, .out = out};
    int result = -ENOMEM;
    summary.types = model_types(plan_model(plan), &summary.type_count);
    summary.written = calloc(summary.type_count, sizeof *summary.written);
    summary.descriptions = calloc(summary.type_count, sizeof *summary.descriptions);
    summary.heap = calloc(plan_figures(plan)->clients, sizeof *summary.heap);
    if (!summary.written || !summary.descriptions || !summary.heap)
        goto cleanup;
    look_up_types(&summary);
    start_clients(&summary);
    errno = 0;
    traffic_summary_merge(&summary);
    result = fflush(out) == 0 && !ferror(out) ? 0 : errno ? -errno : -EIO;
cleanup:
    free(summary.heap);
    free(summary.descriptions);
    free(summary.written);
    return result;
}

static void look_up_types(struct summary *summary)
{
    for (size_t i = 0; i < summary->type_count; i++) {
        const struct model_type *type = &summary->types[i];
        const struct packet_type *packet = packet_type_find(type->protocol, type->opcode);
        /* The format has no word for a packet without an opcode, the hint `kerberos:`. */
        bool named = packet && packet->description && type->opcode[0];
        summary->descriptions[i] = named ? packet->description : "";
        summary->written[i] = settings_plays(summary->settings, type->protocol, type->opcode);
    }
}

static void start_clients(struct summary *summary)
{
    uint32_t clients = plan_figures(summary->plan)->clients;
    for (uint32_t client = 0; client < clients; client++) {
        struct source *source = &summary->heap[summary->count];
        source->client = client;
        plan_client_start(summary->plan, client, &source->cursor);
        summary->count += advance(summary, source);
    }
    for (size_t i = summary->count / 2; i-- > 0;)
        traffic_summary_sift_down(summary->heap, summary->count, i);
}

/* Moves a client to its next packet that is written; false when it has none. */
static bool advance(const struct summary *summary, struct source *source)
{
    while (plan_client_next(summary->plan, &source->cursor, &source->step))
        if (source->step.kind == PLAN_PACKET && summary->written[source->step.type])
            return true;
    return false;
}

static void traffic_summary_sift_down(struct source *heap, size_t count, size_t at)
{
    struct source source = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (is_before(&source, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = source;
}

static bool is_before(const struct source *a, const struct source *b)
{
    return a->step.due != b->step.due ? a->step.due < b->step.due : a->client < b->client;
}

static void traffic_summary_merge(struct summary *summary)
{
    while (summary->count > 0 && !ferror(summary->out)) {
        write_line(summary, &summary->heap[0]);
        if (!advance(summary, &summary->heap[0]))
            summary->heap[0] = summary->heap[--summary->count];
        if (summary->count > 0)
            traffic_summary_sift_down(summary->heap, summary->count, 0);
    }
}

#define EPOCH       INT64_C(1500000000)
#define NANOSECONDS INT64_C(1000000000)
#define SERVER      "1"

enum { FIRST_CLIENT = 2 };

static void write_line(const struct summary *summary, const struct source *source)
{
    static const struct model_details none = {0};
    const struct plan_step *step = &source->step;
    const struct model_type *type = &summary->types[step->type];
    const struct model_details *details =
        type->details_count ? &type->details[step->details] : &none;
    char client[24];
    snprintf(client, sizeof client, "%" PRIu64, (uint64_t)source->client + FIRST_CLIENT);
    const struct recording_line packet = {.time = EPOCH * NANOSECONDS + step->due,
                                          .client = client,
                                          .server = SERVER,
                                          .stream = "",
                                          .protocol = type->protocol,
                                          .opcode = type->opcode,
                                          .udp = traffic_summary_is_udp(type->protocol),
                                          .legs_joined = step->operation,
                                          .fields = details->fields,
                                          .field_count = details->field_count};
    recording_text_write(summary->out, &packet, summary->descriptions[step->type]);
}

static bool traffic_summary_is_udp(const char *protocol)
{
    static const char *const udp[] = {"dns", "cldap", "nbns", "browser", "smb_netlogon"};
    for (size_t i = 0; i < sizeof udp / sizeof udp[0]; i++)
        if (strcmp(protocol, udp[i]) == 0)
            return true;
    return false;
}
