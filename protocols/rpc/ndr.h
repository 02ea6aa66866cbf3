/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NDR, the transfer syntax of DCERPC (C706 chapter 14, MS-RPCE 2.2.5; NDR32, version 2.0).
 *
 * One coder per IDL type serves three modes: encode, decode and print. A coder is a list of calls
 * in the order of the IDL; the cursor carries the mode, which is fixed for its life. Errors stick:
 * after the first one every call is a no-op and the cursor remembers the field and the offset, so
 * coders need no error handling of their own.
 *
 * Embedded pointers are deferred as C706 14.3.12.3 wants it: a pointer writes its referent id and
 * queues its pointee; the queue is flushed, depth first, after each parameter (ndr_flush()).
 */
#ifndef PROTOCOLS_RPC_NDR_H
#define PROTOCOLS_RPC_NDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

enum ndr_mode { NDR_ENCODE, NDR_DECODE, NDR_PRINT };

/* No reply or request that we send or take holds more elements in one array. */
enum { NDR_COUNT_MAX = 1 << 20, NDR_DEPTH_MAX = 32, NDR_FULL_POINTERS_MAX = 32 };

/* Most memory that one reply may decode to. */
enum { NDR_ARENA_LIMIT = 64 << 20 };

struct ndr;

/* argument is what the IDL takes from elsewhere: a count for arrays, a tag for unions, a level. */
typedef void ndr_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument);

struct ndr_deferred;

struct ndr {
    enum ndr_mode mode;
    uint8_t *data;       /* encode: malloc'd, grows; decode: the caller's bytes */
    size_t size;         /* bytes written or to be read */
    size_t capacity;     /* encode */
    size_t offset;       /* decode */
    bool big_endian;     /* decode: the sender's data representation */
    struct arena *arena; /* decode: what is read hangs here */
    uint32_t referents;  /* encode: pointers so far */
    uint32_t full_ids[NDR_FULL_POINTERS_MAX]; /* full pointers so far */
    uint32_t full_count;
    uint32_t depth; /* how deep pointees nest */
    struct ndr_deferred *deferred;
    size_t deferred_count, deferred_capacity;
    FILE *out;  /* print */
    int indent; /* print */
    bool failed;
    const char *error_field; /* where it failed ... */
    size_t error_offset;
    const char *error; /* ... and why: static text */
};

void ndr_encode_start(struct ndr *ndr);
/* data stays the caller's and is read during decoding only. An arena without a limit gets
 * NDR_ARENA_LIMIT. */
void ndr_decode_start(struct ndr *ndr, const uint8_t *data, size_t size, bool big_endian,
                      struct arena *arena);
void ndr_print_start(struct ndr *ndr, FILE *out);
/* Frees what the cursor itself holds (encode: also the bytes, unless ndr_take() took them). */
void ndr_end(struct ndr *ndr);

/* "samr_LookupNames reply: field count at 0x2c: out of range", for a failed cursor. */
void ndr_error_text(const struct ndr *ndr, const char *what, char *text, size_t size);
void ndr_fail(struct ndr *ndr, const char *field, const char *why);

static inline bool ndr_is_decode(const struct ndr *ndr)
{
    return ndr->mode == NDR_DECODE;
}

/* Primitive types: aligned to their size. */
void ndr_u8(struct ndr *ndr, const char *field, uint8_t *value);
void ndr_u16(struct ndr *ndr, const char *field, uint16_t *value);
void ndr_u32(struct ndr *ndr, const char *field, uint32_t *value);
void ndr_u64(struct ndr *ndr, const char *field, uint64_t *value);
/* OLD_LARGE_INTEGER (MS-SAMR 2.2.2.2): 64 bits as two halves, so aligned to 4. */
void ndr_old_large_integer(struct ndr *ndr, const char *field, uint64_t *value);
void ndr_bytes(struct ndr *ndr, const char *field, uint8_t *value, size_t size);
/* alignment: a power of 2. */
void ndr_align(struct ndr *ndr, size_t alignment);
/* A u32 that the IDL limits: [range(low, high)]. */
void ndr_u32_range(struct ndr *ndr, const char *field, uint32_t *value, uint32_t low,
                   uint32_t high);
/* A number in memory that must be this on the wire: union tags, fixed levels. */
void ndr_tag16(struct ndr *ndr, const char *field, uint16_t expected);
void ndr_tag32(struct ndr *ndr, const char *field, uint32_t expected);

/*
 * Pointers and arrays. The macros take the address of a typed pointer and derive the size of what
 * it points to; the functions that they call copy the pointer itself with memcpy(), since a T *
 * must not be read or written as a void *.
 */

/* [unique] pointer to one value: a null *target is the null pointer. Decoding allocates the value.
 * The pointee is coded when the queue is flushed. */
#define ndr_unique(ndr, field, target, coder, argument)                                            \
    ndr_code_unique(ndr, field, target, sizeof **(target), coder, argument)
/* [ptr], a full pointer: as ndr_unique(). Two pointers to one pointee are not supported: a referent
 * id that occurs twice is an error. */
#define ndr_full(ndr, field, target, coder, argument)                                              \
    ndr_code_full(ndr, field, target, sizeof **(target), coder, argument)
/* Embedded [ref] pointer: as ndr_unique(), but null is an error. */
#define ndr_ref(ndr, field, target, coder, argument)                                               \
    ndr_code_ref(ndr, field, target, sizeof **(target), coder, argument)
/* [unique, size_is(count)] pointer to a conformant array. */
#define ndr_unique_array(ndr, field, array, count, element)                                        \
    ndr_code_unique_array(ndr, field, array, count, sizeof **(array), element)
/* The conformant array itself, where the IDL has no pointer to it. */
#define ndr_array(ndr, field, array, count, element)                                               \
    ndr_code_array(ndr, field, array, count, sizeof **(array), element)
/* Conformant and varying: max count, offset 0, actual count. Decoding stores the max count. */
#define ndr_varying_array(ndr, field, array, max_count, count, element)                            \
    ndr_code_varying_array(ndr, field, array, max_count, count, sizeof **(array), element)

void ndr_code_unique(struct ndr *ndr, const char *field, void *target, size_t size,
                     ndr_coder *coder, uint32_t argument);
void ndr_code_full(struct ndr *ndr, const char *field, void *target, size_t size, ndr_coder *coder,
                   uint32_t argument);
void ndr_code_ref(struct ndr *ndr, const char *field, void *target, size_t size, ndr_coder *coder,
                  uint32_t argument);
void ndr_code_unique_array(struct ndr *ndr, const char *field, void *array, uint32_t count,
                           size_t size, ndr_coder *element);
void ndr_code_array(struct ndr *ndr, const char *field, void *array, uint32_t count, size_t size,
                    ndr_coder *element);
void ndr_code_varying_array(struct ndr *ndr, const char *field, void *array, uint32_t *max_count,
                            uint32_t count, size_t size, ndr_coder *element);

/* A unique pointer whose pointee is coded through the struct that holds it, so that its coder can
 * set the struct's member: present says whether it is there when encoding. */
void ndr_unique_member(struct ndr *ndr, const char *field, bool present, void *holder,
                       ndr_coder *coder, uint32_t argument);
/* Codes every pointee that is queued, depth first. Call after each parameter. */
void ndr_flush(struct ndr *ndr);

/* size bytes of UTF-16 at the cursor, unaligned and without a header, from or to UTF-8. */
void ndr_utf16(struct ndr *ndr, const char *field, char **value, size_t size);
/* [string, charset(UTF16)] wchar_t array with its NUL; UTF-8 in memory. */
void ndr_wstring(struct ndr *ndr, const char *field, char **value);
/* A unique pointer to such a string. */
void ndr_unique_wstring(struct ndr *ndr, const char *field, char **value);
/* [string, charset(DOS)]: bytes with their NUL. */
void ndr_unique_string(struct ndr *ndr, const char *field, char **value);

/* Coders of primitive types, for arrays and pointees. */
ndr_coder ndr_u8_coder, ndr_u16_coder, ndr_u32_coder, ndr_u64_coder;

/* Structures that several interfaces share (MS-DTYP). */
struct ndr_guid {
    uint32_t time_low;
    uint16_t time_mid, time_hi_and_version;
    uint8_t clock_seq[2], node[6];
};

enum { NDR_SID_AUTHORITIES_MAX = 15 };

struct ndr_sid {
    uint8_t revision, count, authority[6];
    uint32_t sub_authorities[NDR_SID_AUTHORITIES_MAX];
};

struct ndr_policy_handle {
    uint32_t type;
    struct ndr_guid uuid;
};

/* Textual GUID, 36 characters ("12345678-1234-abcd-ef00-01234567cffb"). 0 or -EINVAL. */
int ndr_guid_parse(const char *text, struct ndr_guid *guid);
enum { NDR_GUID_TEXT_SIZE = 37 };
void ndr_guid_format(const struct ndr_guid *guid, char text[NDR_GUID_TEXT_SIZE]);
/* "S-1-5-21-..." 0 or -EINVAL. */
int ndr_sid_parse(const char *text, struct ndr_sid *sid);
/* text holds at least 192 bytes. */
void ndr_sid_format(const struct ndr_sid *sid, char *text, size_t size);

ndr_coder ndr_guid_coder;           /* GUID, MS-DTYP 2.3.4.2 */
ndr_coder ndr_sid_coder;            /* RPC_SID, MS-DTYP 2.4.2.3: conformance first */
ndr_coder ndr_policy_handle_coder;  /* context handle, C706 14.2.5 */
ndr_coder ndr_unicode_string_coder; /* RPC_UNICODE_STRING, MS-DTYP 2.3.10; value is char ** */
/* The same whose buffer holds a NUL that Length does not count (lsa_StringLarge of some calls). */
ndr_coder ndr_unicode_string_large_coder;

#endif
