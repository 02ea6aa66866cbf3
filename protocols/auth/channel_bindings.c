/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/auth/channel_bindings.h"

#include <errno.h>
#include <nettle/md5.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/stream.h"

static const char type[] = "tls-server-end-point:";

int channel_bindings_of_stream(struct channel_bindings *out, struct stream *stream)
{
    const size_t type_size = sizeof type - 1;
    size_t size = sizeof out->data - type_size;
    out->size = 0;
    int error = stream_tls_end_point(stream, out->data + type_size, &size);
    if (error)
        return error == -ENOMEM ? error : 0;
    memcpy(out->data, type, type_size);
    out->size = type_size + size;
    return 0;
}

void channel_bindings_md5(const struct channel_bindings *bindings,
                          uint8_t md5[CHANNEL_BINDINGS_MD5_SIZE])
{
    /* Type and length of the two addresses, then the length of the application data. */
    uint8_t header[20] = {0};
    le_put32(header + 16, (uint32_t)bindings->size);
    struct md5_ctx context;
    md5_init(&context);
    md5_update(&context, sizeof header, header);
    md5_update(&context, bindings->size, bindings->data);
    md5_digest(&context, CHANNEL_BINDINGS_MD5_SIZE, md5);
}
