/* SPDX-License-Identifier: Apache-2.0 */
/* How a packet went. */
#ifndef PROTOCOLS_OUTCOME_H
#define PROTOCOLS_OUTCOME_H

struct wire;

enum outcome_kind {
    OUTCOME_OK,
    OUTCOME_FAILED,     /* cause says why */
    OUTCOME_NO_ANSWER,  /* NBNS, CLDAP: the server does not speak the protocol; not a failure */
    OUTCOME_UNFINISHED, /* the run ended while the packet was waiting */
    OUTCOME_NOTHING     /* PACKET_STATE: done, nothing to count */
};

enum { OUTCOME_CAUSE_SIZE = 96 };

struct outcome {
    enum outcome_kind kind;
    /* OUTCOME_FAILED: a short, countable cause without values that vary from one failure to the
     * next: a result code's or NTSTATUS's name, "timed out", "connection reset". */
    char cause[OUTCOME_CAUSE_SIZE];
};

/* A success. */
struct outcome outcome_ok(void);
struct outcome outcome_nothing(void);
struct outcome outcome_no_answer(void);
/* A failure with a printf-like cause. */
struct outcome outcome_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the negative errno of a request over the wire means: as outcome_of_error(), and names the
 * server's port if that could not be reached. */
struct outcome outcome_of_wire(const struct wire *wire, int error);
/* What a stream's negative errno means: -ECANCELED is OUTCOME_UNFINISHED, all else a failure whose
 * cause is stream_error_text(). */
struct outcome outcome_of_error(int error);

#endif
