/* SPDX-License-Identifier: Apache-2.0 */
/* The SMB2 state of a conversation, from the outside in: connection, session, tree, open file. */
#include "protocols/smb2/smb2.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/smb2/smb2_negotiate.h"
#include "protocols/smb2/smb2_private.h"
#include "protocols/smb2/smb2_session.h"
#include "protocols/smb2/smb2_tree.h"

enum { NAME_SIZE = 512 };

enum {
    READ_ACCESS = 0x00120089,    /* data, EAs, attributes, security, synchronize */
    LIST_ACCESS = 0x00120081,    /* list, attributes, security, synchronize */
    PIPE_ACCESS = 0x0012019f,    /* read and write */
    SCRATCH_ACCESS = 0x0013019f, /* read, write, delete */
    /* Rights to change a file or its security, which no user has on SYSVOL and NETLOGON. */
    CHANGING_ACCESS = 0x500d0156,
    SHARE_ALL = 7
};

/* The file to open, and how. */
struct choice {
    enum smb2_share share;
    enum smb2_file_class file_class;
    char name[NAME_SIZE];
    struct smb2_create create;
};

static struct smb2_state *smb2_get_state(struct conversation *conversation);
static void drop_connection(struct smb2_state *state);
static void drop_session(struct smb2_state *state, enum smb2_who who);
static struct outcome set_up_session(struct conversation *conversation,
                                     struct smb2_connection *connection, enum smb2_who who);
static struct outcome try_wrong_password(struct conversation *conversation,
                                         struct smb2_connection *connection, enum smb2_who who);
static const struct account *account_of(const struct conversation *conversation, enum smb2_who who);
static struct outcome need_session(struct conversation *conversation, enum smb2_who who,
                                   struct smb2_target *target);
static struct outcome connect_tree(struct conversation *conversation,
                                   const struct smb2_target *target, enum smb2_share share);
static void drop_opens_of_tree(struct smb2_state *state, uint32_t tree_id);
static enum smb2_share substitute_share(const struct conversation *conversation,
                                        enum smb2_share share);
static void choose_file(struct conversation *conversation, const struct smb2_open_request *request,
                        struct choice *choice);
static void choose_scratch(struct conversation *conversation,
                           enum smb2_scratch_disposition disposition, struct choice *choice);
static void choose_shared(struct conversation *conversation, enum smb2_file_class file_class,
                          struct choice *choice);
static void restrict_shared(struct smb2_create *create);
static struct smb2_open *room_for_open(struct smb2_state *state);
static void restrict_lease(const struct smb2_connection *connection, struct smb2_create *create);
static bool forget_lost(struct smb2_state *state);
static bool forget_lost_in(struct smb2_state *state, enum smb2_who who);
static bool forget_file(struct smb2_state *state, const uint8_t *file_id);

struct outcome smb2_connect(struct conversation *conversation, bool from_smb1)
{
    struct smb2_state *state = smb2_get_state(conversation);
    if (!state)
        return outcome_of_error(-ENOMEM);
    drop_connection(state);
    int rc = smb2_connection_open(&state->connection, conversation);
    if (rc)
        return outcome_of_wire(&conversation->wire, rc);
    struct outcome outcome = smb2_negotiate(state->connection, conversation, from_smb1);
    if (outcome.kind != OUTCOME_OK)
        drop_connection(state);
    return outcome;
}

static struct smb2_state *smb2_get_state(struct conversation *conversation)
{
    if (!conversation->smb2) {
        conversation->smb2 = calloc(1, sizeof *conversation->smb2);
        if (conversation->smb2)
            conversation->smb2->base.reset = smb2_reset;
    }
    return conversation->smb2;
}

static void drop_connection(struct smb2_state *state)
{
    smb2_connection_free(state->connection);
    state->connection = NULL;
    drop_session(state, SMB2_USER);
    drop_session(state, SMB2_MACHINE);
}

/* Drops what a session had. Only the user's session has files; pipes compare the generation. */
static void drop_session(struct smb2_state *state, enum smb2_who who)
{
    state->generation[who]++;
    if (who == SMB2_USER)
        state->open_count = 0;
}

struct outcome smb2_logon(struct conversation *conversation)
{
    struct smb2_connection *connection;
    struct outcome outcome = smb2_need_connection(conversation, &connection, NULL);
    if (outcome.kind == OUTCOME_OK)
        outcome = set_up_session(conversation, connection, SMB2_USER);
    return outcome;
}

static struct outcome set_up_session(struct conversation *conversation,
                                     struct smb2_connection *connection, enum smb2_who who)
{
    drop_session(conversation->smb2, who);
    struct outcome outcome = try_wrong_password(conversation, connection, who);
    if (outcome.kind == OUTCOME_OK)
        outcome = smb2_session_setup(connection, conversation, who, false);
    if (outcome.kind == OUTCOME_FAILED && conversation->kerberos && !connection->error) {
        /* The server may no longer accept the ticket: try once with a new one. */
        kerberos_forget_tickets(conversation, account_of(conversation, who));
        outcome = smb2_session_setup(connection, conversation, who, false);
    }
    return outcome;
}

/* -B: makes one attempt with a wrong password, which the server must refuse. With Kerberos the AS
 * exchange makes it, because only that uses the password. */
static struct outcome try_wrong_password(struct conversation *conversation,
                                         struct smb2_connection *connection, enum smb2_who who)
{
    if (conversation->kerberos || !conversation_wants_bad_password(conversation))
        return outcome_ok();
    struct outcome outcome = smb2_session_setup(connection, conversation, who, true);
    if (outcome.kind == OUTCOME_OK) {
        drop_session(conversation->smb2, who);
        connection->sessions[who].established = false;
        return outcome_failed("a wrong password was accepted");
    }
    if (outcome.kind == OUTCOME_FAILED && !connection->error) {
        conversation->expected_failures++;
        return outcome_ok();
    }
    return outcome;
}

static const struct account *account_of(const struct conversation *conversation, enum smb2_who who)
{
    return who == SMB2_USER ? conversation->user : conversation->machine;
}

struct outcome smb2_logoff(struct conversation *conversation)
{
    struct smb2_target target;
    struct outcome outcome = need_session(conversation, SMB2_USER, &target);
    if (outcome.kind == OUTCOME_OK) {
        outcome = smb2_session_logoff(target.connection, target.session);
        drop_session(conversation->smb2, SMB2_USER);
    }
    return outcome;
}

static struct outcome need_session(struct conversation *conversation, enum smb2_who who,
                                   struct smb2_target *target)
{
    struct outcome outcome = smb2_need_connection(conversation, &target->connection, NULL);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    target->session = &target->connection->sessions[who];
    if (!target->session->established)
        outcome = set_up_session(conversation, target->connection, who);
    return outcome;
}

struct outcome smb2_connect_tree(struct conversation *conversation, enum smb2_share share)
{
    struct smb2_target target;
    struct outcome outcome = need_session(conversation, SMB2_USER, &target);
    if (outcome.kind == OUTCOME_OK)
        outcome = connect_tree(conversation, &target, substitute_share(conversation, share));
    return outcome;
}

static struct outcome connect_tree(struct conversation *conversation,
                                   const struct smb2_target *target, enum smb2_share share)
{
    const struct dc *dc = conversation->dc;
    static const char *const names[] = {[SMB2_SHARE_IPC] = "IPC$",
                                        [SMB2_SHARE_SYSVOL] = "SYSVOL",
                                        [SMB2_SHARE_NETLOGON] = "NETLOGON"};
    const char *name = share == SMB2_SHARE_OTHER ? dc->options.smb_share : names[share];
    const char *server = dc->dns_name ? dc->dns_name : dc->address_text;
    struct smb2_session *session = target->session;
    if (session->tree_count == SMB2_TREES_MAX &&
        session == &target->connection->sessions[SMB2_USER])
        drop_opens_of_tree(conversation->smb2, session->trees[0].id);
    return smb2_tree_connect(target->connection, session, server, name, share);
}

static void drop_opens_of_tree(struct smb2_state *state, uint32_t tree_id)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < state->open_count; i++)
        if (state->opens[i].tree_id != tree_id)
            state->opens[kept++] = state->opens[i];
    state->open_count = kept;
}

/* Without --smb-share, SYSVOL takes the place of other shares. */
static enum smb2_share substitute_share(const struct conversation *conversation,
                                        enum smb2_share share)
{
    bool has_other = conversation->dc->options.smb_share != NULL;
    return share == SMB2_SHARE_OTHER && !has_other ? SMB2_SHARE_SYSVOL : share;
}

struct outcome smb2_disconnect_tree(struct conversation *conversation)
{
    struct smb2_target target;
    struct outcome outcome = need_session(conversation, SMB2_USER, &target);
    if (outcome.kind == OUTCOME_OK && target.session->tree_count == 0)
        outcome = connect_tree(conversation, &target, SMB2_SHARE_IPC);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    unsigned newest = target.session->tree_count - 1;
    drop_opens_of_tree(conversation->smb2, target.session->trees[newest].id);
    return smb2_tree_disconnect(target.connection, target.session, newest);
}

struct outcome smb2_open_file(struct conversation *conversation,
                              const struct smb2_open_request *request)
{
    struct choice choice;
    struct smb2_target target;
    struct smb2_created created;
    choose_file(conversation, request, &choice);
    struct outcome outcome = smb2_need_tree(conversation, SMB2_USER, choice.share, &target);
    struct smb2_state *state = conversation->smb2;
    if (outcome.kind == OUTCOME_OK && state->open_count == SMB2_OPENS_MAX)
        outcome = smb2_close_file(conversation, &state->opens[0]);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct smb2_open *open = room_for_open(state);
    if (!open)
        return outcome_of_error(-ENOMEM);
    restrict_lease(target.connection, &choice.create);
    outcome = smb2_create(&target, &choice.create, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    *open = (struct smb2_open){.tree_id = target.tree->id,
                               .file_class = (uint8_t)choice.file_class,
                               .end_of_file = created.end_of_file};
    memcpy(open->file_id, created.file_id, sizeof open->file_id);
    state->open_count++;
    return outcome;
}

static void choose_file(struct conversation *conversation, const struct smb2_open_request *request,
                        struct choice *choice)
{
    *choice = (struct choice){.file_class = request->file_class,
                              .create = {.share_access = SHARE_ALL, .disposition = SMB2_OPEN}};
    if (request->file_class == SMB2_FILE_PIPE) {
        choice->share = SMB2_SHARE_IPC;
        choice->create.access = PIPE_ACCESS;
        snprintf(choice->name, sizeof choice->name, "srvsvc");
    } else if (request->file_class == SMB2_FILE_OTHER && conversation->dc->options.smb_share) {
        choose_scratch(conversation, request->disposition, choice);
    } else {
        choose_shared(conversation, request->file_class, choice);
    }
    choice->create.name = choice->name;
    /* The open needs the rights of later reads and writes. */
    choice->create.access |= request->access;
    if (choice->share == SMB2_SHARE_IPC)
        return;
    choice->create.oplock = request->oplock;
    choice->create.lease = request->lease;
    le_put64(choice->create.lease_key, conversation->random(conversation->random_state));
    le_put64(choice->create.lease_key + 8, conversation->random(conversation->random_state));
    if (choice->share != SMB2_SHARE_OTHER)
        restrict_shared(&choice->create);
}

/* The conversation's own file, which nobody else opens. Closing it deletes it. */
static void choose_scratch(struct conversation *conversation,
                           enum smb2_scratch_disposition disposition, struct choice *choice)
{
    static const enum smb2_disposition values[] = {[SMB2_SCRATCH_OVERWRITE_IF] = SMB2_OVERWRITE_IF,
                                                   [SMB2_SCRATCH_CREATE] = SMB2_CREATE_NEW,
                                                   [SMB2_SCRATCH_OPEN_IF] = SMB2_OPEN_IF,
                                                   [SMB2_SCRATCH_SUPERSEDE] = SMB2_SUPERSEDE};
    choice->share = SMB2_SHARE_OTHER;
    snprintf(choice->name, sizeof choice->name, "traffic-replay-%s-%08x.tmp",
             conversation->user->name, (uint32_t)conversation->random(conversation->random_state));
    choice->create.access = SCRATCH_ACCESS;
    choice->create.disposition = values[disposition];
    choice->create.options = SMB2_NON_DIRECTORY_FILE | SMB2_DELETE_ON_CLOSE;
}

static void choose_shared(struct conversation *conversation, enum smb2_file_class file_class,
                          struct choice *choice)
{
    static const char policy[] = "{31B2F340-016D-11D2-945F-00C04FB984F9}"; /* in every domain */
    const struct dc *dc = conversation->dc;
    enum smb2_shared_class class = file_class == SMB2_FILE_SCRIPT      ? SMB2_SHARED_SCRIPT
                                   : file_class == SMB2_FILE_DIRECTORY ? SMB2_SHARED_DIRECTORY
                                                                       : SMB2_SHARED_POLICY;
    uint64_t random = conversation->random(conversation->random_state);
    const struct smb2_shared_file *file = smb2_shared_files_pick(dc->shared_files, class, random);
    if (!file && class == SMB2_SHARED_SCRIPT) /* a domain without scripts */
        file = smb2_shared_files_pick(dc->shared_files, SMB2_SHARED_POLICY, random);
    const char *domain = dc->dns_domain ? dc->dns_domain : "";
    bool directory = class == SMB2_SHARED_DIRECTORY;
    choice->share = file ? file->share : SMB2_SHARE_SYSVOL;
    if (file)
        snprintf(choice->name, sizeof choice->name, "%s", file->path);
    else
        snprintf(choice->name, sizeof choice->name, "%s\\Policies%s%s%s", domain,
                 directory ? "" : "\\", directory ? "" : policy, directory ? "" : "\\GPT.INI");
    choice->create.options = directory ? SMB2_DIRECTORY_FILE : SMB2_NON_DIRECTORY_FILE;
    choice->create.access = directory ? LIST_ACCESS : READ_ACCESS;
    choice->file_class = file_class == SMB2_FILE_OTHER ? SMB2_FILE_POLICY : file_class;
}

/*
 * Many clients open files in SYSVOL and NETLOGON at once, and a client that plays nothing reads no
 * breaks. If it held a right to cache writes, the next client to open the file would wait for half
 * a minute. Oplocks and leases on these files therefore only cache reads, and the access mask
 * contains no rights that users do not have there.
 */
static void restrict_shared(struct smb2_create *create)
{
    if (create->oplock == SMB2_OPLOCK_EXCLUSIVE || create->oplock == SMB2_OPLOCK_BATCH)
        create->oplock = SMB2_OPLOCK_II;
    create->lease &= SMB2_LEASE_READ | SMB2_LEASE_HANDLE;
    create->access &= ~(uint32_t)CHANGING_ACCESS;
}

static struct smb2_open *room_for_open(struct smb2_state *state)
{
    if (state->open_count == state->open_capacity) {
        unsigned capacity = state->open_capacity ? 2 * state->open_capacity : 4;
        struct smb2_open *grown = realloc(state->opens, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        state->opens = grown;
        state->open_capacity = capacity;
    }
    return &state->opens[state->open_count];
}

/* Leases require 2.1 and a server that grants them (3.2.4.3.8). */
static void restrict_lease(const struct smb2_connection *connection, struct smb2_create *create)
{
    enum { GLOBAL_CAP_LEASING = 2 };
    bool can = connection->dialect > 0x0202 && connection->capabilities & GLOBAL_CAP_LEASING;
    if (create->oplock == SMB2_OPLOCK_LEASE && (!can || !create->lease))
        create->oplock = SMB2_OPLOCK_II;
}

struct smb2_open *smb2_newest(struct conversation *conversation, unsigned classes,
                              struct smb2_target *target)
{
    struct smb2_state *state = conversation->smb2;
    if (!state || !state->connection || state->connection->error)
        return NULL;
    *target = (struct smb2_target){.connection = state->connection,
                                   .session = &state->connection->sessions[SMB2_USER]};
    for (unsigned i = state->open_count; target->session->established && i > 0; i--) {
        struct smb2_open *open = &state->opens[i - 1];
        target->tree = smb2_tree_by_id(target->session, open->tree_id);
        if (target->tree && classes & 1u << open->file_class)
            return open;
    }
    return NULL;
}

struct outcome smb2_need_open(struct conversation *conversation, unsigned classes,
                              enum smb2_file_class usual, struct smb2_open **open,
                              struct smb2_target *target)
{
    struct smb2_open_request request = {.file_class = usual};
    struct outcome outcome = outcome_ok();
    *open = smb2_newest(conversation, classes, target);
    if (*open)
        return outcome;
    outcome = smb2_open_file(conversation, &request);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    *open = smb2_newest(conversation, classes, target);
    return *open ? outcome : outcome_failed("SMB2: the file was not opened");
}

struct outcome smb2_close_file(struct conversation *conversation, struct smb2_open *open)
{
    struct smb2_state *state = conversation->smb2;
    struct smb2_session *session = &state->connection->sessions[SMB2_USER];
    struct smb2_target target = {.connection = state->connection,
                                 .session = session,
                                 .tree = smb2_tree_by_id(session, open->tree_id)};
    struct smb2_open closed = *open;
    unsigned index = (unsigned)(open - state->opens);
    state->open_count--;
    memmove(open, open + 1, (state->open_count - index) * sizeof *open);
    return smb2_close(&target, closed.file_id);
}

struct outcome smb2_need_tree(struct conversation *conversation, enum smb2_who who,
                              enum smb2_share share, struct smb2_target *target)
{
    share = substitute_share(conversation, share);
    struct outcome outcome = need_session(conversation, who, target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    if (!smb2_tree_find(target->session, share))
        outcome = connect_tree(conversation, target, share);
    target->tree = smb2_tree_find(target->session, share);
    return outcome;
}

struct outcome smb2_need_connection(struct conversation *conversation,
                                    struct smb2_connection **connection,
                                    struct smb2_session **session)
{
    struct smb2_state *state = conversation->smb2;
    struct outcome outcome = outcome_ok();
    if (!state || !state->connection || state->connection->error)
        outcome = smb2_connect(conversation, false);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    *connection = conversation->smb2->connection;
    if (session) {
        *session = &(*connection)->sessions[SMB2_USER];
        *session = (*session)->established ? *session : NULL;
    }
    return outcome;
}

struct outcome smb2_play(struct conversation *conversation,
                         struct outcome (*play)(struct conversation *, const void *),
                         const void *details)
{
    struct outcome outcome = play(conversation, details);
    struct smb2_state *state = conversation->smb2;
    if (outcome.kind != OUTCOME_FAILED || !state || !state->connection)
        return outcome;
    if (!forget_lost(state))
        return outcome;
    outcome = play(conversation, details);
    if (outcome.kind == OUTCOME_FAILED && state->connection)
        (void)forget_lost(state);
    return outcome;
}

static bool forget_lost(struct smb2_state *state)
{
    bool lost = false;
    for (int who = 0; who < SMB2_WHO_COUNT; who++)
        lost |= forget_lost_in(state, (enum smb2_who)who);
    return lost;
}

/* Forgets what the server ended: a session, its trees, a file. False: there was nothing to
 * forget. */
static bool forget_lost_in(struct smb2_state *state, enum smb2_who who)
{
    struct smb2_session *session = &state->connection->sessions[who];
    bool lost = session->lost;
    if (lost)
        drop_session(state, who);
    for (unsigned i = 0; who == SMB2_USER && i < session->tree_count; i++)
        if (session->trees[i].lost)
            drop_opens_of_tree(state, session->trees[i].id);
    lost |= smb2_tree_drop_lost(session);
    if (session->file_lost && who == SMB2_USER)
        lost |= forget_file(state, session->lost_file);
    session->lost = session->file_lost = false;
    return lost;
}

/* Removes a file that the server closed from the open files. */
static bool forget_file(struct smb2_state *state, const uint8_t *file_id)
{
    for (unsigned i = 0; i < state->open_count; i++) {
        struct smb2_open *open = &state->opens[i];
        if (memcmp(open->file_id, file_id, SMB2_FILE_ID_SIZE) == 0) {
            state->open_count--;
            memmove(open, open + 1, (state->open_count - i) * sizeof *open);
            return true;
        }
    }
    return false;
}

void smb2_reset(struct conversation *conversation)
{
    struct smb2_state *state = conversation->smb2;
    if (!state)
        return;
    drop_connection(state);
    free(state->opens);
    free(state);
    conversation->smb2 = NULL;
}
