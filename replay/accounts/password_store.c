/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/password_store.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/user_path.h"
#include "base/system.h"

enum { FILE_SIZE_MAX = 4096, KEY_HEX_SIZE = 2 * PASSWORD_STORE_KEY_SIZE };

static char *state_folder(void);
static int password_store_explain(const struct password_store *store, int result,
                                  struct error *error);
static char *store_path(const char *folder, const struct password_store_id *id);
static int password_store_make_folder(const char *folder);
static int store_read_file(struct password_store *store);
static int password_store_parse(char *text, struct password_store *store);
static int parse_key(const char *hex, size_t length, uint8_t key[PASSWORD_STORE_KEY_SIZE]);
static int store_write_file(const struct password_store *store);
static int make_password(char password[PASSWORD_STORE_LENGTH + 1]);
static bool has_one_of(const char *password, const char *set);

void password_store_migrate(const struct password_store_id *id, const char *fixed,
                            const char *marker)
{
    const struct password_store_id earlier = {.domain = id->domain, .instance = id->instance};
    char *folder = state_folder(), *path = folder ? store_path(folder, id) : NULL;
    struct password_store store = {.path = folder ? store_path(folder, &earlier) : NULL};
    char found[PASSWORD_STORE_MARKER_SIZE];
    if (path && store.path && id->sid && store_read_file(&store) == 0) {
        password_store_marker(&store, fixed ? fixed : store.password, found);
        /* link() does not replace an existing file. */
        if (strcmp(found, marker) == 0 && link(store.path, path) == 0)
            unlink(store.path);
    }
    password_store_clear(&store);
    free(path);
    free(folder);
}

int password_store_open(const struct password_store_id *id, struct password_store *store,
                        struct error *error)
{
    *store = (struct password_store){0};
    char *folder = state_folder();
    if (!folder)
        return password_store_explain(store, -errno, error);
    char *path = store_path(folder, id);
    int result = path ? password_store_make_folder(folder) : -ENOMEM;
    free(folder);
    store->path = path;
    if (!result)
        result = store_read_file(store);
    if (result == -ENOENT) {
        result = password_store_make(store);
        store->path = path;
        if (!result)
            result = store_write_file(store);
        if (result == -EEXIST)
            result = store_read_file(store);
    }
    return password_store_explain(store, result, error);
}

static char *state_folder(void)
{
    return user_path("XDG_STATE_HOME", ".local/state", "traffic-replay");
}

static int password_store_explain(const struct password_store *store, int result,
                                  struct error *error)
{
    const char *path = store->path ? store->path : "the test accounts' password";
    if (result == -EPERM)
        error_set(error, result, "%s: only you may own and read it; run: chmod 600 %s", path, path);
    else if (result == -EINVAL)
        error_set(error, result, "%s is damaged; remove it, and the next run resets all passwords",
                  path);
    else if (!store->path && result == -ENOENT)
        error_set(error, result, "cannot store %s; set XDG_STATE_HOME or HOME, or use -F", path);
    else if (result)
        error_set(error, result, "%s: cannot store the test accounts' password: %s", path,
                  strerror(-result));
    return result;
}

static char *store_path(const char *folder, const struct password_store_id *id)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s%s%s-instance-%d", folder, id->domain, id->sid ? "-" : "",
                 id->sid ? id->sid : "", id->instance) < 0)
        return NULL;
    /* The domain's name comes from the network and must not lead out of the folder. */
    for (char *c = path + strlen(folder) + 1; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *c))
            *c = '_';
    return path;
}

/* Creates the folder and its parents with mode 0700. */
static int password_store_make_folder(const char *folder)
{
    char *path = strdup(folder);
    int result = path ? 0 : -ENOMEM;
    for (char *slash = path ? strchr(path + 1, '/') : NULL; !result;
         slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            result = -errno;
        if (!slash)
            break;
        *slash = '/';
    }
    free(path);
    return result;
}

/* -ENOENT: no file; -EPERM: another user owns it or can read it. */
static int store_read_file(struct password_store *store)
{
    struct stat status;
    char text[FILE_SIZE_MAX];
    int file = open(store->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int result = 0;
    if (fstat(file, &status) != 0)
        result = -errno;
    else if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        result = -EPERM;
    ssize_t size = result ? -1 : read(file, text, sizeof text - 1);
    if (!result && size < 0)
        result = -errno;
    close(file);
    if (!result) {
        text[size] = '\0';
        result = password_store_parse(text, store);
    }
    explicit_bzero(text, sizeof text);
    return result;
}

static int password_store_parse(char *text, struct password_store *store)
{
    bool has_password = false, has_key = false;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "password = ", 11) == 0) {
            has_password = strlen(line + 11) == PASSWORD_STORE_LENGTH;
            if (has_password)
                memcpy(store->password, line + 11, PASSWORD_STORE_LENGTH + 1);
        } else if (strncmp(line, "key = ", 6) == 0) {
            has_key = parse_key(line + 6, strlen(line + 6), store->key) == 0;
        }
    }
    return has_password && has_key ? 0 : -EINVAL;
}

static int parse_key(const char *hex, size_t length, uint8_t key[PASSWORD_STORE_KEY_SIZE])
{
    struct base16_decode_ctx context;
    size_t size = PASSWORD_STORE_KEY_SIZE;
    if (length != KEY_HEX_SIZE)
        return -EINVAL;
    base16_decode_init(&context);
    if (!base16_decode_update(&context, &size, key, length, hex) || !base16_decode_final(&context))
        return -EINVAL;
    return size == PASSWORD_STORE_KEY_SIZE ? 0 : -EINVAL;
}

/* Writes the file under a temporary name, then links it to its name, so that nobody reads half of
 * it. -EEXIST: another process was faster. */
static int store_write_file(const struct password_store *store)
{
    char hex[KEY_HEX_SIZE + 1] = "", text[FILE_SIZE_MAX], *draft = NULL;
    base16_encode_update(hex, sizeof store->key, store->key);
    int size = snprintf(text, sizeof text,
                        "# The password of traffic-replay's test accounts in one domain, and the "
                        "key of its marker.\npassword = %s\nkey = %s\n",
                        store->password, hex);
    if (asprintf(&draft, "%s.%ld", store->path, (long)getpid()) < 0)
        return -ENOMEM;
    int file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = file < 0 ? -errno : system_write_all(file, text, (size_t)size);
    if (file >= 0 && fsync(file) != 0 && !result)
        result = -errno;
    if (file >= 0 && close(file) != 0 && !result)
        result = -errno;
    if (!result && link(draft, store->path) != 0)
        result = -errno;
    if (file >= 0)
        unlink(draft);
    explicit_bzero(text, sizeof text);
    explicit_bzero(hex, sizeof hex);
    free(draft);
    return result;
}

int password_store_make(struct password_store *store)
{
    *store = (struct password_store){0};
    if (getrandom(store->key, sizeof store->key, 0) != sizeof store->key)
        return -errno;
    return make_password(store->password);
}

static const char alphabet[] = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789+-_=";

/* A password for any complexity policy: with an upper-case and a lower-case letter, a digit and a
 * symbol. */
static int make_password(char password[PASSWORD_STORE_LENGTH + 1])
{
    enum { LETTERS = sizeof alphabet - 1, FAIR = 256 / LETTERS * LETTERS };
    do {
        for (size_t i = 0; i < PASSWORD_STORE_LENGTH;) {
            uint8_t byte;
            if (getrandom(&byte, 1, 0) != 1)
                return -errno;
            if (byte < FAIR)
                password[i++] = alphabet[byte % LETTERS];
        }
        password[PASSWORD_STORE_LENGTH] = '\0';
    } while (!has_one_of(password, "ABCDEFGHJKLMNPQRSTUVWXYZ") ||
             !has_one_of(password, "abcdefghijkmnopqrstuvwxyz") ||
             !has_one_of(password, "0123456789") || !has_one_of(password, "+-_="));
    return 0;
}

static bool has_one_of(const char *password, const char *set)
{
    return strpbrk(password, set) != NULL;
}

void password_store_marker(const struct password_store *store, const char *password,
                           char marker[PASSWORD_STORE_MARKER_SIZE])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    hmac_sha256_set_key(&context, sizeof store->key, store->key);
    hmac_sha256_update(&context, strlen(password), (const uint8_t *)password);
    hmac_sha256_digest(&context, sizeof digest, digest);
    base16_encode_update(marker, sizeof digest, digest);
    marker[PASSWORD_STORE_MARKER_SIZE - 1] = '\0';
    explicit_bzero(&context, sizeof context);
}

int password_store_remove(const struct password_store_id *id)
{
    char *folder = state_folder();
    char *path = folder ? store_path(folder, id) : NULL;
    int result = path && unlink(path) != 0 && errno != ENOENT ? -errno : 0;
    free(folder);
    free(path);
    return result;
}

void password_store_clear(struct password_store *store)
{
    free(store->path);
    explicit_bzero(store, sizeof *store);
}
