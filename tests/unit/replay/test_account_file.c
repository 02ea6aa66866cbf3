/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --accounts: its two formats, quoting, errors with line numbers; and account names. */
#include "replay/accounts/account_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/accounts/account_set.h"

static char path[] = "/tmp/test-accounts-XXXXXX";

static int read_text(const char *text, struct account_file *file, struct error *error)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    return account_file_read(path, file, error);
}

static void both_formats_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *password;
    } cases[] = {
        {"joe,secret\n", "joe", "secret"},
        {"joe\tse,\"cret\n", "joe", "se,\"cret"},
        {"joe\ta\tb\n", "joe", "a\tb"},
        {"\"cn=joe,dc=x\",secret\r\n", "cn=joe,dc=x", "secret"},
        {"cn=joe,dc=x\tsecret", "cn=joe,dc=x", "secret"},
        {"\"j\"\"oe\",\"a,\"\"b\"\n", "j\"oe", "a,\"b"},
        {"joe, secret \n", "joe", " secret "},
        {"# comment\n\njoe,s\n", "joe", "s"},
        {"joe,#s\n", "joe", "#s"},
        {"\xef\xbb\xbfjoe,s\n", "joe", "s"}, /* a byte order mark */
        {"\xef\xbb\xbf# comment\njoe,s\n", "joe", "s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct account_file file;
        struct error error = {0};
        if (read_text(cases[i].text, &file, &error) != 0)
            fail_msg("%s: %s", cases[i].text, error.text);
        assert_int_equal(file.count, 1);
        assert_string_equal(file.lines[0].name, cases[i].name);
        assert_string_equal(file.lines[0].password, cases[i].password);
        account_file_clear(&file);
    }
}

static void errors_name_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"joe,s\nJ\xfcrgen,s\n", "2: the line is not UTF-8"},
        {"joe\n", "1: expected a name and a password with a comma or a tab between them"},
        {"a,b\njoe,\n", "2: the password is empty"},
        {",b\n", "1: the name is empty"},
        {"\tb\n", "1: the name is empty"},
        {"\"joe,b\n", "1: a quoted field must end with a quote"},
        {"joe,\"b\n", "1: a quoted field must end with a quote"},
        {"\"joe\"x,b\n", "1: a quoted field must end with a quote"},
        {"cn=joe,dc=x,secret\n",
         "1: there is a third field; quote names and passwords that contain commas"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct account_file file;
        struct error error = {0};
        char expected[256];
        snprintf(expected, sizeof expected, "%s:%s", path, cases[i].message);
        assert_int_equal(read_text(cases[i].text, &file, &error), -EINVAL);
        assert_int_equal(error.code, -EINVAL);
        assert_string_equal(error.text, expected);
        account_file_clear(&file);
    }
}

static void many_lines_and_readable_modes(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct error error = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < COUNT; i++)
        fprintf(out, "u%d,p%d\n", i, i);
    fclose(out);
    struct account_file file;
    assert_int_equal(read_text(text, &file, &error), 0);
    assert_int_equal(file.count, COUNT);
    assert_string_equal(file.lines[COUNT - 1].name, "u999");
    assert_int_equal(file.lines[COUNT - 1].number, COUNT);
    account_file_clear(&file);
    free(text);
    chmod(path, 0600);
    assert_int_equal(account_file_read(path, &file, &error), 0);
    assert_false(file.world_readable);
    account_file_clear(&file);
    chmod(path, 0604);
    assert_int_equal(account_file_read(path, &file, &error), 0);
    assert_true(file.world_readable);
    account_file_clear(&file);
    assert_int_equal(account_file_read("/dev/zero", &file, &error), -EINVAL);
    assert_string_equal(error.text,
                        "/dev/zero:1: expected a line of text of fewer than 4096 bytes");
    assert_int_equal(account_file_read("/tmp", &file, &error), -EISDIR);
    assert_int_equal(account_file_read("/nowhere/x", &file, &error), -EINVAL);
    assert_int_equal(error.code, -EINVAL);
    account_file_clear(&file);
}

static void accounts_have_names_by_kind(void **state)
{
    (void)state;
    struct account_set set;
    char name[ACCOUNT_NAME_SIZE];
    assert_int_equal(account_set_init(&set, "DC=x,DC=y", 7), 0);
    assert_string_equal(set.instance_dn, "OU=instance-7,OU=traffic_replay,DC=x,DC=y");
    static const struct {
        enum account_kind kind;
        const char *name;
    } forms[] = {{ACCOUNT_USER, "STGU-7-12"},
                 {ACCOUNT_MACHINE, "STGM-7-12"},
                 {ACCOUNT_FILLER, "PC-7-12"},
                 {ACCOUNT_GROUP, "STGG-7-12"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        enum account_kind kind;
        uint32_t number = 0;
        account_set_name(&set, forms[i].kind, 12, name);
        assert_string_equal(name, forms[i].name);
        strcat(name, account_forms[forms[i].kind].suffix);
        assert_true(account_set_parse(&set, name, &kind, &number));
        assert_int_equal(kind, forms[i].kind);
        assert_int_equal(number, 12);
    }
    char *dn = account_set_dn(&set, ACCOUNT_MACHINE, 3);
    assert_string_equal(dn, "CN=STGM-7-3,OU=instance-7,OU=traffic_replay,DC=x,DC=y");
    free(dn);
    account_set_clear(&set);
}

static void foreign_names_are_not_ours(void **state)
{
    (void)state;
    static const char *const names[] = {
        "STGU-8-1",  "STGU-7-",   "STGU-7-0", "STGU-7-01", "STGU-7-1$", "STGM-7-1",
        "STGU-7-1x", "STGU-7--1", "joe",      "STGU-77-1", "",          "STGU-7-99999999999"};
    struct account_set set;
    assert_int_equal(account_set_init(&set, "DC=x", 7), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum account_kind kind;
        uint32_t number;
        if (account_set_parse(&set, names[i], &kind, &number))
            fail_msg("%s was accepted as a test account", names[i]);
    }
    assert_false(account_set_has(&set, ACCOUNT_USER, 1));
    assert_int_equal(account_set_note(&set, ACCOUNT_USER, 1000, 0), 0);
    assert_int_equal(account_set_note(&set, ACCOUNT_USER, 1000, 0), 0);
    assert_true(account_set_has(&set, ACCOUNT_USER, 1000));
    assert_false(account_set_has(&set, ACCOUNT_USER, 999));
    assert_false(account_set_has(&set, ACCOUNT_USER, 100000));
    assert_int_equal(set.there[ACCOUNT_USER].count, 1);
    account_set_clear(&set);
}

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_are_read),
        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(many_lines_and_readable_modes),
        cmocka_unit_test(accounts_have_names_by_kind),
        cmocka_unit_test(foreign_names_are_not_ours),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
