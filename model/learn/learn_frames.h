/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns frames into requests. The part of a frame that belongs to a protocol is given to that
 * protocol's file, which knows what a request is, which requests are further legs of an earlier
 * one, and which details may be kept.
 */
#ifndef MODEL_LEARN_LEARN_FRAMES_H
#define MODEL_LEARN_LEARN_FRAMES_H

#include "model/learn/learn_capture.h"
#include "model/learn/learn_line.h"

struct learn_frames;

/* Frames are added to capture, which must outlive the result. NULL: out of memory. */
struct learn_frames *learn_frames_new(struct learn_capture *capture);
void learn_frames_free(struct learn_frames *frames);

/* Adds a frame. 0, or a negative errno with a text in the capture's error. */
int learn_frames_take(struct learn_frames *frames, const struct learn_line *line);

#endif
