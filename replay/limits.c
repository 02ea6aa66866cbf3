/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "replay/engine/loop.h"

static unsigned connections_used(const struct model *model, const struct play_table *table);
static unsigned ldap_connections(const struct model *model);
static int prepare_files(uint64_t files, struct error *error);
static int prepare_mappings(uint64_t fibers, struct error *error);
static uint64_t limits_read_number(const char *path);
static uint64_t mappings_now(void);

unsigned limits_files_per_client(const struct model *model, const struct play_table *table,
                                 const struct settings *settings)
{
    static const unsigned held[] = {PACKET_CONNECTION_SMB, PACKET_CONNECTION_NETLOGON,
                                    PACKET_CONNECTION_SAMR, PACKET_CONNECTION_DRSUAPI,
                                    PACKET_CONNECTION_LOCATOR};
    unsigned used = connections_used(model, table);
    unsigned files = used & PACKET_CONNECTION_LDAP ? ldap_connections(model) : 0;
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        files += (used & held[i]) != 0;
    /* Authentication to a DC may fetch a Kerberos ticket in between. */
    bool brief = !settings->play.generic_ldap || used & PACKET_CONNECTION_BRIEF;
    return files + brief;
}

/* The connections that the operations of this run use. */
static unsigned connections_used(const struct model *model, const struct play_table *table)
{
    size_t count;
    unsigned used = 0;
    const struct model_type *types = model_types(model, &count);
    for (packet_index i = 0; i < count; i++)
        if (table->rows[i].part == RUN_OPERATION)
            used |= types[i].row->protocol->connections | types[i].row->connections;
    return used;
}

/* The usual number of LDAP connections: each bind opens one, each unbind closes one. */
static unsigned ldap_connections(const struct model *model)
{
    size_t count;
    double open = 0;
    const struct model_type *types = model_types(model, &count);
    for (packet_index i = 0; i < count; i++)
        if (types[i].row)
            open += types[i].row->opens * types[i].visits;
    return open < 1 ? 1 : (unsigned)ceil(fmin(open, 100) - 0.05);
}

int limits_prepare(uint64_t files, uint64_t fibers, struct error *error)
{
    int result = prepare_files(files, error);
    return result ? result : prepare_mappings(fibers, error);
}

static int prepare_files(uint64_t files, struct error *error)
{
    enum { MARGIN = 4 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_set(error, -errno, "getrlimit: %s", strerror(errno));
    struct rlimit wanted = {.rlim_cur = files * MARGIN, .rlim_max = limit.rlim_max};
    if (wanted.rlim_cur > limit.rlim_max)
        wanted.rlim_cur = limit.rlim_max;
    if (limit.rlim_max < files) /* only with CAP_SYS_RESOURCE, and up to fs.nr_open */
        wanted.rlim_cur = wanted.rlim_max = files;
    if (limit.rlim_cur >= wanted.rlim_cur || setrlimit(RLIMIT_NOFILE, &wanted) == 0)
        return 0;
    return error_set(
        error, -EMFILE,
        "this many clients need %llu open files, but the hard limit is %llu; raise it, as root: "
        "prlimit --nofile=%llu --pid $$",
        (unsigned long long)files, (unsigned long long)limit.rlim_max, (unsigned long long)files);
}

static int prepare_mappings(uint64_t fibers, struct error *error)
{
    enum { OTHERS = 500 }; /* later heaps and threads' stacks */
    uint64_t most = limits_read_number("/proc/sys/vm/max_map_count");
    uint64_t needed = mappings_now() + OTHERS + loop_maps_needed(fibers);
    if (most == 0 || needed <= most)
        return 0;
    return error_set(
        error, -ENOMEM,
        "up to %llu clients wait at the same time and need %llu memory mappings, but "
        "vm.max_map_count is %llu; raise it as root with: sysctl -w vm.max_map_count=%llu",
        (unsigned long long)fibers, (unsigned long long)needed, (unsigned long long)most,
        (unsigned long long)needed);
}

/* The number in a file of /proc; 0 if there is none. */
static uint64_t limits_read_number(const char *path)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &number) != 1)
        number = 0;
    fclose(file);
    return number;
}

static uint64_t mappings_now(void)
{
    uint64_t lines = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file)
        return 0;
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}
