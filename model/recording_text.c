/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/text.h"
#include "model/samba_details.h"
#include "model/shape.h"

enum { COLUMNS = 16, EXTRA = 8, OWN = 15, FIELDS_MAX = 12, LINE_SIZE_MAX = 1 << 20 };
enum { COLUMN_TIME, COLUMN_IP, COLUMN_STREAM, COLUMN_FROM, COLUMN_TO, COLUMN_PROTOCOL };
enum { COLUMN_OPCODE = 6, COLUMN_BASE = 9, COLUMN_FILTER = 10, NANOSECONDS = 1000000000 };
enum { PAIRS_MAX = 1 << 16, SEARCH_COLUMNS = 7, VALUES_MAX = 64 };

/* Which of two hosts is the client. This distinguishes requests from replies in protocols that use
 * the same opcodes for both. The table has a fixed size, and newer pairs replace older ones; so it
 * is not a base/intern. */
struct recording_pair {
    uint64_t from, to; /* hashes of client and server; 0: free */
};

struct recording_reader {
    FILE *file;
    const char *name;
    int (*packet)(void *context, const struct recording_line *packet);
    void *context;
    struct error *error;
    uint64_t line;
    struct recording_pair *pairs;
    struct arena arena;
    struct packet_field fields[FIELDS_MAX];
    size_t field_count;
    bool legs_joined;
};

static int recording_text_read_lines(struct recording_reader *reader);
static int recording_text_wrong(const struct recording_reader *reader, const char *expected);
static int recording_text_read_line(struct recording_reader *reader, char *line);
static size_t split_columns(char *line, char *columns[COLUMNS]);
static bool recording_text_is_name(const char *text, bool empty);
static bool goes_back(struct recording_reader *reader, char *const columns[COLUMNS],
                      const struct packet_row *row);
static uint64_t hash_text(const char *text);
static struct recording_pair *find_pair(struct recording_reader *reader, uint64_t hash);
static bool answers_itself(struct recording_reader *reader, char *const columns[COLUMNS]);
static int recording_text_read_details(struct recording_reader *reader,
                                       const struct packet_row *row, char *const columns[COLUMNS]);
static int read_columns(struct recording_reader *reader, const struct packet_row *row,
                        char *const columns[COLUMNS]);
static int read_own(struct recording_reader *reader, const struct packet_row *row,
                    const char *column);
static int recording_text_add_field(struct recording_reader *reader, const struct packet_rule *rule,
                                    char *text);
static void write_bind(FILE *out, const struct recording_line *packet);
static const char *field_value(const struct recording_line *packet, const char *key);
static const struct packet_field *find_field(const struct recording_line *packet, const char *key);
static void write_search(FILE *out, const struct recording_line *packet);
static void write_list(FILE *out, const struct packet_field *field);
static enum packet_columns columns_of(const struct recording_line *packet);
static bool has_column(const struct recording_line *packet, const char *key);
static bool looks_like_leg(const struct recording_line *packet);

int recording_text_read(FILE *file, const char *name,
                        int (*packet)(void *context, const struct recording_line *packet),
                        void *context, struct error *error)
{
    struct recording_reader reader = {
        .file = file, .name = name, .packet = packet, .context = context, .error = error};
    reader.pairs = calloc(PAIRS_MAX, sizeof *reader.pairs);
    if (!reader.pairs)
        return error_no_memory(error);
    errno = 0;
    int result = recording_text_read_lines(&reader);
    free(reader.pairs);
    return result;
}

static int recording_text_read_lines(struct recording_reader *reader)
{
    char *line = NULL;
    size_t room = 0;
    int result = 0;
    ssize_t length;
    while (result == 0 && (length = getline(&line, &room, reader->file)) >= 0) {
        reader->line++;
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (length > LINE_SIZE_MAX || memchr(line, '\0', (size_t)length))
            result = recording_text_wrong(reader, "a line of text");
        else if (length > 0)
            result = recording_text_read_line(
                reader, line + (reader->line == 1 ? text_mark_length(line) : 0));
        arena_free(&reader->arena);
    }
    free(line);
    if (result == 0 && ferror(reader->file)) {
        result = errno ? -errno : -EIO;
        return error_set(reader->error, result, "%s: %s", reader->name, strerror(-result));
    }
    return result;
}

static int recording_text_wrong(const struct recording_reader *reader, const char *expected)
{
    return error_set(reader->error, -EINVAL, "%s:%" PRIu64 ": expected %s", reader->name,
                     reader->line, expected);
}

static int recording_text_read_line(struct recording_reader *reader, char *line)
{
    char *columns[COLUMNS];
    struct recording_line packet = {.line = reader->line};
    if (split_columns(line, columns) <= COLUMN_OPCODE)
        return recording_text_wrong(reader,
                                    "a traffic-summary line: time, IP protocol, stream, from, to, "
                                    "protocol, opcode, ... separated by tabs");
    if (recording_text_time(columns[COLUMN_TIME], &packet.time) < 0)
        return recording_text_wrong(reader, "a time in seconds in the first field");
    if (!columns[COLUMN_FROM][0] || !columns[COLUMN_TO][0])
        return recording_text_wrong(reader, "sender and receiver in the fourth and fifth field");
    if (!recording_text_is_name(columns[COLUMN_PROTOCOL], false) ||
        !recording_text_is_name(columns[COLUMN_OPCODE], true))
        return recording_text_wrong(reader,
                                    "a protocol and an opcode in the sixth and seventh field");
    packet.protocol = columns[COLUMN_PROTOCOL];
    packet.opcode = columns[COLUMN_OPCODE];
    packet.stream = columns[COLUMN_STREAM];
    packet.udp = strcmp(columns[COLUMN_IP], "11") == 0;
    packet.row = packet_row_find_in_model(packet.protocol, packet.opcode);
    packet.reply = goes_back(reader, columns, packet.row);
    packet.client = columns[packet.reply ? COLUMN_TO : COLUMN_FROM];
    packet.server = columns[packet.reply ? COLUMN_FROM : COLUMN_TO];
    reader->field_count = 0;
    reader->legs_joined = false;
    int result = packet.reply ? 0 : recording_text_read_details(reader, packet.row, columns);
    packet.fields = reader->fields;
    packet.field_count = reader->field_count;
    packet.legs_joined = reader->legs_joined;
    if (result == 0)
        result = reader->packet(reader->context, &packet);
    return result;
}

/* Splits a line in place; columns that it lacks are "". Returns how many it has. */
static size_t split_columns(char *line, char *columns[COLUMNS])
{
    static char nothing[] = "";
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        count += line != NULL;
        columns[i] = line ? strsep(&line, "\t") : nothing;
    }
    return count;
}

static bool recording_text_is_name(const char *text, bool empty)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789_.*-");
    return text[length] == '\0' && length < 48 && (empty || length > 0);
}

/* True if the line goes from the server to the client. If its opcode does not tell, the sender of
 * the first line between two hosts is the client. */
static bool goes_back(struct recording_reader *reader, char *const columns[COLUMNS],
                      const struct packet_row *row)
{
    const struct packet_protocol *protocol = packet_protocol_find(columns[COLUMN_PROTOCOL]);
    bool certain = protocol && !protocol->two_sided && columns[COLUMN_OPCODE][0];
    bool reply = row && row->reply;
    uint64_t source = hash_text(columns[COLUMN_FROM]), target = hash_text(columns[COLUMN_TO]);
    if (source == target)
        return certain ? reply : answers_itself(reader, columns);
    struct recording_pair *pair = find_pair(reader, source ^ target);
    bool known = (pair->from == source && pair->to == target) ||
                 (pair->from == target && pair->to == source);
    if (certain || !known)
        *pair = reply ? (struct recording_pair){target, source}
                      : (struct recording_pair){source, target};
    return pair->from == target;
}

static uint64_t hash_text(const char *text)
{
    return intern_hash(0, text, strlen(text)) | 1;
}

static struct recording_pair *find_pair(struct recording_reader *reader, uint64_t hash)
{
    return &reader->pairs[hash * 0x9e3779b97f4a7c15u >> 48];
}

/* For a host that sends to itself, each second line of one kind on a stream is the reply to the
 * line before it. */
static bool answers_itself(struct recording_reader *reader, char *const columns[COLUMNS])
{
    static const int named[] = {COLUMN_IP, COLUMN_STREAM, COLUMN_FROM, COLUMN_PROTOCOL,
                                COLUMN_OPCODE};
    uint64_t key = 0;
    if (!columns[COLUMN_STREAM][0])
        return false;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        key = intern_hash(key, columns[named[i]], strlen(columns[named[i]]) + 1);
    struct recording_pair *pair = find_pair(reader, key);
    bool asked = pair->from == key && pair->to == key;
    pair->from = pair->to = asked ? 0 : key;
    return asked;
}

static int recording_text_read_details(struct recording_reader *reader,
                                       const struct packet_row *row, char *const columns[COLUMNS])
{
    int result = 0;
    if (row && (row->columns == PACKET_COLUMNS_BIND || row->columns == PACKET_COLUMNS_SEARCH))
        result = read_columns(reader, row, columns);
    if (result == 0)
        result = read_own(reader, row, columns[OWN]);
    return result;
}

/* Reads the seven fields of LDAP packets as details of a Samba v2 model. Files of other programs
 * may contain values of the network, which are removed from base and filter. */
static int read_columns(struct recording_reader *reader, const struct packet_row *row,
                        char *const columns[COLUMNS])
{
    char base[SHAPE_SIZE], filter[SHAPE_SIZE];
    const char *parts[SEARCH_COLUMNS];
    size_t size = SEARCH_COLUMNS + 1, used = 0;
    for (size_t i = 0; i < SEARCH_COLUMNS; i++)
        parts[i] = columns[EXTRA + i];
    if (shape_of_dn(columns[COLUMN_BASE], base, sizeof base) < 0)
        base[0] = '\0';
    if (shape_of_filter(columns[COLUMN_FILTER], filter, sizeof filter) < 0)
        filter[0] = '\0';
    parts[COLUMN_BASE - EXTRA] = base;
    parts[COLUMN_FILTER - EXTRA] = filter;
    for (size_t i = 0; i < SEARCH_COLUMNS; i++)
        size += strlen(parts[i]);
    char *text = arena_alloc(&reader->arena, size);
    if (!text)
        return error_no_memory(reader->error);
    for (size_t i = 0; i < SEARCH_COLUMNS; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "\t" : "", parts[i]);
    struct packet_field *fields;
    size_t count;
    bool foreign;
    if (samba_details_read(&reader->arena, row, text, &fields, &count, &foreign) < 0)
        return error_no_memory(reader->error);
    for (size_t i = 0; i < count && reader->field_count < FIELDS_MAX; i++)
        reader->fields[reader->field_count++] = fields[i];
    return 0;
}

/* Reads the column that only our recordings have: key=value key=value. Ignores unknown keys, which
 * a later version may write. */
static int read_own(struct recording_reader *reader, const struct packet_row *row,
                    const char *column)
{
    char *text = arena_string(&reader->arena, column, strlen(column)), *item;
    if (!text)
        return error_no_memory(reader->error);
    while ((item = strsep(&text, " "))) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = '\0';
        if (strcmp(item, "legs") == 0)
            reader->legs_joined = strcmp(value, "joined") == 0;
        const struct packet_rule *rule = packet_rule_find(row, item);
        int result = rule ? recording_text_add_field(reader, rule, value) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

/* Adds a field, unless one of its values is wrong. */
static int recording_text_add_field(struct recording_reader *reader, const struct packet_rule *rule,
                                    char *text)
{
    const char *values[VALUES_MAX];
    const char *separator = packet_rule_is_list(rule) ? "," : "";
    size_t count = 0;
    if (reader->field_count == FIELDS_MAX)
        return 0;
    while (text && count < VALUES_MAX) {
        values[count] = packet_rule_check(rule, strsep(&text, separator));
        if (!values[count++])
            return 0;
    }
    const char **kept = arena_array(&reader->arena, count, sizeof *kept);
    if (!kept)
        return error_no_memory(reader->error);
    memcpy(kept, values, count * sizeof *kept);
    reader->fields[reader->field_count++] = (struct packet_field){rule->key, count, kept};
    return 0;
}

bool recording_text_is_line(const char *text)
{
    char number[40];
    size_t length = strcspn(text, "\t");
    int64_t time;
    if (length == 0 || length >= sizeof number || text[length] != '\t')
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return recording_text_time(number, &time) == 0;
}

int recording_text_time(const char *text, int64_t *time)
{
    size_t whole = strspn(text, "0123456789"), digits = 0;
    int64_t fraction = 0;
    if (whole == 0 || whole > 10)
        return -EINVAL;
    int64_t seconds = strtoll(text, NULL, 10);
    if (seconds > INT64_MAX / NANOSECONDS - 1)
        return -EINVAL;
    text += whole;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++, digits++)
            if (digits < 9)
                fraction = fraction * 10 + (*text - '0');
    for (; digits < 9; digits++)
        fraction *= 10;
    *time = seconds * NANOSECONDS + fraction;
    return *text == '\0' ? 0 : -EINVAL;
}

void recording_text_write(FILE *out, const struct recording_line *packet, const char *description)
{
    const char *separator = "\t";
    fprintf(out, "%" PRId64 ".%09" PRId64 "\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t",
            packet->time / NANOSECONDS, packet->time % NANOSECONDS, packet->udp ? "11" : "06",
            packet->stream, packet->client, packet->server, packet->protocol, packet->opcode,
            description);
    switch (columns_of(packet)) {
    case PACKET_COLUMNS_BIND:
        write_bind(out, packet);
        break;
    case PACKET_COLUMNS_SEARCH:
        write_search(out, packet);
        break;
    case PACKET_COLUMNS_EMPTY:
        fputs("\t\t\t\t\t\t", out);
        break;
    case PACKET_COLUMNS_NETLOGON:
        fputs("\t\t\tNetlogon\t\t\t", out);
        break;
    case PACKET_COLUMNS_NONE:
        separator = "\t\t\t\t\t\t\t";
    }
    for (size_t i = 0; i < packet->field_count; i++) {
        if (has_column(packet, packet->fields[i].key))
            continue;
        fprintf(out, "%s%s=", separator, packet->fields[i].key);
        write_list(out, &packet->fields[i]);
        separator = " ";
    }
    if (packet->legs_joined && looks_like_leg(packet))
        fprintf(out, "%slegs=joined", separator);
    fputc('\n', out);
}

/* Number (RFC 4511 4.2) and name of the authentication, OID of the SASL mechanism. */
static void write_bind(FILE *out, const struct recording_line *packet)
{
    const char *auth = field_value(packet, "auth"), *mech = field_value(packet, "mech");
    const char *number = "", *oid = "";
    if (strcmp(auth, "sasl") == 0)
        number = "3";
    else if (auth[0])
        number = "0";
    if (strcmp(mech, "GSSAPI") == 0)
        oid = "1.2.840.113554.1.2.2";
    else if (strcmp(mech, "GSS-SPNEGO") == 0)
        oid = "1.2.840.48018.1.2.2";
    fprintf(out, "\t\t\t\t%s\t%s\t%s", number, auth, oid);
}

static const char *field_value(const struct recording_line *packet, const char *key)
{
    const struct packet_field *field = find_field(packet, key);
    return field && field->count > 0 ? field->values[0] : "";
}

static const struct packet_field *find_field(const struct recording_line *packet, const char *key)
{
    for (size_t i = 0; i < packet->field_count; i++)
        if (strcmp(packet->fields[i].key, key) == 0)
            return &packet->fields[i];
    return NULL;
}

static void write_search(FILE *out, const struct recording_line *packet)
{
    static const char *const scopes[] = {"base", "one", "sub"};
    for (int i = 0; i < 3; i++)
        if (strcmp(field_value(packet, "scope"), scopes[i]) == 0)
            fprintf(out, "%d", i);
    fprintf(out, "\t%s\t%s\t", field_value(packet, "base"), field_value(packet, "filter"));
    write_list(out, find_field(packet, "attrs"));
    fputs("\t\t\t", out);
}

static void write_list(FILE *out, const struct packet_field *field)
{
    for (size_t i = 0; field && i < field->count; i++)
        fprintf(out, "%s%s", i ? "," : "", field->values[i]);
}

static enum packet_columns columns_of(const struct recording_line *packet)
{
    return packet->row ? packet->row->columns : PACKET_COLUMNS_NONE;
}

/* True for details that are in the fields 9 to 15. */
static bool has_column(const struct recording_line *packet, const char *key)
{
    enum packet_columns columns = columns_of(packet);
    if (columns == PACKET_COLUMNS_BIND)
        return packet_word_in("auth mech", key);
    return columns == PACKET_COLUMNS_SEARCH && packet_word_in("scope base filter attrs", key);
}

/* True for a line that could also be a further leg of one like it. */
static bool looks_like_leg(const struct recording_line *packet)
{
    const struct packet_legs *legs = packet->row ? packet->row->legs : NULL;
    if (!legs || (legs->field && strcmp(field_value(packet, legs->field), legs->value) != 0))
        return false;
    return !legs->first || !find_field(packet, legs->first);
}
