/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/system.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/packet.h"

enum { THREADS_MAX = 64 };

/* What the threads share. Each one takes the next account until none are left. */
struct keys_work {
    struct dc *dc;
    struct account **accounts;
    size_t count;
    _Atomic size_t next;
    pthread_mutex_t lock; /* for the members below */
    struct progress progress;
    int result;
};

static unsigned needs_of(const struct settings *settings, const struct model *model);
static unsigned needs_of_details(const struct model_type *type);
static int hash_all(struct account *accounts, size_t count);
static int keys_learn(struct keys_work *work, struct error *error);
static void report_missing_keys(const struct keys_work *work);
static uint64_t keys_no_random(void *state);
static void keys_collect(struct keys_work *work, struct account *accounts, size_t count);
static int derive_in_threads(struct keys_work *work);
static void *keys_derive_some(void *argument);

struct keys_wanted keys_wanted(const struct settings *settings, const struct model *model)
{
    unsigned needs = needs_of(settings, model);
    bool kerberos = settings->play.prefer_kerberos || needs & PACKET_NEEDS_KERBEROS;
    bool admin = needs & PACKET_NEEDS_ADMIN_KEY ||
                 (needs & PACKET_NEEDS_SAMR_KEY && !settings->play.samr_as_user);
    if ((settings->play.generic_ldap && !settings->play.file_server) || !kerberos)
        return (struct keys_wanted){0};
    return (struct keys_wanted){.users = true,
                                .machines = needs & PACKET_NEEDS_MACHINE_KEY,
                                .admin = admin && !settings->admin_kerberos};
}

/* The needs of the packets that --only, --skip and the options allow. */
static unsigned needs_of(const struct settings *settings, const struct model *model)
{
    size_t count = 0;
    unsigned needs = 0;
    const struct model_type *types = model ? model_types(model, &count) : NULL;
    for (packet_index i = 0; i < count; i++) {
        const struct packet_row *row = types[i].row;
        if (row && settings_plays(settings, types[i].protocol, types[i].opcode) &&
            packet_is_available(row, &settings->play))
            needs |= row->protocol->needs | row->needs | needs_of_details(&types[i]);
    }
    return needs;
}

static unsigned needs_of_details(const struct model_type *type)
{
    unsigned needs = 0;
    for (size_t d = 0; d < type->details_count; d++)
        needs |=
            packet_details_needs(type->row, type->details[d].fields, type->details[d].field_count);
    return needs;
}

bool keys_machines_used(const struct settings *settings, const struct model *model)
{
    return !settings->play.generic_ldap && needs_of(settings, model) & PACKET_NEEDS_MACHINE;
}

int keys_of_admin(struct dc *dc)
{
    return dc->admin.password ? hash_all(&dc->admin, 1) : 0;
}

static int hash_all(struct account *accounts, size_t count)
{
    int result = 0;
    for (size_t i = 0; accounts && i < count && !result; i++) {
        result = ntlmssp_nt_hash(accounts[i].password, accounts[i].nt_hash);
        accounts[i].has_nt_hash = result == 0;
    }
    return result;
}

int keys_learn_admin(struct dc *dc, struct error *error)
{
    struct account *admin = &dc->admin;
    struct keys_work alone = {.dc = dc, .accounts = &admin, .count = 1};
    if (!admin->password || admin->has_aes256_key)
        return 0;
    return keys_learn(&alone, error);
}

static const int64_t learn_timeout = 30LL * 1000000000;

/* Asks the KDC for the salt of each account, with one AS-REQ each. */
static int keys_learn(struct keys_work *work, struct error *error)
{
    struct conversation conversation = {.dc = work->dc, .random = keys_no_random};
    conversation.wire.waiter = wire_blocking_waiter();
    conversation_init(&conversation);
    struct outcome outcome = outcome_ok();
    for (size_t i = 0; i < work->count && outcome.kind == OUTCOME_OK; i++) {
        conversation.wire.deadline = clock_now() + learn_timeout;
        outcome = kerberos_learn_key(&conversation, work->accounts[i]);
        if (outcome.kind != OUTCOME_OK)
            error_set(error, -EACCES, "cannot get the Kerberos salt of %s: %s",
                      work->accounts[i]->name, outcome.cause);
        if (work->progress.total > 0)
            progress_step(&work->progress);
    }
    conversation_reset(&conversation);
    if (outcome.kind == OUTCOME_OK)
        report_missing_keys(work);
    return outcome.kind == OUTCOME_OK ? 0 : -EACCES;
}

/* The KDC keeps the keys of the last change of a password: old ones have none of AES. */
static void report_missing_keys(const struct keys_work *work)
{
    size_t missing = 0;
    const char *name = NULL;
    for (size_t i = 0; i < work->count; i++)
        if (work->accounts[i]->no_aes256_key) {
            missing++;
            name = work->accounts[i]->name;
        }
    if (missing)
        message_print(
            "the KDC has no AES256 key of %s (%zu of %zu accounts): Kerberos uses another "
            "one, at 11 ms of processor time for each TGT; set the password again to "
            "get an AES256 key",
            name, missing, work->count);
}

static uint64_t keys_no_random(void *state)
{
    (void)state;
    return 0;
}

int keys_derive(struct dc *dc, const struct keys_wanted *wanted, bool foreign, struct error *error)
{
    int result = hash_all(dc->users, dc->account_count);
    if (!result)
        result = hash_all(dc->machines, dc->account_count);
    if (result == -ENOMEM)
        return error_no_memory(error);
    if (result)
        return error_set(error, -EINVAL, "a test account's password is not UTF-8");
    struct keys_work work = {.dc = dc};
    work.accounts = calloc(2 * dc->account_count + 1, sizeof(struct account *));
    if (!work.accounts)
        return error_no_memory(error);
    if (wanted->users)
        keys_collect(&work, dc->users, dc->account_count);
    if (wanted->machines)
        keys_collect(&work, dc->machines, dc->account_count);
    progress_start(&work.progress, "Kerberos keys derived", work.count);
    result = foreign ? keys_learn(&work, error) : derive_in_threads(&work);
    if (result && !foreign)
        error_set(error, result, "cannot derive a Kerberos key: %s", strerror(-result));
    if (work.count > 0)
        progress_end(&work.progress);
    if (!result && wanted->admin)
        result = keys_learn_admin(dc, error);
    free(work.accounts);
    return result;
}

static void keys_collect(struct keys_work *work, struct account *accounts, size_t count)
{
    for (size_t i = 0; accounts && i < count; i++)
        work->accounts[work->count++] = &accounts[i];
}

static int derive_in_threads(struct keys_work *work)
{
    pthread_t threads[THREADS_MAX];
    unsigned cores = system_cores(), started = 0;
    unsigned wanted = cores < THREADS_MAX ? cores : THREADS_MAX;
    pthread_mutex_init(&work->lock, NULL);
    while (started + 1 < wanted && started + 1 < work->count &&
           pthread_create(&threads[started], NULL, keys_derive_some, work) == 0)
        started++;
    keys_derive_some(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&work->lock);
    return work->result;
}

static void *keys_derive_some(void *argument)
{
    struct keys_work *work = argument;
    for (size_t i; (i = atomic_fetch_add(&work->next, 1)) < work->count;) {
        int result = kerberos_derive_key(work->accounts[i], work->dc->realm);
        pthread_mutex_lock(&work->lock);
        if (result && !work->result)
            work->result = result;
        progress_step(&work->progress);
        pthread_mutex_unlock(&work->lock);
    }
    return NULL;
}
