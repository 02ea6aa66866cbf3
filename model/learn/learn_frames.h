/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to requests: what each frame holds goes to the file of its protocol, which knows what
 * a request is, which of them are further legs of one that was counted, and which details may be
 * kept.
 */
#ifndef MODEL_LEARN_LEARN_FRAMES_H
#define MODEL_LEARN_LEARN_FRAMES_H

#include "model/learn/learn_capture.h"
#include "model/learn/learn_line.h"

struct frames;

/* Fills capture, which has to outlive it. NULL without memory. */
struct frames *frames_make(struct learn_capture *capture);
void frames_free(struct frames *frames);

/* One frame. 0 or a negative errno with a line in the capture's error. */
int frames_take(struct frames *frames, const struct line *line);

#endif
