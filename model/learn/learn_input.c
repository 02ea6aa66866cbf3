/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_input.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/text_file.h"
#include "base/text.h"
#include "model/recording_text.h"

/* Standard input after its start, which was read before. */
struct input_rest {
    const struct learn_input *input;
    size_t used;
};

static int refuse_special_file(const char *path, struct error *error);
static int recognise_input(const char *name, const char *bytes, size_t size,
                           enum learn_input_kind *kind, struct error *error);
static bool is_capture(const unsigned char *bytes, size_t size);
static bool is_text(const unsigned char *bytes, size_t size);
static bool is_model(const char *text);
static ssize_t read_rest(void *cookie, char *buffer, size_t size);
static int close_rest(void *cookie);
static int take_line(void *context, const struct recording_line *packet);
static uint32_t connection_of(const struct recording_line *packet);
static void make_form(const struct recording_line *packet, char form[LEARN_FORM_SIZE]);

int learn_input_identify(const char *path, struct learn_input *input, struct error *error)
{
    char bytes[LEARN_INPUT_PEEK + 1];
    const char *name = text_file_name(path);
    *input = (struct learn_input){0};
    int result = refuse_special_file(path, error);
    if (result < 0)
        return result;
    int file = text_file_open(path, error);
    if (file < 0)
        return file;
    ssize_t size = text_file_read_start(file, bytes, LEARN_INPUT_PEEK);
    close(file);
    if (size < 0)
        return error_set(error, (int)size, "%s: %s", name, strerror((int)-size));
    bytes[size] = '\0';
    result = recognise_input(name, bytes, (size_t)size, &input->kind, error);
    if (result < 0 || strcmp(path, "-") != 0)
        return result;
    input->size = (size_t)size;
    input->begun = malloc((size_t)size + 1);
    if (!input->begun)
        return error_no_memory(error);
    memcpy(input->begun, bytes, (size_t)size + 1);
    return 0;
}

/* Recognising a file reads its beginning, which a pipe gives only once. tshark has another standard
 * input than this program, and reads no devices. */
static int refuse_special_file(const char *path, struct error *error)
{
    struct stat facts;
    if (strcmp(path, "/dev/stdin") == 0)
        return error_set(error, -EINVAL, "%s: give - for standard input", path);
    if (strcmp(path, "-") == 0 || stat(path, &facts) < 0)
        return 0;
    if (S_ISFIFO(facts.st_mode))
        return error_set(error, -EINVAL, "%s: a pipe; give it as standard input: - <%s", path,
                         path);
    if (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode) || S_ISSOCK(facts.st_mode))
        return error_set(error, -EINVAL, "%s: expected a file, found a device or socket", path);
    return 0;
}

static int recognise_input(const char *name, const char *bytes, size_t size,
                           enum learn_input_kind *kind, struct error *error)
{
    const unsigned char *start = (const unsigned char *)bytes;
    if (size == 0)
        return error_set(error, -EINVAL, "%s: the file is empty", name);
    /* Other binary files may be in one of the formats that tshark reads; if not, it says so. */
    if (is_capture(start, size) || !is_text(start, size))
        *kind = LEARN_INPUT_CAPTURE;
    else if (recording_text_is_line(bytes + text_mark_length(bytes)))
        *kind = LEARN_INPUT_RECORDING;
    else if (is_model(bytes))
        *kind = LEARN_INPUT_MODEL;
    else if (text_file_check(name, bytes, size, error) < 0)
        return error->code;
    else
        return error_set(error, -EINVAL,
                         "%s: a text, but neither a traffic-summary (lines that begin with a time "
                         "and have fields separated by tabs) nor a model",
                         name);
    return 0;
}

/* pcap in both byte orders and both resolutions, pcapng, and compressed files. */
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

/* Model files start with a mapping, perhaps after comments. */
static bool is_model(const char *text)
{
    text += text_mark_length(text);
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
    struct input_rest *rest = calloc(1, sizeof *rest);
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
    struct input_rest *rest = cookie;
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
    record.udp = packet->udp;
    make_form(packet, form);
    return learn_capture_add(capture, &record, form);
}

/* A connection is a stream between two hosts. Files that do not give streams have one connection
 * per pair of hosts. */
static uint32_t connection_of(const struct recording_line *packet)
{
    uint64_t hash = intern_hash(0, &packet->udp, sizeof packet->udp);
    hash = intern_hash(hash, packet->client, strlen(packet->client) + 1);
    hash = intern_hash(hash, packet->server, strlen(packet->server) + 1);
    return (uint32_t)intern_hash(hash, packet->stream, strlen(packet->stream));
}

/* Writes the form of a packet, without details if they are too long. */
static void make_form(const struct recording_line *packet, char form[LEARN_FORM_SIZE])
{
    const size_t size = LEARN_FORM_SIZE;
    size_t used = (size_t)snprintf(form, size, "%s:%s", packet->protocol, packet->opcode);
    size_t length = used;
    for (size_t i = 0; i < packet->field_count && used < size; i++) {
        const struct packet_field *field = &packet->fields[i];
        used += (size_t)snprintf(form + used, size - used, "%c%s=", LEARN_FIELD, field->key);
        for (size_t v = 0; v < field->count && used < size; v++)
            used +=
                (size_t)snprintf(form + used, size - used, "%s%s", v ? "," : "", field->values[v]);
    }
    if (used >= size)
        form[length] = '\0';
}
