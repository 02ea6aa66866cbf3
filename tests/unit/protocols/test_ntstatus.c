/* SPDX-License-Identifier: Apache-2.0 */
/* NTSTATUS names: every name is found, unknown values are printed as numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include "protocols/ntstatus.h"

#include <stdio.h>

#include "tests/lib/bytes.h"

static const struct {
    uint32_t status;
    const char *name;
} table[] = {
#include "protocols/ntstatus_names.h"
};
enum { COUNT = sizeof table / sizeof table[0] };

static void sorted_and_found(void **state)
{
    (void)state;
    assert_true(COUNT > 1700);
    for (size_t i = 0; i < COUNT; i++) {
        if (i > 0)
            assert_true(table[i - 1].status < table[i].status);
        assert_string_equal(ntstatus_name(table[i].status), table[i].name);
    }
}

static void well_known(void **state)
{
    (void)state;
    assert_string_equal(ntstatus_name(NTSTATUS_SUCCESS), "NT_STATUS_SUCCESS");
    assert_string_equal(ntstatus_name(NTSTATUS_PENDING), "NT_STATUS_PENDING");
    assert_string_equal(ntstatus_name(NTSTATUS_BUFFER_OVERFLOW), "NT_STATUS_BUFFER_OVERFLOW");
    assert_string_equal(ntstatus_name(NTSTATUS_NO_MORE_FILES), "NT_STATUS_NO_MORE_FILES");
    assert_string_equal(ntstatus_name(NTSTATUS_END_OF_FILE), "NT_STATUS_END_OF_FILE");
    assert_string_equal(ntstatus_name(NTSTATUS_MORE_PROCESSING_REQUIRED),
                        "NT_STATUS_MORE_PROCESSING_REQUIRED");
    assert_string_equal(ntstatus_name(NTSTATUS_LOGON_FAILURE), "NT_STATUS_LOGON_FAILURE");
    assert_string_equal(ntstatus_name(NTSTATUS_USER_SESSION_DELETED),
                        "NT_STATUS_USER_SESSION_DELETED");
    assert_string_equal(ntstatus_name(NTSTATUS_NETWORK_SESSION_EXPIRED),
                        "NT_STATUS_NETWORK_SESSION_EXPIRED");
}

static void outcomes(void **state)
{
    (void)state;
    assert_int_equal(ntstatus_outcome(0).kind, OUTCOME_OK);
    struct outcome denied = ntstatus_outcome(0xc0000022);
    assert_int_equal(denied.kind, OUTCOME_FAILED);
    assert_string_equal(denied.cause, "NT_STATUS_ACCESS_DENIED");
    assert_null(ntstatus_name(0xdeadbeef));
    assert_string_equal(ntstatus_outcome(0xdeadbeef).cause, "NTSTATUS 0xdeadbeef");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_and_found),
        cmocka_unit_test(well_known),
        cmocka_unit_test(outcomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
