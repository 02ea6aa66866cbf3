/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet table against a list of what a client of a domain controller sends, so that none is
 * missing where a test loops over the table; what must hold in each row; and the players that are
 * bound to the rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "packets/packet_details.h"
#include "protocols/dc.h"
#include "protocols/packet.h"
#include "tests/lib/packets.h"

static const struct list {
    const char *protocol;
    enum packet_kind kind;
    const char *opcodes[32];
} lists[] = {
    {"cldap", PACKET_OPERATION, {"3"}},
    {"cldap", PACKET_SILENT, {"4", "5"}},
    {"dns", PACKET_OPERATION, {"0"}},
    {"dns", PACKET_SILENT, {"1"}},
    {"nbns", PACKET_OPERATION, {"0"}},
    {"nbns", PACKET_SILENT, {"1"}},
    {"ldap", PACKET_OPERATION, {"0", "3", "6", "8", "10", "12", "14", "16", "23"}},
    {"ldap", PACKET_STATE, {"2"}},
    {"ldap", PACKET_SILENT, {"", "1", "4", "5", "7", "9", "11", "13", "15", "19", "24", "25"}},
    {"kerberos", PACKET_OPERATION, {"10", "12"}},
    {"kerberos", PACKET_STATE, {""}},
    {"kerberos", PACKET_SILENT, {"11", "13", "14", "15", "30"}},
    {"smb2",
     PACKET_OPERATION,
     {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "13", "14", "16", "17"}},
    {"nbench",
     PACKET_OPERATION,
     {"NTCreateX", "Close", "ReadX", "WriteX", "Flush", "LockX", "UnlockX",
      "QUERY_PATH_INFORMATION", "QUERY_FILE_INFORMATION", "QUERY_FS_INFORMATION",
      "SET_FILE_INFORMATION", "FIND_FIRST", "Rename", "Unlink", "Mkdir", "Rmdir", "Deltree"}},
    {"nbench", PACKET_STATE, {"RANDOMSTRING"}},
    {"smb", PACKET_OPERATION, {"0x72"}},
    {"smb", PACKET_SILENT, {"*"}},
    {"dcerpc", PACKET_STATE, {"15", "16"}},
    {"dcerpc", PACKET_SILENT, {"0", "2", "3", "11", "12", "13", "14", "18"}},
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

static const struct packet_row *rows;
static size_t row_count;

static void fail_row(const struct packet_row *row, const char *what)
{
    fail_msg("%s:%s: %s", row->protocol->name, row->opcode, what);
}

static void each_entry_has_its_row(void **state)
{
    (void)state;
    size_t entries = 0;
    for (size_t i = 0; i < LIST_COUNT; i++)
        for (const char *const *opcode = lists[i].opcodes; *opcode; opcode++, entries++) {
            const struct packet_row *row = packet_row_find(lists[i].protocol, *opcode);
            if (!row || strcmp(row->opcode, *opcode) != 0)
                fail_msg("%s:%s has no row", lists[i].protocol, *opcode);
            if (row->kind != lists[i].kind)
                fail_row(row, "wrong kind");
        }
    /* With no_row_twice(): each row is in the list. */
    assert_int_equal(entries, row_count);
}

static void no_row_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        assert_ptr_equal(packet_protocol_find(rows[i].protocol->name), rows[i].protocol);
        assert_ptr_equal(packet_row_find(rows[i].protocol->name, rows[i].opcode), &rows[i]);
        if (!rows[i].description || !*rows[i].description)
            fail_row(&rows[i], "no description");
    }
}

static void what_is_played_has_a_player(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const struct packet_player *player = packet_player_of(&rows[i]);
        if ((player != NULL) != (rows[i].kind != PACKET_SILENT))
            fail_row(&rows[i], "no player, or one that is never used");
        if (player && packet_has_details(player) != (rows[i].rules != NULL))
            fail_row(&rows[i], "the player reads no details, or the row has none");
    }
}

static void check_player(const struct packet_player *player, void *context)
{
    unsigned *count = context;
    char name[64];
    snprintf(name, sizeof name, "%s", player->name);
    char *colon = strchr(name, ':');
    assert_non_null(colon);
    *colon = '\0';
    const struct packet_row *row = packet_row_find(name, colon + 1);
    if (!row || packet_player_of(row) != player)
        fail_msg("%s: no row, or another player has it", player->name);
    if (!player->play || (player->fill && player->compile))
        fail_msg("%s is not complete", player->name);
    ++*count;
}

static void each_player_has_a_row(void **state)
{
    (void)state;
    unsigned players = 0, played = 0;
    packet_players_each(check_player, &players);
    for (size_t i = 0; i < row_count; i++)
        played += rows[i].kind != PACKET_SILENT;
    assert_int_equal(players, played);
}

/* How many rows of the protocol name it as their reply. */
static unsigned named(const struct packet_row *reply)
{
    unsigned count = 0;
    for (size_t i = 0; i < row_count; i++)
        count +=
            rows[i].protocol == reply->protocol && packet_word_in(rows[i].replies, reply->opcode);
    return count;
}

static void replies_exist(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const struct packet_row *row = &rows[i];
        char words[64], *rest = words, *word;
        snprintf(words, sizeof words, "%s", row->replies ? row->replies : "");
        while ((word = strsep(&rest, " ")) && *word) {
            const struct packet_row *reply = packet_row_find(row->protocol->name, word);
            if (!reply || !reply->reply)
                fail_row(row, "a reply has no row, or is none");
        }
        if (row->reply && (row->replies || row->kind == PACKET_OPERATION || !named(row)))
            fail_row(row, "a reply that no request names, or a request itself");
        if (row->protocol->two_sided && (row->reply || row->replies))
            fail_row(row, "replies of a protocol with one opcode for both");
        if (row->refused_by && !packet_word_in(row->replies, row->refused_by))
            fail_row(row, "what refuses it is no reply of it");
    }
}

static void legs_can_be_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        const struct packet_legs *legs = rows[i].legs;
        bool joins = rows[i].refused_by || (legs && legs->joined);
        if (joins && !rows[i].protocol->joins)
            fail_row(&rows[i], "its protocol joins no messages");
        if (!legs)
            continue;
        const struct packet_rule *field =
            legs->field ? packet_rule_find(&rows[i], legs->field) : NULL;
        if (legs->joined && (!field || !packet_rule_check(field, legs->value) ||
                             !packet_rule_find(&rows[i], legs->first)))
            fail_row(&rows[i], "its further messages cannot be recognised");
    }
}

static void check_words(const struct packet_row *row, const struct packet_rule *rule)
{
    for (const struct packet_word *word = rule->words; word->name; word++) {
        const char *kept = packet_rule_check(rule, word->name);
        if (!kept || strcmp(kept, word->of ? word->of : word->name) != 0 ||
            !packet_rule_check(rule, kept))
            fail_row(row, word->name);
    }
}

static void rules_allow_their_usual_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        size_t count = 0;
        for (const struct packet_rule *rule = rows[i].rules; rule && rule->key; rule++, count++) {
            if (packet_rule_find(&rows[i], rule->key) != rule)
                fail_row(&rows[i], "a field twice");
            if (rule->usual && !packet_rule_check(rule, rule->usual))
                fail_row(&rows[i], "a usual value that is not allowed");
            if ((rule->type == PACKET_WORD) != (rule->words != NULL))
                fail_row(&rows[i], "words");
            const struct packet_rule *other =
                rule->not_with ? packet_rule_find(&rows[i], rule->not_with) : NULL;
            if (rule->not_with && (!other || !packet_rule_check(other, rule->not_value)))
                fail_row(&rows[i], "a field that excludes no value");
            if (rule->words)
                check_words(&rows[i], rule);
            if (rule->type == PACKET_NUMBER && (rule->max == 0 || rule->min > rule->max))
                fail_row(&rows[i], "limits");
        }
        assert_true(count <= PACKET_RULES_MAX);
    }
}

static void columns_have_their_fields(void **state)
{
    (void)state;
    static const char *const keys[][5] = {
        [PACKET_COLUMNS_NONE] = {NULL},
        [PACKET_COLUMNS_EMPTY] = {NULL},
        [PACKET_COLUMNS_SEARCH] = {"scope", "base", "filter", "attrs", NULL},
        [PACKET_COLUMNS_BIND] = {"auth", "mech", NULL},
        [PACKET_COLUMNS_NETLOGON] = {NULL}};
    for (size_t i = 0; i < row_count; i++)
        for (const char *const *key = keys[rows[i].columns]; *key; key++)
            if (!packet_rule_find(&rows[i], *key))
                fail_row(&rows[i], *key);
}

/* Each player reads only fields that its row has: a wrong one aborts. */
static void forms_without_fields_compile(void **state)
{
    (void)state;
    for (size_t i = 0; i < row_count; i++) {
        struct form form;
        struct error error = {0};
        if (rows[i].kind == PACKET_SILENT)
            continue;
        if (!form_compile(&form, rows[i].protocol->name, rows[i].opcode, NULL, 0, &error))
            fail_row(&rows[i], error.text);
        assert_int_equal(form.compiled != NULL, rows[i].rules != NULL);
        form_release(&form);
    }
}

/* Appends the packets that the options allow, or those that they do not allow, as "
 * protocol:opcode". Packets that send nothing are left out. */
static void list_packets(const struct dc_options *options, bool allowed, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].kind == PACKET_SILENT || strcmp(rows[i].protocol->name, "dcerpc") == 0)
            continue;
        if (packet_is_available(&rows[i], options) == allowed)
            used += (size_t)snprintf(text + used, size - used, " %s:%s", rows[i].protocol->name,
                                     rows[i].opcode);
        assert_true(used < size);
    }
}

static void some_packets_need_an_option(void **state)
{
    (void)state;
    static const struct {
        struct dc_options options;
        const char *unavailable;
    } cases[] = {{{.smb_share = "scratch", .allow_replication = true}, ""},
                 {{.smb_share = "scratch"}, " drsuapi:3"},
                 {{.allow_replication = true}, " smb2:7 smb2:9 smb2:10 smb2:17"},
                 {{.smb_share = NULL}, " smb2:7 smb2:9 smb2:10 smb2:17 drsuapi:3"}};
    char text[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        list_packets(&cases[i].options, false, text, sizeof text);
        assert_string_equal(text, cases[i].unavailable);
    }
}

static void any_ldap_server_has_ldap_alone(void **state)
{
    (void)state;
    const struct dc_options options = {
        .generic_ldap = true, .smb_share = "scratch", .allow_replication = true};
    char text[4096];
    list_packets(&options, true, text, sizeof text);
    assert_string_equal(
        text,
        " cldap:3 ldap:0 ldap:2 ldap:3 ldap:6 ldap:8 ldap:10 ldap:12 ldap:14 ldap:16 ldap:23");
}

static void others_have_none(void **state)
{
    (void)state;
    static const char *const packets[][2] = {{"smb2", "12"},   {"smb2", "15"}, {"foo", "3"},
                                             {"lsarpc", "99"}, {"epm", ""},    {"dns", "*"}};
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        assert_null(packet_row_find(packets[i][0], packets[i][1]));
        assert_null(packet_player_find(packets[i][0], packets[i][1]));
    }
    assert_non_null(packet_row_find("smb", "0x25"));
}

static void numbers_and_types(void **state)
{
    (void)state;
    const struct packet_rule *level = packet_rule_find(packet_row_find("samr", "36"), "level");
    static const struct {
        const char *text;
        bool good;
    } numbers[] = {{"1", true},    {"14", true},
                   {"15", false},  {"16", true},
                   {"18", false},  {"21", true},
                   {"22", false},  {"0", false},
                   {"0x10", true}, {"0x", false},
                   {"-1", false},  {"", false},
                   {"1 ", false},  {"99999999999999999", false}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if ((packet_rule_check(level, numbers[i].text) != NULL) != numbers[i].good)
            fail_msg("'%s'", numbers[i].text);
    assert_int_equal(packet_dns_type("aaaa"), 28);
    assert_int_equal(packet_dns_type("TYPE65"), 65);
    assert_int_equal(packet_dns_type("TYPE65536"), 0);
    assert_int_equal(packet_dns_type("TYPE"), 0);
    assert_int_equal(packet_dns_type("TYPE0x10"), 0);
}

static void an_oid_has_two_or_more_numbers(void **state)
{
    (void)state;
    const struct packet_rule *oid = packet_rule_find(packet_row_find("ldap", "23"), "oid");
    static const char *const bad[] = {"", "0", "1.", ".1", "1..2", "1.2.", "1.a", "1.2 "};
    assert_non_null(packet_rule_check(oid, "1.3.6.1.4.1.1466.101.119.1"));
    assert_non_null(packet_rule_check(oid, "2.5"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (packet_rule_check(oid, bad[i]))
            fail_msg("'%s'", bad[i]);
}

static void keys_that_forms_need(void **state)
{
    (void)state;
    static const char *const values[] = {"GSSAPI", "machine", "user"};
    const struct packet_field mech = {"mech", 1, &values[0]}, machine = {"as", 1, &values[1]},
                              user = {"as", 1, &values[2]};
    const struct packet_row *bind = packet_row_find("ldap", "0");
    const struct packet_row *as = packet_row_find("kerberos", "10");
    assert_int_equal(packet_details_needs(bind, &mech, 1), PACKET_NEEDS_KERBEROS);
    assert_int_equal(packet_details_needs(as, &machine, 1),
                     PACKET_NEEDS_MACHINE | PACKET_NEEDS_MACHINE_KEY);
    assert_int_equal(packet_details_needs(as, &user, 1), 0);
    assert_int_equal(packet_details_needs(bind, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_entry_has_its_row),
        cmocka_unit_test(no_row_twice),
        cmocka_unit_test(what_is_played_has_a_player),
        cmocka_unit_test(each_player_has_a_row),
        cmocka_unit_test(replies_exist),
        cmocka_unit_test(legs_can_be_recognised),
        cmocka_unit_test(rules_allow_their_usual_values),
        cmocka_unit_test(columns_have_their_fields),
        cmocka_unit_test(forms_without_fields_compile),
        cmocka_unit_test(some_packets_need_an_option),
        cmocka_unit_test(any_ldap_server_has_ldap_alone),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(numbers_and_types),
        cmocka_unit_test(an_oid_has_two_or_more_numbers),
        cmocka_unit_test(keys_that_forms_need),
    };
    rows = packet_rows(&row_count);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
