/* SPDX-License-Identifier: Apache-2.0 */
/* From records to lines. */
#include "model/learn/learn_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_text.h"

enum { FIELDS_MAX = 12, FIRST_CLIENT = 2 };

struct learn_recording {
    struct learn_capture *capture;
    FILE *out;
    struct learn_words clients; /* keys of conversations, in the order of their first packet */
};

static int learn_recording_take_packet(void *context, struct learn_conversation *conversation,
                                       uint32_t form, double gap);
static size_t learn_recording_split_form(char *text, char **opcode, struct packet_field *fields,
                                         const char **values);
static int learn_recording_take_end(void *context, struct learn_conversation *conversation);

int learn_recording_write(struct learn_capture *capture, const struct learn_walk_settings *walk,
                          FILE *out)
{
    struct learn_recording recording = {.capture = capture, .out = out};
    struct learn_walk_observer observer = {learn_recording_take_packet, learn_recording_take_end,
                                           &recording};
    errno = 0;
    int result = learn_walk(capture, walk, &observer);
    learn_words_clear(&recording.clients);
    return result == -EIO && errno ? -errno : result;
}

static int learn_recording_take_packet(void *context, struct learn_conversation *conversation,
                                       uint32_t form, double gap)
{
    struct learn_recording *recording = context;
    const struct learn_word *word = &recording->capture->forms.items[form];
    struct packet_field fields[FIELDS_MAX];
    const char *values[FIELDS_MAX];
    char *text = strndup(word->bytes, word->length), *opcode, client[16], stream[16];
    uint32_t number;
    (void)gap;
    if (!text || learn_words_add(&recording->clients, &conversation->key, sizeof conversation->key,
                                 &number) < 0) {
        free(text);
        return -ENOMEM;
    }
    struct recording_line packet = {.time = conversation->last, .client = client, .server = "1"};
    snprintf(client, sizeof client, "%u", number + FIRST_CLIENT);
    snprintf(stream, sizeof stream, "%u", conversation->connection);
    packet.stream = stream;
    packet.protocol = text;
    packet.field_count = learn_recording_split_form(text, &opcode, fields, values);
    packet.opcode = opcode ? opcode : "";
    packet.row = packet_row_find(packet.protocol, packet.opcode);
    const struct packet_protocol *protocol = packet_protocol_find(packet.protocol);
    packet.udp = protocol && protocol->udp;
    packet.legs_joined = true;
    packet.fields = fields;
    recording_text_write(recording->out, &packet, "");
    free(text);
    return ferror(recording->out) ? -EIO : 0;
}

/* Lists stay one value: the text has commas between theirs too. */
static size_t learn_recording_split_form(char *text, char **opcode, struct packet_field *fields,
                                         const char **values)
{
    const char separator[2] = {LEARN_FIELD, '\0'};
    char *protocol = strsep(&text, separator), *item;
    size_t count = 0;
    *opcode = strchr(protocol, ':');
    if (!*opcode)
        return 0;
    *(*opcode)++ = '\0';
    while ((item = strsep(&text, separator)) && count < FIELDS_MAX) {
        char *value = strchr(item, '=');
        if (!value)
            continue;
        *value++ = '\0';
        values[count] = value;
        fields[count] = (struct packet_field){item, 1, &values[count]};
        count++;
    }
    return count;
}

static int learn_recording_take_end(void *context, struct learn_conversation *conversation)
{
    (void)context;
    (void)conversation;
    return 0;
}
