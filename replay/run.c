/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run from the calling thread's side: what is made ready before it, the workers' threads, the
 * clock, signals, and what the run cost.
 */
#include "replay/run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/names/dns.h"
#include "replay/limits.h"
#include "replay/play_table.h"
#include "replay/source.h"
#include "replay/worker.h"
#include "summary/result/histogram.h"

enum {
    CONNECTING_MAX = 512,
    PROBE = 100000000,     /* ns between two looks at how late a bare timer is: each is a wake-up */
    PROBES_A_TICK = 2,     /* so that ticks need no wake-ups of their own */
    START_DELAY = 5000000, /* ns from the gate's opening to the plan's start: threads wake up */
    CUT_DELAY = 50000000,  /* ns from an interrupt to the window's end: all learn of it before */
    FILES_BESIDE = 100     /* descriptors that are not clients' */
};

/* What only the calling thread uses. */
struct conductor {
    struct worker_run shared; /* first */
    const struct run_setup *setup;
    struct run_result *result;
    struct play_table *table;
    struct source_range source;
    struct worker *workers;
    unsigned started; /* threads */
    int wake_fd;      /* a signal came, a worker ended, the window was cut */
    struct sigaction old_interrupt, old_terminate;
    bool signals_taken;
    _Atomic unsigned running; /* workers that have not ended */
    int64_t next_probe;
    uint64_t probes;
    struct histogram lateness; /* of a bare timer, inside the window */
    struct rusage before, after;
    bool window_opened, window_closed;
    struct error *error;
};

/*
 * SIGINT and SIGTERM: any thread of the process may be given them (those of the run block them, but
 * others may have been started before), so a handler passes them on to the calling thread. The
 * second one leaves at once.
 */
static volatile sig_atomic_t signals_seen;
static volatile int signal_wake_fd = -1;

static int raise_limits(const struct settings *settings, const struct plan *plan,
                        const struct play_table *table, struct error *error);
static int check_source(const struct settings *settings, const struct plan *plan,
                        struct error *error);
static int share(struct conductor *conductor);
static int64_t run_nanoseconds(double seconds);
static void cut(struct worker_run *run, enum run_end end);
static int run_check_accounts(const struct conductor *conductor);
static int check_dns(struct conductor *conductor);
static int check_machine(const struct conductor *conductor);
static int take_signals(struct conductor *conductor);
static int system_error(struct conductor *conductor, const char *what, int error);
static void on_signal(int number);
static int start_workers(struct conductor *conductor);
static int start_threads(struct conductor *conductor);
static int block_signals(sigset_t *old);
static void *run_worker(void *argument);
static void open_gate(struct conductor *conductor, bool failed);
static void conduct(struct conductor *conductor);
static void run_probe(struct conductor *conductor, int64_t now);
static void tick(struct conductor *conductor, int64_t now);
static void watch_window(struct conductor *conductor, int64_t now);
static void sleep_until(struct conductor *conductor, int64_t moment);
static int64_t next_moment(const struct conductor *conductor);
static void join_workers(struct conductor *conductor);
static int sum_up(struct conductor *conductor);
static double seconds_between(struct timeval from, struct timeval to);
static void give_signals_back(struct conductor *conductor);

unsigned run_threads(const struct settings *settings, uint32_t clients)
{
    unsigned threads = settings->threads;
    if (threads == 0) {
        cpu_set_t cpus;
        threads = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
    }
    if (threads > clients)
        threads = clients;
    return threads ? threads : 1;
}

int run_check(const struct settings *settings, const struct plan *plan, bool limits,
              struct error *error)
{
    struct play_table *table = NULL;
    int result = play_table_new(plan_model(plan), settings, &table, error);
    if (!result && limits)
        result = raise_limits(settings, plan, table, error);
    play_table_free(table);
    if (!result && limits)
        result = check_source(settings, plan, error);
    return result;
}

static int raise_limits(const struct settings *settings, const struct plan *plan,
                        const struct play_table *table, struct error *error)
{
    uint64_t clients = plan_figures(plan)->clients;
    double dns = settings->dns_rate * settings->timeout;
    uint64_t extra = dns > 0 ? (uint64_t)fmin(dns, 10000) : 0;
    uint64_t files =
        clients * limits_files_per_client(plan_model(plan), table, settings) + extra + FILES_BESIDE;
    return limits_prepare(files, clients + extra, error);
}

/* As far as it can be known without the server's address. */
static int check_source(const struct settings *settings, const struct plan *plan,
                        struct error *error)
{
    struct source_range range;
    int result = source_parse(settings->source, &range, error);
    return result ? result : source_check(&range, plan_figures(plan)->clients, range.family, error);
}

int run_play(const struct run_setup *setup, struct run_result *result, struct error *error)
{
    struct conductor conductor = {.setup = setup, .result = result, .wake_fd = -1, .error = error};
    *result = (struct run_result){.timer_p99 = NAN};
    histogram_init(&conductor.lateness);
    int status = share(&conductor);
    if (!status)
        status = take_signals(&conductor);
    if (!status)
        status = start_workers(&conductor);
    if (!status)
        conduct(&conductor);
    join_workers(&conductor);
    if (!status)
        status = sum_up(&conductor);
    give_signals_back(&conductor);
    histogram_clear(&conductor.lateness);
    play_table_free(conductor.table);
    free(conductor.workers);
    return status;
}

static int share(struct conductor *conductor)
{
    const struct run_setup *setup = conductor->setup;
    const struct settings *settings = setup->settings;
    const struct plan_settings *plan = plan_settings(setup->plan);
    struct worker_run *run = &conductor->shared;
    run->settings = settings;
    run->plan = setup->plan;
    run->dc = setup->dc;
    run->source = &conductor->source;
    run->clients = plan_figures(setup->plan)->clients;
    run->workers = run_threads(settings, run->clients);
    run->connecting_max = CONNECTING_MAX / run->workers ? CONNECTING_MAX / run->workers : 1;
    run->timeout = run_nanoseconds(settings->timeout);
    run->max_backlog = run_nanoseconds(settings->max_backlog);
    run->latency_timeout = run_nanoseconds(settings->latency_timeout);
    run->window_start = run_nanoseconds(plan->warmup);
    atomic_init(&run->window_end, run_nanoseconds(plan->warmup + plan->duration));
    atomic_init(&run->end, RUN_END_WINDOW);
    run->cut = cut;
    int error = source_parse(settings->source, &conductor->source, conductor->error);
    if (!error)
        error = run_check_accounts(conductor);
    if (!error)
        error =
            play_table_new(plan_model(setup->plan), settings, &conductor->table, conductor->error);
    run->table = conductor->table;
    if (!error)
        error = check_dns(conductor);
    return error ? error : check_machine(conductor);
}

static int64_t run_nanoseconds(double seconds)
{
    return seconds >= 1e9 ? (int64_t)1e18 : (int64_t)llround(seconds * 1e9);
}

/*
 * Moves the window's end to a moment that is still to come, and wakes everybody. Because it is in
 * the future when it is written, and every worker looks before it sends, nothing that is due after
 * it has been planned by anybody: the accounting identity holds for the shorter window.
 */
static void cut(struct worker_run *run, enum run_end end)
{
    struct conductor *conductor = (struct conductor *)run;
    int as_planned = RUN_END_WINDOW;
    if (!atomic_compare_exchange_strong(&run->end, &as_planned, end))
        return;
    int64_t old = atomic_load(&run->window_end), moved;
    do {
        moved = clock_now() - run->start + CUT_DELAY;
        if (moved >= old)
            return; /* it ends by itself */
        atomic_store(&run->window_end, moved);
        /* Held up for longer than the delay between the two lines above: once more. */
    } while (clock_now() - run->start >= moved);
    for (unsigned i = 0; i < run->workers; i++)
        worker_notify(&conductor->workers[i]);
    uint64_t one = 1;
    ssize_t n = write(conductor->wake_fd, &one, sizeof one);
    (void)n;
}

static int run_check_accounts(const struct conductor *conductor)
{
    const struct dc *dc = conductor->setup->dc;
    if ((!dc->users && !dc->machines) || dc->account_count >= conductor->shared.clients)
        return 0;
    error_set(conductor->error, -EINVAL,
              "%zu accounts for %u clients: every client needs one of its own", dc->account_count,
              conductor->shared.clients);
    return -EINVAL;
}

static int check_dns(struct conductor *conductor)
{
    const struct run_setup *setup = conductor->setup;
    if (setup->settings->dns_rate <= 0)
        return 0;
    if (dns_extra_packet.available(&setup->settings->play))
        return 0;
    error_set(conductor->error, -EINVAL,
              "--dns-rate: a server of --server ldap is asked no DNS queries");
    return -EINVAL;
}

static int check_machine(const struct conductor *conductor)
{
    uint64_t clients = conductor->shared.clients;
    int error = raise_limits(conductor->setup->settings, conductor->setup->plan, conductor->table,
                             conductor->error);
    if (error)
        return error;
    return source_check(&conductor->source, clients, conductor->setup->dc->address.ss_family,
                        conductor->error);
}

static int take_signals(struct conductor *conductor)
{
    conductor->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (conductor->wake_fd < 0)
        return system_error(conductor, "eventfd", errno);
    signals_seen = 0;
    signal_wake_fd = conductor->wake_fd;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, &conductor->old_interrupt) < 0 ||
        sigaction(SIGTERM, &action, &conductor->old_terminate) < 0)
        return system_error(conductor, "sigaction", errno);
    conductor->signals_taken = true;
    return 0;
}

static int system_error(struct conductor *conductor, const char *what, int error)
{
    error_set(conductor->error, -EINVAL, "%s: %s", what, strerrordesc_np(error));
    return -error;
}

static void on_signal(int number)
{
    (void)number;
    if (signals_seen++)
        _exit(EXIT_INTERRUPTED);
    int saved = errno;
    uint64_t one = 1;
    ssize_t n = write(signal_wake_fd, &one, sizeof one);
    (void)n;
    errno = saved;
}

static int start_workers(struct conductor *conductor)
{
    struct worker_run *run = &conductor->shared;
    pthread_mutex_init(&run->gate, NULL);
    pthread_cond_init(&run->gate_moved, NULL);
    atomic_init(&conductor->running, run->workers);
    int error = start_threads(conductor);
    open_gate(conductor, error != 0);
    for (unsigned i = 0; i < conductor->started && !error; i++)
        if (conductor->workers[i].error)
            error = system_error(conductor, "cannot make the clients ready",
                                 -conductor->workers[i].error);
    return error;
}

static int start_threads(struct conductor *conductor)
{
    struct worker_run *run = &conductor->shared;
    conductor->workers = calloc(run->workers, sizeof *conductor->workers);
    if (!conductor->workers)
        return system_error(conductor, "workers", ENOMEM);
    for (unsigned i = 0; i < run->workers; i++)
        conductor->workers[i] =
            (struct worker){.run = run, .number = i, .tally = conductor->setup->tallies[i]};
    sigset_t old;
    int error = block_signals(&old);
    for (; !error && conductor->started < run->workers; conductor->started += !error) {
        struct worker *worker = &conductor->workers[conductor->started];
        error = pthread_create(&worker->thread, NULL, run_worker, worker);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? system_error(conductor, "cannot start a worker thread", error) : 0;
}

/* Blocks them for the calling thread and what it starts, until the old mask is put back. */
static int block_signals(sigset_t *old)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return pthread_sigmask(SIG_BLOCK, &signals, old);
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct conductor *conductor = (struct conductor *)worker->run;
    worker_main(worker);
    uint64_t one = 1;
    atomic_fetch_sub(&conductor->running, 1);
    ssize_t n = write(conductor->wake_fd, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
    return NULL;
}

/* Lets the threads that were started go, or leave when something has failed. The clock is set here,
 * when all are ready. */
static void open_gate(struct conductor *conductor, bool failed)
{
    struct worker_run *run = &conductor->shared;
    struct timespec now;
    pthread_mutex_lock(&run->gate);
    while (run->ready < conductor->started)
        pthread_cond_wait(&run->gate_moved, &run->gate);
    for (unsigned i = 0; i < conductor->started; i++)
        failed |= conductor->workers[i].error != 0;
    run->failed = failed;
    run->start = clock_now() + START_DELAY;
    clock_gettime(CLOCK_REALTIME, &now);
    run->open = true;
    pthread_cond_broadcast(&run->gate_moved);
    pthread_mutex_unlock(&run->gate);
    conductor->result->start = run->start;
    conductor->result->start_wall =
        (double)now.tv_sec + (double)now.tv_nsec / 1e9 + START_DELAY / 1e9;
}

static void conduct(struct conductor *conductor)
{
    int slack = prctl(PR_GET_TIMERSLACK);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (atomic_load(&conductor->running) > 0) {
        int64_t now = clock_now() - conductor->shared.start;
        run_probe(conductor, now);
        watch_window(conductor, now);
        if (signals_seen)
            cut(&conductor->shared, RUN_END_INTERRUPTED);
        sleep_until(conductor, next_moment(conductor));
    }
    watch_window(conductor, INT64_MAX);
    if (slack > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0UL, 0UL, 0UL);
}

static void run_probe(struct conductor *conductor, int64_t now)
{
    if (now < conductor->next_probe)
        return;
    if (conductor->window_opened && !conductor->window_closed)
        (void)histogram_add(&conductor->lateness, now - conductor->next_probe);
    conductor->next_probe = now + PROBE;
    tick(conductor, now);
}

static void tick(struct conductor *conductor, int64_t now)
{
    const struct run_setup *setup = conductor->setup;
    if (conductor->probes++ % PROBES_A_TICK == 0 && setup->tick)
        setup->tick(setup->context, now);
}

/* Reads what the process has used of CPU as the window opens and closes. */
static void watch_window(struct conductor *conductor, int64_t now)
{
    struct worker_run *run = &conductor->shared;
    if (!conductor->window_opened && now >= run->window_start) {
        conductor->window_opened = true;
        getrusage(RUSAGE_SELF, &conductor->before);
    }
    if (!conductor->window_closed && now >= atomic_load(&run->window_end)) {
        conductor->window_closed = true;
        getrusage(RUSAGE_SELF, &conductor->after);
    }
}

static void sleep_until(struct conductor *conductor, int64_t moment)
{
    int64_t left = moment - (clock_now() - conductor->shared.start);
    if (left < 0)
        left = 0;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct pollfd fd = {.fd = conductor->wake_fd, .events = POLLIN};
    if (ppoll(&fd, 1, &timeout, NULL) <= 0)
        return;
    uint64_t count;
    ssize_t n = read(conductor->wake_fd, &count, sizeof count);
    (void)n;
}

/* The next moment at which the calling thread has something to do. */
static int64_t next_moment(const struct conductor *conductor)
{
    int64_t next = conductor->next_probe;
    int64_t end = atomic_load(&conductor->shared.window_end);
    if (!conductor->window_opened && conductor->shared.window_start < next)
        next = conductor->shared.window_start;
    if (!conductor->window_closed && end < next)
        next = end;
    return next;
}

static void join_workers(struct conductor *conductor)
{
    for (unsigned i = 0; i < conductor->started; i++)
        pthread_join(conductor->workers[i].thread, NULL);
    for (unsigned i = 0; i < conductor->started; i++)
        worker_free(&conductor->workers[i]);
    conductor->started = 0;
}

static int sum_up(struct conductor *conductor)
{
    struct worker_run *run = &conductor->shared;
    struct run_result *result = conductor->result;
    int64_t end = atomic_load(&run->window_end);
    result->end = (enum run_end)atomic_load(&run->end);
    result->threads = run->workers;
    result->window_start = run->window_start;
    result->window_end = end > run->window_start ? end : run->window_start;
    double window = (double)(result->window_end - run->window_start);
    if (window > 0) {
        result->cpu_user = seconds_between(conductor->before.ru_utime, conductor->after.ru_utime);
        result->cpu_system = seconds_between(conductor->before.ru_stime, conductor->after.ru_stime);
    }
    if (conductor->lateness.count > 0)
        result->timer_p99 = (double)histogram_quantile(&conductor->lateness, 0.99) / 1e9;
    int error = 0;
    for (unsigned i = 0; i < run->workers; i++) {
        double busy = window > 0 ? (double)conductor->workers[i].busy / window : 0;
        result->busiest = fmax(result->busiest, fmin(busy, 1));
        if (!error)
            error = conductor->workers[i].error;
    }
    return error ? system_error(conductor, "a worker could not go on", -error) : 0;
}

static double seconds_between(struct timeval from, struct timeval to)
{
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) / 1e6;
}

static void give_signals_back(struct conductor *conductor)
{
    if (conductor->signals_taken) {
        sigaction(SIGINT, &conductor->old_interrupt, NULL);
        sigaction(SIGTERM, &conductor->old_terminate, NULL);
    }
    if (conductor->wake_fd >= 0)
        close(conductor->wake_fd);
}
