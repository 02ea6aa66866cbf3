/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes of a sweep, and signals. */
#include "replay/sweep/sweep_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static const int64_t second = 1000000000, millisecond = 1000000;

static void fill_signals(sigset_t *signals);
static void child_exec(const struct sweep_watch *watch, const struct sweep_child *child,
                       pid_t parent, int report);
static int child_place(int fd, int target, int flags);
static void child_signal(pid_t pid, bool foreground, int number);
static void child_reap(pid_t pid, int *status);
static int end_late(struct sweep_watch *watch, const struct sweep_child *child, pid_t pid,
                    int *status);
static void wait_a_little(struct sweep_watch *watch, int64_t until);
static void read_signals(struct sweep_watch *watch);

int sweep_watch_open(struct sweep_watch *watch)
{
    sigset_t signals;
    fill_signals(&signals);
    watch->interrupts = 0;
    int error = pthread_sigmask(SIG_BLOCK, &signals, &watch->before);
    if (error)
        return -error;
    watch->fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return watch->fd < 0 ? -errno : 0;
}

static void fill_signals(sigset_t *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(signals, numbers[i]);
}

void sweep_watch_close(struct sweep_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
    pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
}

pid_t sweep_child_start(const struct sweep_watch *watch, const struct sweep_child *child)
{
    int report[2], reason = 0;
    pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        child_exec(watch, child, parent, report[1]);
    int error = errno;
    close(report[1]);
    if (pid > 0) {
        ssize_t got;
        do
            got = read(report[0], &reason, sizeof reason);
        while (got < 0 && errno == EINTR);
        error = got == sizeof reason ? reason : 0;
    }
    close(report[0]);
    if (pid > 0 && error)
        waitpid(pid, NULL, 0);
    return error && (pid < 0 || reason) ? -error : pid;
}

enum { EXIT_NOT_STARTED = 127 };

static void child_exec(const struct sweep_watch *watch, const struct sweep_child *child,
                       pid_t parent, int report)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    if ((!child->foreground && setpgid(0, 0) != 0) ||
        (child->dies_with_us && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0))
        goto failed;
    if (getppid() != parent)
        _exit(EXIT_NOT_STARTED); /* the parent died before prctl() */
    /* program_begin() ignores these, and exec() would pass that on. */
    sigaction(SIGPIPE, &usual, NULL);
    sigaction(SIGXFSZ, &usual, NULL);
    if (child_place(child->input, STDIN_FILENO, O_RDONLY) < 0 ||
        child_place(child->output, STDOUT_FILENO, O_WRONLY) < 0 ||
        child_place(child->errors, STDERR_FILENO, O_WRONLY) < 0)
        goto failed;
    if (child->kept >= 0 && fcntl(child->kept, F_SETFD, 0) != 0)
        goto failed;
    pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
    execvp(child->argv[0], child->argv);
failed:;
    int reason = errno;
    ssize_t written = write(report, &reason, sizeof reason);
    (void)written;
    _exit(EXIT_NOT_STARTED);
}

static int child_place(int fd, int target, int flags)
{
    if (fd < 0)
        fd = open("/dev/null", flags | O_CLOEXEC);
    if (fd < 0)
        return -1;
    /* dup2() to the same number would keep the close-on-exec flag. */
    return fd == target ? fcntl(fd, F_SETFD, 0) : dup2(fd, target);
}

int sweep_child_run(struct sweep_watch *watch, const struct sweep_child *child, int *status)
{
    int64_t until =
        child->limit > 0 ? clock_now() + (int64_t)(child->limit * (double)second) : INT64_MAX;
    pid_t pid = sweep_child_start(watch, child);
    if (pid < 0)
        return (int)pid;
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid)
            return 0;
        if (watch->interrupts >= 2) {
            child_signal(pid, child->foreground, SIGKILL);
            child_reap(pid, status);
            return -EINTR;
        }
        if (clock_now() >= until)
            return end_late(watch, child, pid, status);
        wait_a_little(watch, until);
    }
}

/* Signals the child; in the background also its process group, such as the children of a shell. */
static void child_signal(pid_t pid, bool foreground, int number)
{
    kill(foreground ? pid : -pid, number);
}

static void child_reap(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

static const int64_t patience = 3000000000; /* between SIGTERM and SIGKILL */

/* Ends a child after its time limit: SIGTERM, then SIGKILL. */
static int end_late(struct sweep_watch *watch, const struct sweep_child *child, pid_t pid,
                    int *status)
{
    int64_t until = clock_now() + patience;
    bool ended = false;
    child_signal(pid, child->foreground, SIGTERM);
    while (!ended && clock_now() < until && watch->interrupts < 2) {
        wait_a_little(watch, until);
        ended = waitpid(pid, status, WNOHANG) != 0;
    }
    child_signal(pid, child->foreground, SIGKILL); /* other processes of the group may remain */
    if (!ended)
        child_reap(pid, status);
    return -ETIMEDOUT;
}

/* Calls tick(), then waits for a signal, until the given time and at most one second. */
static void wait_a_little(struct sweep_watch *watch, int64_t until)
{
    if (watch->tick)
        watch->tick(watch->context);
    int64_t now = clock_now(), next = now + second - now % second;
    if (next > until)
        next = until;
    struct pollfd poller = {.fd = watch->fd, .events = POLLIN};
    int64_t wait = next > now ? (next - now + millisecond - 1) / millisecond : 0;
    if (poll(&poller, 1, (int)wait) > 0)
        read_signals(watch);
}

static void read_signals(struct sweep_watch *watch)
{
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        watch->interrupts++;
        if (watch->interrupted)
            watch->interrupted(watch->context, watch->interrupts);
    }
}

int sweep_watch_wait(struct sweep_watch *watch, double seconds)
{
    int64_t end = clock_now() + (int64_t)(seconds * (double)second);
    read_signals(watch);
    while (watch->interrupts == 0 && clock_now() < end)
        wait_a_little(watch, end);
    return watch->interrupts ? -EINTR : 0;
}
