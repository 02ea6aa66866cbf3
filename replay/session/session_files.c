/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a share in which a loadfile is played. The first test user creates and removes
 * it. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/message.h"
#include "protocols/nbench/nbench.h"
#include "replay/accounts/directory.h"
#include "replay/session/session_private.h"

static void name_folder(struct session *session);
static void begin_as_user(const struct session *session, struct directory *directory);
static int remove_folder(struct session *session);

/* Trees may be large. */
static const int64_t folder_timeout = 600LL * 1000000000;

enum step session_create_folder(struct session *session)
{
    struct directory directory;
    const struct script *script = model_script(session->model);
    if (!script)
        return STEP_NEXT;
    name_folder(session);
    int error = nbench_new(script, session->folder, plan_figures(session->plan)->clients,
                           &session->nbench, &session->error);
    if (error)
        return session_end_error(session, error);
    session->dc->nbench = session->nbench;
    begin_as_user(session, &directory);
    error = nbench_create_folder(&directory.conversation, session->folder, &session->error);
    directory_close(&directory);
    session->folder_created = error == 0;
    return error ? session_end_error(session, error) : STEP_NEXT;
}

static void name_folder(struct session *session)
{
    const struct settings *settings = session->settings;
    if (settings->smb_folder)
        snprintf(session->folder, sizeof session->folder, "%s", settings->smb_folder);
    else
        snprintf(session->folder, sizeof session->folder, "traffic-replay-%d",
                 settings->instance_id);
}

static void begin_as_user(const struct session *session, struct directory *directory)
{
    directory_prepare(directory, session->dc, wire_blocking_waiter());
    directory->conversation.user = &session->dc->users[0];
    directory->conversation.wire.deadline = clock_now() + folder_timeout;
}

/* As nbench_remove_folder(). A server takes a moment to notice that clients are gone. */
static int remove_folder(struct session *session)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    enum { TRIES = 50 };
    struct directory directory;
    int result = -EBUSY;
    for (int i = 0; result == -EBUSY && i < TRIES; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        begin_as_user(session, &directory);
        result = nbench_remove_folder(&directory.conversation, session->folder, &session->error);
        directory_close(&directory);
    }
    return result;
}

void session_remove_folder(struct session *session)
{
    if (!session->folder_created)
        return;
    if (session->settings->keep_files) {
        message_print("the files remain in folder %s of the share", session->folder);
        return;
    }
    int error = remove_folder(session);
    if (error < 0)
        session_end(session, session->status == EXIT_OK ? EXIT_FAILED : session->status,
                    "%s; the folder remains, remove it with -c", session->error.text);
}

enum step session_clean_share(struct session *session)
{
    name_folder(session);
    int removed = remove_folder(session);
    if (removed < 0)
        return session_end_error(session, removed);
    message_print(removed ? "removed folder %s and everything in it"
                          : "there is nothing to remove: the share has no folder %s",
                  session->folder);
    return STEP_NEXT;
}
