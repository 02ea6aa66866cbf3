/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what the capture has and the model does not, of the chosen servers' traffic, and what the
 * user can do about it. */
#ifndef MODEL_LEARN_LEARN_LEFT_OUT_H
#define MODEL_LEARN_LEARN_LEFT_OUT_H

#include "model/learn/learn_capture.h"
#include "model/model.h"

/* Prints messages: what was counted once or left out, and requests to other servers. */
void learn_left_out_print(const struct learn_capture *capture);

/* Prints warnings about the recording itself: time without frames, lost and cut frames. */
void learn_left_out_warn(const struct learn_capture *capture);

/* Warns when this number of packets is too little to learn from. */
void learn_left_out_warn_size(const struct learn_capture *capture, double packets);

/* Warns when traffic-replay can send none of the model's packets, or only with an option. */
void learn_left_out_warn_unplayed(const struct model *model);

#endif
