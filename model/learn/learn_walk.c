/* SPDX-License-Identifier: Apache-2.0 */
/* Conversations that are open at the same time live in a hash table; those that have been silent
 * for too long are ended when the table is full or their client comes again. */
#include "model/learn/learn_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct walk {
    struct learn_capture *capture;
    const struct learn_walk_settings *settings;
    const struct learn_walk_observer *observer;
    struct learn_conversation *table;
    uint32_t room, used;
    int64_t idle;  /* ns */
    uint32_t hint; /* the form kerberos: */
};

static int take_record(struct walk *walk, const struct learn_record *record);
static int walk_make_room(struct walk *walk, int64_t now);
static int end_silent(struct walk *walk, int64_t time);
static int compare_ends(const void *a, const void *b);
static int end_one(struct walk *walk, struct learn_conversation *conversation);
static struct learn_conversation *walk_slot_of(struct learn_conversation *table, uint32_t room,
                                               uint32_t key);
static int walk_take_packet(struct walk *walk, struct learn_conversation *conversation,
                            uint32_t form, int64_t time);

int learn_walk(struct learn_capture *capture, const struct learn_walk_settings *settings,
               const struct learn_walk_observer *observer)
{
    struct walk walk = {.capture = capture,
                        .settings = settings,
                        .observer = observer,
                        .idle = (int64_t)(settings->idle * 1e9)};
    struct learn_record record;
    int result = learn_words_add(&capture->forms, "kerberos:", 9, &walk.hint);
    if (result == 0)
        result = learn_capture_rewind(capture);
    while (result == 0 && (result = learn_capture_next(capture, &record)) > 0)
        result = record.server == settings->server ? take_record(&walk, &record) : 0;
    if (result == 0)
        result = end_silent(&walk, INT64_MAX);
    free(walk.table);
    return result == -ENOMEM ? error_no_memory(capture->error) : result;
}

static int take_record(struct walk *walk, const struct learn_record *record)
{
    uint32_t key = walk->settings->by_connection ? record->connection : record->client;
    int result = walk_make_room(walk, record->time);
    if (result < 0)
        return result;
    struct learn_conversation *conversation = walk_slot_of(walk->table, walk->room, key);
    walk->used += !conversation->used;
    conversation->used = true;
    conversation->key = key;
    if (conversation->packets > 0 && record->time - conversation->last > walk->idle)
        result = end_one(walk, conversation);
    if (conversation->packets == 0)
        *conversation = (struct learn_conversation){.key = key, .used = true};
    conversation->connection = record->connection;
    if (result == 0 && record->kerberos && !conversation->kerberos) {
        conversation->kerberos = true;
        result = walk_take_packet(walk, conversation, walk->hint, record->time);
    }
    if (strncmp(walk->capture->forms.items[record->form].bytes, "kerberos:", 9) == 0)
        conversation->kerberos = true;
    return result == 0 ? walk_take_packet(walk, conversation, record->form, record->time) : result;
}

enum { FIRST_ROOM = 256 };

/* Makes room: conversations that are over go, and when that is not enough the table doubles. */
static int walk_make_room(struct walk *walk, int64_t now)
{
    if (walk->room > 2 * walk->used)
        return 0;
    int result = walk->room ? end_silent(walk, now - walk->idle) : 0;
    uint32_t open = 0;
    for (uint32_t i = 0; i < walk->room; i++)
        open += walk->table[i].used && walk->table[i].packets > 0;
    uint32_t room = walk->room ? walk->room : FIRST_ROOM;
    while (room < 4 * open)
        room *= 2;
    struct learn_conversation *table = result == 0 ? calloc(room, sizeof *table) : NULL;
    if (!table)
        return result < 0 ? result : -ENOMEM;
    for (uint32_t i = 0; i < walk->room; i++)
        if (walk->table[i].used && walk->table[i].packets > 0)
            *walk_slot_of(table, room, walk->table[i].key) = walk->table[i];
    free(walk->table);
    walk->table = table;
    walk->room = room;
    walk->used = open;
    return 0;
}

/* Ends what was silent since before `time`, in the order in which it fell silent. */
static int end_silent(struct walk *walk, int64_t time)
{
    struct learn_conversation **silent =
        calloc(walk->used + 1, sizeof(struct learn_conversation *));
    size_t count = 0;
    int result = silent ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < walk->room && result == 0; i++)
        if (walk->table[i].used && walk->table[i].packets > 0 && walk->table[i].last < time)
            silent[count++] = &walk->table[i];
    if (count > 1)
        qsort(silent, count, sizeof(struct learn_conversation *), compare_ends);
    for (size_t i = 0; i < count && result == 0; i++)
        result = end_one(walk, silent[i]);
    free(silent);
    return result;
}

static int compare_ends(const void *a, const void *b)
{
    const struct learn_conversation *left = *(const struct learn_conversation *const *)a;
    const struct learn_conversation *right = *(const struct learn_conversation *const *)b;
    if (left->last != right->last)
        return left->last < right->last ? -1 : 1;
    return left->key < right->key ? -1 : left->key > right->key;
}

static int end_one(struct walk *walk, struct learn_conversation *conversation)
{
    int result = walk->observer->end(walk->observer->context, conversation);
    conversation->packets = 0;
    return result;
}

static struct learn_conversation *walk_slot_of(struct learn_conversation *table, uint32_t room,
                                               uint32_t key)
{
    uint32_t at = (uint32_t)learn_hash(2, &key, sizeof key) & (room - 1);
    while (table[at].used && table[at].key != key)
        at = (at + 1) & (room - 1);
    return &table[at];
}

static int walk_take_packet(struct walk *walk, struct learn_conversation *conversation,
                            uint32_t form, int64_t time)
{
    double gap = conversation->packets > 0 && time > conversation->last
                     ? (double)(time - conversation->last) / 1e9
                     : 0;
    conversation->start = conversation->packets == 0 ? time : conversation->start;
    /* Times that go back are taken as standing still. */
    conversation->last =
        conversation->packets == 0 || time > conversation->last ? time : conversation->last;
    conversation->packets++;
    return walk->observer->packet(walk->observer->context, conversation, form, gap);
}

int learn_walk_is_local(struct learn_capture *capture, uint32_t server, bool *local)
{
    struct learn_record record;
    uint64_t own = 0, others = 0;
    int result = learn_capture_rewind(capture);
    while (result == 0 && (result = learn_capture_next(capture, &record)) > 0) {
        own += record.server == server && record.client == server;
        others += record.server == server && record.client != server;
        result = 0;
    }
    *local = own > others;
    return result;
}
