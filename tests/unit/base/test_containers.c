/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, heaps, arenas and numbered strings of base/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/heap.h"
#include "base/intern.h"
#include "tests/lib/test_random.h"

static void an_array_keeps_its_elements_while_it_grows(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    uint32_t *numbers = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *grown = array_grow(numbers, i, sizeof *numbers);
        assert_non_null(grown);
        numbers = grown;
        numbers[i] = i * i;
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], i * i);
    free(numbers);
}

static void an_array_too_large_for_memory_is_refused(void **state)
{
    (void)state;
    uint64_t *numbers = array_grow(NULL, 0, sizeof *numbers);
    assert_non_null(numbers);
    assert_null(array_grow(numbers, SIZE_MAX / 2 + 1, sizeof *numbers));
    assert_null(array_grow(numbers, (size_t)1 << 62, sizeof *numbers));
    free(numbers);
}

static bool is_smaller(const void *left, const void *right)
{
    int64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b;
}

static void a_heap_gives_its_elements_in_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    int64_t items[COUNT];
    struct heap heap = {.items = items, .size = sizeof items[0], .before = is_smaller};
    uint64_t seed = 1;
    for (int i = 0; i < COUNT; i++) {
        test_random(&seed);
        int64_t value = (int64_t)(seed >> 40) % 300;
        heap_push(&heap, &value);
    }
    int64_t last = INT64_MIN, value;
    for (int i = 0; i < COUNT; i++) {
        heap_pop(&heap, &value);
        assert_true(value >= last);
        last = value;
    }
    assert_int_equal(heap.count, 0);
}

static void a_heap_moves_its_first_element_after_a_change(void **state)
{
    (void)state;
    int64_t items[5], first;
    struct heap heap = {.items = items, .size = sizeof items[0], .before = is_smaller};
    for (int64_t i = 1; i <= 5; i++)
        heap_push(&heap, &i);
    items[0] = 4;
    heap_first_changed(&heap);
    const int64_t expected[] = {2, 3, 4, 4, 5};
    for (int i = 0; i < 5; i++) {
        heap_pop(&heap, &first);
        assert_int_equal(first, expected[i]);
    }
}

static void an_arena_hands_out_zeroed_separate_aligned_memory(void **state)
{
    (void)state;
    struct arena arena = {0};
    unsigned char *last = NULL;
    for (size_t size = 1; size < 5000; size += 7) {
        unsigned char *memory = arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
        assert_ptr_not_equal(memory, last);
        last = memory;
    }
    assert_non_null(arena_alloc(&arena, 3 << 20));
    assert_string_equal(arena_string(&arena, "domain controller", 6), "domain");
    assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
    arena_free(&arena);
    assert_int_equal(arena.total, 0);
}

static void an_arena_keeps_its_limit(void **state)
{
    (void)state;
    struct arena arena = {.limit = 100};
    assert_non_null(arena_alloc(&arena, 60));
    assert_null(arena_alloc(&arena, 41));
    assert_non_null(arena_alloc(&arena, 40));
    assert_null(arena_alloc(&arena, 1));
    arena_free(&arena);
    assert_non_null(arena_alloc(&arena, 100));
    arena_free(&arena);
}

static void strings_are_numbered_in_order(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct intern intern = {0};
    uint32_t number;
    bool added;
    assert_int_equal(intern_find(&intern, "", 0), UINT32_MAX);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        uint32_t value = i % COUNT;
        assert_int_equal(intern_add(&intern, &value, sizeof value, &number, &added), 0);
        assert_int_equal(number, value);
        assert_int_equal(added, i < COUNT);
    }
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        assert_int_equal(intern_find(&intern, &i, sizeof i), i < COUNT ? i : UINT32_MAX);
    assert_int_equal(intern_add(&intern, "", 0, &number, NULL), 0);
    assert_int_equal(number, COUNT);
    assert_string_equal(intern.entries[COUNT].bytes, "");
    intern_clear(&intern);
    assert_int_equal(intern.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_keeps_its_elements_while_it_grows),
        cmocka_unit_test(an_array_too_large_for_memory_is_refused),
        cmocka_unit_test(a_heap_gives_its_elements_in_order),
        cmocka_unit_test(a_heap_moves_its_first_element_after_a_change),
        cmocka_unit_test(an_arena_hands_out_zeroed_separate_aligned_memory),
        cmocka_unit_test(an_arena_keeps_its_limit),
        cmocka_unit_test(strings_are_numbered_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
