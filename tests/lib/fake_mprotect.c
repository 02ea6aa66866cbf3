/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/fake_mprotect.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static int good_left, bad_left;

static bool next_call_fails(void);

void fake_mprotect_fail(int good, int bad)
{
    pthread_mutex_lock(&counts);
    good_left = good;
    bad_left = bad;
    pthread_mutex_unlock(&counts);
}

int fake_mprotect_left(void)
{
    pthread_mutex_lock(&counts);
    int left = bad_left;
    pthread_mutex_unlock(&counts);
    return left;
}

int mprotect(void *address, size_t size, int protection)
{
    static int (*real)(void *, size_t, int);
    if (!real)
        real = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "mprotect");
    if (protection == PROT_NONE && next_call_fails()) {
        errno = ENOMEM;
        return -1;
    }
    return real(address, size, protection);
}

static bool next_call_fails(void)
{
    bool fails = false;
    pthread_mutex_lock(&counts);
    if (good_left)
        good_left--;
    else if (bad_left) {
        bad_left--;
        fails = true;
    }
    pthread_mutex_unlock(&counts);
    return fails;
}
