/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: the decoders of SMB2 replies; the first byte selects one. */
#include <stdlib.h>

#include "protocols/smb2/smb2_file.h"
#include "protocols/smb2/smb2_negotiate.h"
#include "protocols/smb2/smb2_session.h"
#include "protocols/smb2/smb2_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decoded data must be inside the reply. */
static void check(const struct smb2_reply *reply, struct smb2_slice slice)
{
    if (slice.size && (slice.data < reply->message || slice.size > reply->size ||
                       slice.data > reply->message + reply->size - slice.size))
        abort();
}

static void negotiate(const struct smb2_reply *reply)
{
    struct smb2_negotiated negotiated;
    if (smb2_negotiate_decode(reply, &negotiated) == 0)
        check(reply, negotiated.token);
}

static void session_setup(const struct smb2_reply *reply)
{
    struct smb2_setup setup;
    if (smb2_session_setup_decode(reply, &setup) == 0)
        check(reply, setup.token);
}

static void tree_connect(const struct smb2_reply *reply)
{
    struct smb2_tree_connected connected;
    (void)smb2_tree_connect_decode(reply, &connected);
}

static void create(const struct smb2_reply *reply)
{
    struct smb2_created created;
    (void)smb2_create_decode(reply, &created);
}

static void read_data(const struct smb2_reply *reply)
{
    struct smb2_slice slice;
    if (smb2_read_decode(reply, &slice) == 0)
        check(reply, slice);
}

static void write_count(const struct smb2_reply *reply)
{
    uint32_t written;
    (void)smb2_write_decode(reply, &written);
}

static void ioctl_data(const struct smb2_reply *reply)
{
    struct smb2_slice slice;
    unsigned count;
    if (smb2_ioctl_decode(reply, &slice) != 0)
        return;
    check(reply, slice);
    (void)smb2_dfs_referrals_decode(slice.data, slice.size, &count);
}

static void query(const struct smb2_reply *reply)
{
    struct smb2_slice slice;
    struct smb2_entry entry;
    size_t at = 0;
    if (smb2_query_decode(reply, &slice) != 0)
        return;
    check(reply, slice);
    while (smb2_entry_next(slice.data, slice.size, &at, &entry) == 1)
        check(reply, entry.name);
}

static void header(const struct smb2_reply *reply)
{
    struct smb2_header decoded;
    (void)smb2_header_decode(reply, &decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const decoders[])(const struct smb2_reply *) = {
        negotiate,   session_setup, tree_connect, create, read_data,
        write_count, ioctl_data,    query,        header};
    if (size < 1)
        return 0;
    /* A copy, so that a sanitizer detects reads beyond its end. */
    uint8_t *copy = malloc(size);
    if (!copy)
        return 0;
    for (size_t i = 1; i < size; i++)
        copy[i - 1] = data[i];
    struct smb2_reply reply = {.message = copy, .size = size - 1};
    uint8_t *exact = realloc(copy, size > 1 ? size - 1 : 1);
    reply.message = exact ? exact : copy;
    decoders[data[0] % (sizeof decoders / sizeof decoders[0])](&reply);
    free((uint8_t *)(uintptr_t)reply.message);
    return 0;
}
