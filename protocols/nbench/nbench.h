/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loadfiles over SMB2: the packets nbench:* play the steps of a script (packets/script.h) in one
 * folder of a share, which the run creates and removes. docs/file-servers.md lists the SMB2
 * requests of each operation.
 */
#ifndef PROTOCOLS_NBENCH_NBENCH_H
#define PROTOCOLS_NBENCH_NBENCH_H

#include "base/error.h"
#include "packets/script.h"
#include "protocols/conversation.h"

/* A script, ready to be played: read-only, shared by all clients. */
struct nbench {
    const struct script *script;
    const char *folder;    /* of the run, relative to the share */
    const char **statuses; /* names of the script's statuses; "*": any, "ERROR": any failure */
    uint8_t *pattern;      /* what is written: SMB2_IO_MAX bytes at most */
    uint32_t clients;
};

/* Checks the names of the statuses. script and folder must outlive *out, which is freed with
 * nbench_free(). 0, -ENOMEM, or -EINVAL with "file:line: ..." in error. */
int nbench_new(const struct script *script, const char *folder, uint32_t clients,
               struct nbench **out, struct error *error);
/* NULL is allowed. */
void nbench_free(struct nbench *nbench);

/* Before the run: creates the run's folder with a file that marks it. 0; -EINVAL: the share has
 * such a folder already; or another negative errno; with a text in error. */
int nbench_create_folder(struct conversation *conversation, const char *folder,
                         struct error *error);
/* After the run: removes the folder and all that is in it, if it has the mark. 1: removed; 0: there
 * is none; -EBUSY: files are in use, try again; or another negative errno; with a text in error. */
int nbench_remove_folder(struct conversation *conversation, const char *folder,
                         struct error *error);

#endif
