/* SPDX-License-Identifier: Apache-2.0 */
#include <nettle/md4.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/little_endian.h"
#include "base/utf16.h"
#include "protocols/rpc/netlogon/netlogon_channel.h"
#include "tests/lib/windows/standin_rpc.h"

enum {
    AUTH_NETLOGON = 68,
    ACCESS_DENIED = 5,
    REVISION_MISMATCH = 1306,
    RECYCLE_BIN = 4,
    LOOKUP_NAMES4 = 77,
    TRUST_PASSWORD = 516
};
static const uint32_t none_mapped = 0xc0000073, logon_failure = 0xc000006d;

static const uint8_t netlogon_uuid[] = {0x78, 0x56, 0x34, 0x12, 0x34, 0x12, 0xcd, 0xab,
                                        0xef, 0x00, 0x01, 0x23, 0x45, 0x67, 0xcf, 0xfb};
static const uint8_t lsarpc_uuid[] = {0x78, 0x57, 0x34, 0x12, 0x34, 0x12, 0xcd, 0xab,
                                      0xef, 0x00, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab};
static const uint8_t drsuapi_uuid[] = {0x35, 0x42, 0x51, 0xe3, 0x06, 0x4b, 0xd1, 0x11,
                                       0xab, 0x04, 0x00, 0xc0, 0x4f, 0xc2, 0xdc, 0xd2};

static bool is(const struct standin_rpc *rpc, const uint8_t uuid[16]);
static bool is_locator(uint16_t opnum);
static uint32_t refuses_drsuapi(struct standin_rpc *rpc, const uint8_t *stub, size_t size);
static uint32_t refuses_netlogon(struct standin_rpc *rpc, const uint8_t *stub, size_t size);
static void note_request(struct standin_rpc *rpc, const uint8_t *stub, size_t size);
static size_t string_end(const uint8_t *stub, size_t size, size_t at, char *out, size_t capacity);
static void note_password(struct standin_rpc *rpc, const uint8_t *stub, size_t size);
static bool other_computer(const struct standin_rpc *rpc, const uint8_t *stub, size_t size);

uint32_t standin_rpc_refuses(struct standin_rpc *rpc, bool authenticated)
{
    struct windows_rules *rules = &rpc->standin->rules;
    if (!is(rpc, netlogon_uuid))
        return 0;
    if (windows_rules_apply(rules, RULE_ANONYMOUS_NETLOGON, !authenticated))
        return ACCESS_DENIED;
    if (is_locator(rpc->opnum) &&
        windows_rules_apply(rules, RULE_LOCATOR_SCHANNEL,
                            !authenticated || rpc->seal.type == AUTH_NETLOGON))
        return ACCESS_DENIED;
    return 0;
}

static bool is(const struct standin_rpc *rpc, const uint8_t uuid[16])
{
    return memcmp(rpc->interface, uuid, 16) == 0;
}

/* The calls of MS-NRPC 3.5.4.3 that NETLOGON_DCLOC_RPC_ACCESS guards. */
static bool is_locator(uint16_t opnum)
{
    static const uint16_t locators[] = {11, 13, 20, 27, 28, 33, 34, 37, 38};
    for (size_t i = 0; i < sizeof locators / sizeof locators[0]; i++)
        if (locators[i] == opnum)
            return true;
    return false;
}

uint32_t standin_rpc_refuses_stub(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    if (is(rpc, drsuapi_uuid))
        return refuses_drsuapi(rpc, stub, size);
    if (is(rpc, netlogon_uuid))
        return refuses_netlogon(rpc, stub, size);
    if (is(rpc, lsarpc_uuid) && rpc->opnum == LOOKUP_NAMES4 &&
        windows_rules_apply(&rpc->standin->rules, RULE_LOCALIZED_NAMES,
                            standin_names_localized(stub, size)))
        return none_mapped;
    return 0;
}

/* dwExtCaps of DRS_EXTENSIONS_INT (MS-DRSR 5.39): of IDL_DRSBind, whose extensions come after the
 * client's GUID. */
static uint32_t refuses_drsuapi(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    enum { SIZE_AT = 28, CAPABILITIES_AT = SIZE_AT + 52 };
    if (rpc->opnum == 0)
        rpc->drs_capabilities = size >= CAPABILITIES_AT + 4 && le_get32(stub + SIZE_AT) >= 52
                                    ? le_get32(stub + CAPABILITIES_AT)
                                    : 0;
    if (rpc->opnum == 3 && windows_rules_apply(&rpc->standin->rules, RULE_RECYCLE_BIN,
                                               !(rpc->drs_capabilities & RECYCLE_BIN)))
        return REVISION_MISMATCH;
    return 0;
}

static uint32_t refuses_netlogon(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    switch (rpc->opnum) {
    case 4:
    case 26:
        note_request(rpc, stub, size);
        return 0;
    case 30:
        note_password(rpc, stub, size);
        return 0;
    case 2:
    case 39:
    case 45:
        return windows_rules_apply(&rpc->standin->rules, RULE_COMPUTER_NAME,
                                   other_computer(rpc, stub, size))
                   ? logon_failure
                   : 0;
    default:
        return 0;
    }
}

/* NetrServerReqChallenge and NetrServerAuthenticate3 in clear: the computer, and the challenge. */
static void note_request(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    char name[64];
    size_t at = string_end(stub, size, 4, name, sizeof name); /* PrimaryName */
    if (rpc->opnum == 26) {
        at = string_end(stub, size, at, name, sizeof name);
        at += 2;
    }
    at = string_end(stub, size, at, rpc->computer, sizeof rpc->computer);
    if (rpc->opnum != 4 || at + 8 > size)
        return;
    pthread_mutex_lock(&rpc->standin->lock);
    memcpy(standin_machine_find(rpc->standin, rpc->computer)->client_challenge, stub + at, 8);
    pthread_mutex_unlock(&rpc->standin->lock);
}

/* Decodes a conformant and varying UTF-16 string, which is aligned to 4; returns where it ends. */
static size_t string_end(const uint8_t *stub, size_t size, size_t at, char *out, size_t capacity)
{
    char *text = NULL;
    at = (at + 3) & ~(size_t)3;
    *out = 0;
    if (at + 12 > size || le_get32(stub + at + 8) > (size - at - 12) / 2)
        return size;
    size_t bytes = 2 * (size_t)le_get32(stub + at + 8);
    if (bytes >= 2 && utf16le_to_utf8(stub + at + 12, bytes - 2, &text) == 0)
        snprintf(out, capacity, "%s", text);
    free(text);
    return at + 12 + bytes;
}

void standin_rpc_note_reply(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    uint8_t credential[8];
    if (!is(rpc, netlogon_uuid) || !rpc->computer[0] || size < 12)
        return;
    pthread_mutex_lock(&rpc->standin->lock);
    struct standin_machine *machine = standin_machine_find(rpc->standin, rpc->computer);
    if (rpc->opnum == 4)
        memcpy(machine->server_challenge, stub, 8);
    if (rpc->opnum == 26) {
        struct netlogon_channel channel = {.challenged = true};
        memcpy(channel.client_challenge, machine->client_challenge, 8);
        memcpy(channel.server_challenge, machine->server_challenge, 8);
        netlogon_channel_compute(&channel, machine->nt_hash, credential);
        if (memcmp(credential, stub, 8) == 0)
            memcpy(machine->session_key, channel.session_key, 16);
    }
    pthread_mutex_unlock(&rpc->standin->lock);
}

/* NetrServerPasswordSet2: the password is at the end of the request (MS-NRPC 2.2.1.3.7). */
static void note_password(struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    uint8_t buffer[TRUST_PASSWORD], iv[16] = {0}, hash[16];
    struct md4_ctx md4;
    if (size < TRUST_PASSWORD)
        return;
    memcpy(buffer, stub + size - TRUST_PASSWORD, TRUST_PASSWORD);
    pthread_mutex_lock(&rpc->standin->lock);
    struct standin_machine *machine = standin_machine_find(rpc->standin, rpc->seal.computer);
    standin_cfb8_decrypt(machine->session_key, iv, buffer, TRUST_PASSWORD);
    size_t length = le_get32(buffer + 512);
    if (length <= 512) {
        md4_init(&md4);
        md4_update(&md4, length, buffer + 512 - length);
        md4_digest(&md4, 16, hash);
        windows_rules_apply(&rpc->standin->rules, RULE_PASSWORD_UNCHANGED,
                            memcmp(hash, machine->nt_hash, 16) == 0);
        memcpy(machine->nt_hash, hash, 16);
    }
    pthread_mutex_unlock(&rpc->standin->lock);
}

/* MsvAvNbComputerName of the NTLMv2 response (MS-NLMP 2.2.2.7) is not the channel's computer. */
static bool other_computer(const struct standin_rpc *rpc, const uint8_t *stub, size_t size)
{
    static const uint8_t client_challenge[8] = {1, 1};
    const uint8_t *blob = memmem(stub, size, client_challenge, 8);
    size_t at = blob ? (size_t)(blob - stub) + 28 : size;
    while (at + 4 <= size && le_get16(stub + at) != 0) {
        size_t length = le_get16(stub + at + 2);
        char *name = NULL;
        if (at + 4 + length > size)
            return false;
        if (le_get16(stub + at) == 1) {
            bool same = utf16le_to_utf8(stub + at + 4, length, &name) == 0 &&
                        strcasecmp(name, rpc->seal.computer) == 0;
            free(name);
            return !same;
        }
        at += 4 + length;
    }
    return false;
}

/* English names of MS-LSAT 3.1.1.1.1, which a DC has in its own language. */
bool standin_names_localized(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"This Organization", "Digest Authentication", "Everyone",
                                        "Authenticated Users", "NT AUTHORITY"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++) {
        uint8_t *text;
        size_t length;
        if (utf16le_from_utf8(names[i], &text, &length) != 0)
            abort();
        found = memmem(data, size, text, length) != NULL;
        free(text);
    }
    return found;
}
