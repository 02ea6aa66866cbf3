/* SPDX-License-Identifier: Apache-2.0 */
/* A set-associative table: each key may live in the few places of its set. */
#include "model/learn/learn_links.h"

#include <stdlib.h>

#include "model/learn/learn_words.h"

enum { SETS = 1 << 14, WAYS = 8 };

struct links {
    struct link sets[SETS][WAYS];
};

struct links *links_make(void)
{
    return calloc(1, sizeof(struct links));
}

void links_free(struct links *links)
{
    free(links);
}

struct link *links_get(struct links *links, enum link_kind kind, uint64_t a, uint64_t b,
                       int64_t time, bool make)
{
    const uint64_t parts[] = {a, b};
    uint64_t key = learn_hash(kind, parts, sizeof parts) | 1;
    struct link *set = links->sets[(key >> 32) % SETS], *oldest = set;
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
    *oldest = (struct link){.key = key, .time = time};
    return oldest;
}
