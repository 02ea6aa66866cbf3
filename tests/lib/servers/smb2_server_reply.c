/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/servers/smb2_server_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "protocols/auth/spnego.h"
#include "protocols/smb2/smb2_crypto.h"
#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/bytes.h"

enum { SMB2_SERVER_FILE = 3000 /* bytes of the only file */ };

static void reply_setup(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request, size_t size);
static void reply_setup_first(struct smb2_server *server, struct server_reply *reply,
                              const uint8_t *request, const uint8_t *token, size_t size);
static void reply_token(struct server_reply *reply, uint16_t flags, const uint8_t *token,
                        size_t size);
static void server_reply_put16(struct server_reply *reply, uint16_t value);
static void server_reply_put(struct server_reply *reply, const void *data, size_t size);
static void reply_setup_last(struct smb2_server *server, struct server_reply *reply,
                             const uint8_t *request, const uint8_t *token, size_t size);
static void server_reply_put32(struct server_reply *reply, uint32_t value);
static void server_reply_zeros(struct server_reply *reply, size_t count);
static void reply_read(struct smb2_server *server, struct server_reply *reply,
                       const uint8_t *request);
static void reply_data(struct server_reply *reply, const uint8_t *request, uint32_t status,
                       size_t size);
static void reply_ioctl(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request);
static void reply_directory(struct smb2_server *server, struct server_reply *reply,
                            const uint8_t *request);

void server_reply_make(struct smb2_server *server, struct server_reply *reply,
                       const uint8_t *request, size_t size)
{
    static const char *const fixed[20] = {
        [SMB2_LOGOFF] = "0400 0000",
        [SMB2_TREE_DISCONNECT] = "0400 0000",
        [SMB2_ECHO] = "0400 0000",
        [SMB2_FLUSH] = "0400 0000",
        [SMB2_LOCK] = "0400 0000",
        [SMB2_SET_INFO] = "0200",
        [SMB2_WRITE] = "1100 0000 00000000 00000000 0000 0000",
        [SMB2_CLOSE] = "3c00 0000 00000000 0000000000000000 0000000000000000 0000000000000000"
                       "0000000000000000 0000000000000000 0000000000000000 00000000",
        [SMB2_QUERY_INFO] = "0900 4800 04000000 01020304",
    };
    uint16_t command = le_get16(request + 12);
    server_reply_begin(reply, request, 0);
    if (command == SMB2_NEGOTIATE) {
        server_reply_negotiate(server, reply);
    } else if (command == SMB2_SESSION_SETUP) {
        reply_setup(server, reply, request, size);
    } else if (command == SMB2_TREE_CONNECT) {
        server_reply_hex(reply, "1000 0100");
        server_reply_put32(reply, server->encrypts_share ? 0x8000 : 0);
        server_reply_hex(reply, "00000000 ff011f00");
        le_put32(reply->message + 36, 0x77);
    } else if (command == SMB2_CREATE) {
        server_reply_hex(reply, "5900 0000 01000000");
        server_reply_zeros(reply, 40);
        le_put64(reply->message + reply->size, SMB2_SERVER_FILE);
        reply->size += 8;
        server_reply_hex(reply,
                         "80000000 00000000 0102030405060708090a0b0c0d0e0f10 00000000 00000000");
    } else if (command == SMB2_READ) {
        reply_read(server, reply, request);
    } else if (command == SMB2_IOCTL) {
        reply_ioctl(server, reply, request);
    } else if (command == SMB2_QUERY_DIRECTORY) {
        reply_directory(server, reply, request);
    } else if (command < 20 && fixed[command]) {
        server_reply_hex(reply, fixed[command]);
        if (command == SMB2_WRITE) /* all of it was taken */
            le_put32(reply->message + SMB2_HEADER_SIZE + 4,
                     le_get32(request + SMB2_HEADER_SIZE + 4) + (uint32_t)server->too_much);
    } else {
        server_reply_error(reply, request, 0xc0000002);
    }
}

static void reply_setup(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request, size_t size)
{
    const uint8_t *body = request + SMB2_HEADER_SIZE;
    size_t at = le_get16(body + 12), length = le_get16(body + 14);
    if (at + length > size) {
        server_reply_error(reply, request, 0xc000000d);
        return;
    }
    bool first = le_get64(request + 40) == 0;
    if (first) {
        server->keyed = false;
        server->last_nonce = 0;
        memcpy(server->session_preauth, server->preauth, 64);
    }
    smb2_preauth_update(server->session_preauth, request, size);
    if (first)
        reply_setup_first(server, reply, request, request + at, length);
    else
        reply_setup_last(server, reply, request, request + at, length);
}

/* NEGOTIATE in a NegTokenInit; CHALLENGE in a NegTokenResp. */
static void reply_setup_first(struct smb2_server *server, struct server_reply *reply,
                              const uint8_t *request, const uint8_t *token, size_t size)
{
    uint8_t *out;
    size_t out_size;
    if (!ntlm_acceptor_negotiate(&server->ntlm, token, size)) {
        server_reply_error(reply, request, 0xc000000d);
        return;
    }
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {server->ntlm.challenge, server->ntlm.challenge_size}};
    assert_int_equal(spnego_build_response(&response, &out, &out_size), 0);
    server_reply_begin(reply, request, 0xc0000016);
    reply_token(reply, 0, out, out_size);
    free(out);
}

static void reply_token(struct server_reply *reply, uint16_t flags, const uint8_t *token,
                        size_t size)
{
    server_reply_put16(reply, 9);
    server_reply_put16(reply, flags);
    server_reply_put16(reply, 72);
    server_reply_put16(reply, (uint16_t)size);
    server_reply_put(reply, token, size);
}

static void server_reply_put16(struct server_reply *reply, uint16_t value)
{
    le_put16(reply->message + reply->size, value);
    reply->size += 2;
}

static void server_reply_put(struct server_reply *reply, const void *data, size_t size)
{
    memcpy(reply->message + reply->size, data, size);
    reply->size += size;
}

static void reply_setup_last(struct smb2_server *server, struct server_reply *reply,
                             const uint8_t *request, const uint8_t *token, size_t size)
{
    struct spnego_response response;
    uint8_t key[16], mic[16], *out;
    size_t out_size;
    if (server->never_done) {
        static const uint8_t incomplete[] = {0xa1, 7, 0x30, 5, 0xa0, 3, 0x0a, 1, 1};
        server_reply_begin(reply, request, 0xc0000016);
        reply_token(reply, 0, incomplete, sizeof incomplete);
        return;
    }
    if (spnego_parse_response(token, size, &response) != 0 || !response.token.data ||
        !ntlm_acceptor_authenticate(&server->ntlm, response.token.data, response.token.size, key)) {
        server_reply_error(reply, request, 0xc000006d);
        return;
    }
    ntlm_acceptor_mic(key, false, mic);
    if (response.mech_list_mic.size != 16 || memcmp(mic, response.mech_list_mic.data, 16) != 0) {
        server_reply_error(reply, request, 0xc000000d);
        return;
    }
    ntlm_acceptor_mic(key, true, mic);
    struct spnego_response last = {
        .state = SPNEGO_ACCEPT_COMPLETED, .mech = SPNEGO_NONE, .mech_list_mic = {mic, 16}};
    assert_int_equal(spnego_build_response(&last, &out, &out_size), 0);
    smb2_keys_derive(&server->keys, server->dialect, server->cipher, key, 16,
                     server->session_preauth);
    server->keyed = true;
    server_reply_begin(reply, request, 0);
    reply_token(reply, (uint16_t)((server->guest ? 1 : 0) | (server->encrypts ? 4 : 0)), out,
                out_size);
    free(out);
}

static void server_reply_put32(struct server_reply *reply, uint32_t value)
{
    le_put32(reply->message + reply->size, value);
    reply->size += 4;
}

static void server_reply_zeros(struct server_reply *reply, size_t count)
{
    memset(reply->message + reply->size, 0, count);
    reply->size += count;
}

static void reply_read(struct smb2_server *server, struct server_reply *reply,
                       const uint8_t *request)
{
    const uint8_t *body = request + SMB2_HEADER_SIZE;
    uint64_t offset = le_get64(body + 8);
    size_t length = le_get32(body + 4) + (size_t)server->too_much;
    if (server->pipe_left) {
        size_t part = server->pipe_left < server->pipe_part ? server->pipe_left : server->pipe_part;
        server->pipe_left -= part;
        reply_data(reply, request, server->pipe_left ? 0x80000005 : 0, part);
    } else if (offset >= SMB2_SERVER_FILE) {
        server_reply_error(reply, request, 0xc0000011);
    } else {
        size_t left = SMB2_SERVER_FILE - (size_t)offset;
        reply_data(reply, request, 0, left < length ? left : length);
    }
}

static void reply_data(struct server_reply *reply, const uint8_t *request, uint32_t status,
                       size_t size)
{
    server_reply_begin(reply, request, status);
    server_reply_put16(reply, 17);
    server_reply_put16(reply, 80);
    server_reply_put32(reply, (uint32_t)size);
    server_reply_zeros(reply, 8);
    for (size_t i = 0; i < size; i++)
        reply->message[reply->size++] = (uint8_t)i;
}

static void reply_ioctl(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request)
{
    bool pipe = le_get32(request + SMB2_HEADER_SIZE + 4) == 0x0011c017;
    size_t size = pipe ? server->pipe_size : 40, part = size;
    if (pipe && server->pipe_part && server->pipe_part < size)
        part = server->pipe_part;
    server->pipe_left = size - part;
    server_reply_begin(reply, request, server->pipe_left ? 0x80000005 : 0);
    server_reply_hex(reply, "3100 0000");
    server_reply_put(reply, request + SMB2_HEADER_SIZE + 4, 20);
    server_reply_hex(reply, "00000000 00000000 70000000");
    server_reply_put32(reply, (uint32_t)part);
    server_reply_hex(reply, "00000000 00000000");
    if (pipe) {
        for (size_t i = 0; i < part; i++)
            reply->message[reply->size++] = (uint8_t)(i == 2 ? 12 : i);
    } else {
        /* One DFS referral of 32 bytes. */
        server_reply_hex(reply, "0000 0100 00000000 0300 2000");
        server_reply_zeros(reply, 28);
    }
}

/* One entry "ab" of FileDirectoryInformation, then no more. */
static void reply_directory(struct smb2_server *server, struct server_reply *reply,
                            const uint8_t *request)
{
    if (request[SMB2_HEADER_SIZE + 3] & 1)
        server->listed = false;
    if (server->listed) {
        server_reply_error(reply, request, 0x80000006);
        return;
    }
    server->listed = true;
    server_reply_begin(reply, request, 0);
    server_reply_hex(reply, "0900 4800 44000000");
    server_reply_zeros(reply, 60);
    server_reply_put32(reply, 4);
    server_reply_hex(reply, "61006200");
}

void server_reply_hex(struct server_reply *reply, const char *hex)
{
    reply->size += bytes_from_hex(hex, reply->message + reply->size);
}

void server_reply_begin(struct server_reply *reply, const uint8_t *request, uint32_t status)
{
    memset(reply->message, 0, SMB2_HEADER_SIZE);
    memcpy(reply->message, request, 8);
    le_put32(reply->message + 8, status);
    memcpy(reply->message + 12, request + 12, 2);
    le_put16(reply->message + 14, 32);
    le_put32(reply->message + 16, SMB2_FLAGS_SERVER_TO_REDIR);
    memcpy(reply->message + 24, request + 24, 8);
    le_put32(reply->message + 36, le_get16(request + 12) > 3 ? 0x77 : 0);
    le_put64(reply->message + 40, le_get16(request + 12) ? UINT64_C(0x4000000123) : 0);
    reply->size = SMB2_HEADER_SIZE;
}

void server_reply_error(struct server_reply *reply, const uint8_t *request, uint32_t status)
{
    server_reply_begin(reply, request, status);
    server_reply_hex(reply, "0900 0000 00000000 00");
}

void server_reply_negotiate(struct smb2_server *server, struct server_reply *reply)
{
    uint16_t contexts = server->dialect == 0x0311 && !server->no_contexts ? 3 : 0;
    uint32_t capabilities = server->no_multi_credit ? 0x03 : 0x07;
    contexts = (uint16_t)(contexts + (contexts && server->context_twice ? 1 : 0));
    server_reply_put16(reply, 65);
    server_reply_put16(reply, server->requires_signing ? 3 : 1);
    server_reply_put16(reply, server->dialect);
    server_reply_put16(reply, contexts);
    server_reply_zeros(reply, 16);
    server_reply_put32(reply, server->dialect >= 0x0300 && server->cipher ? capabilities | 0x40
                                                                          : capabilities);
    server_reply_put32(reply, server->io_max);
    server_reply_put32(reply, server->io_max);
    server_reply_put32(reply, server->io_max);
    server_reply_zeros(reply, 16);
    server_reply_put16(reply, 128);
    server_reply_put16(reply, 0);
    server_reply_put32(reply, contexts ? 128 : 0);
    if (!contexts) {
        server_reply_zeros(reply, 1);
        return;
    }
    server_reply_hex(reply, "0100 2600 00000000 0100 2000 0100");
    server_reply_zeros(reply, 32);
    server_reply_zeros(reply, 2);
    server_reply_hex(reply, "0200 0400 00000000 0100");
    server_reply_put16(reply, (uint16_t)server->cipher);
    server_reply_zeros(reply, 4);
    server_reply_hex(reply, "0800 0400 00000000 0100");
    server_reply_put16(reply, (uint16_t)server->signing);
    if (!server->context_twice)
        return;
    bool preauth = server->context_twice == 1, cipher = server->context_twice == 2;
    server_reply_zeros(reply, 4);
    server_reply_put16(reply, (uint16_t)server->context_twice);
    server_reply_hex(reply, preauth ? "0600 00000000 0100 0000 0100" : "0400 00000000 0100");
    if (!preauth)
        server_reply_put16(reply, (uint16_t)(cipher ? server->cipher : server->signing));
}
