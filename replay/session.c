/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of traffic-replay: model, plan, server, accounts, keys, catalogue, run, report. Each
 * step is a function that returns an exit status, or -1 when the next step may follow.
 */
#include "replay/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/message.h"
#include "model/model.h"
#include "model/plan.h"
#include "model/plan_count.h"
#include "protocols/dc.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/names/dns.h"
#include "protocols/smb2/smb2_shared_files.h"
#include "protocols/tls.h"
#include "protocols/trace.h"
#include "replay/accounts/account_file.h"
#include "replay/accounts/accounts.h"
#include "replay/accounts/directory.h"
#include "replay/accounts/discover.h"
#include "replay/accounts/keys.h"
#include "replay/dry_run.h"
#include "replay/report.h"
#include "replay/run.h"
#include "replay/run_part.h"
#include "replay/status.h"
#include "replay/timing.h"
#include "summary/result/result.h"

enum { ERROR_SIZE = 1024 };
static const double second = 1e9; /* ns */

struct session {
    struct settings *settings;
    struct model *model;
    struct plan *plan;
    struct dc *dc;
    bool kerberos; /* kerberos_global_end() is due */
    struct accounts_wanted accounts;
    struct tally_type *types;
    unsigned workers;
    struct tally **tallies;
    struct timing *timing;
    struct failure_log *failures;
    struct run_result run;
    uint64_t timing_lost;
    bool timing_failed;
    struct report_skipped *skipped;
    size_t skipped_count;
    struct error error;
};

struct known {
    const char *protocol;
    bool found;
};

static int clean_up(struct session *session);
static int find_dc(struct session *session);
static int session_tell(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int tell_error(const struct session *session, int error);
static void tell_server(const struct dc *dc);
static int name_admin(struct dc *dc, const struct settings *settings);
static bool is_domain(const struct dc *dc, const char *name);
static int prepare_kerberos(struct session *session);
static int generate(struct session *session);
static int want_accounts(struct session *session, uint32_t clients);
static int get_accounts(struct session *session);
static void tell_remaining(const struct session *session);
static int session_make_accounts(struct session *session);
static int load_model(struct session *session);
static void session_warn_of_model(void *context, const char *line);
static int set_window(const struct session *session);
static int session_make_plan(struct session *session);
static int session_check_packets(const struct session *session, const char *option,
                                 const struct settings_packet *packets, size_t count);
static void look_for_protocol(const struct packet_type *type, void *context);
static int want_accounts_of_plan(struct session *session);
static int plan_only(struct session *session);
static int check_play(struct session *session);
static int show_plan(const struct session *session);
static int session_finish_output(FILE *out, const char *name, int error);
static int write_summary(const struct session *session);
static int session_run_steps(struct session *session);
static int prepare_dns(struct session *session);
static bool plays_protocol(const struct session *session, const char *protocol);
static int learn_domain_sid(struct session *session);
static int session_derive_keys(struct session *session);
static int read_catalogue(struct session *session);
static int survey_files(struct session *session);
static void prepare_as_user(const struct session *session, struct directory *directory);
static void tell_refused_password(const struct session *session);
static int session_check_share(struct session *session);
static int prepare_tallies(struct session *session);
static int session_name_types(struct session *session);
static int session_make_tallies(struct session *session);
static int session_play(struct session *session);
static uint64_t *planned_by_second(const struct session *session, size_t *seconds);
static int merge_tallies(struct session *session);
static int report(struct session *session);
static int list_skipped(struct session *session, const struct plan_count *counted);
static void state_facts(const struct session *session, const struct plan_count *counted,
                        struct report_facts *facts);
static bool uses_tls(const struct session *session);
static bool form_uses_tls(const struct settings *settings, const struct model_details *form);
static bool field_is(const struct model_field *field, const char *key, const char *value);
static int write_reports(const struct session *session, const struct result *result);
static int exit_status(const struct session *session, const struct result *result);
static void tell_nothing_succeeded(const struct result *result);
static int run_step(struct session *session, const char *name, int (*step)(struct session *));
static void tell_plan(const struct session *session);
static void tell_no_player(const struct session *session, const struct model_type *type);
static void session_clear(struct session *session);

int session_run(struct settings *settings)
{
    struct session session = {.settings = settings};
    int status;
    if (settings->clean_up)
        status = clean_up(&session);
    else if (settings->generate_users_only)
        status = generate(&session);
    else if (settings->make_accounts)
        status = session_make_accounts(&session);
    else if (settings->dry_run || settings->traffic_summary)
        status = plan_only(&session);
    else
        status = session_run_steps(&session);
    session_clear(&session);
    return status;
}

static int clean_up(struct session *session)
{
    bool removed = false;
    int status = find_dc(session);
    if (status >= 0)
        return status;
    int error = accounts_clean_up(session->settings, session->dc, &removed, &session->error);
    if (error)
        return tell_error(session, error);
    return session_tell(EXIT_OK,
                        removed ? "removed %s with all that was in it"
                                : "there is nothing to remove: %s does not exist",
                        session->dc->instance_dn);
}

static int find_dc(struct session *session)
{
    struct settings *settings = session->settings;
    struct dc *dc = session->dc = dc_new();
    if (!dc)
        return session_tell(EXIT_FAILED, "out of memory");
    if (ldap_connection_global_init(&session->error) != 0)
        return session_tell(EXIT_FAILED, "%s", session->error.text);
    dc->options = settings->play;
    dc->tls = tls_new(settings->play.tls_verify, settings->tls_ca, &session->error);
    if (!dc->tls)
        return session_tell(EXIT_USAGE, "%s", session->error.text);
    int error =
        discover_dc(dc, settings->dc, settings->realm, settings->workgroup, &session->error);
    if (error)
        return tell_error(session, error);
    if (settings->verbose > 0)
        tell_server(dc);
    dc->admin = settings->admin;
    settings->admin = (struct account){0};
    if (dc->admin.name && name_admin(dc, settings) < 0)
        return session_tell(EXIT_FAILED, "out of memory");
    if (keys_of_admin(dc) != 0)
        return session_tell(EXIT_USAGE, "-U: the password is not UTF-8");
    return dc->options.generic_ldap ? -1 : prepare_kerberos(session);
}

static int session_tell(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print_args(format, args);
    va_end(args);
    return status;
}

/* Tells session->error.text: -EINVAL is the user's mistake, all else a run that could not be made.
 */
static int tell_error(const struct session *session, int error)
{
    return session_tell(error == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s", session->error.text);
}

static void tell_server(const struct dc *dc)
{
    const struct {
        const char *name, *value;
    } facts[] = {{"name", dc->dns_name},         {"realm", dc->realm},
                 {"domain", dc->netbios_domain}, {"NetBIOS name", dc->netbios_name},
                 {"forest", dc->forest},         {"site", dc->site},
                 {"base DN", dc->base_dn}};
    char line[1024];
    size_t used = 0;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && used < sizeof line; i++)
        if (facts[i].value)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s %s;", facts[i].name,
                                     facts[i].value);
    session_tell(0, "server at %s:%s", dc->address_text, used ? line : "");
}

/* An administrator of another domain, or with another suffix in its principal name, goes by the
 * full name; 0 or -ENOMEM. */
static int name_admin(struct dc *dc, const struct settings *settings)
{
    const char *domain = settings->admin_domain, *realm = settings->admin_realm;
    char *full = NULL;
    int length = 0;
    if (domain && !is_domain(dc, domain))
        length = asprintf(&full, "%s\\%s", domain, dc->admin.name);
    else if (!domain && realm && !is_domain(dc, realm))
        length = asprintf(&full, "%s@%s", dc->admin.name, realm);
    if (length <= 0)
        return length;
    free(dc->admin.name);
    dc->admin.name = full;
    return 0;
}

static bool is_domain(const struct dc *dc, const char *name)
{
    const char *const names[] = {dc->netbios_domain, dc->dns_domain, dc->realm};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i] && strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* libkrb5 reads a profile of ours from now on; the user's own tickets are named before. */
static int prepare_kerberos(struct session *session)
{
    struct dc *dc = session->dc;
    if (session->settings->admin_kerberos && !(dc->admin_ccache = kerberos_default_ccache()))
        return session_tell(EXIT_FAILED, "out of memory");
    session->kerberos = true;
    if (kerberos_global_init(dc, &session->error) != 0)
        return session_tell(EXIT_FAILED, "%s", session->error.text);
    /* With -K the administrator uses Kerberos too: the server may not take NTLM at all. */
    if (dc->options.prefer_kerberos && keys_learn_admin(dc, &session->error) != 0)
        return session_tell(EXIT_FAILED, "%s", session->error.text);
    return -1;
}

static int generate(struct session *session)
{
    int status = want_accounts(session, 0);
    if (status < 0)
        status = find_dc(session);
    if (status < 0)
        status = get_accounts(session);
    if (status >= 0)
        return status;
    tell_remaining(session);
    return EXIT_OK;
}

static int want_accounts(struct session *session, uint32_t clients)
{
    int error = accounts_wanted(session->settings, clients, &session->accounts, &session->error);
    return error ? tell_error(session, error) : -1;
}

static int get_accounts(struct session *session)
{
    const struct settings *settings = session->settings;
    uint32_t clients = session->plan ? plan_figures(session->plan)->clients : 0;
    int error;
    if (settings->accounts_file)
        error = account_file_load(settings->accounts_file, clients,
                                  keys_machines_used(settings, session->model), session->dc,
                                  &session->error);
    else
        error =
            accounts_ensure(settings, &session->accounts, clients, session->dc, &session->error);
    return error ? tell_error(session, error) : -1;
}

/* How the accounts go away again. */
static void tell_remaining(const struct session *session)
{
    const struct settings *settings = session->settings;
    if (!settings->accounts_file)
        session_tell(0,
                     "the test accounts remain in %s; remove them with: traffic-replay -c -I %d %s",
                     session->dc->instance_dn, settings->instance_id, settings->dc);
}

/* What a run does first, and no more: so that the largest of several runs can see to the accounts
 * of all of them. */
static int session_make_accounts(struct session *session)
{
    static int (*const steps[])(struct session *) = {load_model, session_make_plan,
                                                     want_accounts_of_plan, find_dc, get_accounts};
    int status = -1;
    for (size_t i = 0; status < 0 && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](session);
    if (status >= 0)
        return status;
    tell_remaining(session);
    return EXIT_OK;
}

static int load_model(struct session *session)
{
    int error = model_load(session->settings->model, &session->model, &session->error,
                           session_warn_of_model, NULL);
    if (!error)
        return set_window(session);
    return session_tell(error == -ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s", session->error.text);
}

static void session_warn_of_model(void *context, const char *line)
{
    (void)context;
    session_tell(0, "%s", line);
}

/* A recording is played from its start to its end unless -D or --warmup say otherwise. */
static int set_window(const struct session *session)
{
    struct settings *settings = session->settings;
    double seconds = model_recording_seconds(session->model, settings->replay_rate);
    if (!model_is_recording(session->model))
        return -1;
    if (!settings->warmup_given)
        settings->warmup = 0;
    if (settings->warmup >= seconds)
        return session_tell(
            EXIT_USAGE,
            "--warmup: %s is over after %.3f s at -r %g; give less, so that something is "
            "left to measure",
            model_name(session->model), seconds, settings->replay_rate);
    if (!settings->duration_given)
        settings->duration = seconds - settings->warmup;
    if (settings->warmup + settings->duration > seconds + 0.5)
        session_tell(
            0, "%s is over after %.3f s at -r %g; nothing is due in the last %.3f s of the window",
            model_name(session->model), seconds, settings->replay_rate,
            settings->warmup + settings->duration - seconds);
    return -1;
}

static int session_make_plan(struct session *session)
{
    const struct settings *settings = session->settings;
    const struct plan_settings wanted = {.seed = settings->random_seed,
                                         .replay_rate = settings->replay_rate,
                                         .scale = settings->scale,
                                         .packets_per_second = settings->packets_per_second,
                                         .warmup = settings->warmup,
                                         .duration = settings->duration,
                                         .persistence = settings->conversation_persistence,
                                         .is_operation = run_part_is_operation,
                                         .context = session->settings};
    int status = session_check_packets(session, "--only", settings->only, settings->only_count);
    if (status < 0)
        status = session_check_packets(session, "--skip", settings->skip, settings->skip_count);
    if (status >= 0)
        return status;
    int error = plan_make(session->model, &wanted, &session->plan, &session->error);
    if (!error)
        return -1;
    return session_tell(error == -ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s", session->error.text);
}

/* A mistyped protocol of --only or --skip would else go unseen. */
static int session_check_packets(const struct session *session, const char *option,
                                 const struct settings_packet *packets, size_t count)
{
    size_t type_count;
    const struct model_type *types = model_types(session->model, &type_count);
    for (size_t i = 0; i < count; i++) {
        struct known known = {.protocol = packets[i].protocol};
        packet_types_each(look_for_protocol, &known);
        for (size_t t = 0; t < type_count; t++)
            known.found = known.found || strcmp(types[t].protocol, known.protocol) == 0;
        if (!known.found)
            return session_tell(EXIT_USAGE,
                                "%s: neither the model nor this program knows a protocol \"%s\"",
                                option, known.protocol);
    }
    return -1;
}

static void look_for_protocol(const struct packet_type *type, void *context)
{
    struct known *known = context;
    known->found = known->found || strcmp(type->protocol, known->protocol) == 0;
}

static int want_accounts_of_plan(struct session *session)
{
    if (session->settings->accounts_file)
        return -1;
    return want_accounts(session, plan_figures(session->plan)->clients);
}

static int plan_only(struct session *session)
{
    int status = load_model(session);
    if (status < 0)
        status = session_make_plan(session);
    if (status < 0)
        status = check_play(session);
    if (status >= 0)
        return status;
    return session->settings->dry_run ? show_plan(session) : write_summary(session);
}

static int check_play(struct session *session)
{
    const struct settings *settings = session->settings;
    bool offline = settings->dry_run || settings->traffic_summary;
    int error = run_check(settings, session->plan, !offline, &session->error);
    return error ? tell_error(session, error) : -1;
}

static int show_plan(const struct session *session)
{
    return session_finish_output(stdout, "the plan",
                                 dry_run(session->settings, session->plan, stdout));
}

static int session_finish_output(FILE *out, const char *name, int error)
{
    if (fflush(out) != 0 && !error)
        error = -errno;
    if (out != stdout && fclose(out) != 0 && !error)
        error = -errno;
    if (error)
        return session_tell(EXIT_FAILED, "cannot write %s: %s", name, strerror(-error));
    return EXIT_OK;
}

static int write_summary(const struct session *session)
{
    const char *path = session->settings->traffic_summary;
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "we");
    if (!out)
        return session_tell(EXIT_USAGE, "--traffic-summary: cannot write \"%s\": %s", path,
                            strerror(errno));
    int error = dry_run_write_recording(session->settings, session->plan, out);
    return session_finish_output(out, standard ? "standard output" : path, error);
}

static int session_run_steps(struct session *session)
{
    static const struct {
        int (*step)(struct session *);
        const char *name;
    } before[] = {
        {load_model, "model"},
        {session_make_plan, "plan"},
        {check_play, "details and limits"},
        {want_accounts_of_plan, "number of accounts"},
        {find_dc, "server"},
        {prepare_dns, "DNS"},
        {learn_domain_sid, "domain SID"},
        {get_accounts, "accounts"},
        {session_derive_keys, "keys"},
        {read_catalogue, "catalogue"},
        {survey_files, "files"},
        {session_check_share, "share"},
        {prepare_tallies, "counters"},
    };
    static int (*const after[])(struct session *) = {session_play, merge_tallies, report};
    int status = -1;
    for (size_t i = 0; status < 0 && i < sizeof before / sizeof before[0]; i++)
        status = run_step(session, before[i].name, before[i].step);
    if (status >= 0)
        return status;
    tell_plan(session);
    for (size_t i = 0; status < 0 && i < sizeof after / sizeof after[0]; i++)
        status = after[i](session);
    tell_remaining(session);
    return status;
}

/* Which names its DNS knows, and what --dns-rate asks. */
static int prepare_dns(struct session *session)
{
    const struct settings *settings = session->settings;
    unsigned answered;
    if (settings->play.generic_ldap)
        return -1;
    if (settings->dns_query_file &&
        dns_queries_read(session->dc, settings->dns_query_file, &session->error) != 0)
        return session_tell(EXIT_USAGE, "--dns-query-file: %s", session->error.text);
    if (settings->dns_rate <= 0 && !plays_protocol(session, "dns"))
        return -1;
    if (discover_dns(session->dc, &answered) != 0)
        return session_tell(EXIT_FAILED, "out of memory");
    if (answered == 0)
        session_tell(0, "%s answers no DNS query for its own domain's names", session->dc->given);
    return -1;
}

static bool plays_protocol(const struct session *session, const char *protocol)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i].protocol, protocol) == 0 &&
            run_part(session->settings, &types[i]) == RUN_OPERATION)
            return true;
    return false;
}

static int learn_domain_sid(struct session *session)
{
    if (session->settings->play.generic_ldap)
        return -1;
    int error = discover_domain_sid(session->dc, &session->error);
    return error ? tell_error(session, error) : -1;
}

static int session_derive_keys(struct session *session)
{
    struct keys_wanted wanted = keys_wanted(session->settings, session->model);
    int error = keys_derive(session->dc, &wanted, session->settings->accounts_file != NULL,
                            &session->error);
    return error ? tell_error(session, error) : -1;
}

static const int64_t catalogue_timeout = 60LL * 1000000000;

/* What searches are given as bases and values. */
static int read_catalogue(struct session *session)
{
    struct directory admin;
    if (!plays_protocol(session, "ldap"))
        return -1;
    /* A conversation of its own; the catalogue opens its connection by itself. */
    directory_prepare(&admin, session->dc, wire_blocking_waiter());
    admin.conversation.wire.deadline = clock_now() + catalogue_timeout;
    int error = catalogue_read(&admin.conversation, &session->dc->catalogue, &session->error);
    directory_close(&admin);
    return error ? tell_error(session, error) : -1;
}

/* What SMB2 packets open and read. Without it they still play: every domain has two policies. */
static int survey_files(struct session *session)
{
    struct directory directory;
    if (session->settings->play.generic_ldap || !plays_protocol(session, "smb2"))
        return -1;
    prepare_as_user(session, &directory);
    int error = smb2_survey(&directory.conversation, &session->dc->shared_files, &session->error);
    directory_close(&directory);
    if (error) {
        session_tell(EXIT_OK, "%s; clients will read the default domain policy alone",
                     session->error.text);
        tell_refused_password(session);
    }
    return -1;
}

static const int64_t survey_timeout = 30LL * 1000000000;

/* What is looked at over SMB2 before the run, a test user does: some policies may be read by
 * administrators alone. */
static void prepare_as_user(const struct session *session, struct directory *directory)
{
    directory_prepare(directory, session->dc, wire_blocking_waiter());
    directory->conversation.user = &session->dc->users[0];
    directory->conversation.wire.deadline = clock_now() + survey_timeout;
}

/* The first to log on as a test user may find that somebody has changed the passwords. */
static void tell_refused_password(const struct session *session)
{
    static const char *const causes[] = {"NT_STATUS_LOGON_FAILURE", "NT_STATUS_WRONG_PASSWORD",
                                         "KDC_ERR_PREAUTH_FAILED"};
    const char *file = session->settings->accounts_file;
    bool refused = false;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        refused |= strstr(session->error.text, causes[i]) != NULL;
    if (refused)
        session_tell(0, "the server refuses the password of %s: %s%s", session->dc->users[0].name,
                     file ? "look at "
                          : "-c removes the accounts, and the next run makes them anew",
                     file ? file : "");
}

/* A share that cannot be written to would fail packet by packet. */
static int session_check_share(struct session *session)
{
    struct directory directory;
    if (!session->dc->options.smb_share || session->settings->play.generic_ldap ||
        !plays_protocol(session, "smb2"))
        return -1;
    prepare_as_user(session, &directory);
    int error = smb2_check_share(&directory.conversation, &session->error);
    directory_close(&directory);
    return error ? tell_error(session, error) : -1;
}

static int prepare_tallies(struct session *session)
{
    const struct settings *settings = session->settings;
    session->workers = run_threads(settings, plan_figures(session->plan)->clients);
    if (settings->timing_data &&
        !(session->timing = timing_open(settings->timing_data, session->workers, &session->error)))
        return session_tell(EXIT_USAGE, "--timing-data: %s", session->error.text);
    if (settings->log_failures && !(session->failures = failure_log_new(settings->log_failures)))
        return session_tell(EXIT_FAILED, "out of memory");
    int status = session_name_types(session);
    return status < 0 ? session_make_tallies(session) : status;
}

static int session_name_types(struct session *session)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    session->types = calloc(count + 1, sizeof *session->types);
    if (!session->types)
        return session_tell(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const struct packet_type *packet = packet_type_find(types[i].protocol, types[i].opcode);
        session->types[i] = (struct tally_type){
            .protocol = types[i].protocol,
            .opcode = types[i].opcode,
            .description = packet && packet->description ? packet->description : ""};
    }
    return -1;
}

static int session_make_tallies(struct session *session)
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
            return session_tell(EXIT_FAILED, "out of memory");
    return session->tallies ? -1 : session_tell(EXIT_FAILED, "out of memory");
}

static int session_play(struct session *session)
{
    const struct settings *settings = session->settings;
    size_t seconds;
    uint64_t *planned = planned_by_second(session, &seconds);
    const struct status_setup shown = {.stream = stderr,
                                       .terminal = isatty(STDERR_FILENO) == 1,
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
                                    .dc = session->dc,
                                    .tallies = session->tallies,
                                    .tick = status ? status_tick : NULL,
                                    .context = status};
    int error = run_play(&setup, &session->run, &session->error);
    status_free(status);
    free(planned);
    return error ? tell_error(session, error) : -1;
}

/* What the plan has due by each second, for the status line; NULL when counting it would hold up
 * the start. (A plan of so many packets is close to nominal.) */
static uint64_t *planned_by_second(const struct session *session, size_t *seconds)
{
    const struct settings *settings = session->settings;
    const double packets_max = 2e6; /* some 0.1 s */
    double length = settings->warmup + settings->duration;
    bool quick = plan_figures(session->plan)->nominal_packets * length <= packets_max &&
                 length <= packets_max;
    *seconds = 0;
    return quick ? plan_count_by_second(session->plan, seconds) : NULL;
}

/* Merges all workers' tallies into the first; the accounting identity is checked. */
static int merge_tallies(struct session *session)
{
    for (unsigned i = 1; i < session->workers; i++)
        if (tally_merge(session->tallies[0], session->tallies[i]) != 0)
            return session_tell(EXIT_FAILED, "out of memory");
    if (tally_check(session->tallies[0], &session->error) != 0)
        return session_tell(EXIT_FAILED, "the accounts of this run do not add up: %s",
                            session->error.text);
    struct timing *timing = session->timing;
    session->timing = NULL;
    /* The report is not lost with them. */
    if (timing && timing_close(timing, &session->timing_lost, &session->error) != 0) {
        session->timing_failed = true;
        session_tell(EXIT_FAILED, "--timing-data: %s", session->error.text);
    }
    return -1;
}

static int report(struct session *session)
{
    struct plan_count counted = {0};
    struct result result;
    struct report_facts facts;
    result_init(&result);
    int status = -1;
    int64_t end = session->run.end == RUN_END_WINDOW ? INT64_MAX : session->run.window_end;
    if (plan_count_until(session->plan, end, session->workers, &counted) != 0)
        status = session_tell(EXIT_FAILED, "out of memory");
    if (status < 0)
        status = list_skipped(session, &counted);
    if (status < 0) {
        state_facts(session, &counted, &facts);
        if (report_make(session->tallies[0], &facts, &result) != 0)
            status = session_tell(EXIT_FAILED, "out of memory");
    }
    if (status < 0)
        status = write_reports(session, &result);
    if (status < 0)
        status = exit_status(session, &result);
    result_clear(&result);
    plan_count_clear(&counted);
    return status;
}

static int list_skipped(struct session *session, const struct plan_count *counted)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    session->skipped = calloc(count + 1, sizeof *session->skipped);
    if (!session->skipped)
        return session_tell(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++) {
        enum run_part part = run_part(session->settings, &types[i]);
        if (part != RUN_NO_PLAYER && part != RUN_LEFT_OUT)
            continue;
        session->skipped[session->skipped_count++] =
            (struct report_skipped){.protocol = types[i].protocol,
                                    .opcode = types[i].opcode,
                                    .left_out = part == RUN_LEFT_OUT,
                                    .count = counted->types[i].packets};
    }
    return -1;
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
                                   .cpu_user = run->cpu_user,
                                   .cpu_system = run->cpu_system,
                                   .timer_p99 = run->timer_p99,
                                   .busy = run->busiest,
                                   .tls_used = uses_tls(session),
                                   .timing_lost = session->timing_lost,
                                   .skipped = session->skipped,
                                   .skipped_count = session->skipped_count};
}

static bool uses_tls(const struct session *session)
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

/* Whether one form of a bind goes over TLS: simple ones do, unless told otherwise. */
static bool form_uses_tls(const struct settings *settings, const struct model_details *form)
{
    bool simple = false, tls = false, clear = false;
    for (size_t f = 0; f < form->field_count; f++) {
        simple = simple || field_is(&form->fields[f], "auth", "simple");
        tls = tls || field_is(&form->fields[f], "tls", "ldaps") ||
              field_is(&form->fields[f], "tls", "starttls");
        clear = clear || field_is(&form->fields[f], "tls", "none");
    }
    return tls || (simple && !clear && !settings->play.plain_simple_bind);
}

static bool field_is(const struct model_field *field, const char *key, const char *value)
{
    return strcmp(field->key, key) == 0 && field->count == 1 &&
           strcasecmp(field->values[0], value) == 0;
}

/* With JSON on standard output the text goes to standard error. */
static int write_reports(const struct session *session, const struct result *result)
{
    const char *json = session->settings->json;
    FILE *out = json && strcmp(json, "-") == 0 ? stderr : stdout;
    struct error error = {0};
    int status = report_print(out, result);
    if (status == 0 && fflush(out) != 0)
        status = -errno;
    /* That one of them cannot be written is no reason to lose the other. */
    if (status)
        session_tell(EXIT_FAILED, "cannot write the report: %s", strerror(-status));
    if (json && result_write(result, json, &error) != 0)
        status = session_tell(EXIT_FAILED, "--json: %s", error.text);
    return status ? EXIT_FAILED : -1;
}

static int exit_status(const struct session *session, const struct result *result)
{
    switch (session->run.end) {
    case RUN_END_INTERRUPTED:
        return EXIT_INTERRUPTED;
    case RUN_END_ERROR:
        return EXIT_FAILED;
    case RUN_END_WINDOW:
        break;
    }
    if (!report_succeeded(result))
        tell_nothing_succeeded(result);
    return report_succeeded(result) && !session->timing_failed ? EXIT_OK : EXIT_FAILED;
}

/* Exit status 1 is not left without a word. */
static void tell_nothing_succeeded(const struct result *result)
{
    if (result->planned == 0)
        session_tell(0, "nothing was due in the window: give a larger -D, -S or -r");
    else
        session_tell(0, "nothing succeeded inside the window");
}

/* -v tells how long each took. */
static int run_step(struct session *session, const char *name, int (*step)(struct session *))
{
    int64_t before = clock_now();
    int status = step(session);
    double took = (double)(clock_now() - before) / second;
    if (session->settings->verbose > 0 && took >= 0.001)
        session_tell(0, "%s: %.3f s", name, took);
    return status;
}

/* Packets without a player are told once, before anything is sent. */
static void tell_plan(const struct session *session)
{
    size_t count;
    const struct model_type *types = model_types(session->model, &count);
    const struct plan_figures *figures = plan_figures(session->plan);
    for (size_t i = 0; i < count; i++)
        if (run_part(session->settings, &types[i]) == RUN_NO_PLAYER)
            tell_no_player(session, &types[i]);
    session_tell(0,
                 "%" PRIu32
                 " clients, nominal %.2f packets/s, %.2f operations/s (%.0f%% of the packets), "
                 "random seed %" PRIu64,
                 figures->clients, figures->nominal_packets, figures->nominal_operations,
                 100 * figures->share, session->settings->random_seed);
}

/* Which option would let it be played, if one does. */
static void tell_no_player(const struct session *session, const struct model_type *type)
{
    const struct packet_type *row = packet_type_find(type->protocol, type->opcode);
    const char *option = row && !session->settings->play.generic_ldap ? row->needs : NULL;
    bool one = type->count == 1;
    session_tell(0, "%" PRIu64 " packet%s of %s:%s %s no player%s%s and %s skipped", type->count,
                 one ? "" : "s", type->protocol, type->opcode, one ? "has" : "have",
                 option ? " without " : "", option ? option : "", one ? "is" : "are");
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
    dc_free(session->dc);
    plan_free(session->plan);
    model_free(session->model);
}
