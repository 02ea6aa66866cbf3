/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "base/little_endian.h"
#include "tests/lib/windows/standin_rpc.h"

enum { SMB2_SESSION_SETUP = 1, SMB2_IOCTL = 11, SMB2_HEADER = 64 };
static const uint32_t status_logon_failure = 0xc000006d;

static bool smb2_read(struct standin *standin, struct standin_link *from, struct standin_link *to,
                      bool reply);
static bool smb2_frame(struct standin *standin, const uint8_t *message, size_t size, bool reply);

void standin_smb2_serve(struct standin *standin, int fd, uint16_t port)
{
    struct standin_link client = {.fd = fd}, server;
    standin_link_connect(&server, &standin->dc, port);
    for (bool go = server.fd >= 0; go;) {
        unsigned ready = standin_link_wait(&client, &server, -1);
        if (ready & 1)
            go = smb2_read(standin, &client, &server, false);
        if (go && ready & 2)
            go = smb2_read(standin, &server, &client, true);
    }
    standin_link_close(&client);
    standin_link_close(&server);
}

static bool smb2_read(struct standin *standin, struct standin_link *from, struct standin_link *to,
                      bool reply)
{
    struct standin_bytes *in = &from->in;
    if (!standin_link_read(from))
        return false;
    while (in->size >= 4) {
        size_t size = 4 + ((size_t)in->data[1] << 16 | (size_t)in->data[2] << 8 | in->data[3]);
        if (in->size < size)
            break;
        if (!smb2_frame(standin, in->data + 4, size - 4, reply) ||
            !standin_link_write(to, in->data, size))
            return false;
        standin_bytes_take(in, size);
    }
    return true;
}

/* False: the connection ends, since a signed reply cannot be replaced. */
static bool smb2_frame(struct standin *standin, const uint8_t *message, size_t size, bool reply)
{
    struct windows_rules *rules = &standin->rules;
    if (size < SMB2_HEADER || message[0] != 0xfe)
        return true;
    unsigned command = le_get16(message + 12);
    if (reply && command == SMB2_SESSION_SETUP && le_get32(message + 8) == status_logon_failure &&
        windows_rules_apply(rules, RULE_NTLM_DELAY, true))
        usleep((useconds_t)(rules->number[RULE_NTLM_DELAY] * 1000));
    return reply || command != SMB2_IOCTL ||
           !windows_rules_apply(rules, RULE_LOCALIZED_NAMES,
                                standin_names_localized(message, size));
}
