/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NDR, the transfer syntax of DCERPC (C706 chapter 14, MS-RPCE 2.2.5; NDR32, version 2.0).
 *
 * One coder per IDL type serves three modes: encode, decode and print. A coder is a list of calls
 * in the order of the IDL. The cursor carries the mode, which never changes. Errors are sticky:
 * after the first one every call is a no-op, and the cursor keeps the field and the offset, so
 * coders need no error handling.
 *
 * Embedded pointers are deferred (C706 14.3.12.3): a pointer writes its referent id and queues its
 * pointee. ndr_flush() codes the queue, depth first, after each parameter.
 */
#ifndef PROTOCOLS_RPC_NDR_H
#define PROTOCOLS_RPC_NDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

/* The transfer syntax's UUID; its version is 2.0. */
#define NDR32_UUID "8a885d04-1ceb-11c9-9fe8-08002b104860"

enum ndr_mode { NDR_ENCODE, NDR_DECODE, NDR_PRINT };

/* Upper bounds on what the program sends and accepts: elements per array, nesting of pointees, full
 * pointers per message. */
enum { NDR_COUNT_MAX = 1 << 20, NDR_DEPTH_MAX = 32, NDR_FULL_POINTERS_MAX = 32 };

/* Upper bound on the memory that one reply decodes to. */
enum { NDR_ARENA_LIMIT = 64 << 20 };

struct ndr;

/* argument: what the IDL takes from another parameter, such as an array's count, a union's tag or
 * an information level. */
typedef void ndr_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument);

struct ndr_deferred;

struct ndr {
    enum ndr_mode mode;
    uint8_t *data;                            /* encode: malloc'd; decode: the caller's bytes */
    size_t size;                              /* encode: bytes written; decode: bytes in data */
    size_t capacity;                          /* encode */
    size_t offset;                            /* decode */
    bool big_endian;                          /* decode: the sender's data representation */
    struct arena *arena;                      /* decode: owns all that is decoded */
    uint32_t referents;                       /* encode: non-null pointers so far */
    uint32_t full_ids[NDR_FULL_POINTERS_MAX]; /* referent ids of full pointers */
    uint32_t full_count;
    uint32_t depth; /* nesting of pointees */
    struct ndr_deferred *deferred;
    size_t deferred_count, deferred_capacity;
    FILE *out;  /* print */
    int indent; /* print */
    bool failed;
    const char *error_field; /* set when failed */
    size_t error_offset;
    const char *error; /* static text */
};

/* Starts to encode into a buffer that ndr_end() frees. */
void ndr_encode_start(struct ndr *ndr);
/* The caller keeps data, which must live until ndr_end(). Decoded values live in arena. An arena
 * without a limit gets NDR_ARENA_LIMIT. */
void ndr_decode_start(struct ndr *ndr, const uint8_t *data, size_t size, bool big_endian,
                      struct arena *arena);
void ndr_print_start(struct ndr *ndr, FILE *out);
/* Frees what the cursor owns: the queue and, when encoding, the bytes. */
void ndr_end(struct ndr *ndr);

/* "field Count at offset 0x2c: out of range", for a failed cursor. */
enum { NDR_ERROR_TEXT_SIZE = 128 };
void ndr_error_text(const struct ndr *ndr, char text[NDR_ERROR_TEXT_SIZE]);

/* Fails the cursor at its present offset, unless it has failed already. Both texts are static. */
void ndr_fail(struct ndr *ndr, const char *field, const char *why);

/* Primitive types: aligned to their size. */
void ndr_u8(struct ndr *ndr, const char *field, uint8_t *value);
void ndr_u16(struct ndr *ndr, const char *field, uint16_t *value);
void ndr_u32(struct ndr *ndr, const char *field, uint32_t *value);
void ndr_u64(struct ndr *ndr, const char *field, uint64_t *value);
/* OLD_LARGE_INTEGER (MS-SAMR 2.2.2.2): 64 bits in two halves, aligned to 4. */
void ndr_old_large_integer(struct ndr *ndr, const char *field, uint64_t *value);
/* size bytes without alignment. Printed as their number alone: they may be keys or passwords. */
void ndr_bytes(struct ndr *ndr, const char *field, uint8_t *value, size_t size);
/* alignment: a power of 2. */
void ndr_align(struct ndr *ndr, size_t alignment);
/* [range(low, high)] */
void ndr_u32_range(struct ndr *ndr, const char *field, uint32_t *value, uint32_t low,
                   uint32_t high);
/* A number with one permitted value, such as a union's tag: fails on any other. */
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

/* A unique pointer that is a member of *holder. The coder gets the holder, so that it can set the
 * member when decoding. present: the member is not null (ignored when decoding). */
void ndr_unique_member(struct ndr *ndr, const char *field, bool present, void *holder,
                       ndr_coder *coder, uint32_t argument);
/* Codes every queued pointee, depth first. Call after each parameter. */
void ndr_flush(struct ndr *ndr);

/* size bytes of UTF-16 on the wire, without alignment or header; UTF-8 in memory. */
void ndr_utf16(struct ndr *ndr, const char *field, char **value, size_t size);
/* [string, charset(UTF16)] wchar_t array with a terminating NUL; UTF-8 in memory. */
void ndr_wstring(struct ndr *ndr, const char *field, char **value);
/* A unique pointer to such a string. */
void ndr_unique_wstring(struct ndr *ndr, const char *field, char **value);

/* Coders of primitive types, for arrays and pointees. */
ndr_coder ndr_u8_coder, ndr_u16_coder, ndr_u32_coder, ndr_u64_coder;

/* Types that several interfaces share (MS-DTYP, C706). */
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

/* A GUID's text, 36 characters ("12345678-1234-abcd-ef00-01234567cffb"). 0 or -EINVAL. */
int ndr_guid_parse(const char *text, struct ndr_guid *guid);
/* A SID's text ("S-1-5-21-..."). 0 or -EINVAL. */
int ndr_sid_parse(const char *text, struct ndr_sid *sid);

ndr_coder ndr_guid_coder;           /* GUID, MS-DTYP 2.3.4.2 */
ndr_coder ndr_sid_coder;            /* RPC_SID, MS-DTYP 2.4.2.3: conformance first */
ndr_coder ndr_policy_handle_coder;  /* context handle, C706 14.2.5 */
ndr_coder ndr_unicode_string_coder; /* RPC_UNICODE_STRING, MS-DTYP 2.3.10; value is char ** */
/* The same, with room for a NUL that Length does not count (Samba's lsa_StringLarge). */
ndr_coder ndr_unicode_string_large_coder;

#endif
