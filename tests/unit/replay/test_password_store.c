/* SPDX-License-Identifier: Apache-2.0 */
/* The stored password: modes, reuse, files that must not be trusted, concurrent processes. */
#include "replay/accounts/password_store.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char folder[64];
static struct error error = {0};

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test-store-XXXXXX");
    return mkdtemp(folder) && setenv("XDG_STATE_HOME", folder, 1) == 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static void a_password_is_kept(void **state)
{
    (void)state;
    struct password_store one, again, other;
    umask(0);
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "a.example", .instance = 3}, &one,
                            &error),
        0);
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "a.example", .instance = 3},
                            &again, &error),
        0);
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "a.example", .instance = 4},
                            &other, &error),
        0);
    assert_int_equal(strlen(one.password), PASSWORD_STORE_LENGTH);
    assert_string_equal(one.password, again.password);
    assert_memory_equal(one.key, again.key, sizeof one.key);
    assert_string_not_equal(one.password, other.password);
    assert_memory_not_equal(one.key, other.key, sizeof one.key);
    assert_int_equal(mode_of(one.path), 0600);
    char expected[128];
    snprintf(expected, sizeof expected, "%s/traffic-replay/a.example-instance-3", folder);
    assert_string_equal(one.path, expected);
    snprintf(expected, sizeof expected, "%s/traffic-replay", folder);
    assert_int_equal(mode_of(expected), 0700);
    password_store_clear(&one);
    password_store_clear(&again);
    password_store_clear(&other);
}

static void passwords_are_complex(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct password_store store;
        assert_int_equal(password_store_make(&store), 0);
        assert_int_equal(strcspn(store.password, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < 24, 1);
        assert_int_equal(strcspn(store.password, "abcdefghijklmnopqrstuvwxyz") < 24, 1);
        assert_int_equal(strcspn(store.password, "0123456789") < 24, 1);
        assert_int_equal(strcspn(store.password, "+-_=") < 24, 1);
        password_store_clear(&store);
    }
}

/* RFC 4231, test case 2, with the key padded with zeros, as HMAC does. */
static void the_marker_is_an_hmac(void **state)
{
    (void)state;
    struct password_store store = {.key = "Jefe"};
    char marker[PASSWORD_STORE_MARKER_SIZE];
    password_store_marker(&store, "what do ya want for nothing?", marker);
    assert_string_equal(marker, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void expect_refused(const char *content, mode_t mode, int expected, const char *words)
{
    char path[128];
    struct password_store store;
    snprintf(path, sizeof path, "%s/traffic-replay/b.example-instance-0", folder);
    unlink(path);
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "b.example", .instance = 0},
                            &store, &error),
        0);
    password_store_clear(&store);
    if (content) {
        FILE *file = fopen(path, "w");
        fputs(content, file);
        fclose(file);
    }
    chmod(path, mode);
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "b.example", .instance = 0},
                            &store, &error),
        expected);
    assert_int_equal(error.code, expected);
    assert_non_null(strstr(error.text, words));
    assert_non_null(strstr(error.text, path));
    password_store_clear(&store);
}

static void untrusted_files_are_refused(void **state)
{
    (void)state;
    expect_refused(NULL, 0640, -EPERM, "only you may own and read it");
    expect_refused(NULL, 0604, -EPERM, "only you may own and read it");
    expect_refused("", 0600, -EINVAL, "damaged");
    expect_refused("password = aaaaaaaaaaaaaaaaaaaaaaaa\n", 0600, -EINVAL, "damaged");
    expect_refused("password = short\nkey = "
                   "0000000000000000000000000000000000000000000000000000000000000000\n",
                   0600, -EINVAL, "damaged");
    expect_refused("password = aaaaaaaaaaaaaaaaaaaaaaaa\nkey = "
                   "000000000000000000000000000000000000000000000000000000000000000x\n",
                   0600, -EINVAL, "damaged");
}

static void links_are_not_followed(void **state)
{
    (void)state;
    char path[128], target[128];
    struct password_store store;
    snprintf(path, sizeof path, "%s/traffic-replay/l.example-instance-0", folder);
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    assert_int_equal(symlink(target, path), 0);
    assert_true(
        password_store_open(&(struct password_store_id){.domain = "l.example", .instance = 0},
                            &store, &error) < 0);
    assert_int_not_equal(access(target, F_OK), 0);
    password_store_clear(&store);
}

/* A domain's name comes from the network. */
static void names_stay_inside_the_folder(void **state)
{
    (void)state;
    struct password_store store;
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "../../x/y", .instance = 0},
                            &store, &error),
        0);
    char expected[128];
    snprintf(expected, sizeof expected, "%s/traffic-replay/.._.._x_y-instance-0", folder);
    assert_string_equal(store.path, expected);
    password_store_clear(&store);
}

static void no_folder_is_reported(void **state)
{
    (void)state;
    struct password_store store;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("XDG_STATE_HOME", "relative/is/ignored", 1);
    unsetenv("HOME");
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "a.example", .instance = 0},
                            &store, &error),
        -ENOENT);
    assert_non_null(strstr(error.text, "XDG_STATE_HOME"));
    password_store_clear(&store);
    if (home)
        setenv("HOME", home, 1);
    free(home);
    setenv("XDG_STATE_HOME", folder, 1);
}

/* Several processes that start at once must agree. */
static void concurrent_processes_agree(void **state)
{
    (void)state;
    enum { RACERS = 16 };
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < RACERS; i++)
        if (fork() == 0) {
            struct password_store store;
            if (password_store_open(
                    &(struct password_store_id){.domain = "r.example", .instance = 0}, &store,
                    &error) != 0)
                _exit(1);
            _exit(write(pipes[1], store.password, PASSWORD_STORE_LENGTH) == PASSWORD_STORE_LENGTH
                      ? 0
                      : 2);
        }
    char first[PASSWORD_STORE_LENGTH], next[PASSWORD_STORE_LENGTH];
    for (int i = 0, status; i < RACERS; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < RACERS; i++) {
        assert_int_equal(read(pipes[0], i ? next : first, sizeof first), sizeof first);
        if (i)
            assert_memory_equal(next, first, sizeof first);
    }
    close(pipes[0]);
    close(pipes[1]);
}

static void files_are_removed(void **state)
{
    (void)state;
    struct password_store store;
    assert_int_equal(
        password_store_open(&(struct password_store_id){.domain = "a.example", .instance = 9},
                            &store, &error),
        0);
    assert_int_equal(
        password_store_remove(&(struct password_store_id){.domain = "a.example", .instance = 9}),
        0);
    assert_int_not_equal(access(store.path, F_OK), 0);
    assert_int_equal(
        password_store_remove(&(struct password_store_id){.domain = "a.example", .instance = 9}),
        0);
    password_store_clear(&store);
}

/* Two labs of one realm. */
static void domains_of_one_name_have_separate_passwords(void **state)
{
    (void)state;
    const struct password_store_id one = {"same.example", "S-1-5-21-1-2-3", 0},
                                   two = {"same.example", "S-1-5-21-1-2-4", 0};
    struct password_store first, second, again;
    assert_int_equal(password_store_open(&one, &first, &error), 0);
    assert_int_equal(password_store_open(&two, &second, &error), 0);
    assert_int_equal(password_store_open(&one, &again, &error), 0);
    assert_string_not_equal(first.password, second.password);
    assert_string_equal(first.password, again.password);
    assert_non_null(strstr(first.path, "/same.example-S-1-5-21-1-2-3-instance-0"));
    password_store_clear(&first);
    password_store_clear(&second);
    password_store_clear(&again);
}

static void the_file_of_an_earlier_version_goes_to_the_domain_that_has_its_password(void **state)
{
    (void)state;
    const struct password_store_id earlier = {"old.example", NULL, 0},
                                   ours = {"old.example", "S-1-5-21-7-8-9", 0};
    struct password_store old, now;
    char other[PASSWORD_STORE_MARKER_SIZE], marker[PASSWORD_STORE_MARKER_SIZE];
    assert_int_equal(password_store_open(&earlier, &old, &error), 0);
    password_store_marker(&old, "another", other);
    password_store_marker(&old, old.password, marker);
    password_store_migrate(&ours, NULL, other);
    password_store_migrate(&ours, NULL, "");
    assert_int_equal(access(old.path, F_OK), 0);
    password_store_migrate(&ours, NULL, marker);
    assert_int_not_equal(access(old.path, F_OK), 0);
    assert_int_equal(password_store_open(&ours, &now, &error), 0);
    assert_string_equal(now.password, old.password);
    assert_int_equal(mode_of(now.path), 0600);
    password_store_clear(&old);
    password_store_clear(&now);
    assert_int_equal(password_store_open(&earlier, &old, &error), 0);
    /* An existing file is not replaced; with -F, the marker is that of the fixed password. */
    password_store_marker(&old, "fixed", marker);
    password_store_migrate(&ours, "fixed", marker);
    assert_int_equal(access(old.path, F_OK), 0);
    assert_int_equal(password_store_remove(&ours), 0);
    password_store_migrate(&ours, "fixed", marker);
    assert_int_not_equal(access(old.path, F_OK), 0);
    password_store_clear(&old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_password_is_kept),
        cmocka_unit_test(passwords_are_complex),
        cmocka_unit_test(the_marker_is_an_hmac),
        cmocka_unit_test(untrusted_files_are_refused),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(names_stay_inside_the_folder),
        cmocka_unit_test(no_folder_is_reported),
        cmocka_unit_test(concurrent_processes_agree),
        cmocka_unit_test(files_are_removed),
        cmocka_unit_test(domains_of_one_name_have_separate_passwords),
        cmocka_unit_test(the_file_of_an_earlier_version_goes_to_the_domain_that_has_its_password),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
