/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/learn/learn_frames_private.h"
#include "model/recording_text.h"

enum { ADDRESS_SIZE = 64, RETRY_SECONDS = 30 };
enum { TLS_APPLICATION_DATA = 23, TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4 }; /* RFC 9293 3.1 */

static bool is_left_out(struct learn_frames *frames);
static bool is_repeated_segment(struct learn_frames *frames);
static void count_cut(struct learn_frames *frames);
static bool is_present(const struct learn_frames *frames, enum learn_line_field field);
static bool is_whole(const struct learn_frames *frames);
static int take_addresses(struct learn_frames *frames);
static int take_address(struct learn_frames *frames, bool six, enum learn_line_field v4,
                        enum learn_line_field v6, uint32_t *number);
static bool last_value(const struct learn_line *line, enum learn_line_field field, char *buffer,
                       size_t size);
static void take_ports(struct learn_frames *frames);
static void count_unseen(struct learn_frames *frames);
static int dispatch_frame(struct learn_frames *frames);
static uint64_t question_key(uint64_t question, uint32_t server);

struct learn_frames *learn_frames_new(struct learn_capture *capture)
{
    struct learn_frames *frames = calloc(1, sizeof *frames);
    if (!frames)
        return NULL;
    frames->capture = capture;
    frames->links = learn_links_new();
    if (frames->links)
        return frames;
    free(frames);
    return NULL;
}

void learn_frames_free(struct learn_frames *frames)
{
    if (!frames)
        return;
    learn_links_free(frames->links);
    free(frames);
}

int learn_frames_take(struct learn_frames *frames, const struct learn_line *line)
{
    frames->line = line;
    if (recording_text_time(line->values[LEARN_LINE_TIME], &frames->time) < 0) {
        frames->capture->counts[LEARN_UNREADABLE]++;
        return 0;
    }
    frames->capture->counts[LEARN_FRAMES]++;
    learn_capture_time(frames->capture, frames->time);
    int result = take_addresses(frames);
    if (result < 0 || frames->from == UINT32_MAX || frames->to == UINT32_MAX)
        return result;
    take_ports(frames);
    if (is_left_out(frames))
        return 0;
    count_cut(frames);
    count_unseen(frames);
    result = dispatch_frame(frames);
    uint64_t flags = 0;
    learn_line_number(line, LEARN_LINE_TCP_FLAGS, 0, &flags);
    return result == 0 && (flags & (TCP_FIN | TCP_RST)) ? learn_ldap_close(frames) : result;
}

/* True for frames that are not packets of a client and a server, or that were seen before. */
static bool is_left_out(struct learn_frames *frames)
{
    enum learn_count reason;
    bool quoted = is_present(frames, LEARN_LINE_ICMP) || is_present(frames, LEARN_LINE_ICMPV6);
    bool repeated = !quoted && is_repeated_segment(frames);
    if (quoted)
        reason = LEARN_IN_ICMP;
    else if (is_present(frames, LEARN_LINE_MALFORMED) && !is_whole(frames))
        reason = LEARN_MALFORMED;
    else if (repeated)
        reason = LEARN_RETRANSMITTED;
    else
        return false;
    learn_frames_count(frames, reason);
    return true;
}

/* True for segments all of whose bytes were in earlier frames. Counts the segments that are missing
 * before this one. */
static bool is_repeated_segment(struct learn_frames *frames)
{
    uint64_t start, length, flags = 0;
    if (frames->udp || !learn_line_number(frames->line, LEARN_LINE_TCP_SEQUENCE, 0, &start) ||
        !learn_line_number(frames->line, LEARN_LINE_TCP_LENGTH, 0, &length))
        return false;
    learn_line_number(frames->line, LEARN_LINE_TCP_FLAGS, 0, &flags);
    if (flags & TCP_SYN)
        start++; /* it has a sequence number itself */
    else if (length == 0)
        return false;
    struct learn_link *link =
        learn_links_get(frames->links, LEARN_LINK_SEGMENTS, frames->connection,
                        (uint64_t)frames->from << 16 | frames->from_port, frames->time, true);
    int holes = link->segments.hole_count;
    bool fresh = learn_segments_add(&link->segments, (uint32_t)start, (uint32_t)(start + length));
    holes = link->segments.hole_count - holes;
    if (holes != 0)
        learn_frames_add_count(frames, LEARN_LOST, holes);
    return !fresh && length > 0;
}

/* Counts frames of which only the beginning was recorded. */
static void count_cut(struct learn_frames *frames)
{
    uint64_t length, captured;
    if (learn_line_number(frames->line, LEARN_LINE_LENGTH, 0, &length) &&
        learn_line_number(frames->line, LEARN_LINE_CAPTURED, 0, &captured) && captured < length)
        learn_frames_count(frames, LEARN_CUT);
}

static bool is_present(const struct learn_frames *frames, enum learn_line_field field)
{
    return frames->line->values[field][0] != '\0';
}

/* True for frames that tshark calls malformed only because it cannot read the content of a Kerberos
 * field, such as PKINIT data or the details of an error. */
static bool is_whole(const struct learn_frames *frames)
{
    return is_present(frames, LEARN_LINE_KERBEROS_NONCE) ||
           is_present(frames, LEARN_LINE_KERBEROS_ERROR);
}

static int take_addresses(struct learn_frames *frames)
{
    /* With IPv4 inside IPv6, or IPv6 inside IPv4, the last layer counts. */
    const char *layers = frames->line->values[LEARN_LINE_PROTOCOLS];
    const char *v4 = NULL, *v6 = NULL;
    for (const char *at = layers; (at = strstr(at, ":ip")); at += 3) {
        v4 = at[3] == ':' || at[3] == '\0' ? at : v4;
        v6 = strncmp(at + 3, "v6", 2) == 0 ? at : v6;
    }
    bool six = v6 && (!v4 || v6 > v4);
    int result = take_address(frames, six, LEARN_LINE_IP_SRC, LEARN_LINE_IPV6_SRC, &frames->from);
    if (result == 0)
        result = take_address(frames, six, LEARN_LINE_IP_DST, LEARN_LINE_IPV6_DST, &frames->to);
    return result;
}

/* Prefers the address of the last layer, IPv6 if six is true. */
static int take_address(struct learn_frames *frames, bool six, enum learn_line_field v4,
                        enum learn_line_field v6, uint32_t *number)
{
    char text[ADDRESS_SIZE];
    *number = UINT32_MAX;
    if (!last_value(frames->line, six ? v6 : v4, text, sizeof text) &&
        !last_value(frames->line, six ? v4 : v6, text, sizeof text))
        return 0;
    return learn_capture_address(frames->capture, text, strlen(text), number);
}

/* In a tunnel the innermost address is the sender's. */
static bool last_value(const struct learn_line *line, enum learn_line_field field, char *buffer,
                       size_t size)
{
    size_t count = learn_line_count(line, field);
    return count > 0 && learn_line_value(line, field, count - 1, buffer, size) && buffer[0];
}

static void take_ports(struct learn_frames *frames)
{
    uint64_t stream = 0, from = 0, to = 0;
    frames->udp = !learn_line_number(frames->line, LEARN_LINE_TCP_STREAM, 0, &stream);
    if (frames->udp)
        learn_line_number(frames->line, LEARN_LINE_UDP_STREAM, 0, &stream);
    learn_line_number(frames->line, frames->udp ? LEARN_LINE_UDP_SRCPORT : LEARN_LINE_TCP_SRCPORT,
                      0, &from);
    learn_line_number(frames->line, frames->udp ? LEARN_LINE_UDP_DSTPORT : LEARN_LINE_TCP_DSTPORT,
                      0, &to);
    frames->connection = (uint32_t)stream + (frames->udp ? LEARN_CONNECTION_UDP : 0);
    frames->datagram = frames->udp;
    frames->from_port = (uint16_t)from;
    frames->to_port = (uint16_t)to;
    frames->tls = learn_line_has_layer(frames->line, ":tls");
}

/* Counts encrypted messages that tshark did not decrypt. */
static void count_unseen(struct learn_frames *frames)
{
    uint64_t type;
    bool opened =
        is_present(frames, LEARN_LINE_LDAP_OP) || is_present(frames, LEARN_LINE_SMB2_COMMAND) ||
        is_present(frames, LEARN_LINE_RPC_TYPE) || is_present(frames, LEARN_LINE_KERBEROS_TYPE);
    if (opened)
        return;
    for (size_t i = 0; learn_line_number(frames->line, LEARN_LINE_TLS_TYPE, i, &type); i++)
        if (type == TLS_APPLICATION_DATA)
            learn_frames_count(frames, LEARN_TLS);
    /* TLS 1.3 gives all encrypted records this type (RFC 8446 5.2), for which tshark has another
     * field. */
    for (size_t i = learn_line_count(frames->line, LEARN_LINE_TLS_OPAQUE); i > 0; i--)
        learn_frames_count(frames, LEARN_TLS);
    for (size_t i = learn_line_count(frames->line, LEARN_LINE_SMB2_ENCRYPTED); i > 0; i--)
        learn_frames_count(frames, LEARN_SMB_ENCRYPTED);
}

static int dispatch_frame(struct learn_frames *frames)
{
    bool ldap =
        learn_line_has_layer(frames->line, ":ldap") || learn_line_has_layer(frames->line, ":cldap");
    bool top = learn_line_has_layer(frames->line, "tcp:kerberos") ||
               learn_line_has_layer(frames->line, "udp:kerberos");
    if (is_present(frames, LEARN_LINE_SMB2_COMMAND))
        return learn_smb2_frame(frames);
    if (ldap)
        return learn_ldap_frame(frames);
    if (is_present(frames, LEARN_LINE_RPC_TYPE) && !frames->udp)
        return learn_rpc_frame(frames, 0);
    if (top && is_present(frames, LEARN_LINE_KERBEROS_TYPE))
        return learn_kerberos_frame(frames);
    if (learn_line_has_layer(frames->line, ":dns"))
        return learn_dns_frame(frames);
    if (learn_line_has_layer(frames->line, ":nbns"))
        return learn_nbns_frame(frames);
    if (is_present(frames, LEARN_LINE_SMB_COMMAND) && !frames->udp)
        return learn_smb_frame(frames);
    return 0;
}

void learn_frames_count(struct learn_frames *frames, enum learn_count count)
{
    learn_frames_add_count(frames, count, 1);
}

void learn_frames_add_count(struct learn_frames *frames, enum learn_count count, int number)
{
    struct learn_capture *capture = frames->capture;
    capture->counts[count] += (uint64_t)(int64_t)number;
    capture->seen[frames->from].counts[count] += (uint32_t)number;
    if (frames->to != frames->from)
        capture->seen[frames->to].counts[count] += (uint32_t)number;
}

int learn_frames_request(struct learn_frames *frames, const char *form, bool kerberos)
{
    struct learn_record record = {.time = frames->time,
                                  .client = frames->from,
                                  .server = frames->to,
                                  .connection = frames->connection,
                                  .kerberos = kerberos,
                                  .udp = frames->datagram};
    return learn_capture_add(frames->capture, &record, form);
}

void learn_frames_answer(struct learn_frames *frames)
{
    learn_capture_answer(frames->capture, frames->from, frames->udp);
}

bool learn_frames_asked_again(struct learn_frames *frames, uint64_t question)
{
    uint64_t key = question_key(question, frames->to);
    struct learn_link *link =
        learn_links_get(frames->links, LEARN_LINK_QUESTION, frames->from, key, frames->time, false);
    if (link && link->busy && frames->time - (int64_t)link->value < RETRY_SECONDS * LEARN_SECOND) {
        link->value = (uint64_t)frames->time;
        return true;
    }
    link =
        learn_links_get(frames->links, LEARN_LINK_QUESTION, frames->from, key, frames->time, true);
    link->busy = true;
    link->value = (uint64_t)frames->time;
    return false;
}

/* The same question to another server is another question. */
static uint64_t question_key(uint64_t question, uint32_t server)
{
    return intern_hash(question, &server, sizeof server);
}

bool learn_frames_retried(struct learn_frames *frames, uint64_t question)
{
    bool again = learn_frames_asked_again(frames, question);
    if (again)
        learn_frames_count(frames, LEARN_RETRIED);
    return again;
}

void learn_frames_answered(struct learn_frames *frames, uint64_t question)
{
    struct learn_link *link =
        learn_links_get(frames->links, LEARN_LINK_QUESTION, frames->to,
                        question_key(question, frames->from), frames->time, false);
    if (link)
        link->busy = false;
}

bool learn_frames_has_ticket(const struct learn_frames *frames)
{
    uint64_t type;
    for (size_t i = 0; learn_line_number(frames->line, LEARN_LINE_KERBEROS_TYPE, i, &type); i++)
        if (type == 14) /* RFC 4120 5.5.1, AP-REQ */
            return true;
    return false;
}
