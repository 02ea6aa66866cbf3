/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets smb2:* and smb:*: their details, and what each plays. What a packet needs that is not
 * open yet (connection, session, tree, file) is opened first, inside the same operation.
 *
 * Details are numbers as Wireshark shows them (decimal, or hexadecimal with 0x) or names:
 *     share   ipc sysvol netlogon other
 *     file    policy script dir pipe other
 *     access  access mask: rights beside those that the file's class is usually opened with
 *     oplock  none level2 exclusive batch lease
 *     lease   none r rh rw rwh
 *     size    bytes
 *     class   QUERY_DIRECTORY: smb2.find.infolevel. QUERY_INFO: smb2.infolevel of a file, or with
 *             another type in front of it smb2.class * 256 + smb2.infolevel (0x207: file system)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/packet_tables.h"
#include "protocols/smb2/smb2.h"

enum {
    READ_USUAL = 65536,
    WRITE_USUAL = 4096,
    SCRATCH_MOST = 16 << 20, /* a scratch file grows to this, then is written from its start */
    QUERY_OUTPUT = 65536,
    CLASS_DIRECTORY_USUAL = 37, /* FileIdBothDirectoryInformation: what Windows' shell asks for */
    INFO_FILE = 1,
    INFO_SECURITY = 3,
    INFO_QUOTA = 4,
    FILE_STANDARD_INFORMATION = 5,
    FILE_ALL_INFORMATION = 18,
    OWNER_GROUP_DACL = 7
};

struct details {
    enum smb2_share share;
    struct smb2_open_request open;
    uint32_t size; /* 0: usual */
    uint8_t type;  /* of QUERY_INFO; 0: usual */
    uint8_t class; /* of QUERY_DIRECTORY and QUERY_INFO; 0: usual */
};

/* --- From a model's fields ---------------------------------------------------------------- */

/* A name and what it means. */
struct word {
    const char *name;
    uint32_t value;
};

static const struct word shares[] = {{"ipc", SMB2_SHARE_IPC},
                                     {"sysvol", SMB2_SHARE_SYSVOL},
                                     {"netlogon", SMB2_SHARE_NETLOGON},
                                     {"other", SMB2_SHARE_OTHER},
                                     {NULL, 0}};
static const struct word files[] = {{"policy", SMB2_FILE_POLICY}, {"script", SMB2_FILE_SCRIPT},
                                    {"dir", SMB2_FILE_DIRECTORY}, {"pipe", SMB2_FILE_PIPE},
                                    {"other", SMB2_FILE_OTHER},   {NULL, 0}};
static const struct word oplocks[] = {
    {"none", SMB2_OPLOCK_NONE},           {"level2", SMB2_OPLOCK_II},
    {"exclusive", SMB2_OPLOCK_EXCLUSIVE}, {"batch", SMB2_OPLOCK_BATCH},
    {"lease", SMB2_OPLOCK_LEASE},         {NULL, 0}};
static const struct word leases[] = {
    {"none", 0},
    {"r", SMB2_LEASE_READ},
    {"rh", SMB2_LEASE_READ | SMB2_LEASE_HANDLE},
    {"rw", SMB2_LEASE_READ | SMB2_LEASE_WRITE},
    {"rwh", SMB2_LEASE_READ | SMB2_LEASE_WRITE | SMB2_LEASE_HANDLE},
    {NULL, 0}};

static bool find_word(const struct word *words, const char *text, uint32_t *value)
{
    for (; words->name; words++) {
        if (strcmp(words->name, text) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

/* Decimal, or hexadecimal with 0x; no sign, nothing after it, at most `most`. */
static bool smb2_packets_read_number(const char *text, uint32_t most, uint32_t *value)
{
    char *end;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, base);
    if (errno || *end || number > most)
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool take_share(struct details *details, const char *text)
{
    uint32_t value;
    if (!find_word(shares, text, &value))
        return false;
    details->share = (enum smb2_share)value;
    return true;
}

static bool take_file(struct details *details, const char *text)
{
    uint32_t value;
    if (!find_word(files, text, &value))
        return false;
    details->open.file_class = (enum smb2_file_class)value;
    return true;
}

static bool take_access(struct details *details, const char *text)
{
    return smb2_packets_read_number(text, UINT32_MAX, &details->open.access);
}

static bool take_oplock(struct details *details, const char *text)
{
    uint32_t value;
    if (!find_word(oplocks, text, &value))
        return false;
    details->open.oplock = (enum smb2_oplock)value;
    return true;
}

/* A lease is an oplock level of its own (2.2.13). */
static bool take_lease(struct details *details, const char *text)
{
    if (!find_word(leases, text, &details->open.lease))
        return false;
    if (details->open.lease)
        details->open.oplock = SMB2_OPLOCK_LEASE;
    return true;
}

static bool take_read_size(struct details *details, const char *text)
{
    return smb2_packets_read_number(text, UINT32_MAX, &details->size) && details->size > 0;
}

static bool take_write_size(struct details *details, const char *text)
{
    return smb2_packets_read_number(text, SCRATCH_MOST, &details->size) && details->size > 0;
}

static bool take_directory_class(struct details *details, const char *text)
{
    uint32_t value;
    if (!smb2_packets_read_number(text, UINT8_MAX, &value) || value == 0)
        return false;
    details->class = (uint8_t)value;
    return true;
}

static bool take_info_class(struct details *details, const char *text)
{
    uint32_t value;
    if (!smb2_packets_read_number(text, INFO_QUOTA << 8 | UINT8_MAX, &value) || value == 0)
        return false;
    details->type = value >> 8 ? (uint8_t)(value >> 8) : INFO_FILE;
    details->class = (uint8_t)value;
    return true;
}

struct field_rule {
    const char *key;
    bool (*take)(struct details *details, const char *text);
    const char *expected;
};

static const struct field_rule share_rules[] = {
    {"share", take_share, "ipc, sysvol, netlogon or other"}, {NULL, NULL, NULL}};
static const struct field_rule create_rules[] = {
    {"file", take_file, "policy, script, dir, pipe or other"},
    {"access", take_access, "an access mask"},
    {"oplock", take_oplock, "none, level2, exclusive, batch or lease"},
    {"lease", take_lease, "none, r, rh, rw or rwh"},
    {NULL, NULL, NULL}};
static const struct field_rule read_rules[] = {{"size", take_read_size, "a number of bytes"},
                                               {NULL, NULL, NULL}};
static const struct field_rule write_rules[] = {
    {"size", take_write_size, "a number of bytes, at most 16 MiB"}, {NULL, NULL, NULL}};
static const struct field_rule directory_rules[] = {
    {"class", take_directory_class, "an information class from 1 to 255"}, {NULL, NULL, NULL}};
static const struct field_rule info_rules[] = {
    {"class", take_info_class, "an information class from 1 to 0x4ff"}, {NULL, NULL, NULL}};

static bool smb2_packets_take_field(struct details *details, const struct field_rule *rules,
                                    const struct packet_field *field, struct error *error)
{
    while (rules->key && strcmp(rules->key, field->key) != 0)
        rules++;
    if (!rules->key)
        error_set(error, -EINVAL, "\"%.80s\" is no field of this packet", field->key);
    else if (field->count != 1)
        error_set(error, -EINVAL, "%s: expected one value, found %zu", field->key, field->count);
    else if (!rules->take(details, field->values[0]))
        error_set(error, -EINVAL, "%s: \"%.80s\" is not %s", field->key, field->values[0],
                  rules->expected);
    else
        return true;
    return false;
}

static void *smb2_packets_compile(const struct field_rule *rules, const struct packet_field *fields,
                                  size_t count, struct error *error)
{
    struct details *details = calloc(1, sizeof *details);
    if (!details) {
        error_no_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!smb2_packets_take_field(details, rules, &fields[i], error)) {
            free(details);
            return NULL;
        }
    return details;
}

#define COMPILE(name)                                                                              \
    static void *name##_compile(const struct packet_field *fields, size_t count,                   \
                                struct error *error)                                               \
    {                                                                                              \
        return smb2_packets_compile(name##_rules, fields, count, error);                           \
    }
COMPILE(share)
COMPILE(create)
COMPILE(read)
COMPILE(write)
COMPILE(directory)
COMPILE(info)

/* --- What is played ------------------------------------------------------------------------ */

static const struct details usual;

static struct outcome negotiate(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_connect(conversation, false);
}

static struct outcome negotiate_from_smb1(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_connect(conversation, true);
}

static struct outcome session_setup(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_logon(conversation);
}

static struct outcome logoff(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_logoff(conversation);
}

static struct outcome tree_connect(struct conversation *conversation, const void *details)
{
    return smb2_connect_tree(conversation, ((const struct details *)details)->share);
}

static struct outcome tree_disconnect(struct conversation *conversation, const void *details)
{
    (void)details;
    return smb2_disconnect_tree(conversation);
}

static struct outcome create(struct conversation *conversation, const void *details)
{
    return smb2_open_file(conversation, &((const struct details *)details)->open);
}

static const unsigned any_class = 1u << SMB2_FILE_POLICY | 1u << SMB2_FILE_SCRIPT |
                                  1u << SMB2_FILE_DIRECTORY | 1u << SMB2_FILE_PIPE |
                                  1u << SMB2_FILE_OTHER;
static const unsigned readable_classes =
    1u << SMB2_FILE_POLICY | 1u << SMB2_FILE_SCRIPT | 1u << SMB2_FILE_OTHER;

static struct outcome close_newest(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    (void)details;
    struct outcome outcome =
        smb2_need_open(conversation, any_class, SMB2_FILE_POLICY, &open, &target);
    return outcome.kind == OUTCOME_OK ? smb2_close_file(conversation, open) : outcome;
}

/* Reads on from where the last read ended, from the start again behind the end. A size that is more
 * than the server gives at once takes several requests. */
static struct outcome read_newest(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    struct outcome outcome =
        smb2_need_open(conversation, readable_classes, SMB2_FILE_POLICY, &open, &target);
    uint32_t left = ((const struct details *)details)->size;
    left = left ? left : READ_USUAL;
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

static bool has_scratch_share(const struct dc_options *options)
{
    return options->smb_share && packet_needs_dc(options);
}

/* Into the conversation's own scratch file, and nowhere else. */
static struct outcome write_scratch(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    uint32_t left = ((const struct details *)details)->size;
    left = left ? left : WRITE_USUAL;
    struct outcome outcome =
        smb2_need_open(conversation, 1u << SMB2_FILE_OTHER, SMB2_FILE_OTHER, &open, &target);
    uint8_t *bytes = calloc(1, left < SMB2_IO_MAX ? left : SMB2_IO_MAX);
    if (!bytes)
        outcome = outcome_of_error(-ENOMEM);
    if (outcome.kind == OUTCOME_OK && open->position + left > SCRATCH_MOST)
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

static struct outcome echo(struct conversation *conversation, const void *details)
{
    struct smb2_connection *connection;
    struct smb2_session *session;
    (void)details;
    struct outcome outcome = smb2_need_connection(conversation, &connection, &session);
    return outcome.kind == OUTCOME_OK ? smb2_echo(connection, session) : outcome;
}

/* One request: the next part of the listing, which starts anew after its end. */
static struct outcome query_directory(struct conversation *conversation, const void *details)
{
    struct smb2_open *open;
    struct smb2_target target;
    struct smb2_data data;
    uint8_t class = ((const struct details *)details)->class;
    struct outcome outcome = smb2_need_open(conversation, 1u << SMB2_FILE_DIRECTORY,
                                            SMB2_FILE_DIRECTORY, &open, &target);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = smb2_query_directory(&target, open->file_id, class ? class : CLASS_DIRECTORY_USUAL,
                                   !open->begun, "*", QUERY_OUTPUT, &data);
    open->begun = outcome.kind == OUTCOME_OK && data.size > 0;
    smb2_data_free(&data);
    return outcome;
}

static struct outcome query_info(struct conversation *conversation, const void *details)
{
    const struct details *wanted = details;
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

/*
 * RPC bind (MS-RPCE, C706 12.6.4.3) of srvsvc, and with another type the alter_context that may be
 * repeated: what a pipe that smb2:5 opened can be asked.
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

static struct outcome transceive(struct smb2_open *open, const struct smb2_target *target)
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

static struct outcome ioctl_newest(struct conversation *conversation, const void *details)
{
    struct smb2_target target;
    (void)details;
    struct smb2_open *open = smb2_newest(conversation, 1u << SMB2_FILE_PIPE, &target);
    return open ? transceive(open, &target) : ask_referral(conversation);
}

/* --- The rows ------------------------------------------------------------------------------ */

/* Each row's play goes through smb2_play(), which makes a lost session anew. */
#define PLAY(name)                                                                                 \
    static struct outcome play_##name(struct conversation *conversation, const void *details)      \
    {                                                                                              \
        return smb2_play(conversation, name, details ? details : &usual);                          \
    }
PLAY(negotiate)
PLAY(negotiate_from_smb1)
PLAY(session_setup)
PLAY(logoff)
PLAY(tree_connect)
PLAY(tree_disconnect)
PLAY(create)
PLAY(close_newest)
PLAY(read_newest)
PLAY(write_scratch)
PLAY(ioctl_newest)
PLAY(echo)
PLAY(query_directory)
PLAY(query_info)

#define ROW(protocol_, opcode_, description_, play_, ...)                                          \
    {                                                                                              \
        .protocol = (protocol_), .opcode = (opcode_), .description = (description_),               \
        .kind = PACKET_OPERATION, .play = (play_), __VA_ARGS__                                     \
    }
#define DETAILS(name) .compile = name##_compile, .release = free
#define NEEDS_DC      .available = packet_needs_dc

const struct packet_type packet_tables_smb2[] = {
    ROW("smb2", "0", "negotiate", play_negotiate, NEEDS_DC),
    ROW("smb2", "1", "session setup", play_session_setup, NEEDS_DC),
    ROW("smb2", "2", "logoff", play_logoff, NEEDS_DC),
    ROW("smb2", "3", "tree connect", play_tree_connect, DETAILS(share), NEEDS_DC),
    ROW("smb2", "4", "tree disconnect", play_tree_disconnect, NEEDS_DC),
    ROW("smb2", "5", "create", play_create, DETAILS(create), NEEDS_DC),
    ROW("smb2", "6", "close", play_close_newest, NEEDS_DC),
    ROW("smb2", "8", "read", play_read_newest, DETAILS(read), NEEDS_DC),
    ROW("smb2", "9", "write", play_write_scratch, DETAILS(write), .available = has_scratch_share,
        .needs = "--smb-share"),
    ROW("smb2", "11", "ioctl", play_ioctl_newest, NEEDS_DC),
    ROW("smb2", "13", "echo", play_echo, NEEDS_DC),
    ROW("smb2", "14", "query directory", play_query_directory, DETAILS(directory), NEEDS_DC),
    ROW("smb2", "16", "query info", play_query_info, DETAILS(info), NEEDS_DC),
    ROW("smb", "0x72", "negotiate protocol", play_negotiate_from_smb1, NEEDS_DC),
    {.protocol = "smb", .opcode = "*", .description = "SMB1", .kind = PACKET_SILENT},
    {.protocol = NULL},
};
