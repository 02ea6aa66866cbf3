/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay from settings to exit status. */
#ifndef REPLAY_SESSION_SESSION_H
#define REPLAY_SESSION_SESSION_H

#include "replay/settings.h"

/* Does what the settings ask for and returns the exit status. Reports errors on standard error.
 * Takes the administrator's name and password out of settings. */
int session_run(struct settings *settings);

#endif
