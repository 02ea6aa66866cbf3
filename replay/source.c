/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int read_cidr(const char *text, struct source_range *range, int *length);
static int address_bits(int family);
static void clear_host_bits(struct source_range *range, int length);
static void address_add(uint8_t *address, int bytes, uint64_t number);
static int source_check_bind(const struct source_range *range, uint64_t client,
                             struct error *error);
static int try_bind(const struct sockaddr_storage *address, socklen_t size);

int source_parse(const char *text, struct source_range *range, struct error *error)
{
    *range = (struct source_range){.text = text};
    if (!text)
        return 0;
    int length;
    if (read_cidr(text, range, &length))
        return error_set(error, -EINVAL,
                         "--source %s: expected ADDRESS/LENGTH, such as 10.1.0.0/16 or fd00::/64",
                         text);
    int host_bits = address_bits(range->family) - length;
    if (host_bits == 0) {
        range->count = 1;
        return 0;
    }
    clear_host_bits(range, length);
    range->count = host_bits < 64 ? (uint64_t)1 << host_bits : UINT64_MAX;
    if (host_bits > 1) {
        address_add(range->first, address_bits(range->family) / 8, 1);
        range->count -= range->family == AF_INET ? 2 : 1;
    }
    return 0;
}

/* Splits "address/length". Without a length, it is that of the whole address. */
static int read_cidr(const char *text, struct source_range *range, int *length)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t size = slash ? (size_t)(slash - text) : strlen(text);
    if (size >= sizeof address)
        return -EINVAL;
    memcpy(address, text, size);
    address[size] = 0;
    range->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(range->family, address, range->first) != 1)
        return -EINVAL;
    *length = address_bits(range->family);
    if (!slash)
        return 0;
    char *end;
    long value = strtol(slash + 1, &end, 10);
    if (slash[1] < '0' || slash[1] > '9' || *end || value > *length)
        return -EINVAL;
    *length = (int)value;
    return 0;
}

static int address_bits(int family)
{
    return family == AF_INET ? 32 : 128;
}

static void clear_host_bits(struct source_range *range, int length)
{
    for (int bit = length; bit < address_bits(range->family); bit++)
        range->first[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

/* Adds a number to an address in network byte order. */
static void address_add(uint8_t *address, int bytes, uint64_t number)
{
    for (int i = bytes - 1; i >= 0 && number > 0; i--) {
        uint64_t sum = address[i] + (number & 0xff);
        address[i] = (uint8_t)sum;
        number = (number >> 8) + (sum >> 8);
    }
}

socklen_t source_address(const struct source_range *range, uint64_t client,
                         struct sockaddr_storage *out)
{
    uint8_t address[16];
    memcpy(address, range->first, sizeof address);
    if (range->count > 1)
        address_add(address, address_bits(range->family) / 8, client);
    *out = (struct sockaddr_storage){.ss_family = (sa_family_t)range->family};
    if (range->family == AF_INET) {
        memcpy(&((struct sockaddr_in *)out)->sin_addr, address, 4);
        return sizeof(struct sockaddr_in);
    }
    memcpy(&((struct sockaddr_in6 *)out)->sin6_addr, address, 16);
    return sizeof(struct sockaddr_in6);
}

int source_check(const struct source_range *range, uint64_t clients, int peer_family,
                 struct error *error)
{
    if (!range->family)
        return 0;
    if (range->family != peer_family)
        return error_set(
            error, -EINVAL,
            "--source %s: the server has an %s address; give a range of the same family",
            range->text, peer_family == AF_INET ? "IPv4" : "IPv6");
    if (range->count > 1 && range->count < clients)
        return error_set(error, -EINVAL,
                         "--source %s holds %llu addresses for %llu clients; give a larger range",
                         range->text, (unsigned long long)range->count,
                         (unsigned long long)clients);
    int result = 0;
    for (uint64_t i = 0; !result && i < clients && i < range->count; i++)
        result = source_check_bind(range, i, error);
    return result;
}

static int source_check_bind(const struct source_range *range, uint64_t client, struct error *error)
{
    struct sockaddr_storage address;
    socklen_t size = source_address(range, client, &address);
    int result = try_bind(&address, size);
    if (!result)
        return 0;
    char host[INET6_ADDRSTRLEN] = "?";
    bool v4 = range->family == AF_INET;
    inet_ntop(range->family,
              v4 ? (void *)&((struct sockaddr_in *)&address)->sin_addr
                 : (void *)&((struct sockaddr_in6 *)&address)->sin6_addr,
              host, sizeof host);
    if (result == -EADDRNOTAVAIL && v4)
        return error_set(
            error, result,
            "--source %s: %s is not an address of this machine; to add the range, run: "
            "ip route add local %s dev lo",
            range->text, host, range->text);
    if (result == -EADDRNOTAVAIL)
        return error_set(error, result,
                         "--source %s: %s is not an address of this machine; to add it, run: ip "
                         "address add %s/128 dev INTERFACE nodad",
                         range->text, host, host);
    return error_set(error, result, "--source %s: cannot bind %s: %s", range->text, host,
                     strerrordesc_np(-result));
}

static int try_bind(const struct sockaddr_storage *address, socklen_t size)
{
    int fd = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = bind(fd, (const struct sockaddr *)address, size) < 0 ? -errno : 0;
    close(fd);
    return error;
}
