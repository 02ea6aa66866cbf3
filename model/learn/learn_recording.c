/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_text.h"

enum { FIRST_CLIENT = 2 };

struct learn_recording {
    struct learn_capture *capture;
    FILE *out;
    struct intern clients; /* keys of conversations, in the order of their first packets */
};

static int learn_recording_take_packet(void *context, struct learn_conversation *conversation,
                                       uint32_t form, double gap);
static int write_request(const struct learn_recording *recording,
                         const struct learn_conversation *conversation, uint32_t client_number,
                         char *form);
static int learn_recording_take_end(void *context, struct learn_conversation *conversation);

int learn_recording_write(struct learn_capture *capture, const struct learn_walk_settings *walk,
                          FILE *out)
{
    struct learn_recording recording = {.capture = capture, .out = out};
    struct learn_walk_observer observer = {learn_recording_take_packet, learn_recording_take_end,
                                           &recording};
    errno = 0;
    int result = learn_walk(capture, walk, &observer);
    intern_clear(&recording.clients);
    return result == -EIO && errno ? -errno : result;
}

static int learn_recording_take_packet(void *context, struct learn_conversation *conversation,
                                       uint32_t form, double gap)
{
    struct learn_recording *recording = context;
    uint32_t key = conversation->key, number;
    (void)gap;
    char *text = strdup(recording->capture->forms.entries[form].bytes);
    int result = text ? intern_add(&recording->clients, &key, sizeof key, &number, NULL) : -ENOMEM;
    if (result == 0)
        result = write_request(recording, conversation, number + FIRST_CLIENT, text);
    free(text);
    return result;
}

/* Lists are one value here: a recording separates their items by commas too. */
static int write_request(const struct learn_recording *recording,
                         const struct learn_conversation *conversation, uint32_t client_number,
                         char *form)
{
    struct packet_field fields[LEARN_FORM_FIELDS];
    const char *values[LEARN_FORM_FIELDS];
    struct learn_form_parts parts;
    char client[16], stream[16];
    learn_form_split(form, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        values[i] = parts.fields[i].value;
        fields[i] = (struct packet_field){parts.fields[i].key, 1, &values[i]};
    }
    snprintf(client, sizeof client, "%u", client_number);
    snprintf(stream, sizeof stream, "%u", conversation->connection & ~LEARN_CONNECTION_UDP);
    struct recording_line line = {.time = conversation->last,
                                  .client = client,
                                  .server = "1",
                                  .stream = stream,
                                  .protocol = parts.protocol,
                                  .opcode = parts.opcode,
                                  .row = packet_row_find(parts.protocol, parts.opcode),
                                  .udp = conversation->udp,
                                  .legs_joined = true,
                                  .fields = fields,
                                  .field_count = parts.count};
    recording_text_write(recording->out, &line, "");
    return ferror(recording->out) ? -EIO : 0;
}

static int learn_recording_take_end(void *context, struct learn_conversation *conversation)
{
    (void)context;
    (void)conversation;
    return 0;
}
