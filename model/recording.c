/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading a recording: packets as they come, each with numbers for its client and for its form
 * (type and details, kept once), then dealt out to the clients and put in the order of time.
 */
#include "model/recording_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/intern.h"
#include "model/model_private.h"
#include "model/recording_text.h"

#define SECOND INT64_C(1000000000)

enum { TALKS = 1 << 16, FORM_KEY_SIZE = 1 << 16 };

/* A packet as it was read. */
struct loaded {
    int64_t time; /* the file's */
    uint32_t client, form;
    bool further_leg;
};

/* What packets have in common: a type with details, and how many there are. */
struct form {
    uint32_t type;
    uint64_t count;
    struct packet_field *fields;
    size_t field_count;
};

/* Who last said what: an exchange that its next message may belong to. The oldest of two that fall
 * on the same place gives way. */
struct talk {
    uint64_t key; /* 0: free */
    int64_t time;
    const char *refused_by; /* of the request's row in the packet table */
    bool refused;           /* such a reply came: the request will be sent again */
};

struct load {
    struct model *model;
    const char *name;
    struct error *error;
    uint64_t line;
    struct intern clients, types, forms;
    struct loaded *packets;
    size_t packet_count, packet_room;
    struct form *form_list; /* by number */
    size_t form_room;
    uint32_t *last_form;   /* by client: of its packet before this one, + 1 */
    uint64_t *last_stream; /* and its stream, 0 when the file does not say */
    int64_t *last_time;
    size_t last_room;
    struct talk *talks;
    char *key; /* of a form, under construction */
    uint64_t replies, folded, self;
};

static int recording_no_memory(const struct load *load);
static int recording_take_packet(void *context, const struct recording_line *packet);
static bool repeats_request(struct load *load, const struct recording_line *packet);
static struct talk *find_talk(struct load *load, const struct recording_line *packet,
                              const char *kind, const char *stream, uint64_t *key);
static bool is_soon(int64_t time, int64_t before);
static bool continues_bind(struct load *load, const struct recording_line *packet);
static bool has_field(const struct recording_line *packet, const char *key, const char *value);
static int recording_add_packet(struct load *load, const struct recording_line *packet);
static int find_client(struct load *load, const struct recording_line *packet, uint32_t *client);
static int number_client(struct load *load, const char *name, size_t length, uint32_t *client);
static int recording_wrong(const struct load *load, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int grow_last(struct load *load);
static int find_form(struct load *load, const struct recording_line *packet, uint32_t *number);
static int find_type(struct load *load, const struct recording_line *packet, uint32_t *type);
static bool make_key(struct load *load, uint32_t type, const struct recording_line *packet,
                     size_t *used);
static bool recording_put_key(struct load *load, size_t *used, const char *text, char end);
static int add_form(struct load *load, uint32_t number, uint32_t type,
                    const struct recording_line *packet);
static int copy_fields(struct load *load, const struct recording_line *packet, struct form *form);
static const char *recording_keep(struct load *load, const char *text);
static bool continues_set_up(const struct load *load, const struct recording_line *packet,
                             uint32_t client, uint32_t form);
static int recording_finish(const struct load *load);
static int recording_name_types(const struct load *load);
static int recording_fill_details(const struct load *load, uint32_t *details);
static int arrange(const struct load *load, struct recording *recording, const uint32_t *details);
static void deal_out(const struct load *load, struct recording *recording, const uint32_t *details);
static void sort_by_time(struct recording_packet *packets, size_t count,
                         struct recording_packet *spare);
static int compare_starts(const void *a, const void *b, void *context);
static int compare_sizes(const void *a, const void *b, void *context);
static void count_conversations(struct recording *recording);
static int recording_check_whole(const struct load *load);
static void recording_warn(const struct load *load,
                           void (*warning)(void *context, const char *line), void *context);
static void clear(struct load *load);

int recording_load(struct model *model, FILE *file, const char *name, struct error *error,
                   void (*warning)(void *context, const char *line), void *context)
{
    struct load load = {.model = model, .name = name, .error = error};
    load.talks = calloc(TALKS, sizeof *load.talks);
    load.key = malloc(FORM_KEY_SIZE);
    int result = load.talks && load.key ? 0 : recording_no_memory(&load);
    if (result == 0)
        result = recording_text_read_file(file, name, recording_take_packet, &load, error);
    if (result == 0 && load.packet_count == 0) {
        error_set(error, -EINVAL, "%s: expected packets of clients, found only replies", name);
        result = -EINVAL;
    }
    if (result == 0)
        result = recording_finish(&load);
    if (result == 0)
        recording_warn(&load, warning, context);
    clear(&load);
    return result;
}

static int recording_no_memory(const struct load *load)
{
    return error_set(load->error, -ENOMEM, "%s: out of memory", load->name);
}

static int recording_take_packet(void *context, const struct recording_line *packet)
{
    struct load *load = context;
    load->line = packet->line;
    bool further = repeats_request(load, packet);
    if (packet->reply) {
        load->replies++;
        return 0;
    }
    further = continues_bind(load, packet) || further;
    load->folded += further;
    return further ? 0 : recording_add_packet(load, packet);
}

/* An AS request that was answered by an error (pre-authentication required, as a rule) is sent
 * again in another form: both are one exchange. Replies are looked at too. */
static bool repeats_request(struct load *load, const struct recording_line *packet)
{
    uint64_t key;
    if (!packet->row || !packet->row->protocol->joins)
        return false;
    struct talk *talk = find_talk(load, packet, "retry", "", &key);
    bool same = talk->key == key;
    if (packet->reply) {
        if (same)
            talk->refused = packet_word_in(talk->refused_by, packet->opcode);
        return false;
    }
    const char *refused_by = packet->row->refused_by;
    bool again = same && talk->refused && refused_by && is_soon(packet->time, talk->time);
    if (refused_by)
        *talk = (struct talk){.key = key, .time = packet->time, .refused_by = refused_by};
    else if (same)
        talk->key = 0;
    return again;
}

/* The place of an exchange of this kind; *same tells whether it holds this very one. */
static struct talk *find_talk(struct load *load, const struct recording_line *packet,
                              const char *kind, const char *stream, uint64_t *key)
{
    *key = intern_hash(0, kind, strlen(kind));
    *key = intern_hash(*key, packet->protocol, strlen(packet->protocol) + 1);
    *key = intern_hash(*key, packet->client, strlen(packet->client) + 1);
    *key = intern_hash(*key, packet->server, strlen(packet->server) + 1);
    *key = intern_hash(*key, stream, strlen(stream)) | 1;
    return &load->talks[*key * 0x9e3779b97f4a7c15u >> 48];
}

/* The messages of one bind or session set-up follow each other within so many seconds. */
enum { LEGS_SECONDS = 5 };

static bool is_soon(int64_t time, int64_t before)
{
    return time >= before && time - before <= LEGS_SECONDS * SECOND;
}

/* Only the first message of a SASL bind names its mechanism: one without that follows a SASL bind
 * on the same stream goes on with it. Texts that do not tell streams have no such messages. */
static bool continues_bind(struct load *load, const struct recording_line *packet)
{
    uint64_t key;
    if (!packet->row || !packet->row->protocol->joins || !packet->stream[0])
        return false;
    const struct packet_legs *legs = packet->row->legs;
    struct talk *talk = find_talk(load, packet, "legs", packet->stream, &key);
    bool open = talk->key == key && is_soon(packet->time, talk->time);
    if (!legs || !legs->joined || !has_field(packet, legs->field, legs->value)) {
        if (talk->key == key)
            talk->key = 0;
        return false;
    }
    *talk = (struct talk){.key = key, .time = packet->time};
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

static int recording_add_packet(struct load *load, const struct recording_line *packet)
{
    struct loaded loaded = {.time = packet->time};
    int result = find_client(load, packet, &loaded.client);
    if (result == 0)
        result = find_form(load, packet, &loaded.form);
    if (result < 0)
        return result;
    if (load->packet_count == RECORDING_PACKETS_MAX)
        return recording_wrong(load, "expected at most %d packets", RECORDING_PACKETS_MAX);
    if (load->packet_count == load->packet_room) {
        size_t room = load->packet_room ? 2 * load->packet_room : 4096;
        struct loaded *packets = reallocarray(load->packets, room, sizeof *packets);
        if (!packets)
            return recording_no_memory(load);
        load->packets = packets;
        load->packet_room = room;
    }
    loaded.further_leg = continues_set_up(load, packet, loaded.client, loaded.form);
    load->packets[load->packet_count++] = loaded;
    load->last_form[loaded.client] = loaded.form + 1;
    load->last_stream[loaded.client] =
        packet->stream[0] ? intern_hash(0, packet->stream, strlen(packet->stream)) : 0;
    load->last_time[loaded.client] = packet->time;
    return 0;
}

/* Who sends to itself is a machine that ran both sides: each connection is a client then. */
static int find_client(struct load *load, const struct recording_line *packet, uint32_t *client)
{
    char *name = NULL;
    if (strcmp(packet->client, packet->server) != 0)
        return number_client(load, packet->client, strlen(packet->client), client);
    load->self++;
    int length = asprintf(&name, "%s\t%d\t%s", packet->client, packet->udp, packet->stream);
    if (length < 0)
        return recording_no_memory(load);
    int result = number_client(load, name, (size_t)length, client);
    free(name);
    return result;
}

static int number_client(struct load *load, const char *name, size_t length, uint32_t *client)
{
    bool added;
    if (intern_add(&load->clients, name, length, client, &added) < 0)
        return recording_no_memory(load);
    if (!added)
        return 0;
    if (load->clients.count > RECORDING_CLIENTS_MAX)
        return recording_wrong(load, "expected at most %d clients", RECORDING_CLIENTS_MAX);
    if (*client >= load->last_room && grow_last(load) < 0)
        return -ENOMEM;
    load->last_form[*client] = 0;
    return 0;
}

static int recording_wrong(const struct load *load, const char *format, ...)
{
    va_list args;
    char text[ERROR_TEXT_SIZE / 2];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(load->error, -EINVAL, "%s:%" PRIu64 ": %s", load->name, load->line, text);
}

static int grow_last(struct load *load)
{
    size_t room = load->last_room ? 2 * load->last_room : 256;
    uint32_t *forms = reallocarray(load->last_form, room, sizeof *forms);
    load->last_form = forms ? forms : load->last_form;
    uint64_t *streams = reallocarray(load->last_stream, room, sizeof *streams);
    load->last_stream = streams ? streams : load->last_stream;
    int64_t *times = reallocarray(load->last_time, room, sizeof *times);
    load->last_time = times ? times : load->last_time;
    if (!forms || !streams || !times)
        return recording_no_memory(load);
    load->last_room = room;
    /* cppcheck-suppress memleak ; *load has all three */
    return 0;
}

static int find_form(struct load *load, const struct recording_line *packet, uint32_t *number)
{
    uint32_t type;
    size_t size;
    bool added;
    int result = find_type(load, packet, &type);
    if (result < 0)
        return result;
    if (!make_key(load, type, packet, &size))
        return recording_wrong(load, "expected details of at most %d bytes", FORM_KEY_SIZE);
    if (intern_add(&load->forms, load->key, size, number, &added) < 0)
        return recording_no_memory(load);
    if (added)
        result = add_form(load, *number, type, packet);
    if (result == 0)
        load->form_list[*number].count++;
    return result;
}

static int find_type(struct load *load, const struct recording_line *packet, uint32_t *type)
{
    char name[128];
    bool added;
    int length = snprintf(name, sizeof name, "%.60s:%.60s", packet->protocol, packet->opcode);
    if (intern_add(&load->types, name, (size_t)length, type, &added) < 0)
        return recording_no_memory(load);
    if (load->types.count > RECORDING_TYPES_MAX)
        return recording_wrong(load, "expected at most %d different packets", RECORDING_TYPES_MAX);
    return 0;
}

/* Type and details in one string, different for different ones. */
static bool make_key(struct load *load, uint32_t type, const struct recording_line *packet,
                     size_t *used)
{
    memcpy(load->key, &type, sizeof type);
    *used = sizeof type;
    for (size_t i = 0; i < packet->field_count; i++) {
        const struct packet_field *field = &packet->fields[i];
        if (!recording_put_key(load, used, field->key, '\1'))
            return false;
        for (size_t v = 0; v < field->count; v++)
            if (!recording_put_key(load, used, field->values[v],
                                   v + 1 < field->count ? '\2' : '\3'))
                return false;
    }
    return true;
}

static bool recording_put_key(struct load *load, size_t *used, const char *text, char end)
{
    size_t length = strlen(text);
    if (length + 1 >= FORM_KEY_SIZE - *used)
        return false;
    memcpy(load->key + *used, text, length);
    load->key[*used + length] = end;
    *used += length + 1;
    return true;
}

static int add_form(struct load *load, uint32_t number, uint32_t type,
                    const struct recording_line *packet)
{
    if (load->forms.bytes > RECORDING_DETAILS_MAX)
        return recording_wrong(load, "expected at most %d MiB of different details",
                               RECORDING_DETAILS_MAX >> 20);
    if (number >= load->form_room) {
        size_t room = load->form_room ? 2 * load->form_room : 256;
        struct form *forms = reallocarray(load->form_list, room, sizeof *forms);
        if (!forms)
            return recording_no_memory(load);
        load->form_list = forms;
        load->form_room = room;
    }
    load->form_list[number] = (struct form){.type = type};
    return copy_fields(load, packet, &load->form_list[number]);
}

static int copy_fields(struct load *load, const struct recording_line *packet, struct form *form)
{
    struct arena *arena = &load->model->arena;
    form->field_count = packet->field_count;
    form->fields = arena_array(arena, packet->field_count, sizeof *form->fields);
    if (!form->fields)
        return recording_no_memory(load);
    for (size_t i = 0; i < packet->field_count; i++) {
        const struct packet_field *from = &packet->fields[i];
        const char **values = arena_array(arena, from->count, sizeof *values);
        const char *key = recording_keep(load, from->key);
        bool kept = values && key;
        for (size_t v = 0; kept && v < from->count; v++)
            kept = (values[v] = recording_keep(load, from->values[v])) != NULL;
        if (!kept)
            return recording_no_memory(load);
        form->fields[i] = (struct packet_field){key, from->count, values};
    }
    return 0;
}

static const char *recording_keep(struct load *load, const char *text)
{
    return arena_string(&load->model->arena, text, strlen(text));
}

/* A session set-up directly after another one of the client is its further leg. */
static bool continues_set_up(const struct load *load, const struct recording_line *packet,
                             uint32_t client, uint32_t form)
{
    uint32_t before = load->last_form[client];
    uint64_t stream =
        packet->stream[0] ? intern_hash(0, packet->stream, strlen(packet->stream)) : 0;
    bool separate = packet->row && packet->row->legs && !packet->row->legs->joined;
    return separate && !packet->legs_joined && before &&
           load->form_list[before - 1].type == load->form_list[form].type &&
           load->last_stream[client] == stream && is_soon(packet->time, load->last_time[client]);
}

static int recording_finish(const struct load *load)
{
    struct model *model = load->model;
    struct recording *recording = model->recording = calloc(1, sizeof *recording);
    uint32_t *details = calloc(load->forms.count + 1, sizeof *details);
    int result = recording && details ? 0 : recording_no_memory(load);
    if (result == 0)
        result = recording_name_types(load);
    if (result == 0)
        result = recording_fill_details(load, details);
    if (result == 0)
        result = arrange(load, recording, details);
    if (result == 0)
        result = recording_check_whole(load);
    free(details);
    if (result < 0)
        return result;
    for (uint32_t t = 0; t < model->type_count; t++)
        model->types[t].visits = (double)model->types[t].count / (double)recording->conversations;
    model->packet_rate = recording->packet_count / model_recording_seconds(model, 1);
    return 0;
}

static int recording_name_types(const struct load *load)
{
    struct model *model = load->model;
    model->type_count = (uint32_t)load->types.count;
    model->types = arena_array(&model->arena, model->type_count, sizeof *model->types);
    model->details = arena_array(&model->arena, model->type_count, sizeof *model->details);
    if (!model->types || !model->details)
        return recording_no_memory(load);
    for (uint32_t t = 0; t < model->type_count; t++) {
        const struct intern_entry *name = &load->types.entries[t];
        const char *colon = memchr(name->bytes, ':', name->size);
        size_t length = (size_t)(colon - name->bytes);
        model->types[t].protocol = arena_string(&model->arena, name->bytes, length);
        model->types[t].opcode = arena_string(&model->arena, colon + 1, name->size - length - 1);
        if (!model->types[t].protocol || !model->types[t].opcode)
            return recording_no_memory(load);
        model->types[t].row = packet_row_find(model->types[t].protocol, model->types[t].opcode);
    }
    return model_index_types(model) < 0 ? recording_no_memory(load) : 0;
}

/* Numbers each form among the details of its type. A type that never has any has none. */
static int recording_fill_details(const struct load *load, uint32_t *details)
{
    struct model *model = load->model;
    struct model_details **lists = calloc(model->type_count, sizeof *lists);
    int result = lists ? 0 : recording_no_memory(load);
    for (size_t f = 0; f < load->forms.count; f++) {
        struct model_type *type = &model->types[load->form_list[f].type];
        details[f] = (uint32_t)type->details_count++;
        type->count += load->form_list[f].count;
    }
    for (uint32_t t = 0; result == 0 && t < model->type_count; t++) {
        lists[t] = arena_array(&model->arena, model->types[t].details_count, sizeof **lists);
        model->types[t].details = lists[t];
        if (!lists[t])
            result = recording_no_memory(load);
    }
    for (size_t f = 0; result == 0 && f < load->forms.count; f++) {
        const struct form *form = &load->form_list[f];
        lists[form->type][details[f]] =
            (struct model_details){form->count, form->field_count, form->fields};
    }
    for (uint32_t t = 0; result == 0 && t < model->type_count; t++)
        if (model->types[t].details_count == 1 && lists[t][0].field_count == 0)
            model->types[t].details_count = 0;
    free(lists);
    return result;
}

static int arrange(const struct load *load, struct recording *recording, const uint32_t *details)
{
    recording->packet_count = (uint32_t)load->packet_count;
    recording->client_count = (uint32_t)load->clients.count;
    recording->packets = calloc(recording->packet_count, sizeof *recording->packets);
    recording->clients = calloc(recording->client_count, sizeof *recording->clients);
    recording->by_size = calloc(recording->client_count, sizeof *recording->by_size);
    if (!recording->packets || !recording->clients || !recording->by_size)
        return recording_no_memory(load);
    deal_out(load, recording, details);
    /* The longest run is at most as long as all; half of it is set aside while sorting. */
    struct recording_packet *spare = calloc(recording->packet_count / 2 + 1, sizeof *spare);
    if (!spare)
        return recording_no_memory(load);
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

/* Each client gets its packets, in the file's order. */
static void deal_out(const struct load *load, struct recording *recording, const uint32_t *details)
{
    int64_t origin = INT64_MAX, last = INT64_MIN;
    uint32_t first = 0;
    for (size_t i = 0; i < load->packet_count; i++) {
        int64_t time = load->packets[i].time;
        recording->clients[load->packets[i].client].count++;
        origin = time < origin ? time : origin;
        last = time > last ? time : last;
    }
    recording->length = last - origin;
    for (uint32_t c = 0; c < recording->client_count; c++) {
        recording->clients[c].first = first;
        first += recording->clients[c].count;
        recording->clients[c].count = 0;
    }
    for (size_t i = 0; i < load->packet_count; i++) {
        const struct loaded *from = &load->packets[i];
        struct recording_client *client = &recording->clients[from->client];
        recording->packets[client->first + client->count++] =
            (struct recording_packet){.time = from->time - origin,
                                      .type = (uint16_t)load->form_list[from->form].type,
                                      .details = details[from->form],
                                      .further_leg = from->further_leg};
    }
}

/* Stable; spare has room for as many. Most runs are in order already. */
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

static int recording_check_whole(const struct load *load)
{
    const struct recording *recording = load->model->recording;
    if (recording->length <= RECORDING_DAYS_MAX * 86400 * SECOND)
        return 0;
    error_set(load->error, -EINVAL,
              "%s: expected a recording of at most %d days, found %.1f between its first and last "
              "packet",
              load->name, RECORDING_DAYS_MAX, (double)recording->length / 1e9 / 86400);
    return -EINVAL;
}

static void recording_warn(const struct load *load,
                           void (*warning)(void *context, const char *line), void *context)
{
    char line[ERROR_TEXT_SIZE];
    if (warning && load->replies + load->folded > 0) {
        snprintf(line, sizeof line,
                 "%s: %" PRIu64 " replies and %" PRIu64
                 " further messages of binds and AS exchanges are left out: what they belong to is "
                 "played whole",
                 load->name, load->replies, load->folded);
        warning(context, line);
    }
    if (warning && load->self > 0) {
        snprintf(line, sizeof line,
                 "%s: %" PRIu64
                 " packets go from an address to itself: each connection is taken as "
                 "a client",
                 load->name, load->self);
        warning(context, line);
    }
}

static void clear(struct load *load)
{
    intern_clear(&load->clients);
    intern_clear(&load->types);
    intern_clear(&load->forms);
    free(load->packets);
    free(load->form_list);
    free(load->last_form);
    free(load->last_stream);
    free(load->last_time);
    free(load->talks);
    free(load->key);
}
