/* SPDX-License-Identifier: Apache-2.0 */
#include "packets/script.h"

const char *const script_words[SCRIPT_OPS] = {
    [SCRIPT_CREATE] = "NTCreateX",
    [SCRIPT_CLOSE] = "Close",
    [SCRIPT_READ] = "ReadX",
    [SCRIPT_WRITE] = "WriteX",
    [SCRIPT_FLUSH] = "Flush",
    [SCRIPT_LOCK] = "LockX",
    [SCRIPT_UNLOCK] = "UnlockX",
    [SCRIPT_QUERY_PATH] = "QUERY_PATH_INFORMATION",
    [SCRIPT_QUERY_FILE] = "QUERY_FILE_INFORMATION",
    [SCRIPT_QUERY_FS] = "QUERY_FS_INFORMATION",
    [SCRIPT_SET_FILE] = "SET_FILE_INFORMATION",
    [SCRIPT_FIND] = "FIND_FIRST",
    [SCRIPT_RENAME] = "Rename",
    [SCRIPT_UNLINK] = "Unlink",
    [SCRIPT_MKDIR] = "Mkdir",
    [SCRIPT_RMDIR] = "Rmdir",
    [SCRIPT_DELTREE] = "Deltree",
    [SCRIPT_RANDOMSTRING] = "RANDOMSTRING",
    [SCRIPT_LOOP] = "LOOP",
    [SCRIPT_ENDLOOP] = "ENDLOOP",
    [SCRIPT_SLEEP] = "SLEEP",
};

struct level_class {
    uint16_t level;
    uint8_t class;
};

static const struct level_class file_levels[] = {
    {257, 4},   {258, 5},   {259, 7},   {260, 18},  {263, 18},  {1004, 4},  {1005, 5},
    {1006, 6},  {1007, 7},  {1008, 8},  {1014, 14}, {1016, 16}, {1017, 17}, {1018, 18},
    {1021, 21}, {1022, 22}, {1028, 28}, {1034, 34}, {1035, 35}, {0, 0}};
static const struct level_class volume_levels[] = {{1, 3},    {2, 1},    {258, 1},  {259, 3},
                                                   {260, 4},  {261, 5},  {1001, 1}, {1003, 3},
                                                   {1004, 4}, {1005, 5}, {1007, 7}, {0, 0}};
static const struct level_class find_levels[] = {{257, 1},  {258, 2},  {259, 12}, {260, 3},
                                                 {261, 38}, {262, 37}, {0, 0}};
static const struct level_class set_levels[] = {{257, 4}, {1004, 4}, {0, 0}};

uint8_t script_class_of_level(enum script_op op, uint32_t level)
{
    const struct level_class *row = op == SCRIPT_QUERY_FS   ? volume_levels
                                    : op == SCRIPT_FIND     ? find_levels
                                    : op == SCRIPT_SET_FILE ? set_levels
                                                            : file_levels;
    while (row->level && row->level != level)
        row++;
    return row->class;
}
