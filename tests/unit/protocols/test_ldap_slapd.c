/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The LDAP packets against OpenLDAP's slapd, with --server ldap: simple binds in clear, all
 * operations, pages, the catalogue, many fibers. The test starts the server on a separate loopback
 * address in a temporary folder, and stops it by its process id.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/ldap/catalogue.h"
#include "protocols/ldap/ldap_connection.h"
#include "protocols/ldap/ldap_search.h"
#include "replay/engine/loop.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/ldap_server.h"
#include "tests/lib/test_random.h"

#define SLAPD  "/usr/sbin/slapd"
#define SUFFIX "dc=test,dc=example"
#define PEOPLE "ou=people," SUFFIX

enum { PEOPLE_COUNT = 2500, USERS = 8 };

static const int64_t TIMEOUT = 20000000000;

static char folder[200];
static pid_t slapd_pid;
static uint16_t slapd_port;
static struct dc *dc;

static FILE *create(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_configuration(void)
{
    FILE *file = create("slapd.conf");
    fprintf(file,
            "include /etc/ldap/schema/core.schema\n"
            "include /etc/ldap/schema/cosine.schema\n"
            "include /etc/ldap/schema/inetorgperson.schema\n"
            "modulepath /usr/lib/ldap\nmoduleload back_mdb\n"
            "sizelimit unlimited\n"
            "database mdb\nsuffix \"" SUFFIX "\"\nrootdn \"cn=admin," SUFFIX "\"\nrootpw admin\n"
            "directory %s/db\nindex objectClass,uid,cn eq\ndbnosync\n"
            "access to attrs=userPassword by anonymous auth by * none\n"
            "access to * by users write by * read\n",
            folder);
    assert_int_equal(fclose(file), 0);
}

static void write_people(void)
{
    FILE *file = create("people.ldif");
    fputs("dn: " SUFFIX "\nobjectClass: dcObject\nobjectClass: organization\ndc: test\no: test\n\n"
          "dn: " PEOPLE "\nobjectClass: organizationalUnit\nou: people\n\n",
          file);
    for (int i = 0; i < PEOPLE_COUNT; i++)
        fprintf(file,
                "dn: uid=p%d," PEOPLE "\nobjectClass: inetOrgPerson\nuid: p%d\ncn: Person (%d)\n"
                "sn: %d\nuserPassword: secret%d\n\n",
                i, i, i, i, i);
    assert_int_equal(fclose(file), 0);
}

/* The test prints TAP on standard output. */
static pid_t start(char *const *arguments)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(arguments[0], arguments);
        _exit(127);
    }
    return pid;
}

static void load_people(const char *configuration)
{
    char path[300];
    int status;
    snprintf(path, sizeof path, "%s/people.ldif", folder);
    char *arguments[] = {"/usr/sbin/slapadd", "-q", "-f", (char *)configuration, "-l", path, NULL};
    assert_int_equal(waitpid(start(arguments), &status, 0) >= 0, 1);
    assert_int_equal(status, 0);
}

static uint16_t free_port(const char *address)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t size = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, address, &any.sin_addr);
    assert_int_equal(bind(fd, (struct sockaddr *)&any, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &size), 0);
    close(fd);
    return ntohs(any.sin_port);
}

static bool answers(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    close(fd);
    return connected;
}

static void start_slapd(const char *address)
{
    char configuration[300], url[100], path[300];
    snprintf(folder, sizeof folder, "%s/slapd-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/db", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_configuration();
    write_people();
    snprintf(configuration, sizeof configuration, "%s/slapd.conf", folder);
    load_people(configuration);
    slapd_port = free_port(address);
    snprintf(url, sizeof url, "ldap://%s:%u/", address, slapd_port);
    char *arguments[] = {SLAPD, "-d", "0", "-f", configuration, "-h", url, NULL};
    slapd_pid = start(arguments);
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(slapd_port)};
    inet_pton(AF_INET, address, &peer.sin_addr);
    for (int i = 0; i < 500 && !answers(&peer); i++)
        usleep(20000);
    assert_true(answers(&peer));
}

static int delete_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static char *text_of(const char *format, int number)
{
    char *text = NULL;
    assert_true(asprintf(&text, format, number) > 0);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    static const char address[] = "127.77.3.1";
    if (access(SLAPD, X_OK) != 0)
        return 0;
    start_slapd(address);
    assert_int_equal(ldap_connection_global_init(NULL), 0);
    struct ldap_server server = {.port = slapd_port};
    dc = ldap_server_dc(&server);
    inet_pton(AF_INET, address, &((struct sockaddr_in *)&dc->address)->sin_addr);
    dc->options.generic_ldap = true;
    dc->base_dn = strdup(SUFFIX);
    dc->admin.name = strdup("cn=admin," SUFFIX);
    dc->admin.password = strdup("admin");
    dc->users = calloc(USERS, sizeof *dc->users);
    assert_non_null(dc->users);
    dc->account_count = USERS;
    for (int i = 0; i < USERS; i++) {
        dc->users[i].name = text_of("p%d", i);
        dc->users[i].dn = text_of("uid=p%d," PEOPLE, i);
        dc->users[i].password = text_of("secret%d", i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!dc)
        return 0;
    catalogue_free(dc->catalogue);
    dc->catalogue = NULL;
    dc_free(dc);
    kill(slapd_pid, SIGTERM);
    waitpid(slapd_pid, NULL, 0);
    return nftw(folder, delete_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void need_slapd(void)
{
    if (!dc)
        skip();
}

static void begin(struct conversation *conversation, struct waiter *waiter, uint64_t *chance,
                  unsigned user)
{
    *conversation = (struct conversation){.wire = {.waiter = waiter},
                                          .dc = dc,
                                          .user = &dc->users[user],
                                          .machine = &dc->users[user],
                                          .random = test_random,
                                          .random_state = chance};
    conversation->wire.deadline = clock_now() + TIMEOUT;
    conversation_init(conversation);
}

static struct outcome play_fields(struct conversation *conversation, const char *opcode,
                                  const struct packet_field *fields, size_t count)
{
    return form_play(conversation, "ldap", opcode, fields, count, TIMEOUT);
}

static struct outcome play(struct conversation *conversation, const char *opcode)
{
    return play_fields(conversation, opcode, NULL, 0);
}

static struct outcome search(struct conversation *conversation, const char *base,
                             const char *filter)
{
    static const char *const scope = "sub";
    const struct packet_field fields[] = {
        {"scope", 1, &scope}, {"base", 1, &base}, {"filter", 1, &filter}};
    return play_fields(conversation, "3", fields, 3);
}

static void the_catalogue_is_read(void **state)
{
    (void)state;
    need_slapd();
    struct conversation conversation;
    uint64_t chance = 1;
    struct error error = {0};
    begin(&conversation, wire_blocking_waiter(), &chance, 0);
    assert_int_equal(catalogue_read(&conversation, &dc->catalogue, &error), 0);
    assert_int_equal(catalogue_count(dc->catalogue), PEOPLE_COUNT + 2);
    assert_string_equal(catalogue_base(dc->catalogue, &conversation, "OU"), PEOPLE);
    assert_memory_equal(catalogue_base(dc->catalogue, &conversation, "UID,OU"), "uid=p", 5);
}

static void each_packet_is_played(void **state)
{
    (void)state;
    need_slapd();
    static const char *const opcodes[] = {"0",  "3",  "6",  "8",  "10", "10", "12",
                                          "12", "14", "16", "14", "23", "3"};
    struct conversation conversation;
    uint64_t chance = 1;
    begin(&conversation, wire_blocking_waiter(), &chance, 1);
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        assert_ok(play(&conversation, opcodes[i]));
    assert_ok(search(&conversation, "OU,DC,DC", "(cn)"));
    assert_ok(search(&conversation, "DC,DC", "(&(uid)(objectClass=inetOrgPerson))"));
    assert_ok(search(&conversation, "OU,DC,DC", "(cn=Person \\2877\\29)"));
    conversation_reset(&conversation);
}

static void wrong_passwords_are_refused(void **state)
{
    (void)state;
    need_slapd();
    struct conversation conversation;
    uint64_t chance = 1;
    begin(&conversation, wire_blocking_waiter(), &chance, 2);
    dc->options.badpassword_frequency = 1;
    struct outcome outcome = play(&conversation, "0");
    dc->options.badpassword_frequency = 0;
    assert_ok(outcome);
    assert_int_equal(conversation.expected_failures, 1);
    conversation_reset(&conversation);
    struct account wrong = dc->users[2];
    wrong.password = "wrong";
    conversation.user = &wrong;
    outcome = play(&conversation, "0");
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    assert_string_equal(outcome.cause, "invalidCredentials");
    conversation_reset(&conversation);
}

static bool count_entry(void *context, LDAP *handle, LDAPMessage *entry)
{
    (void)handle;
    (void)entry;
    return --*(int *)context > 0;
}

static void pages_are_read_as_far_as_wanted(void **state)
{
    (void)state;
    need_slapd();
    struct conversation conversation;
    struct ldap_connection *connection = NULL;
    uint64_t chance = 1;
    begin(&conversation, wire_blocking_waiter(), &chance, 3);
    assert_ok(ldap_connection_open_admin(&connection, &conversation));
    struct ldap_search all = {.base = SUFFIX,
                              .scope = LDAP_SCOPE_SUBTREE,
                              .filter = "(objectClass=inetOrgPerson)",
                              .paged = true};
    assert_ok(ldap_search_run(connection, &all));
    assert_int_equal(all.entries, PEOPLE_COUNT);
    int wanted = LDAP_SEARCH_PAGE + 1;
    all.entry = count_entry;
    all.context = &wanted;
    assert_ok(ldap_search_run(connection, &all));
    assert_int_equal(all.entries, 2 * LDAP_SEARCH_PAGE);
    all.base = "dc=elsewhere";
    assert_string_equal(ldap_search_run(connection, &all).cause, "noSuchObject");
    ldap_connection_close(connection);
}

struct crowd {
    unsigned ok;
    char cause[OUTCOME_CAUSE_SIZE];
};

static void one_of_many(struct loop *loop, void *argument, uint64_t i)
{
    struct crowd *crowd = argument;
    struct conversation conversation;
    uint64_t chance = i;
    begin(&conversation, loop_waiter(loop), &chance, (unsigned)(i % USERS));
    struct outcome outcome = play(&conversation, "0");
    for (int n = 0; outcome.kind == OUTCOME_OK && n < 20; n++)
        outcome = search(&conversation, "OU,DC,DC", n ? "(cn)" : "(objectClass=*)");
    if (outcome.kind == OUTCOME_OK)
        crowd->ok++;
    else
        snprintf(crowd->cause, sizeof crowd->cause, "%s", outcome.cause);
    conversation_reset(&conversation);
}

static void many_clients_at_once(void **state)
{
    (void)state;
    need_slapd();
    struct crowd crowd = {.ok = 0};
    assert_int_equal(loop_run_all(one_of_many, &crowd, 64, 64), 0);
    assert_string_equal(crowd.cause, "");
    assert_int_equal(crowd.ok, 64);
}

/* The server restarts during the test: failures have causes, and then operations succeed again. */
static void a_server_that_is_restarted(void **state)
{
    (void)state;
    need_slapd();
    struct conversation conversation;
    uint64_t chance = 1;
    begin(&conversation, wire_blocking_waiter(), &chance, 4);
    assert_ok(play(&conversation, "0"));
    kill(slapd_pid, SIGKILL);
    waitpid(slapd_pid, NULL, 0);
    struct outcome outcome = play(&conversation, "3");
    assert_int_equal(outcome.kind, OUTCOME_FAILED);
    outcome = play(&conversation, "3");
    assert_unreached(outcome, "connection refused", "TCP", conversation.dc->ports.ldap);
    char configuration[300], url[100];
    snprintf(configuration, sizeof configuration, "%s/slapd.conf", folder);
    snprintf(url, sizeof url, "ldap://127.77.3.1:%u/", slapd_port);
    char *arguments[] = {SLAPD, "-d", "0", "-f", configuration, "-h", url, NULL};
    slapd_pid = start(arguments);
    for (int i = 0; i < 500 && outcome.kind != OUTCOME_OK; i++) {
        usleep(20000);
        outcome = play(&conversation, "3");
    }
    assert_ok(outcome);
    conversation_reset(&conversation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogue_is_read),
        cmocka_unit_test(each_packet_is_played),
        cmocka_unit_test(wrong_passwords_are_refused),
        cmocka_unit_test(pages_are_read_as_far_as_wanted),
        cmocka_unit_test(many_clients_at_once),
        cmocka_unit_test(a_server_that_is_restarted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
