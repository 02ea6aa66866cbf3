/* SPDX-License-Identifier: Apache-2.0 */
/* RPC over TCP (ncacn_ip_tcp), and the port of an interface. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/rpc/rpc_association.h"
#include "protocols/rpc/rpc_epm.h"
#include "protocols/stream.h"

/* Number of bytes to read together with a PDU's header. Most replies fit completely, which saves a
 * system call. The buffer is freed as soon as it is used up. */
enum { READ_AHEAD = 4096 };

struct tcp_transport {
    struct rpc_transport base;
    struct stream *stream;
    uint8_t *ahead; /* NULL: none */
    size_t ahead_size, ahead_at;
};

static int open_port(struct conversation *conversation, uint16_t port, struct rpc_transport **out);
static int tcp_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                    bool answered);
static int tcp_receive(struct rpc_transport *transport, uint8_t *data, size_t size);
static int read_ahead(struct tcp_transport *tcp);
static void drop_ahead(struct tcp_transport *tcp);
static size_t take_ahead(struct tcp_transport *tcp, uint8_t *data, size_t size);
static void tcp_close(struct rpc_transport *transport);
static struct outcome map_port_with(struct conversation *conversation,
                                    const struct rpc_interface *interface,
                                    enum rpc_security security, uint16_t *port, uint32_t *fault);
static struct outcome ask_mapper(struct rpc_association *mapper,
                                 const struct rpc_interface *interface, uint16_t *port);
static struct outcome port_of_reply(const struct rpc_interface *interface,
                                    const struct epm_Map_reply *reply, uint16_t *port);

static struct outcome tcp_open_port(struct conversation *conversation, uint16_t port,
                                    struct rpc_transport **out)
{
    *out = NULL;
    int rc = open_port(conversation, port, out);
    return rc ? outcome_of_wire(&conversation->wire, rc) : outcome_ok();
}

static const struct rpc_transport_ops tcp_ops = {
    .send = tcp_send, .receive = tcp_receive, .cause = NULL, .close = tcp_close};

static int open_port(struct conversation *conversation, uint16_t port, struct rpc_transport **out)
{
    struct sockaddr_storage address;
    socklen_t size = dc_address(conversation->dc, port, &address);
    struct tcp_transport *tcp = calloc(1, sizeof *tcp);
    if (!tcp)
        return -ENOMEM;
    tcp->base.ops = &tcp_ops;
    int rc = stream_open(&tcp->stream, &conversation->wire, STREAM_TCP, (struct sockaddr *)&address,
                         size);
    if (rc) {
        free(tcp);
        return rc;
    }
    *out = &tcp->base;
    return 0;
}

static int tcp_send(struct rpc_transport *transport, const uint8_t *data, size_t size,
                    bool answered)
{
    (void)answered;
    return stream_write(((struct tcp_transport *)transport)->stream, data, size);
}

static int tcp_receive(struct rpc_transport *transport, uint8_t *data, size_t size)
{
    struct tcp_transport *tcp = (struct tcp_transport *)transport;
    while (size > 0) {
        if (!tcp->ahead && size >= READ_AHEAD)
            return stream_read_all(tcp->stream, data, size);
        int rc = tcp->ahead ? 0 : read_ahead(tcp);
        if (rc)
            return rc;
        size_t part = take_ahead(tcp, data, size);
        data += part;
        size -= part;
    }
    return 0;
}

static int read_ahead(struct tcp_transport *tcp)
{
    tcp->ahead = malloc(READ_AHEAD);
    if (!tcp->ahead)
        return -ENOMEM;
    ssize_t n = stream_read(tcp->stream, tcp->ahead, READ_AHEAD);
    if (n <= 0) {
        drop_ahead(tcp);
        return n < 0 ? (int)n : -ENODATA;
    }
    tcp->ahead_size = (size_t)n;
    tcp->ahead_at = 0;
    return 0;
}

static void drop_ahead(struct tcp_transport *tcp)
{
    free(tcp->ahead);
    tcp->ahead = NULL;
}

static size_t take_ahead(struct tcp_transport *tcp, uint8_t *data, size_t size)
{
    size_t have = tcp->ahead_size - tcp->ahead_at, part = have < size ? have : size;
    memcpy(data, tcp->ahead + tcp->ahead_at, part);
    tcp->ahead_at += part;
    if (tcp->ahead_at == tcp->ahead_size)
        drop_ahead(tcp);
    return part;
}

static void tcp_close(struct rpc_transport *transport)
{
    struct tcp_transport *tcp = (struct tcp_transport *)transport;
    stream_close(tcp->stream);
    drop_ahead(tcp);
    free(tcp);
}

/* A server that restricts remote clients refuses unauthenticated ones (MS-RPCE 3.1.1.1.3); then the
 * user authenticates. */
struct outcome rpc_map_port(struct conversation *conversation,
                            const struct rpc_interface *interface, uint16_t *port)
{
    enum { ACCESS_DENIED = 5 };
    uint32_t fault = 0;
    struct outcome outcome =
        map_port_with(conversation, interface, RPC_SECURITY_NONE, port, &fault);
    if (outcome.kind == OUTCOME_FAILED && fault == ACCESS_DENIED && conversation->user)
        outcome = map_port_with(conversation, interface, RPC_SECURITY_SPNEGO, port, &fault);
    if (outcome.kind == OUTCOME_OK)
        rpc_ports_remember(conversation->dc->rpc_ports, interface, *port);
    /* The packet is of another interface. */
    return outcome.kind == OUTCOME_FAILED && strncmp(outcome.cause, "fault ", 6) == 0
               ? outcome_failed("endpoint mapper: %.70s", outcome.cause)
               : outcome;
}

/* *fault is the status of the mapper's fault, 0 if there was none. */
static struct outcome map_port_with(struct conversation *conversation,
                                    const struct rpc_interface *interface,
                                    enum rpc_security security, uint16_t *port, uint32_t *fault)
{
    struct rpc_transport *transport;
    struct rpc_association *mapper;
    const struct account *user = conversation->user;
    *fault = 0;
    struct outcome outcome = tcp_open_port(conversation, conversation->dc->ports.epm, &transport);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    struct rpc_binding binding = {.interface = &rpc_epm,
                                  .security = security,
                                  .level = AUTH_LEVEL_PRIVACY,
                                  .account = user,
                                  .kerberos = conversation->kerberos || (user && !user->password),
                                  .service = "host",
                                  .fault = fault};
    outcome = rpc_bind(conversation, transport, &binding, &mapper);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    outcome = ask_mapper(mapper, interface, port);
    *fault = rpc_association_fault(mapper);
    rpc_association_close(mapper);
    return outcome;
}

static struct outcome ask_mapper(struct rpc_association *mapper,
                                 const struct rpc_interface *interface, uint16_t *port)
{
    struct arena arena = {0};
    struct epm_tower tower;
    struct ndr_guid any = {0}; /* any object, as Windows and Samba ask */
    struct epm_Map_request request = {.object = &any, .tower = &tower, .max_towers = 4};
    struct epm_Map_reply reply;
    int rc = epm_tower_build(interface, &arena, &tower);
    struct outcome outcome =
        rc ? outcome_of_error(rc)
           : rpc_call(mapper, rpc_procedure_find(&rpc_epm, EPM_MAP), &request, &reply, &arena);
    if (outcome.kind == OUTCOME_OK)
        outcome = port_of_reply(interface, &reply, port);
    arena_free(&arena);
    return outcome;
}

/* The port in the endpoint mapper's reply. */
static struct outcome port_of_reply(const struct rpc_interface *interface,
                                    const struct epm_Map_reply *reply, uint16_t *port)
{
    for (uint32_t i = 0; reply->status == 0 && i < reply->count; i++)
        if (reply->towers[i] && (*port = epm_tower_port(reply->towers[i])) != 0)
            return outcome_ok();
    return outcome_failed("%s is not registered with the endpoint mapper", interface->name);
}

struct outcome rpc_tcp_open(struct conversation *conversation,
                            const struct rpc_interface *interface, struct rpc_transport **out)
{
    *out = NULL;
    uint16_t port = rpc_ports_known(conversation->dc->rpc_ports, interface);
    if (port) {
        int rc = open_port(conversation, port, out);
        if (rc != -ECONNREFUSED)
            return rc ? outcome_of_wire(&conversation->wire, rc) : outcome_ok();
    }
    struct outcome outcome = rpc_map_port(conversation, interface, &port);
    if (outcome.kind != OUTCOME_OK)
        return outcome;
    return tcp_open_port(conversation, port, out);
}
