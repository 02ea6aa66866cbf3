/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: a server's CHALLENGE_MESSAGE. */
#include <stdlib.h>

#include "protocols/auth/ntlmssp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t hash[16];
    struct ntlmssp_identity identity = {.user = "user",
                                        .domain = "DOMAIN",
                                        .workstation = "PC",
                                        .nt_hash = hash,
                                        .target_name = "cifs/dc1"};
    struct ntlmssp *ntlmssp = NULL;
    if (ntlmssp_new(&ntlmssp, &identity, size % 2, size % 3 == 0) != 0)
        return 0;
    uint8_t *message = NULL;
    size_t message_size = 0;
    if (ntlmssp_authenticate(ntlmssp, data, size, &message, &message_size) == 0)
        free(message);
    ntlmssp_free(ntlmssp);
    return 0;
}
