/* SPDX-License-Identifier: Apache-2.0 */
/* SMB2 NEGOTIATE. */
#include "protocols/smb2/smb2_negotiate.h"

#include <errno.h>
#include <string.h>

#include "base/little_endian.h"
#include "protocols/ntstatus.h"

/* 2.2.3.1 */
enum {
    CONTEXT_PREAUTH = 1,
    CONTEXT_ENCRYPTION = 2,
    CONTEXT_NETNAME = 5,
    CONTEXT_SIGNING = 8,
    CONTEXT_HEADER_SIZE = 8
};

enum {
    BODY_SIZE = 36,
    RESPONSE_STRUCTURE = 65,
    RESPONSE_FIXED = 64,
    HASH_SHA512 = 1,
    SALT_SIZE = 32,
    DIALECT_WILDCARD = 0x02ff,
    SIGNING_ENABLED = 1,
    /* DFS, leasing, multi-credit requests, encryption. */
    CAPABILITIES = 0x01 | 0x02 | SMB2_GLOBAL_CAP_LARGE_MTU | SMB2_GLOBAL_CAP_ENCRYPTION
};

static const uint16_t dialects[] = {0x0202, 0x0210, 0x0300, 0x0302, 0x0311};
/* In order of preference. */
static const uint16_t cipher_ids[] = {SMB2_CIPHER_AES128_GCM, SMB2_CIPHER_AES128_CCM,
                                      SMB2_CIPHER_AES256_GCM, SMB2_CIPHER_AES256_CCM};
static const uint16_t signing_ids[] = {SMB2_SIGNING_AES_GMAC, SMB2_SIGNING_AES_CMAC,
                                       SMB2_SIGNING_HMAC_SHA256};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* MS-SMB 2.2.4.5.1: header of 32 bytes, no words, and the dialects as text. */
#define SMB1_DIALECTS "\x02NT LM 0.12\0\x02SMB 2.002\0\x02SMB 2.???"
enum { SMB1_HEADER_SIZE = 32, SMB1_SIZE = SMB1_HEADER_SIZE + 3 + sizeof SMB1_DIALECTS };

static bool negotiate_offered(const uint16_t *list, size_t count, uint16_t id);
static int read_contexts(const struct smb2_reply *reply, uint64_t at, unsigned count,
                         struct smb2_negotiated *negotiated);
static int read_context(uint16_t type, struct smb2_slice data, struct smb2_negotiated *negotiated);
static int read_chosen_id(struct smb2_slice data, const uint16_t *ids, size_t count, uint16_t *id);
static void random_bytes(struct conversation *conversation, uint8_t *out, size_t size);
static struct outcome negotiate_smb1(struct smb2_connection *connection, bool *done);
static void make_smb1_negotiate(uint8_t frame[SMB2_FRAME_SIZE + SMB1_SIZE]);
static struct outcome negotiate_take_response(struct smb2_call *call,
                                              struct smb2_negotiated *negotiated);
static void keep_negotiated(struct smb2_connection *connection,
                            const struct smb2_negotiated *negotiated);
static struct outcome negotiate_smb2(struct smb2_connection *connection,
                                     struct conversation *conversation);
static void negotiate_put_request(struct smb2_writer *writer,
                                  const struct smb2_connection *connection,
                                  struct conversation *conversation);
static size_t offered_dialects(const struct dc_options *options);
static uint16_t put_contexts(struct smb2_writer *writer, struct conversation *conversation);
static size_t begin_context(struct smb2_writer *writer, uint16_t type);
static void end_context(struct smb2_writer *writer, size_t start);
static void put_id_list(struct smb2_writer *writer, uint16_t type, const uint16_t *ids,
                        size_t count);

int smb2_negotiate_decode(const struct smb2_reply *reply, struct smb2_negotiated *negotiated)
{
    const uint8_t *body = smb2_body(reply, RESPONSE_STRUCTURE, RESPONSE_FIXED);
    if (!body)
        return -EBADMSG;
    *negotiated = (struct smb2_negotiated){.security_mode = le_get16(body + 2),
                                           .dialect = le_get16(body + 4),
                                           .capabilities = le_get32(body + 24),
                                           .max_transact = le_get32(body + 28),
                                           .max_read = le_get32(body + 32),
                                           .max_write = le_get32(body + 36)};
    if (!smb2_slice_at(reply, le_get16(body + 56), le_get16(body + 58), RESPONSE_FIXED,
                       &negotiated->token))
        return -EBADMSG;
    if (negotiated->dialect == DIALECT_WILDCARD)
        return 0;
    if (!negotiate_offered(dialects, COUNT(dialects), negotiated->dialect) ||
        negotiated->max_transact < 4096 || negotiated->max_read < 4096 ||
        negotiated->max_write < 4096)
        return -EBADMSG;
    /* Before 3.1.1 the dialect determines them (3.2.5.2). */
    negotiated->signing =
        negotiated->dialect < 0x0300 ? SMB2_SIGNING_HMAC_SHA256 : SMB2_SIGNING_AES_CMAC;
    if (negotiated->dialect == 0x0311)
        return read_contexts(reply, le_get32(body + 60), le_get16(body + 6), negotiated);
    if (negotiated->dialect >= 0x0300 && negotiated->capabilities & SMB2_GLOBAL_CAP_ENCRYPTION)
        negotiated->cipher = SMB2_CIPHER_AES128_CCM;
    return 0;
}

static bool negotiate_offered(const uint16_t *list, size_t count, uint16_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

/* 3.2.5.2: one PREAUTH_INTEGRITY context, and at most one of each other known type. */
static int read_contexts(const struct smb2_reply *reply, uint64_t at, unsigned count,
                         struct smb2_negotiated *negotiated)
{
    uint32_t seen = 0; /* 1u << type */
    for (unsigned i = 0; i < count; i++) {
        struct smb2_slice header, data;
        at = (at + 7) & ~(uint64_t)7;
        if (!smb2_slice_at(reply, at, CONTEXT_HEADER_SIZE, RESPONSE_FIXED, &header))
            return -EBADMSG;
        at += CONTEXT_HEADER_SIZE;
        uint16_t type = le_get16(header.data), size = le_get16(header.data + 2);
        uint32_t bit = type <= CONTEXT_SIGNING ? 1u << type : 0;
        if (seen & bit || !smb2_slice_at(reply, at, size, RESPONSE_FIXED, &data) ||
            read_context(type, data, negotiated) != 0)
            return -EBADMSG;
        seen |= bit;
        at += size;
    }
    return seen & 1u << CONTEXT_PREAUTH ? 0 : -EBADMSG;
}

static int read_context(uint16_t type, struct smb2_slice data, struct smb2_negotiated *negotiated)
{
    uint16_t id = 0;
    int rc = 0;
    if (type == CONTEXT_PREAUTH) {
        if (data.size < 6 || le_get16(data.data) != 1 || le_get16(data.data + 4) != HASH_SHA512)
            return -EBADMSG;
    } else if (type == CONTEXT_ENCRYPTION) {
        /* 0: the server has no cipher in common with us. */
        if (data.size >= 4 && le_get16(data.data + 2) == SMB2_CIPHER_NONE)
            return 0;
        rc = read_chosen_id(data, cipher_ids, COUNT(cipher_ids), &id);
        negotiated->cipher = (enum smb2_cipher)id;
    } else if (type == CONTEXT_SIGNING) {
        rc = read_chosen_id(data, signing_ids, COUNT(signing_ids), &id);
        negotiated->signing = (enum smb2_signing)id;
    }
    return rc;
}

/* Reads the id that a server chose in an ENCRYPTION or SIGNING context. */
static int read_chosen_id(struct smb2_slice data, const uint16_t *ids, size_t count, uint16_t *id)
{
    if (data.size < 4 || le_get16(data.data) != 1)
        return -EBADMSG;
    *id = le_get16(data.data + 2);
    return negotiate_offered(ids, count, *id) ? 0 : -EBADMSG;
}

struct outcome smb2_negotiate(struct smb2_connection *connection, struct conversation *conversation,
                              bool from_smb1)
{
    bool done = false;
    random_bytes(conversation, connection->client_guid, sizeof connection->client_guid);
    if (from_smb1) {
        struct outcome outcome = negotiate_smb1(connection, &done);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
    }
    return done ? outcome_ok() : negotiate_smb2(connection, conversation);
}

static void random_bytes(struct conversation *conversation, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i += 8)
        le_put64(out + i, conversation->random(conversation->random_state));
}

/* *done: the server chose 2.0.2 at once, so the negotiation is complete. */
static struct outcome negotiate_smb1(struct smb2_connection *connection, bool *done)
{
    struct smb2_call call;
    struct smb2_negotiated negotiated;
    uint8_t frame[SMB2_FRAME_SIZE + SMB1_SIZE];
    make_smb1_negotiate(frame);
    int rc = smb2_connection_exchange_raw(connection, frame, sizeof frame, &call);
    struct outcome outcome =
        rc ? smb2_connection_outcome(connection, rc) : negotiate_take_response(&call, &negotiated);
    if (outcome.kind == OUTCOME_OK) {
        *done = negotiated.dialect == 0x0202;
        if (*done) {
            keep_negotiated(connection, &negotiated);
        } else if (negotiated.dialect != DIALECT_WILDCARD) {
            rc = smb2_connection_complain(connection, "SMB2: malformed NEGOTIATE response");
            outcome = smb2_connection_outcome(connection, rc);
        }
    }
    smb2_call_end(&call);
    return outcome;
}

static void make_smb1_negotiate(uint8_t frame[SMB2_FRAME_SIZE + SMB1_SIZE])
{
    static const uint8_t header[SMB1_HEADER_SIZE] = {
        0xff, 'S', 'M', 'B', 0x72, [9] = 0x18, 0x53, 0xc8, [24] = 0xff, 0xff, 0xff, 0xfe};
    memset(frame, 0, SMB2_FRAME_SIZE + SMB1_SIZE);
    frame[3] = SMB1_SIZE;
    uint8_t *message = frame + SMB2_FRAME_SIZE;
    memcpy(message, header, sizeof header);
    le_put16(message + SMB1_HEADER_SIZE + 1, sizeof SMB1_DIALECTS);
    memcpy(message + SMB1_HEADER_SIZE + 3, SMB1_DIALECTS, sizeof SMB1_DIALECTS);
}

/* Reads the server's answer to either of the requests. */
static struct outcome negotiate_take_response(struct smb2_call *call,
                                              struct smb2_negotiated *negotiated)
{
    struct smb2_connection *connection = call->connection;
    if (call->header.status != NTSTATUS_SUCCESS)
        return ntstatus_outcome(call->header.status);
    int rc = smb2_negotiate_decode(&call->reply, negotiated);
    if (rc) {
        rc = smb2_connection_complain(connection, "SMB2: malformed NEGOTIATE response");
        return smb2_connection_outcome(connection, rc);
    }
    return outcome_ok();
}

static void keep_negotiated(struct smb2_connection *connection,
                            const struct smb2_negotiated *negotiated)
{
    connection->dialect = negotiated->dialect;
    connection->security_mode = negotiated->security_mode;
    connection->capabilities = negotiated->capabilities;
    connection->max_transact = negotiated->max_transact;
    connection->max_read = negotiated->max_read;
    connection->max_write = negotiated->max_write;
    connection->cipher = negotiated->cipher;
    connection->signing = negotiated->signing;
}

static struct outcome negotiate_smb2(struct smb2_connection *connection,
                                     struct conversation *conversation)
{
    struct smb2_call call;
    struct smb2_negotiated negotiated;
    smb2_call_begin(&call, connection, NULL, NULL, SMB2_NEGOTIATE, 256);
    negotiate_put_request(&call.request, connection, conversation);
    int rc = smb2_call_run(&call);
    struct outcome outcome =
        rc ? smb2_connection_outcome(connection, rc) : negotiate_take_response(&call, &negotiated);
    size_t offered = offered_dialects(&conversation->dc->options);
    if (outcome.kind == OUTCOME_OK && !negotiate_offered(dialects, offered, negotiated.dialect)) {
        rc = smb2_connection_complain(connection, "SMB2: malformed NEGOTIATE response");
        outcome = smb2_connection_outcome(connection, rc);
    }
    if (outcome.kind == OUTCOME_OK) {
        keep_negotiated(connection, &negotiated);
        smb2_preauth_update(connection->preauth, smb2_writer_message(&call.request),
                            call.request.size);
        smb2_preauth_update(connection->preauth, call.reply.message, call.reply.size);
    }
    smb2_call_end(&call);
    return outcome;
}

static void negotiate_put_request(struct smb2_writer *writer,
                                  const struct smb2_connection *connection,
                                  struct conversation *conversation)
{
    const struct dc_options *options = &conversation->dc->options;
    size_t count = offered_dialects(options);
    smb2_put16(writer, BODY_SIZE);
    smb2_put16(writer, (uint16_t)count);
    smb2_put16(writer, SIGNING_ENABLED | (options->smb_sign ? SMB2_NEGOTIATE_SIGNING_REQUIRED : 0));
    smb2_put16(writer, 0);
    smb2_put32(writer, CAPABILITIES);
    smb2_put_bytes(writer, connection->client_guid, sizeof connection->client_guid);
    size_t contexts = writer->size;
    smb2_put64(writer, 0);
    for (size_t i = 0; i < count; i++)
        smb2_put16(writer, dialects[i]);
    if (dialects[count - 1] < 0x0311) /* no contexts */
        return;
    smb2_put_align8(writer);
    smb2_patch32(writer, contexts, (uint32_t)writer->size);
    smb2_patch16(writer, contexts + 4, put_contexts(writer, conversation));
}

/* How many of the dialects --smb-dialect lets the client offer. */
static size_t offered_dialects(const struct dc_options *options)
{
    size_t count = COUNT(dialects);
    while (options->smb_dialect && count > 1 && dialects[count - 1] > options->smb_dialect)
        count--;
    return count;
}

static uint16_t put_contexts(struct smb2_writer *writer, struct conversation *conversation)
{
    const struct dc *dc = conversation->dc;
    uint8_t salt[SALT_SIZE];
    random_bytes(conversation, salt, sizeof salt);
    size_t start = begin_context(writer, CONTEXT_PREAUTH);
    smb2_put16(writer, 1);
    smb2_put16(writer, SALT_SIZE);
    smb2_put16(writer, HASH_SHA512);
    smb2_put_bytes(writer, salt, sizeof salt);
    end_context(writer, start);
    put_id_list(writer, CONTEXT_ENCRYPTION, cipher_ids, COUNT(cipher_ids));
    put_id_list(writer, CONTEXT_SIGNING, signing_ids, COUNT(signing_ids));
    start = begin_context(writer, CONTEXT_NETNAME);
    smb2_put_text(writer, dc->dns_name ? dc->dns_name : dc->given ? dc->given : "");
    end_context(writer, start);
    return 4;
}

/* Begins a context at the next multiple of 8 (padding does not follow the last one). */
static size_t begin_context(struct smb2_writer *writer, uint16_t type)
{
    smb2_put_align8(writer);
    smb2_put16(writer, type);
    smb2_put16(writer, 0);
    smb2_put32(writer, 0);
    return writer->size;
}

static void end_context(struct smb2_writer *writer, size_t start)
{
    smb2_patch16(writer, start - CONTEXT_HEADER_SIZE + 2, (uint16_t)(writer->size - start));
}

static void put_id_list(struct smb2_writer *writer, uint16_t type, const uint16_t *ids,
                        size_t count)
{
    size_t start = begin_context(writer, type);
    smb2_put16(writer, (uint16_t)count);
    for (size_t i = 0; i < count; i++)
        smb2_put16(writer, ids[i]);
    end_context(writer, start);
}
