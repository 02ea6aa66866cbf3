/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tshark as a child process: it reads captures and prints a line a frame, which goes to
 * learn_frames_take. No shell, no files between. Several captures are merged by mergecap, which
 * comes with it.
 */
#ifndef MODEL_LEARN_LEARN_TSHARK_H
#define MODEL_LEARN_LEARN_TSHARK_H

#include <stddef.h>

#include "model/learn/learn_capture.h"

struct learn_tshark_settings {
    const char *program;        /* path or name of tshark */
    const char *keytab;         /* NULL: none */
    const char *const *options; /* preferences, as for tshark -o */
    size_t option_count;
    void (*warning)(void *context, const char *line); /* what the user should know; may be NULL */
    void *context;
};

/*
 * Reads captures, all named by paths, into capture. A path "-" is standard input, of which size
 * bytes at `begun` were read already; it cannot be merged with others. 0, or a negative errno with
 * a line in the capture's error.
 */
int learn_tshark_read(const struct learn_tshark_settings *settings, const char *const *paths,
                      size_t count, const char *begun, size_t size, struct learn_capture *capture);

#endif
