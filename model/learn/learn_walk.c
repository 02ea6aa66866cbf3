/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

enum { FIRST_ROOM = 256, SHARED_CONNECTIONS = 4, RECENT_CONNECTIONS = 8 };

/* The latest TCP connections of a client and protocol, the last used one first. One that is used
 * again after another one was in between is busy at the same time as that. */
struct recent_connections {
    uint32_t connections[RECENT_CONNECTIONS];
    uint32_t count;
    uint8_t interleaved; /* a bit per connection */
};

struct shared_search {
    struct intern keys; /* client and protocol */
    struct recent_connections *recent;
};

/* Conversations by the number that base/intern gives to their key. Those that are over make room
 * when there are more than room. */
struct walker {
    struct learn_capture *capture;
    const struct learn_walk_settings *settings;
    const struct learn_walk_observer *observer;
    struct intern keys;
    struct learn_conversation *conversations; /* packets 0: over */
    size_t room;
    int64_t idle;  /* ns */
    uint32_t hint; /* the form kerberos: */
};

static int take_record(struct walker *walker, const struct learn_record *record);
static int find_conversation(struct walker *walker, const struct learn_record *record,
                             struct learn_conversation **conversation);
static int drop_silent(struct walker *walker, int64_t now);
static int end_silent(struct walker *walker, int64_t time);
static int compare_ends(const void *a, const void *b);
static int end_conversation(struct walker *walker, struct learn_conversation *conversation);
static int walk_take_packet(struct walker *walker, struct learn_conversation *conversation,
                            uint32_t form, int64_t time);
static int add_recent(struct shared_search *search, const struct learn_capture *capture,
                      const struct learn_record *record, bool *shared);
static bool use_connection(struct recent_connections *recent, const struct learn_record *record);

int learn_walk(struct learn_capture *capture, const struct learn_walk_settings *settings,
               const struct learn_walk_observer *observer)
{
    struct walker walker = {.capture = capture,
                            .settings = settings,
                            .observer = observer,
                            .room = FIRST_ROOM,
                            .idle = (int64_t)(settings->idle * 1e9)};
    struct learn_record record;
    int result = intern_add(&capture->forms, "kerberos:", 9, &walker.hint, NULL);
    if (result == 0)
        result = learn_capture_rewind(capture);
    while (result == 0 && (result = learn_capture_next(capture, &record)) > 0)
        result = capture->seen[record.server].chosen ? take_record(&walker, &record) : 0;
    if (result == 0)
        result = end_silent(&walker, INT64_MAX);
    intern_clear(&walker.keys);
    free(walker.conversations);
    return result == -ENOMEM ? error_no_memory(capture->error) : result;
}

static int take_record(struct walker *walker, const struct learn_record *record)
{
    struct learn_conversation *conversation;
    int result = find_conversation(walker, record, &conversation);
    if (result < 0)
        return result;
    int64_t silence = record->time - conversation->last;
    /* A clock that was set back ends a conversation like a silence. */
    if (conversation->packets > 0 && (silence > walker->idle || -silence > walker->idle))
        result = end_conversation(walker, conversation);
    if (conversation->packets == 0)
        *conversation = (struct learn_conversation){.key = conversation->key};
    conversation->connection = record->connection;
    conversation->udp = record->udp;
    if (result == 0 && record->kerberos && !conversation->kerberos) {
        conversation->kerberos = true;
        result = walk_take_packet(walker, conversation, walker->hint, record->time);
    }
    if (strncmp(walker->capture->forms.entries[record->form].bytes, "kerberos:", 9) == 0)
        conversation->kerberos = true;
    if (result == 0)
        result = walk_take_packet(walker, conversation, record->form, record->time);
    return result;
}

static int find_conversation(struct walker *walker, const struct learn_record *record,
                             struct learn_conversation **conversation)
{
    uint32_t key = walker->settings->by_connection ? record->connection : record->client, number;
    bool added;
    if (walker->keys.count >= walker->room) {
        int result = drop_silent(walker, record->time);
        if (result < 0)
            return result;
    }
    if (intern_add(&walker->keys, &key, sizeof key, &number, &added) < 0)
        return -ENOMEM;
    if (added) {
        struct learn_conversation *grown = array_grow(walker->conversations, number, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        walker->conversations = grown;
        grown[number] = (struct learn_conversation){.key = key};
    }
    *conversation = &walker->conversations[number];
    return 0;
}

/* Ends silent conversations and numbers the others again. Doubles the room until at least half of
 * it is free. */
static int drop_silent(struct walker *walker, int64_t now)
{
    size_t count = walker->keys.count, kept = 0;
    int result = end_silent(walker, now - walker->idle);
    intern_clear(&walker->keys);
    for (size_t i = 0; i < count && result == 0; i++) {
        struct learn_conversation *conversation = &walker->conversations[i];
        uint32_t number;
        if (conversation->packets == 0)
            continue;
        walker->conversations[kept++] = *conversation;
        result =
            intern_add(&walker->keys, &conversation->key, sizeof conversation->key, &number, NULL);
    }
    while (walker->room < 2 * kept)
        walker->room *= 2;
    return result;
}

/* Ends conversations that have been silent since before `time`, in the order of their last
 * packets. */
static int end_silent(struct walker *walker, int64_t time)
{
    struct learn_conversation **silent = calloc(walker->keys.count + 1, sizeof *silent);
    size_t count = 0;
    int result = silent ? 0 : -ENOMEM;
    for (size_t i = 0; i < walker->keys.count && result == 0; i++)
        if (walker->conversations[i].packets > 0 && walker->conversations[i].last < time)
            silent[count++] = &walker->conversations[i];
    if (count > 1)
        qsort(silent, count, sizeof *silent, compare_ends);
    for (size_t i = 0; i < count && result == 0; i++)
        result = end_conversation(walker, silent[i]);
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

static int end_conversation(struct walker *walker, struct learn_conversation *conversation)
{
    int result = walker->observer->end(walker->observer->context, conversation);
    conversation->packets = 0;
    return result;
}

/* A time that is earlier than the previous packet's is replaced by that packet's time. */
static int walk_take_packet(struct walker *walker, struct learn_conversation *conversation,
                            uint32_t form, int64_t time)
{
    double gap = 0;
    if (conversation->packets == 0)
        conversation->start = conversation->last = time;
    if (time > conversation->last) {
        gap = (double)(time - conversation->last) / 1e9;
        conversation->last = time;
    }
    conversation->packets++;
    return walker->observer->packet(walker->observer->context, conversation, form, gap);
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

int learn_walk_find_shared(struct learn_capture *capture, uint32_t *address)
{
    struct shared_search search = {0};
    struct learn_record record;
    bool shared = false;
    *address = UINT32_MAX;
    int result = learn_capture_rewind(capture);
    while (result == 0 && !shared && (result = learn_capture_next(capture, &record)) > 0) {
        bool counts = capture->seen[record.server].chosen && !record.udp;
        result = counts ? add_recent(&search, capture, &record, &shared) : 0;
    }
    if (shared)
        *address = record.client;
    intern_clear(&search.keys);
    free(search.recent);
    return result < 0 ? error_no_memory(capture->error) : 0;
}

static int add_recent(struct shared_search *search, const struct learn_capture *capture,
                      const struct learn_record *record, bool *shared)
{
    const char *form = capture->forms.entries[record->form].bytes;
    uint64_t key[2] = {record->client, intern_hash(0, form, strcspn(form, ":"))};
    uint32_t number;
    bool added;
    if (intern_add(&search->keys, key, sizeof key, &number, &added) < 0)
        return -ENOMEM;
    if (added) {
        struct recent_connections *grown = array_grow(search->recent, number, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        search->recent = grown;
        grown[number] = (struct recent_connections){0};
    }
    *shared = use_connection(&search->recent[number], record);
    return 0;
}

/* Moves the record's connection to the front. True if enough of the others are interleaved. */
static bool use_connection(struct recent_connections *recent, const struct learn_record *record)
{
    uint32_t at = 0;
    while (at < recent->count && recent->connections[at] != record->connection)
        at++;
    bool again = at < recent->count;
    uint8_t interleaved = again && (at > 0 || (recent->interleaved & 1));
    if (!again && recent->count < RECENT_CONNECTIONS)
        recent->count++;
    else if (!again)
        at--;
    uint8_t below = (uint8_t)((1u << at) - 1); /* the bits that move up by one */
    recent->interleaved = (uint8_t)((recent->interleaved & ~(below | 1u << at)) |
                                    (recent->interleaved & below) << 1 | interleaved);
    memmove(recent->connections + 1, recent->connections, at * sizeof *recent->connections);
    recent->connections[0] = record->connection;
    return __builtin_popcount(recent->interleaved) >= SHARED_CONNECTIONS;
}
