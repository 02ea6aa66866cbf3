/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_interface.h"

const struct rpc_procedure *rpc_procedure_find(const struct rpc_interface *interface,
                                               uint16_t opnum)
{
    for (const struct rpc_procedure *p = interface->procedures; p->name; p++)
        if (p->opnum == opnum)
            return p;
    return NULL;
}
