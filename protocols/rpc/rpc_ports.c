/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/rpc_ports.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* Interfaces that have a TCP port of their own. */
static const struct rpc_interface *const mapped[] = {&rpc_lsarpc, &rpc_samr, &rpc_drsuapi,
                                                     &rpc_netlogon, &rpc_srvsvc};
enum { MAPPED_COUNT = sizeof mapped / sizeof mapped[0] };

struct rpc_ports {
    _Atomic uint16_t ports[MAPPED_COUNT];
};

static size_t ports_place_of(const struct rpc_interface *interface);

struct rpc_ports *rpc_ports_new(void)
{
    return calloc(1, sizeof(struct rpc_ports));
}

void rpc_ports_free(struct rpc_ports *ports)
{
    free(ports);
}

uint16_t rpc_ports_known(const struct rpc_ports *ports, const struct rpc_interface *interface)
{
    size_t i = ports_place_of(interface);
    if (!ports || i == MAPPED_COUNT)
        return 0;
    return atomic_load_explicit(&((struct rpc_ports *)(uintptr_t)ports)->ports[i],
                                memory_order_relaxed);
}

static size_t ports_place_of(const struct rpc_interface *interface)
{
    size_t i = 0;
    while (i < MAPPED_COUNT && mapped[i] != interface)
        i++;
    return i;
}

void rpc_ports_remember(struct rpc_ports *ports, const struct rpc_interface *interface,
                        uint16_t port)
{
    size_t i = ports_place_of(interface);
    if (ports && i < MAPPED_COUNT)
        atomic_store_explicit(&ports->ports[i], port, memory_order_relaxed);
}
