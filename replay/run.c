/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as the calling thread sees it: preparation, the workers' threads, the clock, signals, and
 * the CPU time that the run used.
 */
#include "replay/run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
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
#include "base/system.h"
#include "protocols/names/dns.h"
#include "replay/limits.h"
#include "replay/play_table.h"
#include "replay/source.h"
#include "replay/worker.h"
#include "replay/worker_main.h"
#include "summary/result/histogram.h"

enum {
    CONNECTING_MAX = 512,
    PROBE = 100000000,     /* ns between two measurements of a bare timer; each wakes the thread */
    PROBES_PER_TICK = 2,   /* ticks share the probes' wake-ups */
    START_DELAY = 5000000, /* ns from opening the gate to the plan's start: threads wake up */
    END_DELAY = 50000000,  /* ns from an interrupt to the window's end: all workers learn of it */
    DONE_DELAY = 1000000,  /* the same when all clients are done: nobody plans anything */
    OTHER_FILES = 100      /* descriptors that do not belong to clients */
};

/* One run. Only the calling thread uses it, except for `shared` and `running`. */
struct run {
    struct run_shared shared; /* must be the first member */
    const struct run_setup *setup;
    struct run_result *result;
    struct source_range source;
    struct worker *workers;
    unsigned started; /* threads */
    int wake_fd;      /* eventfd: a signal came, a worker ended, or the window ends early */
    struct sigaction old_interrupt, old_terminate, old_hangup;
    bool signals_installed;
    _Atomic unsigned running; /* workers that have not ended */
    int64_t next_probe;
    uint64_t probes;
    struct histogram lateness; /* of a bare timer, inside the window */
    struct rusage before, after;
    bool window_opened, window_closed;
    struct error *error;
};

/*
 * Any thread of the process can receive SIGINT, SIGTERM and SIGHUP. The workers block them, but
 * threads started earlier may not. So a handler passes them on to the calling thread. The second
 * signal ends the process at once.
 */
static volatile sig_atomic_t signals_seen;
static volatile int signal_wake_fd = -1;

static int raise_limits(const struct settings *settings, const struct plan *plan,
                        const struct play_table *table, struct error *error);
static int check_source(const struct settings *settings, const struct plan *plan,
                        struct error *error);
static int fill_shared(struct run *run);
static int64_t run_nanoseconds(double seconds);
static bool end_window_early(struct run_shared *shared, enum run_end end);
static int run_check_accounts(const struct run *run);
static int check_dns(struct run *run);
static int check_machine(const struct run *run);
static int install_signals(struct run *run);
static int system_error(struct run *run, const char *what, int error);
static void on_signal(int number);
static int start_workers(struct run *run);
static int start_threads(struct run *run);
static int block_signals(sigset_t *old);
static void *run_worker(void *argument);
static void run_open_gate(struct run *run, bool failed);
static void watch_workers(struct run *run);
static void run_interrupt(struct run *run, int64_t now);
static void probe_lateness(struct run *run, int64_t now);
static void call_tick(struct run *run, int64_t now);
static void watch_window(struct run *run, int64_t now);
static void sleep_until(struct run *run, int64_t moment);
static int64_t next_moment(const struct run *run);
static void join_workers(struct run *run);
static int fill_result(struct run *run);
static double seconds_between(struct timeval from, struct timeval to);
static void restore_signals(struct run *run);

unsigned run_threads(const struct settings *settings, uint32_t clients)
{
    unsigned threads = settings->threads ? settings->threads : system_cores();
    if (threads > clients)
        threads = clients;
    return threads ? threads : 1;
}

int run_check(const struct settings *settings, const struct plan *plan,
              const struct play_table *table, struct error *error)
{
    int result = raise_limits(settings, plan, table, error);
    return result ? result : check_source(settings, plan, error);
}

static int raise_limits(const struct settings *settings, const struct plan *plan,
                        const struct play_table *table, struct error *error)
{
    uint64_t clients = plan_figures(plan)->clients;
    double dns = settings->dns_rate * settings->timeout;
    uint64_t extra = dns > 0 ? (uint64_t)fmin(dns, 10000) : 0;
    uint64_t files =
        clients * limits_files_per_client(plan_model(plan), table, settings) + extra + OTHER_FILES;
    return limits_prepare(files, clients + extra, error);
}

/* Checks what does not depend on the server's address. */
static int check_source(const struct settings *settings, const struct plan *plan,
                        struct error *error)
{
    struct source_range range;
    int result = source_parse(settings->source, &range, error);
    return result ? result
                  : source_check(&range, plan_figures(plan)->clients, settings->dc, 0, error);
}

int run_play(const struct run_setup *setup, struct run_result *result, struct error *error)
{
    struct run run = {.setup = setup, .result = result, .wake_fd = -1, .error = error};
    *result = (struct run_result){.timer_p99 = NAN};
    histogram_init(&run.lateness);
    int status = fill_shared(&run);
    if (!status)
        status = install_signals(&run);
    if (!status)
        status = start_workers(&run);
    if (!status)
        watch_workers(&run);
    join_workers(&run);
    if (!status)
        status = fill_result(&run);
    restore_signals(&run);
    histogram_clear(&run.lateness);
    free(run.workers);
    return status;
}

static int fill_shared(struct run *run)
{
    const struct run_setup *setup = run->setup;
    const struct settings *settings = setup->settings;
    const struct plan_settings *plan = plan_settings(setup->plan);
    struct run_shared *shared = &run->shared;
    shared->settings = settings;
    shared->plan = setup->plan;
    shared->dc = setup->dc;
    shared->table = setup->table;
    shared->source = &run->source;
    shared->clients = plan_figures(setup->plan)->clients;
    shared->workers = run_threads(settings, shared->clients);
    shared->connecting_max =
        CONNECTING_MAX / shared->workers ? CONNECTING_MAX / shared->workers : 1;
    shared->timeout = run_nanoseconds(settings->timeout);
    shared->max_backlog = run_nanoseconds(settings->max_backlog);
    shared->latency_timeout = run_nanoseconds(settings->latency_timeout);
    shared->window_start = run_nanoseconds(plan->warmup);
    atomic_init(&shared->window_end, run_nanoseconds(plan->warmup + plan->duration));
    atomic_init(&shared->end, RUN_END_WINDOW);
    shared->end_early = end_window_early;
    int error = source_parse(settings->source, &run->source, run->error);
    if (!error)
        error = run_check_accounts(run);
    if (!error)
        error = check_dns(run);
    return error ? error : check_machine(run);
}

static int64_t run_nanoseconds(double seconds)
{
    return seconds >= 1e9 ? (int64_t)1e18 : (int64_t)llround(seconds * 1e9);
}

/*
 * Moves the window's end to a moment in the near future and wakes all threads. Every worker reads
 * the end before it sends, and the new end is still in the future when it is written. So no worker
 * has planned anything due after it, and the accounting identity holds for the shorter window.
 */
static bool end_window_early(struct run_shared *shared, enum run_end end)
{
    struct run *run = (struct run *)shared;
    int as_planned = RUN_END_WINDOW;
    if (!atomic_compare_exchange_strong(&shared->end, &as_planned, end))
        return false;
    int64_t old = atomic_load(&shared->window_end), moved;
    do {
        moved = clock_now() - shared->start + (end == RUN_END_PASSES ? DONE_DELAY : END_DELAY);
        if (moved >= old)
            return true; /* the window ends even earlier on its own */
        atomic_store(&shared->window_end, moved);
        /* Repeat if this thread was delayed for longer than END_DELAY between these lines. */
    } while (clock_now() - shared->start >= moved);
    for (unsigned i = 0; i < shared->workers; i++)
        worker_notify(&run->workers[i]);
    uint64_t one = 1;
    ssize_t n = write(run->wake_fd, &one, sizeof one);
    (void)n;
    return true;
}

static int run_check_accounts(const struct run *run)
{
    const struct dc *dc = run->setup->dc;
    if ((!dc->users && !dc->machines) || dc->account_count >= run->shared.clients)
        return 0;
    return error_set(run->error, -EINVAL,
                     "%zu accounts for %u clients: every client needs its own account",
                     dc->account_count, run->shared.clients);
}

static int check_dns(struct run *run)
{
    const struct run_setup *setup = run->setup;
    if (setup->settings->dns_rate <= 0)
        return 0;
    if (packet_is_available(packet_row_find("dns", "0"), &setup->settings->play))
        return 0;
    return error_set(run->error, -EINVAL, "--dns-rate cannot be combined with --server ldap");
}

static int check_machine(const struct run *run)
{
    uint64_t clients = run->shared.clients;
    int error = raise_limits(run->setup->settings, run->setup->plan, run->shared.table, run->error);
    if (error)
        return error;
    return source_check(&run->source, clients, run->setup->settings->dc,
                        run->setup->dc->address.ss_family, run->error);
}

static int install_signals(struct run *run)
{
    run->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (run->wake_fd < 0)
        return system_error(run, "eventfd", errno);
    signals_seen = 0;
    signal_wake_fd = run->wake_fd;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, &action, &run->old_interrupt) < 0 ||
        sigaction(SIGTERM, &action, &run->old_terminate) < 0 ||
        sigaction(SIGHUP, NULL, &run->old_hangup) < 0)
        return system_error(run, "sigaction", errno);
    if (run->old_hangup.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    run->signals_installed = true;
    return 0;
}

static int system_error(struct run *run, const char *what, int error)
{
    return error_set(run->error, -error, "%s: %s", what, strerrordesc_np(error));
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

static int start_workers(struct run *run)
{
    struct run_shared *shared = &run->shared;
    pthread_mutex_init(&shared->gate, NULL);
    pthread_cond_init(&shared->gate_moved, NULL);
    atomic_init(&run->running, shared->workers);
    int error = start_threads(run);
    run_open_gate(run, error != 0);
    for (unsigned i = 0; i < run->started && !error; i++)
        if (run->workers[i].error)
            error = system_error(run, "cannot prepare the clients", -run->workers[i].error);
    return error;
}

static int start_threads(struct run *run)
{
    struct run_shared *shared = &run->shared;
    run->workers = calloc(shared->workers, sizeof *run->workers);
    if (!run->workers)
        return error_no_memory(run->error);
    for (unsigned i = 0; i < shared->workers; i++)
        run->workers[i] =
            (struct worker){.shared = shared, .number = i, .tally = run->setup->tallies[i]};
    sigset_t old;
    int error = block_signals(&old);
    for (; !error && run->started < shared->workers; run->started += !error) {
        struct worker *worker = &run->workers[run->started];
        error = pthread_create(&worker->thread, NULL, run_worker, worker);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error ? system_error(run, "cannot start a worker thread", error) : 0;
}

/* Blocks SIGINT, SIGTERM and SIGHUP in the calling thread and in the threads it starts; *old
 * restores. */
static int block_signals(sigset_t *old)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    return pthread_sigmask(SIG_BLOCK, &signals, old);
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct run *run = (struct run *)worker->shared;
    worker_main(worker);
    uint64_t one = 1;
    atomic_fetch_sub(&run->running, 1);
    ssize_t n = write(run->wake_fd, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
    return NULL;
}

/* Waits until the threads that were started are ready, sets the clock, and lets them play; or lets
 * them leave when something has failed. */
static void run_open_gate(struct run *run, bool failed)
{
    struct run_shared *shared = &run->shared;
    struct timespec now;
    pthread_mutex_lock(&shared->gate);
    while (shared->ready < run->started)
        pthread_cond_wait(&shared->gate_moved, &shared->gate);
    for (unsigned i = 0; i < run->started; i++)
        failed |= run->workers[i].error != 0;
    shared->failed = failed;
    shared->start = clock_now() + START_DELAY;
    clock_gettime(CLOCK_REALTIME, &now);
    shared->open = true;
    pthread_cond_broadcast(&shared->gate_moved);
    pthread_mutex_unlock(&shared->gate);
    run->result->start = shared->start;
    run->result->start_wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9 + START_DELAY / 1e9;
}

static void watch_workers(struct run *run)
{
    int slack = prctl(PR_GET_TIMERSLACK);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (atomic_load(&run->running) > 0) {
        int64_t now = clock_now() - run->shared.start;
        probe_lateness(run, now);
        watch_window(run, now);
        if (signals_seen)
            run_interrupt(run, now);
        sleep_until(run, next_moment(run));
    }
    watch_window(run, INT64_MAX);
    if (slack > 0)
        (void)prctl(PR_SET_TIMERSLACK, (unsigned long)slack, 0UL, 0UL, 0UL);
}

/* Ends the window. If all of it was measured, only answers are awaited: the run is complete, and
 * the wait for them ends. */
static void run_interrupt(struct run *run, int64_t now)
{
    struct run_shared *shared = &run->shared;
    bool measured =
        now >= atomic_load(&shared->window_end) && atomic_load(&shared->end) == RUN_END_WINDOW;
    if (!measured) {
        end_window_early(shared, RUN_END_INTERRUPTED);
    } else if (!atomic_exchange(&shared->stop_waiting, true)) {
        for (unsigned i = 0; i < shared->workers; i++)
            worker_notify(&run->workers[i]);
    }
}

static void probe_lateness(struct run *run, int64_t now)
{
    if (now < run->next_probe)
        return;
    if (run->window_opened && !run->window_closed)
        (void)histogram_add(&run->lateness, now - run->next_probe);
    run->next_probe = now + PROBE;
    call_tick(run, now);
}

static void call_tick(struct run *run, int64_t now)
{
    const struct run_setup *setup = run->setup;
    if (run->probes++ % PROBES_PER_TICK == 0 && setup->tick)
        setup->tick(setup->context, now);
}

/* Reads the CPU time of the process when the window opens and closes. */
static void watch_window(struct run *run, int64_t now)
{
    struct run_shared *shared = &run->shared;
    if (!run->window_opened && now >= shared->window_start) {
        run->window_opened = true;
        getrusage(RUSAGE_SELF, &run->before);
    }
    if (!run->window_closed && now >= atomic_load(&shared->window_end)) {
        run->window_closed = true;
        getrusage(RUSAGE_SELF, &run->after);
    }
}

static void sleep_until(struct run *run, int64_t moment)
{
    int64_t left = moment - (clock_now() - run->shared.start);
    if (left < 0)
        left = 0;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct pollfd fd = {.fd = run->wake_fd, .events = POLLIN};
    if (ppoll(&fd, 1, &timeout, NULL) <= 0)
        return;
    uint64_t count;
    ssize_t n = read(run->wake_fd, &count, sizeof count);
    (void)n;
}

/* When the calling thread has something to do next. */
static int64_t next_moment(const struct run *run)
{
    int64_t next = run->next_probe;
    int64_t end = atomic_load(&run->shared.window_end);
    if (!run->window_opened && run->shared.window_start < next)
        next = run->shared.window_start;
    if (!run->window_closed && end < next)
        next = end;
    return next;
}

static void join_workers(struct run *run)
{
    for (unsigned i = 0; i < run->started; i++)
        pthread_join(run->workers[i].thread, NULL);
    for (unsigned i = 0; i < run->started; i++)
        worker_free(&run->workers[i]);
    run->started = 0;
}

static int fill_result(struct run *run)
{
    struct run_shared *shared = &run->shared;
    struct run_result *result = run->result;
    int64_t end = atomic_load(&shared->window_end);
    result->end = (enum run_end)atomic_load(&shared->end);
    result->threads = shared->workers;
    result->window_start = shared->window_start;
    result->window_end = end > shared->window_start ? end : shared->window_start;
    double window = (double)(result->window_end - shared->window_start);
    if (window > 0) {
        result->cpu_user = seconds_between(run->before.ru_utime, run->after.ru_utime);
        result->cpu_system = seconds_between(run->before.ru_stime, run->after.ru_stime);
    }
    if (run->lateness.count > 0)
        result->timer_p99 = (double)histogram_quantile(&run->lateness, 0.99) / 1e9;
    int error = 0;
    for (unsigned i = 0; i < shared->workers; i++) {
        double busy = window > 0 ? (double)run->workers[i].busy / window : 0;
        result->busiest = fmax(result->busiest, fmin(busy, 1));
        if (!error)
            error = run->workers[i].error;
    }
    return error ? system_error(run, "a worker thread failed", -error) : 0;
}

static double seconds_between(struct timeval from, struct timeval to)
{
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) / 1e6;
}

static void restore_signals(struct run *run)
{
    if (run->signals_installed) {
        sigaction(SIGINT, &run->old_interrupt, NULL);
        sigaction(SIGTERM, &run->old_terminate, NULL);
        sigaction(SIGHUP, &run->old_hangup, NULL);
    }
    if (run->wake_fd >= 0)
        close(run->wake_fd);
}
