/* SPDX-License-Identifier: Apache-2.0 */
/* The words of loadfiles, and how a loadfile is recognised. */
#include "model/loadfile/loadfile_words.h"

#include <string.h>

#include "model/loadfile/loadfile.h"

static const struct loadfile_form forms[] = {
    {"NTCreateX", SCRIPT_CREATE, "nodHS", "\"NAME\" OPTIONS DISPOSITION HANDLE STATUS"},
    {"Close", SCRIPT_CLOSE, "hS", "HANDLE STATUS"},
    {"ReadX", SCRIPT_READ, "hxzeS", "HANDLE OFFSET SIZE EXPECTED STATUS"},
    {"WriteX", SCRIPT_WRITE, "hxzeS", "HANDLE OFFSET SIZE EXPECTED STATUS"},
    {"Write", SCRIPT_WRITE, "hxzeS", "HANDLE OFFSET SIZE EXPECTED STATUS"},
    {"Flush", SCRIPT_FLUSH, "hS", "HANDLE STATUS"},
    {"LockX", SCRIPT_LOCK, "hxzS", "HANDLE OFFSET SIZE STATUS"},
    {"UnlockX", SCRIPT_UNLOCK, "hxzS", "HANDLE OFFSET SIZE STATUS"},
    {"QUERY_PATH_INFORMATION", SCRIPT_QUERY_PATH, "nlS", "\"NAME\" LEVEL STATUS"},
    {"QUERY_FILE_INFORMATION", SCRIPT_QUERY_FILE, "hlS", "HANDLE LEVEL STATUS"},
    {"QUERY_FS_INFORMATION", SCRIPT_QUERY_FS, "lS", "LEVEL STATUS"},
    {"SET_FILE_INFORMATION", SCRIPT_SET_FILE, "hlS", "HANDLE LEVEL STATUS"},
    {"FIND_FIRST", SCRIPT_FIND, "mliiS", "\"MASK\" LEVEL MAXIMUM COUNT STATUS"},
    {"Rename", SCRIPT_RENAME, "nrS", "\"NAME\" \"NEW NAME\" STATUS"},
    {"Unlink", SCRIPT_UNLINK, "niS", "\"NAME\" ATTRIBUTES STATUS"},
    {"Mkdir", SCRIPT_MKDIR, "nS", "\"NAME\" STATUS"},
    {"Rmdir", SCRIPT_RMDIR, "nS", "\"NAME\" STATUS"},
    {"Deltree", SCRIPT_DELTREE, "nS", "\"NAME\" STATUS"},
    {"RANDOMSTRING", SCRIPT_RANDOMSTRING, "tp", "NUMBER \"PATTERN\", NUMBER from 0 to 9"},
    {"LOOP", SCRIPT_LOOP, "c", "COUNT"},
    {"ENDLOOP", SCRIPT_ENDLOOP, "", "without arguments"},
    {"REPEAT", SCRIPT_LOOP, "c", "COUNT"},
    {"SLEEP", SCRIPT_SLEEP, "u", "MICROSECONDS"},
    {"Sleep", SCRIPT_SLEEP, "u", "MICROSECONDS"},
};

/* Words of dbench's other backends, and of clients that wait for each other. */
static const char *const other_words[] = {
    "OPEN",    "READ",    "WRITE",         "CLOSE", "GETATTR3", "LOOKUP3",
    "CREATE3", "WRITE3",  "COMMIT3",       "READ3", "MKDIR3",   "RMDIR3",
    "REMOVE3", "ACCESS3", "FSSTAT3",       "READ6", "READ10",   "WRITE10",
    "READ16",  "WRITE16", "TESTUNITREADY", "SETSP", "WAITSP",   "WRITEPATTERN"};

static const char *after_time(const char *line);

bool loadfile_begins(const char *begin)
{
    while (*begin == '#' || *begin == '\n' || *begin == '\r' || *begin == ' ' || *begin == '\t')
        begin += *begin == '#' ? strcspn(begin, "\n") : 1;
    begin = after_time(begin);
    size_t length = strcspn(begin, " \t\r\n");
    return loadfile_find_form(begin, length) || loadfile_is_other_word(begin, length);
}

const struct loadfile_form *loadfile_find_form(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strlen(forms[i].word) == length && strncmp(forms[i].word, word, length) == 0)
            return &forms[i];
    return NULL;
}

bool loadfile_is_other_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof other_words / sizeof other_words[0]; i++)
        if (strlen(other_words[i]) == length && strncmp(other_words[i], word, length) == 0)
            return true;
    return false;
}

/* A line may begin with a time: its first character is a digit then. */
static const char *after_time(const char *line)
{
    if (*line >= '0' && *line <= '9') {
        line += strcspn(line, " \t\r\n");
        line += strspn(line, " \t");
    }
    return line;
}

bool loadfile_is_gzip(const void *begin, size_t size)
{
    return size >= 3 && memcmp(begin, "\x1f\x8b\x08", 3) == 0;
}
