/* SPDX-License-Identifier: Apache-2.0 */
/* Options in the command line that a result contains. */
#ifndef SUMMARY_COMMAND_TEXT_H
#define SUMMARY_COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Options of traffic-replay that change what is measured, and that no field of the result holds. */
struct command_option {
    const char *name;
    char letter; /* 0: none */
    bool flag;   /* without a value */
};
extern const struct command_option command_options[];
extern const size_t command_option_count;

/*
 * Writes an option's value to out: "none" if it is not given, "given" for a flag. command is a
 * command line quoted as for a shell; long options may be abbreviated. Returns false if name is not
 * in the table above.
 */
bool command_text_option(const char *command, const char *name, char *out, size_t size);

#endif
