/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the server's resource usage. */
#include "replay/sweep/sweep_sample.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "replay/accounts/discover.h"
#include "replay/sweep/sweep_proc.h"

enum { LDAP_PORT_NUMBER = 389, OUTPUT_MAX = 64 << 10, NAME_MAX_LENGTH = 64 };
static const int64_t second = 1000000000;

struct value {
    char *name;
    double value;
};

struct row {
    double time; /* Unix */
    struct value *values;
    size_t count;
};

struct sweep_sampler {
    char *command; /* NULL: read /proc */
    struct sweep_proc proc;
    struct row *rows;
    size_t count;
    int64_t next; /* due time of the next sample, CLOCK_MONOTONIC ns */
    pid_t child;  /* the running command; 0: none */
    int output;   /* descriptor of its output */
    int64_t started;
    double time;       /* its start, Unix time */
    bool server_ended; /* its processes; of /proc only */
    char problem[256]; /* the first one; "": none */
};

static bool find_local(const char *dc, struct sockaddr_storage *address);
static void end_command(struct sweep_sampler *sampler);
static void note_problem(struct sweep_sampler *sampler, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void take_output(struct sweep_sampler *sampler);
static void take_lines(struct sweep_sampler *sampler, char *text);
static struct row *sample_add_row(struct sweep_sampler *sampler, double time);
static void sample_add_value(struct sweep_sampler *sampler, struct row *row, const char *name,
                             double value);
static void start_command(struct sweep_sampler *sampler, const struct sweep_watch *watch);
static double unix_time(void);
static void take_from_proc(struct sweep_sampler *sampler);
static int merge_rows(const struct sweep_sampler *sampler, struct result *result);
static int merge_row(const struct row *row, struct result *result);

int sweep_sampler_open(const char *dc, const char *command, struct sweep_sampler **out)
{
    struct sockaddr_storage address = {0};
    struct sweep_sampler *sampler = calloc(1, sizeof *sampler);
    int result = 0;
    *out = NULL;
    if (!sampler)
        return -ENOMEM;
    sampler->output = -1;
    if (command)
        result = (sampler->command = strdup(command)) ? 0 : -ENOMEM;
    else
        result = find_local(dc, &address)
                     ? sweep_proc_open(&sampler->proc, &address, LDAP_PORT_NUMBER)
                     : -ENOENT;
    if (result == 0) {
        *out = sampler;
        return 0;
    }
    sweep_sampler_free(sampler);
    return result == -ENOENT ? 0 : result;
}

/* dc is NAME=ADDRESS, a name or an address. */
static bool find_local(const char *dc, struct sockaddr_storage *address)
{
    char host[DISCOVER_HOST_SIZE];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    bool local = false;
    if (discover_host(dc, host) < 0 || getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    for (struct addrinfo *item = found; item && !local; item = item->ai_next) {
        if (item->ai_family != AF_INET && item->ai_family != AF_INET6)
            continue;
        memcpy(address, item->ai_addr, item->ai_addrlen);
        local = sweep_proc_is_local(address);
    }
    freeaddrinfo(found);
    return local;
}

void sweep_sampler_free(struct sweep_sampler *sampler)
{
    if (!sampler)
        return;
    if (sampler->child > 0) {
        kill(-sampler->child, SIGKILL);
        while (waitpid(sampler->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (sampler->output >= 0)
        close(sampler->output);
    for (size_t i = 0; i < sampler->count; i++) {
        for (size_t v = 0; v < sampler->rows[i].count; v++)
            free(sampler->rows[i].values[v].name);
        free(sampler->rows[i].values);
    }
    free(sampler->rows);
    free(sampler->command);
    sweep_proc_clear(&sampler->proc);
    free(sampler);
}

void sweep_sampler_tick(struct sweep_sampler *sampler, const struct sweep_watch *watch)
{
    int64_t now = clock_now();
    if (!sampler)
        return;
    if (sampler->child > 0)
        end_command(sampler);
    if (now < sampler->next || sampler->child > 0)
        return;
    sampler->next = now - now % second + second;
    if (sampler->command)
        start_command(sampler, watch);
    else
        take_from_proc(sampler);
}

static const int64_t command_limit = 10 * 1000000000LL;

static void end_command(struct sweep_sampler *sampler)
{
    int status = 0;
    bool late = clock_now() - sampler->started > command_limit;
    if (late)
        kill(-sampler->child, SIGKILL);
    if (waitpid(sampler->child, &status, late ? 0 : WNOHANG) != sampler->child)
        return;
    if (late)
        note_problem(sampler, "the command took longer than %d s", (int)(command_limit / second));
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        note_problem(sampler, "the command ended with status %d",
                     WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    else
        take_output(sampler);
    close(sampler->output);
    sampler->output = -1;
    sampler->child = 0;
}

static void note_problem(struct sweep_sampler *sampler, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!sampler->problem[0])
        vsnprintf(sampler->problem, sizeof sampler->problem, format, args);
    va_end(args);
}

static void take_output(struct sweep_sampler *sampler)
{
    char *text = malloc(OUTPUT_MAX + 1);
    ssize_t got = text ? pread(sampler->output, text, OUTPUT_MAX, 0) : -1;
    if (got < 0) {
        note_problem(sampler, "cannot read the output of the command");
    } else {
        text[got] = '\0';
        take_lines(sampler, text);
    }
    free(text);
}

static void take_lines(struct sweep_sampler *sampler, char *text)
{
    struct row *row = sample_add_row(sampler, sampler->time);
    for (char *rest = text, *line; row && (line = strsep(&rest, "\n"));) {
        const char *name;
        double value;
        if (!line[strspn(line, " \t\r")])
            continue;
        if (sweep_sample_parse(line, &name, &value))
            sample_add_value(sampler, row, name, value);
        else
            note_problem(sampler, "expected lines of a name and a number, found \"%.80s\"", line);
    }
    if (row && row->count == 0) {
        note_problem(sampler, "the command printed nothing");
        sampler->count--;
    }
}

static struct row *sample_add_row(struct sweep_sampler *sampler, double time)
{
    struct row *grown = array_grow(sampler->rows, sampler->count, sizeof *grown);
    if (!grown) {
        note_problem(sampler, "out of memory");
        return NULL;
    }
    sampler->rows = grown;
    grown[sampler->count] = (struct row){.time = time};
    return &grown[sampler->count++];
}

static void sample_add_value(struct sweep_sampler *sampler, struct row *row, const char *name,
                             double value)
{
    if (isnan(value))
        return;
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(row->values[i].name, name) == 0) {
            note_problem(sampler, "\"%.64s\" occurs twice", name);
            return;
        }
    struct value *grown = array_grow(row->values, row->count, sizeof *grown);
    if (grown)
        row->values = grown;
    if (!grown || !(grown[row->count].name = strdup(name))) {
        note_problem(sampler, "out of memory");
        return;
    }
    grown[row->count++].value = value;
}

static void start_command(struct sweep_sampler *sampler, const struct sweep_watch *watch)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, sampler->command, NULL};
    sampler->output = memfd_create("sample", MFD_CLOEXEC);
    const struct sweep_child child = {.argv = argv,
                                      .input = -1,
                                      .output = sampler->output,
                                      .errors = -1,
                                      .kept = -1,
                                      .dies_with_us = true};
    sampler->time = unix_time();
    sampler->started = clock_now();
    sampler->child = sampler->output < 0 ? -errno : sweep_child_start(watch, &child);
    if (sampler->child < 0)
        note_problem(sampler, "cannot start the command: %s", strerror(-sampler->child));
    if (sampler->child <= 0) {
        sampler->child = 0;
        if (sampler->output >= 0)
            close(sampler->output);
        sampler->output = -1;
    }
}

static double unix_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / (double)second;
}

static void take_from_proc(struct sweep_sampler *sampler)
{
    struct sweep_usage usage;
    double time = unix_time();
    int result = sweep_proc_read(&sampler->proc, &usage);
    if (result < 0) {
        sampler->server_ended |= result == -ESRCH;
        note_problem(sampler, "%s",
                     result == -ESRCH ? "the processes of the server have ended"
                                      : strerror(-result));
        return;
    }
    struct row *row = sample_add_row(sampler, time);
    if (!row)
        return;
    sample_add_value(sampler, row, "cpu", usage.cpu);
    sample_add_value(sampler, row, "cores", usage.cores);
    sample_add_value(sampler, row, "memory", usage.memory);
    sample_add_value(sampler, row, "read", usage.read);
    sample_add_value(sampler, row, "written", usage.written);
    sample_add_value(sampler, row, "processes", usage.processes);
    for (size_t i = 0; i < usage.service_count; i++) {
        char name[SWEEP_SERVICE_SIZE + 16];
        snprintf(name, sizeof name, "processes.%s", usage.services[i].name);
        sample_add_value(sampler, row, name, usage.services[i].count);
    }
}

int sweep_sampler_merge(struct sweep_sampler *sampler, struct result *result)
{
    if (!sampler)
        return 0;
    size_t before = result->sample_count;
    int error = sampler->count > 0 ? merge_rows(sampler, result) : 0;
    if (!error && result->sample_count == before)
        note_problem(sampler, "none in this cell%s",
                     sampler->child > 0 ? ": the command takes longer than the cell" : "");
    return error;
}

static int merge_rows(const struct sweep_sampler *sampler, struct result *result)
{
    size_t before = result->sample_count;
    struct result_sample *all =
        result_alloc(result, before + sampler->count, sizeof *result->samples);
    if (!all)
        return -ENOMEM;
    if (before)
        memcpy(all, result->samples, before * sizeof *all);
    result->samples = all;
    for (size_t i = 0; i < sampler->count; i++) {
        const struct row *row = &sampler->rows[i];
        double t = row->time - result->start;
        if (t >= 0 && t <= result->window && merge_row(row, result) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int merge_row(const struct row *row, struct result *result)
{
    struct result_sample *to = &result->samples[result->sample_count];
    to->t = round((row->time - result->start) * 1000) / 1000;
    to->values = result_alloc(result, row->count, sizeof *to->values);
    if (!to->values)
        return -ENOMEM;
    for (size_t i = 0; i < row->count; i++) {
        to->values[i].name = result_text(result, row->values[i].name);
        to->values[i].value = row->values[i].value;
        if (!to->values[i].name)
            return -ENOMEM;
    }
    to->value_count = row->count;
    result->sample_count++;
    return 0;
}

bool sweep_sampler_server_ended(struct sweep_sampler *sampler)
{
    struct sweep_usage usage;
    /* It may have ended since the last sample. */
    if (sampler && !sampler->command && !sampler->server_ended)
        sampler->server_ended = sweep_proc_read(&sampler->proc, &usage) == -ESRCH;
    return sampler && sampler->server_ended;
}

const char *sweep_sampler_problem(const struct sweep_sampler *sampler)
{
    return sampler && sampler->problem[0] ? sampler->problem : NULL;
}

bool sweep_sample_parse(char *line, const char **name, double *value)
{
    char *end, *at = line + strspn(line, " \t");
    size_t length = strcspn(at, " \t");
    char *number = at + length + strspn(at + length, " \t");
    if (length == 0 || length > NAME_MAX_LENGTH || number == at + length || !*number)
        return false;
    *value = strtod(number, &end);
    bool plain = !strpbrk(number, "xXpP") && isfinite(*value) && end != number;
    if (!plain || end[strspn(end, " \t\r")] || (length == 1 && *at == 't'))
        return false;
    at[length] = '\0';
    *name = at;
    return true;
}
