/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small SMB2 server for tests, in a separate thread: any dialect, NTLM in SPNEGO, signing and
 * encryption, one file in a share; and faults, which spoil its replies. It reads MS-SMB2 on its
 * own: only ciphers and hashes are shared with the client that is tested.
 */
#ifndef TESTS_LIB_SERVERS_SMB2_SERVER_H
#define TESTS_LIB_SERVERS_SMB2_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/smb2/smb2_crypto.h"
#include "tests/lib/servers/ntlm_acceptor.h"

enum smb2_server_fault {
    FAULT_NONE,
    FAULT_CUT,             /* the reply ends at fault_at, then is signed or encrypted */
    FAULT_FLIP,            /* bit fault_at of it is flipped, then it is signed or encrypted */
    FAULT_FLIP_ON_THE_WAY, /* ... after that */
    FAULT_STATUS,          /* answered with status fault_at */
    FAULT_OTHER_STATUS,    /* ... and with the body of what was asked for */
    FAULT_UNSIGNED,
    FAULT_WRONG_SIGNATURE, /* a wrong signature, required or not */
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

struct smb2_server {
    /* Set before smb2_server_start(). */
    uint16_t dialect;
    enum smb2_cipher cipher;
    enum smb2_signing signing;
    bool requires_signing, encrypts, encrypts_share, guest, no_contexts, no_multi_credit;
    bool never_done;        /* a logon never ends */
    int too_much;           /* bytes that a READ or WRITE is more than asked for */
    uint16_t smb1_dialect;  /* answers an SMB1 negotiate; 0: by the wildcard or 2.0.2 */
    unsigned context_twice; /* type of a negotiate context that comes a second time; 0: none */
    unsigned credits_most;  /* that a client has in hand; 0: 32 come with each reply */
    uint32_t io_max;
    size_t pipe_part; /* a pipe's smb2_server_answer comes in parts of this size; 0: whole */
    size_t pipe_size; /* of a pipe's smb2_server_answer */
    enum smb2_server_fault fault;
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
    struct ntlm_acceptor ntlm;
    unsigned setups;
    size_t pipe_left;
    bool listed;
};

/* Starts the server on a free port of 127.0.0.1; its user's password is "Password". */
void smb2_server_start(struct smb2_server *server);

/* Call when the client has closed its connection. */
void smb2_server_stop(struct smb2_server *server);

#endif
