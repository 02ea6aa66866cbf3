/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen of a network, before anything is learned of it: every request as a record of a few
 * bytes in a temporary file, so that memory does not grow with a capture and it can be gone through
 * more than once. Readers (frames of tshark, traffic-summary texts) fill it, learn_walk goes
 * through it.
 *
 * A form is a packet with its details in one line: "ldap:3", then key=value pairs, each after
 * LEARN_FIELD; the values of a list between commas. Forms hold no value of the network, but for the
 * number of a DNS name ("name=@7"), which learn_capture_finish() turns into what kind it is.
 */
#ifndef MODEL_LEARN_LEARN_CAPTURE_H
#define MODEL_LEARN_LEARN_CAPTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "model/learn/learn_words.h"

enum { LEARN_FIELD = 0x1f, LEARN_FORM_SIZE = 8192, LEARN_FORMS_MAX = 50000 };
enum { LEARN_NAMES_MAX = 4096, LEARN_NAME_ADDRESSES = 4 };

/* What was counted; all but the first two were left out of the records. */
enum learn_count {
    LEARN_FRAMES,
    LEARN_REQUESTS,
    LEARN_RETRANSMITTED, /* TCP segments that were seen before */
    LEARN_RETRIED,       /* datagrams asked again */
    LEARN_MALFORMED,
    LEARN_IN_ICMP, /* frames quoted by an error message */
    LEARN_LEGS,    /* further messages of one bind, session set-up or RPC bind */
    LEARN_PREAUTH, /* AS requests answered by "preauthentication required", played with the next */
    LEARN_SEALED,  /* among the requests: LDAP seen only as ciphertext */
    LEARN_TLS,     /* TLS records of payload, which nobody can read */
    LEARN_SMB_ENCRYPTED, /* SMB3 messages the same */
    LEARN_UNKNOWN_RPC,   /* among the requests: calls of interfaces whose bind was not seen */
    LEARN_UNPLAYED,      /* among the requests: with a size, class or level that is not played */
    LEARN_COUNTS
};

/* One request. */
struct learn_record {
    int64_t time;            /* ns */
    uint32_t client, server; /* numbers in addresses */
    uint32_t connection;     /* number of its TCP or UDP connection */
    uint32_t form;           /* number in forms */
    uint32_t kerberos;       /* 1: authenticated with a Kerberos ticket that it brought */
    uint32_t reserved;
};

/* What came back to a DNS name that was asked for. */
struct learn_name {
    uint32_t addresses[LEARN_NAME_ADDRESSES];
    unsigned address_count;
    bool is_target; /* a service record named it as the host */
};

struct learn_address {
    uint64_t answers, datagram_answers; /* that it gave */
    uint64_t requests, name_queries;    /* that it got; the latter are among the former */
};

struct learn_capture {
    struct learn_words addresses, forms, names;
    struct learn_words realms;  /* lower case, of Kerberos and service records */
    struct learn_address *seen; /* by number of address */
    uint32_t seen_room;
    struct learn_name *name_facts; /* LEARN_NAMES_MAX */
    uint32_t *resolved;            /* by form: the one that it became in the end */
    uint64_t counts[LEARN_COUNTS];
    int64_t first, last; /* ns, of frames; first > last: none */
    FILE *records;
    uint64_t record_count;
    struct error *error;
};

/* Readies a capture; messages of what goes wrong go to error. 0 or a
 * negative errno. */
int learn_capture_begin(struct learn_capture *capture, struct error *error);
void learn_capture_clear(struct learn_capture *capture);

/* Notes that something was seen at this time. */
void learn_capture_time(struct learn_capture *capture, int64_t time);

/* The number of an address (or whatever names a host). */
int learn_capture_address(struct learn_capture *capture, const char *text, size_t length,
                          uint32_t *number);
/* Counts an answer of a host. */
void learn_capture_answer(struct learn_capture *capture, uint32_t address, bool datagram);

/* Adds a request; record->form is set here from form. */
int learn_capture_add(struct learn_capture *capture, const struct learn_record *record,
                      const char *form);

/* Gives the request that was added as number index (from 0) another form. */
int learn_capture_amend(struct learn_capture *capture, uint64_t index, const char *form);

/* The number of a DNS name, or UINT32_MAX when there are too many. */
uint32_t learn_capture_name(struct learn_capture *capture, const char *name);

/* After all was added: which host is the server that the model is of. -ENOENT when nobody was asked
 * anything but names. */
int learn_capture_server(const struct learn_capture *capture, uint32_t *server);

/* After the server is known: DNS names become kinds of names. Then records can be read. */
int learn_capture_finish(struct learn_capture *capture, uint32_t server);

/* Goes back to the first record; the next one, 0 when there is none, or a negative errno. */
int learn_capture_rewind(struct learn_capture *capture);
int learn_capture_next(struct learn_capture *capture, struct learn_record *record);

/* The length of "protocol:opcode" at the beginning of a form. */
size_t learn_form_type(const char *form);

#endif
