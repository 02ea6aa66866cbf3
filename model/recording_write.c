/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/text_file.h"
#include "base/heap.h"
#include "model/recording_text.h"

/* A client and the packet that it sends next. */
struct recording_source {
    struct plan_client cursor;
    struct plan_step step;
    uint32_t client;
};

_Static_assert(sizeof(struct recording_source) <= HEAP_ELEMENT_MAX, "sources are in a heap");

struct recording_writer {
    const struct plan *plan;
    const struct model_type *types;
    const bool *written; /* by packet_index */
    struct heap sources; /* the client with the earliest packet first */
    FILE *out;
};

static void start_clients(struct recording_writer *writer);
static bool advance_source(const struct recording_writer *writer, struct recording_source *source);
static bool is_before(const void *left, const void *right);
static void merge_clients(struct recording_writer *writer);
static void write_line(const struct recording_writer *writer,
                       const struct recording_source *source);

int recording_write(const struct plan *plan, const bool *written, FILE *out)
{
    size_t type_count;
    struct recording_writer writer = {
        .plan = plan,
        .types = model_types(plan_model(plan), &type_count),
        .written = written,
        .sources = {.items = calloc(plan_figures(plan)->clients, sizeof(struct recording_source)),
                    .size = sizeof(struct recording_source),
                    .before = is_before},
        .out = out,
    };
    if (!writer.sources.items)
        return -ENOMEM;
    start_clients(&writer);
    errno = 0;
    merge_clients(&writer);
    int result = text_file_flush(out);
    free(writer.sources.items);
    return result;
}

static void start_clients(struct recording_writer *writer)
{
    uint32_t clients = plan_figures(writer->plan)->clients;
    for (uint32_t client = 0; client < clients; client++) {
        struct recording_source source = {.client = client};
        plan_client_start(writer->plan, client, &source.cursor);
        if (advance_source(writer, &source))
            heap_push(&writer->sources, &source);
    }
}

/* Moves a client to its next packet that is written. False if it has none. */
static bool advance_source(const struct recording_writer *writer, struct recording_source *source)
{
    while (plan_client_next(writer->plan, &source->cursor, &source->step))
        if (source->step.kind == PLAN_PACKET && writer->written[source->step.type])
            return true;
    return false;
}

static bool is_before(const void *left, const void *right)
{
    const struct recording_source *a = left, *b = right;
    return a->step.due != b->step.due ? a->step.due < b->step.due : a->client < b->client;
}

static void merge_clients(struct recording_writer *writer)
{
    struct recording_source *first = writer->sources.items;
    while (writer->sources.count > 0 && !ferror(writer->out)) {
        write_line(writer, first);
        if (advance_source(writer, first))
            heap_first_changed(&writer->sources);
        else
            heap_pop(&writer->sources, NULL);
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
