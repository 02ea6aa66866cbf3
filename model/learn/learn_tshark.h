/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs tshark, which reads captures and prints one line per frame for learn_frames_take(). No shell
 * and no intermediate files are used. Several captures are merged by mergecap, which is a part of
 * the same package.
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
    void (*warning)(void *context, const char *line); /* may be NULL */
    void *context;
};

/*
 * Reads the captures named by paths into capture. A path "-" is standard input, whose first size
 * bytes are in begun; it must be the only path. 0, or a negative errno with a text in the capture's
 * error.
 */
int learn_tshark_read(const struct learn_tshark_settings *settings, const char *const *paths,
                      size_t count, const char *begun, size_t size, struct learn_capture *capture);

#endif
