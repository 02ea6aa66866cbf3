/* SPDX-License-Identifier: Apache-2.0 */
/* The input of traffic-learn: captures, recordings or models, recognised by their content. */
#ifndef MODEL_LEARN_LEARN_INPUT_H
#define MODEL_LEARN_LEARN_INPUT_H

#include <stdio.h>

#include "base/error.h"
#include "model/learn/learn_capture.h"

enum learn_input_kind { LEARN_INPUT_CAPTURE, LEARN_INPUT_RECORDING, LEARN_INPUT_MODEL };

/* The number of bytes that are read to recognise a file. */
enum { LEARN_INPUT_PEEK = 4096 };

struct learn_input {
    enum learn_input_kind kind;
    char *begun; /* the start of standard input, to be freed by the caller; NULL: another file */
    size_t size; /* of begun */
};

/* Recognises a file; path "-" is standard input. 0, or a negative errno with a text in error for
 * files that cannot be read, are empty or are none of these. */
int learn_input_identify(const char *path, struct learn_input *input, struct error *error);

/* Opens a file that was recognised, at its start. input must outlive the stream. NULL with errno.
 */
FILE *learn_input_open(const char *path, const struct learn_input *input);

/* Reads a recording into capture. 0, or a negative errno with a text in its error. */
int learn_input_read_recording(const char *path, const struct learn_input *input,
                               struct learn_capture *capture);

#endif
