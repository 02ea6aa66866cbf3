/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/credentials.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/text_file.h"
#include "base/secret.h"
#include "base/text.h"

enum { ENDING_SIGNALS = 4 };

struct prompt_signals {
    sigset_t before;
    struct sigaction actions[ENDING_SIGNALS];
};

static int credentials_read_line(char *line, struct credentials *out);
static char *credentials_trim(char *text);
static char **credentials_member(struct credentials *credentials, const char *key);
static void prompt_catch_signals(struct prompt_signals *signals);
static void prompt_store_signal(int number);
static int prompt_read(const sigset_t *before, char **answer);
static void prompt_release_signals(const struct prompt_signals *signals);

void credentials_clear(struct credentials *credentials)
{
    free(credentials->name);
    free(credentials->domain);
    secret_free(credentials->password);
    *credentials = (struct credentials){0};
}

int credentials_take(char *text, char **name, char **password)
{
    char *percent = strchr(text, '%');
    *password = NULL;
    *name = percent ? strndup(text, (size_t)(percent - text)) : strdup(text);
    if (!*name)
        return -ENOMEM;
    if (!percent)
        return 0;
    *password = strdup(percent + 1);
    secret_wipe(percent + 1);
    return *password ? 0 : -ENOMEM;
}

int credentials_split_name(char **name, char **domain, char **realm)
{
    size_t end = strcspn(*name, "\\/");
    char *at = strrchr(*name, '@');
    char *user = NULL;
    if ((*name)[end]) {
        user = strdup(*name + end + 1);
        *domain = strndup(*name, end);
        if (!user || !*domain)
            goto failed;
    } else if (at) {
        user = strndup(*name, (size_t)(at - *name));
        *realm = strdup(at + 1);
        if (!user || !*realm)
            goto failed;
    } else {
        return 0;
    }
    free(*name);
    *name = user;
    return 0;
failed:
    free(user);
    return -ENOMEM;
}

int credentials_read_file(const char *path, struct credentials *out, bool *world_readable,
                          struct error *error)
{
    FILE *file = fopen(path, "re");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0) {
        int result = error_set(error, -errno, "cannot read %s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return result;
    }
    if (S_ISDIR(status.st_mode)) {
        fclose(file);
        return error_set(error, -EISDIR, "cannot read %s: it is a directory", path);
    }
    *world_readable = (status.st_mode & S_IROTH) != 0;
    /* Unbuffered, so that stdio keeps no copy of the password. */
    char line[TEXT_FILE_LINE_SIZE];
    size_t number = 0;
    int result = 0, got = 1;
    setvbuf(file, NULL, _IONBF, 0);
    while (!result && (got = text_file_read_line(file, line, sizeof line)) > 0) {
        number++;
        result = credentials_read_line(line + (number == 1 ? text_mark_length(line) : 0), out);
    }
    if (got < 0)
        result = text_file_line_error(path, number + 1, got, error);
    else if (result == -EINVAL)
        error_set(error, -EINVAL,
                  "%s:%zu: expected one \"username = ...\", \"password = ...\" or \"domain = ...\"",
                  path, number);
    else if (result)
        error_no_memory(error);
    explicit_bzero(line, sizeof line);
    fclose(file);
    return result;
}

/* One line; 0, -EINVAL or -ENOMEM. */
static int credentials_read_line(char *line, struct credentials *out)
{
    char *key = credentials_trim(line);
    if (!*key || *key == '#')
        return 0;
    char *equals = strchr(key, '=');
    if (!equals)
        return -EINVAL;
    *equals = '\0';
    char **target = credentials_member(out, credentials_trim(key));
    if (!target || *target)
        return -EINVAL;
    *target = strdup(credentials_trim(equals + 1));
    return *target ? 0 : -ENOMEM;
}

static char *credentials_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static char **credentials_member(struct credentials *credentials, const char *key)
{
    if (strcasecmp(key, "username") == 0)
        return &credentials->name;
    if (strcasecmp(key, "password") == 0)
        return &credentials->password;
    return strcasecmp(key, "domain") == 0 ? &credentials->domain : NULL;
}

/*
 * A signal ends the prompt at once. The handler only stores its number, because the terminal has to
 * be restored before the program's own handler ends the process.
 */
static const int ending_signals[ENDING_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t signal_stored;

int credentials_prompt(const char *question, bool secret, char **answer)
{
    struct termios shown, hidden;
    struct prompt_signals signals;
    *answer = NULL;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &shown) != 0)
        return -ENOTTY;
    hidden = shown;
    if (secret)
        hidden.c_lflag &= (tcflag_t)~ECHO;
    prompt_catch_signals(&signals);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    fprintf(stderr, "%s", question);
    fflush(stderr);
    int result = prompt_read(&signals.before, answer);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    if (secret)
        fputc('\n', stderr);
    prompt_release_signals(&signals);
    return result;
}

/* Blocks the signals, which prompt_read() lets through while it waits. A stopped program would
 * leave the terminal without echo, so SIGTSTP waits for the answer. */
static void prompt_catch_signals(struct prompt_signals *signals)
{
    struct sigaction action = {.sa_handler = prompt_store_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigemptyset(&action.sa_mask);
    sigaddset(&blocked, SIGTSTP);
    signal_stored = 0;
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&blocked, ending_signals[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &signals->before);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        sigaction(ending_signals[i], NULL, &signals->actions[i]);
        if (signals->actions[i].sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
}

static void prompt_store_signal(int number)
{
    signal_stored = number;
}

/* Reads from the terminal directly, so that stdio keeps no copy. 0, -ECANCELED or -ENOMEM. */
static int prompt_read(const sigset_t *before, char **answer)
{
    char line[LINE_MAX];
    ssize_t length = -1;
    sigset_t waiting = *before;
    struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
    int result = -ECANCELED;
    sigaddset(&waiting, SIGTSTP);
    while (!signal_stored && ppoll(&terminal, 1, NULL, &waiting) < 0 && errno == EINTR)
        ;
    if (!signal_stored)
        length = read(STDIN_FILENO, line, sizeof line - 1);
    if (length > 0) {
        line[length] = '\0';
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            result = (*answer = strdup(line)) ? 0 : -ENOMEM;
    }
    explicit_bzero(line, sizeof line);
    return result;
}

/* Restores the program's handlers and lets them handle the signal. */
static void prompt_release_signals(const struct prompt_signals *signals)
{
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaction(ending_signals[i], &signals->actions[i], NULL);
    if (signal_stored)
        kill(getpid(), signal_stored);
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}
