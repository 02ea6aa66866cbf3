/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: frames of a security layer, read and taken in pieces of any size, which the
 * first two bytes choose. The result must not depend on the pieces.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/ldap/ldap_layer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Drops the header; a frame that begins with 0xff counts as forged. */
static int decode(struct ldap_layer *layer, uint8_t *frame, size_t size, const uint8_t **plain,
                  size_t *plain_size)
{
    (void)layer;
    *plain = frame + LDAP_FRAME_HEADER;
    *plain_size = size - LDAP_FRAME_HEADER;
    return *plain_size && **plain == 0xff ? -EBADMSG : 0;
}

static const struct ldap_layer_ops ops = {.decode = decode};

static size_t read_all(const uint8_t *data, size_t size, size_t read_size, size_t take_size,
                       uint8_t *out, int *error)
{
    struct ldap_layer layer = {.ops = &ops};
    struct ldap_input input = {.layer = &layer};
    uint8_t buffer[256], piece[256];
    size_t total = 0;
    *error = 0;
    for (size_t done = 0; done < size && !*error;) {
        size_t part = size - done < read_size ? size - done : read_size;
        memcpy(buffer, data + done, part);
        ldap_input_feed(&input, buffer, part);
        done += part;
        ssize_t n;
        while ((n = ldap_input_take(&input, piece, take_size)) >= 0) {
            memcpy(out + total, piece, (size_t)n);
            total += (size_t)n;
            if (ldap_input_save(&input) != 0)
                abort();
            memset(buffer, 0xee, sizeof buffer); /* the caller may reuse it now */
        }
        if (n != -EAGAIN)
            *error = (int)n;
        else if (ldap_input_pending(&input))
            abort();
    }
    ldap_input_clear(&input);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 4096)
        return 0;
    static uint8_t whole[4096], pieces[4096];
    int whole_error, pieces_error;
    size_t n = read_all(data + 2, size - 2, 1, 256, whole, &whole_error);
    size_t m = read_all(data + 2, size - 2, 1 + (size_t)data[0], 1 + (size_t)data[1], pieces,
                        &pieces_error);
    if (n != m || whole_error != pieces_error || memcmp(whole, pieces, n) != 0)
        abort();
    /* The real layer without keys: nothing verifies, and nothing crashes. */
    struct ntlmssp *ntlmssp = NULL;
    struct ntlmssp_identity identity = {
        .user = "u", .domain = "d", .nt_hash = (const uint8_t *)"0123456789abcdef"};
    if (ntlmssp_new(&ntlmssp, &identity, true, true) != 0)
        return 0;
    struct ldap_input input = {.layer = ldap_layer_ntlmssp(ntlmssp)};
    uint8_t *copy = malloc(size);
    if (copy && input.layer) {
        memcpy(copy, data, size);
        ldap_input_feed(&input, copy, size);
        while (ldap_input_take(&input, pieces, sizeof pieces) >= 0)
            ;
    }
    ldap_layer_free(input.layer);
    input.layer = NULL;
    ldap_input_clear(&input);
    free(copy);
    return 0;
}
