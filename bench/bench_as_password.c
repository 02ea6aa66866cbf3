/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figure to compare AS exchanges with: a program that gets tickets with a password through
 * libkrb5.
 *
 * usage: bench_as_password PRINCIPAL SECONDS
 *
 * Reads the password from standard input, uses KRB5_CONFIG, and prints the number of exchanges and
 * their CPU seconds.
 */
#include <krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clocks.h"

static krb5_error_code exchange(krb5_context context, krb5_principal client, const char *password)
{
    krb5_creds creds;
    memset(&creds, 0, sizeof creds);
    krb5_error_code code =
        krb5_get_init_creds_password(context, &creds, client, password, NULL, NULL, 0, NULL, NULL);
    if (!code)
        krb5_free_cred_contents(context, &creds);
    return code;
}

static krb5_error_code run(krb5_context context, const char *name, const char *password,
                           double seconds)
{
    krb5_principal client = NULL;
    krb5_error_code code = krb5_parse_name(context, name, &client);
    if (code)
        return code;
    /* The first exchange loads libraries and reads files. */
    code = exchange(context, client, password);
    double cpu = cpu_seconds(), end = now() + seconds;
    unsigned long count = 0;
    for (; !code && now() < end; count++)
        code = exchange(context, client, password);
    if (!code)
        printf("%lu %.6f\n", count, cpu_seconds() - cpu);
    krb5_free_principal(context, client);
    return code;
}

int main(int argc, char **argv)
{
    char password[256];
    krb5_context context;
    if (argc != 3 || !fgets(password, sizeof password, stdin) || krb5_init_context(&context))
        return 2;
    password[strcspn(password, "\n")] = 0;
    krb5_error_code code = run(context, argv[1], password, atof(argv[2]));
    if (code) {
        const char *text = krb5_get_error_message(context, code);
        fprintf(stderr, "bench_as_password: %s\n", text);
        krb5_free_error_message(context, text);
    }
    krb5_free_context(context);
    return code != 0;
}
