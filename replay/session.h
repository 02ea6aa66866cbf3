/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From settings to exit status: what traffic-replay does in the one case that it was called for.
 * The steps of a run stand in session.c in the order in which they happen.
 */
#ifndef REPLAY_SESSION_H
#define REPLAY_SESSION_H

#include "replay/settings.h"

/* Does what the settings ask for and returns the exit status. Mistakes and failures have been told
 * on standard error. Takes the admin's name and password out of settings. */
int session_run(struct settings *settings);

#endif
