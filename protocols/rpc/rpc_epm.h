/* SPDX-License-Identifier: Apache-2.0 */
/* epm: the endpoint mapper (C706 appendix O, MS-RPCE 2.2.1.2). It maps interfaces to TCP ports. */
#ifndef PROTOCOLS_RPC_RPC_EPM_H
#define PROTOCOLS_RPC_RPC_EPM_H

#include "protocols/rpc/rpc_interface.h"

enum { EPM_MAP = 3 };
enum { EPM_TOWERS_MAX = 16, EPM_TOWER_SIZE_MAX = 2048 };

struct epm_tower {
    uint32_t size;
    uint8_t *bytes;
};

struct epm_Map_request {
    struct ndr_guid *object;
    struct epm_tower *tower;
    struct ndr_policy_handle handle;
    uint32_t max_towers; /* at most EPM_TOWERS_MAX */
};
struct epm_Map_reply {
    struct ndr_policy_handle handle;
    uint32_t count, max_towers;
    struct epm_tower **towers;
    uint32_t status;
};

/* The protocol tower of an interface over ncacn_ip_tcp; its bytes live in arena. 0, -ENOMEM
 * or -EINVAL (the interface's uuid). */
int epm_tower_build(const struct rpc_interface *interface, struct arena *arena,
                    struct epm_tower *tower);

/* The TCP port in a tower; 0: it has none or is malformed. */
uint16_t epm_tower_port(const struct epm_tower *tower);

/* The ports that the endpoint mapper has reported: one cache per run. All threads share it without
 * a lock. */
struct rpc_ports;

/* NULL: out of memory. */
struct rpc_ports *rpc_ports_new(void);
void rpc_ports_free(struct rpc_ports *ports);

/* The cached port of an interface; 0: unknown. ports may be NULL. */
uint16_t rpc_ports_known(const struct rpc_ports *ports, const struct rpc_interface *interface);
/* Caches a port; 0: forgets it. ports may be NULL. */
void rpc_ports_remember(struct rpc_ports *ports, const struct rpc_interface *interface,
                        uint16_t port);

#endif
