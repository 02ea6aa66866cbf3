/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <string.h>

static unsigned char *heap_at(const struct heap *heap, size_t i);
static void heap_sift_down(struct heap *heap, const void *element);

void heap_push(struct heap *heap, const void *element)
{
    size_t i = heap->count++;
    while (i > 0 && heap->before(element, heap_at(heap, (i - 1) / 2))) {
        memcpy(heap_at(heap, i), heap_at(heap, (i - 1) / 2), heap->size);
        i = (i - 1) / 2;
    }
    memcpy(heap_at(heap, i), element, heap->size);
}

static unsigned char *heap_at(const struct heap *heap, size_t i)
{
    return (unsigned char *)heap->items + i * heap->size;
}

void heap_pop(struct heap *heap, void *element)
{
    unsigned char last[HEAP_ELEMENT_MAX];
    if (element)
        memcpy(element, heap->items, heap->size);
    memcpy(last, heap_at(heap, --heap->count), heap->size);
    if (heap->count > 0)
        heap_sift_down(heap, last);
}

void heap_first_changed(struct heap *heap)
{
    unsigned char first[HEAP_ELEMENT_MAX];
    memcpy(first, heap->items, heap->size);
    heap_sift_down(heap, first);
}

/* The first place is free. Moves children up into it until the element fits. */
static void heap_sift_down(struct heap *heap, const void *element)
{
    size_t i = 0, child;
    while ((child = 2 * i + 1) < heap->count) {
        if (child + 1 < heap->count && heap->before(heap_at(heap, child + 1), heap_at(heap, child)))
            child++;
        if (!heap->before(heap_at(heap, child), element))
            break;
        memcpy(heap_at(heap, i), heap_at(heap, child), heap->size);
        i = child;
    }
    memcpy(heap_at(heap, i), element, heap->size);
}
