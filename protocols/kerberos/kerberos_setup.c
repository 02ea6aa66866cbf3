/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up of Kerberos before the clock starts: a private profile, one libkrb5 context per thread,
 * the accounts' keys, the user's own tickets for -k.
 *
 * The profile is a file in memory, opened through /proc/self/fd, so that it disappears however the
 * process ends. It keeps libkrb5 and GSSAPI away from DNS, from other ticket caches and keytabs,
 * and from every KDC: kerberos_kdc.c sends all requests.
 */
#include <com_err.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gssapi/gssapi_krb5.h>
#include <nettle/aes.h>
#include <nettle/pbkdf2.h>
#include <profile.h>
#include <pthread.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "protocols/kerberos/kerberos.h"
#include "protocols/kerberos/kerberos_private.h"

static int profile_fd = -1;
static krb5_creds **admin_tickets;

static pthread_key_t context_key;
static int context_key_error;
static _Thread_local krb5_context thread_context;

enum { PROFILE_PATH_SIZE = 64 };

static void make_context_key(void);
static void free_context(void *context);
static int install_profile(const struct dc *dc);
static int write_profile(const struct dc *dc, bool name_kdc, char path[PROFILE_PATH_SIZE]);
static void print_profile(FILE *file, const struct dc *dc, bool name_kdc);
static bool is_host_name(const char *text);
static int initialize_libraries(struct error *error);
static int discard_log(void *context, int level, const char *message);
static int read_admin_tickets(krb5_context context, const char *name, struct error *error);
static krb5_error_code copy_tickets(krb5_context context, krb5_ccache ccache, size_t *count);
static krb5_error_code keep_ticket(krb5_context context, size_t count, krb5_creds *ticket);
static void free_admin_tickets(krb5_context context);
static char *make_salt(const struct account *account, const char *realm);
static void derive_aes256_key(const char *password, const krb5_data *salt, uint8_t key[32]);
static krb5_context hook_context(const struct dc *dc, int *fd);
static struct outcome learn_key(krb5_context context, struct kdc *kdc, struct account *account);
static krb5_error_code ask_salt(krb5_context context, krb5_principal client, krb5_enctype *enctype,
                                krb5_data *salt, krb5_data *parameters);
static krb5_error_code send_to_kdc(krb5_context context, void *data, const krb5_data *realm,
                                   const krb5_data *message, krb5_data **new_message,
                                   krb5_data **new_reply);
static krb5_error_code derive_with_parameters(krb5_context context, const char *password,
                                              const krb5_data *salt, const krb5_data *parameters,
                                              uint8_t out[32]);

krb5_context kerberos_context(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (thread_context)
        return thread_context;
    pthread_once(&once, make_context_key);
    krb5_context context;
    if (context_key_error || krb5_init_context(&context) != 0)
        return NULL;
    if (pthread_setspecific(context_key, context) != 0) {
        krb5_free_context(context);
        return NULL;
    }
    return thread_context = context;
}

static void make_context_key(void)
{
    context_key_error = pthread_key_create(&context_key, free_context);
}

static void free_context(void *context)
{
    krb5_free_context(context);
}

struct outcome kerberos_no_context(void)
{
    return outcome_failed("Kerberos: no library context");
}

krb5_creds *const *kerberos_admin_tickets(void)
{
    return admin_tickets;
}

char *kerberos_default_ccache(struct error *error)
{
    krb5_context context;
    krb5_error_code code = krb5_init_context(&context);
    if (code) {
        error_set(error, code == ENOMEM ? -ENOMEM : -EIO, "libkrb5 cannot be used: %s",
                  error_message(code));
        return NULL;
    }
    const char *name = krb5_cc_default_name(context);
    char *copy = name ? strdup(name) : NULL;
    if (!copy)
        error_no_memory(error);
    krb5_free_context(context);
    return copy;
}

int kerberos_global_init(const struct dc *dc, struct error *error)
{
    int code = install_profile(dc);
    if (code)
        return error_set(error, code, "Kerberos profile: %s", strerror(-code));
    krb5_context context = kerberos_context();
    if (!context)
        return error_set(error, -ENOSYS, "libkrb5 cannot be used");
    code = initialize_libraries(error);
    if (!code && dc->admin_ccache)
        code = read_admin_tickets(context, dc->admin_ccache, error);
    return code;
}

static int install_profile(const struct dc *dc)
{
    char path[PROFILE_PATH_SIZE];
    int fd = write_profile(dc, false, path);
    if (fd < 0)
        return fd;
    if (profile_fd >= 0)
        close(profile_fd);
    profile_fd = fd;
    return setenv("KRB5_CONFIG", path, 1) < 0 ? -errno : 0;
}

/* Writes the profile to a file in memory. Returns its descriptor, to be closed by the caller, and
 * its name in path. */
static int write_profile(const struct dc *dc, bool name_kdc, char path[PROFILE_PATH_SIZE])
{
    int fd = memfd_create("krb5.conf", MFD_CLOEXEC);
    int copy = fd < 0 ? -1 : dup(fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    int error = file ? 0 : -errno;
    if (file) {
        print_profile(file, dc, name_kdc);
        if (ferror(file) | fclose(file))
            error = -EIO;
    } else if (copy >= 0) {
        close(copy);
    }
    if (error && fd >= 0)
        close(fd);
    snprintf(path, PROFILE_PATH_SIZE, "/proc/self/fd/%d", fd);
    return error ? error : fd;
}

/* name_kdc: names a KDC, because libkrb5 calls its send hook only for realms that have one. */
static void print_profile(FILE *file, const struct dc *dc, bool name_kdc)
{
    fputs("[libdefaults]\n"
          "dns_lookup_kdc = false\n"
          "dns_lookup_realm = false\n"
          "dns_canonicalize_hostname = false\n"
          "rdns = false\n"
          "qualify_shortname = \"\"\n"
          "kdc_timesync = 0\n" /* a wrong clock must be noticed */
          "permitted_enctypes = aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96 arcfour-hmac\n"
          "default_ccache_name = MEMORY:none\n"
          "default_keytab_name = MEMORY:none\n"
          "default_client_keytab_name = MEMORY:none\n",
          file);
    if (is_host_name(dc->realm)) {
        fprintf(file, "default_realm = %s\n[domain_realm]\n", dc->realm);
        if (is_host_name(dc->dns_name))
            fprintf(file, "%s = %s\n", dc->dns_name, dc->realm);
        if (is_host_name(dc->dns_domain))
            fprintf(file, ".%s = %s\n", dc->dns_domain, dc->realm);
    }
    if (is_host_name(dc->realm) && name_kdc)
        fprintf(file, "[realms]\n%s = {\nkdc = tcp/127.0.0.1:1\n}\n", dc->realm);
    fputs("[plugins]\n"
          "clpreauth = {\n"
          "disable = pkinit\n"
          "disable = spake\n"
          "disable = otp\n"
          "}\n"
          "hostrealm = {\n"
          "enable_only = profile\n"
          "}\n",
          file);
}

/* The DC sends its own names: only well-formed ones may enter the profile. */
static bool is_host_name(const char *text)
{
    if (!text || !*text)
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr(".-_", *text))
            return false;
    return true;
}

/* Libraries that initialize themselves at first use do it here, while there is only one thread.
 * libsasl must not write failed binds to the system's log: they are counted here. */
static int initialize_libraries(struct error *error)
{
    static const sasl_callback_t callbacks[] = {
        {SASL_CB_LOG, (int (*)(void))(void (*)(void))discard_log, NULL},
        {SASL_CB_LIST_END, NULL, NULL}};
    OM_uint32 minor;
    gss_OID_set mechanisms = GSS_C_NO_OID_SET;
    gss_indicate_mechs(&minor, &mechanisms);
    gss_release_oid_set(&minor, &mechanisms);
    int result = sasl_client_init(callbacks);
    if (result == SASL_OK)
        return 0;
    return error_set(error, result == SASL_NOMEM ? -ENOMEM : -ENOSYS, "libsasl cannot be used: %s",
                     sasl_errstring(result, NULL, NULL));
}

static int discard_log(void *context, int level, const char *message)
{
    (void)context, (void)level, (void)message;
    return SASL_OK;
}

static int read_admin_tickets(krb5_context context, const char *name, struct error *error)
{
    krb5_ccache ccache;
    size_t count = 0;
    krb5_error_code code = krb5_cc_resolve(context, name, &ccache);
    if (!code) {
        code = copy_tickets(context, ccache, &count);
        krb5_cc_close(context, ccache);
    }
    if (code == ENOMEM)
        return error_no_memory(error);
    if (code == KRB5_FCC_NOFILE || code == KRB5_CC_NOTFOUND)
        return error_set(error, -ENOENT, "there are no Kerberos tickets in %s: run kinit first",
                         name);
    if (code)
        return error_set(error, -EIO, "Kerberos ticket cache %s cannot be read: %s", name,
                         error_message(code));
    if (count == 0)
        return error_set(error, -EKEYEXPIRED,
                         "the Kerberos tickets in %s have expired: run kinit again", name);
    return 0;
}

/* Copies the tickets that are still valid out of the cache and counts them. */
static krb5_error_code copy_tickets(krb5_context context, krb5_ccache ccache, size_t *count)
{
    krb5_cc_cursor cursor;
    krb5_creds ticket;
    krb5_error_code code = krb5_cc_start_seq_get(context, ccache, &cursor);
    if (code)
        return code;
    while (!(code = krb5_cc_next_cred(context, ccache, &cursor, &ticket))) {
        if (!krb5_is_config_principal(context, ticket.server) &&
            ticket_end(&ticket) > (int64_t)time(NULL)) {
            code = keep_ticket(context, *count, &ticket);
            *count += code == 0;
        }
        krb5_free_cred_contents(context, &ticket);
        if (code)
            break;
    }
    krb5_cc_end_seq_get(context, ccache, &cursor);
    return code == KRB5_CC_END ? 0 : code;
}

static krb5_error_code keep_ticket(krb5_context context, size_t count, krb5_creds *ticket)
{
    krb5_creds **grown = realloc(admin_tickets, (count + 2) * sizeof *grown);
    if (!grown)
        return ENOMEM;
    admin_tickets = grown;
    grown[count] = grown[count + 1] = NULL;
    return krb5_copy_creds(context, ticket, &grown[count]);
}

void kerberos_global_end(void)
{
    if (thread_context) {
        free_admin_tickets(thread_context);
        pthread_setspecific(context_key, NULL);
        krb5_free_context(thread_context);
        thread_context = NULL;
    }
    if (profile_fd >= 0)
        close(profile_fd);
    profile_fd = -1;
}

static void free_admin_tickets(krb5_context context)
{
    for (size_t i = 0; admin_tickets && admin_tickets[i]; i++)
        krb5_free_creds(context, admin_tickets[i]);
    free(admin_tickets);
    admin_tickets = NULL;
}

int kerberos_derive_key(struct account *account, const char *realm)
{
    if (!account->name || !account->password || !realm)
        return -EINVAL;
    char *text = make_salt(account, realm);
    if (!text)
        return -ENOMEM;
    const krb5_data salt = {.magic = KV5M_DATA, .data = text, .length = (unsigned)strlen(text)};
    derive_aes256_key(account->password, &salt, account->aes256_key);
    account->has_aes256_key = true;
    free(text);
    return 0;
}

/* MS-KILE 3.1.1.2: REALM + name; for machines REALM + "host" + name + "." + realm, the last two in
 * lower case and without the $. Allocated. */
static char *make_salt(const struct account *account, const char *realm)
{
    char *salt = NULL;
    size_t length = strlen(account->name);
    if (!account->machine)
        return asprintf(&salt, "%s%s", realm, account->name) < 0 ? NULL : salt;
    if (length > 0 && account->name[length - 1] == '$')
        length--;
    if (asprintf(&salt, "%shost%.*s.%s", realm, (int)length, account->name, realm) < 0)
        return NULL;
    for (char *letter = salt + strlen(realm); *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return salt;
}

/* RFC 3962 4 with its default of 4,096 rounds: DK(PBKDF2(password, salt), "kerberos"). The constant
 * is the n-fold (RFC 3961 5.1) of "kerberos". With SHA instructions nettle takes a third of
 * libkrb5's time, and a run with thousands of clients begins with thousands of keys. */
static void derive_aes256_key(const char *password, const krb5_data *salt, uint8_t key[32])
{
    static const uint8_t kerberos[AES_BLOCK_SIZE] = {0x6b, 0x65, 0x72, 0x62, 0x65, 0x72,
                                                     0x6f, 0x73, 0x7b, 0x9b, 0x5b, 0x2b,
                                                     0x93, 0x13, 0x2b, 0x93};
    uint8_t base[32];
    struct aes256_ctx aes;
    pbkdf2_hmac_sha1(strlen(password), (const uint8_t *)password, 4096, salt->length,
                     (const uint8_t *)salt->data, sizeof base, base);
    aes256_set_encrypt_key(&aes, base);
    aes256_encrypt(&aes, AES_BLOCK_SIZE, key, kerberos);
    aes256_encrypt(&aes, AES_BLOCK_SIZE, key + AES_BLOCK_SIZE, key);
    explicit_bzero(base, sizeof base);
    explicit_bzero(&aes, sizeof aes);
}

struct outcome kerberos_learn_key(struct conversation *conversation, struct account *account)
{
    if (!conversation->dc->realm || !account->name || !account->password)
        return outcome_failed("no realm, name or password");
    int fd;
    krb5_context context = hook_context(conversation->dc, &fd);
    if (!context)
        return kerberos_no_context();
    struct kdc kdc = {.conversation = conversation, .transport = KDC_TCP};
    struct outcome outcome = learn_key(context, &kdc, account);
    kdc_end(&kdc);
    krb5_free_context(context);
    close(fd);
    return outcome;
}

/* A context for one use of a send hook, which belongs to its context. libkrb5 looks at the
 * profile's file again whenever a second has passed, so fd stays open until the context is freed.
 */
static krb5_context hook_context(const struct dc *dc, int *fd)
{
    char path[PROFILE_PATH_SIZE];
    const char *files[] = {path, NULL};
    krb5_context context = NULL;
    profile_t profile;
    *fd = write_profile(dc, true, path);
    if (*fd < 0)
        return NULL;
    if (profile_init(files, &profile) == 0) {
        if (krb5_init_context_profile(profile, 0, &context) != 0)
            context = NULL;
        profile_abandon(profile);
    }
    if (!context)
        close(*fd);
    return context;
}

static struct outcome learn_key(krb5_context context, struct kdc *kdc, struct account *account)
{
    krb5_principal client = NULL;
    krb5_enctype enctype = 0;
    krb5_data salt = {.magic = KV5M_DATA}, parameters = {.magic = KV5M_DATA};
    krb5_error_code code =
        kerberos_principal(context, kdc->conversation->dc->realm, account->name, &client);
    krb5_set_kdc_send_hook(context, send_to_kdc, kdc);
    if (!code)
        code = ask_salt(context, client, &enctype, &salt, &parameters);
    bool aes256 = enctype == ENCTYPE_AES256_CTS_HMAC_SHA1_96;
    if (!code && aes256)
        code = derive_with_parameters(context, account->password, &salt,
                                      parameters.length ? &parameters : NULL, account->aes256_key);
    struct outcome outcome = outcome_ok();
    if (code)
        outcome = kerberos_failure(context, kdc, code);
    account->has_aes256_key = !code && aes256;
    account->no_aes256_key = !code && !aes256;
    krb5_free_data_contents(context, &salt);
    krb5_free_data_contents(context, &parameters);
    krb5_free_principal(context, client);
    return outcome;
}

/* Asks as the AS exchanges of the run do: a KDC may require canonicalization, and knows more names
 * with it. */
static krb5_error_code ask_salt(krb5_context context, krb5_principal client, krb5_enctype *enctype,
                                krb5_data *salt, krb5_data *parameters)
{
    krb5_get_init_creds_opt *options = NULL;
    krb5_error_code code = krb5_get_init_creds_opt_alloc(context, &options);
    if (code)
        return code;
    krb5_get_init_creds_opt_set_canonicalize(options, 1);
    code = krb5_get_etype_info(context, client, options, enctype, salt, parameters);
    krb5_get_init_creds_opt_free(context, options);
    return code;
}

/* libkrb5's send hook: sends over our stream. */
static krb5_error_code send_to_kdc(krb5_context context, void *data, const krb5_data *realm,
                                   const krb5_data *message, krb5_data **new_message,
                                   krb5_data **new_reply)
{
    (void)realm;
    struct kdc *kdc = data;
    *new_message = NULL;
    *new_reply = NULL;
    if (kdc_ask(kdc, message))
        return KRB5_KDC_UNREACH;
    return krb5_copy_data(context, &kdc->reply, new_reply);
}

/* Derives a key with the parameters of the KDC: its number of rounds. */
static krb5_error_code derive_with_parameters(krb5_context context, const char *password,
                                              const krb5_data *salt, const krb5_data *parameters,
                                              uint8_t out[32])
{
    const krb5_data text = {.magic = KV5M_DATA,
                            .data = (char *)(uintptr_t)password,
                            .length = (unsigned)strlen(password)};
    krb5_keyblock key;
    krb5_error_code code = krb5_c_string_to_key_with_params(
        context, ENCTYPE_AES256_CTS_HMAC_SHA1_96, &text, salt, parameters, &key);
    if (code)
        return code;
    if (key.length == 32)
        memcpy(out, key.contents, 32);
    else
        code = KRB5_BAD_KEYSIZE;
    krb5_free_keyblock_contents(context, &key);
    return code;
}
