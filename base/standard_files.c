/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error of the programs. */
#include "base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

void standard_files_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}
