/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a recording in two passes. The first keeps each packet with the numbers of its client and
 * of its form, which is its type and details. The second distributes the packets to the clients and
 * sorts each client's packets by time.
 */
#include "model/recording_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "model/model_private.h"
#include "model/recording_text.h"

#define SECOND INT64_C(1000000000)

enum { EXCHANGES = 1 << 16, FORM_KEY_SIZE = 1 << 16 };

/* A packet after the first pass. */
struct loaded_packet {
    int64_t time; /* as in the file */
    uint32_t client, form;
    bool further_leg;
};

/* A type with details, and the number of packets that have them. */
struct recording_form {
    uint32_t type;
    uint64_t count;
    struct packet_field *fields;
    size_t field_count;
};

/* An exchange that the next message between the same hosts may belong to. A newer exchange with the
 * same place in the table replaces an older one. */
struct recent_exchange {
    uint64_t key; /* 0: free */
    int64_t time;
    const char *refused_by; /* of the request's row in the packet table */
    bool refused;           /* such a reply came: the client sends the request again */
};

/* A client's last packet. */
struct client_last {
    uint64_t stream; /* hash; 0: the file does not give streams */
    int64_t time;
    uint32_t form; /* + 1; 0: no packet yet */
};

struct recording_loader {
    struct model *model;
    const char *name;
    struct error *error;
    uint64_t line;
    struct intern clients, types, forms;
    struct loaded_packet *packets;
    size_t packet_count;
    struct recording_form *form_list; /* by number */
    struct client_last *last;         /* by client */
    struct recent_exchange *exchanges;
    char *key;                /* of a form, under construction */
    uint64_t replies, folded; /* lines left out: replies, further legs */
    uint64_t self;            /* packets from a host to itself */
};

static int recording_take_packet(void *context, const struct recording_line *packet);
static bool repeats_request(struct recording_loader *loader, const struct recording_line *packet);
static struct recent_exchange *find_exchange(struct recording_loader *loader,
                                             const struct recording_line *packet, const char *kind,
                                             const char *stream, uint64_t *key);
static bool is_soon(int64_t time, int64_t before);
static bool continues_bind(struct recording_loader *loader, const struct recording_line *packet);
static bool has_field(const struct recording_line *packet, const char *key, const char *value);
static int recording_add_packet(struct recording_loader *loader,
                                const struct recording_line *packet);
static int find_client(struct recording_loader *loader, const struct recording_line *packet,
                       uint32_t *client);
static int number_client(struct recording_loader *loader, const char *name, size_t length,
                         uint32_t *client);
static int recording_wrong(const struct recording_loader *loader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int find_form(struct recording_loader *loader, const struct recording_line *packet,
                     uint32_t *number);
static int find_type(struct recording_loader *loader, const struct recording_line *packet,
                     uint32_t *type);
static int make_key(struct recording_loader *loader, uint32_t type,
                    const struct recording_line *packet, size_t *used);
static int recording_put_key(struct recording_loader *loader, size_t *used, const char *text,
                             char end);
static int recording_add_form(struct recording_loader *loader, uint32_t number, uint32_t type,
                              const struct recording_line *packet);
static int copy_fields(struct recording_loader *loader, const struct recording_line *packet,
                       struct recording_form *form);
static const char *recording_keep(struct recording_loader *loader, const char *text);
static bool continues_set_up(const struct recording_loader *loader,
                             const struct recording_line *packet, uint32_t client, uint32_t form);
static uint64_t hash_stream(const struct recording_line *packet);
static int recording_finish(const struct recording_loader *loader);
static int recording_name_types(const struct recording_loader *loader);
static int recording_fill_details(const struct recording_loader *loader, uint32_t *details);
static int arrange_packets(const struct recording_loader *loader, struct recording *recording,
                           const uint32_t *details);
static void distribute_packets(const struct recording_loader *loader, struct recording *recording,
                               const uint32_t *details);
static void sort_by_time(struct recording_packet *packets, size_t count,
                         struct recording_packet *spare);
static int compare_starts(const void *a, const void *b, void *context);
static int compare_sizes(const void *a, const void *b, void *context);
static void count_conversations(struct recording *recording);
static int check_duration(const struct recording_loader *loader);
static void recording_warn(const struct recording_loader *loader,
                           void (*warning)(void *context, const char *line), void *context);
static void loader_clear(struct recording_loader *loader);

int recording_load(struct model *model, FILE *file, const char *name, struct error *error,
                   void (*warning)(void *context, const char *line), void *context)
{
    struct recording_loader loader = {.model = model, .name = name, .error = error};
    loader.exchanges = calloc(EXCHANGES, sizeof *loader.exchanges);
    loader.key = malloc(FORM_KEY_SIZE);
    int result = loader.exchanges && loader.key ? 0 : error_no_memory(error);
    if (result == 0)
        result = recording_text_read(file, name, recording_take_packet, &loader, error);
    if (result == 0 && loader.packet_count == 0)
        result =
            error_set(error, -EINVAL, "%s: expected packets of clients, found only replies", name);
    if (result == 0)
        result = recording_finish(&loader);
    if (result == 0)
        recording_warn(&loader, warning, context);
    loader_clear(&loader);
    return result;
}

static int recording_take_packet(void *context, const struct recording_line *packet)
{
    struct recording_loader *loader = context;
    loader->line = packet->line;
    bool further = repeats_request(loader, packet);
    if (packet->reply) {
        loader->replies++;
        return 0;
    }
    further = continues_bind(loader, packet) || further;
    loader->folded += further;
    return further ? 0 : recording_add_packet(loader, packet);
}

/* True for an AS request that repeats one that was answered by an error, usually "preauthentication
 * required": both are one exchange. Must see replies too. */
static bool repeats_request(struct recording_loader *loader, const struct recording_line *packet)
{
    uint64_t key;
    if (!packet->row || !packet->row->protocol->joins)
        return false;
    struct recent_exchange *exchange = find_exchange(loader, packet, "retry", "", &key);
    bool same = exchange->key == key;
    if (packet->reply) {
        if (same)
            exchange->refused = packet_word_in(exchange->refused_by, packet->opcode);
        return false;
    }
    const char *refused_by = packet->row->refused_by;
    bool again = same && exchange->refused && refused_by && is_soon(packet->time, exchange->time);
    if (refused_by)
        *exchange =
            (struct recent_exchange){.key = key, .time = packet->time, .refused_by = refused_by};
    else if (same)
        exchange->key = 0;
    return again;
}

/* The place of an exchange of this kind in the table. It holds this exchange if its key is *key. */
static struct recent_exchange *find_exchange(struct recording_loader *loader,
                                             const struct recording_line *packet, const char *kind,
                                             const char *stream, uint64_t *key)
{
    *key = intern_hash(0, kind, strlen(kind));
    *key = intern_hash(*key, packet->protocol, strlen(packet->protocol) + 1);
    *key = intern_hash(*key, packet->client, strlen(packet->client) + 1);
    *key = intern_hash(*key, packet->server, strlen(packet->server) + 1);
    *key = intern_hash(*key, stream, strlen(stream)) | 1;
    return &loader->exchanges[*key * 0x9e3779b97f4a7c15u >> 48];
}

/* True if a message can belong to the same bind, session set-up or exchange as the one before. */
static bool is_soon(int64_t time, int64_t before)
{
    enum { LEGS_SECONDS = 5 };
    return time >= before && time - before <= LEGS_SECONDS * SECOND;
}

/* True for a further message of a SASL bind. Only the first message names the mechanism; one
 * without a mechanism that follows a SASL bind on the same stream continues it. Files that do not
 * give streams have no such messages. */
static bool continues_bind(struct recording_loader *loader, const struct recording_line *packet)
{
    uint64_t key;
    if (!packet->row || !packet->row->protocol->joins || !packet->stream[0])
        return false;
    const struct packet_legs *legs = packet->row->legs;
    struct recent_exchange *exchange = find_exchange(loader, packet, "legs", packet->stream, &key);
    bool open = exchange->key == key && is_soon(packet->time, exchange->time);
    if (!legs || !legs->joined || !has_field(packet, legs->field, legs->value)) {
        if (exchange->key == key)
            exchange->key = 0;
        return false;
    }
    *exchange = (struct recent_exchange){.key = key, .time = packet->time};
    return open && !packet->legs_joined && !has_field(packet, legs->first, NULL);
}

static bool has_field(const struct recording_line *packet, const char *key, const char *value)
{
    for (size_t i = 0; i < packet->field_count; i++)
        if (strcmp(packet->fields[i].key, key) == 0)
            return !value ||
                   (packet->fields[i].count > 0 && strcmp(packet->fields[i].values[0], value) == 0);
    return false;
}

static int recording_add_packet(struct recording_loader *loader,
                                const struct recording_line *packet)
{
    struct loaded_packet loaded = {.time = packet->time};
    int result = find_client(loader, packet, &loaded.client);
    if (result == 0)
        result = find_form(loader, packet, &loaded.form);
    if (result < 0)
        return result;
    if (loader->packet_count == RECORDING_PACKETS_MAX)
        return recording_wrong(loader, "expected at most %d packets", RECORDING_PACKETS_MAX);
    struct loaded_packet *packets =
        array_grow(loader->packets, loader->packet_count, sizeof *packets);
    if (!packets)
        return error_no_memory(loader->error);
    loader->packets = packets;
    loaded.further_leg = continues_set_up(loader, packet, loaded.client, loaded.form);
    packets[loader->packet_count++] = loaded;
    loader->last[loaded.client] = (struct client_last){
        .form = loaded.form + 1, .stream = hash_stream(packet), .time = packet->time};
    return 0;
}

/* A host that sends to itself ran both sides; each of its connections is a client. */
static int find_client(struct recording_loader *loader, const struct recording_line *packet,
                       uint32_t *client)
{
    char *name = NULL;
    if (strcmp(packet->client, packet->server) != 0)
        return number_client(loader, packet->client, strlen(packet->client), client);
    loader->self++;
    int length = asprintf(&name, "%s\t%d\t%s", packet->client, packet->udp, packet->stream);
    if (length < 0)
        return error_no_memory(loader->error);
    int result = number_client(loader, name, (size_t)length, client);
    free(name);
    return result;
}

static int number_client(struct recording_loader *loader, const char *name, size_t length,
                         uint32_t *client)
{
    bool added;
    if (intern_add(&loader->clients, name, length, client, &added) < 0)
        return error_no_memory(loader->error);
    if (!added)
        return 0;
    if (loader->clients.count > RECORDING_CLIENTS_MAX)
        return recording_wrong(loader, "expected at most %d clients", RECORDING_CLIENTS_MAX);
    struct client_last *last = array_grow(loader->last, *client, sizeof *last);
    if (!last)
        return error_no_memory(loader->error);
    loader->last = last;
    last[*client] = (struct client_last){0};
    return 0;
}

static int recording_wrong(const struct recording_loader *loader, const char *format, ...)
{
    va_list args;
    char text[ERROR_TEXT_SIZE / 2];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(loader->error, -EINVAL, "%s:%" PRIu64 ": %s", loader->name, loader->line,
                     text);
}

static int find_form(struct recording_loader *loader, const struct recording_line *packet,
                     uint32_t *number)
{
    uint32_t type;
    size_t size;
    bool added;
    int result = find_type(loader, packet, &type);
    if (result < 0)
        return result;
    if (make_key(loader, type, packet, &size) < 0)
        return recording_wrong(loader, "expected details of at most %d bytes", FORM_KEY_SIZE);
    if (intern_add(&loader->forms, loader->key, size, number, &added) < 0)
        return error_no_memory(loader->error);
    if (added)
        result = recording_add_form(loader, *number, type, packet);
    if (result == 0)
        loader->form_list[*number].count++;
    return result;
}

static int find_type(struct recording_loader *loader, const struct recording_line *packet,
                     uint32_t *type)
{
    char name[128];
    bool added;
    int length = snprintf(name, sizeof name, "%.60s:%.60s", packet->protocol, packet->opcode);
    if (intern_add(&loader->types, name, (size_t)length, type, &added) < 0)
        return error_no_memory(loader->error);
    if (loader->types.count > RECORDING_TYPES_MAX)
        return recording_wrong(loader, "expected at most %d different packets",
                               RECORDING_TYPES_MAX);
    return 0;
}

/* Writes type and details as one string that is unique to them. 0 or -E2BIG. */
static int make_key(struct recording_loader *loader, uint32_t type,
                    const struct recording_line *packet, size_t *used)
{
    memcpy(loader->key, &type, sizeof type);
    *used = sizeof type;
    for (size_t i = 0; i < packet->field_count; i++) {
        const struct packet_field *field = &packet->fields[i];
        int result = recording_put_key(loader, used, field->key, '\1');
        for (size_t v = 0; v < field->count && result == 0; v++)
            result = recording_put_key(loader, used, field->values[v],
                                       v + 1 < field->count ? '\2' : '\3');
        if (result < 0)
            return result;
    }
    return 0;
}

static int recording_put_key(struct recording_loader *loader, size_t *used, const char *text,
                             char end)
{
    size_t length = strlen(text);
    if (length + 1 >= FORM_KEY_SIZE - *used)
        return -E2BIG;
    memcpy(loader->key + *used, text, length);
    loader->key[*used + length] = end;
    *used += length + 1;
    return 0;
}

static int recording_add_form(struct recording_loader *loader, uint32_t number, uint32_t type,
                              const struct recording_line *packet)
{
    if (loader->forms.bytes > RECORDING_DETAILS_MAX)
        return recording_wrong(loader, "expected at most %d MiB of different details",
                               RECORDING_DETAILS_MAX >> 20);
    struct recording_form *forms = array_grow(loader->form_list, number, sizeof *forms);
    if (!forms)
        return error_no_memory(loader->error);
    loader->form_list = forms;
    loader->form_list[number] = (struct recording_form){.type = type};
    return copy_fields(loader, packet, &loader->form_list[number]);
}

static int copy_fields(struct recording_loader *loader, const struct recording_line *packet,
                       struct recording_form *form)
{
    struct arena *arena = &loader->model->arena;
    form->field_count = packet->field_count;
    form->fields = arena_array(arena, packet->field_count, sizeof *form->fields);
    if (!form->fields)
        return error_no_memory(loader->error);
    for (size_t i = 0; i < packet->field_count; i++) {
        const struct packet_field *from = &packet->fields[i];
        const char **values = arena_array(arena, from->count, sizeof *values);
        const char *key = recording_keep(loader, from->key);
        bool kept = values && key;
        for (size_t v = 0; kept && v < from->count; v++)
            kept = (values[v] = recording_keep(loader, from->values[v])) != NULL;
        if (!kept)
            return error_no_memory(loader->error);
        form->fields[i] = (struct packet_field){key, from->count, values};
    }
    return 0;
}

static const char *recording_keep(struct recording_loader *loader, const char *text)
{
    return arena_string(&loader->model->arena, text, strlen(text));
}

/* True for a session set-up directly after another one of the client: a further leg of it. */
static bool continues_set_up(const struct recording_loader *loader,
                             const struct recording_line *packet, uint32_t client, uint32_t form)
{
    const struct client_last *last = &loader->last[client];
    bool separate = packet->row && packet->row->legs && !packet->row->legs->joined;
    return separate && !packet->legs_joined && last->form &&
           loader->form_list[last->form - 1].type == loader->form_list[form].type &&
           last->stream == hash_stream(packet) && is_soon(packet->time, last->time);
}

static uint64_t hash_stream(const struct recording_line *packet)
{
    return packet->stream[0] ? intern_hash(0, packet->stream, strlen(packet->stream)) : 0;
}

static int recording_finish(const struct recording_loader *loader)
{
    struct model *model = loader->model;
    struct recording *recording = model->recording = calloc(1, sizeof *recording);
    uint32_t *details = calloc(loader->forms.count + 1, sizeof *details);
    int result = recording && details ? 0 : error_no_memory(loader->error);
    if (result == 0)
        result = recording_name_types(loader);
    if (result == 0)
        result = recording_fill_details(loader, details);
    if (result == 0)
        result = arrange_packets(loader, recording, details);
    if (result == 0)
        result = check_duration(loader);
    free(details);
    if (result < 0)
        return result;
    for (uint32_t t = 0; t < model->type_count; t++)
        model->types[t].visits = (double)model->types[t].count / (double)recording->conversations;
    model->packet_rate = recording->packet_count / model_recording_seconds(model, 1);
    return 0;
}

static int recording_name_types(const struct recording_loader *loader)
{
    struct model *model = loader->model;
    model->type_count = (uint32_t)loader->types.count;
    model->types = arena_array(&model->arena, model->type_count, sizeof *model->types);
    model->details = arena_array(&model->arena, model->type_count, sizeof *model->details);
    if (!model->types || !model->details)
        return error_no_memory(loader->error);
    for (uint32_t t = 0; t < model->type_count; t++) {
        const struct intern_entry *name = &loader->types.entries[t];
        const char *colon = memchr(name->bytes, ':', name->size);
        size_t length = (size_t)(colon - name->bytes);
        model->types[t].protocol = arena_string(&model->arena, name->bytes, length);
        model->types[t].opcode = arena_string(&model->arena, colon + 1, name->size - length - 1);
        if (!model->types[t].protocol || !model->types[t].opcode)
            return error_no_memory(loader->error);
        model->types[t].row =
            packet_row_find_in_model(model->types[t].protocol, model->types[t].opcode);
    }
    return model_index_types(model) < 0 ? error_no_memory(loader->error) : 0;
}

/* Numbers each form among the details of its type. A type whose packets never have fields has no
 * details. */
static int recording_fill_details(const struct recording_loader *loader, uint32_t *details)
{
    struct model *model = loader->model;
    struct model_details **lists = calloc(model->type_count, sizeof *lists);
    int result = lists ? 0 : error_no_memory(loader->error);
    for (size_t f = 0; f < loader->forms.count; f++) {
        struct model_type *type = &model->types[loader->form_list[f].type];
        details[f] = (uint32_t)type->details_count++;
        type->count += loader->form_list[f].count;
    }
    for (uint32_t t = 0; result == 0 && t < model->type_count; t++) {
        lists[t] = arena_array(&model->arena, model->types[t].details_count, sizeof **lists);
        model->types[t].details = lists[t];
        if (!lists[t])
            result = error_no_memory(loader->error);
    }
    for (size_t f = 0; result == 0 && f < loader->forms.count; f++) {
        const struct recording_form *form = &loader->form_list[f];
        lists[form->type][details[f]] =
            (struct model_details){form->count, form->field_count, form->fields};
    }
    for (uint32_t t = 0; result == 0 && t < model->type_count; t++)
        if (model->types[t].details_count == 1 && lists[t][0].field_count == 0)
            model->types[t].details_count = 0;
    free(lists);
    return result;
}

static int arrange_packets(const struct recording_loader *loader, struct recording *recording,
                           const uint32_t *details)
{
    recording->packet_count = (uint32_t)loader->packet_count;
    recording->client_count = (uint32_t)loader->clients.count;
    recording->packets = calloc(recording->packet_count, sizeof *recording->packets);
    recording->clients = calloc(recording->client_count, sizeof *recording->clients);
    recording->by_size = calloc(recording->client_count, sizeof *recording->by_size);
    if (!recording->packets || !recording->clients || !recording->by_size)
        return error_no_memory(loader->error);
    distribute_packets(loader, recording, details);
    /* Sorting needs half of the longest run, which may be all packets. */
    struct recording_packet *spare = calloc(recording->packet_count / 2 + 1, sizeof *spare);
    if (!spare)
        return error_no_memory(loader->error);
    for (uint32_t c = 0; c < recording->client_count; c++)
        sort_by_time(recording->packets + recording->clients[c].first, recording->clients[c].count,
                     spare);
    free(spare);
    qsort_r(recording->clients, recording->client_count, sizeof *recording->clients, compare_starts,
            recording->packets);
    for (uint32_t c = 0; c < recording->client_count; c++)
        recording->by_size[c] = c;
    qsort_r(recording->by_size, recording->client_count, sizeof *recording->by_size, compare_sizes,
            recording->clients);
    count_conversations(recording);
    return 0;
}

/* Gives each client its packets, in the order of the file. */
static void distribute_packets(const struct recording_loader *loader, struct recording *recording,
                               const uint32_t *details)
{
    int64_t origin = INT64_MAX, last = INT64_MIN;
    uint32_t first = 0;
    for (size_t i = 0; i < loader->packet_count; i++) {
        int64_t time = loader->packets[i].time;
        recording->clients[loader->packets[i].client].count++;
        origin = time < origin ? time : origin;
        last = time > last ? time : last;
    }
    recording->length = last - origin;
    for (uint32_t c = 0; c < recording->client_count; c++) {
        recording->clients[c].first = first;
        first += recording->clients[c].count;
        recording->clients[c].count = 0;
    }
    for (size_t i = 0; i < loader->packet_count; i++) {
        const struct loaded_packet *from = &loader->packets[i];
        struct recording_client *client = &recording->clients[from->client];
        recording->packets[client->first + client->count++] =
            (struct recording_packet){.time = from->time - origin,
                                      .type = (uint16_t)loader->form_list[from->form].type,
                                      .details = details[from->form],
                                      .further_leg = from->further_leg};
    }
}

/* A stable merge sort; spare has room for half as many. Most runs are sorted already. */
static void sort_by_time(struct recording_packet *packets, size_t count,
                         struct recording_packet *spare)
{
    size_t i = 1, half = count / 2, left = 0, right = 0;
    while (i < count && packets[i - 1].time <= packets[i].time)
        i++;
    if (i >= count)
        return;
    sort_by_time(packets, half, spare);
    sort_by_time(packets + half, count - half, spare);
    memcpy(spare, packets, half * sizeof *spare);
    for (i = 0; left < half; i++) {
        bool from_left = half + right == count || spare[left].time <= packets[half + right].time;
        packets[i] = from_left ? spare[left++] : packets[half + right++];
    }
}

static int compare_starts(const void *a, const void *b, void *context)
{
    const struct recording_packet *packets = context;
    const struct recording_client *left = a, *right = b;
    int64_t one = packets[left->first].time, other = packets[right->first].time;
    if (one != other)
        return one < other ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

static int compare_sizes(const void *a, const void *b, void *context)
{
    const struct recording_client *clients = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (clients[left].count != clients[right].count)
        return clients[left].count > clients[right].count ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void count_conversations(struct recording *recording)
{
    for (uint32_t c = 0; c < recording->client_count; c++) {
        const struct recording_client *client = &recording->clients[c];
        const struct recording_packet *packets = &recording->packets[client->first];
        recording->conversations++;
        for (uint32_t i = 1; i < client->count; i++)
            recording->conversations +=
                packets[i].time - packets[i - 1].time > RECORDING_SILENCE * SECOND;
    }
}

static int check_duration(const struct recording_loader *loader)
{
    const struct recording *recording = loader->model->recording;
    if (recording->length <= RECORDING_DAYS_MAX * 86400 * SECOND)
        return 0;
    return error_set(loader->error, -EINVAL,
                     "%s: expected a recording of at most %d days, found %.1f between its first "
                     "and last packet",
                     loader->name, RECORDING_DAYS_MAX, (double)recording->length / 1e9 / 86400);
}

static void recording_warn(const struct recording_loader *loader,
                           void (*warning)(void *context, const char *line), void *context)
{
    char line[ERROR_TEXT_SIZE];
    if (warning && loader->replies + loader->folded > 0) {
        snprintf(line, sizeof line,
                 "%s: %" PRIu64 " replies and %" PRIu64
                 " further messages of binds and AS exchanges are left out; playing a request "
                 "includes them",
                 loader->name, loader->replies, loader->folded);
        warning(context, line);
    }
    if (warning && loader->self > 0) {
        snprintf(line, sizeof line,
                 "%s: %" PRIu64
                 " packets go from an address to itself; each connection counts as a client",
                 loader->name, loader->self);
        warning(context, line);
    }
}

static void loader_clear(struct recording_loader *loader)
{
    intern_clear(&loader->clients);
    intern_clear(&loader->types);
    intern_clear(&loader->forms);
    free(loader->packets);
    free(loader->form_list);
    free(loader->last);
    free(loader->exchanges);
    free(loader->key);
}
