/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a worker's thread. */
#ifndef REPLAY_WORKER_MAIN_H
#define REPLAY_WORKER_MAIN_H

/* The thread's function. argument is a struct worker with shared, number and tally set. Sets
 * worker->error. */
void *worker_main(void *argument);

#endif
