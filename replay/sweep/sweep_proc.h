/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a server on this machine and the resources they use, from /proc. They are the
 * processes that listen on the server's address and port, their parents, the ancestors that run the
 * same program (such as the master of a prefork server), and all descendants of these.
 */
#ifndef REPLAY_SWEEP_SWEEP_PROC_H
#define REPLAY_SWEEP_SWEEP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { SWEEP_SERVICE_SIZE = 16, SWEEP_SERVICES_MAX = 64 };

struct sweep_process {
    pid_t pid, parent;
    uint64_t started; /* clock ticks since boot: distinguishes processes with the same pid */
    double cpu;       /* seconds, including its ended children */
    bool ours;        /* belongs to the server */
};

struct sweep_service {
    char name[SWEEP_SERVICE_SIZE]; /* "ldap" for ldap(0) and ldap[master] */
    unsigned count;
};

/* Resources used by all processes of the server. Times and bytes never decrease. */
struct sweep_usage {
    double cpu;           /* seconds of processor time, user and system */
    double memory;        /* resident bytes; shared memory counts for each process */
    double read, written; /* bytes from and to storage; NaN: not visible to this user */
    unsigned cores;       /* of the server's machine, which is this one */
    unsigned processes;
    struct sweep_service services[SWEEP_SERVICES_MAX];
    size_t service_count;
};

struct sweep_proc {
    struct sockaddr_storage address;
    unsigned port;
    struct sweep_process *known; /* the server's processes at the last reading */
    size_t known_count;
    double cpu_lost, read_lost,
        written_lost;          /* used by processes whose parent did not wait for them */
    double cpu, read, written; /* of the last reading */
};

/* Whether this machine has the address. */
bool sweep_proc_is_local(const struct sockaddr_storage *address);

/* Finds the server. 0; -ENOENT: no process that is visible to this user listens there; -ENOMEM. The
 * caller calls sweep_proc_clear() in any case. */
int sweep_proc_open(struct sweep_proc *proc, const struct sockaddr_storage *address, unsigned port);
void sweep_proc_clear(struct sweep_proc *proc);

/* Reads the usage. Finds new processes, and keeps those whose parent ended. 0; -ESRCH: all
 * processes have ended; -ENOMEM. */
int sweep_proc_read(struct sweep_proc *proc, struct sweep_usage *usage);

#endif
