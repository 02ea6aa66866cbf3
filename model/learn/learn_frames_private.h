/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the protocols share. Their functions take a frame that contains the protocol,
 * and return 0 or a negative errno. */
#ifndef MODEL_LEARN_LEARN_FRAMES_PRIVATE_H
#define MODEL_LEARN_LEARN_FRAMES_PRIVATE_H

#include "model/learn/learn_form.h"
#include "model/learn/learn_frames.h"
#include "model/learn/learn_links.h"

#define LEARN_SECOND INT64_C(1000000000)

struct learn_frames {
    struct learn_capture *capture;
    struct learn_links *links;
    /* The present frame: */
    const struct learn_line *line;
    int64_t time;
    uint32_t from, to; /* addresses */
    uint32_t connection;
    uint16_t from_port, to_port;
    bool udp, tls;
    bool datagram; /* udp, but false for DNS over TCP */
};

int learn_ldap_frame(struct learn_frames *frames);
/* Called for each frame that closes a connection. */
int learn_ldap_close(struct learn_frames *frames);
int learn_smb_frame(struct learn_frames *frames);
int learn_smb2_frame(struct learn_frames *frames);
/* pipe is a hash of the pipe's file id; 0: over TCP. */
int learn_rpc_frame(struct learn_frames *frames, uint64_t pipe);
int learn_kerberos_frame(struct learn_frames *frames);
int learn_dns_frame(struct learn_frames *frames);
int learn_nbns_frame(struct learn_frames *frames);

/* Adds a request of frames->from to frames->to. kerberos: it contains a ticket. */
int learn_frames_request(struct learn_frames *frames, const char *form, bool kerberos);

/* Counts an answer of frames->from. */
void learn_frames_answer(struct learn_frames *frames);

/* Counts something of the present frame, for the capture and for both of its hosts. */
void learn_frames_count(struct learn_frames *frames, enum learn_count count);
void learn_frames_add_count(struct learn_frames *frames, enum learn_count count, int number);

/* Remembers a question of frames->from. True if it asked the same question less than 30 s ago and
 * learn_frames_answered() was not called since. */
bool learn_frames_asked_again(struct learn_frames *frames, uint64_t question);
/* The same, and counts repeated questions. */
bool learn_frames_retried(struct learn_frames *frames, uint64_t question);
/* Forgets a question of frames->to, which was answered. */
void learn_frames_answered(struct learn_frames *frames, uint64_t question);

/* True if the frame contains a Kerberos ticket to authenticate with. */
bool learn_frames_has_ticket(const struct learn_frames *frames);

#endif
