/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Security descriptors: entries added once and in order, descriptors without a DACL, the round trip
 * of a real one, truncation at every length, false counts and sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/auth/security_descriptor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/bytes.h"

enum { SD_MAX = 4096 };

/* Owner BA, group BA; a DACL that denies AU, allows SY, and has an inherited entry for BA. */
static const char sample[] = "01 00 04 84 14000000 24000000 00000000 34000000"
                             "01 02 000000000005 20000000 20020000"
                             "01 02 000000000005 20000000 20020000"
                             "02 00 4c00 0300 0000"
                             "01 00 1400 00010000 01 01 000000000005 0b000000"
                             "00 00 1400 ff010f00 01 01 000000000005 12000000"
                             "00 12 1c00 ff010f00 01 02 000000000005 20000000 20020000 00000000";

static const char ps_ace[] = "00 00 1400 20000000 01 01 000000000005 0a000000";

static uint8_t sd[SD_MAX];
static size_t sd_size;

static int load(void **state)
{
    (void)state;
    sd_size = bytes_from_hex(sample, sd);
    return 0;
}

static void check(const char *sddl, enum security_descriptor_inherited inherited,
                  const char *expected, bool expected_changed)
{
    uint8_t *out = NULL, wanted[SD_MAX];
    size_t size = 0, wanted_size = bytes_from_hex(expected, wanted);
    bool changed = !expected_changed;
    assert_int_equal(security_descriptor_add(sd, sd_size, sddl, inherited, &out, &size, &changed),
                     0);
    assert_int_equal(size, wanted_size);
    assert_memory_equal(out, wanted, size);
    assert_int_equal(changed, expected_changed);
    free(out);
}

/* After the explicit entries, before the inherited one; owner and group are not copied. */
static void an_entry_is_added_in_its_place(void **state)
{
    (void)state;
    check("(A;;WP;;;PS)", SECURITY_DESCRIPTOR_KEEP_INHERITED,
          "01 00 04 84 00000000 00000000 00000000 14000000"
          "02 00 6000 0400 0000"
          "01 00 1400 00010000 01 01 000000000005 0b000000"
          "00 00 1400 ff010f00 01 01 000000000005 12000000"
          "00 00 1400 20000000 01 01 000000000005 0a000000"
          "00 12 1c00 ff010f00 01 02 000000000005 20000000 20020000 00000000",
          true);
}

static void inherited_entries_are_dropped(void **state)
{
    (void)state;
    check("(A;;WP;;;PS)", SECURITY_DESCRIPTOR_DROP_INHERITED,
          "01 00 04 84 00000000 00000000 00000000 14000000"
          "02 00 4400 0300 0000"
          "01 00 1400 00010000 01 01 000000000005 0b000000"
          "00 00 1400 ff010f00 01 01 000000000005 12000000"
          "00 00 1400 20000000 01 01 000000000005 0a000000",
          true);
}

static void an_entry_is_added_once(void **state)
{
    (void)state;
    uint8_t *once = NULL, *twice = NULL;
    size_t once_size = 0, twice_size = 0;
    bool changed = false;
    const char *sddl = "(A;;CCDC;;;AU)(A;CIIO;RPWPSDLCRC;;;CO)";
    assert_int_equal(security_descriptor_add(sd, sd_size, sddl, SECURITY_DESCRIPTOR_KEEP_INHERITED,
                                             &once, &once_size, &changed),
                     0);
    assert_true(changed);
    assert_int_equal(security_descriptor_add(once, once_size, sddl,
                                             SECURITY_DESCRIPTOR_KEEP_INHERITED, &twice,
                                             &twice_size, &changed),
                     0);
    assert_false(changed);
    assert_int_equal(once_size, twice_size);
    assert_memory_equal(once, twice, once_size);
    free(once);
    free(twice);
}

static void a_missing_dacl_is_created(void **state)
{
    (void)state;
    static const char *const without[] = {"01 00 00 80 00000000 00000000 00000000 00000000",
                                          "01 00 04 80 00000000 00000000 00000000 00000000"};
    for (size_t i = 0; i < 2; i++) {
        char expected[512];
        sd_size = bytes_from_hex(without[i], sd);
        snprintf(expected, sizeof expected,
                 "01 00 04 80 00000000 00000000 00000000 14000000 02 00 1c00 0100 0000 %s", ps_ace);
        check("(A;;WP;;;PS)", SECURITY_DESCRIPTOR_KEEP_INHERITED, expected, true);
    }
}

/* The wire form of every word that SDDL may use here. */
static void sddl_words_have_their_wire_form(void **state)
{
    (void)state;
    static const struct {
        const char *sddl, *ace;
    } cases[] = {
        {"(A;;CCDC;;;AU)", "00 00 1400 03000000 01 01 000000000005 0b000000"},
        {"(A;CIIO;RPWPSDLCRC;;;CO)", "00 0a 1400 34000300 01 01 000000000003 00000000"},
        {"(A;OINP;SWDTLOCRWDWO;;;WD)", "00 05 1400 c8010c00 01 01 000000000001 00000000"},
        {"(A;ID;GAGXGWGR;;;SY)", "00 10 1400 000000f0 01 01 000000000005 12000000"},
        {"(A;;;;;BA)", "00 00 1800 00000000 01 02 000000000005 20000000 20020000"},
        {"(A;;RP;;;S-1-5-21-1-2-4294967295)",
         "00 00 2000 10000000 01 04 000000000005 15000000 01000000 02000000 ffffffff"},
        {"(A;;RP;;;S-1-281474976710655)", "00 00 1000 10000000 01 00 ffffffffffff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[512];
        uint8_t ace[128];
        size_t size = bytes_from_hex(cases[i].ace, ace);
        sd_size = bytes_from_hex("01 00 00 80 00000000 00000000 00000000 00000000", sd);
        /* An inherited entry is added at the end like any other. */
        snprintf(expected, sizeof expected,
                 "01 00 04 80 00000000 00000000 00000000 14000000 02 00 %02zx00 0100 0000 %s",
                 size + 8, cases[i].ace);
        check(cases[i].sddl, SECURITY_DESCRIPTOR_KEEP_INHERITED, expected, true);
    }
}

static void wrong_sddl_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x",
                                        "(",
                                        "(D;;WP;;;PS)",
                                        "(A;XX;WP;;;PS)",
                                        "(A;;W;;;PS)",
                                        "(A;;WP;;;",
                                        "(A;;WP;;;ZZ)",
                                        "(A;;WP;;;PS",
                                        "(A;;WP;;PS)",
                                        "(A;;WP;guid;;PS)",
                                        "(A;;WP;;;S-1-)",
                                        "(A;;WP;;;S-1-5-4294967296)",
                                        "(A;;WP;;;S-1-281474976710656)",
                                        "(A;;WP;;;S-1-5-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1)",
                                        "(A;;WP;;;PS)(A;;WP;;;AU)(A;;WP;;;CO)(A;;WP;;;WD)"
                                        "(A;;WP;;;SY)(A;;WP;;;BA)(A;;CC;;;PS)(A;;DC;;;PS)"
                                        "(A;;LC;;;PS)"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t *out = NULL;
        size_t size;
        bool changed;
        int result = security_descriptor_add(
            sd, sd_size, wrong[i], SECURITY_DESCRIPTOR_KEEP_INHERITED, &out, &size, &changed);
        if (result != -EINVAL)
            fail_msg("%s: %d", wrong[i], result);
        assert_null(out);
    }
}

static int add_to(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = bytes_exact(bytes, size), *out = NULL;
    size_t out_size;
    bool changed;
    int result = security_descriptor_add(
        copy, size, "(A;;WP;;;PS)", SECURITY_DESCRIPTOR_KEEP_INHERITED, &out, &out_size, &changed);
    free(out);
    free(copy);
    return result;
}

static void truncated_descriptors_are_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < sd_size; size++)
        if (add_to(sd, size) != -EBADMSG)
            fail_msg("a descriptor of %zu of %zu bytes was taken", size, sd_size);
    assert_int_equal(add_to(sd, sd_size), 0);
    /* Bytes after the DACL are ignored. */
    assert_int_equal(add_to(sd, sd_size + 4), 0);
}

static void wrong_sizes_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t value;
        const char *what;
    } lies[] = {
        {0, 2, "revision"},
        {3, 0x04, "not self-relative"},
        {16, 4, "DACL in the header"},
        {19, 0xff, "DACL beyond the end"},
        {52, 3, "ACL revision"},
        {54, 7, "ACL size below its header"},
        {55, 1, "ACL size beyond the end"},
        {56, 4, "one entry too many"},
        {62, 3, "entry smaller than its header"},
        {62, 0x15, "entry size not in words"},
        {63, 0xff, "entry size beyond the end"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t kept = sd[lies[i].offset];
        sd[lies[i].offset] = lies[i].value;
        if (add_to(sd, sd_size) != -EBADMSG)
            fail_msg("%s was taken", lies[i].what);
        sd[lies[i].offset] = kept;
    }
    assert_int_equal(add_to(sd, sd_size), 0);
}

/* The size of an ACL has 16 bits, so a full one cannot grow. */
static void a_full_acl_cannot_grow(void **state)
{
    (void)state;
    enum { COUNT = 65528 / 20 };
    size_t size = 20 + 8 + COUNT * 20;
    uint8_t *big = calloc(1, size);
    bytes_from_hex("01 00 04 80 00000000 00000000 00000000 14000000 02 00", big);
    big[22] = (uint8_t)(8 + COUNT * 20);
    big[23] = (uint8_t)((8 + COUNT * 20) >> 8);
    big[24] = (uint8_t)COUNT;
    big[25] = (uint8_t)(COUNT >> 8);
    for (size_t i = 0; i < COUNT; i++)
        bytes_from_hex("00 00 1400 10000000 01 01 000000000005 0b000000", big + 28 + 20 * i);
    assert_int_equal(add_to(big, size), -E2BIG);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_entry_is_added_in_its_place, load),
        cmocka_unit_test_setup(inherited_entries_are_dropped, load),
        cmocka_unit_test_setup(an_entry_is_added_once, load),
        cmocka_unit_test_setup(a_missing_dacl_is_created, load),
        cmocka_unit_test_setup(sddl_words_have_their_wire_form, load),
        cmocka_unit_test_setup(wrong_sddl_is_refused, load),
        cmocka_unit_test_setup(truncated_descriptors_are_refused, load),
        cmocka_unit_test_setup(wrong_sizes_are_refused, load),
        cmocka_unit_test_setup(a_full_acl_cannot_grow, load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
