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

struct learn_frames;

/* Fills capture, which has to outlive it. NULL without memory. */
struct learn_frames *learn_frames_new(struct learn_capture *capture);
void learn_frames_free(struct learn_frames *frames);

/* One frame. 0 or a negative errno with a line in the capture's error. */
int learn_frames_take(struct learn_frames *frames, const struct learn_line *line);

#endif
