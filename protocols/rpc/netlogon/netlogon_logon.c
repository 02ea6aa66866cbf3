/* SPDX-License-Identifier: Apache-2.0 */
#include "protocols/rpc/netlogon/netlogon_logon.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/little_endian.h"
#include "base/utf16.h"
#include "protocols/auth/ntlmssp.h"

/* MS-NLMP 2.2.2.1 */
enum av_id {
    AV_EOL = 0,
    AV_NB_COMPUTER_NAME = 1,
    AV_NB_DOMAIN_NAME = 2,
    AV_DNS_COMPUTER_NAME = 3,
    AV_DNS_DOMAIN_NAME = 4,
    AV_DNS_TREE_NAME = 5,
    AV_FLAGS = 6,
    AV_TIMESTAMP = 7,
    AV_TARGET_NAME = 9,
    AV_CHANNEL_BINDINGS = 10
};

enum { AV_HEADER = 4, TARGET_INFO_MAX = 4096, AV_FLAG_MIC = 2 };

/* AV pairs in the making. */
struct target_info {
    uint8_t bytes[TARGET_INFO_MAX];
    size_t size;
    int error; /* the first, a negative errno */
};

static int respond(const struct conversation *conversation, const uint8_t challenge[8],
                   const struct target_info *info, uint64_t now, uint8_t **response, size_t *size);
static void describe_target(const struct conversation *conversation, const char *computer,
                            uint64_t now, struct arena *arena, struct target_info *info);
static void add_name(struct target_info *info, enum av_id id, const char *name);
static void add_pair(struct target_info *info, enum av_id id, const void *value, size_t size);
static uint64_t netlogon_logon_filetime_now(void);

struct outcome netlogon_logon_make(const struct conversation *conversation, char *computer,
                                   struct arena *arena, struct netlogon_network *network)
{
    struct target_info info = {.size = 0};
    uint8_t *response = NULL;
    size_t size = 0;
    uint64_t now = netlogon_logon_filetime_now();
    *network = (struct netlogon_network){.domain = conversation->dc->netbios_domain,
                                         .account = conversation->user->name,
                                         .workstation = computer};
    if (!conversation->user->has_nt_hash)
        return outcome_failed("no credentials for the account");
    describe_target(conversation, computer, now, arena, &info);
    int rc = info.error;
    if (rc == 0 && gnutls_rnd(GNUTLS_RND_NONCE, network->challenge, sizeof network->challenge) < 0)
        rc = -EIO;
    if (rc == 0)
        rc = respond(conversation, network->challenge, &info, now, &response, &size);
    uint8_t *copy = rc == 0 ? arena_alloc(arena, size) : NULL;
    if (copy)
        memcpy(copy, response, size);
    else if (rc == 0)
        rc = -ENOMEM;
    free(response);
    network->nt = (struct netlogon_response){.size = (uint16_t)size, .bytes = copy};
    return rc ? outcome_of_error(rc) : outcome_ok();
}

/* FILETIME: 100 ns since 1601. */
static uint64_t netlogon_logon_filetime_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec + UINT64_C(11644473600)) * 10000000 + (uint64_t)now.tv_nsec / 100;
}

/* The AV pairs of the machine's challenge, and those that its client adds (MS-NLMP 3.1.5.1.2). A DC
 * compares the NetBIOS names with those of the channel (MS-NRPC 3.5.4.5.1.1). */
static void describe_target(const struct conversation *conversation, const char *computer,
                            uint64_t now, struct arena *arena, struct target_info *info)
{
    static const uint8_t no_bindings[16] = {0};
    const struct dc *dc = conversation->dc;
    uint8_t flags[4], time[8];
    char service[300];
    const char *dns_name = netlogon_dns_name(conversation, computer, arena);
    if (!dns_name) {
        info->error = -ENOMEM;
        return;
    }
    snprintf(service, sizeof service, "cifs/%s", dns_name);
    le_put64(time, now);
    le_put32(flags, AV_FLAG_MIC);
    add_name(info, AV_NB_DOMAIN_NAME, dc->netbios_domain);
    add_name(info, AV_NB_COMPUTER_NAME, computer);
    add_name(info, AV_DNS_DOMAIN_NAME, dc->dns_domain);
    add_name(info, AV_DNS_COMPUTER_NAME, dns_name);
    add_name(info, AV_DNS_TREE_NAME, dc->forest);
    add_pair(info, AV_TIMESTAMP, time, sizeof time);
    add_pair(info, AV_FLAGS, flags, sizeof flags);
    add_pair(info, AV_CHANNEL_BINDINGS, no_bindings, sizeof no_bindings);
    add_name(info, AV_TARGET_NAME, service);
    add_pair(info, AV_EOL, NULL, 0);
}

/* name NULL: the pair is left out. */
static void add_name(struct target_info *info, enum av_id id, const char *name)
{
    uint8_t *wide = NULL;
    size_t size = 0;
    if (!name || info->error)
        return;
    info->error = utf16le_from_utf8(name, &wide, &size);
    if (!info->error)
        add_pair(info, id, wide, size);
    free(wide);
}

static void add_pair(struct target_info *info, enum av_id id, const void *value, size_t size)
{
    if (!info->error && size > sizeof info->bytes - info->size - AV_HEADER)
        info->error = -EMSGSIZE;
    if (info->error)
        return;
    uint8_t *to = info->bytes + info->size;
    le_put16(to, id);
    le_put16(to + 2, size);
    if (size)
        memcpy(to + AV_HEADER, value, size);
    info->size += AV_HEADER + size;
}

static int respond(const struct conversation *conversation, const uint8_t challenge[8],
                   const struct target_info *info, uint64_t now, uint8_t **response, size_t *size)
{
    uint8_t key[16], client_challenge[8];
    const struct account *user = conversation->user;
    int rc = ntlmssp_ntowf_v2(user->nt_hash, user->name, conversation->dc->netbios_domain, key);
    if (rc == 0 && gnutls_rnd(GNUTLS_RND_NONCE, client_challenge, sizeof client_challenge) < 0)
        rc = -EIO;
    if (rc == 0)
        rc = ntlmssp_v2_response(key, challenge, client_challenge, now, info->bytes, info->size,
                                 response, size, NULL);
    explicit_bzero(key, sizeof key);
    return rc;
}

char *netlogon_dns_name(const struct conversation *conversation, const char *computer,
                        struct arena *arena)
{
    const char *domain = conversation->dc->dns_domain;
    size_t length = strlen(computer), size = length + 1 + strlen(domain) + 1;
    char *name = arena_alloc(arena, size);
    if (!name)
        return NULL;
    snprintf(name, size, "%s.%s", computer, domain);
    for (size_t i = 0; i < length; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] + 32);
    return name;
}
