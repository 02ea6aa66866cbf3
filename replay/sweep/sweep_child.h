/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of a sweep, and the signals that come meanwhile. Everything happens in one thread:
 * signals are read from a descriptor, so that waiting for a child, for its time limit, for the next
 * sample and for Ctrl-C is one poll().
 *
 * A child has a process group of its own, so that the terminal's Ctrl-C reaches the sweep alone: it
 * is the sweep that decides what ends. The second one ends the child at once.
 */
#ifndef REPLAY_SWEEP_SWEEP_CHILD_H
#define REPLAY_SWEEP_SWEEP_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct sweep_watch {
    int fd;
    unsigned interrupts; /* SIGINT, SIGTERM and SIGHUP so far */
    sigset_t before;
    /* Called after each of them; may be NULL. */
    void (*interrupted)(void *context, unsigned interrupts);
    /* Called about once a second, and whenever a child has ended; may be NULL. */
    void (*tick)(void *context);
    void *context;
};

/* Takes the signals; 0 or a negative errno. Zeroed but for the callbacks. */
int sweep_watch_open(struct sweep_watch *watch);
/* Gives them back. */
void sweep_watch_close(struct sweep_watch *watch);

struct sweep_child {
    char *const *argv;  /* argv[0] is looked for in PATH when it has no slash */
    int input;          /* descriptors; -1: /dev/null */
    int output, errors; /* -1: /dev/null */
    int kept;           /* a descriptor that it inherits by its number; -1: none */
    bool foreground;    /* it may ask the terminal, and gets its signals */
    bool dies_with_us;  /* it is killed when this process is */
    double limit;       /* seconds that it may take; 0: no limit */
};

/* Starts it; its pid or a negative errno. It is waited for with waitpid(). */
pid_t sweep_child_start(const struct sweep_watch *watch, const struct sweep_child *child);

/*
 * Starts it and waits for it. 0 and how it ended (as of waitpid()) in *status; -ETIMEDOUT: it took
 * too long and was killed with its process group; -EINTR: the second interrupt came, and it was
 * killed likewise; another negative errno: it could not be started.
 */
int sweep_child_run(struct sweep_watch *watch, const struct sweep_child *child, int *status);

/* Waits. 0, or -EINTR as soon as there was any interrupt. */
int sweep_watch_wait(struct sweep_watch *watch, double seconds);

#endif
