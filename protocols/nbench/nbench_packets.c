/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays the packets nbench:*. A packet is one step of the script, and its details are that step. It
 * is ok if the server answers as the loadfile expects, even if that is a failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/nbench/nbench_private.h"
#include "protocols/packet_players.h"
#include "protocols/smb2/smb2_change.h"

enum { STRING_SIZE = 64, INFO_FILE = 1, INFO_FILE_SYSTEM = 2, INFO_SIZE = 4096, LIST_SIZE = 65536 };

struct nbench_open {
    uint8_t file_id[SMB2_FILE_ID_SIZE];
    bool used;
};

/* The files that a client has open, and the values that computed numbers continue from. */
struct nbench_state {
    struct conversation_state base;
    uint64_t session_id; /* of the session and the tree in which they are open */
    uint32_t tree_id;
    struct nbench_open root; /* of the share, for QUERY_FS_INFORMATION */
    uint64_t offset, size;
    char *strings[SCRIPT_STRINGS];
    struct nbench_open opens[]; /* by slot */
};

/* One step that is being played. */
struct play {
    struct conversation *conversation;
    const struct nbench *nbench;
    const struct script_step *step;
    struct nbench_state *state;
    struct smb2_target target;
    struct nbench_open *open; /* of the step's slot; NULL: none */
    uint64_t offset;
    uint32_t size;
    char path[NBENCH_PATH_SIZE];
};

static struct outcome nbench_play(struct conversation *conversation, const void *details);
static struct outcome send_step(struct conversation *conversation, const void *details);
static struct outcome begin_play(struct play *play);
static struct outcome need_state(struct play *play);
static struct nbench_state *state_of(struct conversation *conversation);
static void nbench_reset(struct conversation *conversation);
static void forget_files(struct play *play);
static void compute_range(struct play *play);
static uint64_t compute_number(const struct play *play, uint32_t index, uint64_t previous);
static uint64_t client_number(const struct conversation *conversation);
static bool put_path(const struct play *play, uint32_t name, char path[NBENCH_PATH_SIZE]);
static struct outcome judge(const struct nbench *nbench, const struct script_step *step,
                            const struct outcome *outcome);
static struct outcome play_create(struct play *play);
static struct outcome play_close(struct play *play);
static struct outcome play_read(struct play *play);
static struct outcome play_write(struct play *play);
static uint32_t wanted_bytes(const struct play *play);
static struct outcome play_flush(struct play *play);
static struct outcome play_lock(struct play *play);
static struct outcome play_unlock(struct play *play);
static struct outcome play_query_path(struct play *play);
static struct outcome play_query_file(struct play *play);
static struct outcome query_file(struct play *play, const uint8_t *file_id);
static struct outcome play_query_fs(struct play *play);
static struct outcome play_set_file(struct play *play);
static struct outcome play_find(struct play *play);
static struct outcome play_rename(struct play *play);
static struct outcome play_unlink(struct play *play);
static struct outcome play_mkdir(struct play *play);
static struct outcome play_rmdir(struct play *play);
static struct outcome play_deltree(struct play *play);
static struct outcome nbench_play_string(struct conversation *conversation, const void *details);
static void draw_string(struct conversation *conversation, const char *pattern, char *out,
                        size_t size);

#define PLAYER(word)                                                                               \
    {                                                                                              \
        .name = "nbench:" word, .play = nbench_play                                                \
    }
const struct packet_player packet_players_nbench[] = {
    PLAYER("NTCreateX"),
    PLAYER("Close"),
    PLAYER("ReadX"),
    PLAYER("WriteX"),
    PLAYER("Flush"),
    PLAYER("LockX"),
    PLAYER("UnlockX"),
    PLAYER("QUERY_PATH_INFORMATION"),
    PLAYER("QUERY_FILE_INFORMATION"),
    PLAYER("QUERY_FS_INFORMATION"),
    PLAYER("SET_FILE_INFORMATION"),
    PLAYER("FIND_FIRST"),
    PLAYER("Rename"),
    PLAYER("Unlink"),
    PLAYER("Mkdir"),
    PLAYER("Rmdir"),
    PLAYER("Deltree"),
    {.name = "nbench:RANDOMSTRING", .play = nbench_play_string},
    {.name = NULL},
};

/* By enum script_op; needs_open: a step on a file that is open. */
static const struct {
    struct outcome (*play)(struct play *play);
    bool needs_open, needs_path;
} steps[SCRIPT_PACKETS] = {
    [SCRIPT_CREATE] = {play_create, false, true},
    [SCRIPT_CLOSE] = {play_close, true, false},
    [SCRIPT_READ] = {play_read, true, false},
    [SCRIPT_WRITE] = {play_write, true, false},
    [SCRIPT_FLUSH] = {play_flush, true, false},
    [SCRIPT_LOCK] = {play_lock, true, false},
    [SCRIPT_UNLOCK] = {play_unlock, true, false},
    [SCRIPT_QUERY_PATH] = {play_query_path, false, true},
    [SCRIPT_QUERY_FILE] = {play_query_file, true, false},
    [SCRIPT_QUERY_FS] = {play_query_fs, false, false},
    [SCRIPT_SET_FILE] = {play_set_file, true, false},
    [SCRIPT_FIND] = {play_find, false, true},
    [SCRIPT_RENAME] = {play_rename, false, true},
    [SCRIPT_UNLINK] = {play_unlink, false, true},
    [SCRIPT_MKDIR] = {play_mkdir, false, true},
    [SCRIPT_RMDIR] = {play_rmdir, false, true},
    [SCRIPT_DELTREE] = {play_deltree, false, true},
};

static struct outcome nbench_play(struct conversation *conversation, const void *details)
{
    const struct nbench *nbench = conversation->dc->nbench;
    struct outcome outcome = smb2_play(conversation, send_step, details);
    return judge(nbench, details, &outcome);
}

static struct outcome send_step(struct conversation *conversation, const void *details)
{
    const struct script_step *step = details;
    struct play play = {
        .conversation = conversation, .nbench = conversation->dc->nbench, .step = step};
    struct outcome outcome = begin_play(&play);
    return outcome.kind == OUTCOME_OK ? steps[step->op].play(&play) : outcome;
}

/* Opens connection, session and tree, and finds the file and the path of the step. */
static struct outcome begin_play(struct play *play)
{
    const struct script_step *step = play->step;
    struct outcome outcome =
        smb2_need_tree(play->conversation, SMB2_USER, SMB2_SHARE_OTHER, &play->target);
    if (outcome.kind == OUTCOME_OK)
        outcome = need_state(play);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    if (steps[step->op].needs_open && !play->state->opens[step->slot].used)
        return outcome_failed("file is not open");
    if (steps[step->op].needs_open)
        play->open = &play->state->opens[step->slot];
    if (steps[step->op].needs_path && !put_path(play, step->name, play->path))
        return outcome_failed("path is too long");
    compute_range(play);
    return outcome;
}

/* Files of another session or tree are lost. */
static struct outcome need_state(struct play *play)
{
    play->state = state_of(play->conversation);
    if (!play->state)
        return outcome_of_error(-ENOMEM);
    uint64_t session_id = play->target.session->id;
    uint32_t tree_id = play->target.tree->id;
    if (play->state->session_id != session_id || play->state->tree_id != tree_id)
        forget_files(play);
    play->state->session_id = session_id;
    play->state->tree_id = tree_id;
    return outcome_ok();
}

/* NULL: out of memory. */
static struct nbench_state *state_of(struct conversation *conversation)
{
    size_t slots = conversation->dc->nbench->script->slot_count;
    if (conversation->nbench)
        return conversation->nbench;
    conversation->nbench =
        calloc(1, sizeof *conversation->nbench + slots * sizeof(struct nbench_open));
    if (conversation->nbench)
        conversation->nbench->base.reset = nbench_reset;
    return conversation->nbench;
}

static void nbench_reset(struct conversation *conversation)
{
    for (size_t i = 0; i < SCRIPT_STRINGS; i++)
        free(conversation->nbench->strings[i]);
    free(conversation->nbench);
    conversation->nbench = NULL;
}

static void forget_files(struct play *play)
{
    play->state->root.used = false;
    for (uint32_t i = 0; i < play->nbench->script->slot_count; i++)
        play->state->opens[i].used = false;
}

/* The offset and size of a read, a write or a lock. */
static void compute_range(struct play *play)
{
    const struct script_step *step = play->step;
    bool ranges = step->op == SCRIPT_READ || step->op == SCRIPT_WRITE || step->op == SCRIPT_LOCK ||
                  step->op == SCRIPT_UNLOCK;
    play->offset = step->offset;
    play->size = step->size;
    if (!ranges)
        return;
    if (step->flags & SCRIPT_COMPUTED_OFFSET)
        play->offset =
            compute_number(play, (uint32_t)step->offset, play->state->offset) & INT64_MAX;
    if (step->flags & SCRIPT_COMPUTED_SIZE)
        play->size = (uint32_t)compute_number(play, step->size, play->state->size) % (1 << 30);
    play->state->offset = play->offset;
    play->state->size = play->size;
}

static uint64_t compute_number(const struct play *play, uint32_t index, uint64_t previous)
{
    const struct script_number *number = &play->nbench->script->numbers[index];
    struct conversation *conversation = play->conversation;
    uint64_t value = number->random ? conversation->random(conversation->random_state) : previous;
    for (unsigned i = 0; i < number->change_count; i++) {
        const struct script_change *change = &number->changes[i];
        switch (change->sign) {
        case '+':
            value += change->value;
            break;
        case '*':
            value *= change->value;
            break;
        case '/':
            value /= change->value;
            break;
        case '%':
            value %= change->value;
            break;
        case 'c':
            value += client_number(conversation);
            break;
        default:
            value += play->nbench->clients;
            break;
        }
    }
    return value;
}

/* From 0. */
static uint64_t client_number(const struct conversation *conversation)
{
    const struct account *users = conversation->dc->users;
    return users ? (uint64_t)(conversation->user - users) : 0;
}

/* The path of a name below the run's folder: each client1 becomes the client's own number, $0 to $9
 * the random strings. false: it is too long. */
static bool put_path(const struct play *play, uint32_t name, char path[NBENCH_PATH_SIZE])
{
    static const char one[] = "client1";
    const struct conversation *conversation = play->conversation;
    const char *from = play->nbench->script->names[name];
    unsigned long number = (unsigned long)client_number(conversation) + 1;
    size_t used = (size_t)snprintf(path, NBENCH_PATH_SIZE, "%s", play->nbench->folder);
    if (from[1] == '\0') /* the folder itself */
        return used < NBENCH_PATH_SIZE;
    while (*from && used < NBENCH_PATH_SIZE - 32) {
        bool string = from[0] == '$' && from[1] >= '0' && from[1] <= '9';
        if (strncmp(from, one, sizeof one - 1) == 0 &&
            !(from[sizeof one - 1] >= '0' && from[sizeof one - 1] <= '9')) {
            used += (size_t)sprintf(path + used, "client%lu", number);
            from += sizeof one - 1;
        } else if (string) {
            const char *text = play->state->strings[from[1] - '0'];
            used += (size_t)snprintf(path + used, NBENCH_PATH_SIZE - used, "%s", text ? text : "");
            from += 2;
        } else {
            path[used++] = *from++;
        }
    }
    if (used >= NBENCH_PATH_SIZE - 32)
        return false;
    path[used] = '\0';
    return true;
}

/* Compares the outcome with the status that the loadfile expects. */
static struct outcome judge(const struct nbench *nbench, const struct script_step *step,
                            const struct outcome *outcome)
{
    const char *wanted = nbench->statuses[step->status];
    bool failed = outcome->kind == OUTCOME_FAILED;
    /* Failures below SMB2 are never what a loadfile expects. */
    bool answered =
        outcome->kind == OUTCOME_OK ||
        (failed && strncmp(outcome->cause, "NT", 2) == 0 && strstr(outcome->cause, "STATUS"));
    const char *got = failed ? outcome->cause : "NT_STATUS_OK";
    if (!answered)
        return *outcome;
    if (strcmp(wanted, "*") == 0 || strcmp(wanted, got) == 0 ||
        (strcmp(wanted, "ERROR") == 0 && failed))
        return outcome_ok();
    return outcome_failed("%.40s instead of %.40s", got, wanted);
}

/* The rights of NetBench's clients as smbtorture asks for them, and on folders the attributes,
 * which SMB2 servers require for queries. */
static struct outcome play_create(struct play *play)
{
    const struct script_step *step = play->step;
    uint32_t options = (uint32_t)step->offset;
    uint32_t access = NBENCH_READ_DATA | NBENCH_READ_ATTRIBUTES;
    struct nbench_open *open =
        step->slot == SCRIPT_NO_SLOT ? NULL : &play->state->opens[step->slot];
    struct smb2_created created;
    if (open && open->used) /* left open by the pass before */
        (void)smb2_close(&play->target, open->file_id);
    if (open)
        open->used = false;
    if (!(options & SMB2_DIRECTORY_FILE))
        access |= NBENCH_WRITE_DATA | NBENCH_WRITE_ATTRIBUTES;
    if (options & SMB2_DELETE_ON_CLOSE)
        access |= NBENCH_DELETE;
    const struct smb2_create create = {.name = play->path,
                                       .access = access,
                                       .share_access = NBENCH_SHARE_READ_WRITE,
                                       .disposition = (enum smb2_disposition)(step->offset >> 32),
                                       .options = options};
    struct outcome outcome = smb2_create(&play->target, &create, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    if (!open)
        return nbench_close_path(&play->target, &created, outcome);
    memcpy(open->file_id, created.file_id, sizeof open->file_id);
    open->used = true;
    return outcome;
}

static struct outcome play_close(struct play *play)
{
    play->open->used = false;
    return smb2_close(&play->target, play->open->file_id);
}

/* Sends several requests if the server does not return that many bytes at once. */
static struct outcome play_read(struct play *play)
{
    struct outcome outcome = outcome_ok();
    uint32_t got = 0, part = 1;
    while (outcome.kind == OUTCOME_OK && got < play->size && part > 0) {
        struct smb2_data data;
        uint32_t left = play->size - got;
        uint32_t size =
            smb2_connection_payload(play->target.connection, play->target.connection->max_read,
                                    left < SMB2_IO_MAX ? left : SMB2_IO_MAX);
        outcome = smb2_read(&play->target, play->open->file_id, play->offset + got, size, &data);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
        part = (uint32_t)data.size;
        smb2_data_free(&data);
        got += part;
    }
    /* Over SMB1, a read at the end succeeds with no bytes. */
    bool meant_to_fail = play->step->status > SCRIPT_STATUS_OK;
    if (outcome.kind == OUTCOME_OK && got == 0 && play->size > 0 && meant_to_fail)
        return outcome_failed("NT_STATUS_END_OF_FILE");
    if (outcome.kind == OUTCOME_OK && got != wanted_bytes(play))
        return outcome_failed("another number of bytes than expected");
    return outcome;
}

static uint32_t wanted_bytes(const struct play *play)
{
    return play->step->name == UINT32_MAX ? play->size : play->step->name;
}

static struct outcome play_write(struct play *play)
{
    struct outcome outcome = outcome_ok();
    uint32_t done = 0, written = 1;
    while (outcome.kind == OUTCOME_OK && done < play->size && written > 0) {
        uint32_t left = play->size - done;
        uint32_t size =
            smb2_connection_payload(play->target.connection, play->target.connection->max_write,
                                    left < SMB2_IO_MAX ? left : SMB2_IO_MAX);
        written = 0;
        outcome = smb2_write(&play->target, play->open->file_id, play->offset + done,
                             play->nbench->pattern, size, &written);
        done += written;
    }
    if (outcome.kind == OUTCOME_OK && done != wanted_bytes(play))
        return outcome_failed("another number of bytes than expected");
    return outcome;
}

static struct outcome play_flush(struct play *play)
{
    return smb2_flush(&play->target, play->open->file_id);
}

static struct outcome play_lock(struct play *play)
{
    return smb2_lock(&play->target, play->open->file_id, play->offset, play->size,
                     SMB2_LOCK_EXCLUSIVE | SMB2_LOCK_FAIL_IMMEDIATELY);
}

static struct outcome play_unlock(struct play *play)
{
    return smb2_lock(&play->target, play->open->file_id, play->offset, play->size,
                     SMB2_LOCK_UNLOCK);
}

static struct outcome play_query_path(struct play *play)
{
    struct smb2_created created;
    struct outcome outcome =
        nbench_open_path(&play->target, play->path, NBENCH_READ_ATTRIBUTES, 0, SMB2_OPEN, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = query_file(play, created.file_id);
    return nbench_close_path(&play->target, &created, outcome);
}

static struct outcome play_query_file(struct play *play)
{
    return query_file(play, play->open->file_id);
}

static struct outcome query_file(struct play *play, const uint8_t *file_id)
{
    struct smb2_data data;
    uint8_t class = script_class_of_level(play->step->op, play->step->size);
    struct outcome outcome =
        smb2_query_info(&play->target, file_id, INFO_FILE, class, 0, INFO_SIZE, &data);
    smb2_data_free(&data);
    return outcome;
}

static struct outcome play_query_fs(struct play *play)
{
    struct nbench_open *root = &play->state->root;
    struct smb2_created created;
    struct smb2_data data;
    if (!root->used) {
        struct outcome outcome = nbench_open_path(&play->target, "", NBENCH_READ_ATTRIBUTES,
                                                  SMB2_DIRECTORY_FILE, SMB2_OPEN, &created);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
        memcpy(root->file_id, created.file_id, sizeof root->file_id);
        root->used = true;
    }
    uint8_t class = script_class_of_level(SCRIPT_QUERY_FS, play->step->size);
    struct outcome outcome =
        smb2_query_info(&play->target, root->file_id, INFO_FILE_SYSTEM, class, 0, INFO_SIZE, &data);
    smb2_data_free(&data);
    return outcome;
}

static struct outcome play_set_file(struct play *play)
{
    return smb2_set_basic(&play->target, play->open->file_id);
}

/* Opens the folder, and searches for the last part of the path. */
static struct outcome play_find(struct play *play)
{
    char *mask = strrchr(play->path, '\\');
    struct smb2_created created;
    struct smb2_data data;
    if (mask)
        *mask++ = '\0';
    struct outcome outcome = nbench_open_path(&play->target, mask ? play->path : "",
                                              NBENCH_READ_DATA | NBENCH_READ_ATTRIBUTES,
                                              SMB2_DIRECTORY_FILE, SMB2_OPEN, &created);
    if (nbench_is_status(&outcome, "NT_STATUS_OBJECT_NAME_NOT_FOUND"))
        return outcome_failed("NT_STATUS_OBJECT_PATH_NOT_FOUND"); /* of the mask, as in SMB1 */
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    uint8_t class = script_class_of_level(SCRIPT_FIND, play->step->size);
    outcome = smb2_query_directory(&play->target, created.file_id, class, true,
                                   mask ? mask : play->path, LIST_SIZE, &data);
    smb2_data_free(&data);
    return nbench_close_path(&play->target, &created, outcome);
}

static struct outcome play_rename(struct play *play)
{
    struct smb2_created created;
    char to[NBENCH_PATH_SIZE];
    if (!put_path(play, play->step->size, to))
        return outcome_failed("path is too long");
    struct outcome outcome = nbench_open_path(
        &play->target, play->path, NBENCH_DELETE | NBENCH_READ_ATTRIBUTES, 0, SMB2_OPEN, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = smb2_set_name(&play->target, created.file_id, to, false);
    return nbench_close_path(&play->target, &created, outcome);
}

static struct outcome play_unlink(struct play *play)
{
    struct smb2_created created;
    struct outcome outcome =
        nbench_open_path(&play->target, play->path, NBENCH_DELETE,
                         SMB2_NON_DIRECTORY_FILE | SMB2_DELETE_ON_CLOSE, SMB2_OPEN, &created);
    return outcome.kind == OUTCOME_OK ? nbench_close_path(&play->target, &created, outcome)
                                      : outcome;
}

static struct outcome play_mkdir(struct play *play)
{
    struct smb2_created created;
    struct outcome outcome = nbench_open_path(&play->target, play->path, NBENCH_READ_ATTRIBUTES,
                                              SMB2_DIRECTORY_FILE, SMB2_CREATE_NEW, &created);
    return outcome.kind == OUTCOME_OK ? nbench_close_path(&play->target, &created, outcome)
                                      : outcome;
}

/* Unlike delete-on-close, the disposition tells that a folder is not empty. */
static struct outcome play_rmdir(struct play *play)
{
    struct smb2_created created;
    struct outcome outcome = nbench_open_path(&play->target, play->path, NBENCH_DELETE,
                                              SMB2_DIRECTORY_FILE, SMB2_OPEN, &created);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = smb2_set_disposition(&play->target, created.file_id, true);
    return nbench_close_path(&play->target, &created, outcome);
}

/* Closes the client's files first: the loadfile does not use them any more. */
static struct outcome play_deltree(struct play *play)
{
    for (uint32_t i = 0; i < play->nbench->script->slot_count; i++)
        if (play->state->opens[i].used)
            (void)smb2_close(&play->target, play->state->opens[i].file_id);
    forget_files(play);
    struct outcome outcome = nbench_delete_tree(&play->target, play->path);
    bool absent = nbench_is_status(&outcome, "NT_STATUS_OBJECT_NAME_NOT_FOUND") ||
                  nbench_is_status(&outcome, "NT_STATUS_OBJECT_PATH_NOT_FOUND");
    return absent ? outcome_ok() : outcome;
}

static struct outcome nbench_play_string(struct conversation *conversation, const void *details)
{
    const struct script_step *step = details;
    struct nbench_state *state = state_of(conversation);
    char text[STRING_SIZE];
    draw_string(conversation, conversation->dc->nbench->script->names[step->name], text,
                sizeof text);
    if (state) {
        free(state->strings[step->slot]);
        state->strings[step->slot] = strdup(text);
    }
    return outcome_nothing();
}

/* Each [...] of the pattern becomes one of the characters in it. */
static void draw_string(struct conversation *conversation, const char *pattern, char *out,
                        size_t size)
{
    size_t used = 0;
    while (*pattern && used < size - 1) {
        size_t set = *pattern == '[' ? strcspn(pattern + 1, "]") : 0;
        if (set > 0 && pattern[1 + set] == ']') {
            out[used++] = pattern[1 + conversation_random(conversation, set)];
            pattern += set + 2;
        } else {
            out[used++] = *pattern++;
        }
    }
    out[used] = '\0';
}
