/* SPDX-License-Identifier: Apache-2.0 */
/* What a run does with each packet type of the model. */
#ifndef REPLAY_RUN_PART_H
#define REPLAY_RUN_PART_H

#include <stdbool.h>

#include "model/model.h"
#include "replay/settings.h"

enum run_part {
    RUN_OPERATION, /* sends it: an operation of the plan */
    RUN_STATE,     /* plays it without sending anything that is counted: a hint, an unbind */
    RUN_SILENT,    /* plays nothing: the packet is a server's reply, or part of another packet */
    RUN_LEFT_OUT,  /* plays nothing, because of --only or --skip */
    RUN_NO_PLAYER  /* plays nothing: no player, or an option is missing; the user is informed */
};

enum run_part run_part(const struct settings *settings, const struct model_type *type);

/* Whether the part is RUN_OPERATION. For plan_settings.is_operation; context is the struct
 * settings. */
bool run_part_is_operation(const struct model_type *type, void *context);

#endif
