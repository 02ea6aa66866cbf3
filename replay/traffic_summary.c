/* SPDX-License-Identifier: Apache-2.0 */
/* --traffic-summary: all clients' plans merged by time with a heap, one line a packet. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/packet.h"
#include "replay/dry_run.h"

enum { EPOCH = 1500000000, SERVER = 1, FIRST_CLIENT = 2, NANOSECONDS = 1000000000 };

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

/* ---- Lines ---- */

static bool is_udp(const char *protocol)
{
    static const char *const udp[] = {"dns", "cldap", "nbns", "browser", "smb_netlogon"};
    for (size_t i = 0; i < sizeof udp / sizeof udp[0]; i++)
        if (strcmp(protocol, udp[i]) == 0)
            return true;
    return false;
}

static const struct model_field *find_field(const struct model_details *details, const char *key)
{
    for (size_t i = 0; details && i < details->field_count; i++)
        if (strcmp(details->fields[i].key, key) == 0)
            return &details->fields[i];
    return NULL;
}

static const char *field_value(const struct model_details *details, const char *key)
{
    const struct model_field *field = find_field(details, key);
    return field && field->count > 0 ? field->values[0] : "";
}

/* scope, base, filter, attributes and three empty fields */
static void write_search(FILE *out, const struct model_details *details)
{
    static const char *const scopes[] = {"base", "one", "sub"};
    const char *scope = field_value(details, "scope");
    const struct model_field *attributes = find_field(details, "attrs");
    fputc('\t', out);
    for (int i = 0; i < 3; i++)
        if (strcmp(scope, scopes[i]) == 0)
            fprintf(out, "%d", i);
    fprintf(out, "\t%s\t%s\t", field_value(details, "base"), field_value(details, "filter"));
    for (size_t i = 0; attributes && i < attributes->count; i++)
        fprintf(out, "%s%s", i ? "," : "", attributes->values[i]);
    fputs("\t\t\t", out);
}

/* four empty fields, then LDAP's number of the way to authenticate (RFC 4511 4.2), its name, OID */
static void write_bind(FILE *out, const struct model_details *details)
{
    const char *auth = field_value(details, "auth");
    const char *mech = field_value(details, "mech");
    bool sasl = strcmp(auth, "sasl") == 0;
    const char *oid = strcmp(mech, "GSSAPI") == 0 ? "1.2.840.113554.1.2.2"
                      : sasl                      ? "1.2.840.48018.1.2.2"
                                                  : "";
    fprintf(out, "\t\t\t\t\t%s\t%s\t%s", sasl ? "3" : auth[0] ? "0" : "", auth, oid);
}

static void write_extra(FILE *out, const struct model_type *type,
                        const struct model_details *details)
{
    bool ldap = strcmp(type->protocol, "ldap") == 0;
    if (ldap && strcmp(type->opcode, "3") == 0)
        write_search(out, details);
    else if (ldap && strcmp(type->opcode, "0") == 0)
        write_bind(out, details);
    else if (strcmp(type->protocol, "cldap") == 0)
        fputs("\t\t\t\tNetlogon\t\t\t", out);
    else
        fputs(ldap ? "\t\t\t\t\t\t\t" : "\t", out);
}

static void write_line(const struct summary *summary, const struct source *source)
{
    const struct plan_step *step = &source->step;
    const struct model_type *type = &summary->types[step->type];
    FILE *out = summary->out;
    fprintf(out, "%" PRId64 ".%06" PRId64 "\t%s\t\t%" PRIu64 "\t%d\t%s\t%s\t%s",
            EPOCH + step->due / NANOSECONDS, step->due % NANOSECONDS / 1000,
            is_udp(type->protocol) ? "11" : "06", (uint64_t)source->client + FIRST_CLIENT, SERVER,
            type->protocol, type->opcode, summary->descriptions[step->type]);
    write_extra(out, type, type->details_count ? &type->details[step->details] : NULL);
    fputc('\n', out);
}

/* ---- Merging ---- */

/* Moves a client to its next packet that is written; false when it has none. */
static bool advance(const struct summary *summary, struct source *source)
{
    while (plan_client_next(summary->plan, &source->cursor, &source->step))
        if (source->step.kind == PLAN_PACKET && summary->written[source->step.type])
            return true;
    return false;
}

static bool is_before(const struct source *a, const struct source *b)
{
    return a->step.due != b->step.due ? a->step.due < b->step.due : a->client < b->client;
}

static void sift_down(struct source *heap, size_t count, size_t at)
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
        sift_down(summary->heap, summary->count, i);
}

static void merge(struct summary *summary)
{
    while (summary->count > 0 && !ferror(summary->out)) {
        write_line(summary, &summary->heap[0]);
        if (!advance(summary, &summary->heap[0]))
            summary->heap[0] = summary->heap[--summary->count];
        if (summary->count > 0)
            sift_down(summary->heap, summary->count, 0);
    }
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
    merge(&summary);
    result = fflush(out) == 0 && !ferror(out) ? 0 : errno ? -errno : -EIO;
cleanup:
    free(summary.heap);
    free(summary.descriptions);
    free(summary.written);
    return result;
}
