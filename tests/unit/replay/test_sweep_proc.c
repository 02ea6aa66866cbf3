/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes in a sweep: a server, simulated by a tree of processes with a listener in the middle
 * and read from /proc; samples of a command; children with time limits and interrupts.
 */
#include "replay/sweep/sweep_proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "protocols/wire.h"
#include "replay/sweep/sweep_child.h"
#include "replay/sweep/sweep_sample.h"

static char own_path[4096];

/* master -> listener (-> workers that use CPU time and end), master -> helper */
struct server {
    pid_t master, listener, helper;
    unsigned port;
    int orders, answers; /* 'b': use CPU time in a child and wait for it, 'l': do not wait */
};

static void burn(double seconds)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < seconds);
}

static void in_child(double seconds, bool waited_for)
{
    struct sigaction ignore = {.sa_handler = waited_for ? SIG_DFL : SIG_IGN};
    sigaction(SIGCHLD, &ignore, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        burn(seconds);
        _exit(0);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void listen_and_obey(int fd, int orders, int answers)
{
    char order;
    prctl(PR_SET_NAME, "fake-ldap(0)");
    if (listen(fd, 1) != 0)
        _exit(1);
    while (write(answers, "r", 1) == 1 && read(orders, &order, 1) == 1)
        in_child(0.3, order == 'b');
    _exit(0);
}

static void be_master(int fd, const int orders[2], const int answers[2])
{
    pid_t pids[2];
    pids[0] = fork();
    if (pids[0] == 0) {
        close(orders[1]);
        listen_and_obey(fd, orders[0], answers[1]);
    }
    close(fd);
    pids[1] = fork();
    if (pids[1] == 0) {
        close(orders[1]);
        prctl(PR_SET_NAME, "fake-kdc[master]");
        pause();
        _exit(0);
    }
    if (write(answers[1], pids, sizeof pids) != sizeof pids)
        _exit(1);
    pause();
    _exit(0);
}

static void start_server(struct server *server, const char *address)
{
    int orders[2], answers[2];
    pid_t pids[2];
    char ready;
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    bool six = strchr(address, ':');
    bound.ss_family = six ? AF_INET6 : AF_INET;
    inet_pton(bound.ss_family, address,
              six ? (void *)&((struct sockaddr_in6 *)&bound)->sin6_addr
                  : (void *)&((struct sockaddr_in *)&bound)->sin_addr);
    int fd = socket(bound.ss_family, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&bound,
                          six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)),
                     0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&bound, &size), 0);
    server->port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    server->master = fork();
    if (server->master == 0)
        be_master(fd, orders, answers);
    close(fd);
    close(orders[0]);
    close(answers[1]);
    server->orders = orders[1];
    server->answers = answers[0];
    /* The listener can be faster than its master: its letter comes before or after the numbers.
     */
    char bytes[sizeof pids + 1] = {0};
    for (size_t got = 0; got < sizeof bytes;) {
        ssize_t more = read(answers[0], bytes + got, sizeof bytes - got);
        assert_true(more > 0);
        got += (size_t)more;
    }
    ready = bytes[0] == 'r' ? bytes[0] : bytes[sizeof pids];
    memcpy(pids, bytes + (ready == bytes[0] && bytes[sizeof pids] != 'r'), sizeof pids);
    assert_int_equal(ready, 'r');
    server->listener = pids[0];
    server->helper = pids[1];
}

static void order(struct server *server, char letter)
{
    char done;
    assert_int_equal(write(server->orders, &letter, 1), 1);
    assert_int_equal(read(server->answers, &done, 1), 1);
}

/* Kills one of its processes and waits for its end. */
static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void stop_server(struct server *server)
{
    end(server->master); /* this process adopts its children: see main() */
    end(server->listener);
    end(server->helper);
    close(server->orders);
    close(server->answers);
}

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage address = {.ss_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, text, &((struct sockaddr_in *)&address)->sin_addr), 1);
    return address;
}

static unsigned service(const struct sweep_usage *usage, const char *name)
{
    for (size_t i = 0; i < usage->service_count; i++)
        if (strcmp(usage->services[i].name, name) == 0)
            return usage->services[i].count;
    return 0;
}

static void a_tree_of_processes_is_summed(void **state)
{
    (void)state;
    struct server server;
    struct sweep_proc proc;
    struct sweep_usage before, after;
    struct sockaddr_storage address = address_of("127.77.1.1");
    start_server(&server, "127.77.1.1");
    assert_int_equal(sweep_proc_open(&proc, &address, server.port), 0);
    assert_int_equal(sweep_proc_read(&proc, &before), 0);
    /* Master, listener and helper, not this test. */
    assert_int_equal(before.processes, 3);
    assert_int_equal(before.cores, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(service(&before, "fake-ldap"), 1);
    assert_int_equal(service(&before, "fake-kdc"), 1);
    assert_int_equal(before.service_count, 3);
    assert_true(before.memory > 3 * 4096.0 && before.memory < 1e9);
    assert_true(before.read >= 0 && before.written >= 0);

    /* The time of ended children counts. */
    order(&server, 'b');
    assert_int_equal(sweep_proc_read(&proc, &after), 0);
    assert_int_equal(after.processes, 3);
    assert_true(after.cpu - before.cpu > 0.25 && after.cpu - before.cpu < 2);

    /* A process that got another parent when its master ended still belongs to the server. */
    end(server.master);
    assert_int_equal(sweep_proc_read(&proc, &before), 0);
    assert_int_equal(before.processes, 2);
    assert_true(before.cpu >= after.cpu);
    order(&server, 'b');
    assert_int_equal(sweep_proc_read(&proc, &after), 0);
    assert_true(after.cpu - before.cpu > 0.25);

    end(server.listener);
    end(server.helper);
    assert_int_equal(sweep_proc_read(&proc, &after), -ESRCH);
    sweep_proc_clear(&proc);
    close(server.orders);
    close(server.answers);
}

/* Sums never decrease, with or without waiting for children. */
static void sums_never_decrease(void **state)
{
    (void)state;
    struct server server;
    struct sweep_proc proc;
    struct sweep_usage usage;
    struct sockaddr_storage address = address_of("127.77.1.2");
    double last = 0;
    start_server(&server, "127.77.1.2");
    assert_int_equal(sweep_proc_open(&proc, &address, server.port), 0);
    for (int i = 0; i < 3; i++) {
        char done;
        assert_int_equal(write(server.orders, "l", 1), 1);
        for (int round = 0; round < 8; round++) {
            assert_int_equal(sweep_proc_read(&proc, &usage), 0);
            assert_true(usage.cpu >= last);
            last = usage.cpu;
            usleep(50000);
        }
        assert_int_equal(read(server.answers, &done, 1), 1);
    }
    sweep_proc_clear(&proc);
    stop_server(&server);
}

static void the_listener_of_a_port_is_found(void **state)
{
    (void)state;
    struct server server;
    struct sweep_proc proc;
    struct sockaddr_storage address = address_of("127.77.1.3"), other = address_of("127.77.1.4");
    start_server(&server, "127.77.1.3");
    assert_int_equal(sweep_proc_open(&proc, &other, server.port), -ENOENT);
    sweep_proc_clear(&proc);
    assert_int_equal(sweep_proc_open(&proc, &address, server.port + 1), -ENOENT);
    sweep_proc_clear(&proc);
    stop_server(&server);

    /* All addresses, of both families. */
    start_server(&server, "0.0.0.0");
    assert_int_equal(sweep_proc_open(&proc, &other, server.port), 0);
    assert_int_equal(proc.known_count, 3);
    sweep_proc_clear(&proc);
    stop_server(&server);
    start_server(&server, "::");
    assert_int_equal(sweep_proc_open(&proc, &other, server.port), 0);
    assert_int_equal(proc.known_count, 3);
    sweep_proc_clear(&proc);
    stop_server(&server);

    struct sockaddr_storage foreign = address_of("192.0.2.1");
    assert_true(sweep_proc_is_local(&address));
    assert_false(sweep_proc_is_local(&foreign));
}

/* This program with the arguments "listen ADDRESS PORT". */
static int be_listener(const char *address, const char *port)
{
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (inet_pton(AF_INET, address, &bound.sin_addr) != 1 ||
        bind(fd, (struct sockaddr *)&bound, sizeof bound) != 0 || listen(fd, 1) != 0)
        return 1;
    pause();
    return 0;
}

/* A parent that runs another program counts, with its other children. An ancestor of this test does
 * not count. */
static void a_parent_of_another_program_counts(void **state)
{
    (void)state;
    struct server server;
    struct sweep_proc proc;
    struct sweep_usage usage;
    struct sockaddr_storage address = address_of("127.77.1.5");
    char port[16];
    int result = -ENOENT;
    start_server(&server, "127.77.1.5"); /* finds a free port */
    stop_server(&server);
    snprintf(port, sizeof port, "%u", server.port);
    pid_t shell = fork();
    if (shell == 0) {
        execl("/bin/sh", "sh", "-c", "\"$0\" listen 127.77.1.5 \"$1\" & sleep 86.4 & wait",
              own_path, port, NULL);
        _exit(1);
    }
    for (int i = 0; i < 100 && result == -ENOENT; i++) {
        usleep(50000);
        result = sweep_proc_open(&proc, &address, server.port);
        if (result == -ENOENT)
            sweep_proc_clear(&proc);
    }
    assert_int_equal(result, 0);
    usleep(300000); /* the shell can be slower than its first child */
    assert_int_equal(sweep_proc_read(&proc, &usage), 0);
    assert_int_equal(usage.processes, 3);
    assert_int_equal(service(&usage, "sh"), 1);
    assert_int_equal(service(&usage, "sleep"), 1);
    for (size_t i = 0; i < proc.known_count; i++)
        kill(proc.known[i].pid, SIGKILL);
    for (size_t i = 0; i < proc.known_count; i++)
        while (waitpid(proc.known[i].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    sweep_proc_clear(&proc);
}

static const struct {
    const char *line, *name; /* NULL: refused */
    double value;
} sample_lines[] = {
    {"cpu 12.5", "cpu", 12.5},
    {"  processes.ldap\t4 \r", "processes.ldap", 4},
    {"x -1e3", "x", -1000},
    {"tt 1", "tt", 1},
    {"", NULL, 0},
    {"cpu", NULL, 0},
    {"cpu ", NULL, 0},
    {"cpu x", NULL, 0},
    {"cpu 1 2", NULL, 0},
    {"cpu nan", NULL, 0},
    {"cpu inf", NULL, 0},
    {"cpu 0x10", NULL, 0},
    {"t 1", NULL, 0},
    {"cpu 1s", NULL, 0},
};

static void samples_are_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sample_lines / sizeof sample_lines[0]; i++) {
        char line[128];
        const char *name = NULL;
        double value = 0;
        snprintf(line, sizeof line, "%s", sample_lines[i].line);
        bool good = sweep_sample_parse(line, &name, &value);
        if (good != (sample_lines[i].name != NULL))
            fail_msg("\"%s\"", sample_lines[i].line);
        if (good) {
            assert_string_equal(name, sample_lines[i].name);
            assert_true(value == sample_lines[i].value);
        }
    }
}

static double unix_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct ticking {
    struct sweep_watch watch;
    struct sweep_sampler *sampler;
};

static void tick(void *context)
{
    struct ticking *ticking = context;
    sweep_sampler_tick(ticking->sampler, &ticking->watch);
}

/* Samples a command for a while; the result's window is in the middle. */
static void sample(const char *command, double seconds, struct result *result, char problem[256])
{
    struct ticking ticking = {.watch = {.tick = tick}};
    ticking.watch.context = &ticking;
    assert_int_equal(sweep_watch_open(&ticking.watch), 0);
    assert_int_equal(sweep_sampler_open("192.0.2.1", command, &ticking.sampler), 0);
    assert_non_null(ticking.sampler);
    result_init(result);
    result->start = unix_time() + 0.2;
    result->window = seconds - 0.4;
    assert_int_equal(sweep_watch_wait(&ticking.watch, seconds), 0);
    assert_int_equal(sweep_sampler_merge(ticking.sampler, result), 0);
    const char *text = sweep_sampler_problem(ticking.sampler);
    snprintf(problem, 256, "%s", text ? text : "");
    sweep_sampler_free(ticking.sampler);
    sweep_watch_close(&ticking.watch);
}

static void a_command_can_take_samples(void **state)
{
    (void)state;
    struct result result;
    char problem[256];
    sample("echo cpu 1.5; echo; printf 'jobs 7'", 3.4, &result, problem);
    assert_string_equal(problem, "");
    assert_in_range(result.sample_count, 2, 4);
    for (size_t i = 0; i < result.sample_count; i++) {
        const struct result_sample *row = &result.samples[i];
        assert_true(row->t >= 0 && row->t <= 3 && (i == 0 || row->t > result.samples[i - 1].t));
        assert_int_equal(row->value_count, 2);
        assert_string_equal(row->values[0].name, "cpu");
        assert_true(row->values[0].value == 1.5);
        assert_string_equal(row->values[1].name, "jobs");
        assert_true(row->values[1].value == 7);
    }
    result_clear(&result);
}

static const struct {
    const char *command, *problem;
} sample_problems[] = {
    {"exit 3", "the command ended with status 3"},
    {"kill -9 $$", "the command ended with status 137"},
    {"true", "the command printed nothing"},
    {"echo cpu", "expected lines of a name and a number, found \"cpu\""},
    {"echo a 1; echo a 2", "\"a\" occurs twice"},
};

static void problems_of_samples_are_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sample_problems / sizeof sample_problems[0]; i++) {
        struct result result;
        char problem[256];
        sample(sample_problems[i].command, 0.5, &result, problem);
        assert_string_equal(problem, sample_problems[i].problem);
        result_clear(&result);
    }
    /* A command that hangs ends with the sampler. */
    struct result result;
    char problem[256];
    int64_t before = clock_now();
    sample("sleep 60", 0.5, &result, problem);
    assert_true(clock_now() - before < 5000000000);
    assert_int_equal(result.sample_count, 0);
    assert_string_equal(problem, "none in this cell: the command takes longer than the cell");
    result_clear(&result);
}

/* A remote server, or none: no samples, no failure. */
static void no_server_means_no_samples(void **state)
{
    (void)state;
    struct sweep_sampler *sampler;
    assert_int_equal(sweep_sampler_open("dc=192.0.2.1", NULL, &sampler), 0);
    assert_null(sampler);
    assert_int_equal(sweep_sampler_open("127.77.99.99", NULL, &sampler), 0);
    assert_null(sampler);
}

static int run_shell(struct sweep_watch *watch, const char *command, double limit, int *status)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char *)(uintptr_t)command, NULL};
    const struct sweep_child child = {
        .argv = argv, .input = -1, .output = -1, .errors = -1, .kept = -1, .limit = limit};
    *status = -1;
    return sweep_child_run(watch, &child, status);
}

static void children_are_waited_for(void **state)
{
    (void)state;
    struct sweep_watch watch = {.fd = -1};
    int status;
    assert_int_equal(sweep_watch_open(&watch), 0);
    assert_int_equal(run_shell(&watch, "exit 0", 0, &status), 0);
    assert_int_equal(status, 0);
    assert_int_equal(run_shell(&watch, "exit 7", 5, &status), 0);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(run_shell(&watch, "kill -KILL $$", 5, &status), 0);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    /* It inherits no additional blocked or ignored signals. */
    assert_int_equal(run_shell(&watch, "kill -INT $$; sleep 5", 3, &status), 0);
    assert_int_equal(WTERMSIG(status), SIGINT);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(run_shell(&watch, "kill -XFSZ $$; sleep 5", 3, &status), 0);
    assert_int_equal(WTERMSIG(status), SIGXFSZ);
    signal(SIGXFSZ, SIG_DFL);

    char *argv[] = {(char[]){"/no/such/program"}, NULL};
    const struct sweep_child child = {
        .argv = argv, .input = -1, .output = -1, .errors = -1, .kept = -1};
    assert_int_equal(sweep_child_run(&watch, &child, &status), -ENOENT);
    sweep_watch_close(&watch);
}

/* Whether a process with that command line exists. */
static bool is_running(const char *what)
{
    char command[128];
    snprintf(command, sizeof command, "pgrep -f '^%s$' >/dev/null", what);
    return system(command) == 0;
}

static void commands_have_a_time_limit(void **state)
{
    (void)state;
    struct sweep_watch watch = {.fd = -1};
    int status;
    int64_t before = clock_now();
    assert_int_equal(sweep_watch_open(&watch), 0);
    /* The whole group ends. */
    assert_int_equal(run_shell(&watch, "sleep 86.1 & sleep 86.1", 0.3, &status), -ETIMEDOUT);
    assert_true(clock_now() - before < 3000000000);
    assert_false(is_running("sleep 86.1"));
    /* A child that ignores SIGTERM. */
    before = clock_now();
    assert_int_equal(run_shell(&watch, "trap '' TERM; sleep 86.2; sleep 86.2", 0.3, &status),
                     -ETIMEDOUT);
    assert_true(clock_now() - before < 6000000000);
    assert_false(is_running("sleep 86.2"));
    sweep_watch_close(&watch);
}

static void count(void *context, unsigned interrupts)
{
    *(unsigned *)context = interrupts;
}

static void a_signal_interrupts_a_command(void **state)
{
    (void)state;
    unsigned seen = 0;
    struct sweep_watch watch = {.fd = -1, .interrupted = count, .context = &seen};
    int status;
    char command[128];
    assert_int_equal(sweep_watch_open(&watch), 0);
    assert_int_equal(sweep_watch_wait(&watch, 0), 0);
    /* After the first one the child continues. */
    snprintf(command, sizeof command, "kill -INT %d; sleep 0.3; exit 5", (int)getpid());
    assert_int_equal(run_shell(&watch, command, 20, &status), 0);
    assert_int_equal(WEXITSTATUS(status), 5);
    assert_int_equal(seen, 1);
    assert_int_equal(sweep_watch_wait(&watch, 20), -EINTR);
    /* The second one ends it. */
    int64_t before = clock_now();
    snprintf(command, sizeof command, "kill -TERM %d; sleep 86.3", (int)getpid());
    assert_int_equal(run_shell(&watch, command, 20, &status), -EINTR);
    assert_true(clock_now() - before < 5000000000);
    assert_int_equal(seen, 2);
    assert_false(is_running("sleep 86.3"));
    sweep_watch_close(&watch);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "listen") == 0)
        return be_listener(argv[2], argv[3]);
    if (readlink("/proc/self/exe", own_path, sizeof own_path - 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_of_processes_is_summed),
        cmocka_unit_test(sums_never_decrease),
        cmocka_unit_test(the_listener_of_a_port_is_found),
        cmocka_unit_test(a_parent_of_another_program_counts),
        cmocka_unit_test(samples_are_lines),
        cmocka_unit_test(a_command_can_take_samples),
        cmocka_unit_test(problems_of_samples_are_reported),
        cmocka_unit_test(no_server_means_no_samples),
        cmocka_unit_test(children_are_waited_for),
        cmocka_unit_test(commands_have_a_time_limit),
        cmocka_unit_test(a_signal_interrupts_a_command),
    };
    /* Adopts grandchildren whose parent ends. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
