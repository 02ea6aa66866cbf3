/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the requests of a capture as a recording. */
#ifndef MODEL_LEARN_LEARN_RECORDING_H
#define MODEL_LEARN_LEARN_RECORDING_H

#include "model/learn/learn_walk.h"

/*
 * Writes one line per packet, in the order of the capture. Further legs of a bind or session set-up
 * are part of its packet. The server is host 1; clients, or connections if these are the
 * conversations, are numbered from 2 in the order of their first packets. 0 or a negative errno.
 */
int learn_recording_write(struct learn_capture *capture, const struct learn_walk_settings *walk,
                          FILE *out);

#endif
