/* SPDX-License-Identifier: Apache-2.0 */
#include "model/chain.h"

#include <stdio.h>

#include "model/model_private.h"

const char *chain_entry_name(const struct model *model, uint32_t entry, char *buffer, size_t size)
{
    if (entry == CHAIN_NONE)
        snprintf(buffer, size, "-");
    else if (chain_is_wait(entry))
        snprintf(buffer, size, "wait:%u", entry - CHAIN_WAIT);
    else
        snprintf(buffer, size, "%s:%s", model->types[entry].protocol, model->types[entry].opcode);
    return buffer;
}
