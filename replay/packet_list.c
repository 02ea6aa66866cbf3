/* SPDX-License-Identifier: Apache-2.0 */
/* The table of packets as text. */
#include "replay/packet_list.h"

#include "protocols/packet.h"

static void packet_list_print_row(const struct packet_type *type, void *context);

void packet_list_print(FILE *out)
{
    packet_types_each(packet_list_print_row, out);
}

static void packet_list_print_row(const struct packet_type *type, void *context)
{
    static const char *const kinds[] = {
        [PACKET_OPERATION] = "operation", [PACKET_STATE] = "state", [PACKET_SILENT] = "silent"};
    fprintf(context, "%s:%s\t%s\t%s\n", type->protocol, type->opcode, kinds[type->kind],
            type->description);
}
