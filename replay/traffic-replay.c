/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay(1): plays the traffic of many Active Directory clients against one server. */
#include <signal.h>

#include "replay/session.h"
#include "replay/settings.h"

int main(int argc, char **argv)
{
    struct settings settings;
    /* A peer or a reader that goes away is an error to be told, not a reason to die silently. */
    signal(SIGPIPE, SIG_IGN);
    int status = settings_read(&settings, argc, argv);
    if (status < 0)
        status = session_run(&settings);
    settings_clear(&settings);
    return status;
}
