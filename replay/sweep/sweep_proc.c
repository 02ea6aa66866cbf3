/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a server and the resources they use, from proc(5). */
#include "replay/sweep/sweep_proc.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { LISTENERS_MAX = 64, LINE_SIZE = 512, TEXT_SIZE = 4096 };

/* All processes of the machine. */
struct table {
    struct sweep_process *items;
    size_t count;
};

static size_t find_sockets(const struct sweep_proc *proc, const char *path, size_t words,
                           uint64_t inodes[LISTENERS_MAX], size_t count);
static bool parse_address(const char *digits, size_t words, uint32_t address[4]);
static bool accepts_connections(const struct sockaddr_storage *ours, const uint32_t address[4],
                                size_t words);
static bool is_any(const uint32_t *address, size_t words);
static int read_table(struct table *table);
static bool read_stat(pid_t pid, struct sweep_process *process, char service[SWEEP_SERVICE_SIZE]);
static bool proc_read_text(pid_t pid, const char *name, char *text, size_t size);
static int add_process(struct table *table, const struct sweep_process *process);
static int by_pid(const void *left, const void *right);
static bool holds_socket(pid_t pid, const uint64_t *inodes, size_t count);
static void mark_with_ancestors(const struct table *table, struct sweep_process *process);
static bool is_our_ancestor(const struct table *table, pid_t pid);
static struct sweep_process *find_process(const struct table *table, pid_t pid);
static bool same_program(pid_t one, pid_t other);
static void mark_descendants(const struct table *table);
static int proc_keep(struct sweep_proc *proc, const struct table *table);
static void mark_known(const struct sweep_proc *proc, const struct table *table);
static void add_usage(struct sweep_usage *usage, const struct sweep_process *process);
static double read_memory(pid_t pid);
static bool read_io(pid_t pid, double *in, double *out);
static void count_service(struct sweep_usage *usage, const char *name);
static double never_decreasing(double sum, double *last, double *lost);

bool sweep_proc_is_local(const struct sockaddr_storage *address)
{
    struct sockaddr_storage any_port = *address;
    socklen_t size =
        address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)&any_port)->sin_port = 0;
    else
        ((struct sockaddr_in6 *)&any_port)->sin6_port = 0;
    int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool local = fd >= 0 && bind(fd, (const struct sockaddr *)&any_port, size) == 0;
    if (fd >= 0)
        close(fd);
    return local;
}

int sweep_proc_open(struct sweep_proc *proc, const struct sockaddr_storage *address, unsigned port)
{
    uint64_t inodes[LISTENERS_MAX];
    struct table table = {0};
    *proc = (struct sweep_proc){.address = *address, .port = port};
    size_t count = find_sockets(proc, "/proc/net/tcp", 1, inodes, 0);
    count = find_sockets(proc, "/proc/net/tcp6", 4, inodes, count);
    if (count == 0)
        return -ENOENT;
    int result = read_table(&table);
    for (size_t i = 0; result == 0 && i < table.count; i++)
        if (holds_socket(table.items[i].pid, inodes, count))
            mark_with_ancestors(&table, &table.items[i]);
    if (result == 0) {
        mark_descendants(&table);
        result = proc_keep(proc, &table);
    }
    free(table.items);
    return result == 0 && proc->known_count == 0 ? -ENOENT : result;
}

/* Adds the inodes of the sockets that listen on the server's address and port. */
static size_t find_sockets(const struct sweep_proc *proc, const char *path, size_t words,
                           uint64_t inodes[LISTENERS_MAX], size_t count)
{
    char line[LINE_SIZE], local[40];
    FILE *file = fopen(path, "re");
    while (file && count < LISTENERS_MAX && fgets(line, sizeof line, file)) {
        uint32_t address[4];
        unsigned port, state;
        uint64_t inode;
        enum { LISTEN = 0x0a };
        if (sscanf(line, " %*d: %32[0-9A-F]:%4x %*[0-9A-F]:%*x %2x %*s %*s %*s %*u %*u %" SCNu64,
                   local, &port, &state, &inode) == 4 &&
            state == LISTEN && port == proc->port && strlen(local) == 8 * words &&
            parse_address(local, words, address) &&
            accepts_connections(&proc->address, address, words))
            inodes[count++] = inode;
    }
    if (file)
        fclose(file);
    return count;
}

/* Parses an address of /proc/net/tcp: 32-bit words in host byte order, in hexadecimal. */
static bool parse_address(const char *digits, size_t words, uint32_t address[4])
{
    for (size_t i = 0; i < words; i++)
        if (sscanf(digits + 8 * i, "%8" SCNx32, &address[i]) != 1)
            return false;
    return true;
}

/* Whether a socket bound to address accepts connections to ours. */
static bool accepts_connections(const struct sockaddr_storage *ours, const uint32_t address[4],
                                size_t words)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)ours;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)ours;
    const uint32_t mapped[3] = {0, 0, htonl(0xffff)};
    if (is_any(address, words))
        return words == 4 || ours->ss_family == AF_INET;
    if (ours->ss_family == AF_INET6)
        return words == 4 && memcmp(address, &six->sin6_addr, sizeof six->sin6_addr) == 0;
    if (words == 4)
        return memcmp(address, mapped, sizeof mapped) == 0 && address[3] == four->sin_addr.s_addr;
    return address[0] == four->sin_addr.s_addr;
}

static bool is_any(const uint32_t *address, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (address[i])
            return false;
    return true;
}

/* Sorted by pid. */
static int read_table(struct table *table)
{
    DIR *folder = opendir("/proc");
    int result = folder ? 0 : -errno;
    for (struct dirent *entry; result == 0 && (entry = readdir(folder));) {
        struct sweep_process process;
        char service[SWEEP_SERVICE_SIZE];
        if (isdigit((unsigned char)entry->d_name[0]) &&
            read_stat((pid_t)atoi(entry->d_name), &process, service))
            result = add_process(table, &process);
    }
    if (folder)
        closedir(folder);
    if (table->count > 0)
        qsort(table->items, table->count, sizeof *table->items, by_pid);
    return result;
}

/* proc(5), /proc/pid/stat. The name can contain anything; the next field follows the last ")". */
static bool read_stat(pid_t pid, struct sweep_process *process, char service[SWEEP_SERVICE_SIZE])
{
    char text[TEXT_SIZE];
    if (!proc_read_text(pid, "stat", text, sizeof text))
        return false;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    uint64_t user, system, child_user, child_system;
    int parent;
    if (!open || !close || close < open ||
        sscanf(close + 1,
               " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %*d %*d %*d %*d %" SCNu64,
               &parent, &user, &system, &child_user, &child_system, &process->started) != 6)
        return false;
    process->pid = pid;
    process->parent = (pid_t)parent;
    process->cpu =
        (double)(user + system + child_user + child_system) / (double)sysconf(_SC_CLK_TCK);
    process->ours = false;
    *close = '\0';
    snprintf(service, SWEEP_SERVICE_SIZE, "%.*s", (int)strcspn(open + 1, "([ :/"), open + 1);
    return true;
}

/* Reads a file of a process as text. False: the process has ended, or is not visible. */
static bool proc_read_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

static int add_process(struct table *table, const struct sweep_process *process)
{
    struct sweep_process *grown = array_grow(table->items, table->count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    table->items = grown;
    grown[table->count++] = *process;
    return 0;
}

static int by_pid(const void *left, const void *right)
{
    const struct sweep_process *a = left, *b = right;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static bool holds_socket(pid_t pid, const uint64_t *inodes, size_t count)
{
    char path[64], link[64];
    bool held = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !held && (entry = readdir(folder));) {
        uint64_t inode;
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
        link[length < 0 ? 0 : length] = '\0';
        if (sscanf(link, "socket:[%" SCNu64 "]", &inode) != 1)
            continue;
        for (size_t i = 0; i < count; i++)
            held = held || inodes[i] == inode;
    }
    if (folder)
        closedir(folder);
    return held;
}

/* Marks a listener, its parent, and the ancestors that run the same program. */
static void mark_with_ancestors(const struct table *table, struct sweep_process *process)
{
    bool first = true;
    while (process && process->pid > 1 && !is_our_ancestor(table, process->pid)) {
        struct sweep_process *parent = find_process(table, process->parent);
        bool same = parent && same_program(process->pid, parent->pid);
        process->ours = true;
        process = same || first ? parent : NULL;
        first = false;
    }
}

/* Whether a process is this one or one of its ancestors: a shell that started both the server and
 * this program does not belong to the server. */
static bool is_our_ancestor(const struct table *table, pid_t pid)
{
    const struct sweep_process *process = find_process(table, getpid());
    while (process && process->pid != pid && process->parent != process->pid)
        process = find_process(table, process->parent);
    return process != NULL;
}

static struct sweep_process *find_process(const struct table *table, pid_t pid)
{
    const struct sweep_process key = {.pid = pid};
    return table->count == 0
               ? NULL
               : bsearch(&key, table->items, table->count, sizeof *table->items, by_pid);
}

static bool same_program(pid_t one, pid_t other)
{
    char path[64], left[TEXT_SIZE], right[TEXT_SIZE];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)one);
    ssize_t a = readlink(path, left, sizeof left);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)other);
    ssize_t b = readlink(path, right, sizeof right);
    return a > 0 && a == b && memcmp(left, right, (size_t)a) == 0;
}

/* Marks all descendants of marked processes. */
static void mark_descendants(const struct table *table)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < table->count; i++) {
            struct sweep_process *process = &table->items[i];
            if (process->ours || process->pid == getpid())
                continue;
            const struct sweep_process *parent = find_process(table, process->parent);
            process->ours = parent && parent->ours;
            more = more || process->ours;
        }
    }
}

static int proc_keep(struct sweep_proc *proc, const struct table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += table->items[i].ours;
    struct sweep_process *known = calloc(count + 1, sizeof *known);
    if (!known)
        return -ENOMEM;
    free(proc->known);
    proc->known = known;
    proc->known_count = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i].ours)
            known[proc->known_count++] = table->items[i];
    return 0;
}

void sweep_proc_clear(struct sweep_proc *proc)
{
    free(proc->known);
    *proc = (struct sweep_proc){0};
}

int sweep_proc_read(struct sweep_proc *proc, struct sweep_usage *usage)
{
    struct table table = {0};
    *usage = (struct sweep_usage){.cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    int result = read_table(&table);
    if (result == 0) {
        mark_known(proc, &table);
        mark_descendants(&table);
        result = proc_keep(proc, &table);
    }
    for (size_t i = 0; result == 0 && i < proc->known_count; i++)
        add_usage(usage, &proc->known[i]);
    free(table.items);
    if (result == 0 && usage->processes == 0)
        return -ESRCH;
    usage->cpu = never_decreasing(usage->cpu, &proc->cpu, &proc->cpu_lost);
    usage->read = never_decreasing(usage->read, &proc->read, &proc->read_lost);
    usage->written = never_decreasing(usage->written, &proc->written, &proc->written_lost);
    return result;
}

/* Marks the processes of the last reading, even if they have another parent now. */
static void mark_known(const struct sweep_proc *proc, const struct table *table)
{
    for (size_t i = 0; i < proc->known_count; i++) {
        struct sweep_process *process = find_process(table, proc->known[i].pid);
        if (process && process->started == proc->known[i].started)
            process->ours = true;
    }
}

static void add_usage(struct sweep_usage *usage, const struct sweep_process *process)
{
    struct sweep_process now;
    char service[SWEEP_SERVICE_SIZE] = {0};
    double in = NAN, out = NAN;
    usage->cpu += process->cpu;
    if (!read_stat(process->pid, &now, service))
        return; /* it ended just now */
    usage->memory += read_memory(process->pid);
    read_io(process->pid, &in, &out);
    usage->read += in;
    usage->written += out;
    usage->processes++;
    count_service(usage, service[0] ? service : "unnamed");
}

static double read_memory(pid_t pid)
{
    char text[LINE_SIZE];
    uint64_t resident;
    if (!proc_read_text(pid, "statm", text, sizeof text) ||
        sscanf(text, "%*u %" SCNu64, &resident) != 1)
        return 0;
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static bool read_io(pid_t pid, double *in, double *out)
{
    char text[LINE_SIZE];
    if (!proc_read_text(pid, "io", text, sizeof text))
        return false;
    const char *read_line = strstr(text, "\nread_bytes: ");
    const char *write_line = strstr(text, "\nwrite_bytes: ");
    if (!read_line || !write_line)
        return false;
    *in = strtod(read_line + strlen("\nread_bytes: "), NULL);
    *out = strtod(write_line + strlen("\nwrite_bytes: "), NULL);
    return true;
}

static void count_service(struct sweep_usage *usage, const char *name)
{
    size_t i = 0;
    while (i < usage->service_count && strcmp(usage->services[i].name, name) != 0)
        i++;
    if (i == SWEEP_SERVICES_MAX)
        return; /* usage->processes includes it */
    if (i == usage->service_count)
        memcpy(usage->services[usage->service_count++].name, name, SWEEP_SERVICE_SIZE);
    usage->services[i].count++;
}

/* The usage of an ended process moves to its parent when that waits for it. Otherwise it is lost
 * and the sum decreases. To keep sums growing, the loss is added to all later sums. */
static double never_decreasing(double sum, double *last, double *lost)
{
    if (isnan(sum))
        return sum;
    if (sum + *lost < *last)
        *lost = *last - sum;
    *last = sum + *lost;
    return *last;
}
