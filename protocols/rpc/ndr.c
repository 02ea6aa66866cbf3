/* SPDX-License-Identifier: Apache-2.0 */
/* The NDR cursor: numbers, pointers, arrays. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/ndr_private.h"

/* A queued pointee. */
struct ndr_deferred {
    const char *field;
    void *value;
    ndr_coder *coder;
    uint32_t argument;
    uint32_t count; /* arrays: elements */
    size_t size;    /* arrays: of one element in memory */
    void *array;    /* the address of an array's pointer; NULL: not an array */
};

static inline uint64_t code_number(struct ndr *ndr, const char *field, uint64_t value, size_t size);
static void ndr_print_number(struct ndr *ndr, const char *field, uint64_t value);
static void *pointer_at(const void *place);
static uint32_t code_unique_id(struct ndr *ndr, const char *field, bool present);
static uint32_t code_referent_id(struct ndr *ndr, const char *field, bool present, uint32_t next);
static void code_pointer(struct ndr *ndr, const char *field, uint32_t id, void *target, size_t size,
                         ndr_coder *coder, uint32_t argument);
static void pointer_store(void *place, void *pointer);
static struct ndr_deferred *defer(struct ndr *ndr, const char *field);
static void remember_full_id(struct ndr *ndr, const char *field, uint32_t id);
static bool code_referent(struct ndr *ndr, const char *field, bool present);
static void code_elements(struct ndr *ndr, const char *field, void *array, uint32_t count,
                          size_t size, ndr_coder *element);
static void flush_from(struct ndr *ndr, size_t from);
static void code_deferred(struct ndr *ndr, const struct ndr_deferred *item);

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

void ndr_error_text(const struct ndr *ndr, char text[NDR_ERROR_TEXT_SIZE])
{
    snprintf(text, NDR_ERROR_TEXT_SIZE, "field %s at offset 0x%zx: %s",
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

/* One number of size bytes: written little-endian, read in the sender's byte order. Inline, so that
 * size is a constant and each loop compiles to one store or load. */
static inline uint64_t code_number(struct ndr *ndr, const char *field, uint64_t value, size_t size)
{
    if (ndr->mode == NDR_PRINT) {
        ndr_print_number(ndr, field, value);
        return value;
    }
    ndr_align(ndr, size);
    if (ndr->mode == NDR_ENCODE) {
        uint8_t *out = ndr_put_room(ndr, field, size);
        for (size_t i = 0; out && i < size; i++)
            out[i] = (uint8_t)(value >> 8 * i);
        return value;
    }
    const uint8_t *in = ndr_get_room(ndr, field, size);
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

uint8_t *ndr_put_room(struct ndr *ndr, const char *field, size_t size)
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

const uint8_t *ndr_get_room(struct ndr *ndr, const char *field, size_t size)
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

void ndr_bytes(struct ndr *ndr, const char *field, uint8_t *value, size_t size)
{
    if (ndr->mode == NDR_PRINT) {
        fprintf(ndr->out, "%*s%s: %zu bytes\n", ndr->indent, "", field, size);
    } else if (ndr->mode == NDR_ENCODE) {
        uint8_t *out = ndr_put_room(ndr, field, size);
        if (out)
            memcpy(out, value, size);
    } else {
        const uint8_t *in = ndr_get_room(ndr, field, size);
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
        ndr_put_room(ndr, "padding", pad);
    else
        ndr_get_room(ndr, "padding", pad);
}

void ndr_u32_range(struct ndr *ndr, const char *field, uint32_t *value, uint32_t low, uint32_t high)
{
    ndr_u32(ndr, field, value);
    if (!ndr->failed && (*value < low || *value > high))
        ndr_fail(ndr, field, "out of range");
}

void ndr_tag16(struct ndr *ndr, const char *field, uint16_t expected)
{
    uint16_t value = expected;
    ndr_u16(ndr, field, &value);
    if (!ndr->failed && value != expected)
        ndr_fail(ndr, field, "unexpected value");
}

void ndr_tag32(struct ndr *ndr, const char *field, uint32_t expected)
{
    uint32_t value = expected;
    ndr_u32(ndr, field, &value);
    if (!ndr->failed && value != expected)
        ndr_fail(ndr, field, "unexpected value");
}

void ndr_code_unique(struct ndr *ndr, const char *field, void *target, size_t size,
                     ndr_coder *coder, uint32_t argument)
{
    uint32_t id = code_unique_id(ndr, field, pointer_at(target) != NULL);
    code_pointer(ndr, field, id, target, size, coder, argument);
}

/* The pointer stored at place, of whatever type. */
static void *pointer_at(const void *place)
{
    void *pointer;
    memcpy(&pointer, place, sizeof pointer);
    return pointer;
}

/* Referent ids of unique pointers start at the same number as Windows'. */
static uint32_t code_unique_id(struct ndr *ndr, const char *field, bool present)
{
    uint32_t next = 0x00020000 + 4 * ndr->referents;
    ndr->referents += present;
    return code_referent_id(ndr, field, present, next);
}

/* The referent id (C706 14.3.12.3): 0 for null, else when encoding `next`. */
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

/* Queues the pointee of a pointer with this referent id, unless it is null. */
static void code_pointer(struct ndr *ndr, const char *field, uint32_t id, void *target, size_t size,
                         ndr_coder *coder, uint32_t argument)
{
    if (ndr->mode == NDR_DECODE)
        pointer_store(target, id ? ndr_arena_room(ndr, field, size) : NULL);
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

void *ndr_arena_room(struct ndr *ndr, const char *field, size_t size)
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
            ndr_fail(ndr, field, "two full pointers to one value are not supported");
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

/* The elements. Decoding allocates them, but never more than the rest of the message can hold. */
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
        pointer_store(array, ndr_arena_room(ndr, field, (size_t)count * size));
    }
    uint8_t *elements = pointer_at(array);
    if (count && element == ndr_u8_coder) { /* bytes need no swapping or alignment: one copy */
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

/* Codes the queue from index `from` on. What an item queues is coded right after that item. */
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
