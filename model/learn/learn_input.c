/* SPDX-License-Identifier: Apache-2.0 */
/* Telling inputs apart, and traffic-summary texts as records. */
#include "model/learn/learn_input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/text_file.h"
#include "model/recording_text.h"

/* Standard input with what was read of it already in front. */
struct rest {
    const struct learn_input *input;
    size_t used;
};

static ssize_t read_some(int file, char *buffer, size_t size);
static int learn_input_judge(const char *name, struct learn_input *input, const char *bytes,
                             size_t size, struct error *error);
static bool is_capture(const unsigned char *bytes, size_t size);
static bool is_text(const unsigned char *bytes, size_t size);
static bool is_model(const char *text);
static ssize_t read_rest(void *cookie, char *buffer, size_t size);
static int close_rest(void *cookie);
static int take_line(void *context, const struct recording_line *packet);
static uint32_t connection_of(const struct recording_line *packet);
static bool make_form(const struct recording_line *packet, char *form, size_t size);

int learn_input_identify(const char *path, struct learn_input *input, struct error *error)
{
    char bytes[LEARN_INPUT_PEEK + 1];
    bool standard = strcmp(path, "-") == 0;
    const char *name = text_file_name(path);
    struct stat status;
    *input = (struct learn_input){0};
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0                   ? -errno
                   : fstat(file, &status) < 0 ? -errno
                   : S_ISDIR(status.st_mode)  ? -EISDIR
                                              : read_some(file, bytes, LEARN_INPUT_PEEK);
    if (file >= 0 && !standard)
        close(file);
    if (size < 0) {
        error_set(error, (int)size, "%s: %s", name, strerror((int)-size));
        return (int)size;
    }
    bytes[size] = '\0';
    int result = learn_input_judge(name, input, bytes, (size_t)size, error);
    if (result < 0 || !standard)
        return result;
    input->size = (size_t)size;
    input->begun = malloc((size_t)size + 1);
    if (!input->begun) {
        return error_no_memory(error);
    }
    memcpy(input->begun, bytes, (size_t)size + 1);
    return 0;
}

static ssize_t read_some(int file, char *buffer, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(file, buffer + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static int learn_input_judge(const char *name, struct learn_input *input, const char *bytes,
                             size_t size, struct error *error)
{
    if (size == 0)
        error_set(error, -EINVAL, "%s: the file is empty", name);
    else if (is_capture((const unsigned char *)bytes, size)) {
        input->kind = LEARN_INPUT_CAPTURE;
        return 0;
    } else if (!is_text((const unsigned char *)bytes, size)) {
        /* One of the many other formats that tshark knows, or it says so. */
        input->kind = LEARN_INPUT_CAPTURE;
        return 0;
    } else if (recording_text_is_line(bytes)) {
        input->kind = LEARN_INPUT_RECORDING;
        return 0;
    } else if (is_model(bytes)) {
        input->kind = LEARN_INPUT_MODEL;
        return 0;
    } else {
        error_set(error, -EINVAL,
                  "%s: a text, but neither a traffic-summary (lines of fields between tabs that "
                  "begin with a time) nor a model",
                  name);
    }
    return -EINVAL;
}

/* pcap in both byte orders and both clocks, pcapng, and what they may be compressed with. */
static bool is_capture(const unsigned char *bytes, size_t size)
{
    static const unsigned char magics[][4] = {{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1},
                                              {0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1},
                                              {0x0a, 0x0d, 0x0d, 0x0a}, {0x28, 0xb5, 0x2f, 0xfd},
                                              {0x04, 0x22, 0x4d, 0x18}};
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return true;
    for (size_t i = 0; size >= 4 && i < sizeof magics / sizeof magics[0]; i++)
        if (memcmp(bytes, magics[i], 4) == 0)
            return true;
    return false;
}

static bool is_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] < ' ' && !isspace(bytes[i]))
            return false;
    return true;
}

/* A mapping, or a comment and then one: what model files begin with. */
static bool is_model(const char *text)
{
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    while (*text == '#' || isspace((unsigned char)*text)) {
        if (*text == '#')
            text += strcspn(text, "\n");
        else
            text++;
    }
    return *text == '{' || strncmp(text, "version:", 8) == 0 || strncmp(text, "source:", 7) == 0 ||
           strncmp(text, "packet_rate:", 12) == 0 || strncmp(text, "chain:", 6) == 0 ||
           strncmp(text, "---", 3) == 0 || strncmp(text, "history:", 8) == 0;
}

FILE *learn_input_open(const char *path, const struct learn_input *input)
{
    if (strcmp(path, "-") != 0)
        return fopen(path, "re");
    struct rest *rest = calloc(1, sizeof *rest);
    if (!rest)
        return NULL;
    rest->input = input;
    FILE *file =
        fopencookie(rest, "r", (cookie_io_functions_t){.read = read_rest, .close = close_rest});
    if (!file)
        free(rest);
    return file;
}

static ssize_t read_rest(void *cookie, char *buffer, size_t size)
{
    struct rest *rest = cookie;
    size_t left = rest->input->size - rest->used;
    if (left == 0)
        return read(STDIN_FILENO, buffer, size);
    size = size < left ? size : left;
    memcpy(buffer, rest->input->begun + rest->used, size);
    rest->used += size;
    return (ssize_t)size;
}

static int close_rest(void *cookie)
{
    free(cookie);
    return 0;
}

int learn_input_read_recording(const char *path, const struct learn_input *input,
                               struct learn_capture *capture)
{
    const char *name = text_file_name(path);
    FILE *file = learn_input_open(path, input);
    if (!file) {
        int result = -errno;
        return error_set(capture->error, result, "%s: %s", name, strerror(-result));
    }
    int result = recording_text_read(file, name, take_line, capture, capture->error);
    fclose(file);
    return result;
}

static int take_line(void *context, const struct recording_line *packet)
{
    struct learn_capture *capture = context;
    struct learn_record record = {.time = packet->time};
    char form[LEARN_FORM_SIZE];
    capture->counts[LEARN_FRAMES]++;
    learn_capture_time(capture, packet->time);
    int result =
        learn_capture_address(capture, packet->client, strlen(packet->client), &record.client);
    if (result == 0)
        result =
            learn_capture_address(capture, packet->server, strlen(packet->server), &record.server);
    if (result < 0)
        return result;
    if (packet->reply) {
        learn_capture_answer(capture, record.server, packet->udp);
        return 0;
    }
    record.connection = connection_of(packet);
    if (!make_form(packet, form, sizeof form))
        snprintf(form, sizeof form, "%s:%s", packet->protocol, packet->opcode);
    return learn_capture_add(capture, &record, form);
}

/* A connection is a stream between two; without numbers of streams it is all that two exchange. */
static uint32_t connection_of(const struct recording_line *packet)
{
    uint64_t hash = intern_hash(0, &packet->udp, sizeof packet->udp);
    hash = intern_hash(hash, packet->client, strlen(packet->client) + 1);
    hash = intern_hash(hash, packet->server, strlen(packet->server) + 1);
    return (uint32_t)intern_hash(hash, packet->stream, strlen(packet->stream));
}

/* "protocol:opcode" and its fields as one line. */
static bool make_form(const struct recording_line *packet, char *form, size_t size)
{
    size_t used = (size_t)snprintf(form, size, "%s:%s", packet->protocol, packet->opcode);
    for (size_t i = 0; i < packet->field_count && used < size; i++) {
        const struct packet_field *field = &packet->fields[i];
        used += (size_t)snprintf(form + used, size - used, "%c%s=", LEARN_FIELD, field->key);
        for (size_t v = 0; v < field->count && used < size; v++)
            used +=
                (size_t)snprintf(form + used, size - used, "%s%s", v ? "," : "", field->values[v]);
    }
    return used < size;
}
