/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a program: each one either lets the next step follow or ends the program.
 * A function that is such a step returns enum step and takes `int *status`, where it stores the
 * exit status when it returns STEP_DONE:
 *
 *     enum step step = read_sources(settings, &status);
 *     if (step == STEP_NEXT)
 *         step = check_settings(settings, &status);
 */
#ifndef BASE_STEP_H
#define BASE_STEP_H

enum step {
    STEP_NEXT, /* continue with the next step */
    STEP_DONE, /* stop here: --help is printed, or a failure is reported */
};

/* Stores an exit status and returns STEP_DONE: return step_done(status, EXIT_USAGE). */
static inline enum step step_done(int *status, int value)
{
    *status = value;
    return STEP_DONE;
}

#endif
