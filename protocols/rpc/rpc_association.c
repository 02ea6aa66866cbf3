/* SPDX-License-Identifier: Apache-2.0 */
/* Bind, then calls. Every fragment of a request or a reply is protected separately. */
#include "protocols/rpc/rpc_association.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/rpc_pdu.h"
#include "protocols/rpc/rpc_trace.h"

struct rpc_association {
    struct rpc_transport *transport;
    const struct rpc_interface *interface;
    enum rpc_security security;
    enum auth_level level;
    const char *client;                 /* the user's name, for rpc_trace() */
    struct auth *auth;                  /* SPNEGO, NTLM, Kerberos */
    struct netlogon_security *netlogon; /* secure channel */
    uint32_t call_id;
    uint32_t assoc_group;
    uint32_t fault;
    enum rpc_answer answer;
    uint16_t max_xmit;
    bool header_signing;
    bool answered; /* a call has had a reply */
    bool broken;
};

enum {
    PAD = 16,        /* secured stubs are padded to a multiple (MS-RPCE 2.2.2.11) */
    FAULT_SIZE = 32, /* of a fault before its stub (C706 12.6.4.7) */
    AUTH_CONTEXT_ID = 1,
    TOKEN_MAX = 256
};

struct stub {
    uint8_t *data;
    size_t size, capacity;
    bool big_endian;
};

static struct outcome bind_plain(struct rpc_association *association);
static int send_leg(struct rpc_association *association, enum rpc_pdu_type type,
                    const uint8_t *token, size_t token_size);
static struct rpc_trailer trailer_of(const struct rpc_association *association, size_t pad);
static int token_size_for(struct rpc_association *association, size_t body, size_t *size);
static int pdu_error(const struct ndr *ndr);
static struct outcome association_broken(struct rpc_association *association, int error);
static struct outcome receive_ack(struct rpc_association *association, enum rpc_pdu_type expected,
                                  uint8_t **token, size_t *token_size);
static int receive_pdu(struct rpc_association *association, struct rpc_pdu_header *header,
                       uint8_t **pdu);
static struct outcome accept_ack(struct rpc_association *association, enum rpc_pdu_type expected,
                                 const struct rpc_pdu_header *header, const uint8_t *pdu,
                                 size_t size);
static struct outcome fault_outcome(struct rpc_association *association,
                                    const struct rpc_pdu_header *header, const uint8_t *data,
                                    size_t size);
static struct outcome bind_rejected(struct rpc_association *association,
                                    const struct rpc_bind_ack *ack);
static struct outcome bind_with_channel(struct rpc_association *association,
                                        const struct netlogon_channel *channel);
static struct outcome break_association(struct rpc_association *association, const char *why);
static struct outcome bind_with_auth(struct conversation *conversation,
                                     struct rpc_association *association,
                                     const struct rpc_binding *binding);
static struct outcome fail_step(struct rpc_association *association);
static struct outcome play_further_legs(struct rpc_association *association);
static struct outcome ndr_outcome(const struct rpc_association *association,
                                  const struct rpc_procedure *procedure, bool reply,
                                  const struct ndr *ndr);
static int association_send_request(struct rpc_association *association, uint16_t opnum,
                                    const uint8_t *stub, size_t size);
static int send_fragment(struct rpc_association *association, uint16_t opnum, uint8_t flags,
                         const uint8_t *stub, size_t size, size_t left);
static int append_security(struct rpc_association *association, struct ndr *ndr, size_t stub_size);
static int protect_pdu(struct rpc_association *association, uint8_t *data, size_t size, size_t body,
                       size_t body_size, size_t token);
static struct outcome receive_fragment(struct rpc_association *association, struct stub *stub,
                                       bool first, bool *last);
static int open_pdu(struct rpc_association *association, const struct rpc_pdu_header *header,
                    uint8_t *pdu, size_t from, size_t *size);
static int stub_append(struct stub *stub, const uint8_t *data, size_t size);
static struct outcome decode_reply(struct rpc_association *association,
                                   const struct rpc_procedure *procedure, const struct stub *stub,
                                   void *reply, struct arena *arena);

struct outcome rpc_bind(struct conversation *conversation, struct rpc_transport *transport,
                        const struct rpc_binding *binding, struct rpc_association **out)
{
    *out = NULL;
    if (binding->answer)
        *binding->answer = RPC_ANSWER_NONE;
    struct rpc_association *association = calloc(1, sizeof *association);
    if (!association) {
        transport->ops->close(transport);
        return outcome_of_error(-ENOMEM);
    }
    association->transport = transport;
    association->interface = binding->interface;
    association->security = binding->security;
    association->level = binding->level;
    association->call_id = 1;
    if (conversation && conversation->user)
        association->client = conversation->user->name;
    struct outcome outcome = binding->security == RPC_SECURITY_NONE ? bind_plain(association)
                             : binding->security == RPC_SECURITY_NETLOGON
                                 ? bind_with_channel(association, binding->channel)
                                 : bind_with_auth(conversation, association, binding);
    if (binding->answer)
        *binding->answer = association->answer;
    if (binding->fault)
        *binding->fault = association->fault;
    if (outcome.kind == OUTCOME_OK)
        *out = association;
    else
        rpc_association_close(association);
    return outcome;
}

static struct outcome bind_plain(struct rpc_association *association)
{
    uint8_t *token = NULL;
    size_t size;
    int rc = send_leg(association, RPC_PDU_BIND, NULL, 0);
    if (rc)
        return association_broken(association, rc);
    struct outcome outcome = receive_ack(association, RPC_PDU_BIND_ACK, &token, &size);
    free(token);
    return outcome;
}

/* Sends bind, alter_context or AUTH3 with a token. */
static int send_leg(struct rpc_association *association, enum rpc_pdu_type type,
                    const uint8_t *token, size_t token_size)
{
    struct ndr ndr;
    uint8_t flags = RPC_PFC_FIRST_FRAG | RPC_PFC_LAST_FRAG;
    uint32_t pad = 0;
    if (type == RPC_PDU_BIND && association->auth)
        flags |= RPC_PFC_SUPPORT_HEADER_SIGN;
    struct rpc_trailer trailer = trailer_of(association, 0);
    ndr_encode_start(&ndr);
    rpc_pdu_begin(&ndr, type, flags, association->call_id);
    if (type == RPC_PDU_AUTH3)
        ndr_u32(&ndr, "pad", &pad); /* MS-RPCE 2.2.2.5 */
    else
        rpc_pdu_bind_body(&ndr, association->interface, association->assoc_group);
    rpc_pdu_finish(&ndr, &trailer, token, token_size);
    struct rpc_transport *transport = association->transport;
    int rc = ndr.failed
                 ? pdu_error(&ndr)
                 : transport->ops->send(transport, ndr.data, ndr.size, type != RPC_PDU_AUTH3);
    ndr_end(&ndr);
    return rc;
}

static struct rpc_trailer trailer_of(const struct rpc_association *association, size_t pad)
{
    return (struct rpc_trailer){.auth_type = (uint8_t)association->security,
                                .auth_level = (uint8_t)association->level,
                                .pad_length = (uint8_t)pad,
                                .context_id = AUTH_CONTEXT_ID};
}

/* Size of the token that protects `body` bytes; 0: the association is not secured. */
static int token_size_for(struct rpc_association *association, size_t body, size_t *size)
{
    *size = 0;
    if (association->netlogon)
        *size = NETLOGON_SIGNATURE_SIZE;
    else if (association->auth)
        return auth_token_size(association->auth, body, size);
    return 0;
}

/* Why a PDU could not be encoded. */
static int pdu_error(const struct ndr *ndr)
{
    return ndr->size > UINT16_MAX ? -EMSGSIZE : -ENOMEM;
}

/* Marks the association as unusable; the outcome says why. */
static struct outcome association_broken(struct rpc_association *association, int error)
{
    const struct rpc_transport *transport = association->transport;
    const char *cause = transport->ops->cause ? transport->ops->cause(transport) : NULL;
    association->broken = true;
    if (error == -EBADMSG)
        return outcome_failed("%s: malformed DCERPC reply", association->interface->name);
    if (error == -ENOMSG)
        return outcome_failed("%s: reply to another call", association->interface->name);
    if (cause && error != -ECANCELED)
        return outcome_failed("%s", cause);
    return outcome_of_error(error);
}

/* Receives a bind_ack or alter_context_resp. *token is its token, malloc'd, or NULL. */
static struct outcome receive_ack(struct rpc_association *association, enum rpc_pdu_type expected,
                                  uint8_t **token, size_t *token_size)
{
    struct rpc_pdu_header header;
    uint8_t *pdu;
    *token = NULL;
    *token_size = 0;
    int rc = receive_pdu(association, &header, &pdu);
    if (rc)
        return association_broken(association, rc);
    size_t size = (size_t)header.frag_length - header.auth_length;
    struct outcome outcome = accept_ack(association, expected, &header, pdu, size);
    if (outcome.kind == OUTCOME_OK && header.auth_length) {
        *token = malloc(header.auth_length);
        if (*token) {
            memcpy(*token, pdu + size, header.auth_length);
            *token_size = header.auth_length;
        } else {
            outcome = association_broken(association, -ENOMEM);
        }
    }
    free(pdu);
    return outcome;
}

/* One PDU in a malloc'd buffer of frag_length bytes. */
static int receive_pdu(struct rpc_association *association, struct rpc_pdu_header *header,
                       uint8_t **pdu)
{
    struct rpc_transport *transport = association->transport;
    uint8_t head[RPC_HEADER_SIZE];
    *pdu = NULL;
    int rc = transport->ops->receive(transport, head, sizeof head);
    if (rc == 0)
        rc = rpc_pdu_header_decode(head, header);
    if (rc)
        return rc;
    if (header->call_id != association->call_id)
        return -ENOMSG;
    uint8_t *data = malloc(header->frag_length);
    if (!data)
        return -ENOMEM;
    memcpy(data, head, sizeof head);
    rc = transport->ops->receive(transport, data + sizeof head, header->frag_length - sizeof head);
    if (rc) {
        free(data);
        return rc;
    }
    *pdu = data;
    return 0;
}

/* Checks the answer to a bind or alter_context and stores what it grants. size is the PDU's without
 * the token. */
static struct outcome accept_ack(struct rpc_association *association, enum rpc_pdu_type expected,
                                 const struct rpc_pdu_header *header, const uint8_t *pdu,
                                 size_t size)
{
    struct rpc_bind_ack ack;
    association->answer = RPC_ANSWER_GIVEN;
    if (header->type == RPC_PDU_FAULT || header->type == RPC_PDU_BIND_NAK) {
        association->broken = true;
        return fault_outcome(association, header, pdu, size);
    }
    if (header->type != expected || rpc_bind_ack_decode(header, pdu, size, &ack) < 0) {
        association->answer = RPC_ANSWER_NONE;
        return association_broken(association, -EBADMSG);
    }
    if (ack.result != 0)
        return bind_rejected(association, &ack);
    if (header->type == RPC_PDU_BIND_ACK) {
        association->header_signing = header->flags & RPC_PFC_SUPPORT_HEADER_SIGN;
        association->assoc_group = ack.assoc_group;
        association->max_xmit = ack.max_recv < RPC_FRAGMENT_MIN   ? RPC_FRAGMENT_MIN
                                : ack.max_recv > RPC_FRAGMENT_MAX ? RPC_FRAGMENT_MAX
                                                                  : ack.max_recv;
    }
    return outcome_ok();
}

static struct outcome fault_outcome(struct rpc_association *association,
                                    const struct rpc_pdu_header *header, const uint8_t *data,
                                    size_t size)
{
    association->fault = rpc_fault_decode(header, data, size);
    if (header->type == RPC_PDU_BIND_NAK) {
        association->broken = true;
        const char *reason = rpc_reject_reason_name(association->fault);
        return reason
                   ? outcome_failed("bind of %s refused: %s", association->interface->name, reason)
                   : outcome_failed("bind of %s refused, reason %u", association->interface->name,
                                    association->fault);
    }
    const char *name = rpc_fault_name(association->fault);
    if (name)
        return outcome_failed("fault %s", name);
    return outcome_failed("fault 0x%08x", association->fault);
}

static struct outcome bind_rejected(struct rpc_association *association,
                                    const struct rpc_bind_ack *ack)
{
    association->broken = true;
    if (ack->result == RPC_PROVIDER_REJECTION && ack->reason == RPC_ABSTRACT_SYNTAX_NOT_SUPPORTED)
        association->answer = RPC_ANSWER_ELSEWHERE;
    return outcome_failed("bind of %s rejected: %s", association->interface->name,
                          rpc_rejection_text(ack->result, ack->reason));
}

static struct outcome bind_with_channel(struct rpc_association *association,
                                        const struct netlogon_channel *channel)
{
    uint8_t *token = NULL;
    size_t size = 0;
    association->netlogon = calloc(1, sizeof *association->netlogon);
    if (!association->netlogon)
        return association_broken(association, -ENOMEM);
    memcpy(association->netlogon->session_key, channel->session_key, NETLOGON_SESSION_KEY_SIZE);
    int rc = netlogon_bind_token(channel, &token, &size);
    if (rc == 0)
        rc = send_leg(association, RPC_PDU_BIND, token, size);
    free(token);
    if (rc)
        return association_broken(association, rc);
    struct outcome outcome = receive_ack(association, RPC_PDU_BIND_ACK, &token, &size);
    if (outcome.kind == OUTCOME_OK && (!token || netlogon_bind_answer_check(token, size) < 0))
        outcome = break_association(association, "malformed answer to a netlogon bind");
    free(token);
    return outcome;
}

static struct outcome break_association(struct rpc_association *association, const char *why)
{
    association->broken = true;
    return outcome_failed("%s: %s", association->interface->name, why);
}

static struct outcome bind_with_auth(struct conversation *conversation,
                                     struct rpc_association *association,
                                     const struct rpc_binding *binding)
{
    struct auth_request request = {
        .account = binding->account,
        .service = binding->service,
        .level = binding->level,
        .kerberos = binding->security == RPC_SECURITY_KERBEROS ||
                    (binding->security == RPC_SECURITY_SPNEGO && binding->kerberos),
        .raw = binding->security != RPC_SECURITY_SPNEGO,
        .dce_style = true,
        .wrong_password = binding->wrong_password};
    struct outcome outcome = auth_open(conversation, &request, &association->auth);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    uint8_t *token = NULL;
    size_t size = 0;
    if (auth_step(association->auth, NULL, 0, &token, &size) < 0)
        return fail_step(association);
    int rc = send_leg(association, RPC_PDU_BIND, token, size);
    free(token);
    return rc ? association_broken(association, rc) : play_further_legs(association);
}

static struct outcome fail_step(struct rpc_association *association)
{
    association->broken = true;
    return outcome_failed("%s", auth_error(association->auth));
}

/* The legs after the bind: SPNEGO's go in alter_context, each answered; a raw mechanism's last one
 * in AUTH3, which has no answer (MS-RPCE 3.3.1.5.2.2). */
static struct outcome play_further_legs(struct rpc_association *association)
{
    uint8_t *in = NULL, *out = NULL;
    size_t in_size, out_size = 0;
    enum rpc_pdu_type expected = RPC_PDU_BIND_ACK;
    for (;; expected = RPC_PDU_ALTER_CONTEXT_RESP) {
        struct outcome outcome = receive_ack(association, expected, &in, &in_size);
        if (outcome.kind != OUTCOME_OK)
            return outcome;
        out = NULL;
        int progress = auth_step(association->auth, in, in_size, &out, &out_size);
        free(in);
        if (progress < 0)
            return fail_step(association);
        if (!out)
            return progress == AUTH_DONE
                       ? outcome_ok()
                       : break_association(association,
                                           "the server ended the authentication too early");
        bool last = progress == AUTH_DONE; /* raw mechanisms only: SPNEGO ends with a reply */
        int rc = send_leg(association, last ? RPC_PDU_AUTH3 : RPC_PDU_ALTER_CONTEXT, out, out_size);
        free(out);
        if (rc)
            return association_broken(association, rc);
        if (last)
            return outcome_ok();
    }
}

struct outcome rpc_call(struct rpc_association *association, const struct rpc_procedure *procedure,
                        void *request, void *reply, struct arena *arena)
{
    struct ndr ndr;
    struct stub stub = {.data = NULL};
    struct outcome outcome = outcome_ok();
    association->fault = 0;
    rpc_trace(association->client, association->interface, procedure, false, request);
    ndr_encode_start(&ndr);
    procedure->request(&ndr, procedure->name, request, 0);
    if (ndr.failed) {
        outcome = ndr_outcome(association, procedure, false, &ndr);
    } else {
        int rc = association_send_request(association, procedure->opnum, ndr.data, ndr.size);
        if (rc)
            outcome = association_broken(association, rc);
    }
    ndr_end(&ndr);
    bool last = false;
    for (bool first = true; outcome.kind == OUTCOME_OK && !last; first = false)
        outcome = receive_fragment(association, &stub, first, &last);
    if (outcome.kind == OUTCOME_OK)
        outcome = decode_reply(association, procedure, &stub, reply, arena);
    free(stub.data);
    return outcome;
}

/* The failure of a cursor. The offset varies from call to call, so only the trace has it. */
static struct outcome ndr_outcome(const struct rpc_association *association,
                                  const struct rpc_procedure *procedure, bool reply,
                                  const struct ndr *ndr)
{
    rpc_trace_error(association->client, association->interface, procedure, reply, ndr);
    return outcome_failed("%s %s: field %s: %s", procedure->name, reply ? "reply" : "request",
                          ndr->error_field, ndr->error);
}

static int association_send_request(struct rpc_association *association, uint16_t opnum,
                                    const uint8_t *stub, size_t size)
{
    size_t room = association->max_xmit - RPC_REQUEST_HEADER_SIZE, token = 0, sent = 0;
    if (association->auth || association->netlogon) {
        int rc = token_size_for(association, room, &token);
        if (rc)
            return rc;
        room -= PAD + RPC_TRAILER_SIZE + token;
    }
    room -= room % PAD;
    association->call_id++;
    do {
        size_t part = size - sent < room ? size - sent : room;
        uint8_t flags = (uint8_t)((sent == 0 ? RPC_PFC_FIRST_FRAG : 0) |
                                  (sent + part == size ? RPC_PFC_LAST_FRAG : 0));
        int rc = send_fragment(association, opnum, flags, stub + sent, part, size - sent);
        if (rc)
            return rc;
        sent += part;
    } while (sent < size);
    return 0;
}

static int send_fragment(struct rpc_association *association, uint16_t opnum, uint8_t flags,
                         const uint8_t *stub, size_t size, size_t left)
{
    struct ndr ndr;
    uint32_t hint = (uint32_t)left;
    uint16_t context_id = 0;
    int rc = 0;
    ndr_encode_start(&ndr);
    rpc_pdu_begin(&ndr, RPC_PDU_REQUEST, flags, association->call_id);
    ndr_u32(&ndr, "alloc_hint", &hint);
    ndr_u16(&ndr, "p_cont_id", &context_id);
    ndr_u16(&ndr, "opnum", &opnum);
    ndr_bytes(&ndr, "stub", (uint8_t *)(uintptr_t)stub, size);
    if (association->auth || association->netlogon)
        rc = append_security(association, &ndr, size);
    else
        rpc_pdu_finish(&ndr, NULL, NULL, 0);
    if (rc == 0 && ndr.failed)
        rc = pdu_error(&ndr);
    struct rpc_transport *transport = association->transport;
    if (rc == 0)
        rc = transport->ops->send(transport, ndr.data, ndr.size, flags & RPC_PFC_LAST_FRAG);
    ndr_end(&ndr);
    return rc;
}

/* Appends padding, trailer and token to a secured request's stub. */
static int append_security(struct rpc_association *association, struct ndr *ndr, size_t stub_size)
{
    static uint8_t zeros[PAD];
    uint8_t empty[TOKEN_MAX] = {0};
    size_t pad = (PAD - stub_size % PAD) % PAD, token = 0;
    struct rpc_trailer trailer = trailer_of(association, pad);
    int rc = token_size_for(association, stub_size + pad, &token);
    if (rc == 0 && token > sizeof empty)
        rc = -EMSGSIZE;
    if (rc)
        return rc;
    ndr_bytes(ndr, "pad", zeros, pad);
    rpc_pdu_finish(ndr, &trailer, empty, token);
    if (ndr->failed)
        return pdu_error(ndr);
    return protect_pdu(association, ndr->data, ndr->size - token, RPC_REQUEST_HEADER_SIZE,
                       stub_size + pad, token);
}

/* Protects a PDU of size bytes and writes its token to data + size. */
static int protect_pdu(struct rpc_association *association, uint8_t *data, size_t size, size_t body,
                       size_t body_size, size_t token)
{
    if (association->netlogon)
        return netlogon_protect(association->netlogon, association->level == AUTH_LEVEL_PRIVACY,
                                data + body, body_size, data + size);
    struct auth_pdu pdu = {.data = data,
                           .size = size,
                           .body = body,
                           .body_size = body_size,
                           .header_signing = association->header_signing};
    return auth_protect(association->auth, &pdu, data + size, token);
}

/* Receives one fragment of the reply and appends its stub. */
static struct outcome receive_fragment(struct rpc_association *association, struct stub *stub,
                                       bool first, bool *last)
{
    struct rpc_pdu_header header;
    uint8_t *pdu;
    size_t size;
    struct outcome outcome = outcome_ok();
    int rc = receive_pdu(association, &header, &pdu);
    if (rc)
        return association_broken(association, rc);
    *last = header.flags & RPC_PFC_LAST_FRAG;
    if (header.type == RPC_PDU_FAULT) {
        outcome = fault_outcome(association, &header, pdu, header.frag_length);
        /* A token takes a sequence number. Faults of Samba carry none. */
        if (header.auth_length && open_pdu(association, &header, pdu, FAULT_SIZE, &size) != 0)
            association->broken = true;
    } else if (header.type != RPC_PDU_RESPONSE ||
               first != ((header.flags & RPC_PFC_FIRST_FRAG) != 0)) {
        outcome = association_broken(association, -EBADMSG);
    } else {
        stub->big_endian = header.big_endian;
        rc = open_pdu(association, &header, pdu, RPC_REQUEST_HEADER_SIZE, &size);
        if (rc == 0 && size == 0 && !*last) /* an endless sequence of these would never fail */
            rc = -EBADMSG;
        if (rc == 0)
            rc = stub_append(stub, pdu + RPC_REQUEST_HEADER_SIZE, size);
        if (rc == -EMSGSIZE)
            outcome = break_association(association, "reply longer than 4 MiB");
        else if (rc == -EKEYREJECTED)
            outcome = break_association(association, "reply does not verify");
        else if (rc)
            outcome = association_broken(association, rc);
    }
    free(pdu);
    return outcome;
}

/* Verifies a response or fault and decrypts it in place; its stub is [from, from + *size) of the
 * PDU. -EBADMSG: malformed; -EKEYREJECTED: does not verify. */
static int open_pdu(struct rpc_association *association, const struct rpc_pdu_header *header,
                    uint8_t *pdu, size_t from, size_t *size)
{
    if (header->frag_length < from)
        return -EBADMSG;
    if (!association->auth && !association->netlogon) {
        *size = header->frag_length - from;
        return header->auth_length ? -EBADMSG : 0;
    }
    struct rpc_trailer trailer;
    if (!rpc_trailer_decode(header, pdu, header->frag_length, &trailer) ||
        trailer.auth_type != association->security || trailer.auth_level != association->level ||
        trailer.context_id != AUTH_CONTEXT_ID)
        return -EBADMSG;
    size_t end = (size_t)header->frag_length - header->auth_length;
    if (end < from + RPC_TRAILER_SIZE + trailer.pad_length)
        return -EBADMSG;
    size_t body = end - RPC_TRAILER_SIZE - from;
    int rc;
    if (association->netlogon) {
        rc = netlogon_unprotect(association->netlogon, association->level == AUTH_LEVEL_PRIVACY,
                                pdu + from, body, pdu + end, header->auth_length);
    } else {
        struct auth_pdu secured = {.data = pdu,
                                   .size = end,
                                   .body = from,
                                   .body_size = body,
                                   .header_signing = association->header_signing};
        rc = auth_unprotect(association->auth, &secured, pdu + end, header->auth_length);
    }
    *size = body - trailer.pad_length;
    return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

static int stub_append(struct stub *stub, const uint8_t *data, size_t size)
{
    if (size > RPC_REPLY_MAX - stub->size)
        return -EMSGSIZE;
    if (size == 0) /* stub->data may be NULL */
        return 0;
    if (stub->size + size > stub->capacity) {
        size_t capacity =
            stub->size + size > 2 * stub->capacity ? stub->size + size : 2 * stub->capacity;
        uint8_t *larger = realloc(stub->data, capacity);
        if (!larger)
            return -ENOMEM;
        stub->data = larger;
        stub->capacity = capacity;
    }
    memcpy(stub->data + stub->size, data, size);
    stub->size += size;
    return 0;
}

static struct outcome decode_reply(struct rpc_association *association,
                                   const struct rpc_procedure *procedure, const struct stub *stub,
                                   void *reply, struct arena *arena)
{
    struct ndr ndr;
    struct outcome outcome = outcome_ok();
    memset(reply, 0, procedure->reply_size);
    ndr_decode_start(&ndr, stub->data, stub->size, stub->big_endian, arena);
    procedure->reply(&ndr, procedure->name, reply, 0);
    if (ndr.failed) {
        association->broken = true;
        outcome = ndr_outcome(association, procedure, true, &ndr);
    }
    ndr_end(&ndr);
    if (outcome.kind == OUTCOME_OK) {
        association->answered = true;
        rpc_trace(association->client, association->interface, procedure, true, reply);
    }
    return outcome;
}

bool rpc_association_broken(const struct rpc_association *association)
{
    const struct rpc_transport *transport = association->transport;
    return association->broken || (transport->ops->is_open && !transport->ops->is_open(transport));
}

bool rpc_association_answered(const struct rpc_association *association)
{
    return association->answered;
}

uint32_t rpc_association_fault(const struct rpc_association *association)
{
    return association->fault;
}

void rpc_association_close(struct rpc_association *association)
{
    if (!association)
        return;
    association->transport->ops->close(association->transport);
    auth_free(association->auth);
    if (association->netlogon)
        explicit_bzero(association->netlogon, sizeof *association->netlogon);
    free(association->netlogon);
    free(association);
}
