/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small SMB2 server for tests, in a thread of its own: any dialect, an NTLM acceptor in SPNEGO,
 * signing and encryption, one file of a share; and faults: what it is told to spoil in its replies.
 * Its own reading of MS-SMB2 and MS-NLMP: only ciphers and hashes are shared with what is tested.
 */
#ifndef TESTS_LIB_SMB2_SERVER_H
#define TESTS_LIB_SMB2_SERVER_H

#include <arpa/inet.h>
#include <nettle/arcfour.h>
#include <nettle/hmac.h>
#include <nettle/md5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/little_endian.h"
#include "protocols/auth/ntlmssp.h"
#include "protocols/auth/spnego.h"
#include "protocols/smb2/smb2_crypto.h"
#include "protocols/smb2/smb2_wire.h"
#include "tests/lib/bytes.h"

enum server_fault {
    FAULT_NONE,
    FAULT_CUT,             /* the reply ends at fault_at, then is signed or encrypted */
    FAULT_FLIP,            /* bit fault_at of it is flipped, then it is signed or encrypted */
    FAULT_FLIP_ON_THE_WAY, /* ... after that */
    FAULT_STATUS,          /* answered with status fault_at */
    FAULT_OTHER_STATUS,    /* ... and with the body of what was asked for */
    FAULT_UNSIGNED,
    FAULT_WRONG_SIGNATURE, /* signed, wrongly, whether it has to be or not */
    FAULT_IN_CLEAR,        /* not encrypted */
    FAULT_OTHER_ID,        /* another message's reply */
    FAULT_OTHER_COMMAND,
    FAULT_OTHER_SESSION,
    FAULT_NO_REPLY,  /* a request's flags */
    FAULT_HUGE,      /* a frame said to be of 16 MiB */
    FAULT_NETBIOS,   /* a frame of another type */
    FAULT_CLOSE,     /* nothing but the connection's end */
    FAULT_HALF,      /* half of the frame, then the end */
    FAULT_NO_CREDIT, /* grants none */
    FAULT_COMPOUND,  /* says that another reply follows */
    FAULT_PENDING,   /* an interim reply first */
    FAULT_PENDING_FOREVER,
    FAULT_BREAK_OPLOCK, /* a break of an oplock first; FAULT_BREAK_LEASE of a lease */
    FAULT_BREAK_LEASE,
    FAULT_BREAK_LEASE_NOTICE, /* ... that wants no acknowledgement */
    FAULT_BYTE_BY_BYTE        /* slowly */
};

enum { SERVER_BUFFER = 2 << 20, SERVER_FILE = 3000 };

struct smb2_server {
    /* Set before server_start(). */
    uint16_t dialect;
    enum smb2_cipher cipher;
    enum smb2_signing signing;
    bool requires_signing, encrypts, encrypts_share, guest, no_contexts, no_multi_credit;
    bool never_done;        /* goes on with a logon for ever */
    int too_much;           /* bytes that a READ or WRITE is more than asked for */
    uint16_t smb1_dialect;  /* answers an SMB1 negotiate; 0: by the wildcard or 2.0.2 */
    unsigned context_twice; /* type of a negotiate context that comes a second time; 0: none */
    unsigned credits_most;  /* that a client has in hand; 0: 32 come with each reply */
    uint8_t nt_hash[16];
    uint32_t io_max;
    size_t pipe_part; /* a pipe's answer comes in parts of this size; 0: whole */
    size_t pipe_size; /* of a pipe's answer */
    enum server_fault fault;
    int fault_command; /* spoils replies to this command only */
    size_t fault_at;
    unsigned fault_skip; /* of those, this many are left alone first */

    /* What it saw. */
    _Atomic unsigned requests[20];
    _Atomic unsigned acknowledged; /* oplock and lease breaks */
    _Atomic unsigned connections;
    _Atomic unsigned bad_requests; /* unsigned where they must be signed, wrong signature, ... */
    char last_error[96];
    size_t reply_size;              /* of the last reply to fault_command */
    uint8_t last_request[20][4096]; /* by command, in clear */
    size_t last_request_size[20];

    uint16_t port;
    int listener;
    pthread_t thread;

    /* Of the connection. */
    int fd;
    uint8_t preauth[64], session_preauth[64];
    struct smb2_keys keys;
    bool keyed;
    uint64_t nonce, last_nonce;
    uint64_t next_message_id;
    unsigned credits; /* granted and not used yet */
    uint8_t negotiate[512];
    size_t negotiate_size;
    uint8_t ntlm_negotiate[256], ntlm_challenge[512];
    size_t ntlm_negotiate_size, ntlm_challenge_size;
    unsigned setups;
    size_t pipe_left;
    bool listed;
};

/* --- NTLM's other half ---------------------------------------------------------------------- */

static void server_hmac(const uint8_t *key, const void *a, size_t a_size, const void *b,
                        size_t b_size, uint8_t *out)
{
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, key);
    hmac_md5_update(&context, a_size, a);
    hmac_md5_update(&context, b_size, b);
    hmac_md5_digest(&context, 16, out);
}

static size_t server_challenge(uint8_t *out)
{
    return bytes_from_hex(
        "4e544c4d53535000 02000000 0c000c00 38000000 33828ae2 0123456789abcdef 0000000000000000"
        "30003000 44000000 0600701700 00000f 530065007200760065007200"
        "02000c00 44006f006d00610069006e00 01000c00 530065007200760065007200"
        "07000800 1122334455667700 00000000",
        out);
}

/* Checks proof and MIC of an AUTHENTICATE_MESSAGE of user "User" in "Domain"; the session key. */
static bool server_authenticate(struct smb2_server *server, const uint8_t *message, size_t size,
                                uint8_t key[16])
{
    uint8_t ntowf[16], proof[16], base[16], mic[16], expected[16], copy[4096];
    if (size < 88 || size > sizeof copy || le_get32(message + 8) != 3)
        return false;
    size_t nt_size = le_get16(message + 20), nt = le_get32(message + 24);
    size_t key_size = le_get16(message + 52), key_at = le_get32(message + 56);
    if (nt + nt_size > size || nt_size < 16 || key_size != 16 || key_at + 16 > size ||
        ntlmssp_ntowf_v2(server->nt_hash, "User", "Domain", ntowf) != 0)
        return false;
    server_hmac(ntowf, server->ntlm_challenge + 24, 8, message + nt + 16, nt_size - 16, proof);
    if (memcmp(proof, message + nt, 16) != 0)
        return false;
    server_hmac(ntowf, proof, 16, NULL, 0, base);
    struct arcfour_ctx rc4;
    arcfour_set_key(&rc4, 16, base);
    arcfour_crypt(&rc4, 16, key, message + key_at);
    memcpy(copy, message, size);
    memcpy(mic, copy + 72, 16);
    memset(copy + 72, 0, 16);
    struct hmac_md5_ctx context;
    hmac_md5_set_key(&context, 16, key);
    hmac_md5_update(&context, server->ntlm_negotiate_size, server->ntlm_negotiate);
    hmac_md5_update(&context, server->ntlm_challenge_size, server->ntlm_challenge);
    hmac_md5_update(&context, size, copy);
    hmac_md5_digest(&context, 16, expected);
    return memcmp(mic, expected, 16) == 0;
}

/* The signature of one side over the MechTypeList, its first. */
static void server_mic(const uint8_t key[16], bool from_server, uint8_t mic[16])
{
    const char *sign = from_server ? "session key to server-to-client signing key magic constant"
                                   : "session key to client-to-server signing key magic constant";
    const char *seal = from_server ? "session key to server-to-client sealing key magic constant"
                                   : "session key to client-to-server sealing key magic constant";
    uint8_t sign_key[16], seal_key[16], digest[16];
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, 16, key);
    md5_update(&md5, strlen(sign) + 1, (const uint8_t *)sign);
    md5_digest(&md5, 16, sign_key);
    md5_update(&md5, 16, key);
    md5_update(&md5, strlen(seal) + 1, (const uint8_t *)seal);
    md5_digest(&md5, 16, seal_key);
    struct spnego_slice list = spnego_mech_list(SPNEGO_NTLMSSP);
    uint8_t sequence[4] = {0};
    server_hmac(sign_key, sequence, 4, list.data, list.size, digest);
    struct arcfour_ctx rc4;
    arcfour_set_key(&rc4, 16, seal_key);
    memset(mic, 0, 16);
    mic[0] = 1;
    arcfour_crypt(&rc4, 8, mic + 4, digest);
}

/* --- Replies -------------------------------------------------------------------------------- */

/* A reply being made: message, from its header on. */
struct server_reply {
    uint8_t *message;
    size_t size;
};

static void reply_put(struct server_reply *reply, const void *data, size_t size)
{
    memcpy(reply->message + reply->size, data, size);
    reply->size += size;
}

static void reply_hex(struct server_reply *reply, const char *hex)
{
    reply->size += bytes_from_hex(hex, reply->message + reply->size);
}

static void reply_put16(struct server_reply *reply, uint16_t value)
{
    le_put16(reply->message + reply->size, value);
    reply->size += 2;
}

static void reply_put32(struct server_reply *reply, uint32_t value)
{
    le_put32(reply->message + reply->size, value);
    reply->size += 4;
}

static void reply_zeros(struct server_reply *reply, size_t count)
{
    memset(reply->message + reply->size, 0, count);
    reply->size += count;
}

static void reply_begin(struct server_reply *reply, const uint8_t *request, uint32_t status)
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

static void reply_error(struct server_reply *reply, const uint8_t *request, uint32_t status)
{
    reply_begin(reply, request, status);
    reply_hex(reply, "0900 0000 00000000 00");
}

static void reply_negotiate(struct smb2_server *server, struct server_reply *reply)
{
    uint16_t contexts = server->dialect == 0x0311 && !server->no_contexts ? 3 : 0;
    uint32_t capabilities = server->no_multi_credit ? 0x03 : 0x07;
    contexts = (uint16_t)(contexts + (contexts && server->context_twice ? 1 : 0));
    reply_put16(reply, 65);
    reply_put16(reply, server->requires_signing ? 3 : 1);
    reply_put16(reply, server->dialect);
    reply_put16(reply, contexts);
    reply_zeros(reply, 16);
    reply_put32(reply,
                server->dialect >= 0x0300 && server->cipher ? capabilities | 0x40 : capabilities);
    reply_put32(reply, server->io_max);
    reply_put32(reply, server->io_max);
    reply_put32(reply, server->io_max);
    reply_zeros(reply, 16);
    reply_put16(reply, 128);
    reply_put16(reply, 0);
    reply_put32(reply, contexts ? 128 : 0);
    if (!contexts) {
        reply_zeros(reply, 1);
        return;
    }
    reply_hex(reply, "0100 2600 00000000 0100 2000 0100");
    reply_zeros(reply, 32);
    reply_zeros(reply, 2);
    reply_hex(reply, "0200 0400 00000000 0100");
    reply_put16(reply, (uint16_t)server->cipher);
    reply_zeros(reply, 4);
    reply_hex(reply, "0800 0400 00000000 0100");
    reply_put16(reply, (uint16_t)server->signing);
    if (!server->context_twice)
        return;
    bool preauth = server->context_twice == 1, cipher = server->context_twice == 2;
    reply_zeros(reply, 4);
    reply_put16(reply, (uint16_t)server->context_twice);
    reply_hex(reply, preauth ? "0600 00000000 0100 0000 0100" : "0400 00000000 0100");
    if (!preauth)
        reply_put16(reply, (uint16_t)(cipher ? server->cipher : server->signing));
}

static void reply_token(struct server_reply *reply, uint16_t flags, const uint8_t *token,
                        size_t size)
{
    reply_put16(reply, 9);
    reply_put16(reply, flags);
    reply_put16(reply, 72);
    reply_put16(reply, (uint16_t)size);
    reply_put(reply, token, size);
}

static bool find_ntlmssp(const uint8_t *token, size_t size, const uint8_t **found)
{
    for (size_t i = 0; i + 8 <= size; i++)
        if (memcmp(token + i, "NTLMSSP", 8) == 0) {
            *found = token + i;
            return true;
        }
    return false;
}

/* NEGOTIATE in a NegTokenInit; CHALLENGE in a NegTokenResp. */
static void reply_setup_first(struct smb2_server *server, struct server_reply *reply,
                              const uint8_t *request, const uint8_t *token, size_t size)
{
    const uint8_t *negotiate;
    uint8_t *out;
    size_t out_size;
    if (!find_ntlmssp(token, size, &negotiate)) {
        reply_error(reply, request, 0xc000000d);
        return;
    }
    server->ntlm_negotiate_size = size - (size_t)(negotiate - token);
    memcpy(server->ntlm_negotiate, negotiate, server->ntlm_negotiate_size);
    server->ntlm_challenge_size = server_challenge(server->ntlm_challenge);
    struct spnego_response response = {
        .state = SPNEGO_ACCEPT_INCOMPLETE,
        .mech = SPNEGO_NTLMSSP,
        .token = {server->ntlm_challenge, server->ntlm_challenge_size}};
    assert_int_equal(spnego_build_response(&response, &out, &out_size), 0);
    reply_begin(reply, request, 0xc0000016);
    reply_token(reply, 0, out, out_size);
    free(out);
}

static void reply_setup_last(struct smb2_server *server, struct server_reply *reply,
                             const uint8_t *request, const uint8_t *token, size_t size)
{
    struct spnego_response response;
    uint8_t key[16], mic[16], *out;
    size_t out_size;
    if (server->never_done) {
        static const uint8_t incomplete[] = {0xa1, 7, 0x30, 5, 0xa0, 3, 0x0a, 1, 1};
        reply_begin(reply, request, 0xc0000016);
        reply_token(reply, 0, incomplete, sizeof incomplete);
        return;
    }
    if (spnego_parse_response(token, size, &response) != 0 || !response.token.data ||
        !server_authenticate(server, response.token.data, response.token.size, key)) {
        reply_error(reply, request, 0xc000006d);
        return;
    }
    server_mic(key, false, mic);
    if (response.mech_list_mic.size != 16 || memcmp(mic, response.mech_list_mic.data, 16) != 0) {
        reply_error(reply, request, 0xc000000d);
        return;
    }
    server_mic(key, true, mic);
    struct spnego_response last = {
        .state = SPNEGO_ACCEPT_COMPLETED, .mech = SPNEGO_NONE, .mech_list_mic = {mic, 16}};
    assert_int_equal(spnego_build_response(&last, &out, &out_size), 0);
    smb2_keys_derive(&server->keys, server->dialect, server->cipher, key, 16,
                     server->session_preauth);
    server->keyed = true;
    reply_begin(reply, request, 0);
    reply_token(reply, (uint16_t)((server->guest ? 1 : 0) | (server->encrypts ? 4 : 0)), out,
                out_size);
    free(out);
}

static void reply_setup(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request, size_t size)
{
    const uint8_t *body = request + SMB2_HEADER_SIZE;
    size_t at = le_get16(body + 12), length = le_get16(body + 14);
    if (at + length > size) {
        reply_error(reply, request, 0xc000000d);
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

/* One entry "ab" of FileDirectoryInformation, then no more. */
static void reply_directory(struct smb2_server *server, struct server_reply *reply,
                            const uint8_t *request)
{
    if (request[SMB2_HEADER_SIZE + 3] & 1)
        server->listed = false;
    if (server->listed) {
        reply_error(reply, request, 0x80000006);
        return;
    }
    server->listed = true;
    reply_begin(reply, request, 0);
    reply_hex(reply, "0900 4800 44000000");
    reply_zeros(reply, 60);
    reply_put32(reply, 4);
    reply_hex(reply, "61006200");
}

static void reply_data(struct server_reply *reply, const uint8_t *request, uint32_t status,
                       size_t size)
{
    reply_begin(reply, request, status);
    reply_put16(reply, 17);
    reply_put16(reply, 80);
    reply_put32(reply, (uint32_t)size);
    reply_zeros(reply, 8);
    for (size_t i = 0; i < size; i++)
        reply->message[reply->size++] = (uint8_t)i;
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
    } else if (offset >= SERVER_FILE) {
        reply_error(reply, request, 0xc0000011);
    } else {
        size_t left = SERVER_FILE - (size_t)offset;
        reply_data(reply, request, 0, left < length ? left : length);
    }
}

static void reply_ioctl(struct smb2_server *server, struct server_reply *reply,
                        const uint8_t *request)
{
    bool pipe = le_get32(request + SMB2_HEADER_SIZE + 4) == 0x0011c017;
    size_t size = pipe ? server->pipe_size : 40, part = size;
    if (pipe && server->pipe_part && server->pipe_part < size)
        part = server->pipe_part;
    server->pipe_left = size - part;
    reply_begin(reply, request, server->pipe_left ? 0x80000005 : 0);
    reply_hex(reply, "3100 0000");
    reply_put(reply, request + SMB2_HEADER_SIZE + 4, 20);
    reply_hex(reply, "00000000 00000000 70000000");
    reply_put32(reply, (uint32_t)part);
    reply_hex(reply, "00000000 00000000");
    if (pipe) {
        for (size_t i = 0; i < part; i++)
            reply->message[reply->size++] = (uint8_t)(i == 2 ? 12 : i);
    } else {
        /* One DFS referral of 32 bytes. */
        reply_hex(reply, "0000 0100 00000000 0300 2000");
        reply_zeros(reply, 28);
    }
}

static void make_reply(struct smb2_server *server, struct server_reply *reply,
                       const uint8_t *request, size_t size)
{
    static const char *const fixed[20] = {
        [SMB2_LOGOFF] = "0400 0000",
        [SMB2_TREE_DISCONNECT] = "0400 0000",
        [SMB2_ECHO] = "0400 0000",
        [SMB2_WRITE] = "1100 0000 00000000 00000000 0000 0000",
        [SMB2_CLOSE] = "3c00 0000 00000000 0000000000000000 0000000000000000 0000000000000000"
                       "0000000000000000 0000000000000000 0000000000000000 00000000",
        [SMB2_QUERY_INFO] = "0900 4800 04000000 01020304",
    };
    uint16_t command = le_get16(request + 12);
    reply_begin(reply, request, 0);
    if (command == SMB2_NEGOTIATE) {
        reply_negotiate(server, reply);
    } else if (command == SMB2_SESSION_SETUP) {
        reply_setup(server, reply, request, size);
    } else if (command == SMB2_TREE_CONNECT) {
        reply_hex(reply, "1000 0100");
        reply_put32(reply, server->encrypts_share ? 0x8000 : 0);
        reply_hex(reply, "00000000 ff011f00");
        le_put32(reply->message + 36, 0x77);
    } else if (command == SMB2_CREATE) {
        reply_hex(reply, "5900 0000 01000000");
        reply_zeros(reply, 40);
        le_put64(reply->message + reply->size, SERVER_FILE);
        reply->size += 8;
        reply_hex(reply, "80000000 00000000 0102030405060708090a0b0c0d0e0f10 00000000 00000000");
    } else if (command == SMB2_READ) {
        reply_read(server, reply, request);
    } else if (command == SMB2_IOCTL) {
        reply_ioctl(server, reply, request);
    } else if (command == SMB2_QUERY_DIRECTORY) {
        reply_directory(server, reply, request);
    } else if (command < 20 && fixed[command]) {
        reply_hex(reply, fixed[command]);
        if (command == SMB2_WRITE) /* all of it was taken */
            le_put32(reply->message + SMB2_HEADER_SIZE + 4,
                     le_get32(request + SMB2_HEADER_SIZE + 4) + (uint32_t)server->too_much);
    } else {
        reply_error(reply, request, 0xc0000002);
    }
}

/* --- On the wire ---------------------------------------------------------------------------- */

static bool server_send(struct smb2_server *server, const uint8_t *data, size_t size, bool slowly)
{
    size_t step = slowly ? 1 : size;
    for (size_t at = 0; at < size; at += step)
        if (send(server->fd, data + at, step, MSG_NOSIGNAL) != (ssize_t)step)
            return false;
    return true;
}

static void put_frame(uint8_t *frame, size_t size)
{
    frame[0] = 0;
    frame[1] = (uint8_t)(size >> 16);
    frame[2] = (uint8_t)(size >> 8);
    frame[3] = (uint8_t)size;
}

static bool server_receive(struct smb2_server *server, uint8_t *data, size_t size)
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

static void server_complain(struct smb2_server *server, const char *text)
{
    server->bad_requests++;
    snprintf(server->last_error, sizeof server->last_error, "%s", text);
}

/* What a request sends, or asks for at most, whichever is more. */
static uint32_t payload_of(const uint8_t *request)
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

/* MS-SMB2 3.3.5.2.3, 3.3.5.2.5: message ids in a row, none before its credit, charges that pay. */
static void check_credits(struct smb2_server *server, const uint8_t *request)
{
    uint16_t charge = le_get16(request + 6), expected = 0, command = le_get16(request + 12);
    uint32_t payload = payload_of(request);
    bool multi = server->dialect > 0x0202 && !server->no_multi_credit;
    if (multi && command != SMB2_NEGOTIATE)
        expected = (uint16_t)(payload ? (payload + 65535) / 65536 : 1);
    else if (payload > 65536)
        server_complain(server, "more than 64 KiB for a credit");
    if (charge != expected)
        server_complain(server, "wrong CreditCharge");
    if (le_get16(request + 14) == 0)
        server_complain(server, "no credit is asked for");
    if (le_get64(request + 24) != server->next_message_id)
        server_complain(server, "wrong MessageId");
    unsigned used = charge ? charge : 1;
    server->next_message_id += used;
    if (used > server->credits)
        server_complain(server, "more credits used than granted");
    server->credits -= used < server->credits ? used : server->credits;
}

/* Decrypts or verifies a request and says whether it was encrypted. */
static bool open_request(struct smb2_server *server, uint8_t **request, size_t *size,
                         bool *encrypted)
{
    *encrypted = (*request)[0] == 0xfd;
    if (*encrypted) {
        if (!server->keyed ||
            smb2_decrypt(server->keys.to_server, server->cipher, *request, *size) != 0) {
            server_complain(server, "request cannot be decrypted");
            return false;
        }
        uint64_t nonce = le_get64(*request + 20) + 1;
        if (nonce <= server->last_nonce)
            server_complain(server, "a nonce is used again");
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
        server_complain(server, "request is not signed");
    if (is_signed && !smb2_signature_valid(server->keys.signing, server->signing, *request, *size))
        server_complain(server, "request's signature is wrong");
    if (server->keyed && server->encrypts && command > SMB2_SESSION_SETUP && !*encrypted)
        server_complain(server, "request is not encrypted");
    return true;
}

/* Signs or encrypts and sends a reply whose message begins at buffer + SMB2_PREFIX_SIZE. */
static bool protect_and_send(struct smb2_server *server, uint8_t *buffer, size_t size,
                             bool encrypted, enum server_fault fault)
{
    uint8_t *message = buffer + SMB2_PREFIX_SIZE, *frame = message - SMB2_FRAME_SIZE;
    uint16_t command = le_get16(message + 12);
    uint32_t flags = size >= 20 ? le_get32(message + 16) : 0;
    /* An unknown session has no key: a flag without a signature, as Samba answers. */
    bool gone = size >= 12 && le_get32(message + 8) == 0xc0000203;
    bool signs = server->keyed && !gone && command != SMB2_NEGOTIATE &&
                 (server->requires_signing || server->dialect == 0x0311) &&
                 !(flags & SMB2_FLAGS_ASYNC_COMMAND) && fault != FAULT_UNSIGNED &&
                 fault != FAULT_WRONG_SIGNATURE;
    if (encrypted && fault != FAULT_IN_CLEAR) {
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
    put_frame(frame, fault == FAULT_HUGE ? 0xffffff : size);
    if (fault == FAULT_NETBIOS)
        frame[0] = 0x85;
    if (fault == FAULT_HALF)
        return server_send(server, frame, size / 2, false) && false;
    return server_send(server, frame, SMB2_FRAME_SIZE + size, fault == FAULT_BYTE_BY_BYTE);
}

/* Credits that come with a reply. */
static void grant(struct smb2_server *server, struct server_reply *reply)
{
    if (reply->size < 16)
        return;
    if (server->credits_most && le_get16(reply->message + 14))
        le_put16(reply->message + 14, (uint16_t)(server->credits_most - server->credits));
    server->credits += le_get16(reply->message + 14);
}

static bool send_pending(struct smb2_server *server, const uint8_t *request, bool encrypted)
{
    uint8_t buffer[SMB2_PREFIX_SIZE + 128];
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    reply_error(&reply, request, 0x00000103);
    le_put32(reply.message + 16, SMB2_FLAGS_SERVER_TO_REDIR | SMB2_FLAGS_ASYNC_COMMAND);
    grant(server, &reply);
    return protect_and_send(server, buffer, reply.size, encrypted, FAULT_NONE);
}

static bool send_break(struct smb2_server *server, const uint8_t *request, enum server_fault kind)
{
    uint8_t buffer[SMB2_PREFIX_SIZE + 128];
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    reply_begin(&reply, request, 0);
    le_put16(reply.message + 12, SMB2_OPLOCK_BREAK);
    le_put16(reply.message + 14, 0); /* it grants nothing */
    memset(reply.message + 24, 0xff, 8);
    memset(reply.message + 36, 0, 12);
    if (kind == FAULT_BREAK_LEASE_NOTICE)
        reply_hex(&reply, "2c00 0000 00000000 000102030405060708090a0b0c0d0e0f 01000000 00000000"
                          "00000000 00000000 00000000");
    else if (kind == FAULT_BREAK_LEASE)
        reply_hex(&reply, "2c00 0000 01000000 000102030405060708090a0b0c0d0e0f 07000000 03000000"
                          "00000000 00000000 00000000");
    else
        reply_hex(&reply, "1800 01 00 00000000 0102030405060708090a0b0c0d0e0f10");
    put_frame(reply.message - SMB2_FRAME_SIZE, reply.size);
    return server_send(server, reply.message - SMB2_FRAME_SIZE, SMB2_FRAME_SIZE + reply.size,
                       false);
}

/* What is spoiled before the reply is signed. */
static void spoil(struct smb2_server *server, struct server_reply *reply, const uint8_t *request,
                  enum server_fault fault)
{
    if (fault == FAULT_CUT && server->fault_at < reply->size)
        reply->size = server->fault_at;
    if (fault == FAULT_FLIP && server->fault_at / 8 < reply->size)
        reply->message[server->fault_at / 8] ^= (uint8_t)(1u << server->fault_at % 8);
    if (fault == FAULT_STATUS)
        reply_error(reply, request, (uint32_t)server->fault_at);
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

static enum server_fault fault_now(struct smb2_server *server, uint16_t command)
{
    if (command != server->fault_command || server->fault == FAULT_NONE)
        return FAULT_NONE;
    if (server->fault_skip) {
        server->fault_skip--;
        return FAULT_NONE;
    }
    return server->fault;
}

static bool answer(struct smb2_server *server, const uint8_t *request, size_t size, bool encrypted,
                   uint8_t *buffer)
{
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    uint16_t command = le_get16(request + 12);
    enum server_fault fault = fault_now(server, command);
    if (fault == FAULT_CLOSE)
        return false;
    make_reply(server, &reply, request, size);
    if (command == SMB2_NEGOTIATE && server->dialect == 0x0311)
        smb2_preauth_update(server->preauth, request, size);
    if (command == server->fault_command)
        server->reply_size = reply.size;
    spoil(server, &reply, request, fault);
    grant(server, &reply);
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

/* "SMB 2.???" was offered: answered by the wildcard revision. */
static bool answer_smb1(struct smb2_server *server, uint8_t *buffer)
{
    static const uint8_t header[SMB2_HEADER_SIZE] = {0xfe, 'S', 'M', 'B', 64};
    struct server_reply reply = {.message = buffer + SMB2_PREFIX_SIZE};
    uint16_t dialect = server->dialect;
    reply_begin(&reply, header, 0);
    le_put16(reply.message + 14, 1);
    server->dialect = server->smb1_dialect ? server->smb1_dialect
                      : dialect == 0x0202  ? 0x0202
                                           : 0x02ff;
    server->next_message_id = 1; /* 3.3.5.3.1: it was message 0 */
    server->credits = 0;
    reply_negotiate(server, &reply);
    server->dialect = dialect;
    grant(server, &reply);
    return protect_and_send(server, buffer, reply.size, false, FAULT_NONE);
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

static bool serve_one(struct smb2_server *server, uint8_t *in, uint8_t *out)
{
    uint8_t frame[4];
    if (!server_receive(server, frame, 4))
        return false;
    size_t size = (size_t)frame[1] << 16 | (size_t)frame[2] << 8 | frame[3];
    if (frame[0] != 0 || size > SERVER_BUFFER || !server_receive(server, in, size))
        return false;
    bool encrypted;
    if (in[0] == 0xff)
        return answer_smb1(server, out);
    if (!open_request(server, &in, &size, &encrypted))
        return false;
    keep_request(server, in, size);
    if (le_get16(in + 12) == SMB2_OPLOCK_BREAK)
        server->acknowledged++;
    return answer(server, in, size, encrypted, out);
}

static void *serve(void *argument)
{
    struct smb2_server *server = argument;
    uint8_t *in = malloc(SERVER_BUFFER + SMB2_PREFIX_SIZE);
    uint8_t *out = malloc(SERVER_BUFFER + SMB2_PREFIX_SIZE);
    while (in && out && (server->fd = accept(server->listener, NULL, NULL)) >= 0) {
        server->connections++;
        memset(server->preauth, 0, sizeof server->preauth);
        server->keyed = false;
        server->pipe_left = 0;
        server->next_message_id = 0;
        server->credits = 1;
        while (serve_one(server, in, out)) {
        }
        close(server->fd);
    }
    free(in);
    free(out);
    return NULL;
}

__attribute__((unused)) static void server_start(struct smb2_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (!server->io_max)
        server->io_max = 1 << 20;
    assert_int_equal(ntlmssp_nt_hash("Password", server->nt_hash), 0);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server->listener, 16), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* Call when the client has closed its connection. */
__attribute__((unused)) static void server_stop(struct smb2_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

#endif
