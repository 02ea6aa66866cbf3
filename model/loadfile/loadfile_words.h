/* SPDX-License-Identifier: Apache-2.0 */
/* The words of loadfiles and their arguments. */
#ifndef MODEL_LOADFILE_LOADFILE_WORDS_H
#define MODEL_LOADFILE_LOADFILE_WORDS_H

#include "packets/script.h"

/* The arguments of a word, one letter each; take_argument() in loadfile.c explains them. */
struct loadfile_form {
    const char *word;
    enum script_op op;
    const char *arguments;
    const char *usage;
};

/* The form of a word; NULL: there is no such word. */
const struct loadfile_form *loadfile_find_form(const char *word, size_t length);

/* Whether it is a word of dbench's other backends, or of clients that wait for each other. */
bool loadfile_is_other_word(const char *word, size_t length);

#endif
