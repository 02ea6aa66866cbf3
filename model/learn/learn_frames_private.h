/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the protocols share. Each takes a frame that holds its protocol and returns 0
 * or a negative errno. */
#ifndef MODEL_LEARN_LEARN_FRAMES_PRIVATE_H
#define MODEL_LEARN_LEARN_FRAMES_PRIVATE_H

#include "model/learn/learn_frames.h"
#include "model/learn/learn_links.h"

#define FRAMES_SECOND INT64_C(1000000000)

struct frames {
    struct learn_capture *capture;
    struct links *links;
    /* Of the frame that is being looked at: */
    const struct line *line;
    int64_t time;
    uint32_t from, to; /* addresses */
    uint32_t connection;
    uint16_t from_port, to_port;
    bool udp, tls;
};

int frames_ldap(struct frames *frames);
/* A connection that a client closes; called for every one. */
int frames_ldap_end(struct frames *frames);
int frames_smb(struct frames *frames);
int frames_smb2(struct frames *frames);
int frames_rpc(struct frames *frames, uint64_t pipe); /* pipe: hash of its file id, 0: over TCP */
int frames_kerberos(struct frames *frames);
int frames_dns(struct frames *frames);
int frames_nbns(struct frames *frames);

/* A request from `from` to `to`. kerberos: it brought a ticket. */
int frames_request(struct frames *frames, const char *form, bool kerberos);

/* An answer from `from`. */
void frames_answer(struct frames *frames);

void frames_count(struct frames *frames, enum learn_count count);

/* True when this client asked the same question less than 30 s ago (and frames_answered() was not
 * called since): it is asked again. It is remembered. */
bool frames_asked_again(struct frames *frames, uint64_t question);
/* The same, and counts those that are. */
bool frames_retried(struct frames *frames, uint64_t question);
/* The question of `to` is answered: whoever asks it next asks something new. */
void frames_answered(struct frames *frames, uint64_t question);

/* True when a frame that authenticates brings a Kerberos ticket. */
bool frames_brings_ticket(const struct frames *frames);

/* ---- Forms ---- */

struct form {
    char text[LEARN_FORM_SIZE];
    size_t length;
    bool full; /* something did not fit: the fields after it are left out */
};

void form_begin(struct form *form, const char *protocol, const char *opcode);
/* A field, left out when its rule in details.c does not allow the value. */
void form_add(struct form *form, const char *key, const char *value);
void form_add_number(struct form *form, const char *key, uint64_t value);

#endif
