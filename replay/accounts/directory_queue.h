/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many writes to the directory: several connections work them off, with several requests in flight
 * on each. A request that the server cannot serve at present is repeated after a pause, and a lost
 * connection is replaced.
 */
#ifndef REPLAY_ACCOUNTS_DIRECTORY_QUEUE_H
#define REPLAY_ACCOUNTS_DIRECTORY_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"
#include "replay/accounts/directory.h"

/* Bounds of what is in flight: a server works on this many requests at most, whatever its speed. */
enum { DIRECTORY_QUEUE_CONNECTIONS = 8, DIRECTORY_QUEUE_IN_FLIGHT = 4 };

/* What finish() returns if the job needs another request: send() is called again. */
enum { DIRECTORY_QUEUE_MORE = INT32_MIN };

struct directory_queue {
    const struct dc *dc;
    /* Sends the request of job i, as directory_send() does. After a lost connection and after a
     * refusal that passes, it is called again for the same job. */
    int (*send)(void *context, struct directory *directory, uint64_t job, int *message);
    /* Gets the result of the request, and can send further requests and wait for them. Returns 0 if
     * the job is done, DIRECTORY_QUEUE_MORE, or why it failed, with a text in directory->error. */
    int (*finish)(void *context, struct directory *directory, uint64_t job, int result);
    void *context;
    struct progress *progress; /* a step per job; the caller starts and ends it */
    uint64_t next, end;        /* the jobs that have not begun: next..end-1 */

    /* Of the first failure, after which no job begins. */
    int result;         /* LDAP result code or negative errno */
    bool failed_job;    /* false: no connection */
    uint64_t job;       /* the one that failed */
    struct error error; /* what the server said */
    bool reported_pause;
};

/* Runs the jobs up to end. 0, or queue->result. */
int directory_queue_run(struct directory_queue *queue, uint64_t end);

#endif
