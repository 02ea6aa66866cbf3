/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays the packets smb2:* and smb:*. A packet first opens whatever it needs (connection, session,
 * tree, file), as part of the same operation. smb2_play() repeats a packet whose session, tree or
 * file the server had ended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/packet_players.h"
#include "protocols/smb2/smb2.h"
#include "protocols/smb2/smb2_change.h"

enum {
    QUERY_OUTPUT = 65536,
    INFO_FILE = 1,
    INFO_SECURITY = 3,
    INFO_QUOTA = 4,
    FILE_STANDARD_INFORMATION = 5,
    FILE_ALL_INFORMATION = 18,
    OWNER_GROUP_DACL = 7
};

struct tree_details {
    enum smb2_share share;
};

struct size_details {
    uint32_t size;
};

struct set_details {
    enum smb2_set_class class;
};

struct class_details {
    uint8_t type;  /* of QUERY_INFO; 0: the class is not given */
    uint8_t class; /* of QUERY_DIRECTORY and QUERY_INFO */
};

static struct outcome smb2_play_negotiate(struct conversation *conversation, const void *details);
static struct outcome send_negotiate(struct conversation *conversation, const void *details);
static struct outcome smb2_play_negotiate_from_smb1(struct conversation *conversation,
                                                    const void *details);
static struct outcome send_smb1_negotiate(struct conversation *conversation, const void *details);
static struct outcome smb2_play_session_setup(struct conversation *conversation,
                                              const void *details);
static struct outcome send_session_setup(struct conversation *conversation, const void *details);
static struct outcome smb2_play_logoff(struct conversation *conversation, const void *details);
static struct outcome send_logoff(struct conversation *conversation, const void *details);
static void fill_tree(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_tree_connect(struct conversation *conversation,
                                             const void *details);
static struct outcome send_tree_connect(struct conversation *conversation, const void *details);
static struct outcome smb2_play_tree_disconnect(struct conversation *conversation,
                                                const void *details);
static struct outcome send_tree_disconnect(struct conversation *conversation, const void *details);
static void fill_create(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_create(struct conversation *conversation, const void *details);
static struct outcome send_create(struct conversation *conversation, const void *details);
static struct outcome smb2_play_close(struct conversation *conversation, const void *details);
static struct outcome close_newest_file(struct conversation *conversation, const void *details);
static void fill_size(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_read(struct conversation *conversation, const void *details);
static struct outcome read_newest(struct conversation *conversation, const void *details);
static struct outcome smb2_play_write(struct conversation *conversation, const void *details);
static struct outcome write_scratch(struct conversation *conversation, const void *details);
static struct outcome smb2_play_flush(struct conversation *conversation, const void *details);
static struct outcome flush_scratch(struct conversation *conversation, const void *details);
static struct outcome smb2_play_lock(struct conversation *conversation, const void *details);
static struct outcome lock_scratch(struct conversation *conversation, const void *details);
static void fill_set(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_set_info(struct conversation *conversation, const void *details);
static struct outcome set_scratch(struct conversation *conversation, const void *details);
static struct outcome smb2_play_ioctl(struct conversation *conversation, const void *details);
static struct outcome send_ioctl(struct conversation *conversation, const void *details);
static struct outcome bind_pipe(struct smb2_open *open, const struct smb2_target *target);
static struct outcome ask_referral(struct conversation *conversation);
static struct outcome smb2_play_echo(struct conversation *conversation, const void *details);
static struct outcome send_echo(struct conversation *conversation, const void *details);
static void fill_directory(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_query_directory(struct conversation *conversation,
                                                const void *details);
static struct outcome send_query_directory(struct conversation *conversation, const void *details);
static void fill_info(const struct packet_details *details, void *compiled);
static struct outcome smb2_play_query_info(struct conversation *conversation, const void *details);
static struct outcome send_query_info(struct conversation *conversation, const void *details);

const struct packet_player packet_players_smb2[] = {
    {.name = "smb2:0", .play = smb2_play_negotiate},
    {.name = "smb2:1", .play = smb2_play_session_setup},
    {.name = "smb2:2", .play = smb2_play_logoff},
    {.name = "smb2:3",
     .play = smb2_play_tree_connect,
     PACKET_DETAILS(struct tree_details, fill_tree)},
    {.name = "smb2:4", .play = smb2_play_tree_disconnect},
    {.name = "smb2:5",
     .play = smb2_play_create,
     PACKET_DETAILS(struct smb2_open_request, fill_create)},
    {.name = "smb2:6", .play = smb2_play_close},
    {.name = "smb2:7", .play = smb2_play_flush},
    {.name = "smb2:8", .play = smb2_play_read, PACKET_DETAILS(struct size_details, fill_size)},
    {.name = "smb2:9", .play = smb2_play_write, PACKET_DETAILS(struct size_details, fill_size)},
    {.name = "smb2:10", .play = smb2_play_lock},
    {.name = "smb2:11", .play = smb2_play_ioctl},
    {.name = "smb2:13", .play = smb2_play_echo},
    {.name = "smb2:14",
     .play = smb2_play_query_directory,
     PACKET_DETAILS(struct class_details, fill_directory)},
    {.name = "smb2:16",
     .play = smb2_play_query_info,
     PACKET_DETAILS(struct class_details, fill_info)},
    {.name = "smb2:17", .play = smb2_play_set_info, PACKET_DETAILS(struct set_details, fill_set)},
    {.name = "smb:0x72", .play = smb2_play_negotiate_from_smb1},
    {.name = NULL},
};

static struct outcome smb2_play_negotiate(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_negotiate, details);
}

static struct outcome send_negotiate(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_connect(conversation, false);
}

static struct outcome smb2_play_negotiate_from_smb1(struct conversation *conversation,
                                                    const void *details)
{
    return smb2_play(conversation, send_smb1_negotiate, details);
}

static struct outcome send_smb1_negotiate(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_connect(conversation, true);
}

static struct outcome smb2_play_session_setup(struct conversation *conversation,
                                              const void *details)
{
    return smb2_play(conversation, send_session_setup, details);
}

static struct outcome send_session_setup(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_logon(conversation);
}

static struct outcome smb2_play_logoff(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_logoff, details);
}

static struct outcome send_logoff(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_logoff(conversation);
}

static void fill_tree(const struct packet_details *details, void *compiled)
{
    struct tree_details *tree = compiled;
    tree->share = (enum smb2_share)packet_details_get(details, "share")->number;
}

static struct outcome smb2_play_tree_connect(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_tree_connect, details);
}

static struct outcome send_tree_connect(struct conversation *conversation, const void *details)
{
    return smb2_connect_tree(conversation, ((const struct tree_details *)details)->share);
}

static struct outcome smb2_play_tree_disconnect(struct conversation *conversation,
                                                const void *details)
{
    return smb2_play(conversation, send_tree_disconnect, details);
}

static struct outcome send_tree_disconnect(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_disconnect_tree(conversation);
}

/* A lease is a separate oplock level (2.2.13). */
static void fill_create(const struct packet_details *details, void *compiled)
{
    struct smb2_open_request *open = compiled;
    open->file_class = (enum smb2_file_class)packet_details_get(details, "file")->number;
    open->access = (uint32_t)packet_details_get(details, "access")->number;
    open->oplock = (enum smb2_oplock)packet_details_get(details, "oplock")->number;
    open->lease = (uint32_t)packet_details_get(details, "lease")->number;
    open->disposition =
        (enum smb2_scratch_disposition)packet_details_get(details, "disposition")->number;
    if (open->lease)
        open->oplock = SMB2_OPLOCK_LEASE;
}

static struct outcome smb2_play_create(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_create, details);
}

static struct outcome send_create(struct conversation *conversation, const void *details)
{
    return smb2_open_file(conversation, details);
}

static struct outcome smb2_play_close(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, close_newest_file, details);
}

static const unsigned any_class = 1u << SMB2_FILE_POLICY | 1u << SMB2_FILE_SCRIPT |
                                  1u << SMB2_FILE_DIRECTORY | 1u << SMB2_FILE_PIPE |
                                  1u << SMB2_FILE_OTHER;
static const unsigned readable_classes =
    1u << SMB2_FILE_POLICY | 1u << SMB2_FILE_SCRIPT | 1u << SMB2_FILE_OTHER;

static struct outcome close_newest_file(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    (void)details;
    struct outcome outcome =
        smb2_need_open(conversation, any_class, SMB2_FILE_POLICY, &open, &target);
    return outcome.kind == OUTCOME_OK ? smb2_close_file(conversation, open) : outcome;
}

static void fill_size(const struct packet_details *details, void *compiled)
{
    struct size_details *size = compiled;
    size->size = (uint32_t)packet_details_get(details, "size")->number;
}

static struct outcome smb2_play_read(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, read_newest, details);
}

/* Continues where the last read ended, or at the start after the end of the file. Sends several
 * requests if the server does not return that many bytes at once. */
static struct outcome read_newest(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    struct outcome outcome =
        smb2_need_open(conversation, readable_classes, SMB2_FILE_POLICY, &open, &target);
    uint32_t left = ((const struct size_details *)details)->size;
    if (outcome.kind == OUTCOME_OK && open->position >= open->end_of_file)
        open->position = 0;
    while (outcome.kind == OUTCOME_OK && left > 0) {
        struct smb2_data data;
        uint32_t size = left < SMB2_IO_MAX ? left : SMB2_IO_MAX;
        size = smb2_connection_payload(target.connection, target.connection->max_read, size);
        outcome = smb2_read(&target, open->file_id, open->position, size, &data);
        if (outcome.kind != OUTCOME_OK)
            break;
        size_t got = data.size;
        smb2_data_free(&data);
        open->position += got;
        left -= (uint32_t)got;
        if (got < size)
            break;
    }
    return outcome;
}

static struct outcome smb2_play_write(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, write_scratch, details);
}

/* Writes only to the conversation's own scratch file. */
static struct outcome write_scratch(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    uint32_t left = ((const struct size_details *)details)->size;
    struct outcome outcome =
        smb2_need_open(conversation, 1u << SMB2_FILE_OTHER, SMB2_FILE_OTHER, &open, &target);
    uint8_t *bytes = calloc(1, left < SMB2_IO_MAX ? left : SMB2_IO_MAX);
    if (!bytes)
        outcome = outcome_of_error(-ENOMEM);
    if (outcome.kind == OUTCOME_OK && open->position + left > SMB2_SCRATCH_MAX)
        open->position = 0;
    while (outcome.kind == OUTCOME_OK && left > 0) {
        uint32_t written = 0, piece = left < SMB2_IO_MAX ? left : SMB2_IO_MAX;
        piece = smb2_connection_payload(target.connection, target.connection->max_write, piece);
        outcome = smb2_write(&target, open->file_id, open->position, bytes, piece, &written);
        if (outcome.kind == OUTCOME_OK && written == 0)
            outcome = outcome_failed("SMB2: nothing was written");
        open->position += written;
        left -= written;
        if (open->position > open->end_of_file)
            open->end_of_file = open->position;
    }
    free(bytes);
    return outcome;
}

static struct outcome smb2_play_flush(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, flush_scratch, details);
}

static struct outcome flush_scratch(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    (void)details;
    struct outcome outcome =
        smb2_need_open(conversation, 1u << SMB2_FILE_OTHER, SMB2_FILE_OTHER, &open, &target);
    return outcome.kind == OUTCOME_OK ? smb2_flush(&target, open->file_id) : outcome;
}

static struct outcome smb2_play_lock(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, lock_scratch, details);
}

/* Locks the first byte of the scratch file, or unlocks it. */
static struct outcome lock_scratch(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    (void)details;
    struct outcome outcome =
        smb2_need_open(conversation, 1u << SMB2_FILE_OTHER, SMB2_FILE_OTHER, &open, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    uint32_t flags =
        open->locked ? SMB2_LOCK_UNLOCK : SMB2_LOCK_EXCLUSIVE | SMB2_LOCK_FAIL_IMMEDIATELY;
    outcome = smb2_lock(&target, open->file_id, 0, 1, flags);
    open->locked ^= outcome.kind == OUTCOME_OK;
    return outcome;
}

static void fill_set(const struct packet_details *details, void *compiled)
{
    struct set_details *set = compiled;
    set->class = (enum smb2_set_class)packet_details_get(details, "class")->number;
}

static struct outcome smb2_play_set_info(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, set_scratch, details);
}

/* The scratch file keeps its size and its name. */
static struct outcome set_scratch(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    struct outcome outcome =
        smb2_need_open(conversation, 1u << SMB2_FILE_OTHER, SMB2_FILE_OTHER, &open, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    switch (((const struct set_details *)details)->class) {
    case SMB2_SET_BASIC:
        return smb2_set_basic(&target, open->file_id);
    case SMB2_SET_ALLOCATION:
        return smb2_set_size(&target, open->file_id, SMB2_INFO_ALLOCATION, open->end_of_file);
    case SMB2_SET_END_OF_FILE:
        return smb2_set_size(&target, open->file_id, SMB2_INFO_END_OF_FILE, open->end_of_file);
    }
    return outcome;
}

static struct outcome smb2_play_ioctl(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_ioctl, details);
}

static struct outcome send_ioctl(struct conversation *conversation, const void *details)
{
    struct smb2_target target;
    (void)details;
    struct smb2_open *open = smb2_newest(conversation, 1u << SMB2_FILE_PIPE, &target);
    return open ? bind_pipe(open, &target) : ask_referral(conversation);
}

/*
 * An RPC bind (MS-RPCE, C706 12.6.4.3) of srvsvc, for a pipe that smb2:5 opened. With another type
 * it is an alter_context, which can be repeated.
 */
enum { RPC_ALTER_CONTEXT = 14, RPC_BIND_ACK = 12, RPC_ALTER_RESPONSE = 15, RPC_HEADER = 16 };
static const uint8_t rpc_bind[72] = {
    5,    0,    11,   3,    0x10, 0,    0,    0,    72,   0,    0,    0,    1,
    0,    0,    0, /* header: first and last fragment */
    0xb8, 0x10, 0xb8, 0x10, 0,    0,    0,    0,    1,    0,    0,    0, /* fragments of 4280, one
                                                                            context */
    0,    0,    1,    0, /* context 0, one transfer syntax */
    0xc8, 0x4f, 0x32, 0x4b, 0x70, 0x16, 0xd3, 0x01, 0x12, 0x78, 0x5a, 0x47, 0xbf,
    0x6e, 0xe1, 0x88, 3,    0,    0,    0, /* srvsvc, version 3 */
    0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00, 0x2b,
    0x10, 0x48, 0x60, 2,    0,    0,    0, /* NDR, version 2 */
};

static struct outcome bind_pipe(struct smb2_open *open, const struct smb2_target *target)
{
    struct smb2_data data;
    uint8_t request[sizeof rpc_bind];
    memcpy(request, rpc_bind, sizeof request);
    uint8_t expected = RPC_BIND_ACK;
    if (open->begun) {
        request[2] = RPC_ALTER_CONTEXT;
        expected = RPC_ALTER_RESPONSE;
    }
    struct outcome outcome = smb2_ioctl(target, open->file_id, SMB2_FSCTL_PIPE_TRANSCEIVE, request,
                                        sizeof request, 4280, &data);
    if (outcome.kind == OUTCOME_OK && (data.size < RPC_HEADER || data.data[2] != expected))
        outcome = outcome_failed("SMB2: the pipe refused the RPC bind");
    open->begun = outcome.kind == OUTCOME_OK;
    smb2_data_free(&data);
    return outcome;
}

/* REQ_GET_DFS_REFERRAL (MS-DFSC 2.2.2) for the domain's SYSVOL. */
static struct outcome ask_referral(struct conversation *conversation)
{
    struct smb2_target target;
    struct smb2_data data;
    struct smb2_writer input;
    char path[300];
    unsigned count = 0;
    struct outcome outcome = smb2_need_tree(conversation, SMB2_USER, SMB2_SHARE_IPC, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    const char *domain = conversation->dc->dns_domain;
    snprintf(path, sizeof path, "\\%s\\sysvol", domain ? domain : "");
    smb2_writer_begin(&input, sizeof path);
    smb2_put16(&input, 4); /* MaxReferralLevel */
    smb2_put_text(&input, path);
    smb2_put16(&input, 0);
    if (input.error)
        outcome = outcome_of_error(input.error);
    else
        outcome = smb2_ioctl(&target, NULL, SMB2_FSCTL_DFS_GET_REFERRALS,
                             smb2_writer_message(&input) + SMB2_HEADER_SIZE,
                             (uint32_t)(input.size - SMB2_HEADER_SIZE), QUERY_OUTPUT, &data);
    if (outcome.kind == OUTCOME_OK) {
        if (smb2_dfs_referrals_decode(data.data, data.size, &count) != 0)
            outcome = outcome_failed("SMB2: malformed DFS referral");
        smb2_data_free(&data);
    }
    smb2_writer_free(&input);
    return outcome;
}

static struct outcome smb2_play_echo(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_echo, details);
}

static struct outcome send_echo(struct conversation *conversation, const void *details)
{
    struct smb2_connection *connection;
    struct smb2_session *session;
    (void)details;
    struct outcome outcome = smb2_need_connection(conversation, &connection, &session);
    return outcome.kind == OUTCOME_OK ? smb2_echo(connection, session) : outcome;
}

static void fill_directory(const struct packet_details *details, void *compiled)
{
    struct class_details *class = compiled;
    class->class = (uint8_t)packet_details_get(details, "class")->number;
}

static struct outcome smb2_play_query_directory(struct conversation *conversation,
                                                const void *details)
{
    return smb2_play(conversation, send_query_directory, details);
}

/* Requests the next part of the listing, which starts again after its end. */
static struct outcome send_query_directory(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    struct smb2_data data;
    uint8_t class = ((const struct class_details *)details)->class;
    struct outcome outcome = smb2_need_open(conversation, 1u << SMB2_FILE_DIRECTORY,
                                            SMB2_FILE_DIRECTORY, &open, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome =
        smb2_query_directory(&target, open->file_id, class, !open->begun, "*", QUERY_OUTPUT, &data);
    open->begun = outcome.kind == OUTCOME_OK && data.size > 0;
    smb2_data_free(&data);
    return outcome;
}

/* The class is smb2.infolevel of a file, or smb2.class * 256 + smb2.infolevel (0x207: file system).
 */
static void fill_info(const struct packet_details *details, void *compiled)
{
    struct class_details *class = compiled;
    const struct packet_value *value = packet_details_get(details, "class");
    class->type = value->number >> 8 ? (uint8_t)(value->number >> 8) : INFO_FILE;
    class->class = (uint8_t)value->number;
    if (!value->given)
        class->type = 0;
}

static struct outcome smb2_play_query_info(struct conversation *conversation, const void *details)
{
    return smb2_play(conversation, send_query_info, details);
}

static struct outcome send_query_info(struct conversation *conversation, const void *details)
{
    const struct class_details *wanted = details;
    struct smb2_open *open;
    struct smb2_target target;
    struct smb2_data data;
    struct outcome outcome =
        smb2_need_open(conversation, any_class, SMB2_FILE_POLICY, &open, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    bool pipe = open->file_class == SMB2_FILE_PIPE;
    uint8_t type = wanted->type ? wanted->type : INFO_FILE;
    uint8_t class = wanted->type ? wanted->class
                    : pipe       ? FILE_STANDARD_INFORMATION
                                 : FILE_ALL_INFORMATION;
    outcome = smb2_query_info(&target, open->file_id, type, class,
                              type == INFO_SECURITY ? OWNER_GROUP_DACL : 0, QUERY_OUTPUT, &data);
    smb2_data_free(&data);
    return outcome;
}
