/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's requests as a recording (traffic-summary text), hosts numbered, legs counted once. */
#ifndef MODEL_LEARN_LEARN_RECORDING_H
#define MODEL_LEARN_LEARN_RECORDING_H

#include "model/learn/learn_walk.h"

/* Writes one line a packet, in the capture's order: the server is host 1, clients (or connections,
 * when those are the conversations) are numbered from 2 on as they appear. 0 or a negative errno.
 */
int learn_recording_write(struct learn_capture *capture, const struct learn_walk_settings *walk,
                          FILE *out);

#endif
