/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of packets against the list of what a client of a domain controller sends: each entry
 * of the list has its row, of the right kind, and each row stands in the list. So that none is
 * missing where a test loops over the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "protocols/dc.h"
#include "protocols/packet.h"

static const struct list {
    const char *protocol;
    enum packet_kind kind;
    const char *opcodes[32];
} lists[] = {
    {"cldap", PACKET_OPERATION, {"3"}},
    {"cldap", PACKET_SILENT, {"5"}},
    {"dns", PACKET_OPERATION, {"0"}},
    {"dns", PACKET_SILENT, {"1"}},
    {"nbns", PACKET_OPERATION, {"0"}},
    {"nbns", PACKET_SILENT, {"1"}},
    {"ldap", PACKET_OPERATION, {"0", "3", "6", "8", "10", "12", "14", "16", "23"}},
    {"ldap", PACKET_STATE, {"2"}},
    {"ldap", PACKET_SILENT, {"", "1", "4", "5", "7", "9", "11", "13", "15", "19", "24"}},
    {"kerberos", PACKET_OPERATION, {"10", "12"}},
    {"kerberos", PACKET_STATE, {""}},
    {"kerberos", PACKET_SILENT, {"11", "13", "14", "15", "30"}},
    {"smb2",
     PACKET_OPERATION,
     {"0", "1", "2", "3", "4", "5", "6", "8", "9", "11", "13", "14", "16"}},
    {"smb", PACKET_OPERATION, {"0x72"}},
    {"smb", PACKET_SILENT, {"*"}},
    {"dcerpc", PACKET_STATE, {"15", "16"}},
    {"dcerpc", PACKET_SILENT, {"0", "2", "3", "11", "12", "13", "14"}},
    {"epm", PACKET_OPERATION, {"3"}},
    {"rpc_netlogon",
     PACKET_OPERATION,
     {"2", "4", "20", "21", "26", "29", "30", "34", "39", "40", "45"}},
    {"lsarpc", PACKET_OPERATION, {"0", "6", "7", "14", "15", "39", "44", "46", "76", "77"}},
    {"samr", PACKET_OPERATION, {"0",  "1",  "3",  "5",  "6",  "7",  "8",  "11",
                                "13", "15", "16", "17", "18", "19", "25", "34",
                                "36", "39", "40", "44", "46", "57", "62", "64"}},
    {"srvsvc", PACKET_OPERATION, {"15", "16", "21"}},
    {"drsuapi", PACKET_OPERATION, {"0", "1", "3", "12", "13"}},
    {"drsuapi", PACKET_SILENT, {"2", "4"}},
    {"dnsserver", PACKET_SILENT, {"*"}},
    {"browser", PACKET_SILENT, {"*"}},
    {"smb_netlogon", PACKET_SILENT, {"*"}},
};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

static void check_row(const struct list *list, const char *opcode)
{
    const struct packet_type *type = packet_type_find(list->protocol, opcode);
    if (!type || strcmp(type->opcode, opcode) != 0)
        fail_msg("%s:%s has no row", list->protocol, opcode);
    if (type->kind != list->kind)
        fail_msg("%s:%s is of kind %d", list->protocol, opcode, (int)type->kind);
    if ((type->play != NULL) != (type->kind != PACKET_SILENT))
        fail_msg("%s:%s: no player, or one that is never used", list->protocol, opcode);
    if (!type->description || !*type->description)
        fail_msg("%s:%s has no description", list->protocol, opcode);
    if (type->compile && !type->release)
        fail_msg("%s:%s: its details are never released", list->protocol, opcode);
}

static void each_entry_has_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < LIST_COUNT; i++)
        for (const char *const *opcode = lists[i].opcodes; *opcode; opcode++)
            check_row(&lists[i], *opcode);
}

static bool is_listed(const struct packet_type *type)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (strcmp(lists[i].protocol, type->protocol) != 0)
            continue;
        for (const char *const *opcode = lists[i].opcodes; *opcode; opcode++)
            if (strcmp(*opcode, type->opcode) == 0)
                return true;
    }
    return false;
}

static void check_listed(const struct packet_type *type, void *context)
{
    unsigned *rows = context;
    ++*rows;
    if (!is_listed(type))
        fail_msg("%s:%s is in no list", type->protocol, type->opcode);
}

/* And none of them twice: the sums agree. */
static void each_row_is_listed(void **state)
{
    (void)state;
    unsigned rows = 0, entries = 0;
    packet_types_each(check_listed, &rows);
    for (size_t i = 0; i < LIST_COUNT; i++)
        for (const char *const *opcode = lists[i].opcodes; *opcode; opcode++)
            entries++;
    assert_int_equal(rows, entries);
}

static void check_available(const struct packet_type *type, void *context)
{
    const struct dc_options *options = context;
    bool needs_share = strcmp(type->protocol, "smb2") == 0 && strcmp(type->opcode, "9") == 0;
    bool needs_leave = strcmp(type->protocol, "drsuapi") == 0 && strcmp(type->opcode, "3") == 0;
    bool needs_dc = strcmp(type->protocol, "ldap") != 0 && strcmp(type->protocol, "cldap") != 0;
    bool wanted = (!needs_share || options->smb_share) &&
                  (!needs_leave || options->allow_replication) &&
                  (!needs_dc || !options->generic_ldap);
    if (type->kind == PACKET_SILENT || strcmp(type->protocol, "dcerpc") == 0)
        return; /* nothing goes on the wire */
    if ((!type->available || type->available(options)) != wanted)
        fail_msg("%s:%s is %savailable", type->protocol, type->opcode, wanted ? "not " : "");
}

/* A share to write to, leave to replicate, a domain controller: nothing else depends on the
 * options. */
static void what_needs_an_option(void **state)
{
    (void)state;
    struct dc_options all = {.smb_share = "scratch", .allow_replication = true};
    struct dc_options none = {.smb_share = NULL}, other = all;
    other.generic_ldap = true;
    packet_types_each(check_available, &all);
    packet_types_each(check_available, &other);
    packet_types_each(check_available, &none);
}

static void others_have_none(void **state)
{
    (void)state;
    static const char *const packets[][2] = {{"smb2", "7"},    {"smb2", "10"}, {"foo", "3"},
                                             {"lsarpc", "99"}, {"epm", ""},    {"dns", "*"}};
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
        assert_null(packet_type_find(packets[i][0], packets[i][1]));
    assert_non_null(packet_type_find("smb", "0x25"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_has_its_row),
        cmocka_unit_test(each_row_is_listed),
        cmocka_unit_test(what_needs_an_option),
        cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
