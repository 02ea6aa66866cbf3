/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays the LDAP packets (RFC 4511). A conversation has several connections; packets use the newest
 * and bind it if necessary.
 *
 * Objects that ldap:8 adds remain below the instance OU when a conversation ends. --clean-up
 * removes them with everything else.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_details.h"
#include "protocols/ldap/ldap_private.h"
#include "protocols/ldap/ldap_search.h"
#include "protocols/packet_players.h"

static const struct ldap_bind_details usual_bind = {.mechanism = LDAP_MECHANISM_GSS_SPNEGO};

/* ldap:23 */
struct extended_details {
    const char *oid;
};

enum { OBJECT_NAME_SIZE = 64 }; /* the longest cn in AD */

static struct outcome ldap_play_bind(struct conversation *conversation, const void *details);
static struct outcome need_unbound(struct conversation *conversation,
                                   enum ldap_transport transport);
static struct ldap_connection *newest_usable(struct conversation *conversation);
static struct ldap_connection *newest_connection(const struct conversation *conversation);
static struct outcome open_newest(struct conversation *conversation, enum ldap_transport transport);
static struct ldap_state *ldap_get_state(struct conversation *conversation);
static void ldap_reset(struct conversation *conversation);
static void close_newest_connection(struct conversation *conversation);
static enum ldap_transport bind_transport(const struct conversation *conversation,
                                          const struct ldap_bind_details *details);
static bool is_generic(const struct conversation *conversation);
static struct outcome ldap_authenticate(struct conversation *conversation,
                                        const struct ldap_bind_details *details);
static bool uses_password(const struct conversation *conversation,
                          const struct ldap_bind_details *details);
static struct outcome bind_with_wrong_password(struct conversation *conversation,
                                               const struct ldap_bind_details *details);
static struct outcome bind_as(struct conversation *conversation,
                              const struct ldap_bind_details *details,
                              const struct account *account);
static struct outcome bind_simple(struct conversation *conversation, const struct account *account);
static struct outcome ldap_play_unbind(struct conversation *conversation, const void *details);
static struct outcome ldap_play_search(struct conversation *conversation, const void *details);
static bool is_root_dse(const struct ldap_search_details *details);
static struct outcome need_connection(struct conversation *conversation);
static struct outcome need_bind(struct conversation *conversation);
static struct outcome run_search(struct conversation *conversation,
                                 const struct ldap_search_details *details);
static struct outcome ldap_play_modify(struct conversation *conversation, const void *details);
static struct outcome need_user_dn(const struct conversation *conversation);
static struct outcome ldap_play_add(struct conversation *conversation, const void *details);
static struct outcome add_object(struct conversation *conversation);
static void make_object_name(const struct conversation *conversation, char *name, size_t size);
static char *make_object_dn(const struct conversation *conversation, const char *name);
static struct outcome ldap_play_delete(struct conversation *conversation, const void *details);
static struct outcome need_object(struct conversation *conversation, char ***dn);
static struct outcome ldap_play_rename(struct conversation *conversation, const void *details);
static struct outcome ldap_play_compare(struct conversation *conversation, const void *details);
static struct outcome ldap_play_abandon(struct conversation *conversation, const void *details);
static void *ldap_extended_compile(const struct packet_details *details,
                                   struct packet_context *context, struct error *error);
static struct outcome ldap_play_extended(struct conversation *conversation, const void *details);

const struct packet_player packet_players_ldap[] = {
    {.name = "ldap:0",
     .play = ldap_play_bind,
     PACKET_DETAILS(struct ldap_bind_details, ldap_details_fill_bind)},
    {.name = "ldap:2", .play = ldap_play_unbind},
    {.name = "ldap:3",
     .play = ldap_play_search,
     .compile = ldap_details_compile_search,
     .release = ldap_details_release_search},
    {.name = "ldap:6", .play = ldap_play_modify},
    {.name = "ldap:8", .play = ldap_play_add},
    {.name = "ldap:10", .play = ldap_play_delete},
    {.name = "ldap:12", .play = ldap_play_rename},
    {.name = "ldap:14", .play = ldap_play_compare},
    {.name = "ldap:16", .play = ldap_play_abandon},
    {.name = "ldap:23", .play = ldap_play_extended, .compile = ldap_extended_compile},
    {.name = NULL},
};

static struct outcome ldap_play_bind(struct conversation *conversation, const void *details)
{
    const struct ldap_bind_details *bind = details;
    struct outcome outcome = need_unbound(conversation, bind_transport(conversation, bind));
    return outcome.kind == OUTCOME_OK ? ldap_authenticate(conversation, bind) : outcome;
}

/* Makes sure that the newest connection is unbound and has this transport. A connection in clear
 * can change to StartTLS; otherwise a new one is opened. */
static struct outcome need_unbound(struct conversation *conversation, enum ldap_transport transport)
{
    struct ldap_connection *connection = newest_usable(conversation);
    if (!connection || ldap_connection_is_bound(connection))
        return open_newest(conversation, transport);
    enum ldap_transport has = ldap_connection_transport(connection);
    if (has == transport)
        return outcome_ok();
    if (has == LDAP_TRANSPORT_CLEAR && transport == LDAP_TRANSPORT_STARTTLS)
        return ldap_connection_start_tls(connection);
    return open_newest(conversation, transport);
}

/* Closes connections that are broken, that the server has ended while they were idle, or whose
 * ticket expired, until the newest is usable. */
static struct ldap_connection *newest_usable(struct conversation *conversation)
{
    for (;;) {
        struct ldap_connection *connection = newest_connection(conversation);
        if (!connection)
            return NULL;
        ldap_connection_check_idle(connection);
        if (!ldap_connection_is_broken(connection) && !ldap_connection_is_expired(connection))
            return connection;
        close_newest_connection(conversation);
    }
}

static struct ldap_connection *newest_connection(const struct conversation *conversation)
{
    const struct ldap_state *state = conversation->ldap;
    if (!state || state->connection_count == 0)
        return NULL;
    return state->connections[state->connection_count - 1];
}

static struct outcome open_newest(struct conversation *conversation, enum ldap_transport transport)
{
    struct ldap_state *state = ldap_get_state(conversation);
    struct ldap_connection **larger =
        state ? array_grow(state->connections, state->connection_count, sizeof *larger) : NULL;
    if (!larger)
        return outcome_of_error(-ENOMEM);
    state->connections = larger;
    struct ldap_connection *connection = NULL;
    struct outcome outcome = ldap_connection_open(&connection, conversation, transport);
    if (outcome.kind == OUTCOME_OK)
        state->connections[state->connection_count++] = connection;
    return outcome;
}

static struct ldap_state *ldap_get_state(struct conversation *conversation)
{
    if (!conversation->ldap) {
        conversation->ldap = calloc(1, sizeof *conversation->ldap);
        if (conversation->ldap)
            conversation->ldap->base.reset = ldap_reset;
    }
    return conversation->ldap;
}

static void ldap_reset(struct conversation *conversation)
{
    struct ldap_state *state = conversation->ldap;
    while (state->connection_count)
        close_newest_connection(conversation);
    for (size_t i = 0; i < state->object_count; i++)
        free(state->objects[i]);
    free(state->connections);
    free(state->objects);
    free(state);
    conversation->ldap = NULL;
}

static void close_newest_connection(struct conversation *conversation)
{
    struct ldap_state *state = conversation->ldap;
    if (state && state->connection_count)
        ldap_connection_close(state->connections[--state->connection_count]);
}

/* Simple binds use TLS unless the options allow them in clear: DCs refuse those by default. The
 * option wins over the model, whose author did not know the server. */
static enum ldap_transport bind_transport(const struct conversation *conversation,
                                          const struct ldap_bind_details *details)
{
    if (details->simple && conversation->dc->options.plain_simple_bind)
        return LDAP_TRANSPORT_CLEAR;
    if (details->transport_given)
        return details->transport;
    bool clear = !details->simple || is_generic(conversation);
    return clear ? LDAP_TRANSPORT_CLEAR : LDAP_TRANSPORT_LDAPS;
}

static bool is_generic(const struct conversation *conversation)
{
    return conversation->dc->options.generic_ldap;
}

/* Authenticates the newest connection, after an attempt with a wrong password if -B wants one. With
 * Kerberos, the AS exchange makes that attempt, because only it uses the password. */
static struct outcome ldap_authenticate(struct conversation *conversation,
                                        const struct ldap_bind_details *details)
{
    if (uses_password(conversation, details) && conversation_wants_bad_password(conversation)) {
        struct outcome outcome = bind_with_wrong_password(conversation, details);
        if (outcome.kind == OUTCOME_OK)
            return outcome_failed("a wrong password was accepted");
        if (outcome.kind == OUTCOME_UNFINISHED ||
            ldap_connection_is_broken(newest_connection(conversation)))
            return outcome;
        conversation->expected_failures++;
    }
    return bind_as(conversation, details, conversation->user);
}

static bool uses_password(const struct conversation *conversation,
                          const struct ldap_bind_details *details)
{
    return details->simple || is_generic(conversation) ||
           !(conversation->kerberos || details->mechanism == LDAP_MECHANISM_GSSAPI);
}

/* -B: the same exchange with a wrong password. */
static struct outcome bind_with_wrong_password(struct conversation *conversation,
                                               const struct ldap_bind_details *details)
{
    static char password[] = "not-the-password";
    struct account wrong = *conversation->user;
    wrong.password = password;
    wrong.nt_hash[0] ^= 0xff;
    struct outcome outcome = bind_as(conversation, details, &wrong);
    explicit_bzero(&wrong, sizeof wrong);
    return outcome;
}

static struct outcome bind_as(struct conversation *conversation,
                              const struct ldap_bind_details *details,
                              const struct account *account)
{
    if (details->simple || is_generic(conversation))
        return bind_simple(conversation, account);
    if (details->mechanism == LDAP_MECHANISM_GSSAPI)
        conversation->kerberos = true;
    return ldap_connection_bind_sasl(newest_connection(conversation), account, details->mechanism,
                                     conversation->kerberos);
}

/* Binds with the account's DN; without one, as DOMAIN\name. */
static struct outcome bind_simple(struct conversation *conversation, const struct account *account)
{
    const char *domain = conversation->dc->netbios_domain;
    char name[512];
    /* A bind with an empty password is anonymous and succeeds on every server. */
    if (!account->password || !*account->password)
        return outcome_failed("account without a password");
    if (!account->dn && !account->name)
        return outcome_failed("account without a name");
    if (account->dn)
        snprintf(name, sizeof name, "%s", account->dn);
    else
        snprintf(name, sizeof name, "%s%s%s", domain ? domain : "", domain ? "\\" : "",
                 account->name);
    return ldap_connection_bind_simple(newest_connection(conversation), name, account->password);
}

static struct outcome ldap_play_unbind(struct conversation *conversation, const void *details)
{
    (void)details;
    close_newest_connection(conversation);
    return outcome_nothing();
}

static struct outcome ldap_play_search(struct conversation *conversation, const void *details)
{
    const struct ldap_search_details *search = ldap_details_draw_search(conversation, details);
    struct outcome outcome =
        is_root_dse(search) ? need_connection(conversation) : need_bind(conversation);
    return outcome.kind == OUTCOME_OK ? run_search(conversation, search) : outcome;
}

static bool is_root_dse(const struct ldap_search_details *details)
{
    return details->scope == LDAP_SCOPE_BASE && details->base && *details->base == '\0';
}

/* Makes sure that there is a usable connection. */
static struct outcome need_connection(struct conversation *conversation)
{
    return newest_usable(conversation) ? outcome_ok()
                                       : open_newest(conversation, LDAP_TRANSPORT_CLEAR);
}

/* Makes sure that the newest connection is bound. */
static struct outcome need_bind(struct conversation *conversation)
{
    struct ldap_connection *connection = newest_usable(conversation);
    if (connection && ldap_connection_is_bound(connection))
        return outcome_ok();
    struct outcome outcome = need_unbound(conversation, LDAP_TRANSPORT_CLEAR);
    return outcome.kind == OUTCOME_OK ? ldap_authenticate(conversation, &usual_bind) : outcome;
}

static struct outcome run_search(struct conversation *conversation,
                                 const struct ldap_search_details *details)
{
    const struct dc *dc = conversation->dc;
    const char *base = details->base;
    if (!base)
        base = catalogue_base(dc->catalogue, conversation, details->base_key);
    char *filter = ldap_filter_fill(details->filter, conversation);
    if (!filter)
        return outcome_of_error(-ENOMEM);
    struct ldap_search search = {.base = base ? base : "",
                                 .scope = details->scope,
                                 .filter = filter,
                                 .attributes = details->attributes,
                                 .controls = details->controls,
                                 .paged = details->scope != LDAP_SCOPE_BASE};
    struct outcome outcome = ldap_search_run(newest_connection(conversation), &search);
    free(filter);
    return outcome;
}

static struct outcome ldap_play_modify(struct conversation *conversation, const void *details)
{
    (void)details;
    char text[64];
    char *values[] = {text, NULL};
    LDAPMod description = {
        .mod_op = LDAP_MOD_REPLACE, .mod_type = "description", .mod_values = values};
    LDAPMod *mods[] = {&description, NULL};
    struct outcome outcome = need_user_dn(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_bind(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    snprintf(text, sizeof text, "traffic-replay %llx",
             (unsigned long long)conversation->random(conversation->random_state));
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result = ldap_modify_ext(ldap_connection_handle(connection), conversation->user->dn, mods,
                                 NULL, NULL, &id);
    return ldap_connection_finish(connection, result, id);
}

/* Fails if the client's user has no DN. */
static struct outcome need_user_dn(const struct conversation *conversation)
{
    return conversation->user->dn ? outcome_ok() : outcome_failed("account without a DN");
}

static struct outcome ldap_play_add(struct conversation *conversation, const void *details)
{
    (void)details;
    struct outcome outcome = need_bind(conversation);
    return outcome.kind == OUTCOME_OK ? add_object(conversation) : outcome;
}

/* Adds an object on the newest connection, which is bound. */
static struct outcome add_object(struct conversation *conversation)
{
    struct ldap_state *state = conversation->ldap;
    char name[OBJECT_NAME_SIZE];
    make_object_name(conversation, name, sizeof name);
    char *dn = make_object_dn(conversation, name);
    char **larger = dn ? array_grow(state->objects, state->object_count, sizeof *larger) : NULL;
    if (!larger) {
        free(dn);
        return outcome_of_error(-ENOMEM);
    }
    state->objects = larger;
    /* Every LDAPv3 server's core schema has organizationalRole (RFC 4519), but not contact. */
    char *classes[] = {is_generic(conversation) ? "organizationalRole" : "contact", NULL};
    char *names[] = {name, NULL};
    LDAPMod object_class = {
        .mod_op = LDAP_MOD_ADD, .mod_type = "objectClass", .mod_values = classes};
    LDAPMod cn = {.mod_op = LDAP_MOD_ADD, .mod_type = "cn", .mod_values = names};
    LDAPMod *attributes[] = {&object_class, &cn, NULL};
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result = ldap_add_ext(ldap_connection_handle(connection), dn, attributes, NULL, NULL, &id);
    struct outcome outcome = ldap_connection_finish(connection, result, id);
    if (outcome.kind == OUTCOME_OK)
        state->objects[state->object_count++] = dn;
    else
        free(dn);
    return outcome;
}

/* Makes a name that no other run or client uses: clock and process of this run, and a counter. */
static void make_object_name(const struct conversation *conversation, char *name, size_t size)
{
    static _Atomic uint64_t counter, run;
    uint64_t stamp = atomic_load_explicit(&run, memory_order_relaxed);
    if (stamp == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        uint64_t fresh = ((uint64_t)now.tv_sec << 30 | (uint64_t)now.tv_nsec) ^ (uint64_t)getpid()
                                                                                    << 40;
        /* If another thread was first, its stamp is used. */
        if (atomic_compare_exchange_strong(&run, &stamp, fresh))
            stamp = fresh;
    }
    char client[24];
    size_t length = 0;
    for (const char *at = conversation->user->name; at && *at && length + 1 < sizeof client; at++)
        if ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
            (*at >= 'a' && *at <= 'z') || *at == '-')
            client[length++] = *at;
    client[length] = '\0';
    snprintf(name, size, "%s-%llx-%llu", client, (unsigned long long)stamp,
             (unsigned long long)atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
}

static char *make_object_dn(const struct conversation *conversation, const char *name)
{
    const struct dc *dc = conversation->dc;
    const char *parent = dc->instance_dn ? dc->instance_dn : dc->base_dn;
    char *dn = NULL;
    return asprintf(&dn, "CN=%s,%s", name, parent ? parent : "") < 0 ? NULL : dn;
}

static struct outcome ldap_play_delete(struct conversation *conversation, const void *details)
{
    (void)details;
    char **dn = NULL;
    struct outcome outcome = need_object(conversation, &dn);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result = ldap_delete_ext(ldap_connection_handle(connection), *dn, NULL, NULL, &id);
    outcome = ldap_connection_finish(connection, result, id);
    /* Even if it failed, this conversation does not try the same object again. */
    free(*dn);
    conversation->ldap->object_count--;
    return outcome;
}

/* The newest object of this conversation; adds one if there is none. */
static struct outcome need_object(struct conversation *conversation, char ***dn)
{
    struct outcome outcome = need_bind(conversation);
    if (outcome.kind == OUTCOME_OK && conversation->ldap->object_count == 0)
        outcome = add_object(conversation);
    if (outcome.kind == OUTCOME_OK)
        *dn = &conversation->ldap->objects[conversation->ldap->object_count - 1];
    return outcome;
}

static struct outcome ldap_play_rename(struct conversation *conversation, const void *details)
{
    (void)details;
    char **dn = NULL;
    struct outcome outcome = need_object(conversation, &dn);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    char name[OBJECT_NAME_SIZE], rdn[OBJECT_NAME_SIZE + 3];
    make_object_name(conversation, name, sizeof name);
    snprintf(rdn, sizeof rdn, "CN=%s", name);
    char *renamed = make_object_dn(conversation, name);
    if (!renamed)
        return outcome_of_error(-ENOMEM);
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result =
        ldap_rename(ldap_connection_handle(connection), *dn, rdn, NULL, 1, NULL, NULL, &id);
    outcome = ldap_connection_finish(connection, result, id);
    if (outcome.kind == OUTCOME_OK) {
        free(*dn);
        *dn = renamed;
    } else {
        free(renamed);
    }
    return outcome;
}

/* Both answers, true and false, are successes. */
static struct outcome ldap_play_compare(struct conversation *conversation, const void *details)
{
    (void)details;
    bool generic = is_generic(conversation);
    const char *value = generic ? "top" : conversation->user->name;
    struct outcome outcome = need_user_dn(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_bind(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct berval assertion = {.bv_val = (char *)value, .bv_len = strlen(value)};
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result =
        ldap_compare_ext(ldap_connection_handle(connection), conversation->user->dn,
                         generic ? "objectClass" : "sAMAccountName", &assertion, NULL, NULL, &id);
    return ldap_connection_finish(connection, result, id);
}

/* Done once both requests are written; libldap drops later replies. The search is for one entry, so
 * that a server that reads the abandon too late sends little. */
static struct outcome ldap_play_abandon(struct conversation *conversation, const void *details)
{
    (void)details;
    static char *attributes[] = {"cn", NULL};
    struct outcome outcome = need_user_dn(conversation);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_bind(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct ldap_connection *connection = newest_connection(conversation);
    LDAP *handle = ldap_connection_handle(connection);
    int id = 0;
    int result = ldap_search_ext(handle, conversation->user->dn, LDAP_SCOPE_BASE, "(objectClass=*)",
                                 attributes, 0, NULL, NULL, NULL, LDAP_NO_LIMIT, &id);
    if (result == LDAP_SUCCESS)
        result = ldap_abandon_ext(handle, id, NULL, NULL);
    return result == LDAP_SUCCESS ? outcome_ok() : ldap_connection_send_outcome(connection, result);
}

/* After StartTLS the server expects a handshake (RFC 4511 4.14.1): only a bind can ask for it. */
static void *ldap_extended_compile(const struct packet_details *details,
                                   struct packet_context *context, struct error *error)
{
    (void)context;
    const char *oid = packet_details_get(details, "oid")->text;
    if (strcmp(oid, LDAP_EXOP_START_TLS) == 0) {
        error_set(error, -EINVAL, "oid: StartTLS is requested with tls: starttls of ldap:0");
        return NULL;
    }
    struct extended_details *extended = calloc(1, sizeof *extended);
    if (extended)
        extended->oid = oid;
    else
        error_no_memory(error);
    return extended;
}

static struct outcome ldap_play_extended(struct conversation *conversation, const void *details)
{
    const struct extended_details *extended = details;
    struct outcome outcome = need_bind(conversation);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct ldap_connection *connection = newest_connection(conversation);
    int id = 0;
    int result = ldap_extended_operation(ldap_connection_handle(connection), extended->oid, NULL,
                                         NULL, NULL, &id);
    return ldap_connection_finish(connection, result, id);
}
