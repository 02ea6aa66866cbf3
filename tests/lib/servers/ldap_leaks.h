/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be included once by tests in which the server sends what makes libldap leak. libldap 2.5 never
 * frees a request whose answer has the right message id and a malformed body, nor the texts of a
 * Notice of Disconnection. The leak checker cannot unwind its frames, so such a test ignores all
 * leaks in liblber; the other tests of LDAP have none.
 */
#ifndef TESTS_LIB_SERVERS_LDAP_LEAKS_H
#define TESTS_LIB_SERVERS_LDAP_LEAKS_H

/* Called by the leak checker. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:liblber";
}

#endif
