/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a TCP direction were seen. tshark calls a segment retransmitted when its answer or
 * a later segment was recorded before it; it may be the only copy nevertheless.
 */
#include "model/learn/learn_links.h"

static bool segments_is_before(uint32_t a, uint32_t b);
static bool segments_fill(struct learn_segments *segments, unsigned hole, uint32_t start,
                          uint32_t end);
static void segments_add_hole(struct learn_segments *segments, uint32_t start, uint32_t end);

bool learn_segments_add(struct learn_segments *segments, uint32_t start, uint32_t end)
{
    bool fresh = false;
    if (!segments->begun) {
        *segments = (struct learn_segments){.first = start, .next = end, .begun = true};
        return true;
    }
    for (unsigned hole = segments->hole_count; hole-- > 0;)
        fresh = segments_fill(segments, hole, start, end) || fresh;
    if (segments_is_before(segments->next, end)) {
        segments_add_hole(segments, segments->next, start);
        segments->next = end;
        fresh = true;
    }
    if (segments_is_before(start, segments->first)) {
        segments_add_hole(segments, end, segments->first);
        segments->first = start;
        fresh = true;
    }
    return fresh;
}

static bool segments_is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* Removes the bytes from a hole, which may become two. True if the hole had some of them. */
static bool segments_fill(struct learn_segments *segments, unsigned hole, uint32_t start,
                          uint32_t end)
{
    uint32_t from = segments->starts[hole], to = segments->ends[hole];
    if (!segments_is_before(start, to) || !segments_is_before(from, end))
        return false;
    segments->hole_count--;
    segments->starts[hole] = segments->starts[segments->hole_count];
    segments->ends[hole] = segments->ends[segments->hole_count];
    segments_add_hole(segments, from, start);
    segments_add_hole(segments, end, to);
    return true;
}

/* Adds a hole unless it is empty. The last hole makes room for one too many. */
static void segments_add_hole(struct learn_segments *segments, uint32_t start, uint32_t end)
{
    if (!segments_is_before(start, end))
        return;
    if (segments->hole_count == LEARN_LINK_HOLES)
        segments->hole_count--;
    segments->starts[segments->hole_count] = start;
    segments->ends[segments->hole_count++] = end;
}
