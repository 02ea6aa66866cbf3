/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SMB2, and the SMB1 message that negotiates it. A compounded frame contains several requests,
 * whose fields follow each other. Requests that carry RPC over a pipe are not counted; the call is.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/learn/learn_frames_private.h"

/* MS-SMB2 2.2.1.2 */
enum { SESSION_SETUP = 1, TREE_CONNECT = 3, CREATE = 5, READ = 8, WRITE = 9, IOCTL = 11 };
enum { QUERY_DIRECTORY = 14, QUERY_INFO = 16, OPLOCK_BREAK = 18, COMMANDS = 19 };
enum { TEXT_SIZE = 512, SMB1_NO_FURTHER = 0xff /* MS-CIFS 2.2.3.4 */ };
#define MORE_PROCESSING UINT64_C(0xc0000016)
#define PIPE_TRANSCEIVE UINT64_C(0x0011c017)

/* One request of a frame: its index among all of them, and among those of its command. */
struct smb2_request {
    struct learn_frames *frames;
    size_t index, ordinal;
    uint64_t command;
};

static void learn_smb2_take_response(const struct smb2_request *request);
static struct learn_link *session_of(struct learn_frames *frames, size_t index);
static bool value_at(const struct learn_frames *frames, enum learn_line_field field, size_t index,
                     char *buffer, size_t size);
static int learn_smb2_take_request(const struct smb2_request *request);
static bool is_carrier(const struct smb2_request *request);
static uint64_t pipe_of(const struct learn_frames *frames);
static void add_share(const struct smb2_request *request, struct learn_form *form);
static const char *learn_smb2_share_of(const struct learn_frames *frames, size_t index);
static void learn_smb2_add_file(const struct smb2_request *request, struct learn_form *form);
static const char *file_kind(const struct smb2_request *request);
static bool ends_in(const char *name, const char *const *endings);
static void add_oplock(const struct smb2_request *request, struct learn_form *form);
static void add_read(const struct smb2_request *request, struct learn_form *form);
static void add_number(const struct smb2_request *request, struct learn_form *form, const char *key,
                       enum learn_line_field field, uint64_t most);
static void add_write(const struct smb2_request *request, struct learn_form *form);
static void add_info(const struct smb2_request *request, struct learn_form *form);
static void add_directory(const struct smb2_request *request, struct learn_form *form);

static void (*const details[COMMANDS])(const struct smb2_request *request,
                                       struct learn_form *form) = {
    [TREE_CONNECT] = add_share, [CREATE] = learn_smb2_add_file, [READ] = add_read,
    [WRITE] = add_write,        [QUERY_INFO] = add_info,        [QUERY_DIRECTORY] = add_directory,
};

int learn_smb2_frame(struct learn_frames *frames)
{
    size_t seen[256] = {0}, count = learn_line_count(frames->line, LEARN_LINE_SMB2_COMMAND);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        struct smb2_request request = {.frames = frames, .index = i};
        uint64_t response = 0;
        if (!learn_line_number(frames->line, LEARN_LINE_SMB2_COMMAND, i, &request.command) ||
            !learn_line_number(frames->line, LEARN_LINE_SMB2_RESPONSE, i, &response))
            continue;
        request.ordinal = request.command < 256 ? seen[request.command]++ : 0;
        if (response)
            learn_smb2_take_response(&request);
        else
            result = learn_smb2_take_request(&request);
    }
    if (result == 0 && frames->line->values[LEARN_LINE_RPC_TYPE][0])
        result = learn_rpc_frame(frames, pipe_of(frames));
    return result;
}

static void learn_smb2_take_response(const struct smb2_request *request)
{
    struct learn_frames *frames = request->frames;
    uint64_t status = 0;
    learn_frames_answer(frames);
    learn_line_number(frames->line, LEARN_LINE_SMB2_STATUS, request->index, &status);
    if (request->command == SESSION_SETUP)
        session_of(frames, request->index)->busy = status == MORE_PROCESSING;
}

static struct learn_link *session_of(struct learn_frames *frames, size_t index)
{
    char id[32];
    value_at(frames, LEARN_LINE_SMB2_SESSION, index, id, sizeof id);
    return learn_links_get(frames->links, LEARN_LINK_SESSION, frames->connection,
                           intern_hash(0, id, strlen(id)), frames->time, true);
}

/* The value of a message. There are as many values as messages, or one for all messages. */
static bool value_at(const struct learn_frames *frames, enum learn_line_field field, size_t index,
                     char *buffer, size_t size)
{
    size_t count = learn_line_count(frames->line, field);
    if (count == 0) {
        buffer[0] = '\0';
        return false;
    }
    return learn_line_value(frames->line, field, index < count ? index : count - 1, buffer, size);
}

static int learn_smb2_take_request(const struct smb2_request *request)
{
    struct learn_frames *frames = request->frames;
    struct learn_form form;
    char opcode[8];
    bool ticket = false;
    if (is_carrier(request))
        return 0;
    if (request->command == SESSION_SETUP) {
        struct learn_link *session = session_of(frames, request->index);
        if (session->busy) {
            session->busy = false;
            learn_frames_count(frames, LEARN_LEGS);
            return 0;
        }
        ticket = learn_frames_has_ticket(frames);
    }
    snprintf(opcode, sizeof opcode, "%u", (unsigned)request->command);
    learn_form_init(&form, "smb2", opcode);
    if (request->command < COMMANDS && details[request->command])
        details[request->command](request, &form);
    return learn_frames_request(frames, form.text, ticket);
}

/* True for reads, writes and transactions on a pipe that carries RPC. */
static bool is_carrier(const struct smb2_request *request)
{
    struct learn_frames *frames = request->frames;
    uint64_t function = 0, pipe = pipe_of(frames);
    bool rpc = frames->line->values[LEARN_LINE_RPC_TYPE][0] != '\0';
    if (request->command != READ && request->command != WRITE && request->command != IOCTL)
        return false;
    learn_line_number(frames->line, LEARN_LINE_SMB2_FUNCTION, request->ordinal, &function);
    if (request->command == IOCTL && function != PIPE_TRANSCEIVE)
        return false;
    if (rpc && pipe)
        learn_links_get(frames->links, LEARN_LINK_PIPE, frames->connection, pipe, frames->time,
                        true);
    return rpc || (pipe && learn_links_get(frames->links, LEARN_LINK_PIPE, frames->connection, pipe,
                                           frames->time, false));
}

static uint64_t pipe_of(const struct learn_frames *frames)
{
    char id[80];
    if (!learn_line_value(frames->line, LEARN_LINE_SMB2_FID, 0, id, sizeof id))
        return 0;
    return intern_hash(0, id, strlen(id)) | 1;
}

/* The SMB1 negotiation that offers SMB2 too (MS-SMB 2.2.4.5). Other messages of SMB1 have no
 * player, but are learned. */
int learn_smb_frame(struct learn_frames *frames)
{
    uint64_t response, command;
    struct learn_form form;
    char opcode[8];
    int result = 0;
    /* A message has one flag, but a command for each message that is chained to it. */
    learn_line_number(frames->line, LEARN_LINE_SMB_RESPONSE, 0, &response);
    for (size_t i = 0;
         result == 0 && learn_line_number(frames->line, LEARN_LINE_SMB_COMMAND, i, &command); i++) {
        if (command == SMB1_NO_FURTHER)
            continue;
        if (response) {
            learn_frames_answer(frames);
            continue;
        }
        snprintf(opcode, sizeof opcode, "0x%02x", (unsigned)command & 0xff);
        learn_form_init(&form, "smb", opcode);
        result = learn_frames_request(frames, form.text, false);
    }
    return result;
}

static void add_share(const struct smb2_request *request, struct learn_form *form)
{
    const char *share = learn_smb2_share_of(request->frames, request->index);
    if (share)
        learn_form_add(form, "share", share);
}

/* The share of \\server\share, if it is one that every DC has. */
static const char *learn_smb2_share_of(const struct learn_frames *frames, size_t index)
{
    static const char *const shares[][2] = {
        {"IPC$", "ipc"}, {"sysvol", "sysvol"}, {"netlogon", "netlogon"}};
    char tree[TEXT_SIZE];
    if (!value_at(frames, LEARN_LINE_SMB2_TREE, index, tree, sizeof tree))
        return NULL;
    const char *name = strrchr(tree, '\\');
    name = name ? name + 1 : tree;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        if (strcasecmp(name, shares[i][0]) == 0)
            return shares[i][1];
    return "other";
}

static void learn_smb2_add_file(const struct smb2_request *request, struct learn_form *form)
{
    char mask[24];
    uint64_t access;
    learn_form_add(form, "file", file_kind(request));
    if (learn_line_number(request->frames->line, LEARN_LINE_SMB2_ACCESS, request->ordinal,
                          &access)) {
        snprintf(mask, sizeof mask, "0x%llx", (unsigned long long)access);
        learn_form_add(form, "access", mask);
    }
    add_oplock(request, form);
}

/* The kind of a file, by its name and its share. */
static const char *file_kind(const struct smb2_request *request)
{
    static const char *const policies[] = {"inf",  "pol", "ini", "adm",  "admx",
                                           "adml", "xml", "aas", "cmtx", NULL};
    static const char *const scripts[] = {"bat", "cmd", "vbs", "ps1", "kix", "exe", "js", NULL};
    const struct learn_frames *frames = request->frames;
    const char *share = learn_smb2_share_of(frames, request->index);
    char name[TEXT_SIZE];
    uint64_t directory = 0;
    learn_line_value(frames->line, LEARN_LINE_SMB2_FILENAME, request->ordinal, name, sizeof name);
    learn_line_number(frames->line, LEARN_LINE_SMB2_DIRECTORY, request->ordinal, &directory);
    bool file = ends_in(name, policies) || ends_in(name, scripts);
    bool system = share && (strcmp(share, "sysvol") == 0 || strcmp(share, "netlogon") == 0);
    if (share && strcmp(share, "ipc") == 0)
        return "pipe";
    if (directory || !name[0] || (system && !file && !strrchr(name, '.')))
        return "dir";
    if (system && ends_in(name, policies))
        return "policy";
    return system && ends_in(name, scripts) ? "script" : "other";
}

static bool ends_in(const char *name, const char *const *endings)
{
    const char *dot = strrchr(name, '.');
    for (; dot && *endings; endings++)
        if (strcasecmp(dot + 1, *endings) == 0)
            return true;
    return false;
}

/* MS-SMB2 2.2.13 RequestedOplockLevel, 2.2.13.2.8 LeaseState */
static void add_oplock(const struct smb2_request *request, struct learn_form *form)
{
    static const struct {
        uint64_t number;
        const char *name;
    } oplocks[] = {{0, "none"}, {1, "level2"}, {8, "exclusive"}, {9, "batch"}, {0xff, "lease"}};
    static const char *const leases[8] = {"none", "r", NULL, "rh", NULL, "rw", NULL, "rwh"};
    uint64_t oplock, lease;
    if (!learn_line_number(request->frames->line, LEARN_LINE_SMB2_OPLOCK, request->ordinal,
                           &oplock))
        return;
    for (size_t i = 0; i < sizeof oplocks / sizeof oplocks[0]; i++)
        if (oplocks[i].number == oplock)
            learn_form_add(form, "oplock", oplocks[i].name);
    if (oplock == 0xff &&
        learn_line_number(request->frames->line, LEARN_LINE_SMB2_LEASE, 0, &lease) && lease < 8 &&
        leases[lease])
        learn_form_add(form, "lease", leases[lease]);
}

static void add_read(const struct smb2_request *request, struct learn_form *form)
{
    add_number(request, form, "size", LEARN_LINE_SMB2_READ, UINT32_MAX);
}

/* Numbers that a model may have (traffic-model(5)): from 1 to most. An empty read or write becomes
 * one of the usual size. */
static void add_number(const struct smb2_request *request, struct learn_form *form, const char *key,
                       enum learn_line_field field, uint64_t most)
{
    uint64_t number;
    if (!learn_line_number(request->frames->line, field, request->ordinal, &number))
        return;
    if (number >= 1 && number <= most)
        learn_form_add_number(form, key, number);
    else
        learn_frames_count(request->frames, LEARN_UNPLAYED);
}

static void add_write(const struct smb2_request *request, struct learn_form *form)
{
    add_number(request, form, "size", LEARN_LINE_SMB2_WRITE, 16 << 20);
}

/* 256 times the information type, plus the class (MS-SMB2 2.2.37). */
static void add_info(const struct smb2_request *request, struct learn_form *form)
{
    static const enum learn_line_field levels[] = {[1] = LEARN_LINE_SMB2_FILE_LEVEL,
                                                   [2] = LEARN_LINE_SMB2_FS_LEVEL,
                                                   [3] = LEARN_LINE_SMB2_SEC_LEVEL};
    const struct learn_line *line = request->frames->line;
    uint64_t type, level = 0, before;
    size_t same = 0;
    if (!learn_line_number(line, LEARN_LINE_SMB2_CLASS, request->ordinal, &type) || type < 1 ||
        type > 3)
        return;
    for (size_t i = 0; i < request->ordinal; i++)
        same += learn_line_number(line, LEARN_LINE_SMB2_CLASS, i, &before) && before == type;
    if (learn_line_number(line, levels[type], same, &level) && level < 256)
        learn_form_add_number(form, "class", type * 256 + level);
}

static void add_directory(const struct smb2_request *request, struct learn_form *form)
{
    add_number(request, form, "class", LEARN_LINE_SMB2_FIND, UINT8_MAX);
}
