/* SPDX-License-Identifier: Apache-2.0 */
/* Names of NTSTATUS values. */
#include "protocols/ntstatus.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct ntstatus_row {
    uint32_t status;
    const char *name;
};

static const struct ntstatus_row rows[] = {
#include "protocols/ntstatus_names.h"
};

static int ntstatus_compare(const void *key, const void *row)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct ntstatus_row *)row)->status;
    return a < b ? -1 : a > b;
}

const char *ntstatus_name(uint32_t status)
{
    const struct ntstatus_row *row =
        bsearch(&status, rows, sizeof rows / sizeof rows[0], sizeof rows[0], ntstatus_compare);
    return row ? row->name : NULL;
}

bool ntstatus_is_name(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

struct outcome ntstatus_outcome(uint32_t status)
{
    if (status == NTSTATUS_SUCCESS)
        return outcome_ok();
    const char *name = ntstatus_name(status);
    if (name)
        return outcome_failed("%s", name);
    return outcome_failed("NTSTATUS 0x%08x", status);
}
