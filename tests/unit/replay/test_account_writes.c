/* SPDX-License-Identifier: Apache-2.0 */
/* The writes that create and remove accounts, against a directory in memory: several requests in
 * flight, refusals that pass, lost connections, tree deletes that stop. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* needs some of the above */
#include <cmocka.h>

#include "replay/accounts/account_removal.h"
#include "replay/accounts/accounts.h"
#include "replay/accounts/directory.h"
#include "replay/accounts/directory_queue.h"
#include "tests/lib/servers/directory_server.h"

#define UNIT "OU=instance-7,OU=traffic_replay," DIRECTORY_SERVER_BASE

static struct directory_server server;
static struct error error;
static bool read_only; /* the server is an RODC */
static char folder[] = "/tmp/test-account-writes-XXXXXX";

static int begin(void **state)
{
    (void)state;
    memset(&server, 0, sizeof server);
    directory_first_pause = 1000000;
    read_only = false;
    return setenv("XDG_STATE_HOME", folder, 1);
}

/* -G with this many users, one group and five memberships for each user. */
static int generate(uint64_t users)
{
    struct settings settings = {.generate_users_only = true,
                                .number_of_users = users,
                                .number_of_groups_given = true,
                                .number_of_groups = 1,
                                .fixed_password = "Secret-1",
                                .instance_id = 7,
                                .yes = true};
    struct accounts_wanted wanted;
    struct dc *dc = directory_server_dc(&server);
    dc->read_only = read_only;
    error = (struct error){0};
    assert_int_equal(accounts_wanted(&settings, 0, &wanted, &error), 0);
    int result = accounts_ensure(&settings, &wanted, 0, dc, &error);
    dc_free(dc);
    return result;
}

static int clean_up(void)
{
    struct settings settings = {.instance_id = 7};
    struct dc *dc = directory_server_dc(&server);
    bool removed;
    dc->read_only = read_only;
    error = (struct error){0};
    int result = account_removal_run(&settings, dc, &removed, &error);
    dc_free(dc);
    return result;
}

static void assert_generated(uint64_t users)
{
    int result = generate(users);
    if (result)
        fail_msg("%d: %s", result, error.text);
}

static void assert_removed(void)
{
    int result = clean_up();
    if (result)
        fail_msg("%d: %s", result, error.text);
    assert_int_equal(server.count, 1);
}

static size_t count_named(const char *prefix)
{
    size_t count = 0;
    for (size_t i = 0; i < server.count; i++)
        count += strncmp(server.entries[i].name, prefix, strlen(prefix)) == 0;
    return count;
}

static void every_account_is_created_once_with_requests_that_overlap(void **state)
{
    (void)state;
    server.ldap.together = DIRECTORY_QUEUE_IN_FLIGHT;
    directory_server_start(&server);
    assert_generated(100);
    assert_int_equal(count_named("STGU-7-"), 100);
    assert_int_equal(count_named("PC-7-"), 125);
    assert_int_equal(directory_server_requests(&server, LDAP_REQ_ADD), 2 + 100 + 125 + 1);
    assert_int_equal(server.ldap.most_together, DIRECTORY_QUEUE_IN_FLIGHT);
    directory_server_stop(&server);
}

/* Chunks of one group follow one another: the server sees one at a time. */
static unsigned members_in_flight;
static int count_chunks(struct directory_server *self, int request, const char *dn, bool tree,
                        const char **text)
{
    (void)self;
    (void)tree;
    (void)text;
    if (request == LDAP_REQ_MODIFY && strncmp(dn, "CN=STGG-", 8) == 0)
        members_in_flight++;
    return 0;
}

static void members_of_a_large_group_are_added_chunk_by_chunk(void **state)
{
    (void)state;
    members_in_flight = 0;
    server.refuse = count_chunks;
    server.ldap.together = DIRECTORY_QUEUE_IN_FLIGHT;
    directory_server_start(&server);
    assert_generated(1500);
    const struct directory_server_entry *group =
        directory_server_find(&server, "CN=STGG-7-1," UNIT);
    assert_non_null(group);
    assert_int_equal(group->members, 1500);
    assert_int_equal(group->largest_request, 1000);
    assert_int_equal(members_in_flight, 2);
    directory_server_stop(&server);
}

static int refusals;
static struct {
    int code;
    const char *text;
} refusal;

/* Refuses a user and the tree delete as often as `refusals` says. */
static int refuse_some(struct directory_server *self, int request, const char *dn, bool tree,
                       const char **text)
{
    (void)self;
    bool chosen = (request == LDAP_REQ_ADD && strncmp(dn, "CN=STGU-7-3,", 12) == 0) || tree;
    if (!chosen || refusals == 0)
        return 0;
    refusals--;
    *text = refusal.text;
    return refusal.code;
}

static void refusals_that_pass_are_repeated(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *text;
    } passing[] = {{LDAP_BUSY, ""},
                   {LDAP_UNAVAILABLE, ""},
                   {LDAP_UNWILLING_TO_PERFORM, "00002010: SvcErr: DSID-031A1202, problem 5003"}};
    server.refuse = refuse_some;
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        refusal.code = passing[i].code;
        refusal.text = passing[i].text;
        directory_server_start(&server);
        refusals = 5;
        assert_generated(8);
        assert_int_equal(count_named("STGU-7-"), 8);
        refusals = 2;
        assert_removed();
        assert_int_equal(refusals, 0);
        directory_server_stop(&server);
    }
}

static void a_refusal_that_does_not_pass_ends_the_creation(void **state)
{
    (void)state;
    server.refuse = refuse_some;
    directory_server_start(&server);
    refusal.code = LDAP_BUSY;
    refusal.text = "later";
    refusals = 6;
    assert_int_equal(generate(8), -EACCES);
    assert_string_equal(error.text, "cannot add STGU-7-3: busy (later)");
    refusal.code = LDAP_UNWILLING_TO_PERFORM;
    refusal.text = "0000052D: SvcErr: DSID-031A12D2, problem 5003 (WILL_NOT_PERFORM)";
    refusals = 1;
    assert_int_equal(generate(8), -EACCES);
    assert_string_equal(error.text,
                        "cannot add STGU-7-3: unwillingToPerform (0000052D: SvcErr: DSID-031A12D2, "
                        "problem 5003 (WILL_NOT_PERFORM)); if the domain's password policy is the "
                        "reason, set an acceptable password with -F");
    directory_server_stop(&server);
}

static void a_taken_name_is_reported_with_its_holder(void **state)
{
    (void)state;
    directory_server_start(&server);
    directory_server_put(&server, "CN=Somebody," DIRECTORY_SERVER_BASE, "STGU-7-4");
    assert_int_equal(generate(8), -EEXIST);
    assert_string_equal(
        error.text, "cannot add STGU-7-4: the name is taken by CN=Somebody," DIRECTORY_SERVER_BASE
                    "; choose another instance with -I, or rename or delete that object");
    directory_server_stop(&server);
}

static void many_objects_are_deleted_singly_and_few_by_a_tree_delete(void **state)
{
    (void)state;
    directory_server_start(&server);
    assert_generated(8);
    assert_removed();
    /* The OU with its tree, and its parent. */
    assert_int_equal(directory_server_requests(&server, LDAP_REQ_DELETE), 2);
    assert_generated(ACCOUNT_REMOVAL_TREE_MAX / 2);
    size_t objects = server.count - 3;
    assert_true(objects > ACCOUNT_REMOVAL_TREE_MAX);
    assert_removed();
    assert_int_equal(directory_server_requests(&server, LDAP_REQ_DELETE), 2 + objects + 2);
    directory_server_stop(&server);
}

/* Windows refuses a tree delete that meets a critical object. */
static int refuse_critical(struct directory_server *self, int request, const char *dn, bool tree,
                           const char **text)
{
    (void)dn;
    if (request != LDAP_REQ_DELETE || !tree || !directory_server_find(self, "CN=PC-7-2," UNIT))
        return 0;
    *text = "00002170: SvcErr: DSID-031A0E4C, problem 5003 (WILL_NOT_PERFORM), data 0";
    directory_server_drop(self, "CN=PC-7-1," UNIT);
    return LDAP_UNWILLING_TO_PERFORM;
}

static void a_tree_delete_that_meets_a_critical_object_is_completed_singly(void **state)
{
    (void)state;
    server.refuse = refuse_critical;
    directory_server_start(&server);
    assert_generated(8);
    directory_server_put(&server, "CN=child,CN=PC-7-2," UNIT, "");
    assert_removed();
    directory_server_stop(&server);
}

static void a_renamed_account_is_reported(void **state)
{
    (void)state;
    directory_server_start(&server);
    assert_generated(8);
    directory_server_drop(&server, "CN=STGU-7-2," UNIT);
    directory_server_put(&server, "CN=Renamed," UNIT, "STGU-7-2");
    assert_int_equal(generate(8), -EACCES);
    assert_string_equal(error.text, "STGU-7-2 has been renamed to CN=Renamed," UNIT
                                    "; rename it back, or remove the accounts with -c -I 7");
    directory_server_stop(&server);
}

static int refuse_members(struct directory_server *self, int request, const char *dn, bool tree,
                          const char **text)
{
    (void)self;
    (void)tree;
    (void)text;
    bool chosen = request == LDAP_REQ_MODIFY && strncmp(dn, "CN=STGG-", 8) == 0;
    return chosen && refusals ? LDAP_OTHER : 0;
}

static void assert_memberships(size_t members)
{
    const struct directory_server_entry *group =
        directory_server_find(&server, "CN=STGG-7-1," UNIT);
    const struct directory_server_entry *unit = directory_server_find(&server, UNIT);
    assert_non_null(group);
    assert_int_equal(group->members, members);
    assert_non_null(strstr(unit->description, " users=40 groups=1 memberships=40"));
}

static void accounts_made_again_get_their_memberships_back(void **state)
{
    (void)state;
    server.refuse = refuse_members;
    refusals = 0;
    directory_server_start(&server);
    assert_generated(40);
    assert_memberships(40);
    directory_server_drop(&server, "CN=STGU-7-3," UNIT);
    directory_server_drop(&server, "CN=STGU-7-9," UNIT);
    assert_generated(40);
    assert_memberships(40 + 2);
    directory_server_drop(&server, "CN=STGG-7-1," UNIT);
    assert_generated(40);
    assert_memberships(40);
    /* A call that creates a user and then fails does not hide that memberships are missing. */
    directory_server_drop(&server, "CN=STGU-7-3," UNIT);
    refusals = 1;
    assert_int_equal(generate(40), -EACCES);
    refusals = 0;
    assert_generated(40);
    assert_memberships(40 + 40);
    directory_server_stop(&server);
}

/* Refuses all users. */
static int refuse_users(struct directory_server *self, int request, const char *dn, bool tree,
                        const char **text)
{
    (void)self;
    (void)tree;
    (void)text;
    return request == LDAP_REQ_ADD && strncmp(dn, "CN=STGU-", 8) == 0 ? LDAP_CONSTRAINT_VIOLATION
                                                                      : 0;
}

static void a_refused_first_account_leaves_nothing(void **state)
{
    (void)state;
    server.refuse = refuse_users;
    directory_server_start(&server);
    assert_int_equal(generate(8), -EACCES);
    assert_int_equal(server.count, 1);
    /* An OU that was there before stays. */
    server.refuse = NULL;
    assert_generated(8);
    directory_server_drop(&server, "CN=STGU-7-1," UNIT);
    size_t before = server.count;
    server.refuse = refuse_users;
    assert_int_equal(generate(8), -EACCES);
    assert_int_equal(server.count, before);
    directory_server_stop(&server);
}

/* The administrator can do nothing above OU=traffic_replay. */
static int refuse_parent(struct directory_server *self, int request, const char *dn, bool tree,
                         const char **text)
{
    (void)self;
    (void)tree;
    (void)text;
    bool parent = strcmp(dn, "OU=traffic_replay," DIRECTORY_SERVER_BASE) == 0;
    return parent && request != LDAP_REQ_SEARCH ? LDAP_INSUFFICIENT_ACCESS : 0;
}

static void an_administrator_of_the_existing_ou_alone_can_make_accounts(void **state)
{
    (void)state;
    server.refuse = refuse_parent;
    directory_server_start(&server);
    directory_server_put(&server, "OU=traffic_replay," DIRECTORY_SERVER_BASE, "");
    assert_generated(8);
    assert_int_equal(clean_up(), 0);
    assert_int_equal(server.count, 2);
    /* An OU that others have created stays even if it could be deleted. */
    server.refuse = NULL;
    assert_generated(8);
    assert_int_equal(clean_up(), 0);
    assert_non_null(directory_server_find(&server, "OU=traffic_replay," DIRECTORY_SERVER_BASE));
    directory_server_stop(&server);
}

static void a_read_only_dc_is_named_before_anything_is_written(void **state)
{
    (void)state;
    static const char message[] = "localhost is a read-only domain controller; create and remove "
                                  "the accounts at a writable one";
    directory_server_start(&server);
    read_only = true;
    assert_int_equal(generate(8), -EACCES);
    assert_string_equal(error.text, message);
    assert_int_equal(clean_up(), 0);
    read_only = false;
    assert_generated(8);
    read_only = true;
    assert_generated(8);
    assert_int_equal(generate(9), -EACCES);
    assert_string_equal(error.text, message);
    assert_int_equal(clean_up(), -EACCES);
    assert_string_equal(error.text, message);
    directory_server_stop(&server);
}

static unsigned seen, cuts;
static struct {
    int request;    /* 0: any */
    unsigned every; /* each one of this number loses its connection */
} cut;

/* Carries out the request, but closes the connection instead of an answer. */
static int lose_connections(struct directory_server *self, int request, const char *dn, bool tree,
                            const char **text)
{
    (void)dn;
    (void)tree;
    (void)text;
    bool lost = (cut.request == 0 || cut.request == request) && ++seen % cut.every == 0;
    self->ldap.cut_after = lost ? 0 : SIZE_MAX;
    cuts += lost;
    return 0;
}

static void lost_connections_are_replaced_while_accounts_are_made_and_removed(void **state)
{
    (void)state;
    static const int requests[] = {LDAP_REQ_SEARCH, LDAP_REQ_ADD, LDAP_REQ_MODIFY, LDAP_REQ_DELETE};
    server.refuse = lose_connections;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        cut.request = requests[i];
        cut.every = cut.request == LDAP_REQ_ADD || cut.request == LDAP_REQ_DELETE ? 40 : 3;
        seen = cuts = 0;
        directory_server_start(&server);
        server.ldap.reset = i % 2;
        assert_generated(ACCOUNT_REMOVAL_TREE_MAX / 2);
        assert_int_equal(count_named("STGU-7-"), ACCOUNT_REMOVAL_TREE_MAX / 2);
        assert_removed();
        assert_true(cuts > 0);
        directory_server_stop(&server);
    }
}

static void a_server_that_closes_every_connection_is_given_up(void **state)
{
    (void)state;
    server.refuse = lose_connections;
    cut.request = LDAP_REQ_ADD;
    cut.every = 1;
    directory_server_start(&server);
    assert_true(generate(8) < 0);
    assert_string_equal(error.text, "cannot add OU=traffic_replay," DIRECTORY_SERVER_BASE
                                    ": connection closed by the server");
    cut.request = LDAP_REQ_SEARCH;
    assert_true(clean_up() < 0);
    assert_string_equal(error.text, "cannot read " UNIT ": connection closed by the server");
    directory_server_stop(&server);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_account_is_created_once_with_requests_that_overlap, begin),
        cmocka_unit_test_setup(members_of_a_large_group_are_added_chunk_by_chunk, begin),
        cmocka_unit_test_setup(refusals_that_pass_are_repeated, begin),
        cmocka_unit_test_setup(a_refusal_that_does_not_pass_ends_the_creation, begin),
        cmocka_unit_test_setup(a_taken_name_is_reported_with_its_holder, begin),
        cmocka_unit_test_setup(many_objects_are_deleted_singly_and_few_by_a_tree_delete, begin),
        cmocka_unit_test_setup(a_renamed_account_is_reported, begin),
        cmocka_unit_test_setup(a_read_only_dc_is_named_before_anything_is_written, begin),
        cmocka_unit_test_setup(accounts_made_again_get_their_memberships_back, begin),
        cmocka_unit_test_setup(a_refused_first_account_leaves_nothing, begin),
        cmocka_unit_test_setup(an_administrator_of_the_existing_ou_alone_can_make_accounts, begin),
        cmocka_unit_test_setup(lost_connections_are_replaced_while_accounts_are_made_and_removed,
                               begin),
        cmocka_unit_test_setup(a_server_that_closes_every_connection_is_given_up, begin),
        cmocka_unit_test_setup(a_tree_delete_that_meets_a_critical_object_is_completed_singly,
                               begin),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
