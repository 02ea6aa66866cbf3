/* SPDX-License-Identifier: Apache-2.0 */
/* What traffic-learn is given: captures, traffic-summary texts or models, told apart by their
 * content. */
#ifndef MODEL_LEARN_LEARN_INPUT_H
#define MODEL_LEARN_LEARN_INPUT_H

#include "model/learn/learn_tshark.h"

#include "base/error.h"

enum learn_input_kind { LEARN_INPUT_CAPTURE, LEARN_INPUT_RECORDING, LEARN_INPUT_MODEL };

/* How much of standard input is read to find out. */
enum { LEARN_INPUT_PEEK = 4096 };

struct learn_input {
    enum learn_input_kind kind;
    char *begun; /* of standard input, the caller's to free() */
    size_t size;
};

/* Finds out what a file is. 0, or a negative errno with a line in error for
 * files that cannot be read, are empty or are nothing of this. */
int learn_input_identify(const char *path, struct learn_input *input, struct error *error);

/* Opens an input that was looked at, from its beginning; input has to outlive it. NULL and errno.
 */
FILE *learn_input_open(const char *path, const struct learn_input *input);

/* Reads a traffic-summary text into capture. */
int learn_input_read_recording(const char *path, const struct learn_input *input,
                               struct learn_capture *capture);

#endif
