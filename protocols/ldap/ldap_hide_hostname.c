/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This gethostname() replaces the C library's in the whole program, its libraries included.
 * libldap (once) and libsasl (for each bind) look up the host's own name in DNS, which can take
 * seconds, although nothing here uses it; while it is hidden they get an address, which needs no
 * lookup.
 */
#include "protocols/ldap/ldap_hide_hostname.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static _Thread_local bool is_hidden;

void ldap_hide_hostname(bool hide)
{
    is_hidden = hide;
}

int gethostname(char *name, size_t size)
{
    struct utsname system;
    if (uname(&system) < 0)
        return -1;
    const char *answer = is_hidden ? "127.0.0.1" : system.nodename;
    if (strlen(answer) >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name, answer);
    return 0;
}
