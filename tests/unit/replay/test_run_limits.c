/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: signals, the limits of this machine, source addresses, accounts and extra DNS queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "replay/limits.h"
#include "replay/source.h"
#include "tests/lib/scenario.h"
#include "tests/lib/servers/udp_server.h"

static const int64_t MS = 1000000;

static int interrupting_signal = SIGINT;

static void *interrupt_later(void *argument)
{
    struct timespec time = {.tv_nsec = *(long *)argument};
    nanosleep(&time, NULL);
    kill(getpid(), interrupting_signal);
    return NULL;
}

/* Plays s and sends SIGINT after delay (ns). */
static void play_interrupted(struct scenario *s, long delay)
{
    pthread_t thread;
    scenario_prepare(s);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &delay), 0);
    scenario_play(s);
    pthread_join(thread, NULL);
    assert_int_equal(s->status, 0);
    assert_int_equal(s->result.end, RUN_END_INTERRUPTED);
}

static void interrupted(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.duration = 60;
    s.rate = 20;
    play_interrupted(&s, 600 * MS);
    assert_in_range(s.result.window_end, 500 * MS, 20000 * MS);
    const struct tally_packet *packet = scenario_counts(&s, "1");
    assert_true(packet->planned > 50);
    assert_int_equal(packet->planned, scenario_planned_in_window(&s));
    assert_true(s.took < 30000 * MS);
    scenario_clear(&s);
}

static void interrupted_in_the_warm_up(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.warmup = 30;
    play_interrupted(&s, 100 * MS);
    assert_int_equal(s.result.window_end, s.result.window_start);
    assert_int_equal(scenario_counts(&s, "1")->planned, 0);
    assert_true(s.took < 25000 * MS);
    scenario_clear(&s);
}

/* The window was measured as planned. */
static void a_signal_after_the_window_ends_the_wait_for_answers(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    pthread_t thread;
    long delay = 900 * MS;
    s.duration = 0.2;
    s.settings.latency_timeout = s.settings.timeout = 60;
    scenario_prepare(&s);
    atomic_store(&s.server->mode, ECHO_SILENT);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, &delay), 0);
    scenario_play(&s);
    pthread_join(thread, NULL);
    atomic_store(&s.server->mode, 0);
    assert_int_equal(s.status, 0);
    assert_int_equal(s.result.end, RUN_END_WINDOW);
    assert_true(s.took < 20000 * MS);
    scenario_clear(&s);
}

/* A run that loses its terminal still has its report. */
static void a_hangup_ends_the_window_like_an_interrupt(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    interrupting_signal = SIGHUP;
    s.duration = 60;
    play_interrupted(&s, 600 * MS);
    interrupting_signal = SIGINT;
    assert_true(s.took < 30000 * MS);
    scenario_clear(&s);
}

static void interrupted_twice(void **state)
{
    (void)state;
    int status;
    int64_t before = clock_now();
    pid_t child = fork();
    if (child == 0) {
        struct scenario s = scenario_usual();
        s.server = calloc(1, sizeof *s.server); /* a new one: threads do not survive fork() */
        s.server->sources = calloc(1, ECHO_SOURCES);
        echo_server_start(s.server);
        atomic_store(&s.server->mode, ECHO_SILENT);
        s.duration = 60;
        s.settings.latency_timeout = 60; /* after the first signal, it waits for answers */
        scenario_prepare(&s);
        scenario_play(&s);
        _exit(1);
    }
    struct timespec time = {.tv_nsec = 600 * MS};
    nanosleep(&time, NULL);
    kill(child, SIGTERM);
    nanosleep(&time, NULL);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* once is not enough */
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_true(clock_now() - before < 40000 * MS);
}

/* In the warm-up, at most 512 clients make their first connections at the same time; the others
 * follow when it ends. Here the server answers only after that. */
static void connecting_in_turn(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.rate = 40;
    s.scale = 75;
    s.warmup = 1;
    s.duration = 1;
    s.settings.latency_timeout = 2;
    atomic_store(&s.server->delay, 1300 * MS);
    scenario_prepare(&s);
    s.tick = scenario_remember_most_open;
    scenario_play(&s);
    assert_int_equal(s.status, 0);
    assert_in_range(s.clients, 1450, 1550);
    assert_in_range(s.most_open_in_warm_up, 200, 512);
    assert_true(s.server->most_open > 600);
    for (uint32_t client = 0; client < s.clients; client++)
        assert_true(scenario_played[client] > 0);
    scenario_clear(&s);
    atomic_store(&s.server->delay, 0);
}

static void source_addresses(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    s.settings.source = "127.9.8.0/24";
    scenario_play_well(&s);
    for (unsigned i = 0; i < ECHO_SOURCES; i++)
        assert_int_equal(s.server->sources[i], i >= 0x801 && i < 0x801 + s.clients);
    scenario_clear(&s);

    static const struct {
        const char *source, *message;
    } wrong[] = {
        {"127.9.8.0/28", "holds 14 addresses for 20 clients"},
        {"192.0.2.0/24", "192.0.2.1 is not an address of this machine"},
        {"fd00::/64", "the server has an IPv4 address"},
        {"127.0.0.1/33", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/-1", "expected ADDRESS/LENGTH"},
        {"127.0.0.1/8x", "expected ADDRESS/LENGTH"},
        {"localhost/8", "expected ADDRESS/LENGTH"},
        {"", "expected ADDRESS/LENGTH"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        s = scenario_usual();
        s.settings.source = wrong[i].source;
        scenario_prepare(&s);
        scenario_play(&s);
        assert_true(s.status < 0);
        if (!strstr(s.error.text, wrong[i].message))
            print_message("# %s: %s\n", wrong[i].source, s.error.text);
        assert_non_null(strstr(s.error.text, wrong[i].message));
        assert_null(strchr(s.error.text, '\n'));
        assert_int_equal(s.error.code, s.status);
        scenario_clear(&s);
    }
}

static void source_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t client, count;
        const char *address;
    } cases[] = {
        {"10.0.0.0/8", 0, (1 << 24) - 2, "10.0.0.1"},
        {"10.0.0.77/8", 255, (1 << 24) - 2, "10.0.1.0"},
        {"10.0.0.5", 9, 1, "10.0.0.5"},
        {"10.0.0.5/32", 9, 1, "10.0.0.5"},
        {"10.0.0.4/31", 1, 2, "10.0.0.5"},
        {"10.0.0.4/30", 1, 2, "10.0.0.6"},
        {"100.64.0.0/8", 65535, (1 << 24) - 2, "100.1.0.0"},
        {"fd00:1::/64", 0, UINT64_MAX - 1, "fd00:1::1"},
        {"fd00:1::ffff:0/112", 65533, 65535, "fd00:1::ffff:fffe"},
        {"fd00::7/128", 3, 1, "fd00::7"},
        {"::1", 3, 1, "::1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct source_range range;
        struct sockaddr_storage address;
        struct error error = {0};
        char text[INET6_ADDRSTRLEN];
        assert_int_equal(source_parse(cases[i].text, &range, &error), 0);
        assert_int_equal(range.count, cases[i].count);
        socklen_t size = source_address(&range, cases[i].client, &address);
        bool v4 = address.ss_family == AF_INET;
        assert_int_equal(size, v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
        inet_ntop(address.ss_family,
                  v4 ? (void *)&((struct sockaddr_in *)&address)->sin_addr
                     : (void *)&((struct sockaddr_in6 *)&address)->sin6_addr,
                  text, sizeof text);
        assert_string_equal(text, cases[i].address);
    }
}

static void unusable_source_ranges_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.0.0.0/0",   "10.0.0.0/7", "0.0.0.0/8", "224.0.0.0/8", "239.1.1.1", "255.255.255.255",
        "240.0.0.0/8", "::/0",       "2000::/3",  "ff02::/16",   "fe80::/64", "::"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct source_range range;
        struct error error = {0};
        if (source_parse(texts[i], &range, &error) != -EINVAL)
            fail_msg("%s is accepted", texts[i]);
        assert_non_null(strstr(error.text, texts[i]));
    }
}

/* Whoever follows it would cut the machine off. */
static void no_route_is_advised_to_addresses_in_use(void **state)
{
    (void)state;
    static const struct {
        const char *source, *server, *text;
        int result;
    } cases[] = {
        {"10.99.0.0/16", NULL, "run: ip route add local 10.99.0.0/16 dev lo", -EADDRNOTAVAIL},
        {"10.99.0.0/16", "10.98.0.1", "run: ip route add local ", -EADDRNOTAVAIL},
        {"10.99.0.0/16", "10.99.7.1", "the range holds the server's address", -EINVAL},
        {"10.99.0.0/16", "dc1=10.99.7.1", "the range holds the server's address", -EINVAL},
        {"8.8.8.8/32", NULL, "the range belongs to others on the Internet", -EINVAL},
        {"172.0.0.0/8", NULL, "the range belongs to others on the Internet", -EINVAL},
        {"fd99::/64", NULL, "run: ip address add fd99::1/128 dev", -EADDRNOTAVAIL},
        {"fd99::/64", "fd99::5", "the range holds the server's address", -EINVAL},
        {"fd99::/64", "dc1=[fd99::5]", "the range holds the server's address", -EINVAL},
        {"10.99.0.0/16", "dc1=[fd00::1]", "the server has an IPv6 address; give an IPv6", -EINVAL},
        {"fd99::/64", "10.98.0.1", "the server has an IPv4 address; give an IPv4", -EINVAL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct source_range range;
        struct error error = {0};
        assert_int_equal(source_parse(cases[i].source, &range, &error), 0);
        assert_int_equal(source_check(&range, 2, cases[i].server, 0, &error), cases[i].result);
        if (!strstr(error.text, cases[i].text))
            fail_msg("%s: %s", cases[i].source, error.text);
        if (cases[i].result == -EINVAL)
            assert_null(strstr(error.text, "run: "));
    }
}

static void too_few_accounts(void **state)
{
    (void)state;
    struct scenario s = scenario_usual();
    scenario_prepare(&s);
    s.dc->account_count = 19;
    scenario_play(&s);
    s.dc->account_count = 20;
    assert_int_equal(s.status, -EINVAL);
    assert_non_null(strstr(s.error.text, "19 accounts for 20 clients"));
    scenario_clear(&s);
}

static void files_per_client(void **state)
{
    (void)state;
    static const struct {
        const char *chain;
        bool generic;
        unsigned files;
    } cases[] = {
        {"  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:3\": 1}\n"
         "  \"ldap:3\": {\"ldap:3\": 9, \"-\": 1}\n",
         true, 1},
        {"  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:0\": 3, \"-\": 1}\n", true, 4},
        {"  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": 1}\n", false,
         2}, /* one for Kerberos tickets */
        {"  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"cldap:3\": 1}\n"
         "  \"cldap:3\": {\"-\": 1}\n",
         true, 2},
        {"  \"-\": {\"cldap:3\": 1}\n  \"cldap:3\": {\"-\": 1}\n", true, 1},
        {"  \"-\": {\"rpc_netlogon:29\": 1}\n  \"rpc_netlogon:29\": {\"-\": 1}\n", false, 2},
        {"  \"-\": {\"rpc_netlogon:20\": 1}\n  \"rpc_netlogon:20\": {\"-\": 1}\n", false,
         3}, /* the DC locator is not called over the secure channel */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        struct play_table *table = NULL;
        snprintf(text, sizeof text, "version: 3\npacket_rate: 10\nhistory: 1\nchain:\n%s",
                 cases[i].chain);
        struct scenario s = scenario_usual();
        s.model_text = text;
        s.settings.play.generic_ldap = cases[i].generic;
        scenario_load(&s);
        assert_int_equal(play_table_new(s.model, &s.settings, &table, &s.error), 0);
        assert_int_equal(limits_files_per_client(s.model, table, &s.settings), cases[i].files);
        play_table_free(table);
        scenario_clear(&s);
    }
}

/* The limits of the machine, in a child that is not root. */
static void limits_are_reported(void **state)
{
    (void)state;
    struct error error = {0};
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (geteuid() == 0) {
        /* root may raise the hard limit. */
        int status;
        pid_t child = fork();
        if (child == 0) {
            struct rlimit low = {.rlim_cur = 64, .rlim_max = 64};
            if (setrlimit(RLIMIT_NOFILE, &low))
                _exit(2);
            struct rlimit high = {.rlim_cur = 64, .rlim_max = 5000};
            if (setrlimit(RLIMIT_NOFILE, &high)) /* a root without CAP_SYS_RESOURCE */
                _exit(limits_prepare(5000, 10, &error) == -EMFILE ? 0 : 5);
            setrlimit(RLIMIT_NOFILE, &low);
            if (limits_prepare(5000, 10, &error))
                _exit(3);
            getrlimit(RLIMIT_NOFILE, &low);
            _exit(low.rlim_cur >= 5000 ? 0 : 4);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit low = {.rlim_cur = 64, .rlim_max = 200};
        if (setrlimit(RLIMIT_NOFILE, &low) || (geteuid() == 0 && setuid(65534)))
            _exit(2);
        if (limits_prepare(150, 10, &error)) /* raising the soft limit is enough */
            _exit(3);
        if (limits_prepare(5000, 10, &error) != -EMFILE)
            _exit(4);
        _exit(strstr(error.text, "5000") && strstr(error.text, "200") && !strchr(error.text, '\n')
                  ? 0
                  : 5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(limits_prepare(10, UINT64_MAX / 4, &error), -ENOMEM);
    assert_non_null(strstr(error.text, "sysctl -w vm.max_map_count="));
    assert_null(strchr(error.text, '\n'));
}

/* Refuses every third query; for the others, the name does not exist. */
static size_t answer_query(void *context, unsigned nth, const uint8_t *question, size_t size,
                           uint8_t *reply)
{
    (void)context;
    memcpy(reply, question, size);
    reply[2] |= 0x80;                /* RFC 1035 4.1.1: QR, */
    reply[3] = nth % 3 == 0 ? 5 : 3; /* REFUSED is a failure, NXDOMAIN is not */
    return size;
}

static void extra_dns_queries(void **state)
{
    (void)state;
    struct udp_server dns = {.answer = answer_query};
    struct scenario s = scenario_usual();
    s.settings.dns_rate = 500;
    s.settings.source = "127.9.8.0/24";
    scenario_prepare(&s);
    udp_server_start(&dns);
    s.dc->ports.dns = dns.port;
    s.dc->realm = strdup("EXAMPLE.COM");
    s.dc->dns_domain = strdup("example.com");
    s.dc->dns_name = strdup("dc1.example.com");
    scenario_play(&s);
    udp_server_stop(&dns);
    assert_int_equal(s.status, 0);
    const struct tally_totals *totals = tally_totals(s.tallies[0]);
    /* A Poisson process of 500 per second for 1.2 s and five standard deviations; fewer are sent
     * when the machine is too busy. */
    assert_in_range(totals->dns_extra, 300, 725);
    /* Queries without an answer at the end of the run are in neither count. */
    assert_in_range(dns.questions, totals->dns_extra, totals->dns_extra + 10);
    assert_in_range(totals->dns_extra_failed, totals->dns_extra / 3 - 5, totals->dns_extra / 3 + 5);
    /* Their failures have causes. */
    assert_int_equal(totals->dns_extra_causes.count, 1);
    assert_string_equal(totals->dns_extra_causes.items[0].text, "REFUSED");
    assert_int_equal(totals->dns_extra_causes.items[0].count, totals->dns_extra_failed);
    /* Extra queries are not part of the plan. */
    assert_int_equal(scenario_counts(&s, "1")->planned, scenario_planned_in_window(&s));
    assert_int_equal(scenario_counts(&s, "1")->failed, 0);
    scenario_clear(&s);

    s = scenario_usual();
    s.settings.dns_rate = 500;
    s.settings.play.generic_ldap = true;
    scenario_prepare(&s);
    scenario_play(&s);
    assert_int_equal(s.status, -EINVAL);
    assert_non_null(strstr(s.error.text, "--dns-rate"));
    scenario_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted),
        cmocka_unit_test(interrupted_in_the_warm_up),
        cmocka_unit_test(interrupted_twice),
        cmocka_unit_test(a_signal_after_the_window_ends_the_wait_for_answers),
        cmocka_unit_test(a_hangup_ends_the_window_like_an_interrupt),
        cmocka_unit_test(connecting_in_turn),
        cmocka_unit_test(source_addresses),
        cmocka_unit_test(source_ranges),
        cmocka_unit_test(unusable_source_ranges_are_refused),
        cmocka_unit_test(no_route_is_advised_to_addresses_in_use),
        cmocka_unit_test(too_few_accounts),
        cmocka_unit_test(files_per_client),
        cmocka_unit_test(limits_are_reported),
        cmocka_unit_test(extra_dns_queries),
    };
    return cmocka_run_group_tests_name("run limits", tests, scenario_set_up, scenario_tear_down);
}
