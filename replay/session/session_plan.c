/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that need no server: model and plan, and what is done with them without a network. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/program.h"
#include "model/model_load.h"
#include "protocols/packet.h"
#include "replay/run_part.h"
#include "replay/session/dry_run.h"
#include "replay/session/session_private.h"

static enum step end_unless_memory(struct session *session, int code);
static void print_model_warning(void *context, const char *line);
static enum step set_window(struct session *session);
static enum step check_server_kind(struct session *session);
static enum step set_script_window(struct session *session);
static enum step check_loadfile_options(struct session *session);
static enum step check_protocols(struct session *session, const char *option,
                                 const struct settings_packet *packets, size_t count);
static enum step finish_output(struct session *session, FILE *out, const char *name, int error);
static void report_no_player(const struct session *session, const struct model_type *type);

enum step session_load_model(struct session *session)
{
    int error = model_load(session->settings->model, &session->model, &session->error,
                           print_model_warning, NULL);
    return error ? end_unless_memory(session, error) : set_window(session);
}

/* A model that cannot be read is a usage error, whatever the code. */
static enum step end_unless_memory(struct session *session, int code)
{
    return session_end_error(session, code == -ENOMEM ? code : -EINVAL);
}

static void print_model_warning(void *context, const char *line)
{
    (void)context;
    message_print("%s", line);
}

/* A recording is played from start to end, unless -D or --warmup say otherwise. */
static enum step set_window(struct session *session)
{
    struct settings *settings = session->settings;
    if (model_script(session->model))
        return set_script_window(session);
    double seconds = model_recording_seconds(session->model, settings->replay_rate);
    if (!model_is_recording(session->model))
        return STEP_NEXT;
    if (!settings->warmup_given)
        settings->warmup = 0;
    if (settings->warmup >= seconds)
        return session_end(
            session, EXIT_USAGE,
            "--warmup: %s is over after %.3f s at -r %g; give less, so that something is "
            "left to measure",
            model_name(session->model), seconds, settings->replay_rate);
    if (!settings->duration_given)
        settings->duration = seconds - settings->warmup;
    if (settings->warmup + settings->duration > seconds + 0.5)
        message_print(
            "%s is over after %.3f s at -r %g; nothing is due in the last %.3f s of the window",
            model_name(session->model), seconds, settings->replay_rate,
            settings->warmup + settings->duration - seconds);
    return STEP_NEXT;
}

/* A run of whole passes has no warm-up, and ends with the last of them. */
static enum step set_script_window(struct session *session)
{
    enum { LONGEST = 3600 };
    struct settings *settings = session->settings;
    if (settings->traffic_summary)
        return session_end(session, EXIT_USAGE, "--traffic-summary: %s is a loadfile",
                           model_name(session->model));
    if (!settings->play.smb_share && !settings->dry_run)
        return session_end(session, EXIT_USAGE,
                           "%s is a loadfile: missing share; give --smb-share SHARE",
                           model_name(session->model));
    if (settings->passes > 0 && !settings->warmup_given)
        settings->warmup = 0;
    if (settings->passes > 0 && !settings->duration_given)
        settings->duration = LONGEST;
    return STEP_NEXT;
}

/* Options that only loadfiles have must not be ignored. */
static enum step check_loadfile_options(struct session *session)
{
    static const char *const names[] = {"pace", "passes", "smb-folder", "keep-files"};
    for (size_t i = 0; !model_script(session->model) && i < sizeof names / sizeof names[0]; i++)
        if (settings_given(session->settings, names[i]))
            return session_end(session, EXIT_USAGE, "--%s: %s is no loadfile; leave the option out",
                               names[i], model_name(session->model));
    return STEP_NEXT;
}

enum step session_make_plan(struct session *session)
{
    const struct settings *settings = session->settings;
    const struct plan_settings wanted = {.seed = settings->random_seed,
                                         .replay_rate = settings->replay_rate,
                                         .scale = settings->scale,
                                         .packets_per_second = settings->packets_per_second,
                                         .warmup = settings->warmup,
                                         .duration = settings->duration,
                                         .persistence = settings->conversation_persistence,
                                         .bytes_per_second = settings->pace * 1e6,
                                         .after_reply = settings->pace_reply,
                                         .passes = settings->passes,
                                         .is_operation = run_part_is_operation,
                                         .context = session->settings};
    if (check_server_kind(session) == STEP_DONE || check_loadfile_options(session) == STEP_DONE ||
        check_protocols(session, "--only", settings->only, settings->only_count) == STEP_DONE ||
        check_protocols(session, "--skip", settings->skip, settings->skip_count) == STEP_DONE)
        return STEP_DONE;
    int error = plan_make(session->model, &wanted, &session->plan, &session->error);
    return error ? end_unless_memory(session, error) : STEP_NEXT;
}

/* Without this check, the reason would be said to be --only and --skip. */
static enum step check_server_kind(struct session *session)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    if (!session->settings->play.generic_ldap || session->settings->play.file_server)
        return STEP_NEXT;
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i].protocol, "ldap") == 0)
            return STEP_NEXT;
    return session_end(session, EXIT_USAGE,
                       "--server ldap plays LDAP only, and %s contains no LDAP packets",
                       model_name(session->model));
}

/* Without this check, a mistyped protocol of --only or --skip would go unnoticed. */
static enum step check_protocols(struct session *session, const char *option,
                                 const struct settings_packet *packets, size_t count)
{
    size_t type_count;
    const struct model_type *types = model_types(session->model, &type_count);
    for (size_t i = 0; i < count; i++) {
        bool known = packet_protocol_find(packets[i].protocol) != NULL;
        for (size_t t = 0; t < type_count; t++)
            known = known || strcmp(types[t].protocol, packets[i].protocol) == 0;
        if (!known)
            return session_end(session, EXIT_USAGE,
                               "%s: neither the model nor this program knows a protocol \"%s\"",
                               option, packets[i].protocol);
    }
    return STEP_NEXT;
}

enum step session_check_play(struct session *session)
{
    const struct settings *settings = session->settings;
    bool offline = settings->dry_run || settings->traffic_summary;
    int error = play_table_new(session->model, settings, &session->table, &session->error);
    if (!error && !offline)
        error = run_check(settings, session->plan, session->table, &session->error);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

enum step session_show_plan(struct session *session)
{
    return finish_output(session, stdout, "the plan",
                         dry_run(session->settings, session->plan, stdout));
}

static enum step finish_output(struct session *session, FILE *out, const char *name, int error)
{
    if (fflush(out) != 0 && !error)
        error = -errno;
    if (out != stdout && fclose(out) != 0 && !error)
        error = -errno;
    if (error && out == stdout && program_reader_is_gone())
        return step_done(&session->status, EXIT_NO_READER);
    if (error)
        return session_end(session, EXIT_FAILED, "cannot write %s: %s", name, strerror(-error));
    return STEP_NEXT;
}

enum step session_write_recording(struct session *session)
{
    const char *path = session->settings->traffic_summary;
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "we");
    if (!out)
        return session_end(session, EXIT_USAGE, "--traffic-summary: cannot write \"%s\": %s", path,
                           strerror(errno));
    int error = dry_run_write_recording(session->settings, session->plan, out);
    return finish_output(session, out, standard ? "standard output" : path, error);
}

void session_report_plan(const struct session *session)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    const struct plan_figures *figures = plan_figures(session->plan);
    for (packet_index i = 0; i < count; i++)
        if (run_part(session->settings, &types[i]) == RUN_NO_PLAYER)
            report_no_player(session, &types[i]);
    if (plan_is_closed(session->plan)) {
        message_print("%" PRIu32
                      " clients in closed loop: each line of %s follows the reply to the "
                      "one before, random seed %" PRIu64,
                      figures->clients, model_name(session->model), session->settings->random_seed);
        return;
    }
    message_print("%" PRIu32
                  " clients, nominal %.2f packets/s, %.2f operations/s (%.0f%% of the packets), "
                  "random seed %" PRIu64,
                  figures->clients, figures->nominal_packets, figures->nominal_operations,
                  100 * figures->share, session->settings->random_seed);
}

/* Names the option that would allow the packet to be played, if there is one. */
static void report_no_player(const struct session *session, const struct model_type *type)
{
    const struct packet_row *row = type->row;
    const char *option = row && !session->settings->play.generic_ldap ? row->option : NULL;
    bool one = type->count == 1;
    message_print("%" PRIu64 " packet%s of %s:%s %s no player%s%s and %s skipped", type->count,
                  one ? "" : "s", type->protocol, type->opcode, one ? "has" : "have",
                  option ? " without " : "", option ? option : "", one ? "is" : "are");
}

bool session_plays(const struct session *session, const char *protocol)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    for (packet_index i = 0; i < count; i++)
        if (strcmp(types[i].protocol, protocol) == 0 &&
            run_part(session->settings, &types[i]) == RUN_OPERATION)
            return true;
    return false;
}
