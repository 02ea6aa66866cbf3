/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the steps of a script are due. Each client plays the whole script, again and again.
 *
 * by the reply   closed loop: a step is due when the one before has ended
 * by time        open loop: at the times of the file, divided by the replay rate
 * by bytes       open loop: when the bytes of the steps before have had their time at a given rate
 */
#ifndef MODEL_LOADFILE_SCRIPT_PLAN_H
#define MODEL_LOADFILE_SCRIPT_PLAN_H

#include "packets/script.h"

enum script_pace { SCRIPT_PACE_REPLY, SCRIPT_PACE_TIMES, SCRIPT_PACE_BYTES };

enum { SCRIPT_DEPTH_MAX = 8 }; /* loops inside each other */

/* Owns only `plays`. */
struct script_plan {
    const struct script *script;
    bool plays[SCRIPT_OPS]; /* by operation: it is part of the run */
    bool *loop_plays;       /* by loop: something in it is */
    enum script_pace pace;
    double replay_rate;
    double bytes_per_second; /* SCRIPT_PACE_BYTES */
    uint64_t passes;         /* of each client; 0: until the end */
    double end;              /* seconds; nothing is due from then on */
};

/* The position of a client. */
struct script_cursor {
    uint32_t next; /* step */
    uint32_t loops[SCRIPT_DEPTH_MAX];
    uint64_t passes; /* that are over */
    double base;     /* seconds: pauses and passes before, or the due time by bytes */
    int64_t pause;   /* ns before the next step, by the reply */
};

/* The next step that is played. */
struct script_due {
    uint32_t step;
    bool after_reply; /* due is ns after the client's previous step has ended; else since the start
                       */
    int64_t due;
};

/* Completes a plan in which all but loop_plays is set. 0 or -ENOMEM. */
int script_plan_init(struct script_plan *plan);
void script_plan_clear(struct script_plan *plan);

void script_plan_start(struct script_cursor *cursor);
/* false: the client has played all of its passes, or the next step is due after the end. */
bool script_plan_next(const struct script_plan *plan, struct script_cursor *cursor,
                      struct script_due *due);

/* Seconds of one pass by times or bytes at the plan's rate; 0 by the reply. */
double script_plan_pass_seconds(const struct script_plan *plan);

#endif
