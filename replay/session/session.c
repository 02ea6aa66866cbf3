/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses what an invocation of traffic-replay does: one of six cases, each of which is a table of
 * steps. */
#include "replay/session/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/system.h"
#include "model/plan_count.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/nbench/nbench.h"
#include "protocols/packet.h"
#include "protocols/smb2/smb2_shared_files.h"
#include "protocols/tls.h"
#include "protocols/trace.h"
#include "replay/session/session_private.h"
#include "replay/status.h"

struct session_step {
    enum step (*step)(struct session *session);
    const char *name; /* for -v; NULL: not timed */
};

static void session_choose(struct session *session);
static enum step session_take(struct session *session, const struct session_step *steps,
                              size_t count);
static enum step session_take_timed(struct session *session, const struct session_step *step);
static void session_prepare_accounts(struct session *session, const struct session_step *steps,
                                     size_t count);
static void session_measure(struct session *session);
static enum step prepare_tallies(struct session *session);
static int name_types(struct session *session);
static int make_tallies(struct session *session);
static enum step session_play(struct session *session);
static uint64_t *planned_by_second(const struct session *session, size_t *seconds);
static void session_clear(struct session *session);

static const double second = 1e9; /* ns */

#define STEPS(steps) steps, sizeof steps / sizeof steps[0]

int session_run(struct settings *settings)
{
    struct session session = {.settings = settings, .status = EXIT_OK};
    session_choose(&session);
    session_clear(&session);
    return session.status;
}

static void session_choose(struct session *session)
{
    static const struct session_step clean_up[] = {
        {session_find_dc, NULL}, {session_learn_sid, NULL}, {session_remove_accounts, NULL}};
    static const struct session_step generate_users[] = {{session_want_accounts, NULL},
                                                         {session_find_dc, NULL},
                                                         {session_learn_sid, NULL},
                                                         {session_get_accounts, NULL}};
    static const struct session_step clean_share[] = {{session_find_dc, NULL},
                                                      {session_get_accounts, NULL},
                                                      {session_derive_keys, NULL},
                                                      {session_clean_share, NULL}};
    /* The first steps of a run, so that the largest of several runs can create accounts for all. */
    static const struct session_step make_accounts[] = {
        {session_load_model, NULL}, {session_make_plan, NULL}, {session_want_accounts, NULL},
        {session_find_dc, NULL},    {session_learn_sid, NULL}, {session_get_accounts, NULL}};
    static const struct session_step dry_run[] = {{session_load_model, NULL},
                                                  {session_make_plan, NULL},
                                                  {session_want_accounts, NULL},
                                                  {session_check_play, NULL},
                                                  {session_show_plan, NULL}};
    static const struct session_step write_recording[] = {{session_load_model, NULL},
                                                          {session_make_plan, NULL},
                                                          {session_check_play, NULL},
                                                          {session_write_recording, NULL}};
    const struct settings *settings = session->settings;
    if (settings->clean_up && settings->play.file_server)
        session_take(session, STEPS(clean_share));
    else if (settings->clean_up)
        session_take(session, STEPS(clean_up));
    else if (settings->generate_users_only)
        session_prepare_accounts(session, STEPS(generate_users));
    else if (settings->make_accounts)
        session_prepare_accounts(session, STEPS(make_accounts));
    else if (settings->dry_run)
        session_take(session, STEPS(dry_run));
    else if (settings->traffic_summary)
        session_take(session, STEPS(write_recording));
    else
        session_measure(session);
}

static enum step session_take(struct session *session, const struct session_step *steps,
                              size_t count)
{
    enum step step = STEP_NEXT;
    for (size_t i = 0; step == STEP_NEXT && i < count; i++)
        step = session_take_timed(session, &steps[i]);
    return step;
}

/* With -v, prints how long the step took. */
static enum step session_take_timed(struct session *session, const struct session_step *step)
{
    int64_t before = clock_now();
    enum step result = step->step(session);
    double took = (double)(clock_now() - before) / second;
    if (step->name && session->settings->verbose > 0 && took >= 0.001)
        message_print("%s: %.3f s", step->name, took);
    return result;
}

static void session_prepare_accounts(struct session *session, const struct session_step *steps,
                                     size_t count)
{
    if (session_take(session, steps, count) == STEP_NEXT)
        session_report_remaining(session);
}

static void session_measure(struct session *session)
{
    static const struct session_step before[] = {
        {session_load_model, "model"},
        {session_make_plan, "plan"},
        {session_check_play, "details and limits"},
        {session_want_accounts, "number of accounts"},
        {session_find_dc, "server"},
        {session_check_certificate, "certificate"},
        {session_prepare_dns, "DNS"},
        {session_learn_sid, "domain SID"},
        {session_get_accounts, "accounts"},
        {session_derive_keys, "keys"},
        {session_read_catalogue, "catalogue"},
        {session_survey_files, "files"},
        {session_check_share, "share"},
        {session_create_folder, "folder"},
        {prepare_tallies, "counters"},
    };
    static const struct session_step after[] = {
        {session_play, NULL}, {session_merge_tallies, NULL}, {session_report, NULL}};
    if (session_take(session, STEPS(before)) == STEP_NEXT) {
        session_report_plan(session);
        session_take(session, STEPS(after));
    } else if (!session->folder_created) {
        return;
    }
    session_remove_folder(session);
    session_report_remaining(session);
}

static enum step prepare_tallies(struct session *session)
{
    const struct settings *settings = session->settings;
    session->workers = run_threads(settings, plan_figures(session->plan)->clients);
    if (settings->timing_data &&
        !(session->timing = timing_open(settings->timing_data, session->workers, &session->error)))
        return session_end(session, session->error.code == -ENOMEM ? EXIT_FAILED : EXIT_USAGE,
                           "--timing-data: %s", session->error.text);
    if (settings->log_failures && !(session->failures = failure_log_new(settings->log_failures)))
        return session_no_memory(session);
    if (name_types(session) < 0 || make_tallies(session) < 0)
        return session_no_memory(session);
    return STEP_NEXT;
}

static int name_types(struct session *session)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    session->types = calloc(count + 1, sizeof *session->types);
    if (!session->types)
        return -ENOMEM;
    for (packet_index i = 0; i < count; i++) {
        session->types[i] =
            (struct tally_type){.protocol = types[i].protocol,
                                .opcode = types[i].opcode,
                                .description = types[i].row ? types[i].row->description : ""};
    }
    return 0;
}

static int make_tallies(struct session *session)
{
    const struct settings *settings = session->settings;
    size_t type_count;
    model_types(session->model, &type_count);
    session->tallies = calloc(session->workers, sizeof(struct tally *));
    struct tally_setup setup = {.types = session->types,
                                .type_count = type_count,
                                .clients = plan_figures(session->plan)->clients,
                                .window_start = (int64_t)(settings->warmup * second),
                                .window_end =
                                    (int64_t)((settings->warmup + settings->duration) * second),
                                .timing = session->timing,
                                .log = session->failures};
    for (; session->tallies && setup.worker < session->workers; setup.worker++)
        if (!(session->tallies[setup.worker] = tally_new(&setup)))
            return -ENOMEM;
    return session->tallies ? 0 : -ENOMEM;
}

static enum step session_play(struct session *session)
{
    const struct settings *settings = session->settings;
    size_t seconds;
    uint64_t *planned = planned_by_second(session, &seconds);
    const struct status_setup shown = {.stream = stderr,
                                       .terminal = system_is_terminal(STDERR_FILENO),
                                       .warmup = settings->warmup,
                                       .duration = settings->duration,
                                       .planned = planned,
                                       .seconds = seconds,
                                       .nominal = plan_figures(session->plan)->nominal_operations,
                                       .tallies = session->tallies,
                                       .count = session->workers};
    struct status *status = status_new(&shown);
    if (settings->verbose > 1)
        trace_to(stderr);
    const struct run_setup setup = {.settings = settings,
                                    .plan = session->plan,
                                    .table = session->table,
                                    .dc = session->dc,
                                    .tallies = session->tallies,
                                    .tick = status ? status_tick : NULL,
                                    .context = status};
    int error = run_play(&setup, &session->run, &session->error);
    status_free(status);
    free(planned);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

/* The operations that are due by each second, for the status line. NULL when counting them would
 * delay the start; the nominal rate is close to the truth for such a large plan. */
static uint64_t *planned_by_second(const struct session *session, size_t *seconds)
{
    const struct settings *settings = session->settings;
    const double packets_max = 2e6; /* counted in about 0.1 s */
    double length = settings->warmup + settings->duration;
    bool quick = !plan_is_closed(session->plan) &&
                 plan_figures(session->plan)->nominal_packets * length <= packets_max &&
                 length <= packets_max;
    *seconds = 0;
    return quick ? plan_count_by_second(session->plan, seconds) : NULL;
}

static void session_clear(struct session *session)
{
    uint64_t lost;
    if (session->timing)
        timing_close(session->timing, &lost, &session->error);
    for (unsigned i = 0; session->tallies && i < session->workers; i++)
        tally_free(session->tallies[i]);
    free(session->tallies);
    free(session->types);
    free(session->skipped);
    failure_log_free(session->failures);
    if (session->dc) {
        catalogue_free(session->dc->catalogue);
        smb2_shared_files_free(session->dc->shared_files);
        tls_free(session->dc->tls);
    }
    if (session->kerberos)
        kerberos_global_end();
    nbench_free(session->nbench);
    dc_free(session->dc);
    play_table_free(session->table);
    plan_free(session->plan);
    model_free(session->model);
}

enum step session_end(struct session *session, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
    return step_done(&session->status, status);
}

enum step session_end_error(struct session *session, int code)
{
    return session_end(session, code == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s",
                       session->error.text);
}

enum step session_no_memory(struct session *session)
{
    return session_end(session, EXIT_FAILED, "out of memory");
}
