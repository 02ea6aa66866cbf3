/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error of the programs. */
#ifndef BASE_STANDARD_FILES_H
#define BASE_STANDARD_FILES_H

/* Standard files that the caller closed: what is opened later, a connection to the server say, must
 * not get their numbers and be sent the report. Nothing can be read from what takes their place,
 * nor be written to it, so that a report nobody could get is told as lost. */
void standard_files_hold(void);

#endif
