/* SPDX-License-Identifier: Apache-2.0 */
/* How the salt of an account's key is asked for, and accounts without an AES256 key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include <krb5.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "protocols/kerberos/kerberos.h"
#include "tests/lib/bytes.h"
#include "tests/lib/kdc_error.h"
#include "tests/lib/packets.h"
#include "tests/lib/servers/loopback.h"
#include "tests/lib/test_random.h"

static char password[] = "Pa55-word", user_name[] = "krb-user";

/* METHOD-DATA with one PA-ETYPE-INFO2 (RFC 4120 5.2.7.5). */
static const char aes256_with_salt[] =
    "301c 301a a103020113 a213 0411 300f 300d a003020112 a106 1b04 53414c54";
static const char arcfour_only[] = "3014 3012 a103020113 a20b 0409 3007 3005 a003020117";

static bool time_flies;

/* For libkrb5: with time_flies, each call is a second later. */
time_t time(time_t *out)
{
    static time_t passed;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    passed += time_flies;
    if (out)
        *out = now.tv_sec + passed;
    return now.tv_sec + passed;
}

/* A KDC that answers one request with KDC_ERR_PREAUTH_REQUIRED. */
struct kdc_once {
    int listener;
    uint16_t port;
    uint8_t request[4096], reply[600];
    size_t request_size, reply_size;
};

static void *kdc_once_main(void *argument)
{
    struct kdc_once *kdc = argument;
    int fd = accept(kdc->listener, NULL, NULL);
    ssize_t n = recv(fd, kdc->request, sizeof kdc->request, 0);
    kdc->request_size = n > 0 ? (size_t)n : 0;
    send(fd, kdc->reply, kdc->reply_size, MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

/* Learns a key from a KDC that offers this METHOD-DATA. */
static void learn_from(const char *method_data, struct account *account, struct kdc_once *kdc)
{
    uint8_t data[100];
    size_t size = bytes_from_hex(method_data, data);
    pthread_t thread;
    *kdc = (struct kdc_once){.port = 0};
    kdc->reply_size = kdc_error_with(25, 0, data, size, kdc->reply);
    kdc->listener = loopback_listen(&kdc->port, 1);
    assert_int_equal(pthread_create(&thread, NULL, kdc_once_main, kdc), 0);
    struct dc *dc = loopback_dc();
    dc->ports.kerberos = kdc->port;
    dc->realm = strdup("SAMDOM.EXAMPLE.COM");
    *account = (struct account){.name = user_name, .password = password};
    struct conversation conversation = {
        .wire = {.waiter = wire_blocking_waiter(), .deadline = clock_now() + 10000000000},
        .dc = dc,
        .user = account,
        .random = test_random_zero};
    conversation_init(&conversation);
    assert_ok(kerberos_learn_key(&conversation, account));
    conversation_reset(&conversation);
    dc_free(dc);
    pthread_join(thread, NULL);
    close(kdc->listener);
}

static void the_key_has_the_salt_of_the_kdc(void **state)
{
    (void)state;
    struct kdc_once kdc;
    struct account account;
    krb5_context context;
    krb5_keyblock key;
    krb5_data text = {.data = password, .length = sizeof password - 1};
    krb5_data salt = {.data = (char *)(uintptr_t) "SALT", .length = 4};
    assert_int_equal(krb5_init_context(&context), 0);
    assert_int_equal(
        krb5_c_string_to_key(context, ENCTYPE_AES256_CTS_HMAC_SHA1_96, &text, &salt, &key), 0);
    learn_from(aes256_with_salt, &account, &kdc);
    assert_true(account.has_aes256_key);
    assert_false(account.no_aes256_key);
    assert_memory_equal(account.aes256_key, key.contents, 32);
    krb5_free_keyblock_contents(context, &key);
    krb5_free_context(context);
}

static void an_account_without_an_aes256_key_uses_its_password(void **state)
{
    (void)state;
    struct kdc_once kdc;
    struct account account;
    learn_from(arcfour_only, &account, &kdc);
    assert_false(account.has_aes256_key);
    assert_true(account.no_aes256_key);
}

/* KDCOptions, bit 15: RFC 6806 3. */
static void the_salt_is_asked_for_with_canonicalization(void **state)
{
    (void)state;
    static const uint8_t kdc_options[] = {0xa0, 0x07, 0x03, 0x05, 0x00};
    struct kdc_once kdc;
    struct account account;
    learn_from(aes256_with_salt, &account, &kdc);
    const uint8_t *found = memmem(kdc.request, kdc.request_size, kdc_options, sizeof kdc_options);
    assert_non_null(found);
    assert_int_equal(found[sizeof kdc_options + 1] & 1, 1);
}

static void the_salt_is_found_when_a_second_passes_meanwhile(void **state)
{
    (void)state;
    struct kdc_once kdc;
    struct account account;
    time_flies = true;
    learn_from(aes256_with_salt, &account, &kdc);
    time_flies = false;
    assert_true(account.has_aes256_key);
}

static int group_set_up(void **state)
{
    (void)state;
    struct error error = {0};
    struct dc *dc = loopback_dc();
    dc->realm = strdup("SAMDOM.EXAMPLE.COM");
    int code = kerberos_global_init(dc, &error);
    dc_free(dc);
    return code;
}

static int group_tear_down(void **state)
{
    (void)state;
    kerberos_global_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_has_the_salt_of_the_kdc),
        cmocka_unit_test(an_account_without_an_aes256_key_uses_its_password),
        cmocka_unit_test(the_salt_is_asked_for_with_canonicalization),
        cmocka_unit_test(the_salt_is_found_when_a_second_passes_meanwhile),
    };
    return cmocka_run_group_tests_name("kerberos_salt", tests, group_set_up, group_tear_down);
}
