/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_left_out.h"

#include <inttypes.h>

#include "base/message.h"

enum { SERVERS_NAMED = 5 };

struct left_out_text {
    enum learn_count count;
    const char *text;
};

static void left_out_print_texts(const struct learn_capture *capture,
                                 const struct left_out_text *texts, size_t count);
static void left_out_print_servers(const struct learn_capture *capture);
static uint32_t left_out_busiest(const struct learn_capture *capture, const uint32_t *named,
                                 size_t count);

void learn_left_out_print(const struct learn_capture *capture)
{
    static const struct left_out_text texts[] = {
        {LEARN_LEGS, "merged: further messages of binds and session setups: %" PRIu64},
        {LEARN_PREAUTH, "merged: Kerberos requests that the KDC asked to repeat: %" PRIu64},
        {LEARN_SEALED, "encrypted LDAP requests, learned as ldap:3 with sealed: true: %" PRIu64
                       "; --keytab decrypts them"},
        {LEARN_UNKNOWN_RPC, "RPC calls of an unknown interface, or without a bind in the capture, "
                            "learned as dcerpc:0: %" PRIu64},
        {LEARN_UNPLAYED, "SMB2 and RPC requests learned without their size, class or level, which "
                         "traffic-replay cannot play: %" PRIu64},
        {LEARN_RETRANSMITTED, "left out: retransmitted TCP segments: %" PRIu64},
        {LEARN_RETRIED, "left out: repeated questions: %" PRIu64},
        {LEARN_IN_ICMP, "left out: ICMP messages and the packets they quote: %" PRIu64},
        {LEARN_MALFORMED, "left out: malformed frames: %" PRIu64},
        {LEARN_TLS, "left out: TLS records that were not decrypted: %" PRIu64
                    "; --tshark-option tls.keylog_file:FILE decrypts them"},
        {LEARN_SMB_ENCRYPTED, "left out: encrypted SMB3 messages: %" PRIu64
                              "; record without SMB encryption to learn them"},
        {LEARN_CONTROLS, "left out: LDAP controls that are useless without their value (DirSync, "
                         "notification, ...): %" PRIu64},
    };
    left_out_print_texts(capture, texts, sizeof texts / sizeof texts[0]);
    if (capture->spans.count > 0)
        left_out_print_servers(capture);
}

static void left_out_print_texts(const struct learn_capture *capture,
                                 const struct left_out_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = learn_capture_counted(capture, texts[i].count);
        if (number > 0) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            message_print(texts[i].text, number);
#pragma GCC diagnostic pop
        }
    }
}

/* Names the servers with most requests, and counts the others. */
static void left_out_print_servers(const struct learn_capture *capture)
{
    uint32_t named[SERVERS_NAMED], next;
    size_t count = 0, others = 0;
    uint64_t rest = 0;
    while (count < SERVERS_NAMED &&
           (next = left_out_busiest(capture, named, count)) != UINT32_MAX) {
        named[count++] = next;
        message_print("left out: requests to %s: %" PRIu64 "; to add them, give --server %s",
                      capture->addresses.entries[next].bytes, capture->seen[next].requests,
                      capture->addresses.entries[next].bytes);
    }
    for (uint32_t i = 0; i < capture->addresses.count; i++) {
        bool known = capture->seen[i].chosen;
        for (size_t n = 0; n < count; n++)
            known = known || named[n] == i;
        if (!known && capture->seen[i].requests > 0) {
            others++;
            rest += capture->seen[i].requests;
        }
    }
    if (others > 0)
        message_print("left out: requests to other addresses (%zu): %" PRIu64, others, rest);
}

/* UINT32_MAX: none. */
static uint32_t left_out_busiest(const struct learn_capture *capture, const uint32_t *named,
                                 size_t count)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < capture->addresses.count; i++) {
        bool known = capture->seen[i].chosen || capture->seen[i].requests == 0;
        for (size_t n = 0; n < count; n++)
            known = known || named[n] == i;
        if (!known &&
            (best == UINT32_MAX || capture->seen[i].requests > capture->seen[best].requests))
            best = i;
    }
    return best;
}

void learn_left_out_warn(const struct learn_capture *capture)
{
    uint64_t lost = learn_capture_counted(capture, LEARN_LOST);
    uint64_t cut = learn_capture_counted(capture, LEARN_CUT);
    if (lost > 0)
        message_print("the capture lacks TCP segments in %" PRIu64 " places; requests in them are "
                      "not in the model",
                      lost);
    if (cut > 0)
        message_print("%" PRIu64 " frames were cut when they were recorded; requests and details "
                      "are missing (record whole frames: tcpdump -s 0)",
                      cut);
    if (capture->counts[LEARN_UNREADABLE] > 0)
        message_print("left out: frames whose time or text cannot be read: %" PRIu64,
                      capture->counts[LEARN_UNREADABLE]);
    size_t times;
    double silence = learn_spans_silence(&capture->spans, &times);
    if (times > 0)
        message_print("nothing was recorded for %.6g s (an hour without frames, or a clock that "
                      "was set back; %zu times); this time does not count in packets/s",
                      silence, times);
}

void learn_left_out_warn_size(const struct learn_capture *capture, double packets)
{
    double seconds = learn_spans_seconds(&capture->spans);
    if (packets < 2 || seconds < 1)
        message_print("%.0f packets in %.3g s are too little to learn from; record for some "
                      "minutes at least",
                      packets, seconds);
}

void learn_left_out_warn_unplayed(const struct model *model)
{
    size_t count;
    const char *option = NULL;
    const struct model_type *types = model_types(model, &count);
    for (size_t i = 0; i < count; i++) {
        const struct packet_row *row = types[i].row;
        if (!row || row->kind != PACKET_OPERATION)
            continue;
        if (!row->option)
            return;
        option = row->option;
    }
    if (option)
        message_print("traffic-replay can send none of these packets without %s", option);
    else
        message_print("traffic-replay can send none of these packets; it sends those that "
                      "traffic-replay --list-packets lists");
}
