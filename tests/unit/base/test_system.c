/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the system. */
#include "base/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <pty.h>

static void lines_of_a_dumb_terminal_cannot_be_overwritten(void **state)
{
    (void)state;
    int terminal, program, ends[2];
    assert_int_equal(openpty(&terminal, &program, NULL, NULL, NULL), 0);
    assert_int_equal(pipe(ends), 0);
    setenv("TERM", "xterm", 1);
    assert_true(system_is_terminal(program));
    assert_false(system_is_terminal(ends[1]));
    setenv("TERM", "dumb", 1);
    assert_false(system_is_terminal(program));
    unsetenv("TERM");
    assert_false(system_is_terminal(program));
    close(terminal);
    close(program);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_dumb_terminal_cannot_be_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
