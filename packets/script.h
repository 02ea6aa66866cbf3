/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script: the operations of a loadfile (traffic-loadfile(5)), in the order in which each
 * client plays them. model/loadfile/ makes it, model/ plans it, protocols/nbench/ plays it. It does
 * not change once it is made, and all clients share it.
 */
#ifndef PACKETS_SCRIPT_H
#define PACKETS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum script_op {
    SCRIPT_CREATE,
    SCRIPT_CLOSE,
    SCRIPT_READ,
    SCRIPT_WRITE,
    SCRIPT_FLUSH,
    SCRIPT_LOCK,
    SCRIPT_UNLOCK,
    SCRIPT_QUERY_PATH,
    SCRIPT_QUERY_FILE,
    SCRIPT_QUERY_FS,
    SCRIPT_SET_FILE,
    SCRIPT_FIND,
    SCRIPT_RENAME,
    SCRIPT_UNLINK,
    SCRIPT_MKDIR,
    SCRIPT_RMDIR,
    SCRIPT_DELTREE,
    SCRIPT_RANDOMSTRING, /* the last one that is a packet, nbench:<word> */
    /* These only direct the plan. */
    SCRIPT_LOOP,
    SCRIPT_ENDLOOP,
    SCRIPT_SLEEP,
    SCRIPT_OPS,
    SCRIPT_PACKETS = SCRIPT_LOOP
};

/* The word of an operation in a loadfile, and the opcode of its packet: "NTCreateX". */
extern const char *const script_words[SCRIPT_OPS];

enum {
    SCRIPT_NO_SLOT = 0xffff,    /* the create is meant to fail */
    SCRIPT_COMPUTED_OFFSET = 1, /* flags: offset, size is an index in numbers */
    SCRIPT_COMPUTED_SIZE = 2,
    SCRIPT_STATUS_ANY = 0, /* indices in statuses */
    SCRIPT_STATUS_OK = 1,
    SCRIPT_STRINGS = 10 /* RANDOMSTRING 0 to 9, $0 to $9 in names */
};

/*
 * One operation. The members that several operations use in their own way:
 *     create          offset: options in the lower, disposition in the upper 32 bits
 *     read, write     name: the bytes that are to be moved
 *     query, set      size: information level
 *     find            size: level
 *     rename          size: the new name
 *     randomstring    slot: its number; name: the pattern
 *     loop            size: index in loops; slot: depth from 0
 *     endloop         the same
 *     sleep           offset: ns
 */
struct script_step {
    uint64_t offset;
    uint32_t name; /* index in names */
    uint32_t size;
    uint16_t slot;   /* of the open file, from 0 */
    uint16_t status; /* index in statuses: the outcome that counts as ok */
    uint8_t op;      /* enum script_op */
    uint8_t flags;
};

_Static_assert(sizeof(struct script_step) == 24, "scripts have hundreds of thousands of steps");

struct script_loop {
    uint32_t begin, end; /* steps */
    uint64_t count;
};

/* A number that is computed as it is played: random or the previous value of the same argument,
 * then changed from left to right. */
enum { SCRIPT_CHANGES_MAX = 4 };
struct script_number {
    bool random; /* otherwise the previous value */
    uint8_t change_count;
    struct script_change {
        char sign; /* '+', '*', '/', '%'; 'c' adds the client's number, 'n' that of clients */
        uint64_t value;
    } changes[SCRIPT_CHANGES_MAX];
};

/* The information class (MS-FSCC) of a level of SMB1 (MS-CIFS 2.2.2.3, MS-SMB 2.2.2.3.5: from 1000
 * on they are classes) in a query, a set or a find; 0: no SMB2 server knows it. */
uint8_t script_class_of_level(enum script_op op, uint32_t level);

struct script_status {
    const char *name; /* "NT_STATUS_NO_SUCH_FILE" or "0x..." */
    uint32_t line;    /* of its first use */
};

struct script {
    const char *file; /* name, for messages */
    struct script_step *steps;
    uint32_t step_count;
    int64_t *times; /* of the steps, in ns since the pass began; NULL: the file gives none */
    const char **names;
    uint32_t name_count;
    struct script_status *statuses;
    uint32_t status_count;
    struct script_number *numbers;
    uint32_t number_count;
    struct script_loop *loops;
    uint32_t loop_count;
    uint32_t slot_count; /* files that a client has open at most */
    /* One pass of one client. */
    double operations[SCRIPT_PACKETS];
    double failures; /* operations that are meant to fail */
    double bytes_read, bytes_written;
    bool computed_sizes; /* then the bytes are not known */
};

#endif
