/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/kdc_error.h"

#include <krb5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

size_t kdc_error(uint32_t code, int clock_offset, uint8_t *out)
{
    return kdc_error_with(code, clock_offset, NULL, 0, out);
}

size_t kdc_error_with(uint32_t code, int clock_offset, const uint8_t *data, size_t data_size,
                      uint8_t *out)
{
    krb5_context context;
    krb5_error message = {
        .magic = KV5M_ERROR, .error = code, .stime = (krb5_timestamp)(time(NULL) + clock_offset)};
    krb5_data encoded;
    message.e_data = (krb5_data){.data = (char *)(uintptr_t)data, .length = (unsigned)data_size};
    assert_int_equal(krb5_init_context(&context), 0);
    assert_int_equal(
        krb5_parse_name(context, "krbtgt/SAMDOM.EXAMPLE.COM@SAMDOM.EXAMPLE.COM", &message.server),
        0);
    assert_int_equal(krb5_mk_error(context, &message, &encoded), 0);
    out[0] = out[1] = 0;
    out[2] = (uint8_t)(encoded.length >> 8);
    out[3] = (uint8_t)encoded.length;
    memcpy(out + 4, encoded.data, encoded.length);
    size_t size = encoded.length + 4;
    krb5_free_data_contents(context, &encoded);
    krb5_free_principal(context, message.server);
    krb5_free_context(context);
    return size;
}
