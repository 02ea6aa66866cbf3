/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture before anything is learned from it: each request as a record of a few bytes in a
 * temporary file, so that memory does not grow with the capture and it can be read more than once.
 * Readers fill it from the frames of tshark or from recordings; learn_walk() reads it.
 */
#ifndef MODEL_LEARN_LEARN_CAPTURE_H
#define MODEL_LEARN_LEARN_CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/intern.h"
#include "model/learn/learn_form.h"
#include "model/learn/learn_spans.h"

/* Beyond these limits new forms lose their details, and new names are of the kind "other". */
enum { LEARN_FORMS_MAX = 50000, LEARN_NAMES_MAX = 4096, LEARN_NAME_ADDRESSES = 4 };

/* Set in the numbers of connections that are streams of datagrams: tshark numbers both from 0. */
#define LEARN_CONNECTION_UDP UINT32_C(0x40000000)

enum learn_count {
    LEARN_FRAMES,
    LEARN_REQUESTS,
    /* Left out of the records: */
    LEARN_RETRANSMITTED, /* TCP segments that were seen before */
    LEARN_RETRIED,       /* datagrams that were sent again */
    LEARN_MALFORMED,
    LEARN_UNREADABLE, /* frames whose line or time cannot be read */
    LEARN_LOST,       /* gaps where the capture lacks TCP segments */
    LEARN_CUT,        /* frames of which only the beginning was recorded */
    LEARN_IN_ICMP,    /* ICMP messages, with the frames that they quote */
    LEARN_LEGS,       /* further messages of a bind, session set-up or RPC bind */
    LEARN_PREAUTH, /* AS requests refused with "preauthentication required", which are repeated */
    LEARN_TLS,     /* TLS records of payload that were not decrypted */
    LEARN_SMB_ENCRYPTED, /* SMB3 messages that were not decrypted */
    LEARN_CONTROLS,      /* LDAP controls that need a value */
    /* Among the requests: */
    LEARN_SEALED,      /* LDAP of which only the ciphertext was seen */
    LEARN_UNKNOWN_RPC, /* calls of interfaces whose bind was not seen */
    LEARN_UNPLAYED,    /* with a size, class or level that cannot be played */
    LEARN_COUNTS
};

/* One request. */
struct learn_record {
    int64_t time;            /* ns */
    uint32_t client, server; /* numbers in addresses */
    uint32_t connection;     /* number of its TCP or UDP connection */
    uint32_t form;           /* number in forms */
    uint32_t kerberos;       /* 1: it contains a Kerberos ticket to authenticate with */
    uint32_t udp;            /* 1: sent in a datagram */
};

/* The answers for a DNS name that was asked for. */
struct learn_name {
    uint32_t addresses[LEARN_NAME_ADDRESSES];
    unsigned address_count;
    bool is_target; /* a service record names it as the host */
};

/* What only a domain controller is. */
enum learn_role {
    LEARN_ROLE_LDAP = 1,
    LEARN_ROLE_KERBEROS = 2,
    LEARN_ROLE_NETLOGON = 4,
    LEARN_ROLE_CLDAP = 8,
    LEARN_ROLE_DRSUAPI = 16
};

struct learn_address {
    uint64_t answers, datagram_answers; /* sent by it */
    uint64_t requests, name_queries;    /* received by it; requests include name queries */
    uint32_t counts[LEARN_COUNTS];      /* of frames that it sent or received */
    uint8_t roles;                      /* bits of enum learn_role: what it was asked as */
    bool chosen;                        /* a server of the model */
};

struct learn_capture {
    struct intern addresses, forms, names;
    struct intern realms;          /* lower case, of Kerberos and service records */
    struct learn_address *seen;    /* by number of address */
    struct learn_name *name_facts; /* LEARN_NAMES_MAX */
    uint32_t *resolved;            /* by form: the form with the kinds of DNS names */
    uint64_t counts[LEARN_COUNTS];
    struct learn_spans spans; /* of the frames */
    FILE *records;
    uint64_t record_count;
    struct error *error;
};

/* Starts an empty capture. Its functions report to error. 0 or a negative errno. */
int learn_capture_init(struct learn_capture *capture, struct error *error);
void learn_capture_clear(struct learn_capture *capture);

/* Extends the capture to a time at which a frame was seen. */
void learn_capture_time(struct learn_capture *capture, int64_t time);

/* Sets *number to the number of an address, or of another name of a host. 0 or -ENOMEM. */
int learn_capture_address(struct learn_capture *capture, const char *text, size_t length,
                          uint32_t *number);
/* Counts an answer of a host. */
void learn_capture_answer(struct learn_capture *capture, uint32_t address, bool datagram);

/* Adds a request with a form; record->form is ignored. 0 or a negative errno. */
int learn_capture_add(struct learn_capture *capture, const struct learn_record *record,
                      const char *form);

/* Replaces the form of a request; index counts the requests from 0. 0 or a negative errno. */
int learn_capture_amend(struct learn_capture *capture, uint64_t index, const char *form);

/* The number of a DNS name, or UINT32_MAX if there are too many. */
uint32_t learn_capture_name(struct learn_capture *capture, const char *name);

/* Notes the name of a realm, so that DNS queries for it are recognised. */
void learn_capture_realm(struct learn_capture *capture, const char *realm);

/* Once everything is added: sets *server to the host that is most likely the domain controller: the
 * one with most roles, and of these the one that answers most. -ENOENT if all requests are name
 * queries. */
int learn_capture_server(const struct learn_capture *capture, uint32_t *server);

/* The requests to a further address also belong to the model. Before learn_capture_finish(). */
void learn_capture_choose(struct learn_capture *capture, uint32_t server);

/* One of the counts, of the frames to and from chosen servers. */
uint64_t learn_capture_counted(const struct learn_capture *capture, enum learn_count count);

/* Once the server is known: chooses it and replaces DNS names by the kinds of names. Must be called
 * before records are read. */
int learn_capture_finish(struct learn_capture *capture, uint32_t server);

/* Restarts reading at the first record. 0 or a negative errno. */
int learn_capture_rewind(struct learn_capture *capture);

/* Reads the next record. 1, 0 after the last one, or a negative errno. */
int learn_capture_next(struct learn_capture *capture, struct learn_record *record);

#endif
