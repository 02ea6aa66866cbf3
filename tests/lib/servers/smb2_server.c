/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/smb2_server_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/smb2/smb2_crypto.h"
#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/servers/loopback.h"

enum { SMB2_SERVER_BUFFER = 2 << 20 };

static void *smb2_server_main(void *argument);
static bool smb2_server_serve_one(struct smb2_server *server, uint8_t *in, uint8_t *out);
static bool smb2_server_receive(struct smb2_server *server, uint8_t *data, size_t size);
static bool smb2_server_answer_smb1(struct smb2_server *server, uint8_t *buffer);
static void grant_credits(struct smb2_server *server, struct server_reply *reply);
static bool protect_and_send(struct smb2_server *server, uint8_t *buffer, size_t size,
                             bool encrypted, enum smb2_server_fault fault);
static void put_frame_header(uint8_t *frame, size_t size);
static bool smb2_server_send(struct smb2_server *server, const uint8_t *data, size_t size,
                             bool slowly);
static bool open_request(struct smb2_server *server, uint8_t **request, size_t *size,
                         bool *encrypted);
static void smb2_server_complain(struct smb2_server *server, const char *text);
static void check_credits(struct smb2_server *server, const uint8_t *request);
static uint32_t request_payload(const uint8_t *request);
static void keep_request(struct smb2_server *server, const uint8_t *request, size_t size);
static bool smb2_server_answer(struct smb2_server *server, const uint8_t *request, size_t size,
                               bool encrypted, uint8_t *buffer);
static enum smb2_server_fault fault_now(struct smb2_server *server, uint16_t command);
static void spoil_reply(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request, enum smb2_server_fault fault);
static bool send_pending(struct smb2_server *server, const uint8_t *request, bool encrypted);
static bool send_break(struct smb2_server *server, const uint8_t *request,
                       enum smb2_server_fault kind);

void smb2_server_start(struct smb2_server *server)
{
    if (!server->io_max)
        server->io_max = 1 << 20;
    assert_int_equal(ntlmssp_nt_hash("Password", server->ntlm.nt_hash), 0);
    server->port = 0;
    server->listener = loopback_listen(&server->port, 16);
    assert_int_equal(pthread_create(&server->thread, NULL, smb2_server_main, server), 0);
}

static void *smb2_server_main(void *argument)
{
    struct smb2_server *server = argument;
    uint8_t *in = malloc(SMB2_SERVER_BUFFER + SMB2_PREFIX_SIZE);
    uint8_t *out = malloc(SMB2_SERVER_BUFFER + SMB2_PREFIX_SIZE);
    while (in && out && (server->fd = accept(server->listener, NULL, NULL)) >= 0) {
        server->connections++;
        memset(server->preauth, 0, sizeof server->preauth);
        server->keyed = false;
        server->pipe_left = 0;
        server->next_message_id = 0;
        server->credits = 1;
        while (smb2_server_serve_one(server, in, out)) {
        }
        close(server->fd);
    }
    free(in);
    free(out);
    return NULL;
}

static bool smb2_server_serve_one(struct smb2_server *server, uint8_t *in, uint8_t *out)
{
    uint8_t frame[4];
    if (!smb2_server_receive(server, frame, 4))
        return false;
    size_t size = (size_t)frame[1] << 16 | (size_t)frame[2] << 8 | frame[3];
    if (frame[0] != 0 || size > SMB2_SERVER_BUFFER || !smb2_server_receive(server, in, size))
        return false;
    bool encrypted;
    if (in[0] == 0xff)
        return smb2_server_answer_smb1(server, out);
    if (!open_request(server, &in, &size, &encrypted))
        return false;
    keep_request(server, in, size);
    if (le_get16(in + 12) == SMB2_OPLOCK_BREAK)
        server->acknowledged++;
    return smb2_server_answer(server, in, size, encrypted, out);
}

static bool smb2_server_receive(struct smb2_server *server, uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = recv(server->fd, data, size, 0);
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* "SMB 2.???" was offered: answered by the wildcard revision. */
static bool smb2_server_answer_smb1(struct smb2_server *server, uint8_t *buffer)
{
    static const uint8_t header[SMB2_HEADER_SIZE] = {0xfe, 'S', 'M', 'B', 64};
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    uint16_t dialect = server->dialect;
    server_reply_begin(&reply, header, 0);
    le_put16(reply.message + 14, 1);
    server->dialect = server->smb1_dialect ? server->smb1_dialect
                      : dialect == 0x0202  ? 0x0202
                                           : 0x02ff;
    server->next_message_id = 1; /* 3.3.5.3.1: it was message 0 */
    server->credits = 0;
    server_reply_negotiate(server, &reply);
    server->dialect = dialect;
    grant_credits(server, &reply);
    return protect_and_send(server, buffer, reply.size, false, FAULT_NONE);
}

/* Credits that come with a reply. */
static void grant_credits(struct smb2_server *server, struct server_reply *reply)
{
    if (reply->size < 16)
        return;
    if (server->credits_most && le_get16(reply->message + 14))
        le_put16(reply->message + 14, (uint16_t)(server->credits_most - server->credits));
    server->credits += le_get16(reply->message + 14);
}

/* Signs or encrypts and sends a reply whose message begins at buffer + SMB2_PREFIX_SIZE. */
static bool protect_and_send(struct smb2_server *server, uint8_t *buffer, size_t size,
                             bool encrypted, enum smb2_server_fault fault)
{
    uint8_t *message = buffer + SMB2_PREFIX_SIZE, *frame = message - SMB2_FRAME_SIZE;
    uint16_t command = le_get16(message + 12);
    uint32_t flags = size >= 20 ? le_get32(message + 16) : 0;
    /* An unknown session has no key: in clear, with a flag but no signature, as Samba answers. */
    bool gone = size >= 12 && le_get32(message + 8) == 0xc0000203;
    bool signs = server->keyed && !gone && command != SMB2_NEGOTIATE &&
                 (server->requires_signing || server->dialect == 0x0311) &&
                 !(flags & SMB2_FLAGS_ASYNC_COMMAND) && fault != FAULT_UNSIGNED &&
                 fault != FAULT_WRONG_SIGNATURE;
    if (encrypted && !gone && fault != FAULT_IN_CLEAR) {
        frame = buffer;
        smb2_encrypt(server->keys.to_client, server->cipher, server->nonce++,
                     UINT64_C(0x4000000123), frame + SMB2_FRAME_SIZE, size);
        size += SMB2_TRANSFORM_SIZE;
    } else if (signs && size >= SMB2_HEADER_SIZE) {
        le_put32(message + 16, flags | SMB2_FLAGS_SIGNED);
        smb2_sign_message(server->keys.signing, server->signing, message, size);
    } else if (fault == FAULT_WRONG_SIGNATURE || gone) {
        le_put32(message + 16, flags | SMB2_FLAGS_SIGNED);
    }
    if (fault == FAULT_FLIP_ON_THE_WAY && server->fault_at / 8 < size)
        frame[SMB2_FRAME_SIZE + server->fault_at / 8] ^= (uint8_t)(1u << server->fault_at % 8);
    put_frame_header(frame, fault == FAULT_HUGE ? 0xffffff : size);
    if (fault == FAULT_NETBIOS)
        frame[0] = 0x85;
    if (fault == FAULT_HALF)
        return smb2_server_send(server, frame, size / 2, false) && false;
    return smb2_server_send(server, frame, SMB2_FRAME_SIZE + size, fault == FAULT_BYTE_BY_BYTE);
}

static void put_frame_header(uint8_t *frame, size_t size)
{
    frame[0] = 0;
    frame[1] = (uint8_t)(size >> 16);
    frame[2] = (uint8_t)(size >> 8);
    frame[3] = (uint8_t)size;
}

static bool smb2_server_send(struct smb2_server *server, const uint8_t *data, size_t size,
                             bool slowly)
{
    size_t step = slowly ? 1 : size;
    for (size_t at = 0; at < size; at += step)
        if (send(server->fd, data + at, step, MSG_NOSIGNAL) != (ssize_t)step)
            return false;
    return true;
}

/* Decrypts or verifies a request and says whether it was encrypted. */
static bool open_request(struct smb2_server *server, uint8_t **request, size_t *size,
                         bool *encrypted)
{
    *encrypted = (*request)[0] == 0xfd;
    if (*encrypted) {
        if (!server->keyed ||
            smb2_decrypt(server->keys.to_server, server->cipher, *request, *size) != 0) {
            smb2_server_complain(server, "request cannot be decrypted");
            return false;
        }
        uint64_t nonce = le_get64(*request + 20) + 1;
        if (nonce <= server->last_nonce)
            smb2_server_complain(server, "a nonce is used again");
        server->last_nonce = nonce;
        *request += SMB2_TRANSFORM_SIZE;
        *size -= SMB2_TRANSFORM_SIZE;
    }
    if (*size < SMB2_HEADER_SIZE + 2)
        return false;
    check_credits(server, *request);
    uint16_t command = le_get16(*request + 12);
    bool is_signed = le_get32(*request + 16) & SMB2_FLAGS_SIGNED;
    bool must =
        server->keyed && !*encrypted && command > SMB2_SESSION_SETUP &&
        le_get64(*request + 40) != 0 &&
        (server->requires_signing || (command == SMB2_TREE_CONNECT && server->dialect == 0x0311));
    if (must && !is_signed)
        smb2_server_complain(server, "request is not signed");
    if (is_signed && !smb2_signature_valid(server->keys.signing, server->signing, *request, *size))
        smb2_server_complain(server, "request's signature is wrong");
    if (server->keyed && server->encrypts && command > SMB2_SESSION_SETUP && !*encrypted)
        smb2_server_complain(server, "request is not encrypted");
    return true;
}

static void smb2_server_complain(struct smb2_server *server, const char *text)
{
    server->bad_requests++;
    snprintf(server->last_error, sizeof server->last_error, "%s", text);
}

/* MS-SMB2 3.3.5.2.3, 3.3.5.2.5: message ids in a row, none before its credit, charges that pay. */
static void check_credits(struct smb2_server *server, const uint8_t *request)
{
    uint16_t charge = le_get16(request + 6), expected = 0, command = le_get16(request + 12);
    uint32_t payload = request_payload(request);
    bool multi = server->dialect > 0x0202 && !server->no_multi_credit;
    if (multi && command != SMB2_NEGOTIATE)
        expected = (uint16_t)(payload ? (payload + 65535) / 65536 : 1);
    else if (payload > 65536)
        smb2_server_complain(server, "more than 64 KiB for a credit");
    if (charge != expected)
        smb2_server_complain(server, "wrong CreditCharge");
    if (le_get16(request + 14) == 0)
        smb2_server_complain(server, "no credit is asked for");
    if (le_get64(request + 24) != server->next_message_id)
        smb2_server_complain(server, "wrong MessageId");
    unsigned used = charge ? charge : 1;
    server->next_message_id += used;
    if (used > server->credits)
        smb2_server_complain(server, "more credits used than granted");
    server->credits -= used < server->credits ? used : server->credits;
}

/* What a request sends, or asks for at most, whichever is more. */
static uint32_t request_payload(const uint8_t *request)
{
    const uint8_t *body = request + SMB2_HEADER_SIZE;
    uint32_t in, out;
    switch (le_get16(request + 12)) {
    case SMB2_READ:
    case SMB2_WRITE:
    case SMB2_QUERY_INFO:
        return le_get32(body + 4);
    case SMB2_QUERY_DIRECTORY:
        return le_get32(body + 28);
    case SMB2_IOCTL:
        in = le_get32(body + 28);
        out = le_get32(body + 44);
        return in > out ? in : out;
    default:
        return 1;
    }
}

static void keep_request(struct smb2_server *server, const uint8_t *request, size_t size)
{
    uint16_t command = le_get16(request + 12);
    if (command >= 20)
        return;
    server->requests[command]++;
    server->last_request_size[command] =
        size < sizeof server->last_request[0] ? size : sizeof server->last_request[0];
    memcpy(server->last_request[command], request, server->last_request_size[command]);
}

static bool smb2_server_answer(struct smb2_server *server, const uint8_t *request, size_t size,
                               bool encrypted, uint8_t *buffer)
{
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    uint16_t command = le_get16(request + 12);
    enum smb2_server_fault fault = fault_now(server, command);
    if (fault == FAULT_CLOSE)
        return false;
    server_reply_make(server, &reply, request, size);
    if (command == SMB2_NEGOTIATE && server->dialect == 0x0311)
        smb2_preauth_update(server->preauth, request, size);
    if (command == server->fault_command)
        server->reply_size = reply.size;
    spoil_reply(server, &reply, request, fault);
    grant_credits(server, &reply);
    if (command == SMB2_NEGOTIATE)
        smb2_preauth_update(server->preauth, reply.message, reply.size);
    if (command == SMB2_SESSION_SETUP && le_get32(reply.message + 8) == 0xc0000016)
        smb2_preauth_update(server->session_preauth, reply.message, reply.size);
    bool more = fault == FAULT_PENDING || fault == FAULT_PENDING_FOREVER;
    if (more && !send_pending(server, request, encrypted))
        return false;
    for (int i = 0; fault == FAULT_PENDING_FOREVER && i < 100; i++)
        if (!send_pending(server, request, encrypted))
            return false;
    if ((fault == FAULT_BREAK_OPLOCK || fault == FAULT_BREAK_LEASE ||
         fault == FAULT_BREAK_LEASE_NOTICE) &&
        !send_break(server, request, fault))
        return false;
    return protect_and_send(server, buffer, reply.size, encrypted, fault);
}

static enum smb2_server_fault fault_now(struct smb2_server *server, uint16_t command)
{
    if (command != server->fault_command || server->fault == FAULT_NONE)
        return FAULT_NONE;
    if (server->fault_skip) {
        server->fault_skip--;
        return FAULT_NONE;
    }
    return server->fault;
}

/* What is spoiled before the reply is signed. */
static void spoil_reply(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request, enum smb2_server_fault fault)
{
    if (fault == FAULT_CUT && server->fault_at < reply->size)
        reply->size = server->fault_at;
    if (fault == FAULT_FLIP && server->fault_at / 8 < reply->size)
        reply->message[server->fault_at / 8] ^= (uint8_t)(1u << server->fault_at % 8);
    if (fault == FAULT_STATUS)
        server_reply_error(reply, request, (uint32_t)server->fault_at);
    if (fault == FAULT_OTHER_STATUS)
        le_put32(reply->message + 8, (uint32_t)server->fault_at);
    if (fault == FAULT_OTHER_ID)
        reply->message[24] ^= 1;
    if (fault == FAULT_OTHER_COMMAND)
        le_put16(reply->message + 12, SMB2_OPLOCK_BREAK);
    if (fault == FAULT_OTHER_SESSION)
        reply->message[40] ^= 1;
    if (fault == FAULT_NO_REPLY)
        le_put32(reply->message + 16, 0);
    if (fault == FAULT_NO_CREDIT)
        le_put16(reply->message + 14, 0);
    if (fault == FAULT_COMPOUND)
        le_put32(reply->message + 20, 64);
}

static bool send_pending(struct smb2_server *server, const uint8_t *request, bool encrypted)
{
    uint8_t buffer[SMB2_PREFIX_SIZE + 128];
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    server_reply_error(&reply, request, 0x00000103);
    le_put32(reply.message + 16, SMB2_FLAGS_SERVER_TO_REDIR | SMB2_FLAGS_ASYNC_COMMAND);
    grant_credits(server, &reply);
    return protect_and_send(server, buffer, reply.size, encrypted, FAULT_NONE);
}

static bool send_break(struct smb2_server *server, const uint8_t *request,
                       enum smb2_server_fault kind)
{
    uint8_t buffer[SMB2_PREFIX_SIZE + 128];
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    server_reply_begin(&reply, request, 0);
    le_put16(reply.message + 12, SMB2_OPLOCK_BREAK);
    le_put16(reply.message + 14, 0); /* it grants nothing */
    memset(reply.message + 24, 0xff, 8);
    memset(reply.message + 36, 0, 12);
    if (kind == FAULT_BREAK_LEASE_NOTICE)
        server_reply_hex(&reply,
                         "2c00 0000 00000000 000102030405060708090a0b0c0d0e0f 01000000 00000000"
                         "00000000 00000000 00000000");
    else if (kind == FAULT_BREAK_LEASE)
        server_reply_hex(&reply,
                         "2c00 0000 01000000 000102030405060708090a0b0c0d0e0f 07000000 03000000"
                         "00000000 00000000 00000000");
    else
        server_reply_hex(&reply, "1800 01 00 00000000 0102030405060708090a0b0c0d0e0f10");
    put_frame_header(reply.message - SMB2_FRAME_SIZE, reply.size);
    return smb2_server_send(server, reply.message - SMB2_FRAME_SIZE, SMB2_FRAME_SIZE + reply.size,
                            false);
}

void smb2_server_stop(struct smb2_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}
