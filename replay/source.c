/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "replay/accounts/discover.h"

enum { SHORTEST_PREFIX = 8 };

static int read_cidr(const char *text, struct source_range *range, int *length);
static int address_bits(int family);
static int refuse_unusable(const struct source_range *range, struct error *error);
static void clear_host_bits(struct source_range *range, int length);
static void address_add(uint8_t *address, int bytes, uint64_t number);
static int source_check_bind(const struct source_range *range, uint64_t client, const char *server,
                             struct error *error);
static int server_family(const struct source_range *range, const char *server);
static const char *family_name(int family);
static int try_bind(const struct sockaddr_storage *address, socklen_t size);
static void address_text(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN]);
static int advise(const struct source_range *range, const char *host, const char *server,
                  struct error *error);
static bool holds_server(const struct source_range *range, const char *server, char *whose,
                         size_t size);
static bool range_holds(const struct source_range *range, const struct sockaddr *address);
static bool holds_interface(const struct source_range *range, char *whose, size_t size);
static bool holds_route(const struct source_range *range, char *whose, size_t size);
static bool is_public(const struct source_range *range, char *whose, size_t size);

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
    range->length = length;
    int result = refuse_unusable(range, error);
    if (result)
        return result;
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

/* Such a range cannot be anybody's clients, or holds most of the Internet. */
static int refuse_unusable(const struct source_range *range, struct error *error)
{
    static const uint8_t unspecified[16];
    bool v4 = range->family == AF_INET;
    uint8_t first = range->first[0];
    if (range->length < SHORTEST_PREFIX)
        return error_set(error, -EINVAL, "--source %s: the range is too large; give /%d or longer",
                         range->text, SHORTEST_PREFIX);
    if (v4 ? first >= 224 && first < 240 : first == 0xff)
        return error_set(error, -EINVAL,
                         "--source %s: multicast addresses cannot be the source of anything",
                         range->text);
    if (!v4 && first == 0xfe && (range->first[1] & 0xc0) == 0x80)
        return error_set(error, -EINVAL,
                         "--source %s: link-local addresses are not supported; give global or "
                         "unique local (fd00::/8) ones",
                         range->text);
    if (v4 ? first == 0 || first >= 240 : memcmp(range->first, unspecified, 16) == 0)
        return error_set(error, -EINVAL, "--source %s: these addresses are reserved", range->text);
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

int source_check(const struct source_range *range, uint64_t clients, const char *server,
                 int peer_family, struct error *error)
{
    if (!range->family)
        return 0;
    if (!peer_family)
        peer_family = server_family(range, server);
    if (range->family != peer_family)
        return error_set(error, -EINVAL,
                         "--source %s: the server has an %s address; give an %s range, or "
                         "NAME=ADDRESS with an %s address of the server",
                         range->text, family_name(peer_family), family_name(peer_family),
                         family_name(range->family));
    if (range->count > 1 && range->count < clients)
        return error_set(error, -EINVAL,
                         "--source %s holds %llu addresses for %llu clients; give a larger range",
                         range->text, (unsigned long long)range->count,
                         (unsigned long long)clients);
    int result = 0;
    for (uint64_t i = 0; !result && i < clients && i < range->count; i++)
        result = source_check_bind(range, i, server, error);
    return result;
}

/* The family of the server's addresses; the range's if one has it, or if they are not known. */
static int server_family(const struct source_range *range, const char *server)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char name[DISCOVER_HOST_SIZE];
    int family = range->family;
    if (!server || discover_host(server, name) < 0 || getaddrinfo(name, NULL, &hints, &found) != 0)
        return family;
    const struct addrinfo *item = found;
    while (item && item->ai_family != family)
        item = item->ai_next;
    if (!item)
        family = found->ai_family;
    freeaddrinfo(found);
    return family;
}

static const char *family_name(int family)
{
    return family == AF_INET ? "IPv4" : "IPv6";
}

static int source_check_bind(const struct source_range *range, uint64_t client, const char *server,
                             struct error *error)
{
    struct sockaddr_storage address;
    socklen_t size = source_address(range, client, &address);
    int result = try_bind(&address, size);
    if (!result)
        return 0;
    char host[INET6_ADDRSTRLEN] = "?";
    address_text(&address, host);
    if (result == -EADDRNOTAVAIL)
        return advise(range, host, server, error);
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

static void address_text(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes = address->ss_family == AF_INET
                            ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    inet_ntop(address->ss_family, bytes, text, INET6_ADDRSTRLEN);
}

/*
 * How to get the addresses. The kernel looks at local routes first, so a local route to a range in
 * use would cut this machine off: from the server, from the administrator's ssh, from its network.
 */
static int advise(const struct source_range *range, const char *host, const char *server,
                  struct error *error)
{
    char whose[160];
    if (holds_server(range, server, whose, sizeof whose) ||
        holds_interface(range, whose, sizeof whose) || holds_route(range, whose, sizeof whose) ||
        is_public(range, whose, sizeof whose))
        return error_set(
            error, -EINVAL,
            "--source %s: %s is not an address of this machine, and the range %s; give "
            "a private range that nothing uses",
            range->text, host, whose);
    if (range->family == AF_INET)
        return error_set(
            error, -EADDRNOTAVAIL,
            "--source %s: %s is not an address of this machine; to add the range, run: "
            "ip route add local %s dev lo",
            range->text, host, range->text);
    return error_set(error, -EADDRNOTAVAIL,
                     "--source %s: %s is not an address of this machine; to add it, run: ip "
                     "address add %s/128 dev INTERFACE nodad",
                     range->text, host, host);
}

/* server is NAME=ADDRESS, a name, an address, or NULL. */
static bool holds_server(const struct source_range *range, const char *server, char *whose,
                         size_t size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char name[DISCOVER_HOST_SIZE];
    bool holds = false;
    if (!server || discover_host(server, name) < 0 || getaddrinfo(name, NULL, &hints, &found) != 0)
        return false;
    for (const struct addrinfo *item = found; item && !holds; item = item->ai_next)
        holds = range_holds(range, item->ai_addr);
    freeaddrinfo(found);
    if (holds)
        snprintf(whose, size, "holds the server's address");
    return holds;
}

static bool range_holds(const struct source_range *range, const struct sockaddr *address)
{
    if (!address || address->sa_family != range->family)
        return false;
    const uint8_t *bytes =
        range->family == AF_INET
            ? (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr
            : (const uint8_t *)&((const struct sockaddr_in6 *)address)->sin6_addr;
    for (int bit = 0; bit < range->length; bit++)
        if ((bytes[bit / 8] ^ range->first[bit / 8]) & (0x80 >> bit % 8))
            return false;
    return true;
}

static bool holds_interface(const struct source_range *range, char *whose, size_t size)
{
    struct ifaddrs *interfaces = NULL;
    bool holds = false;
    if (getifaddrs(&interfaces) != 0)
        return false;
    for (const struct ifaddrs *item = interfaces; item && !holds; item = item->ifa_next) {
        holds = range_holds(range, item->ifa_addr);
        if (holds)
            snprintf(whose, size, "holds this machine's address on %s", item->ifa_name);
    }
    freeifaddrs(interfaces);
    return holds;
}

/* Whether the range overlaps with an IPv4 route other than the default one, or holds a gateway. An
 * IPv6 address is added alone, so its routes do not matter. */
static bool holds_route(const struct source_range *range, char *whose, size_t size)
{
    if (range->family != AF_INET)
        return false;
    FILE *file = fopen("/proc/net/route", "re");
    char line[256], name[32];
    unsigned destination, gateway, flags, mask;
    uint32_t first, own = range->length ? ~(uint32_t)0 << (32 - range->length) : 0;
    bool holds = false;
    memcpy(&first, range->first, sizeof first);
    first = ntohl(first);
    while (file && !holds && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %x %x %x %*d %*d %*d %x", name, &destination, &gateway, &flags,
                   &mask) != 5)
            continue;
        uint32_t both = own & ntohl(mask);
        holds = (mask && ((first ^ ntohl(destination)) & both) == 0) ||
                (gateway && ((first ^ ntohl(gateway)) & own) == 0);
        if (holds)
            snprintf(whose, size, "overlaps with a route of this machine on %s", name);
    }
    if (file)
        fclose(file);
    return holds;
}

/* Whether IPv4 addresses of the range belong to somebody else (RFC 6890). */
static bool is_public(const struct source_range *range, char *whose, size_t size)
{
    static const char *const private_ranges[] = {
        "10.0.0.0/8",   "172.16.0.0/12", "192.168.0.0/16",  "100.64.0.0/10", "127.0.0.0/8",
        "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"};
    if (range->family != AF_INET)
        return false;
    struct sockaddr_in first = {.sin_family = AF_INET};
    memcpy(&first.sin_addr, range->first, sizeof first.sin_addr);
    for (size_t i = 0; i < sizeof private_ranges / sizeof private_ranges[0]; i++) {
        struct source_range other = {0};
        if (read_cidr(private_ranges[i], &other, &other.length) == 0 &&
            range->length >= other.length && range_holds(&other, (struct sockaddr *)&first))
            return false;
    }
    snprintf(whose, size, "belongs to others on the Internet");
    return true;
}
