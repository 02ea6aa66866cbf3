/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NDR cursor (C706 chapter 14): numbers in both byte orders, alignment, pointers and the order
 * of their pointees, arrays, strings, and every error that a sender can make.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/ndr_private.h"
#include "tests/lib/bytes.h"

/* The tests' coders take no argument. */
typedef void coder(struct ndr *ndr, void *value);

static void assert_encodes(coder *code, void *value, const char *hex)
{
    struct ndr ndr;
    ndr_encode_start(&ndr);
    code(&ndr, value);
    if (ndr.failed)
        fail_msg("%s: %s", ndr.error_field, ndr.error);
    assert_bytes(ndr.data, ndr.size, hex);
    ndr_end(&ndr);
}

static void assert_encoding_fails(coder *code, void *value, const char *why)
{
    struct ndr ndr;
    ndr_encode_start(&ndr);
    code(&ndr, value);
    assert_true(ndr.failed);
    assert_string_equal(ndr.error, why);
    ndr_end(&ndr);
}

/* Decodes a buffer of the exact size. why: the expected error; NULL: none. */
static void decode_as(coder *code, void *value, const char *hex, bool big_endian,
                      struct arena *arena, const char *why)
{
    struct ndr ndr;
    uint8_t bytes[1024];
    size_t size = bytes_from_hex(hex, bytes);
    uint8_t *exact = bytes_exact(bytes, size);
    ndr_decode_start(&ndr, exact, size, big_endian, arena);
    code(&ndr, value);
    if (ndr.failed != (why != NULL) || (why && strcmp(why, ndr.error) != 0))
        fail_msg("%s: %s instead of %s", hex, ndr.failed ? ndr.error : "good", why ? why : "good");
    if (!why)
        assert_int_equal(ndr.offset, size);
    ndr_end(&ndr);
    free(exact);
}

static void decodes(coder *code, void *value, const char *hex, struct arena *arena)
{
    decode_as(code, value, hex, false, arena, NULL);
}

static void refuses(coder *code, void *value, const char *hex, const char *why)
{
    struct arena arena = {0};
    decode_as(code, value, hex, false, &arena, why);
    arena_free(&arena);
}

static const char too_early[] = "message ends too early";

struct numbers {
    uint8_t a, c;
    uint16_t b;
    uint32_t d;
    uint64_t e, f;
};

static void code_numbers(struct ndr *ndr, void *value)
{
    struct numbers *numbers = value;
    ndr_u8(ndr, "a", &numbers->a);
    ndr_u16(ndr, "b", &numbers->b);
    ndr_u8(ndr, "c", &numbers->c);
    ndr_u32(ndr, "d", &numbers->d);
    ndr_u64(ndr, "e", &numbers->e);
    ndr_u8(ndr, "c", &numbers->c);
    ndr_old_large_integer(ndr, "f", &numbers->f);
}

static const struct numbers some = {.a = 0x01,
                                    .b = 0x0203,
                                    .c = 0x04,
                                    .d = 0x05060708,
                                    .e = UINT64_C(0x090a0b0c0d0e0f10),
                                    .f = UINT64_C(0x1112131415161718)};

static void assert_some(const struct numbers *numbers)
{
    assert_int_equal(numbers->a, some.a);
    assert_int_equal(numbers->b, some.b);
    assert_int_equal(numbers->c, some.c);
    assert_int_equal(numbers->d, some.d);
    assert_int_equal(numbers->e, some.e);
    assert_int_equal(numbers->f, some.f);
}

/* Each is aligned to its size, OLD_LARGE_INTEGER to 4. Its low half comes first in both orders. */
static void numbers_in_both_orders(void **state)
{
    (void)state;
    static const char little[] = "01 00 0302 04 000000 08070605 00000000 100f0e0d0c0b0a09 04 000000"
                                 "18171615 14131211";
    static const char big[] = "01 00 0203 04 000000 05060708 00000000 090a0b0c0d0e0f10 04 000000"
                              "15161718 11121314";
    struct numbers numbers = some;
    assert_encodes(code_numbers, &numbers, little);
    memset(&numbers, 0, sizeof numbers);
    decodes(code_numbers, &numbers, little, NULL);
    assert_some(&numbers);
    memset(&numbers, 0, sizeof numbers);
    decode_as(code_numbers, &numbers, big, true, NULL, NULL);
    assert_some(&numbers);
}

static void code_range(struct ndr *ndr, void *value)
{
    ndr_u32_range(ndr, "range", value, 2, 4);
}

static void code_tags(struct ndr *ndr, void *value)
{
    (void)value;
    ndr_tag16(ndr, "tag16", 0x1234);
    ndr_tag32(ndr, "tag32", 0x12345678);
}

static void limits(void **state)
{
    (void)state;
    static const char not_asked[] = "unexpected value";
    uint32_t value = 5;
    assert_encoding_fails(code_range, &value, "out of range");
    refuses(code_range, &value, "01000000", "out of range");
    refuses(code_range, &value, "05000000", "out of range");
    decodes(code_range, &value, "02000000", NULL);
    decodes(code_range, &value, "04000000", NULL);
    assert_int_equal(value, 4);
    assert_encodes(code_tags, NULL, "3412 0000 78563412");
    decodes(code_tags, NULL, "3412 0000 78563412", NULL);
    refuses(code_tags, NULL, "3512 0000 78563412", not_asked);
    refuses(code_tags, NULL, "3412 0000 78563413", not_asked);
}

/* The first error is kept with its offset; later calls read and write nothing. */
static void errors_are_sticky(void **state)
{
    (void)state;
    struct ndr ndr;
    char text[NDR_ERROR_TEXT_SIZE];
    uint32_t value = 0;
    uint8_t data[8] = {1, 0, 0, 0, 9, 0, 0, 0};
    ndr_decode_start(&ndr, data, sizeof data, false, NULL);
    ndr_u32(&ndr, "first", &value);
    ndr_u32_range(&ndr, "second", &value, 0, 8);
    ndr_u32(&ndr, "third", &value);
    ndr_fail(&ndr, "fourth", "another");
    assert_true(ndr.failed);
    assert_int_equal(ndr.offset, 8);
    ndr_error_text(&ndr, text);
    assert_string_equal(text, "field second at offset 0x8: out of range");
    ndr_end(&ndr);
    ndr_encode_start(&ndr);
    ndr_fail(&ndr, "field", "why");
    ndr_u32(&ndr, "value", &value);
    assert_int_equal(ndr.size, 0);
    ndr_end(&ndr);
}

static void messages_end_at_4_mib(void **state)
{
    (void)state;
    struct ndr ndr;
    uint8_t *megabyte = calloc(1, 1 << 20);
    assert_non_null(megabyte);
    ndr_encode_start(&ndr);
    for (int i = 0; i < 4; i++)
        ndr_bytes(&ndr, "data", megabyte, 1 << 20);
    assert_false(ndr.failed);
    ndr_bytes(&ndr, "one", megabyte, 1);
    assert_true(ndr.failed);
    assert_string_equal(ndr.error, "message longer than 4 MiB");
    ndr_end(&ndr);
    free(megabyte);
}

/* A node of a tree. */
struct node {
    uint16_t number;
    struct node *left, *right;
};

static void node_coder(struct ndr *ndr, const char *field, void *value, uint32_t argument)
{
    (void)field, (void)argument;
    struct node *node = value;
    ndr_u16(ndr, "number", &node->number);
    ndr_unique(ndr, "left", &node->left, node_coder, 0);
    ndr_unique(ndr, "right", &node->right, node_coder, 0);
}

static void code_tree(struct ndr *ndr, void *value)
{
    node_coder(ndr, "tree", value, 0);
    ndr_flush(ndr);
}

/* Depth first: the whole left subtree before the right one; ids in the order of the pointers. */
static void pointees_depth_first(void **state)
{
    (void)state;
    static const char hex[] = "0100 0000 00000200 04000200" /* 1: left 2, right 3 */
                              "0200 0000 00000000 08000200" /* 2: right 4 */
                              "0400 0000 00000000 00000000"
                              "0300 0000 00000000 00000000";
    struct node four = {4, NULL, NULL}, three = {3, NULL, NULL}, two = {2, NULL, &four};
    struct node one = {1, &two, &three}, read = {0, NULL, NULL};
    struct arena arena = {0};
    assert_encodes(code_tree, &one, hex);
    decodes(code_tree, &read, hex, &arena);
    assert_int_equal(read.number, 1);
    assert_int_equal(read.left->number, 2);
    assert_null(read.left->left);
    assert_int_equal(read.left->right->number, 4);
    assert_int_equal(read.right->number, 3);
    arena_free(&arena);
}

/* A chain of 31 pointers is accepted, one of 40 is not. */
static void pointers_nested_too_deep(void **state)
{
    (void)state;
    struct node nodes[40];
    for (size_t i = 0; i < 40; i++)
        nodes[i] = (struct node){(uint16_t)i, i < 39 ? &nodes[i + 1] : NULL, NULL};
    assert_encoding_fails(code_tree, &nodes[0], "pointers nested too deep");
    struct ndr ndr, back;
    struct node read = {0, NULL, NULL};
    struct arena arena = {0};
    ndr_encode_start(&ndr);
    code_tree(&ndr, &nodes[9]);
    assert_false(ndr.failed);
    ndr_decode_start(&back, ndr.data, ndr.size, false, &arena);
    code_tree(&back, &read);
    assert_false(back.failed);
    ndr_end(&back);
    ndr_end(&ndr);
    uint8_t *endless = calloc(40, 12);
    assert_non_null(endless);
    for (size_t i = 0; i < 40; i++)
        endless[12 * i + 4] = 1;
    ndr_decode_start(&back, endless, 40 * 12, false, &arena);
    code_tree(&back, &read);
    assert_true(back.failed);
    assert_string_equal(back.error, "pointers nested too deep");
    ndr_end(&back);
    free(endless);
    arena_free(&arena);
}

static void code_ref(struct ndr *ndr, void *value)
{
    uint32_t **target = value;
    ndr_ref(ndr, "ref", target, ndr_u32_coder, 0);
    ndr_flush(ndr);
}

static void code_two_full(struct ndr *ndr, void *value)
{
    uint32_t **targets = value;
    for (int i = 0; i < 2; i++) {
        ndr_full(ndr, "full", &targets[i], ndr_u32_coder, 0);
        ndr_flush(ndr);
    }
}

static void code_many_full(struct ndr *ndr, void *value)
{
    uint32_t **target = value;
    for (int i = 0; i <= NDR_FULL_POINTERS_MAX; i++) {
        ndr_full(ndr, "full", target, ndr_u32_coder, 0);
        ndr_flush(ndr);
    }
}

static void reference_and_full_pointers(void **state)
{
    (void)state;
    uint32_t seven = 7, eight = 8;
    uint32_t *target = &seven, *none = NULL, *two[] = {&seven, &eight};
    struct arena arena = {0};
    assert_encodes(code_ref, &target, "00000200 07000000");
    assert_encoding_fails(code_ref, &none, "a null reference pointer");
    refuses(code_ref, &target, "00000000", "a null reference pointer");
    refuses(code_ref, &target, "00000200", too_early);
    assert_encodes(code_two_full, two, "01000000 07000000 02000000 08000000");
    decodes(code_two_full, two, "05000000 09000000 00000000", &arena);
    assert_int_equal(*two[0], 9);
    assert_null(two[1]);
    refuses(code_two_full, two, "01000000 07000000 01000000 08000000",
            "two full pointers to one value are not supported");
    target = &seven;
    assert_encoding_fails(code_many_full, &target, "too many full pointers");
    arena_free(&arena);
}

struct list {
    uint32_t count, most;
    uint16_t *numbers;
};

static void code_array(struct ndr *ndr, void *value)
{
    struct list *list = value;
    ndr_u32(ndr, "count", &list->count);
    ndr_unique_array(ndr, "numbers", &list->numbers, list->count, ndr_u16_coder);
    ndr_flush(ndr);
}

static void code_varying(struct ndr *ndr, void *value)
{
    struct list *list = value;
    ndr_u32(ndr, "count", &list->count);
    ndr_varying_array(ndr, "numbers", &list->numbers, &list->most, list->count, ndr_u16_coder);
}

static const char other_size[] = "array size differs from its count";
static const char too_many[] = "more elements than the message holds";

static void arrays(void **state)
{
    (void)state;
    uint16_t three[] = {1, 2, 3};
    struct list list = {.count = 3, .numbers = three}, read = {0};
    struct arena arena = {0};
    static const char hex[] = "03000000 00000200 03000000 0100 0200 0300";
    assert_encodes(code_array, &list, hex);
    decodes(code_array, &read, hex, &arena);
    assert_int_equal(read.count, 3);
    assert_memory_equal(read.numbers, three, sizeof three);
    decodes(code_array, &read, "00000000 00000000", &arena);
    assert_null(read.numbers);
    list.numbers = NULL;
    assert_encoding_fails(code_array, &list, "a null pointer to a counted array");
    refuses(code_array, &read, "03000000 00000000", "a null pointer to a counted array");
    refuses(code_array, &read, "03000000 00000200 02000000 0100 0200 0300", other_size);
    refuses(code_array, &read, "03000000 00000200 04000000 0100 0200 0300", other_size);
    refuses(code_array, &read, "03000000 00000200 03000000 0100", too_many);
    refuses(code_array, &read, "03000000 00000200 03000000 0100 0200", too_early);
    refuses(code_array, &read, "00000010 00000200 00000010 0100 0200", too_many);
    arena_free(&arena);
}

static void varying_arrays(void **state)
{
    (void)state;
    uint16_t two[] = {1, 2};
    struct list list = {.count = 2, .most = 4, .numbers = two}, read = {0};
    struct arena arena = {0};
    static const char hex[] = "02000000 04000000 00000000 02000000 0100 0200";
    assert_encodes(code_varying, &list, hex);
    decodes(code_varying, &read, hex, &arena);
    assert_int_equal(read.most, 4);
    assert_memory_equal(read.numbers, two, sizeof two);
    refuses(code_varying, &read, "02000000 04000000 01000000 02000000 0100 0200", other_size);
    refuses(code_varying, &read, "02000000 04000000 00000000 01000000 0100 0200", other_size);
    refuses(code_varying, &read, "02000000 01000000 00000000 02000000 0100 0200", other_size);
    arena_free(&arena);
}

/* A short message can decode to much memory; the arena's limit applies. */
static void memory_has_a_limit(void **state)
{
    (void)state;
    struct list read = {0};
    struct arena arena = {.limit = 4};
    decode_as(code_array, &read, "03000000 00000200 03000000 0100 0200 0300", false, &arena,
              "reply needs too much memory");
    arena_free(&arena);
    arena = (struct arena){.limit = 64};
    assert_non_null(arena_alloc(&arena, 64));
    assert_null(arena_alloc(&arena, 1));
    arena_free(&arena);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_non_null(arena_alloc(&arena, 40));
    arena_free(&arena);
}

static void code_wstring(struct ndr *ndr, void *value)
{
    ndr_wstring(ndr, "name", value);
}

static void code_unicode_string(struct ndr *ndr, void *value)
{
    ndr_unicode_string_coder(ndr, "name", value, 0);
    ndr_flush(ndr);
}

static const char long_string[] = "string longer than its buffer";

static void strings(void **state)
{
    (void)state;
    char text[] = "\xc3\xa4z", *name = text, *none = NULL;
    struct arena arena = {0};
    static const char hex[] = "03000000 00000000 03000000 e400 7a00 0000";
    assert_encodes(code_wstring, &name, hex);
    assert_encoding_fails(code_wstring, &none, "a null reference pointer");
    decodes(code_wstring, &name, hex, &arena);
    assert_string_equal(name, text);
    decode_as(code_wstring, &name, "00000003 00000000 00000003 00e4 007a 0000", true, &arena, NULL);
    assert_string_equal(name, text);
    refuses(code_wstring, &name, "03000000 01000000 03000000 e400 7a00 0000", long_string);
    refuses(code_wstring, &name, "02000000 00000000 03000000 e400 7a00 0000", long_string);
    refuses(code_wstring, &name, "00000000 00000000 00000000", "string without a terminating NUL");
    refuses(code_wstring, &name, "03000000 00000000 03000000 e400 7a00 0100", "unexpected value");
    refuses(code_wstring, &name, "03000000 00000000 03000000 e400 7a00", too_early);
    name = text;
    assert_encodes(code_unicode_string, &name,
                   "0400 0400 00000200 02000000 00000000 02000000 e400 7a00");
    assert_encodes(code_unicode_string, &none, "0000 0000 00000000");
    refuses(code_unicode_string, &name, "0400 0200 00000200 02000000 00000000 02000000 e4007a00",
            long_string);
    refuses(code_unicode_string, &name, "0300 0400 00000200 02000000 00000000 02000000 e4007a00",
            long_string);
    refuses(code_unicode_string, &name, "0400 0400 00000200 02000000 00000000 01000000 e4007a00",
            "string length differs from its count");
    arena_free(&arena);
}

static void code_sid(struct ndr *ndr, void *value)
{
    ndr_sid_coder(ndr, "sid", value, 0);
}

static void sids(void **state)
{
    (void)state;
    struct ndr_sid sid, read = {0};
    char text[NDR_SID_TEXT_SIZE];
    static const char hex[] = "02000000 01 02 000000000005 20000000 20020000";
    assert_int_equal(ndr_sid_parse("S-1-5-32-544", &sid), 0);
    assert_encodes(code_sid, &sid, hex);
    decodes(code_sid, &read, hex, NULL);
    ndr_sid_format(&read, text);
    assert_string_equal(text, "S-1-5-32-544");
    refuses(code_sid, &read, "01000000 01 02 000000000005 20000000 20020000", other_size);
    refuses(code_sid, &read, "10000000 01 10 000000000005 20000000 20020000",
            "more than 15 sub-authorities");
    assert_int_equal(ndr_sid_parse("S-1-", &sid), -EINVAL);
    assert_int_equal(ndr_sid_parse("S-2-5-32", &sid), -EINVAL);
    assert_int_equal(ndr_sid_parse("S-1-5-4294967296", &sid), -EINVAL);
    assert_int_equal(ndr_sid_parse("S-1-5-32x", &sid), -EINVAL);
    assert_int_equal(ndr_sid_parse("S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15", &sid), 0);
    assert_int_equal(ndr_sid_parse("S-1-5-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-16", &sid), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_both_orders),
        cmocka_unit_test(limits),
        cmocka_unit_test(errors_are_sticky),
        cmocka_unit_test(messages_end_at_4_mib),
        cmocka_unit_test(pointees_depth_first),
        cmocka_unit_test(pointers_nested_too_deep),
        cmocka_unit_test(reference_and_full_pointers),
        cmocka_unit_test(arrays),
        cmocka_unit_test(varying_arrays),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(strings),
        cmocka_unit_test(sids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
