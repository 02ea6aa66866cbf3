/* SPDX-License-Identifier: Apache-2.0 */
/* A set-associative table: a key can be in any of the places of its set. */
#include "model/learn/learn_links.h"

#include <stdlib.h>

#include "base/intern.h"

enum { SETS = 1 << 14, WAYS = 8 };

struct learn_links {
    struct learn_link questions[SETS][WAYS];
    struct learn_link connections[SETS][WAYS];
    struct learn_link associations[SETS][WAYS];
};

static struct learn_link (*table_of(struct learn_links *links, enum learn_link_kind kind))[WAYS];

struct learn_links *learn_links_new(void)
{
    return calloc(1, sizeof(struct learn_links));
}

void learn_links_free(struct learn_links *links)
{
    free(links);
}

struct learn_link *learn_links_get(struct learn_links *links, enum learn_link_kind kind, uint64_t a,
                                   uint64_t b, int64_t time, bool make)
{
    const uint64_t parts[] = {kind, a, b};
    uint64_t key = intern_hash(0, parts, sizeof parts) | 1;
    struct learn_link *set, *oldest;
    set = oldest = table_of(links, kind)[(key >> 32) % SETS];
    for (unsigned way = 0; way < WAYS; way++) {
        if (set[way].key == key) {
            set[way].time = time;
            return &set[way];
        }
        if (set[way].key == 0 || (oldest->key != 0 && set[way].time < oldest->time))
            oldest = &set[way];
    }
    if (!make)
        return NULL;
    *oldest = (struct learn_link){.key = key, .time = time};
    return oldest;
}

static struct learn_link (*table_of(struct learn_links *links, enum learn_link_kind kind))[WAYS]
{
    return kind >= LEARN_LINK_PRINCIPAL ? links->questions
           : kind >= LEARN_LINK_SESSION ? links->associations
                                        : links->connections;
}
