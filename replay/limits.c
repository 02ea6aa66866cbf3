/* SPDX-License-Identifier: Apache-2.0 */
/* Open files and memory mappings. */
#include "replay/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "replay/loop.h"

/* What a conversation keeps open for a protocol's packets at most, as a rule: an LDAP connection
 * and the one that a further bind makes, one SMB2 connection, one TCP connection for each RPC
 * interface. What stands in one line shares its connection. */
static const struct {
    const char *protocols[4];
    unsigned files;
} holdings[] = {
    {{"ldap"}, 3},         {{"smb2", "smb", "lsarpc", "srvsvc"}, 1},
    {{"rpc_netlogon"}, 1}, {{"lsarpc"}, 1},
    {{"samr"}, 1},         {{"drsuapi"}, 1},
};

static bool plays(const struct compiled *compiled, const char *protocol)
{
    for (size_t i = 0; i < compiled->type_count; i++)
        if (compiled->types[i].part == RUN_OPERATION &&
            strcmp(compiled->types[i].packet->protocol, protocol) == 0)
            return true;
    return false;
}

unsigned limits_files_a_client(const struct compiled *compiled)
{
    unsigned files = 1; /* for the exchange of the moment: Kerberos, DNS, CLDAP, endpoint mapper */
    for (size_t i = 0; i < sizeof holdings / sizeof holdings[0]; i++)
        for (size_t p = 0; p < 4 && holdings[i].protocols[p]; p++)
            if (plays(compiled, holdings[i].protocols[p])) {
                files += holdings[i].files;
                break;
            }
    return files;
}

static int prepare_files(uint64_t files, char *error, size_t error_size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    if (limit.rlim_cur >= files)
        return 0;
    struct rlimit wanted = {.rlim_cur = files, .rlim_max = limit.rlim_max};
    if (wanted.rlim_max < files)
        wanted.rlim_max = files; /* only root may, up to fs.nr_open */
    if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
        return 0;
    snprintf(
        error, error_size,
        "this run may need %llu open files, but the hard limit is %llu; raise it as root with: "
        "sysctl -w fs.nr_open=%llu; prlimit --pid $$ --nofile=%llu",
        (unsigned long long)files, (unsigned long long)limit.rlim_max,
        (unsigned long long)(files < 1048576 ? 1048576 : files), (unsigned long long)files);
    return -EMFILE;
}

/* A number in a file of /proc; 0 when there is none. */
static uint64_t read_number(const char *path)
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

static int prepare_mappings(uint64_t fibers, char *error, size_t error_size)
{
    enum { OTHERS = 500 }; /* heaps and threads' stacks that are still to come */
    uint64_t most = read_number("/proc/sys/vm/max_map_count");
    uint64_t needed = mappings_now() + OTHERS + loop_maps_needed(fibers);
    if (most == 0 || needed <= most)
        return 0;
    snprintf(error, error_size,
             "%llu clients may wait at a time, which takes %llu memory mappings, but "
             "vm.max_map_count is %llu; raise it as root with: sysctl -w vm.max_map_count=%llu",
             (unsigned long long)fibers, (unsigned long long)needed, (unsigned long long)most,
             (unsigned long long)needed);
    return -ENOMEM;
}

int limits_prepare(uint64_t files, uint64_t fibers, char *error, size_t error_size)
{
    int result = prepare_files(files, error, error_size);
    return result ? result : prepare_mappings(fibers, error, error_size);
}
