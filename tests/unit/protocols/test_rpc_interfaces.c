/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every RPC call, in both directions, against golden bytes from Samba's NDR library
 * (tests/data/rpc/make-golden). Decoding and encoding must reproduce the bytes; a message cut at
 * any length must be refused; one with any byte changed must do no harm.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "protocols/packet.h"
#include "protocols/rpc/ndr_private.h"
#include "protocols/rpc/rpc_drsuapi.h"
#include "protocols/rpc/rpc_epm.h"
#include "protocols/rpc/rpc_lsarpc.h"
#include "protocols/rpc/rpc_netlogon.h"
#include "protocols/rpc/rpc_samr.h"
#include "protocols/rpc/rpc_srvsvc.h"
#include "protocols/rpc/rpc_trace.h"
#include "protocols/trace.h"
#include "tests/lib/packets.h"

#define GOLDEN "tests/data/rpc/golden.txt"

static const struct rpc_interface *const interfaces[] = {&rpc_epm,    &rpc_lsarpc,  &rpc_samr,
                                                         &rpc_srvsvc, &rpc_drsuapi, &rpc_netlogon};

struct message {
    const struct rpc_procedure *procedure;
    const char *name; /* interface, procedure and direction, for failures */
    ndr_coder *coder;
    uint32_t memory;
    const uint8_t *bytes;
    size_t size;
};

static const struct rpc_interface *interface_find(const char *name)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
        if (strcmp(interfaces[i]->name, name) == 0)
            return interfaces[i];
    fail_msg("no interface %s", name);
    return NULL;
}

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return size;
}

/* Calls check for every line of the golden file; returns how many there were. */
static int each_golden(void (*check)(const struct message *message))
{
    FILE *file = fopen(GOLDEN, "re");
    assert_non_null(file);
    char *line = NULL, name[64];
    size_t room = 0;
    int lines = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *interface = strtok(line, " "), *opnum = strtok(NULL, " ");
        char *direction = strtok(NULL, " "), *hex = strtok(NULL, " ");
        assert_non_null(hex);
        const struct rpc_procedure *procedure =
            rpc_procedure_find(interface_find(interface), (uint16_t)atoi(opnum));
        assert_non_null(procedure);
        bool request = strcmp(direction, "request") == 0;
        /* A buffer of the exact size, so that sanitizers detect reads past its end. */
        uint8_t *bytes = malloc(strlen(hex) / 2);
        size_t size = unhex(hex, bytes);
        snprintf(name, sizeof name, "%s %s %s", interface, procedure->name, direction);
        struct message message = {procedure,
                                  name,
                                  request ? procedure->request : procedure->reply,
                                  request ? procedure->request_size : procedure->reply_size,
                                  bytes,
                                  size};
        check(&message);
        free(bytes);
        lines++;
    }
    free(line);
    fclose(file);
    return lines;
}

/* Decodes size bytes of a message into *value in arena. False: refused, with the reason in error.
 */
static bool decode(const struct message *message, const uint8_t *bytes, size_t size,
                   struct arena *arena, void **value, char error[NDR_ERROR_TEXT_SIZE])
{
    struct ndr ndr;
    *value = arena_alloc(arena, message->memory);
    assert_non_null(*value);
    ndr_decode_start(&ndr, bytes, size, false, arena);
    message->coder(&ndr, "message", *value, 0);
    bool good = !ndr.failed;
    if (!good)
        ndr_error_text(&ndr, error);
    ndr_end(&ndr);
    return good;
}

static void check_round_trip(const struct message *message)
{
    struct arena arena = {0};
    struct ndr ndr;
    void *value;
    char error[NDR_ERROR_TEXT_SIZE];
    if (!decode(message, message->bytes, message->size, &arena, &value, error))
        fail_msg("%s: %s", message->name, error);
    ndr_encode_start(&ndr);
    message->coder(&ndr, "message", value, 0);
    if (ndr.failed) {
        ndr_error_text(&ndr, error);
        fail_msg("%s: %s", message->name, error);
    }
    for (size_t i = 0; i < ndr.size && i < message->size; i++)
        if (ndr.data[i] != message->bytes[i])
            fail_msg("%s: byte 0x%zx is %02x, should be %02x", message->name, i, ndr.data[i],
                     message->bytes[i]);
    if (ndr.size != message->size)
        fail_msg("%s: %zu bytes instead of %zu", message->name, ndr.size, message->size);
    ndr_end(&ndr);
    arena_free(&arena);
}

static void every_call_both_ways(void **state)
{
    (void)state;
    assert_true(each_golden(check_round_trip) > 200);
}

static void check_truncation(const struct message *message)
{
    char error[NDR_ERROR_TEXT_SIZE];
    for (size_t size = 0; size < message->size; size++) {
        struct arena arena = {0};
        void *value;
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, message->bytes, size);
        if (decode(message, cut, size, &arena, &value, error))
            fail_msg("%s: accepted when cut to %zu of %zu bytes", message->name, size,
                     message->size);
        assert_int_equal(strncmp(error, "field ", 6), 0);
        arena_free(&arena);
        free(cut);
    }
}

static void every_length_cut(void **state)
{
    (void)state;
    each_golden(check_truncation);
}

static void check_mutations(const struct message *message)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    char error[NDR_ERROR_TEXT_SIZE];
    uint8_t *bytes = malloc(message->size);
    for (size_t i = 0; i < message->size; i++) {
        memcpy(bytes, message->bytes, message->size);
        for (size_t v = 0; v < sizeof values; v++) {
            struct arena arena = {.limit = 8 << 20};
            void *value;
            bytes[i] = values[v];
            decode(message, bytes, message->size, &arena, &value, error);
            assert_true(arena.total <= 8 << 20);
            arena_free(&arena);
        }
    }
    free(bytes);
}

static void every_byte_changed(void **state)
{
    (void)state;
    each_golden(check_mutations);
}

static void check_print(const struct message *message)
{
    struct arena arena = {0};
    struct ndr ndr;
    void *value;
    char error[NDR_ERROR_TEXT_SIZE];
    char *text = NULL;
    size_t size = 0;
    assert_true(decode(message, message->bytes, message->size, &arena, &value, error));
    FILE *out = open_memstream(&text, &size);
    ndr_print_start(&ndr, out);
    message->coder(&ndr, "message", value, 0);
    assert_false(ndr.failed);
    ndr_end(&ndr);
    fclose(out);
    assert_true(size > 0);
    assert_int_equal(text[size - 1], '\n');
    free(text);
    arena_free(&arena);
}

static void every_message_printable(void **state)
{
    (void)state;
    each_golden(check_print);
}

/* The trace of a message. Secrets and control characters must not appear in it. */
static char *printed(const struct rpc_interface *interface, uint16_t opnum, bool reply,
                     void *message)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    trace_to(out);
    rpc_trace("STGU-0-1", interface, rpc_procedure_find(interface, opnum), reply, message);
    trace_to(NULL);
    rpc_trace("STGU-0-1", interface, rpc_procedure_find(interface, opnum), reply, message);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void no_secrets_or_control_characters(void **state)
{
    (void)state;
    uint8_t response[] = {201, 202, 203};
    struct netlogon_network network = {.domain = (char *)(uintptr_t) "SAM\x1b[2JDOM",
                                       .account = (char *)(uintptr_t) "f\xc3\xbcr \xc2\x9b",
                                       .workstation = NULL,
                                       .challenge = {211, 211, 211, 211, 211, 211, 211, 211},
                                       .nt = {sizeof response, response}};
    struct netlogon_LogonSamLogonEx_request request = {
        .level = NETLOGON_LOGON_NETWORK_TRANSITIVE, .network = &network, .validation_level = 6};
    char *text = printed(&rpc_netlogon, 39, false, &request);
    assert_non_null(strstr(text, "STGU-0-1: rpc_netlogon LogonSamLogonEx request\n"));
    assert_non_null(strstr(text, "LogonDomainName: \"SAM?[2JDOM\"\n"));
    assert_non_null(strstr(text, "UserName: \"f\xc3\xbcr ??\"\n"));
    assert_non_null(strstr(text, "NtChallengeResponse"));
    assert_null(strstr(text, "201"));
    assert_null(strstr(text, "211"));
    assert_ptr_equal(strstr(text + 1, "STGU-0-1"), NULL); /* nothing after trace_to(NULL) */
    free(text);
    struct netlogon_ServerPasswordSet2_request set = {.account_name = (char *)(uintptr_t) "PC$"};
    memset(set.password, 222, sizeof set.password);
    text = printed(&rpc_netlogon, 30, false, &set);
    assert_non_null(strstr(text, "Buffer: 512 bytes\n"));
    assert_null(strstr(text, "222"));
    free(text);
}

static void hashes_are_not_printed(void **state)
{
    (void)state;
    struct samr_user_info info = {.level = 21,
                                  .account_name = (char *)(uintptr_t) "somebody",
                                  .nt_password = (char *)(uintptr_t) "hash-of-nt",
                                  .lm_password = (char *)(uintptr_t) "hash-of-lm",
                                  .private_data = (char *)(uintptr_t) "private"};
    struct samr_QueryUserInfo_reply reply = {.info = &info};
    char *text = printed(&rpc_samr, 36, true, &reply);
    assert_non_null(strstr(text, "\"somebody\""));
    assert_non_null(strstr(text, "NtOwfPassword: 10 bytes\n"));
    assert_null(strstr(text, "hash-of"));
    assert_null(strstr(text, "\"private"));
    free(text);
}

static void errors_with_their_offset(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct ndr ndr;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    ndr_decode_start(&ndr, (const uint8_t[44]){0}, 44, false, NULL);
    ndr.offset = 44;
    ndr_fail(&ndr, "Count", "out of range");
    trace_to(out);
    rpc_trace_error("STGU-0-1", &rpc_samr, rpc_procedure_find(&rpc_samr, 1), true, &ndr);
    trace_to(NULL);
    ndr_end(&ndr);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text,
                        "STGU-0-1: samr Close reply: field Count at offset 0x2c: out of range\n");
    free(text);
}

static bool seen[sizeof interfaces / sizeof interfaces[0]][128][2];

static void note_seen(const struct message *message)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
        if (rpc_procedure_find(interfaces[i], message->procedure->opnum) == message->procedure)
            seen[i][message->procedure->opnum][message->coder == message->procedure->reply] = true;
}

/* Every call has golden bytes. The reply of GetNCChanges is decoded only in part, so it cannot be
 * encoded again. */
static void no_call_left_out(void **state)
{
    (void)state;
    each_golden(note_seen);
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
        for (const struct rpc_procedure *p = interfaces[i]->procedures; p->name; p++) {
            if (!seen[i][p->opnum][0])
                fail_msg("%s %s: no golden request", interfaces[i]->name, p->name);
            bool exempt = p->reply == rpc_procedure_find(&rpc_drsuapi, 3)->reply;
            if (!exempt && !seen[i][p->opnum][1])
                fail_msg("%s %s: no golden reply", interfaces[i]->name, p->name);
        }
}

/* Decoded values: one message with each difficult type (varying arrays, unions, SIDs). */
static void check_values(const struct message *message)
{
    struct arena arena = {0};
    void *value;
    char error[NDR_ERROR_TEXT_SIZE];
    char text[NDR_SID_TEXT_SIZE];
    assert_true(decode(message, message->bytes, message->size, &arena, &value, error));
    if (strcmp(message->name, "samr LookupNames request") == 0) {
        struct samr_LookupNames_request *request = value;
        assert_int_equal(request->count, 2);
        assert_string_equal(request->names[0], "STGU-0-1");
        assert_string_equal(request->names[1], "krbtgt");
    } else if (strcmp(message->name, "samr LookupDomain reply") == 0) {
        struct samr_LookupDomain_reply *reply = value;
        ndr_sid_format(reply->sid, text);
        assert_string_equal(text, "S-1-5-21-1111111111-2222222222-3333333333");
    } else if (strcmp(message->name, "rpc_netlogon LogonSamLogonEx reply") == 0) {
        struct netlogon_LogonSamLogonEx_reply *reply = value;
        assert_string_equal(reply->info->account, "STGU-0-1");
        assert_int_equal(reply->info->rid, 1105);
        assert_int_equal(reply->info->extra_count, 1);
        assert_int_equal(reply->authoritative, 1);
        if (reply->validation_level == NETLOGON_VALIDATION_SAM_INFO4)
            assert_string_equal(reply->info->upn, "u@samdom");
    } else if (strcmp(message->name, "srvsvc NetShareEnumAll reply") == 0) {
        struct srvsvc_NetShareEnumAll_reply *reply = value;
        assert_int_equal(reply->shares->count, 1);
        assert_string_equal(reply->shares->shares[0].name, "IPC$");
    }
    arena_free(&arena);
}

static void values_as_packed(void **state)
{
    (void)state;
    each_golden(check_values);
}

/* A wrong level is reported together with the valid ones. */
static void levels_that_can_be_played(void **state)
{
    (void)state;
    static char longest[600];
    memset(longest, '9', sizeof longest - 1);
    const struct {
        const char *protocol, *opcode, *level, *error; /* NULL: it can be played */
    } rows[] = {
        {"srvsvc", "16", "502", NULL},
        {"srvsvc", "16", "503", "level: expected one of 1, 2, 501, 502, 1005, found \"503\""},
        {"srvsvc", "21", "0", "level: expected one of 100-102, found \"0\""},
        {"srvsvc", "21", "", "level: expected one of 100-102, found \"\""},
        {"samr", "36", "21", NULL},
        {"samr", "36", "18", "level: expected one of 1-14, 16, 17, 20, 21, found \"18\""},
        {"srvsvc", "21", longest,
         "level: expected one of 100-102, found "
         "\"99999999999999999999999999999999999999999999999999999999999999999999999999999999\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct packet_field field = {"level", 1, &rows[i].level};
        struct error error = {0};
        struct form form;
        assert_int_equal(form_compile(&form, rows[i].protocol, rows[i].opcode, &field, 1, &error),
                         rows[i].error == NULL);
        assert_string_equal(error.text, rows[i].error ? rows[i].error : "");
        form_release(&form);
    }
}

static void guids_as_text(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "12345678",
        "12345678-1234-abcd-ef00-01234567cff",
        "12345678-1234-abcd-ef00-01234567cffb0",
        "12345678-1234-abcd-ef000-1234567cffb",
        "12345678 1234-abcd-ef00-01234567cffb",
        "1234567g-1234-abcd-ef00-01234567cffb",
        "{2345678-1234-abcd-ef00-01234567cffb",
        "+2345678-1234-abcd-ef00-01234567cffb",
    };
    struct ndr_guid guid;
    char text[NDR_GUID_TEXT_SIZE];
    assert_int_equal(ndr_guid_parse("12345678-1234-ABCD-ef00-01234567cffb", &guid), 0);
    assert_int_equal(guid.time_low, 0x12345678);
    assert_int_equal(guid.time_hi_and_version, 0xabcd);
    assert_int_equal(guid.clock_seq[0], 0xef);
    assert_int_equal(guid.node[5], 0xfb);
    ndr_guid_format(&guid, text);
    assert_string_equal(text, "12345678-1234-abcd-ef00-01234567cffb");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ndr_guid_parse(wrong[i], &guid), -EINVAL);
}

/* The tower equals the one that Samba packs, and its port is found. */
static void towers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct epm_tower tower;
    assert_int_equal(epm_tower_build(&rpc_samr, &arena, &tower), 0);
    assert_int_equal(tower.size, 75);
    assert_int_equal(epm_tower_port(&tower), 0);
    tower.bytes[64] = 0xc0;
    tower.bytes[65] = 0x01;
    assert_int_equal(epm_tower_port(&tower), 0xc001);
    for (uint32_t size = 0; size < 66; size++) {
        struct epm_tower cut = {size, tower.bytes};
        assert_int_equal(epm_tower_port(&cut), 0);
    }
    tower.bytes[62] = 0; /* an empty port at the tower's end */
    struct epm_tower short_one = {64, tower.bytes};
    tower.bytes[0] = 4;
    assert_int_equal(epm_tower_port(&short_one), 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_both_ways),
        cmocka_unit_test(every_length_cut),
        cmocka_unit_test(every_byte_changed),
        cmocka_unit_test(every_message_printable),
        cmocka_unit_test(no_secrets_or_control_characters),
        cmocka_unit_test(hashes_are_not_printed),
        cmocka_unit_test(errors_with_their_offset),
        cmocka_unit_test(no_call_left_out),
        cmocka_unit_test(values_as_packed),
        cmocka_unit_test(levels_that_can_be_played),
        cmocka_unit_test(guids_as_text),
        cmocka_unit_test(towers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
