/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run_part.h"

#include "protocols/packet.h"

enum run_part run_part(const struct settings *settings, const struct model_type *type)
{
    const struct packet_row *row = type->row;
    if (row && row->kind == PACKET_SILENT)
        return RUN_SILENT;
    if (!settings_plays(settings, type->protocol, type->opcode))
        return RUN_LEFT_OUT;
    if (!row || !packet_is_available(row, &settings->play))
        return RUN_NO_PLAYER;
    return row->kind == PACKET_STATE ? RUN_STATE : RUN_OPERATION;
}

bool run_part_is_operation(const struct model_type *type, void *context)
{
    return run_part(context, type) == RUN_OPERATION;
}
