/* SPDX-License-Identifier: Apache-2.0 */
/* The packets kerberos:, kerberos:10 and kerberos:12. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"
#include "protocols/packet_tables.h"

/* Compiled details: of kerberos:10 who, of kerberos:12 for which service. */
struct details {
    bool machine;
    char service[64]; /* "": in turn */
};

static struct outcome play_hint(struct conversation *conversation, const void *details);
static void *compile_as(const struct packet_field *fields, size_t count, struct error *error);
static void *new_details(struct error *error);
static struct outcome play_as(struct conversation *conversation, const void *compiled);
static void *compile_tgs(const struct packet_field *fields, size_t count, struct error *error);
static bool is_service(const char *name);
static struct outcome play_tgs(struct conversation *conversation, const void *compiled);

const struct packet_type packet_tables_kerberos[] = {
    {.protocol = "kerberos",
     .opcode = "",
     .description = "unknown",
     .kind = PACKET_STATE,
     .available = packet_needs_dc,
     .play = play_hint},
    {.protocol = "kerberos",
     .opcode = "10",
     .description = "as-req",
     .kind = PACKET_OPERATION,
     .compile = compile_as,
     .release = free,
     .available = packet_needs_dc,
     .play = play_as},
    {.protocol = "kerberos",
     .opcode = "12",
     .description = "tgs-req",
     .kind = PACKET_OPERATION,
     .compile = compile_tgs,
     .release = free,
     .available = packet_needs_dc,
     .play = play_tgs},
    {.protocol = NULL},
};

static struct outcome play_hint(struct conversation *conversation, const void *details)
{
    (void)details;
    conversation->kerberos = true;
    return outcome_nothing();
}

static void *compile_as(const struct packet_field *fields, size_t count, struct error *error)
{
    struct details *details = new_details(error);
    for (size_t i = 0; details && i < count; i++) {
        const char *value = fields[i].count == 1 ? fields[i].values[0] : "";
        bool machine = strcmp(value, "machine") == 0;
        if (strcmp(fields[i].key, "as") == 0 && (machine || strcmp(value, "user") == 0)) {
            details->machine = machine;
            continue;
        }
        error_set(error, -EINVAL, "kerberos:10 knows as: user and as: machine, not %s: %s",
                  fields[i].key, value);
        free(details);
        return NULL;
    }
    return details;
}

static void *new_details(struct error *error)
{
    struct details *details = calloc(1, sizeof *details);
    if (!details)
        error_no_memory(error);
    return details;
}

static struct outcome play_as(struct conversation *conversation, const void *compiled)
{
    const struct details *details = compiled;
    conversation->kerberos = true;
    return kerberos_as_exchange(conversation, details && details->machine ? conversation->machine
                                                                          : conversation->user);
}

static void *compile_tgs(const struct packet_field *fields, size_t count, struct error *error)
{
    struct details *details = new_details(error);
    for (size_t i = 0; details && i < count; i++) {
        const char *value = fields[i].count == 1 ? fields[i].values[0] : "";
        if (strcmp(fields[i].key, "service") == 0 && is_service(value)) {
            snprintf(details->service, sizeof details->service, "%s", value);
            continue;
        }
        error_set(
            error, -EINVAL,
            "kerberos:12 knows service: and the first part of a service principal, not %s: %s",
            fields[i].key, value);
        free(details);
        return NULL;
    }
    return details;
}

static bool is_service(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strspn(name, letters);
    return length > 0 && !name[length] && length < sizeof((struct details *)0)->service;
}

static struct outcome play_tgs(struct conversation *conversation, const void *compiled)
{
    static const char *const services[] = {"ldap", "cifs", "host"};
    const struct details *details = compiled;
    struct tickets *tickets = tickets_get(conversation, conversation->user);
    conversation->kerberos = true;
    if (!tickets)
        return outcome_of_error(-ENOMEM);
    const char *service = details && *details->service ? details->service : NULL;
    if (!service)
        service =
            services[conversation->krb5->next_service++ % (sizeof services / sizeof services[0])];
    return tgs_fetch(conversation, tickets, service);
}
