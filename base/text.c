/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is safe to print on a terminal. */
#include "base/text.h"

char *text_clean(char *text)
{
    enum { DELETE = 0x7f, C1_LEAD = 0xc2, C1_FIRST = 0x80, C1_LAST = 0x9f };
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < ' ' || *c == DELETE)
            *c = '?';
        else if (c[0] == C1_LEAD && c[1] >= C1_FIRST && c[1] <= C1_LAST)
            c[0] = c[1] = '?';
    }
    return text;
}
