/* SPDX-License-Identifier: Apache-2.0 */
/* The packet table as text. */
#include "replay/packet_list.h"

#include "packets/packet_table.h"

void packet_list_print(FILE *out)
{
    static const char *const kinds[] = {
        [PACKET_OPERATION] = "operation", [PACKET_STATE] = "state", [PACKET_SILENT] = "silent"};
    size_t count;
    const struct packet_row *rows = packet_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].protocol->in_loadfiles)
            continue;
        fprintf(out, "%s:%s\t%s\t%s\n", rows[i].protocol->name, rows[i].opcode, kinds[rows[i].kind],
                rows[i].description);
    }
}
