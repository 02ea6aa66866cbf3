/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: replies of lsarpc. The first byte picks the call. */
#include "tests/lib/rpc_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return rpc_reply_fuzz(&rpc_lsarpc, data, size);
}
