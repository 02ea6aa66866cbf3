/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NBNS: a unicast query to the DC, as to a WINS server. NBNS messages are DNS messages with other
 * names, so libresolv decodes replies. A query is sent three times, 1.5 s apart (RFC 1002 6,
 * UCAST_REQ_RETRY). Silence for 4 s, or ICMP's "port unreachable", counts as no answer and is not a
 * failure.
 */
#include "protocols/names/nbns.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "protocols/conversation.h"
#include "protocols/datagram.h"
#include "protocols/packet_players.h"

/* RFC 1002 4.2.1.3: NB and IN */
enum { TYPE_NB = 0x20, CLASS_IN = 1, DOMAIN_CONTROLLERS = 0x1c, NETBIOS_NAME = 15 };

static datagram_waits waits = {1500, 1500, 1000, 0};

static struct outcome nbns_play(struct conversation *conversation, const void *details);
static bool nbns_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                           size_t size);

const struct packet_player packet_players_nbns[] = {
    {.name = "nbns:0", .play = nbns_play},
    {.name = NULL},
};

int nbns_query(uint16_t id, const char *domain, uint8_t query[NBNS_QUERY_SIZE])
{
    enum { RECURSION_DESIRED = 0x0100, ENCODED = 2 * (NETBIOS_NAME + 1) };
    size_t length = strlen(domain);
    if (length > NETBIOS_NAME)
        return -EINVAL;
    memset(query, 0, NBNS_QUERY_SIZE);
    ns_put16(id, query);
    ns_put16(RECURSION_DESIRED, query + 2);
    ns_put16(1, query + 4);
    uint8_t *at = query + NS_HFIXEDSZ;
    *at++ = ENCODED;
    for (size_t i = 0; i <= NETBIOS_NAME; i++) {
        int letter = i < length ? toupper((unsigned char)domain[i]) : ' ';
        if (i == NETBIOS_NAME)
            letter = DOMAIN_CONTROLLERS;
        *at++ = (uint8_t)('A' + (letter >> 4));
        *at++ = (uint8_t)('A' + (letter & 0xf));
    }
    *at++ = 0;
    ns_put16(TYPE_NB, at);
    ns_put16(CLASS_IN, at + 2);
    return 0;
}

int nbns_reply_parse(const uint8_t *bytes, size_t size)
{
    ns_msg message;
    ns_rr record;
    if (size > UINT16_MAX || ns_initparse(bytes, (int)size, &message) < 0 ||
        !ns_msg_getflag(message, ns_f_qr))
        return -EBADMSG;
    if (ns_msg_getflag(message, ns_f_rcode) != 0)
        return -ENOENT;
    if (ns_msg_count(message, ns_s_an) == 0 || ns_parserr(&message, ns_s_an, 0, &record) < 0)
        return -EBADMSG;
    /* NB_FLAGS and NB_ADDRESS, 4.2.13 */
    return (int)ns_rr_type(record) == TYPE_NB && ns_rr_rdlen(record) >= 6 ? 0 : -EBADMSG;
}

static struct outcome nbns_play(struct conversation *conversation, const void *details)
{
    (void)details;
    const struct dc *dc = conversation->dc;
    uint8_t query[NBNS_QUERY_SIZE], reply[1500];
    uint16_t id = (uint16_t)conversation_random(conversation, UINT16_MAX + 1);
    if (!dc->netbios_domain || nbns_query(id, dc->netbios_domain, query) != 0)
        return outcome_failed("the domain's NetBIOS name is unknown");
    const struct datagram_question question = {.port = dc->ports.nbns,
                                               .bytes = query,
                                               .size = sizeof query,
                                               .waits = waits,
                                               .is_answer = nbns_is_answer,
                                               .id = id};
    ssize_t size = datagram_ask(&conversation->wire, dc, &question, reply, sizeof reply);
    if (size == -ETIMEDOUT || size == -ECONNREFUSED)
        return outcome_no_answer();
    int error = size < 0 ? (int)size : nbns_reply_parse(reply, (size_t)size);
    if (error == -ENOENT)
        return outcome_failed("name not found");
    return error ? outcome_of_error(error) : outcome_ok();
}

static bool nbns_is_answer(const struct datagram_question *question, const uint8_t *bytes,
                           size_t size)
{
    return size < 2 || ns_get16(bytes) == question->id;
}
