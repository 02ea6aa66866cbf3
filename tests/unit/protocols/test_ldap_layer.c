/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of an LDAP security layer (RFC 4422, 3.7): in any pieces, too large, forged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ldap/ldap_layer.h"

/* A layer without protection: frames contain plain bytes. */
static int clear_decode(struct ldap_layer *layer, uint8_t *frame, size_t size,
                        const uint8_t **plain, size_t *plain_size)
{
    (void)layer;
    *plain = frame + LDAP_FRAME_HEADER;
    *plain_size = size - LDAP_FRAME_HEADER;
    return 0;
}

static const struct ldap_layer_ops clear_ops = {.decode = clear_decode};

enum { FRAMES_PLAIN = 300 * 1000 };

/* Frames of growing size, some larger than any read. */
static size_t make_frames(const uint8_t *plain, size_t size, uint8_t *out)
{
    size_t total = 0, part = 1;
    for (size_t done = 0; done < size; done += part, part = part * 3 + 1) {
        if (part > size - done)
            part = size - done;
        for (int i = 0; i < LDAP_FRAME_HEADER; i++)
            out[total + (size_t)i] = (uint8_t)(part >> (24 - 8 * i));
        memcpy(out + total + LDAP_FRAME_HEADER, plain + done, part);
        total += part + LDAP_FRAME_HEADER;
    }
    return total;
}

static size_t take_all(struct ldap_input *input, uint8_t *out, size_t piece)
{
    size_t total = 0;
    ssize_t n;
    while ((n = ldap_input_take(input, out + total, piece)) > 0)
        total += (size_t)n;
    assert_int_equal(n, -EAGAIN);
    return total;
}

static void check_frames(const uint8_t *frames, size_t size, const uint8_t *plain, size_t read_size,
                         size_t piece)
{
    struct ldap_layer layer = {.ops = &clear_ops};
    struct ldap_input input = {.layer = &layer};
    uint8_t *buffer = malloc(read_size), *out = malloc(FRAMES_PLAIN);
    size_t total = 0;
    for (size_t done = 0; done < size;) {
        size_t part = size - done < read_size ? size - done : read_size;
        memcpy(buffer, frames + done, part);
        ldap_input_feed(&input, buffer, part);
        done += part;
        /* Taken in two steps, like a reader that returns later. */
        ssize_t n = ldap_input_take(&input, out + total, 1);
        total += n > 0 ? 1 : 0;
        assert_int_equal(ldap_input_save(&input), 0);
        memset(buffer, 0xee, read_size);
        total += take_all(&input, out + total, piece);
        assert_int_equal(ldap_input_save(&input), 0);
        /* An idle connection holds at most an incomplete frame. */
        assert_null(input.saved);
        assert_null(input.frame);
    }
    assert_int_equal(total, FRAMES_PLAIN);
    assert_memory_equal(out, plain, FRAMES_PLAIN);
    assert_null(input.partial);
    ldap_input_clear(&input);
    free(buffer);
    free(out);
}

static void frames_may_come_in_any_pieces(void **state)
{
    (void)state;
    uint8_t *plain = malloc(FRAMES_PLAIN), *frames = malloc(FRAMES_PLAIN + 1000);
    for (size_t i = 0; i < FRAMES_PLAIN; i++)
        plain[i] = (uint8_t)(i * 31 >> 3);
    size_t size = make_frames(plain, FRAMES_PLAIN, frames);
    static const size_t reads[] = {1, 3, 4, 5, 17, 60, 4096, 65536, 1000000};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        check_frames(frames, size, plain, reads[i], 4096);
        check_frames(frames, size, plain, reads[i], 7);
    }
    free(plain);
    free(frames);
}

static void oversize_frames_are_refused(void **state)
{
    (void)state;
    struct ldap_layer layer = {.ops = &clear_ops};
    for (int whole = 0; whole < 2; whole++) {
        struct ldap_input input = {.layer = &layer};
        uint8_t header[8] = {0x01, 0x00, 0x00, 0x00}, out[8];
        ldap_input_feed(&input, header, whole ? sizeof header : 3);
        if (!whole) {
            assert_int_equal(ldap_input_take(&input, out, sizeof out), -EAGAIN);
            ldap_input_feed(&input, header + 3, 1);
        }
        assert_int_equal(ldap_input_take(&input, out, sizeof out), -EMSGSIZE);
        assert_int_equal(ldap_input_take(&input, out, sizeof out),
                         -EMSGSIZE); /* a lasting failure */
        ldap_input_clear(&input);
    }
}

static void forged_frames_are_refused(void **state)
{
    (void)state;
    for (size_t size = 0; size < 40; size++) {
        struct ntlmssp *ntlmssp = NULL;
        struct ntlmssp_identity identity = {
            .user = "u", .domain = "d", .nt_hash = (const uint8_t *)"0123456789abcdef"};
        assert_int_equal(ntlmssp_new(&ntlmssp, &identity, true, true), 0);
        struct ldap_input input = {.layer = ldap_layer_ntlmssp(ntlmssp)};
        uint8_t frame[44] = {0, 0, 0, (uint8_t)size, 1}, out[44];
        ldap_input_feed(&input, frame, size + LDAP_FRAME_HEADER);
        assert_int_equal(ldap_input_take(&input, out, sizeof out), -EBADMSG);
        ldap_layer_free(input.layer);
        input.layer = NULL;
        ldap_input_clear(&input);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_may_come_in_any_pieces),
        cmocka_unit_test(oversize_frames_are_refused),
        cmocka_unit_test(forged_frames_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
