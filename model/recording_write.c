/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the plans of all clients by time with a heap, and writes one line per packet. */
#include "model/recording_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_text.h"

/* A client and the packet that it sends next. */
struct recording_source {
    struct plan_client cursor;
    struct plan_step step;
    uint32_t client;
};

struct recording_writer {
    const struct plan *plan;
    const struct model_type *types;
    const bool *written;           /* by packet_index */
    struct recording_source *heap; /* the earliest packet first */
    size_t count;
    FILE *out;
};

static void start_clients(struct recording_writer *writer);
static bool advance_source(const struct recording_writer *writer, struct recording_source *source);
static void recording_sift_down(struct recording_source *heap, size_t count, size_t at);
static bool is_before(const struct recording_source *a, const struct recording_source *b);
static void merge_clients(struct recording_writer *writer);
static void write_line(const struct recording_writer *writer,
                       const struct recording_source *source);

int recording_write(const struct plan *plan, const bool *written, FILE *out)
{
    size_t type_count;
    struct recording_writer writer = {.plan = plan, .written = written, .out = out};
    writer.types = model_types(plan_model(plan), &type_count);
    writer.heap = calloc(plan_figures(plan)->clients, sizeof *writer.heap);
    if (!writer.heap)
        return -ENOMEM;
    start_clients(&writer);
    errno = 0;
    merge_clients(&writer);
    int result = 0;
    if (fflush(out) != 0 || ferror(out))
        result = errno ? -errno : -EIO;
    free(writer.heap);
    return result;
}

static void start_clients(struct recording_writer *writer)
{
    uint32_t clients = plan_figures(writer->plan)->clients;
    for (uint32_t client = 0; client < clients; client++) {
        struct recording_source *source = &writer->heap[writer->count];
        source->client = client;
        plan_client_start(writer->plan, client, &source->cursor);
        writer->count += advance_source(writer, source);
    }
    for (size_t i = writer->count / 2; i-- > 0;)
        recording_sift_down(writer->heap, writer->count, i);
}

/* Moves a client to its next packet that is written; false when it has none. */
static bool advance_source(const struct recording_writer *writer, struct recording_source *source)
{
    while (plan_client_next(writer->plan, &source->cursor, &source->step))
        if (source->step.kind == PLAN_PACKET && writer->written[source->step.type])
            return true;
    return false;
}

static void recording_sift_down(struct recording_source *heap, size_t count, size_t at)
{
    struct recording_source source = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (is_before(&source, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = source;
}

static bool is_before(const struct recording_source *a, const struct recording_source *b)
{
    return a->step.due != b->step.due ? a->step.due < b->step.due : a->client < b->client;
}

static void merge_clients(struct recording_writer *writer)
{
    while (writer->count > 0 && !ferror(writer->out)) {
        write_line(writer, &writer->heap[0]);
        if (!advance_source(writer, &writer->heap[0]))
            writer->heap[0] = writer->heap[--writer->count];
        if (writer->count > 0)
            recording_sift_down(writer->heap, writer->count, 0);
    }
}

#define EPOCH       INT64_C(1500000000)
#define NANOSECONDS INT64_C(1000000000)
#define SERVER      "1"

enum { FIRST_CLIENT = 2 };

static void write_line(const struct recording_writer *writer, const struct recording_source *source)
{
    static const struct model_details none = {0};
    const struct plan_step *step = &source->step;
    const struct model_type *type = &writer->types[step->type];
    const struct model_details *details =
        type->details_count ? &type->details[step->details] : &none;
    const struct packet_protocol *protocol = packet_protocol_find(type->protocol);
    /* The format has no name for a packet without an opcode, the hint `kerberos:`. */
    const char *description = type->row && type->opcode[0] ? type->row->description : "";
    char client[24];
    snprintf(client, sizeof client, "%" PRIu64, (uint64_t)source->client + FIRST_CLIENT);
    const struct recording_line line = {.time = EPOCH * NANOSECONDS + step->due,
                                        .client = client,
                                        .server = SERVER,
                                        .stream = "",
                                        .protocol = type->protocol,
                                        .opcode = type->opcode,
                                        .row = type->row,
                                        .udp = protocol && protocol->udp,
                                        .legs_joined = step->operation,
                                        .fields = details->fields,
                                        .field_count = details->field_count};
    recording_text_write(writer->out, &line, description);
}
