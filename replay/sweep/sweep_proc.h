/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server on this machine, seen through /proc: which processes it consists of, and what they have
 * used. Its processes are those that listen on its address and port, their parents, the ancestors
 * that run the same program (a prefork server's master), and all descendants of these.
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
    uint64_t started; /* clock ticks since the boot: tells apart processes that share a number */
    double cpu;       /* seconds, with those of its children that have ended */
    bool ours;        /* the server's */
};

struct sweep_service {
    char name[SWEEP_SERVICE_SIZE]; /* "ldap" of ldap(0) and ldap[master] */
    unsigned count;
};

/* What all processes of the server have used. Times and bytes only grow. */
struct sweep_usage {
    double cpu;           /* seconds of processor time, user and system */
    double memory;        /* bytes in memory; what processes share counts for each of them */
    double read, written; /* bytes from and to storage; NaN: this user may not see them */
    unsigned processes;
    struct sweep_service services[SWEEP_SERVICES_MAX];
    size_t service_count;
};

struct sweep_proc {
    struct sockaddr_storage address;
    unsigned port;
    struct sweep_process *known; /* the server's of the last reading */
    size_t known_count;
    double cpu_lost, read_lost, written_lost; /* by processes whose parent did not wait for them */
    double cpu, read, written;                /* of the last reading */
};

/* Whether the address is one of this machine's. */
bool sweep_proc_is_local(const struct sockaddr_storage *address);

/* Looks for the server. 0; -ENOENT: nobody that this user may see listens there; -ENOMEM.
 * sweep_proc_clear() is due in any case. */
int sweep_proc_open(struct sweep_proc *proc, const struct sockaddr_storage *address, unsigned port);
void sweep_proc_clear(struct sweep_proc *proc);

/* Reads what its processes have used; new ones are found, and those whose parent went away are
 * kept. 0; -ESRCH: none is left; -ENOMEM. */
int sweep_proc_read(struct sweep_proc *proc, struct sweep_usage *usage);

#endif
