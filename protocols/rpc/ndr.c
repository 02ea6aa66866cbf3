/* SPDX-License-Identifier: Apache-2.0 */
/* The NDR cursor: primitive types, pointers, arrays, strings and the structures that many
 * interfaces share. */
#include "protocols/rpc/ndr.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf16.h"

/* A pointee that waits for its turn. */
struct ndr_deferred {
    const char *field;
    void *value;
    ndr_coder *coder;
    uint32_t argument;
    uint32_t count; /* arrays */
    size_t size;    /* arrays: of an element in memory */
    void *array;    /* not NULL: the address of an array pointer, which decoding fills in */
};

static inline uint64_t code_number(struct ndr *ndr, const char *field, uint64_t value, size_t size);
static void ndr_print_number(struct ndr *ndr, const char *field, uint64_t value);
static uint8_t *put_room(struct ndr *ndr, const char *field, size_t size);
static const uint8_t *get_room(struct ndr *ndr, const char *field, size_t size);
static void *pointer_at(const void *place);
static uint32_t code_unique_id(struct ndr *ndr, const char *field, bool present);
static uint32_t code_referent_id(struct ndr *ndr, const char *field, bool present, uint32_t next);
static void code_pointer(struct ndr *ndr, const char *field, uint32_t id, void *target, size_t size,
                         ndr_coder *coder, uint32_t argument);
static void pointer_store(void *place, void *pointer);
static void *pool_room(struct ndr *ndr, const char *field, size_t size);
static struct ndr_deferred *defer(struct ndr *ndr, const char *field);
static void remember_full_id(struct ndr *ndr, const char *field, uint32_t id);
static bool code_referent(struct ndr *ndr, const char *field, bool present);
static void code_elements(struct ndr *ndr, const char *field, void *array, uint32_t count,
                          size_t size, ndr_coder *element);
static void flush_from(struct ndr *ndr, size_t from);
static void code_deferred(struct ndr *ndr, const struct ndr_deferred *item);
static void put_utf16(struct ndr *ndr, const char *field, const char *text, size_t size);
static void get_utf16(struct ndr *ndr, const char *field, char **value, size_t size);
static const uint8_t *turned_round(struct ndr *ndr, const char *field, const uint8_t *in,
                                   size_t size);
static void ndr_print_text(struct ndr *ndr, const char *field, const char *text);
static size_t text_units(struct ndr *ndr, const char *field, const char *text);
static bool code_string_header(struct ndr *ndr, const char *field, uint32_t *max, uint32_t *actual);
static void unique_text(struct ndr *ndr, const char *field, char **value, ndr_coder *coder,
                        uint32_t argument);
static void wstring_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument);
static void string_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument);
static bool hex_number(const char **text, int digits, uint32_t *number);
static int sid_number(const char **text, uint64_t limit, uint64_t *number);
static void sid_body(struct ndr *ndr, struct ndr_sid *sid);
static void unicode_string(struct ndr *ndr, const char *field, char **text, uint32_t spare);
static void unicode_buffer_coder(struct ndr *ndr, const char *field, void *value,
                                 uint32_t argument);

void ndr_encode_start(struct ndr *ndr)
{
    *ndr = (struct ndr){.mode = NDR_ENCODE};
}

void ndr_decode_start(struct ndr *ndr, const uint8_t *data, size_t size, bool big_endian,
                      struct arena *arena)
{
    /* The cursor never writes through data when it decodes. */
    *ndr = (struct ndr){.mode = NDR_DECODE,
                        .data = (uint8_t *)(uintptr_t)data,
                        .size = size,
                        .big_endian = big_endian,
                        .arena = arena};
    if (arena && !arena->limit)
        arena->limit = NDR_ARENA_LIMIT;
}

void ndr_print_start(struct ndr *ndr, FILE *out)
{
    *ndr = (struct ndr){.mode = NDR_PRINT, .out = out};
}

void ndr_end(struct ndr *ndr)
{
    if (ndr->mode == NDR_ENCODE)
        free(ndr->data);
    free(ndr->deferred);
    *ndr = (struct ndr){.mode = ndr->mode};
}

void ndr_error_text(const struct ndr *ndr, const char *what, char *text, size_t size)
{
    snprintf(text, size, "%s: field %s at 0x%zx: %s", what,
             ndr->error_field ? ndr->error_field : "?", ndr->error_offset,
             ndr->error ? ndr->error : "no error");
}

void ndr_fail(struct ndr *ndr, const char *field, const char *why)
{
    if (ndr->failed)
        return;
    ndr->failed = true;
    ndr->error_field = field;
    ndr->error_offset = ndr->mode == NDR_DECODE ? ndr->offset : ndr->size;
    ndr->error = why;
}

void ndr_u8(struct ndr *ndr, const char *field, uint8_t *value)
{
    *value = (uint8_t)code_number(ndr, field, *value, 1);
}

/* Every number passes here: size bytes, little-endian unless the sender says otherwise. Inline, so
 * that a size is known and the loops become one store or load. */
static inline uint64_t code_number(struct ndr *ndr, const char *field, uint64_t value, size_t size)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_number(ndr, field, value);
        return value;
    }
    ndr_align(ndr, size);
    if (ndr->mode == NDR_ENCODE) {
        uint8_t *out = put_room(ndr, field, size);
        for (size_t i = 0; out && i < size; i++)
            out[i] = (uint8_t)(value >> 8 * i);
        return value;
    }
    const uint8_t *in = get_room(ndr, field, size);
    value = 0;
    for (size_t i = 0; in && i < size; i++)
        value |= (uint64_t)in[i] << 8 * (ndr->big_endian ? size - 1 - i : i);
    return value;
}

static void ndr_print_number(struct ndr *ndr, const char *field, uint64_t value)
{
    fprintf(ndr->out, "%*s%s: %" PRIu64 " (0x%" PRIx64 ")\n", ndr->indent, "", field, value, value);
}

enum { GROW_MIN = 256, MESSAGE_MAX = 4 << 20 };

/* Encode: room for size bytes at the end, zeroed; NULL after a failure. */
static uint8_t *put_room(struct ndr *ndr, const char *field, size_t size)
{
    if (ndr->failed)
        return NULL;
    if (size > MESSAGE_MAX - ndr->size) {
        ndr_fail(ndr, field, "message longer than 4 MiB");
        return NULL;
    }
    if (ndr->size + size > ndr->capacity) {
        size_t capacity = ndr->capacity * 2 > GROW_MIN ? ndr->capacity * 2 : GROW_MIN;
        if (capacity < ndr->size + size)
            capacity = ndr->size + size;
        uint8_t *data = realloc(ndr->data, capacity);
        if (!data) {
            ndr_fail(ndr, field, "out of memory");
            return NULL;
        }
        ndr->data = data;
        ndr->capacity = capacity;
    }
    uint8_t *room = ndr->data + ndr->size;
    memset(room, 0, size);
    ndr->size += size;
    return room;
}

/* Decode: the next size bytes; NULL after a failure. */
static const uint8_t *get_room(struct ndr *ndr, const char *field, size_t size)
{
    if (ndr->failed)
        return NULL;
    if (size > ndr->size - ndr->offset) {
        ndr_fail(ndr, field, "message ends too early");
        return NULL;
    }
    const uint8_t *room = ndr->data + ndr->offset;
    ndr->offset += size;
    return room;
}

void ndr_u16(struct ndr *ndr, const char *field, uint16_t *value)
{
    *value = (uint16_t)code_number(ndr, field, *value, 2);
}

void ndr_u32(struct ndr *ndr, const char *field, uint32_t *value)
{
    *value = (uint32_t)code_number(ndr, field, *value, 4);
}

void ndr_u64(struct ndr *ndr, const char *field, uint64_t *value)
{
    *value = code_number(ndr, field, *value, 8);
}

void ndr_old_large_integer(struct ndr *ndr, const char *field, uint64_t *value)
{
    uint32_t low = (uint32_t)*value, high = (uint32_t)(*value >> 32);
    ndr_u32(ndr, field, &low);
    ndr_u32(ndr, field, &high);
    *value = (uint64_t)high << 32 | low;
}

/* Bytes are printed as their number alone: those that matter are keys, challenges, passwords. */
void ndr_bytes(struct ndr *ndr, const char *field, uint8_t *value, size_t size)
{
    if (ndr->mode == NDR_PRINT) {
        fprintf(ndr->out, "%*s%s: %zu bytes\n", ndr->indent, "", field, size);
    } else if (ndr->mode == NDR_ENCODE) {
        uint8_t *out = put_room(ndr, field, size);
        if (out)
            memcpy(out, value, size);
    } else {
        const uint8_t *in = get_room(ndr, field, size);
        if (in)
            memcpy(value, in, size);
    }
}

void ndr_align(struct ndr *ndr, size_t alignment)
{
    size_t at = ndr->mode == NDR_DECODE ? ndr->offset : ndr->size;
    size_t pad = -at & (alignment - 1);
    if (pad == 0 || ndr->mode == NDR_PRINT)
        return;
    if (ndr->mode == NDR_ENCODE)
        put_room(ndr, "padding", pad);
    else
        get_room(ndr, "padding", pad);
}

void ndr_u32_range(struct ndr *ndr, const char *field, uint32_t *value, uint32_t low, uint32_t high)
{
    ndr_u32(ndr, field, value);
    if (!ndr->failed && (*value < low || *value > high))
        ndr_fail(ndr, field, "out of its range");
}

void ndr_tag16(struct ndr *ndr, const char *field, uint16_t expected)
{
    uint16_t value = expected;
    ndr_u16(ndr, field, &value);
    if (!ndr->failed && value != expected)
        ndr_fail(ndr, field, "not the union member that was asked for");
}

void ndr_tag32(struct ndr *ndr, const char *field, uint32_t expected)
{
    uint32_t value = expected;
    ndr_u32(ndr, field, &value);
    if (!ndr->failed && value != expected)
        ndr_fail(ndr, field, "not the union member that was asked for");
}

void ndr_code_unique(struct ndr *ndr, const char *field, void *target, size_t size,
                     ndr_coder *coder, uint32_t argument)
{
    uint32_t id = code_unique_id(ndr, field, pointer_at(target) != NULL);
    code_pointer(ndr, field, id, target, size, coder, argument);
}

/* The pointer that is kept at place, whatever it points to. */
static void *pointer_at(const void *place)
{
    void *pointer;
    memcpy(&pointer, place, sizeof pointer);
    return pointer;
}

/* Ids of unique pointers start where Windows' do. */
static uint32_t code_unique_id(struct ndr *ndr, const char *field, bool present)
{
    uint32_t next = 0x00020000 + 4 * ndr->referents;
    ndr->referents += present;
    return code_referent_id(ndr, field, present, next);
}

/* The referent id (C706 14.3.12.3): 0 for null. `next` is what encoding gives a pointee. */
static uint32_t code_referent_id(struct ndr *ndr, const char *field, bool present, uint32_t next)
{
    if (ndr->mode == NDR_PRINT) {
        if (!present)
            fprintf(ndr->out, "%*s%s: NULL\n", ndr->indent, "", field);
        return present;
    }
    uint32_t id = (uint32_t)code_number(ndr, field, present ? next : 0, 4);
    return ndr->failed ? 0 : id;
}

/* A pointee to come, when there is one: id is its referent's. */
static void code_pointer(struct ndr *ndr, const char *field, uint32_t id, void *target, size_t size,
                         ndr_coder *coder, uint32_t argument)
{
    if (ndr->mode == NDR_DECODE)
        pointer_store(target, id ? pool_room(ndr, field, size) : NULL);
    if (id == 0)
        return;
    struct ndr_deferred *item = defer(ndr, field);
    if (!item)
        return;
    item->value = pointer_at(target);
    item->coder = coder;
    item->argument = argument;
}

static void pointer_store(void *place, void *pointer)
{
    memcpy(place, &pointer, sizeof pointer);
}

static void *pool_room(struct ndr *ndr, const char *field, size_t size)
{
    void *memory = arena_alloc(ndr->arena, size ? size : 1);
    if (!memory)
        ndr_fail(ndr, field, "reply needs too much memory");
    return memory;
}

static struct ndr_deferred *defer(struct ndr *ndr, const char *field)
{
    if (ndr->failed)
        return NULL;
    if (ndr->deferred_count == ndr->deferred_capacity) {
        size_t capacity = ndr->deferred_capacity ? ndr->deferred_capacity * 2 : 16;
        struct ndr_deferred *deferred = realloc(ndr->deferred, capacity * sizeof *deferred);
        if (!deferred) {
            ndr_fail(ndr, field, "out of memory");
            return NULL;
        }
        ndr->deferred = deferred;
        ndr->deferred_capacity = capacity;
    }
    struct ndr_deferred *item = &ndr->deferred[ndr->deferred_count++];
    *item = (struct ndr_deferred){.field = field};
    return item;
}

void ndr_code_full(struct ndr *ndr, const char *field, void *target, size_t size, ndr_coder *coder,
                   uint32_t argument)
{
    uint32_t id = code_referent_id(ndr, field, pointer_at(target) != NULL, ndr->full_count + 1);
    if (id && ndr->mode != NDR_PRINT)
        remember_full_id(ndr, field, id);
    code_pointer(ndr, field, id, target, size, coder, argument);
}

static void remember_full_id(struct ndr *ndr, const char *field, uint32_t id)
{
    for (uint32_t i = 0; i < ndr->full_count; i++)
        if (ndr->full_ids[i] == id)
            ndr_fail(ndr, field, "two pointers to one thing are not supported");
    if (ndr->full_count == NDR_FULL_POINTERS_MAX)
        ndr_fail(ndr, field, "too many full pointers");
    else
        ndr->full_ids[ndr->full_count++] = id;
}

void ndr_code_ref(struct ndr *ndr, const char *field, void *target, size_t size, ndr_coder *coder,
                  uint32_t argument)
{
    ndr_code_unique(ndr, field, target, size, coder, argument);
    if (!ndr->failed && !pointer_at(target))
        ndr_fail(ndr, field, "a null reference pointer");
}

void ndr_code_unique_array(struct ndr *ndr, const char *field, void *array, uint32_t count,
                           size_t size, ndr_coder *element)
{
    if (!code_referent(ndr, field, pointer_at(array) != NULL)) {
        if (ndr->mode == NDR_DECODE)
            pointer_store(array, NULL);
        if (!ndr->failed && count != 0)
            ndr_fail(ndr, field, "a null pointer to a counted array");
        return;
    }
    struct ndr_deferred *item = defer(ndr, field);
    if (!item)
        return;
    item->array = array;
    item->coder = element;
    item->count = count;
    item->size = size;
}

static bool code_referent(struct ndr *ndr, const char *field, bool present)
{
    return code_unique_id(ndr, field, present) != 0;
}

void ndr_unique_member(struct ndr *ndr, const char *field, bool present, void *holder,
                       ndr_coder *coder, uint32_t argument)
{
    if (!code_referent(ndr, field, present))
        return;
    struct ndr_deferred *item = defer(ndr, field);
    if (!item)
        return;
    item->value = holder;
    item->coder = coder;
    item->argument = argument;
}

void ndr_code_array(struct ndr *ndr, const char *field, void *array, uint32_t count, size_t size,
                    ndr_coder *element)
{
    uint32_t max_count = count;
    if (ndr->mode != NDR_PRINT)
        ndr_u32(ndr, field, &max_count);
    if (!ndr->failed && max_count != count)
        ndr_fail(ndr, field, "array size differs from its count");
    code_elements(ndr, field, array, count, size, element);
}

/* Elements in a row; decoding makes room for them first, after a look at what is left to read. */
static void code_elements(struct ndr *ndr, const char *field, void *array, uint32_t count,
                          size_t size, ndr_coder *element)
{
    if (ndr->failed)
        return;
    if (ndr->mode == NDR_DECODE) {
        if (count > NDR_COUNT_MAX || count > ndr->size - ndr->offset) {
            ndr_fail(ndr, field, "more elements than the message holds");
            return;
        }
        pointer_store(array, pool_room(ndr, field, (size_t)count * size));
    }
    uint8_t *elements = pointer_at(array);
    if (count && element == ndr_u8_coder) { /* nothing to turn round or to align: all at once */
        ndr_bytes(ndr, field, elements, count);
        return;
    }
    for (uint32_t i = 0; i < count && !ndr->failed; i++)
        element(ndr, field, elements + i * size, 0);
}

void ndr_code_varying_array(struct ndr *ndr, const char *field, void *array, uint32_t *max_count,
                            uint32_t count, size_t size, ndr_coder *element)
{
    uint32_t offset = 0, actual = count;
    if (ndr->mode != NDR_PRINT) {
        ndr_u32(ndr, field, max_count);
        ndr_u32(ndr, field, &offset);
        ndr_u32(ndr, field, &actual);
    }
    if (!ndr->failed && (offset != 0 || actual != count || actual > *max_count))
        ndr_fail(ndr, field, "array size differs from its count");
    code_elements(ndr, field, array, count, size, element);
}

void ndr_flush(struct ndr *ndr)
{
    flush_from(ndr, 0);
}

/* Codes the items from `from` on; those that an item queues come right after it. */
static void flush_from(struct ndr *ndr, size_t from)
{
    if (++ndr->depth > NDR_DEPTH_MAX)
        ndr_fail(ndr, "pointer", "pointers nested too deep");
    size_t end = ndr->deferred_count;
    ndr->indent += 2;
    for (size_t i = from; i < end && !ndr->failed; i++) {
        struct ndr_deferred item = ndr->deferred[i];
        code_deferred(ndr, &item);
        if (ndr->deferred_count > end)
            flush_from(ndr, end);
    }
    ndr->deferred_count = from;
    ndr->indent -= 2;
    ndr->depth--;
}

static void code_deferred(struct ndr *ndr, const struct ndr_deferred *item)
{
    if (item->array)
        ndr_code_array(ndr, item->field, item->array, item->count, item->size, item->coder);
    else
        item->coder(ndr, item->field, item->value, item->argument);
}

void ndr_utf16(struct ndr *ndr, const char *field, char **value, size_t size)
{
    if (ndr->mode == NDR_ENCODE)
        put_utf16(ndr, field, *value, size);
    else if (ndr->mode == NDR_DECODE)
        get_utf16(ndr, field, value, size);
}

static void put_utf16(struct ndr *ndr, const char *field, const char *text, size_t size)
{
    uint8_t *utf16 = NULL, *out = put_room(ndr, field, size);
    size_t made = 0;
    if (!out)
        return;
    if (utf16le_from_utf8(text, &utf16, &made) < 0 || made != size)
        ndr_fail(ndr, field, "text that is not UTF-8, or no memory");
    else
        memcpy(out, utf16, size);
    free(utf16);
}

static void get_utf16(struct ndr *ndr, const char *field, char **value, size_t size)
{
    char *text = NULL;
    const uint8_t *in = get_room(ndr, field, size);
    if (in && ndr->big_endian)
        in = turned_round(ndr, field, in, size);
    if (!in)
        return;
    if (utf16le_to_utf8(in, size, &text) < 0) {
        ndr_fail(ndr, field, "text of half characters, or no memory");
        return;
    }
    size_t length = strlen(text);
    char *copy = pool_room(ndr, field, length + 1);
    if (copy)
        memcpy(copy, text, length + 1);
    *value = copy;
    free(text);
}

/* A big-endian sender's units, turned round into room. */
static const uint8_t *turned_round(struct ndr *ndr, const char *field, const uint8_t *in,
                                   size_t size)
{
    uint8_t *turned = pool_room(ndr, field, size);
    for (size_t i = 0; turned && i + 1 < size; i += 2) {
        turned[i] = in[i + 1];
        turned[i + 1] = in[i];
    }
    return turned;
}

void ndr_wstring(struct ndr *ndr, const char *field, char **value)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_text(ndr, field, *value);
        return;
    }
    if (ndr->failed)
        return;
    uint32_t max = (uint32_t)text_units(ndr, field, *value) + 1, actual = max;
    if (!code_string_header(ndr, field, &max, &actual))
        return;
    if (actual == 0) {
        ndr_fail(ndr, field, "a string without its NUL");
        return;
    }
    ndr_utf16(ndr, field, value, ((size_t)actual - 1) * 2);
    ndr_tag16(ndr, field, 0);
}

/* A server's text may hold what a terminal would obey: control characters come out as ?. */
static void ndr_print_text(struct ndr *ndr, const char *field, const char *text)
{
    if (!text) {
        fprintf(ndr->out, "%*s%s: NULL\n", ndr->indent, "", field);
        return;
    }
    fprintf(ndr->out, "%*s%s: \"", ndr->indent, "", field);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        putc(c1 || *c < 0x20 || *c == 0x7f ? '?' : *c, ndr->out);
        c += c1;
    }
    fputs("\"\n", ndr->out);
}

/* UTF-16 units that encoding a text will make; decoding does not know yet. */
static size_t text_units(struct ndr *ndr, const char *field, const char *text)
{
    size_t size = 0;
    if (ndr->mode == NDR_ENCODE && utf16le_size(text, &size) < 0)
        ndr_fail(ndr, field, "text that is not UTF-8");
    return size / 2;
}

/* Units of a varying string's header; false when it cannot be. */
static bool code_string_header(struct ndr *ndr, const char *field, uint32_t *max, uint32_t *actual)
{
    uint32_t offset = 0;
    ndr_u32(ndr, field, max);
    ndr_u32(ndr, field, &offset);
    ndr_u32(ndr, field, actual);
    if (!ndr->failed && (offset != 0 || *actual > *max || *actual > NDR_COUNT_MAX))
        ndr_fail(ndr, field, "a string longer than its buffer");
    return !ndr->failed;
}

void ndr_unique_wstring(struct ndr *ndr, const char *field, char **value)
{
    unique_text(ndr, field, value, wstring_coder, 0);
}

/* A string: its pointee is coded through its own char **. */
static void unique_text(struct ndr *ndr, const char *field, char **value, ndr_coder *coder,
                        uint32_t argument)
{
    bool present = *value != NULL;
    if (ndr->mode == NDR_DECODE)
        *value = NULL;
    ndr_unique_member(ndr, field, present, value, coder, argument);
}

static void wstring_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_wstring(ndr, field, value);
}

void ndr_unique_string(struct ndr *ndr, const char *field, char **value)
{
    unique_text(ndr, field, value, string_coder, 0);
}

static void string_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    char **text = value;
    if (ndr->mode == NDR_PRINT) {
        ndr_print_text(ndr, field, *text);
        return;
    }
    uint32_t max = ndr->mode == NDR_ENCODE ? (uint32_t)strlen(*text) + 1 : 0, actual = max;
    if (!code_string_header(ndr, field, &max, &actual))
        return;
    if (ndr->mode == NDR_ENCODE) {
        ndr_bytes(ndr, field, (uint8_t *)*text, actual);
        return;
    }
    const uint8_t *in = get_room(ndr, field, actual);
    char *copy = in ? pool_room(ndr, field, (size_t)actual + 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, in, actual);
    *text = copy;
}

int ndr_guid_parse(const char *text, struct ndr_guid *guid)
{
    /* 8-4-4-4-12: the last two groups are bytes. */
    static const uint8_t digits[] = {8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2};
    uint32_t numbers[11];
    for (int i = 0; i < 11; i++) {
        bool dash = (i >= 1 && i <= 3) || i == 5;
        if ((dash && *text++ != '-') || !hex_number(&text, digits[i], &numbers[i]))
            return -EINVAL;
    }
    if (*text)
        return -EINVAL;
    guid->time_low = numbers[0];
    guid->time_mid = (uint16_t)numbers[1];
    guid->time_hi_and_version = (uint16_t)numbers[2];
    for (int i = 0; i < 2; i++)
        guid->clock_seq[i] = (uint8_t)numbers[3 + i];
    for (int i = 0; i < 6; i++)
        guid->node[i] = (uint8_t)numbers[5 + i];
    return 0;
}

/* digits hexadecimal digits, either case; moves *text behind them. By hand, since every bind reads
 * two GUIDs, and sscanf(3) shows in its cost. */
static bool hex_number(const char **text, int digits, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, ++*text) {
        char c = **text;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *number = *number << 4 | digit;
    }
    return true;
}

void ndr_guid_format(const struct ndr_guid *guid, char text[NDR_GUID_TEXT_SIZE])
{
    const uint8_t *seq = guid->clock_seq, *node = guid->node;
    snprintf(text, NDR_GUID_TEXT_SIZE, "%08" PRIx32 "-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             guid->time_low, guid->time_mid, guid->time_hi_and_version, seq[0], seq[1], node[0],
             node[1], node[2], node[3], node[4], node[5]);
}

int ndr_sid_parse(const char *text, struct ndr_sid *sid)
{
    uint64_t authority, number;
    *sid = (struct ndr_sid){.revision = 1};
    if (strncmp(text, "S-1-", 4) != 0)
        return -EINVAL;
    text += 4;
    if (sid_number(&text, 0xffffffffffff, &authority) < 0)
        return -EINVAL;
    for (int i = 0; i < 6; i++)
        sid->authority[i] = (uint8_t)(authority >> 8 * (5 - i));
    while (*text == '-' && sid->count < NDR_SID_AUTHORITIES_MAX) {
        text++;
        if (sid_number(&text, UINT32_MAX, &number) < 0)
            return -EINVAL;
        sid->sub_authorities[sid->count++] = (uint32_t)number;
    }
    return *text ? -EINVAL : 0;
}

/* One decimal number of a SID, up to limit; moves *text behind it. */
static int sid_number(const char **text, uint64_t limit, uint64_t *number)
{
    if (!isdigit((unsigned char)**text))
        return -EINVAL;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 10);
    if (errno || value > limit)
        return -EINVAL;
    *text = end;
    *number = value;
    return 0;
}

void ndr_sid_format(const struct ndr_sid *sid, char *text, size_t size)
{
    uint64_t authority = 0;
    for (int i = 0; i < 6; i++)
        authority = authority << 8 | sid->authority[i];
    int used = snprintf(text, size, "S-%u-%" PRIu64, sid->revision, authority);
    for (int i = 0; i < sid->count && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "-%" PRIu32, sid->sub_authorities[i]);
}

void ndr_u8_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_u8(ndr, field, value);
}

void ndr_u16_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_u16(ndr, field, value);
}

void ndr_u32_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_u32(ndr, field, value);
}

void ndr_u64_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    ndr_u64(ndr, field, value);
}

void ndr_guid_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    struct ndr_guid *guid = value;
    if (ndr->mode == NDR_PRINT) {
        char text[NDR_GUID_TEXT_SIZE];
        ndr_guid_format(guid, text);
        ndr_print_text(ndr, field, text);
        return;
    }
    ndr_u32(ndr, field, &guid->time_low);
    ndr_u16(ndr, field, &guid->time_mid);
    ndr_u16(ndr, field, &guid->time_hi_and_version);
    ndr_bytes(ndr, field, guid->clock_seq, sizeof guid->clock_seq);
    ndr_bytes(ndr, field, guid->node, sizeof guid->node);
}

void ndr_policy_handle_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    struct ndr_policy_handle *handle = value;
    if (ndr->mode != NDR_PRINT)
        ndr_u32(ndr, field, &handle->type);
    ndr_guid_coder(ndr, field, &handle->uuid, argument);
}

void ndr_sid_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    struct ndr_sid *sid = value;
    if (ndr->mode == NDR_PRINT) {
        char text[192];
        ndr_sid_format(sid, text, sizeof text);
        ndr_print_text(ndr, field, text);
        return;
    }
    uint32_t conformance = sid->count;
    ndr_u32(ndr, field, &conformance);
    sid_body(ndr, sid);
    if (!ndr->failed && conformance != sid->count)
        ndr_fail(ndr, field, "array size differs from its count");
}

static void sid_body(struct ndr *ndr, struct ndr_sid *sid)
{
    ndr_u8(ndr, "Revision", &sid->revision);
    ndr_u8(ndr, "SubAuthorityCount", &sid->count);
    ndr_bytes(ndr, "IdentifierAuthority", sid->authority, sizeof sid->authority);
    if (!ndr->failed && sid->count > NDR_SID_AUTHORITIES_MAX)
        ndr_fail(ndr, "SubAuthorityCount", "more than 15 sub-authorities");
    for (unsigned i = 0; i < sid->count && !ndr->failed; i++)
        ndr_u32(ndr, "SubAuthority", &sid->sub_authorities[i]);
}

void ndr_unicode_string_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)argument;
    unicode_string(ndr, field, value, 0);
}

static void unicode_string(struct ndr *ndr, const char *field, char **text, uint32_t spare)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_text(ndr, field, *text);
        return;
    }
    if (ndr->failed)
        return;
    ndr_align(ndr, 4);
    size_t units = *text ? text_units(ndr, field, *text) : 0;
    if (units > 0x7ffe)
        ndr_fail(ndr, field, "text longer than 32,766 characters");
    bool present = *text != NULL;
    uint16_t length = (uint16_t)(units * 2);
    uint16_t room = (uint16_t)(present ? (units + spare) * 2 : 0);
    ndr_u16(ndr, field, &length);
    ndr_u16(ndr, field, &room);
    if (!ndr->failed && (length > room || length % 2))
        ndr_fail(ndr, field, "a string longer than its buffer");
    unique_text(ndr, field, text, unicode_buffer_coder, (uint32_t)room / 2 << 16 | length / 2);
}

/* The buffer of an RPC_UNICODE_STRING: argument is its count and, in the upper half, its room. */
static void unicode_buffer_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    uint32_t max = argument >> 16, actual = argument & 0xffff;
    uint32_t wire_max = max, wire_actual = actual;
    if (!code_string_header(ndr, field, &wire_max, &wire_actual))
        return;
    if (wire_actual != actual)
        ndr_fail(ndr, field, "string length differs from its count");
    else
        ndr_utf16(ndr, field, value, (size_t)actual * 2);
}

void ndr_unicode_string_large_coder(struct ndr *ndr, const char *field, void *value,
                                    uint32_t argument)
{
    (void)argument;
    unicode_string(ndr, field, value, 1);
}
