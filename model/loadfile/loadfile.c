/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a loadfile line by line. A file's handles become slots: the smallest number that is free
 * at this line, so that a client needs a table of as many entries as it has files open.
 */
#include "model/loadfile/loadfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "model/loadfile/loadfile_lines.h"
#include "model/loadfile/loadfile_number.h"
#include "model/loadfile/loadfile_words.h"

enum {
    OPENS_MAX = 1024,
    FAILED_KEPT = 64,
    ARGUMENTS_MAX = 8,
    SECONDS_MAX = 10000000,
    TRANSFER_MAX = 1 << 30
};

struct loader_open {
    uint64_t handle;
    bool used;
};

/* A create that is meant to fail. It has no slot, unless a later line uses its handle. */
struct loader_failed {
    uint64_t handle;
    uint32_t step;
};

struct script_loader {
    struct script *script;
    const char *name;
    struct error *error;
    uint32_t line;
    struct intern names, statuses;
    struct loader_open opens[OPENS_MAX];      /* by slot */
    struct loader_failed failed[FAILED_KEPT]; /* a ring */
    uint32_t failed_count;
    uint32_t loops[LOADFILE_DEPTH_MAX]; /* that are open */
    uint32_t loop_lines[LOADFILE_DEPTH_MAX];
    double repeats[LOADFILE_DEPTH_MAX + 1]; /* how often a line at this depth is played */
    unsigned depth;
    bool repeat; /* the next line is the body of a REPEAT */
    double time; /* of the line before */
    bool timed;
};

static int read_lines(struct script_loader *loader, struct loadfile_lines *lines);
static int loader_finish(struct script_loader *loader);
static int loader_wrong(const struct script_loader *loader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int take_line(struct script_loader *loader, char *line);
static int take_time(struct script_loader *loader, char **line);
static size_t split_arguments(char *line, char **arguments, size_t most);
static int take_arguments(struct script_loader *loader, const struct loadfile_form *form,
                          char **arguments, struct script_step *step);
static int take_argument(struct script_loader *loader, char letter, char *text,
                         struct script_step *step);
static int take_name(struct script_loader *loader, const char *text, bool mask, uint32_t *number);
static const char *name_fault(const char *name, bool mask);
static int keep_name(struct script_loader *loader, const char *text, uint32_t *number);
static int take_whole(struct script_loader *loader, const char *text, uint64_t most, uint64_t *out);
static int take_computed(struct script_loader *loader, const char *text, uint64_t most,
                         bool *computed, uint64_t *out);
static int take_handle(struct script_loader *loader, const char *text, struct script_step *step);
static int take_status(struct script_loader *loader, const char *text, struct script_step *step);
static int keep_status(struct script_loader *loader, const char *text, uint16_t *number);
static int open_slot(struct script_loader *loader, const char *text, struct script_step *step);
static int find_slot(const struct script_loader *loader, uint64_t handle);
static int slot_of_failed(struct script_loader *loader, uint64_t handle);
static int free_slot(const struct script_loader *loader);
static int add_line(struct script_loader *loader, struct script_step *step, bool repeat);
static int begin_loop(struct script_loader *loader, struct script_step *step);
static int end_loop(struct script_loader *loader, struct script_step *step);
static int add_step(struct script_loader *loader, const struct script_step *step);
static int keep_time(struct script_loader *loader);
static void count_step(struct script_loader *loader, const struct script_step *step);

int loadfile_load(FILE *file, bool gzip, const char *name, struct script **out, struct error *error)
{
    struct script_loader loader = {.name = name, .error = error, .repeats = {1}};
    struct loadfile_lines *lines = loadfile_lines_new(file, gzip);
    loader.script = calloc(1, sizeof *loader.script);
    int result = lines && loader.script ? 0 : error_no_memory(error);
    uint16_t status;
    /* The first two have fixed numbers. */
    if (result == 0)
        result = keep_status(&loader, "*", &status);
    if (result == 0)
        result = keep_status(&loader, "NT_STATUS_OK", &status);
    if (result == 0)
        result = read_lines(&loader, lines);
    if (result == 0)
        result = loader_finish(&loader);
    loadfile_lines_free(lines);
    intern_clear(&loader.names);
    intern_clear(&loader.statuses);
    if (result == 0)
        *out = loader.script;
    else
        script_free(loader.script);
    return result;
}

static int read_lines(struct script_loader *loader, struct loadfile_lines *lines)
{
    char *line;
    int result;
    while ((result = loadfile_lines_next(lines, &line)) > 0) {
        loader->line++;
        int taken = take_line(loader, line);
        if (taken < 0)
            return taken;
    }
    loader->line += result < 0;
    if (result == -E2BIG)
        return loader_wrong(loader, "expected at most %d bytes in a line", LOADFILE_LINE_MAX);
    if (result == -EILSEQ)
        return loader_wrong(loader, "expected text, found a NUL byte");
    if (result == -EBADMSG)
        return loader_wrong(loader, "the gzip data are damaged or incomplete");
    if (result < 0)
        return error_set(loader->error, result, "%s: %s", loader->name, strerror(-result));
    return 0;
}

static int loader_finish(struct script_loader *loader)
{
    struct script *script = loader->script;
    double operations = 0;
    for (int op = 0; op < SCRIPT_PACKETS; op++)
        operations += op == SCRIPT_RANDOMSTRING ? 0 : script->operations[op];
    if (loader->repeat)
        return loader_wrong(loader, "expected an operation after REPEAT");
    if (loader->depth)
        return loader_wrong(loader, "expected ENDLOOP for the LOOP of line %" PRIu32,
                            loader->loop_lines[loader->depth - 1]);
    if (!(operations > 0))
        return error_set(loader->error, -EINVAL, "%s: contains no operation", loader->name);
    script->file = strdup(loader->name);
    struct script_step *fit = realloc(script->steps, script->step_count * sizeof *script->steps);
    if (!script->file)
        return error_no_memory(loader->error);
    script->steps = fit ? fit : script->steps;
    return 0;
}

static int loader_wrong(const struct script_loader *loader, const char *format, ...)
{
    va_list args;
    char text[ERROR_TEXT_SIZE / 2];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(loader->error, -EINVAL, "%s:%" PRIu32 ": %s", loader->name, loader->line,
                     text);
}

static int take_line(struct script_loader *loader, char *line)
{
    struct script_step step = {.status = SCRIPT_STATUS_ANY};
    char *arguments[ARGUMENTS_MAX];
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#')
        return 0;
    int result = take_time(loader, &line);
    if (result < 0)
        return result;
    size_t length = strcspn(line, " \t");
    const struct loadfile_form *form = loadfile_find_form(line, length);
    if (!form && loadfile_is_other_word(line, length))
        return loader_wrong(loader,
                            "%.*s belongs to another backend of dbench; expected the "
                            "operations of NetBench, such as NTCreateX and ReadX",
                            (int)length, line);
    if (!form)
        return loader_wrong(loader, "expected an operation such as NTCreateX, found \"%.32s\"",
                            line);
    size_t count = split_arguments(line + length, arguments, ARGUMENTS_MAX);
    size_t wanted = strlen(form->arguments);
    /* The pause may have a status, which says nothing. */
    bool status_too = form->op == SCRIPT_SLEEP && count == wanted + 1;
    if (count != wanted && !status_too)
        return loader_wrong(loader, "expected %s %s", form->word, form->usage);
    step.op = (uint8_t)form->op;
    result = take_arguments(loader, form, arguments, &step);
    return result < 0 ? result : add_line(loader, &step, strcmp(form->word, "REPEAT") == 0);
}

/* The time of a line is that of the line before if it has none. */
static int take_time(struct script_loader *loader, char **line)
{
    char *end;
    if (**line < '0' || **line > '9')
        return 0;
    double time = strtod(*line, &end);
    if ((*end != ' ' && *end != '\t') || !(time <= SECONDS_MAX))
        return loader_wrong(loader, "expected seconds from 0 to %d, found \"%.32s\"", SECONDS_MAX,
                            *line);
    if (time < loader->time)
        return loader_wrong(loader, "expected a time of at least %g s, that of the line before",
                            loader->time);
    if (loader->depth || loader->repeat)
        return loader_wrong(loader, "expected no time inside LOOP or after REPEAT");
    loader->time = time;
    loader->timed = true;
    *line = end + strspn(end, " \t");
    return 0;
}

/* Splits at blanks outside of quotes and removes the quotes. Returns the number of arguments, or
 * one that no word has: a quote is not closed, or there are too many. */
static size_t split_arguments(char *line, char **arguments, size_t most)
{
    size_t count = 0;
    for (char *at = line + strspn(line, " \t"); *at; at += strspn(at, " \t")) {
        bool quoted = *at == '"';
        char *begin = at + quoted,
             *end = quoted ? strchr(begin, '"') : begin + strcspn(begin, " \t");
        if (count == most || !end || (quoted && end[1] && !strchr(" \t", end[1])))
            return ARGUMENTS_MAX + 1;
        at = *end ? end + 1 : end;
        *end = '\0';
        arguments[count++] = begin;
    }
    return count;
}

static int take_arguments(struct script_loader *loader, const struct loadfile_form *form,
                          char **arguments, struct script_step *step)
{
    int result = 0;
    const char *opened = NULL;
    for (size_t i = 0; result == 0 && form->arguments[i]; i++) {
        if (form->arguments[i] == 'H') /* after the status, which says whether it is opened */
            opened = arguments[i];
        else
            result = take_argument(loader, form->arguments[i], arguments[i], step);
    }
    if (result == 0 && opened)
        result = open_slot(loader, opened, step);
    if (result == 0 && form->op == SCRIPT_CLOSE && step->status == SCRIPT_STATUS_OK)
        loader->opens[step->slot].used = false;
    if (result == 0 && form->op == SCRIPT_MKDIR)
        step->status = SCRIPT_STATUS_ANY;
    return result;
}

static int take_argument(struct script_loader *loader, char letter, char *text,
                         struct script_step *step)
{
    uint64_t number = 0;
    bool computed = false;
    int result = 0;
    switch (letter) {
    case 'n': /* a name */
        if (strcmp(text, "\\") == 0 && step->op != SCRIPT_CREATE && step->op != SCRIPT_QUERY_PATH)
            return loader_wrong(loader, "%s cannot change the root of the loadfile's names",
                                script_words[step->op]);
        return take_name(loader, text, false, &step->name);
    case 'm': /* a mask: a name whose last part may have wildcards */
        return take_name(loader, text, true, &step->name);
    case 'r': /* the new name */
        return take_name(loader, text, false, &step->size);
    case 'p': /* a pattern */
        return keep_name(loader, text, &step->name);
    case 'h': /* the handle of an open file */
        return take_handle(loader, text, step);
    case 'S':
        return take_status(loader, text, step);
    case 'o': /* options of a create */
        result = take_whole(loader, text, UINT32_MAX, &number);
        step->offset |= number;
        return result;
    case 'd': /* its disposition (MS-SMB2 2.2.13) */
        result = take_whole(loader, text, 5, &number);
        step->offset |= number << 32;
        return result;
    case 'x': /* an offset */
        result = take_computed(loader, text, INT64_MAX, &computed, &step->offset);
        step->flags |= computed ? SCRIPT_COMPUTED_OFFSET : 0;
        return result;
    case 'z': /* a size */
        result = take_computed(loader, text, TRANSFER_MAX, &computed, &number);
        step->size = (uint32_t)number;
        step->flags |= computed ? SCRIPT_COMPUTED_SIZE : 0;
        return result;
    case 'e': /* the bytes that are to be moved: as many as asked for, if their number is computed
               */
        step->name = UINT32_MAX;
        if (step->flags & SCRIPT_COMPUTED_SIZE || *text == '*' || *text == '+')
            return 0;
        result = take_whole(loader, text, TRANSFER_MAX, &number);
        step->name = (uint32_t)number;
        return result < 0 || number <= step->size
                   ? result
                   : loader_wrong(loader,
                                  "expected at most the size of %" PRIu32 " bytes, found %s",
                                  step->size, text);
    case 'l': /* a level */
        result = take_whole(loader, text, UINT32_MAX, &number);
        step->size = (uint32_t)number;
        return result < 0 || script_class_of_level(step->op, step->size)
                   ? result
                   : loader_wrong(loader, "level %s is not supported for %s", text,
                                  script_words[step->op]);
    case 't': /* the number of a random string */
        result = take_whole(loader, text, SCRIPT_STRINGS - 1, &number);
        step->slot = (uint16_t)number;
        return result;
    case 'c': /* a count */
        result = take_whole(loader, text, UINT32_MAX, &step->offset);
        return result < 0 || step->offset > 0 ? result
                                              : loader_wrong(loader, "expected a count above 0");
    case 'u': /* microseconds */
        result = take_whole(loader, text, SECONDS_MAX * UINT64_C(1000000), &step->offset);
        step->offset *= 1000;
        return result;
    default: /* a number that SMB2 does not need */
        return take_whole(loader, text, UINT32_MAX, &number);
    }
}

static int take_name(struct script_loader *loader, const char *text, bool mask, uint32_t *number)
{
    const char *fault = name_fault(text, mask);
    if (fault)
        return loader_wrong(loader, "name \"%.200s\": %s", text, fault);
    return keep_name(loader, text, number);
}

/* Names lie in the run's folder, so they must not lead out of it. */
static const char *name_fault(const char *name, bool mask)
{
    if (*name != '\\')
        return "expected a path that begins with \\";
    if (name[1] == '\0')
        return NULL;
    for (const char *part = name; *part; part += 1 + strcspn(part + 1, "\\")) {
        size_t length = strcspn(part + 1, "\\");
        bool last = part[1 + length] == '\0';
        if (length == 0)
            return "expected a name between two \\ and at the end";
        if ((length == 1 && part[1] == '.') || (length == 2 && strncmp(part + 1, "..", 2) == 0))
            return "expected no . or .. in a path";
        if (length > 255)
            return "expected at most 255 bytes between two \\";
        for (size_t i = 1; i <= length; i++)
            if ((unsigned char)part[i] < ' ' || strchr("/:|", part[i]))
                return "expected no /, :, | or control character in a path";
            else if (strchr("*?<>", part[i]) && !(mask && last))
                return "expected wildcards only in the last part of FIND_FIRST";
    }
    return strlen(name) > 900 ? "expected at most 900 bytes" : NULL;
}

static int keep_name(struct script_loader *loader, const char *text, uint32_t *number)
{
    struct script *script = loader->script;
    bool added;
    if (intern_add(&loader->names, text, strlen(text), number, &added) < 0)
        return error_no_memory(loader->error);
    if (!added)
        return 0;
    const char **names = array_grow(script->names, script->name_count, sizeof *names);
    if (!names)
        return error_no_memory(loader->error);
    script->names = names;
    names[script->name_count] = strdup(text);
    if (!names[script->name_count])
        return error_no_memory(loader->error);
    script->name_count++;
    return 0;
}

static int take_whole(struct script_loader *loader, const char *text, uint64_t most, uint64_t *out)
{
    const char *end = loadfile_read_whole(text, most, out);
    if (end && *end == '\0')
        return 0;
    return loader_wrong(loader, "expected a whole number from 0 to %" PRIu64 ", found \"%.64s\"",
                        most, text);
}

/* A number, or the index of a computed one. */
static int take_computed(struct script_loader *loader, const char *text, uint64_t most,
                         bool *computed, uint64_t *out)
{
    struct script *script = loader->script;
    *computed = *text == '*' || *text == '+';
    if (!*computed)
        return take_whole(loader, text, most, out);
    struct script_number *numbers =
        array_grow(script->numbers, script->number_count, sizeof *numbers);
    if (!numbers)
        return error_no_memory(loader->error);
    script->numbers = numbers;
    if (!loadfile_read_number(text, &numbers[script->number_count]))
        return loader_wrong(loader,
                            "expected * or +NUMBER, then at most %d of +N, *N, /N, %%N, +child and "
                            "+num_children, found \"%.64s\"",
                            SCRIPT_CHANGES_MAX, text);
    *out = script->number_count++;
    return 0;
}

static int take_handle(struct script_loader *loader, const char *text, struct script_step *step)
{
    uint64_t handle;
    int result = take_whole(loader, text, UINT32_MAX, &handle);
    if (result < 0)
        return result;
    int slot = find_slot(loader, handle);
    if (slot < 0)
        slot = slot_of_failed(loader, handle);
    if (slot < 0)
        return loader_wrong(loader, "handle %s is not open here; expected NTCreateX before", text);
    step->slot = (uint16_t)slot;
    return 0;
}

static int take_status(struct script_loader *loader, const char *text, struct script_step *step)
{
    uint64_t value = 1;
    const char *end = NULL;
    if (strncmp(text, "0x", 2) == 0) {
        end = loadfile_read_whole(text, UINT32_MAX, &value);
        value = end && *end == '\0' ? value : UINT64_MAX;
    } else if (strcmp(text, "NT_STATUS_SUCCESS") == 0 || strcmp(text, "SUCCESS") == 0) {
        value = 0;
    } else if (strncmp(text, "NT_STATUS_", 10) != 0 && strcmp(text, "*") != 0 &&
               strcmp(text, "ERROR") != 0) {
        value = UINT64_MAX;
    }
    if (value == UINT64_MAX)
        return loader_wrong(
            loader, "expected a status such as NT_STATUS_OK or 0xc0000034, found \"%.64s\"", text);
    return keep_status(loader, value == 0 ? "NT_STATUS_OK" : text, &step->status);
}

static int keep_status(struct script_loader *loader, const char *text, uint16_t *number)
{
    enum { STATUSES_MAX = 4096 };
    struct script *script = loader->script;
    uint32_t index;
    bool added;
    if (intern_add(&loader->statuses, text, strlen(text), &index, &added) < 0)
        return error_no_memory(loader->error);
    *number = (uint16_t)index;
    if (!added)
        return 0;
    if (index >= STATUSES_MAX)
        return loader_wrong(loader, "expected at most %d different statuses", STATUSES_MAX);
    struct script_status *statuses =
        array_grow(script->statuses, script->status_count, sizeof *statuses);
    if (!statuses)
        return error_no_memory(loader->error);
    script->statuses = statuses;
    statuses[index] = (struct script_status){.name = strdup(text), .line = loader->line};
    if (!statuses[index].name)
        return error_no_memory(loader->error);
    script->status_count++;
    return 0;
}

/* A handle that is open already keeps its slot: the player closes the file before. */
static int open_slot(struct script_loader *loader, const char *text, struct script_step *step)
{
    uint64_t handle;
    int result = take_whole(loader, text, UINT32_MAX, &handle);
    if (result < 0)
        return result;
    step->slot = SCRIPT_NO_SLOT;
    if (step->status != SCRIPT_STATUS_OK && step->status != SCRIPT_STATUS_ANY) {
        loader->failed[loader->failed_count++ % FAILED_KEPT] =
            (struct loader_failed){.handle = handle, .step = loader->script->step_count};
        return 0;
    }
    int slot = find_slot(loader, handle);
    if (slot < 0)
        slot = free_slot(loader);
    if (slot < 0)
        return loader_wrong(loader, "expected at most %d files open at the same time", OPENS_MAX);
    loader->opens[slot] = (struct loader_open){.handle = handle, .used = true};
    step->slot = (uint16_t)slot;
    if ((uint32_t)slot >= loader->script->slot_count)
        loader->script->slot_count = (uint32_t)slot + 1;
    return 0;
}

static int find_slot(const struct script_loader *loader, uint64_t handle)
{
    for (uint32_t i = 0; i < loader->script->slot_count; i++)
        if (loader->opens[i].used && loader->opens[i].handle == handle)
            return (int)i;
    return -1;
}

/* Gives a slot that nothing else uses to the create of this handle. -1: there is none. */
static int slot_of_failed(struct script_loader *loader, uint64_t handle)
{
    struct script *script = loader->script;
    uint32_t kept = loader->failed_count < FAILED_KEPT ? loader->failed_count : FAILED_KEPT;
    for (uint32_t i = 1; i <= kept && script->slot_count < OPENS_MAX; i++) {
        const struct loader_failed *failed =
            &loader->failed[(loader->failed_count - i) % FAILED_KEPT];
        if (failed->handle != handle)
            continue;
        uint16_t slot = (uint16_t)script->slot_count++;
        script->steps[failed->step].slot = slot;
        loader->opens[slot] = (struct loader_open){.handle = handle, .used = true};
        return slot;
    }
    return -1;
}

static int free_slot(const struct script_loader *loader)
{
    for (int i = 0; i < OPENS_MAX; i++)
        if (!loader->opens[i].used)
            return i;
    return -1;
}

/* Adds the step of a line; a REPEAT is a loop around the next line. */
static int add_line(struct script_loader *loader, struct script_step *step, bool repeat)
{
    bool body = loader->repeat;
    if (body && (step->op == SCRIPT_LOOP || step->op == SCRIPT_ENDLOOP))
        return loader_wrong(loader, "expected an operation after REPEAT");
    if (step->op == SCRIPT_DELTREE) { /* forgets all handles */
        memset(loader->opens, 0, sizeof loader->opens);
        loader->failed_count = 0;
    }
    int result = step->op == SCRIPT_LOOP      ? begin_loop(loader, step)
                 : step->op == SCRIPT_ENDLOOP ? end_loop(loader, step)
                                              : add_step(loader, step);
    loader->repeat = repeat;
    if (result == 0 && body) {
        struct script_step end = {.op = SCRIPT_ENDLOOP};
        result = end_loop(loader, &end);
    }
    return result;
}

static int begin_loop(struct script_loader *loader, struct script_step *step)
{
    struct script *script = loader->script;
    if (loader->depth == LOADFILE_DEPTH_MAX)
        return loader_wrong(loader, "expected at most %d loops inside each other",
                            LOADFILE_DEPTH_MAX);
    struct script_loop *loops = array_grow(script->loops, script->loop_count, sizeof *loops);
    if (!loops)
        return error_no_memory(loader->error);
    script->loops = loops;
    loops[script->loop_count] =
        (struct script_loop){.begin = script->step_count, .count = step->offset};
    step->size = script->loop_count;
    step->slot = (uint16_t)loader->depth;
    int result = add_step(loader, step);
    loader->loops[loader->depth] = script->loop_count++;
    loader->loop_lines[loader->depth] = loader->line;
    loader->repeats[loader->depth + 1] = loader->repeats[loader->depth] * (double)step->offset;
    loader->depth++;
    return result;
}

static int end_loop(struct script_loader *loader, struct script_step *step)
{
    if (loader->depth == 0)
        return loader_wrong(loader, "expected LOOP before ENDLOOP");
    loader->depth--;
    step->size = loader->loops[loader->depth];
    step->slot = (uint16_t)loader->depth;
    loader->script->loops[step->size].end = loader->script->step_count;
    return add_step(loader, step);
}

static int add_step(struct script_loader *loader, const struct script_step *step)
{
    struct script *script = loader->script;
    if (script->step_count == LOADFILE_STEPS_MAX)
        return loader_wrong(loader, "expected at most %d lines", LOADFILE_STEPS_MAX);
    struct script_step *steps = array_grow(script->steps, script->step_count, sizeof *steps);
    if (!steps)
        return error_no_memory(loader->error);
    script->steps = steps;
    if (loader->timed && keep_time(loader) < 0)
        return error_no_memory(loader->error);
    steps[script->step_count++] = *step;
    count_step(loader, step);
    return 0;
}

/* Steps before the first time are due at 0. Their times are allocated with it, for as many steps as
 * array_grow() has room for. */
static int keep_time(struct script_loader *loader)
{
    struct script *script = loader->script;
    size_t room = 1;
    while (room <= script->step_count)
        room *= 2;
    int64_t *times = script->times ? array_grow(script->times, script->step_count, sizeof *times)
                                   : calloc(room, sizeof *times);
    if (!times)
        return -ENOMEM;
    script->times = times;
    times[script->step_count] = (int64_t)(loader->time * 1e9);
    return 0;
}

static void count_step(struct script_loader *loader, const struct script_step *step)
{
    struct script *script = loader->script;
    double times = loader->repeats[loader->depth];
    if (step->op >= SCRIPT_PACKETS)
        return;
    script->operations[step->op] += times;
    script->failures += step->status > SCRIPT_STATUS_OK ? times : 0;
    script->computed_sizes |= (step->flags & SCRIPT_COMPUTED_SIZE) != 0;
    uint32_t moved = step->name == UINT32_MAX ? step->size : step->name;
    if (step->flags & SCRIPT_COMPUTED_SIZE)
        return;
    if (step->op == SCRIPT_READ)
        script->bytes_read += times * moved;
    else if (step->op == SCRIPT_WRITE)
        script->bytes_written += times * moved;
}

void script_free(struct script *script)
{
    if (!script)
        return;
    for (uint32_t i = 0; i < script->name_count; i++)
        free((char *)(uintptr_t)script->names[i]);
    for (uint32_t i = 0; i < script->status_count; i++)
        free((char *)(uintptr_t)script->statuses[i].name);
    free((char *)(uintptr_t)script->file);
    free(script->names);
    free(script->statuses);
    free(script->steps);
    free(script->times);
    free(script->numbers);
    free(script->loops);
    free(script);
}
