/* SPDX-License-Identifier: Apache-2.0 */
/* The administrator's name and password, from all sources of settings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/message.h"
#include "base/text.h"
#include "replay/accounts/credentials.h"
#include "replay/settings_private.h"

static enum step read_authentication_file(struct settings *settings);
static enum step take_environment_password(struct settings *settings, const char *name);
static enum step split_admin(struct settings *settings);
static enum step complete_admin(struct settings *settings);
static enum step ask_for(const struct settings *settings, const char *what, const char *of,
                         bool secret, char **answer);

enum step settings_find_admin(struct settings *settings)
{
    enum settings_source ccache = settings_source_of(settings, "kerberos");
    if (settings->admin_kerberos && (ccache > settings_source_of(settings, "user")))
        account_clear(&settings->admin);
    else if (settings->admin_kerberos)
        settings->admin_kerberos = false;
    enum step step = read_authentication_file(settings);
    if (step == STEP_NEXT)
        step = take_environment_password(settings, settings->admin.name);
    if (step == STEP_NEXT)
        step = split_admin(settings);
    if (step == STEP_NEXT)
        step = complete_admin(settings);
    return step;
}

/* Reads the file of -A, unless a stronger source gives a name. */
static enum step read_authentication_file(struct settings *settings)
{
    const char *path = settings->authentication_file;
    if (!path || settings->admin_kerberos ||
        settings_source_of(settings, "user") > settings_source_of(settings, "authentication-file"))
        return STEP_NEXT;
    struct credentials found = {0};
    bool world_readable = false;
    struct error error = {0};
    enum step step = STEP_NEXT;
    if (credentials_read_file(path, &found, &world_readable, &error) != 0) {
        step = settings_refuse(settings, "-A: %s", error.text);
    } else if (!found.name || !found.name[0]) {
        step = settings_refuse(settings,
                               "-A: %s: contains no username; add a line \"username = ...\"", path);
    } else {
        if (world_readable)
            message_print("-A: %s is world-readable; run: chmod o= %s", path, path);
        account_clear(&settings->admin);
        settings->admin.name = found.name;
        settings->admin.password = found.password;
        settings->sources->admin_domain = found.domain;
        found = (struct credentials){0};
    }
    credentials_clear(&found);
    return step;
}

/* TRAFFIC_REPLAY_PASSWORD is the password of TRAFFIC_REPLAY_USER. If that is not set, it is the
 * password of a name from any source. */
static enum step take_environment_password(struct settings *settings, const char *name)
{
    const struct settings_sources *sources = settings->sources;
    if (!name || settings->admin.password || !sources->environment_password ||
        (sources->environment_user && strcmp(sources->environment_user, name) != 0))
        return STEP_NEXT;
    settings->admin.password = strdup(sources->environment_password);
    return settings->admin.password ? STEP_NEXT : settings_no_memory(settings);
}

static enum step split_admin(struct settings *settings)
{
    struct settings_sources *sources = settings->sources;
    char *domain = NULL;
    if (!settings->admin.name || settings->play.generic_ldap)
        return STEP_NEXT;
    if (credentials_split_name(&settings->admin.name, &domain, &sources->admin_realm) != 0)
        return settings_no_memory(settings);
    if (domain) {
        free(sources->admin_domain);
        sources->admin_domain = domain;
    }
    settings->admin_domain = sources->admin_domain;
    settings->admin_realm = sources->admin_realm;
    return settings->admin.name[0] ? STEP_NEXT
                                   : settings_refuse(settings, "-U: missing name after the domain");
}

/* Asks the terminal for a missing name or password. */
static enum step complete_admin(struct settings *settings)
{
    bool offline = settings->dry_run || settings->traffic_summary;
    if (offline || settings->admin_kerberos ||
        (settings->play.generic_ldap && !settings->admin.name))
        return STEP_NEXT;
    enum step step = STEP_NEXT;
    if (!settings->admin.name)
        step = ask_for(settings, "Administrator's name", NULL, false, &settings->admin.name);
    if (step == STEP_NEXT && !settings->admin.password)
        step = ask_for(settings, "Password", settings->admin.name, true, &settings->admin.password);
    return step;
}

static enum step ask_for(const struct settings *settings, const char *what, const char *of,
                         bool secret, char **answer)
{
    char question[256];
    snprintf(question, sizeof question, of ? "%s of %s: " : "%s: ", what, of);
    int error = credentials_prompt(text_clean(question), secret, answer);
    if (error == -ENOTTY)
        return settings_refuse(
            settings,
            "missing administrator's %s; give -U USER%%PASSWORD, -A FILE, -k, or "
            "TRAFFIC_REPLAY_USER and _PASSWORD",
            secret ? "password" : "name");
    return error ? settings_refuse(settings, "no %s was entered", secret ? "password" : "name")
                 : STEP_NEXT;
}
