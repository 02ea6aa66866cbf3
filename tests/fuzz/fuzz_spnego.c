/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: a server's SPNEGO tokens; decoded tokens must survive a round trip. */
#include <stdlib.h>

#include "protocols/auth/spnego.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spnego_response response, again;
    if (spnego_parse_response(data, size, &response) != 0)
        return 0;
    uint8_t *out = NULL;
    size_t out_size = 0;
    if (spnego_build_response(&response, &out, &out_size) != 0)
        return 0;
    if (spnego_parse_response(out, out_size, &again) != 0 || again.state != response.state ||
        again.mech != response.mech || again.token.size != response.token.size)
        abort();
    free(out);
    return 0;
}
