/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that prepare the server side: they find the DC, provide accounts and read from the
 * directory what the packets need. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/names/dns.h"
#include "protocols/smb2/smb2_shared_files.h"
#include "protocols/stream.h"
#include "protocols/tls.h"
#include "replay/accounts/account_file.h"
#include "replay/accounts/account_removal.h"
#include "replay/accounts/directory.h"
#include "replay/accounts/discover.h"
#include "replay/accounts/keys.h"
#include "replay/session/remedies.h"
#include "replay/session/session_private.h"

static enum step report_other_domain(struct session *session);
static void report_server(const struct dc *dc);
static int name_admin(struct dc *dc, const struct settings *settings);
static bool is_domain(const struct dc *dc, const char *name);
static enum step prepare_kerberos(struct session *session);
static int64_t operation_deadline(const struct session *session);
static void report_limit(const struct dc *dc);
static void connect_as_user(const struct session *session, struct directory *directory);
static bool report_refused_password(const struct session *session);

enum step session_find_dc(struct session *session)
{
    struct settings *settings = session->settings;
    struct dc *dc = session->dc = dc_new();
    if (!dc)
        return session_no_memory(session);
    if (ldap_connection_global_init(&session->error) != 0)
        return session_end(session, EXIT_FAILED, "%s", session->error.text);
    dc->options = settings->play;
    dc->tls = tls_new(settings->play.tls_verify, settings->tls_ca, &session->error);
    if (!dc->tls)
        return session_end(session, EXIT_USAGE, "%s", session->error.text);
    int error =
        discover_dc(dc, settings->dc, settings->realm, settings->workgroup, &session->error);
    if (error)
        return session_end_error(session, error);
    if (settings->verbose > 0)
        report_server(dc);
    if (report_other_domain(session) == STEP_DONE)
        return STEP_DONE;
    dc->admin = settings->admin;
    settings->admin = (struct account){0};
    if (dc->admin.name && name_admin(dc, settings) < 0)
        return session_no_memory(session);
    error = keys_of_admin(dc);
    if (error == -ENOMEM)
        return session_no_memory(session);
    if (error)
        return session_end(session, EXIT_USAGE, "-U: the password is not UTF-8");
    bool kerberos =
        !dc->options.generic_ldap || (dc->options.file_server && dc->options.prefer_kerberos);
    return kerberos ? prepare_kerberos(session) : STEP_NEXT;
}

/* --realm and -W replace what the server says. A realm that is not the server's works only if the
 * server knows it by another name, and then not with Kerberos; -W matters only to NTLM. */
static enum step report_other_domain(struct session *session)
{
    const struct settings *settings = session->settings;
    const struct dc *dc = session->dc;
    if (dc->options.generic_ldap)
        return STEP_NEXT;
    if (settings->realm && !*settings->realm)
        return session_end(session, EXIT_USAGE, "--realm: empty value; the server's is %s",
                           dc->server_realm);
    if (settings->realm && strcasecmp(settings->realm, dc->server_realm) != 0) {
        bool alias = strcasecmp(settings->realm, dc->server_domain) == 0;
        if (!alias && (dc->options.prefer_kerberos || settings->admin_kerberos))
            return session_end(session, EXIT_USAGE,
                               "--realm %s is not the realm of the server (%s), so Kerberos cannot "
                               "work; leave --realm out",
                               settings->realm, dc->server_realm);
        message_print("--realm %s is not the realm of the server (%s): Kerberos may fail",
                      settings->realm, dc->server_realm);
    }
    if (settings->workgroup && strcasecmp(settings->workgroup, dc->server_domain) != 0)
        message_print("-W %s is not the domain of the server (%s): logons with NTLM may fail",
                      settings->workgroup, dc->server_domain);
    return STEP_NEXT;
}

static void report_server(const struct dc *dc)
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
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %s %s", used ? ";" : "",
                                     facts[i].name, facts[i].value);
    message_print("server at %s:%s", dc->address_text, used ? line : "");
}

/* An administrator of another domain, or with another suffix in the principal name, needs the full
 * name. 0 or -ENOMEM. */
static int name_admin(struct dc *dc, const struct settings *settings)
{
    const char *domain = settings->admin_domain, *realm = settings->admin_realm;
    char *full = NULL;
    int length = 0;
    if (domain && !is_domain(dc, domain))
        length = asprintf(&full, "%s\\%s", domain, dc->admin.name);
    else if (!domain && realm && !is_domain(dc, realm))
        length = asprintf(&full, "%s@%s", dc->admin.name, realm);
    if (length < 0)
        return -ENOMEM;
    if (length == 0)
        return 0;
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

/* kerberos_global_init() makes libkrb5 read a private profile, so the user's own tickets are
 * located before. */
static enum step prepare_kerberos(struct session *session)
{
    struct dc *dc = session->dc;
    if (session->settings->admin_kerberos &&
        !(dc->admin_ccache = kerberos_default_ccache(&session->error)))
        return session_end(session, EXIT_FAILED, "%s", session->error.text);
    session->kerberos = true;
    if (kerberos_global_init(dc, &session->error) != 0)
        return session_end(session, EXIT_FAILED, "%s", session->error.text);
    /* With -K the administrator uses Kerberos, too: the server may not accept NTLM at all. */
    if (dc->options.prefer_kerberos && keys_learn_admin(dc, &session->error) != 0)
        return session_end(session, EXIT_FAILED, "%s", session->error.text);
    return STEP_NEXT;
}

enum step session_remove_accounts(struct session *session)
{
    bool removed = false;
    int error = account_removal_run(session->settings, session->dc, &removed, &session->error);
    if (error)
        return session_end_error(session, error);
    message_print(removed ? "removed %s and everything in it"
                          : "there is nothing to remove: %s does not exist",
                  session->dc->instance_dn);
    return STEP_NEXT;
}

enum step session_want_accounts(struct session *session)
{
    uint32_t clients = session->plan ? plan_figures(session->plan)->clients : 0;
    if (session->settings->accounts_file)
        return STEP_NEXT;
    int error = accounts_wanted(session->settings, clients, &session->accounts, &session->error);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

enum step session_get_accounts(struct session *session)
{
    const struct settings *settings = session->settings;
    uint32_t clients = session->plan ? plan_figures(session->plan)->clients : 0;
    int error;
    if (!session->plan && settings->play.file_server)
        clients = 1; /* removes the folder of a killed run */
    if (settings->accounts_file)
        error = account_file_load(settings->accounts_file, clients,
                                  keys_machines_used(settings, session->model), session->dc,
                                  &session->error);
    else
        error =
            accounts_ensure(settings, &session->accounts, clients, session->dc, &session->error);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

void session_report_remaining(const struct session *session)
{
    const struct settings *settings = session->settings;
    if (!settings->accounts_file)
        message_print(
            "the test accounts remain in %s; remove them with: traffic-replay -c -I %d %s",
            session->dc->instance_dn, settings->instance_id, settings->dc);
}

/* Finds out which names the server's DNS knows; reads the names that --dns-rate asks for. */
enum step session_prepare_dns(struct session *session)
{
    const struct settings *settings = session->settings;
    unsigned answered;
    if (settings->play.generic_ldap)
        return STEP_NEXT;
    if (settings->dns_query_file &&
        dns_queries_read(&session->dc->dns_names, settings->dns_query_file, session->dc->dns_domain,
                         &session->error) != 0)
        return session_end(session, EXIT_USAGE, "--dns-query-file: %s", session->error.text);
    if (settings->dns_rate <= 0 && !session_plays(session, "dns"))
        return STEP_NEXT;
    if (discover_dns(session->dc, &answered) != 0)
        return session_no_memory(session);
    if (answered == 0)
        message_print("%s answers no DNS query for the names of its own domain",
                      session->dc->given);
    return STEP_NEXT;
}

enum step session_learn_sid(struct session *session)
{
    if (session->settings->play.generic_ldap)
        return STEP_NEXT;
    int error = discover_domain_sid(session->dc, &session->error);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

enum step session_derive_keys(struct session *session)
{
    struct keys_wanted wanted = keys_wanted(session->settings, session->model);
    int error = keys_derive(session->dc, &wanted, session->settings->accounts_file != NULL,
                            &session->error);
    return error ? session_end_error(session, error) : STEP_NEXT;
}

/* Reads what searches use as bases and values. */
enum step session_read_catalogue(struct session *session)
{
    struct directory admin;
    if (!session_plays(session, "ldap"))
        return STEP_NEXT;
    /* Only its conversation is used; the catalogue opens the connection. */
    directory_prepare(&admin, session->dc, wire_blocking_waiter());
    admin.conversation.wire.deadline = operation_deadline(session);
    int error = catalogue_read(&admin.conversation, &session->dc->catalogue, &session->error);
    directory_close(&admin);
    if (error)
        return session_end_error(session, error);
    report_limit(session->dc);
    return STEP_NEXT;
}

/* Without this check, a certificate that --tls-verify refuses would fail every bind of the run. A
 * server without TLS is left to the run. */
enum step session_check_certificate(struct session *session)
{
    static const enum ldap_transport transports[] = {LDAP_TRANSPORT_LDAPS, LDAP_TRANSPORT_STARTTLS};
    const struct dc *dc = session->dc;
    if (!dc->options.tls_verify || !session_uses_tls(session))
        return STEP_NEXT;
    for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++) {
        struct directory probe;
        struct ldap_connection *connection = NULL;
        directory_prepare(&probe, dc, wire_blocking_waiter());
        probe.conversation.wire.deadline = operation_deadline(session);
        struct outcome outcome =
            ldap_connection_open(&connection, &probe.conversation, transports[i]);
        ldap_connection_close(connection);
        directory_close(&probe);
        const char *refused = stream_error_text(-EKEYREJECTED), *remedy;
        if (outcome.kind != OUTCOME_FAILED || strncmp(outcome.cause, refused, strlen(refused)) != 0)
            continue;
        remedy = remedies_find(outcome.cause);
        return session_end(session, EXIT_FAILED, "%s: %s%s%s",
                           dc->dns_name ? dc->dns_name : dc->given, outcome.cause,
                           remedy ? "; " : "", remedy ? remedy : "");
    }
    return STEP_NEXT;
}

/* --timeout from now on. */
static int64_t operation_deadline(const struct session *session)
{
    return clock_now() + (int64_t)(session->settings->timeout * 1e9);
}

static void report_limit(const struct dc *dc)
{
    const char *limit = catalogue_limit(dc->catalogue);
    if (!limit)
        return;
    message_print(
        "the server returned only %zu entries of the directory (%s); searches use these%s",
        catalogue_count(dc->catalogue), limit,
        dc->options.generic_ldap ? "; with -U ROOTDN, a user without limits, it is read in full"
                                 : "");
}

/* Finds the files that SMB2 packets open and read. The run continues without them: every domain has
 * two policies. */
enum step session_survey_files(struct session *session)
{
    struct directory directory;
    if (session->settings->play.generic_ldap || !session_plays(session, "smb2"))
        return STEP_NEXT;
    connect_as_user(session, &directory);
    int error = smb2_survey(&directory.conversation, &session->dc->shared_files, &session->error);
    directory_close(&directory);
    if (error) {
        if (report_refused_password(session))
            return step_done(&session->status, EXIT_FAILED);
        message_print("%s; clients will only read the default domain policy", session->error.text);
    }
    return STEP_NEXT;
}

/* A test user makes the SMB2 requests before the run, because administrators may be able to read
 * policies that users cannot. */
static void connect_as_user(const struct session *session, struct directory *directory)
{
    directory_prepare(directory, session->dc, wire_blocking_waiter());
    directory->conversation.user = &session->dc->users[0];
    directory->conversation.wire.deadline = operation_deadline(session);
}

/* The first logon of a test user fails if somebody has changed the passwords. Most operations would
 * fail then. */
static bool report_refused_password(const struct session *session)
{
    static const char *const causes[] = {"NT_STATUS_LOGON_FAILURE", "NT_STATUS_WRONG_PASSWORD",
                                         "KDC_ERR_PREAUTH_FAILED"};
    const char *file = session->settings->accounts_file;
    bool refused = false;
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        refused |= strstr(session->error.text, causes[i]) != NULL;
    if (refused)
        message_print("the server refuses the password of %s: %s%s", session->dc->users[0].name,
                      file ? "check " : "another process has changed it; start the run again",
                      file ? file : "");
    return refused;
}

/* Without this check, every packet would fail if the share cannot be written. */
enum step session_check_share(struct session *session)
{
    struct directory directory;
    if (!session->dc->options.smb_share || model_script(session->model) ||
        !session_plays(session, "smb2"))
        return STEP_NEXT;
    connect_as_user(session, &directory);
    int error = smb2_check_share(&directory.conversation, &session->error);
    directory_close(&directory);
    return error ? session_end_error(session, error) : STEP_NEXT;
}
