/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes of a sweep, and signals. There is one thread. Signals are read from a descriptor,
 * so one poll() waits for a child, its time limit, the next sample and Ctrl-C.
 *
 * A child has a separate process group, so that Ctrl-C on the terminal reaches only the sweep,
 * which decides what to stop. The second Ctrl-C kills the child at once.
 */
#ifndef REPLAY_SWEEP_SWEEP_CHILD_H
#define REPLAY_SWEEP_SWEEP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct sweep_watch {
    int fd;
    unsigned interrupts; /* number of SIGINT, SIGTERM and SIGHUP so far */
    sigset_t before;
    /* Called after each of them; can be NULL. */
    void (*interrupted)(void *context, unsigned interrupts);
    /* Called about once per second, and when a child ends; can be NULL. */
    void (*tick)(void *context);
    void *context;
};

/* Blocks the signals and reads them from now on. The caller sets the callbacks and zeroes the rest.
 * 0 or a negative errno. */
int sweep_watch_open(struct sweep_watch *watch);
/* Restores the signal mask. */
void sweep_watch_close(struct sweep_watch *watch);

struct sweep_child {
    char *const *argv;  /* argv[0] without a slash is found in PATH */
    int input;          /* descriptors; -1: /dev/null */
    int output, errors; /* -1: /dev/null */
    int kept;           /* a descriptor to inherit with the same number; -1: none */
    bool foreground;    /* it can read the terminal, and gets its signals */
    bool dies_with_us;  /* it is killed when this process dies */
    double limit;       /* time limit in seconds; 0: none */
};

/* Starts a child; returns its pid or a negative errno. The caller calls waitpid(). */
pid_t sweep_child_start(const struct sweep_watch *watch, const struct sweep_child *child);

/*
 * Starts a child and waits for its end. Returns 0 with the status of waitpid() in *status;
 * -ETIMEDOUT when the time limit passed and its process group was killed; -EINTR when the second
 * interrupt came and it was killed; another negative errno when it cannot be started.
 */
int sweep_child_run(struct sweep_watch *watch, const struct sweep_child *child, int *status);

/* Waits for this time, in seconds. 0, or -EINTR as soon as there is an interrupt. */
int sweep_watch_wait(struct sweep_watch *watch, double seconds);

#endif
