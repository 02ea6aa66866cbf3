/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: a server's security descriptors; an added entry must be found again. */
#include <stdlib.h>

#include "protocols/auth/security_descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sddl[] = "(A;;CCDC;;;AU)(A;CIIO;RPWPSDLCRC;;;CO)";
    uint8_t *once = NULL, *twice = NULL;
    size_t once_size = 0, twice_size = 0;
    bool changed = false;
    if (security_descriptor_add(data, size, sddl, SECURITY_DESCRIPTOR_DROP_INHERITED, &once,
                                &once_size, &changed) != 0)
        return 0;
    if (security_descriptor_add(once, once_size, sddl, SECURITY_DESCRIPTOR_KEEP_INHERITED, &twice,
                                &twice_size, &changed) != 0 ||
        changed || twice_size != once_size)
        abort();
    free(once);
    free(twice);
    return 0;
}
