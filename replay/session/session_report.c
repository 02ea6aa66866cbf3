/* SPDX-License-Identifier: Apache-2.0 */
/* The steps after the run: they merge what was counted, write the reports and choose the exit
 * status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/program.h"
#include "model/plan_count.h"
#include "replay/run_part.h"
#include "replay/session/remedies.h"
#include "replay/session/session_private.h"
#include "summary/result/hdr_log.h"
#include "summary/result/result.h"

static const double second = 1e9; /* ns */

static enum step make_result(struct session *session, struct result *result);
static void count_closed_loop(const struct session *session, struct plan_count *counted);
static int list_skipped(struct session *session, const struct plan_count *counted);
static void state_facts(const struct session *session, const struct plan_count *counted,
                        struct report_facts *facts);
static bool form_uses_tls(const struct settings *settings, const struct model_details *form);
static bool field_is(const struct packet_field *field, const char *key, const char *value);
static bool writes_to_output(const struct settings *settings);
static enum step write_reports(struct session *session, const struct result *result);
static enum step choose_status(struct session *session, const struct result *result);
static void report_nothing_succeeded(const struct result *result);

/* Merges all workers' tallies into the first and checks the accounting identity. */
enum step session_merge_tallies(struct session *session)
{
    for (unsigned i = 1; i < session->workers; i++)
        if (tally_merge(session->tallies[0], session->tallies[i]) != 0)
            return session_no_memory(session);
    if (tally_check(session->tallies[0], &session->error) != 0)
        return session_end(session, EXIT_FAILED, "the counters of this run do not add up: %s",
                           session->error.text);
    struct timing *timing = session->timing;
    session->timing = NULL;
    /* The report is written even if the timing data could not be. */
    if (timing && timing_close(timing, &session->timing_lost, &session->error) != 0) {
        session->timing_failed = true;
        message_print("--timing-data: %s", session->error.text);
    }
    return STEP_NEXT;
}

enum step session_report(struct session *session)
{
    struct result result;
    result_init(&result);
    enum step step = make_result(session, &result);
    if (step == STEP_NEXT)
        step = write_reports(session, &result);
    if (step == STEP_NEXT)
        remedies_print(&result);
    if (step == STEP_NEXT)
        step = choose_status(session, &result);
    result_clear(&result);
    return step;
}

static enum step make_result(struct session *session, struct result *result)
{
    struct plan_count counted = {0};
    struct report_facts facts;
    char pace[PLAN_PACE_SIZE];
    plan_pace(session->plan, pace);
    int64_t end = session->run.end == RUN_END_WINDOW ? INT64_MAX : session->run.window_end;
    int error = plan_count_until(session->plan, end, session->workers, &counted);
    if (!error)
        error = list_skipped(session, &counted);
    if (!error) {
        count_closed_loop(session, &counted);
        state_facts(session, &counted, &facts);
        facts.pace = pace;
        error = report_make(session->tallies[0], &facts, result);
    }
    plan_count_clear(&counted);
    return error ? session_no_memory(session) : STEP_NEXT;
}

/* The plan of a closed loop is what was played. */
static void count_closed_loop(const struct session *session, struct plan_count *counted)
{
    struct tally_live live = {0};
    if (!plan_is_closed(session->plan))
        return;
    for (unsigned i = 0; i < session->workers; i++)
        tally_live(session->tallies[i], &live);
    counted->packets = live.planned;
    counted->conversations = plan_figures(session->plan)->clients;
}

static int list_skipped(struct session *session, const struct plan_count *counted)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    session->skipped = calloc(count + 1, sizeof *session->skipped);
    if (!session->skipped)
        return -ENOMEM;
    for (packet_index i = 0; i < count; i++) {
        enum run_part part = run_part(session->settings, &types[i]);
        if (part != RUN_NO_PLAYER && part != RUN_LEFT_OUT)
            continue;
        session->skipped[session->skipped_count++] =
            (struct report_skipped){.protocol = types[i].protocol,
                                    .opcode = types[i].opcode,
                                    .left_out = part == RUN_LEFT_OUT,
                                    .count = counted->types[i].packets};
    }
    return 0;
}

static void state_facts(const struct session *session, const struct plan_count *counted,
                        struct report_facts *facts)
{
    const struct plan_figures *figures = plan_figures(session->plan);
    const struct run_result *run = &session->run;
    *facts = (struct report_facts){.settings = session->settings,
                                   .model = model_name(session->model),
                                   .model_sha256 = model_sha256(session->model),
                                   .seed = session->settings->random_seed,
                                   .clients = figures->clients,
                                   .threads = run->threads,
                                   .nominal = figures->nominal_operations,
                                   .nominal_packets = figures->nominal_packets,
                                   .planned_conversations = counted->conversations,
                                   .planned_packets = counted->packets,
                                   .start = run->start_wall + (double)run->window_start / second,
                                   .interrupted = run->end == RUN_END_INTERRUPTED,
                                   .stopped_on_error = run->end == RUN_END_ERROR,
                                   .cpu_user = run->cpu_user,
                                   .cpu_system = run->cpu_system,
                                   .timer_p99 = run->timer_p99,
                                   .busy = run->busiest,
                                   .tls_used = session_uses_tls(session),
                                   .timing_lost = session->timing_lost,
                                   .skipped = session->skipped,
                                   .skipped_count = session->skipped_count};
}

bool session_uses_tls(const struct session *session)
{
    size_t count, bind = model_find_type(session->model, "ldap", "0");
    const struct model_type *type =
        bind == SIZE_MAX ? NULL : &model_types(session->model, &count)[bind];
    if (!type || run_part(session->settings, type) != RUN_OPERATION)
        return false;
    for (size_t d = 0; d < type->details_count; d++)
        if (form_uses_tls(session->settings, &type->details[d]))
            return true;
    return false;
}

/* Whether one form of a bind uses TLS. Simple binds do by default, and never in plain text. */
static bool form_uses_tls(const struct settings *settings, const struct model_details *form)
{
    bool simple = false, tls = false, clear = false, plain = settings->play.plain_simple_bind;
    for (size_t f = 0; f < form->field_count; f++) {
        simple = simple || field_is(&form->fields[f], "auth", "simple");
        tls = tls || field_is(&form->fields[f], "tls", "ldaps") ||
              field_is(&form->fields[f], "tls", "starttls");
        clear = clear || field_is(&form->fields[f], "tls", "none");
    }
    return simple && plain ? false : tls || (simple && !clear);
}

static bool field_is(const struct packet_field *field, const char *key, const char *value)
{
    return strcmp(field->key, key) == 0 && field->count == 1 &&
           strcasecmp(field->values[0], value) == 0;
}

/* When a file of the result is standard output, the text goes to standard error. Writes the second
 * report even if the first one could not be written. */
static enum step write_reports(struct session *session, const struct result *result)
{
    const struct settings *settings = session->settings;
    const struct {
        const char *option, *path;
        int (*write)(const struct result *result, const char *path, struct error *error);
    } files[] = {{"json", settings->json, result_write},
                 {"hdr-log", settings->hdr_log, hdr_log_write},
                 {"seconds-csv", settings->seconds, seconds_csv_write}};
    FILE *out = writes_to_output(settings) ? stderr : stdout;
    struct error error = {0};
    enum step step = STEP_NEXT;
    int failed = report_print(out, result);
    if (!failed && fflush(out) != 0)
        failed = -errno;
    if (failed && out == stdout && program_reader_is_gone())
        step = step_done(&session->status, EXIT_NO_READER);
    else if (failed)
        step = session_end(session, EXIT_FAILED, "cannot write the report: %s", strerror(-failed));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i].path && files[i].write(result, files[i].path, &error) != 0)
            step = session_end(session, EXIT_FAILED, "--%s: %s", files[i].option, error.text);
    return step;
}

/* Whether a file of the result is standard output. */
static bool writes_to_output(const struct settings *settings)
{
    const char *const paths[] = {settings->json, settings->hdr_log, settings->seconds};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i] && strcmp(paths[i], "-") == 0)
            return true;
    return false;
}

/* Exit status 1 never comes without a message; client.c has printed that of RUN_END_ERROR. */
static enum step choose_status(struct session *session, const struct result *result)
{
    if (session->run.end == RUN_END_INTERRUPTED)
        return step_done(&session->status, EXIT_INTERRUPTED);
    if (session->run.end == RUN_END_ERROR)
        return step_done(&session->status, EXIT_FAILED);
    if (!report_succeeded(result))
        report_nothing_succeeded(result);
    if (!report_succeeded(result) || session->timing_failed)
        return step_done(&session->status, EXIT_FAILED);
    return STEP_NEXT;
}

static void report_nothing_succeeded(const struct result *result)
{
    if (result->planned == 0)
        message_print("nothing was due in the window; give a larger -D, -S or -r");
    else
        message_print("nothing succeeded inside the window");
}
