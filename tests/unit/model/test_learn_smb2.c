/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of SMB2 and RPC as requests: which messages count, and the details that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "protocols/packet.h"
#include "tests/lib/learn_bench.h"
#include "tests/lib/packets.h"

#define SMB2(...) TCP_TO("445", "nbss:smb2", {LEARN_LINE_SMB2_RESPONSE, "0"}, __VA_ARGS__)

static void test_session_setup(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "1"}, {LEARN_LINE_SMB2_SESSION, "0x0"}));
    learn_bench_take(bench,
                     TCP_FROM("445", "nbss:smb2", {LEARN_LINE_SMB2_RESPONSE, "1"},
                              {LEARN_LINE_SMB2_COMMAND, "1"}, {LEARN_LINE_SMB2_SESSION, "0x77"},
                              {LEARN_LINE_SMB2_STATUS, "0xc0000016"}));
    learn_bench_take(bench,
                     SMB2({LEARN_LINE_SMB2_COMMAND, "1"}, {LEARN_LINE_SMB2_SESSION, "0x77"}));
    learn_bench_take(bench,
                     TCP_FROM("445", "nbss:smb2", {LEARN_LINE_SMB2_RESPONSE, "True"},
                              {LEARN_LINE_SMB2_COMMAND, "1"}, {LEARN_LINE_SMB2_SESSION, "0x77"},
                              {LEARN_LINE_SMB2_STATUS, "0"}));
    /* authenticated again: a separate set-up */
    learn_bench_take(bench,
                     SMB2({LEARN_LINE_SMB2_COMMAND, "1"}, {LEARN_LINE_SMB2_SESSION, "0x77"}));
    assert_string_equal(learn_bench_requests(bench), "smb2:1\nsmb2:1\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_LEGS), 1);
}

static void test_compound(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench,
                     TCP_TO("445", "nbss:smb2",
                            {LEARN_LINE_SMB2_COMMAND, "5" AND "16" AND "16" AND "14" AND "6"},
                            {LEARN_LINE_SMB2_RESPONSE, "0" AND "0" AND "0" AND "0" AND "0"},
                            {LEARN_LINE_SMB2_TREE, "\\\\dc1\\SysVol"},
                            {LEARN_LINE_SMB2_FILENAME, "corp\\Policies\\{X}\\GPT.INI"},
                            {LEARN_LINE_SMB2_ACCESS, "0x00120089"},
                            {LEARN_LINE_SMB2_OPLOCK, "0xff"}, {LEARN_LINE_SMB2_LEASE, "0x00000003"},
                            {LEARN_LINE_SMB2_CLASS, "0x02" AND "0x01"},
                            {LEARN_LINE_SMB2_FILE_LEVEL, "0x12"},
                            {LEARN_LINE_SMB2_FS_LEVEL, "0x07"}, {LEARN_LINE_SMB2_FIND, "37"}));
    assert_string_equal(learn_bench_requests(bench),
                        "smb2:5 file=policy access=0x120089 oplock=lease lease=rh\n"
                        "smb2:16 class=519\nsmb2:16 class=274\n"
                        "smb2:14 class=37\nsmb2:6\n");
}

static void test_shares_and_files(void **state)
{
    static const struct {
        const char *tree, *name, *wanted;
    } files[] = {{"\\\\a\\IPC$", "lsarpc", "pipe"},
                 {"\\\\a\\netlogon", "logon.bat", "script"},
                 {"\\\\a\\sysvol", "", "dir"},
                 {"\\\\a\\sysvol", "Machine\\Registry.pol", "policy"},
                 {"\\\\a\\home", "letter.doc", "other"}};
    struct learn_bench *bench = *state;
    char wanted[1024] = "smb2:3 share=other\n";
    learn_bench_take(
        bench, SMB2({LEARN_LINE_SMB2_COMMAND, "3"}, {LEARN_LINE_SMB2_TREE, "\\\\secret\\Payroll"}));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        learn_bench_take(bench,
                         SMB2({LEARN_LINE_SMB2_COMMAND, "5"}, {LEARN_LINE_SMB2_TREE, files[i].tree},
                              {LEARN_LINE_SMB2_FILENAME, files[i].name}));
        strcat(strcat(strcat(wanted, "smb2:5 file="), files[i].wanted), "\n");
    }
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "8"}, {LEARN_LINE_SMB2_READ, "4096"}));
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "9"}, {LEARN_LINE_SMB2_WRITE, "17"}));
    strcat(wanted, "smb2:8 size=4096\nsmb2:9 size=17\n");
    /* Sizes and classes that no model may have. */
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "8"}, {LEARN_LINE_SMB2_READ, "0"}));
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "9"}, {LEARN_LINE_SMB2_WRITE, "0"}));
    learn_bench_take(bench,
                     SMB2({LEARN_LINE_SMB2_COMMAND, "9"}, {LEARN_LINE_SMB2_WRITE, "16777217"}));
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "14"}, {LEARN_LINE_SMB2_FIND, "0"}));
    strcat(wanted, "smb2:8\nsmb2:9\nsmb2:9\nsmb2:14\n");
    assert_string_equal(learn_bench_requests(bench), wanted);
    assert_int_equal(learn_bench_counted(bench, LEARN_UNPLAYED), 4);
}

#define SRVSVC   "4b324fc8-1670-01d3-1278-5a47bf6ee188"
#define LSARPC   "12345778-1234-abcd-ef00-0123456789ab"
#define SAMR     "12345778-1234-abcd-ef00-0123456789ac"
#define NETLOGON "12345678-1234-abcd-ef00-01234567cffb"

/* Writes, reads and transactions on a pipe carry calls and do not count themselves. */
static void test_rpc_over_a_pipe(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "9"}, {LEARN_LINE_SMB2_FID, "f1"},
                                 {LEARN_LINE_SMB2_WRITE, "116"}, {LEARN_LINE_RPC_TYPE, "11"},
                                 {LEARN_LINE_RPC_CONTEXT, "0"}, {LEARN_LINE_RPC_UUID, SRVSVC}));
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "8"}, {LEARN_LINE_SMB2_FID, "f1"},
                                 {LEARN_LINE_SMB2_READ, "1024"}));
    learn_bench_take(bench,
                     SMB2({LEARN_LINE_SMB2_COMMAND, "11"}, {LEARN_LINE_SMB2_FID, "f1"},
                          {LEARN_LINE_SMB2_FUNCTION, "0x0011c017"}, {LEARN_LINE_RPC_TYPE, "0"},
                          {LEARN_LINE_RPC_FIRST, "1"}, {LEARN_LINE_RPC_OPNUM, "21"},
                          {LEARN_LINE_RPC_CONTEXT, "0"}, {LEARN_LINE_SERVER_LEVEL, "101"}));
    /* another file, and another function */
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "8"}, {LEARN_LINE_SMB2_FID, "f2"},
                                 {LEARN_LINE_SMB2_READ, "9"}));
    learn_bench_take(bench, SMB2({LEARN_LINE_SMB2_COMMAND, "11"}, {LEARN_LINE_SMB2_FID, "ff"},
                                 {LEARN_LINE_SMB2_FUNCTION, "0x00060194"}));
    assert_string_equal(learn_bench_requests(bench),
                        "dcerpc:11\nsrvsvc:21 level=101\nsmb2:8 size=9\nsmb2:11\n");
}

static void test_rpc_over_tcp(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "11"},
                                   {LEARN_LINE_RPC_CONTEXT, "0" AND "1"},
                                   {LEARN_LINE_RPC_UUID, NETLOGON AND NETLOGON}));
    learn_bench_take(bench, TCP_FROM("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "12"}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "14"},
                                   {LEARN_LINE_RPC_CONTEXT, "0"}, {LEARN_LINE_RPC_UUID, NETLOGON}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "16"}));
    /* three fragments of one call, and a second call in the last frame */
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0"},
                                   {LEARN_LINE_RPC_FIRST, "1"}, {LEARN_LINE_RPC_OPNUM, "29"},
                                   {LEARN_LINE_RPC_CONTEXT, "0"}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0"},
                                   {LEARN_LINE_RPC_FIRST, "0"}, {LEARN_LINE_RPC_OPNUM, "29"},
                                   {LEARN_LINE_RPC_CONTEXT, "0"}));
    /* a further interface on the association */
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "14"},
                                   {LEARN_LINE_RPC_CONTEXT, "2"}, {LEARN_LINE_RPC_UUID, SRVSVC}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0" AND "0"},
                                   {LEARN_LINE_RPC_FIRST, "1" AND "1"},
                                   {LEARN_LINE_RPC_OPNUM, "39" AND "15"},
                                   {LEARN_LINE_RPC_CONTEXT, "0" AND "2"}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0"},
                                   {LEARN_LINE_RPC_FIRST, "1"}, {LEARN_LINE_RPC_OPNUM, "1"},
                                   {LEARN_LINE_RPC_CONTEXT, "9"}));
    assert_string_equal(learn_bench_requests(bench), "dcerpc:11\nrpc_netlogon:29\ndcerpc:14\n"
                                                     "rpc_netlogon:39\nsrvsvc:15\ndcerpc:0\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_LEGS), 2);
    assert_int_equal(learn_bench_counted(bench, LEARN_UNKNOWN_RPC), 1);
}

/* The opnum of a fragment that continues a call belongs to that call, not to the next one in the
 * frame. A call whose opnum is cut off is not opnum 0. */
static void fragments_and_cut_calls_have_no_other_opnum(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "11"},
                                   {LEARN_LINE_RPC_CONTEXT, "0"}, {LEARN_LINE_RPC_UUID, SRVSVC}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0" AND "0"},
                                   {LEARN_LINE_RPC_FIRST, "0" AND "1"},
                                   {LEARN_LINE_RPC_OPNUM, "29" AND "15"},
                                   {LEARN_LINE_RPC_CONTEXT, "0" AND "0"}));
    learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0"},
                                   {LEARN_LINE_RPC_FIRST, "1"}, {LEARN_LINE_RPC_CONTEXT, "0"}));
    assert_string_equal(learn_bench_requests(bench), "dcerpc:11\nsrvsvc:15\ndcerpc:0\n");
}

/* Each level in the ranges that have levels, and a few between them. */
static unsigned next_level(unsigned level)
{
    return level < 30 || (level >= 98 && level < 105) || (level >= 498 && level < 505) ||
                   level >= 1000
               ? 1
               : 4;
}

/* Learned requests can be played: a level is in the form if and only if the packet accepts it. */
static void test_levels_are_those_played(void **state)
{
    static const struct {
        const char *uuid, *opnum, *protocol;
        enum learn_line_field field;
    } rows[] = {{SAMR, "8", "samr", LEARN_LINE_SAMR_DOMAIN_LEVEL},
                {SAMR, "36", "samr", LEARN_LINE_SAMR_USER_LEVEL},
                {SAMR, "46", "samr", LEARN_LINE_SAMR_DOMAIN2_LEVEL},
                {LSARPC, "7", "lsarpc", LEARN_LINE_LSA_LEVEL},
                {LSARPC, "46", "lsarpc", LEARN_LINE_LSA2_LEVEL},
                {SRVSVC, "16", "srvsvc", LEARN_LINE_SHARE_LEVEL},
                {SRVSVC, "21", "srvsvc", LEARN_LINE_SERVER_LEVEL}};
    static char wanted[1 << 16];
    struct learn_bench *bench = *state;
    size_t used = 0;
    unsigned unplayed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "11"},
                                       {LEARN_LINE_RPC_CONTEXT, "0"},
                                       {LEARN_LINE_RPC_UUID, rows[i].uuid}));
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, "dcerpc:11\n");
        for (unsigned level = 0; level < 1010; level += next_level(level)) {
            struct error error = {0};
            char text[16];
            const char *value = text;
            const struct packet_field field = {"level", 1, &value};
            snprintf(text, sizeof text, "%u", level);
            struct form form;
            bool good = form_compile(&form, rows[i].protocol, rows[i].opnum, &field, 1, &error);
            form_release(&form);
            unplayed += !good;
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s:%s%s%s\n",
                                     rows[i].protocol, rows[i].opnum, good ? " level=" : "",
                                     good ? text : "");
            learn_bench_take(bench, TCP_TO("49152", "dcerpc", {LEARN_LINE_RPC_TYPE, "0"},
                                           {LEARN_LINE_RPC_FIRST, "1"},
                                           {LEARN_LINE_RPC_OPNUM, rows[i].opnum},
                                           {LEARN_LINE_RPC_CONTEXT, "0"}, {rows[i].field, text}));
        }
        assert_true(used < sizeof wanted);
    }
    assert_string_equal(learn_bench_requests(bench), wanted);
    assert_int_equal(learn_bench_counted(bench, LEARN_UNPLAYED), unplayed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, learn_bench_set_up, learn_bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_session_setup),
        TEST(test_compound),
        TEST(test_shares_and_files),
        TEST(test_rpc_over_a_pipe),
        TEST(test_rpc_over_tcp),
        TEST(test_levels_are_those_played),
        TEST(fragments_and_cut_calls_have_no_other_opnum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
