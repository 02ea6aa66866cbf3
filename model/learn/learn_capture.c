/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"

enum { NAME_SIZE = 256 };

static int capture_open_records(struct learn_capture *capture);
static int file_failed(const struct learn_capture *capture, const char *what);
static uint8_t capture_role_of(const char *form);
static size_t copy_lower(const char *name, char lower[NAME_SIZE]);
static bool capture_is_better(const struct learn_address *a, const struct learn_address *b);
static int resolve_form(struct learn_capture *capture, uint32_t form);
static const char *kind_of_name(const struct learn_capture *capture, uint32_t number);
static bool is_of_server(const struct learn_capture *capture, const struct learn_name *facts);

int learn_capture_init(struct learn_capture *capture, struct error *error)
{
    *capture = (struct learn_capture){.error = error};
    capture->name_facts = calloc(LEARN_NAMES_MAX, sizeof *capture->name_facts);
    if (!capture->name_facts)
        return error_no_memory(capture->error);
    return capture_open_records(capture);
}

/* A file without a name, which disappears with the process. */
static int capture_open_records(struct learn_capture *capture)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/traffic-learn-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return file_failed(capture, "cannot create");
    unlink(path);
    capture->records = fdopen(file, "w+");
    if (capture->records)
        return 0;
    int result = file_failed(capture, "cannot open");
    close(file);
    return result;
}

static int file_failed(const struct learn_capture *capture, const char *what)
{
    int result = errno ? -errno : -EIO;
    const char *folder = getenv("TMPDIR");
    return error_set(capture->error, result, "%s a temporary file in %s: %s", what,
                     folder && *folder ? folder : "/tmp", strerror(-result));
}

void learn_capture_clear(struct learn_capture *capture)
{
    if (capture->records)
        fclose(capture->records);
    intern_clear(&capture->addresses);
    intern_clear(&capture->forms);
    intern_clear(&capture->names);
    intern_clear(&capture->realms);
    free(capture->seen);
    free(capture->name_facts);
    free(capture->resolved);
    *capture = (struct learn_capture){0};
}

void learn_capture_time(struct learn_capture *capture, int64_t time)
{
    learn_spans_add(&capture->spans, time);
}

int learn_capture_address(struct learn_capture *capture, const char *text, size_t length,
                          uint32_t *number)
{
    bool added;
    if (intern_add(&capture->addresses, text, length, number, &added) < 0)
        return error_no_memory(capture->error);
    if (!added)
        return 0;
    struct learn_address *seen = array_grow(capture->seen, *number, sizeof *seen);
    if (!seen)
        return error_no_memory(capture->error);
    capture->seen = seen;
    seen[*number] = (struct learn_address){0};
    return 0;
}

void learn_capture_answer(struct learn_capture *capture, uint32_t address, bool datagram)
{
    if (datagram)
        capture->seen[address].datagram_answers++;
    else
        capture->seen[address].answers++;
}

int learn_capture_add(struct learn_capture *capture, const struct learn_record *record,
                      const char *form)
{
    struct learn_record copy = *record;
    size_t length = strlen(form);
    /* Beyond the limit a new form becomes its packet without details. */
    if (capture->forms.count >= LEARN_FORMS_MAX &&
        intern_find(&capture->forms, form, length) == UINT32_MAX)
        length = learn_form_type(form);
    if (intern_add(&capture->forms, form, length, &copy.form, NULL) < 0)
        return error_no_memory(capture->error);
    errno = 0;
    if (fwrite(&copy, sizeof copy, 1, capture->records) != 1)
        return file_failed(capture, "cannot write");
    capture->record_count++;
    capture->counts[LEARN_REQUESTS]++;
    capture->seen[copy.server].requests++;
    if (strncmp(form, "dns:", 4) == 0 || strncmp(form, "nbns:", 5) == 0)
        capture->seen[copy.server].name_queries++;
    capture->seen[copy.server].roles |= capture_role_of(form);
    return 0;
}

/* The role in which a host is asked, 0: none that tells a domain controller from other hosts. */
static uint8_t capture_role_of(const char *form)
{
    static const struct {
        const char *prefix;
        enum learn_role role;
    } roles[] = {{"ldap:", LEARN_ROLE_LDAP},
                 {"kerberos:1", LEARN_ROLE_KERBEROS},
                 {"rpc_netlogon:", LEARN_ROLE_NETLOGON},
                 {"cldap:", LEARN_ROLE_CLDAP},
                 {"drsuapi:", LEARN_ROLE_DRSUAPI}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strncmp(form, roles[i].prefix, strlen(roles[i].prefix)) == 0)
            return (uint8_t)roles[i].role;
    return 0;
}

int learn_capture_amend(struct learn_capture *capture, uint64_t index, const char *form)
{
    uint32_t number;
    off_t at = (off_t)(index * sizeof(struct learn_record) + offsetof(struct learn_record, form));
    if (intern_add(&capture->forms, form, strlen(form), &number, NULL) < 0)
        return error_no_memory(capture->error);
    errno = 0;
    if (fflush(capture->records) != 0 ||
        pwrite(fileno(capture->records), &number, sizeof number, at) != (ssize_t)sizeof number)
        return file_failed(capture, "cannot write");
    return 0;
}

uint32_t learn_capture_name(struct learn_capture *capture, const char *name)
{
    char lower[NAME_SIZE];
    uint32_t number;
    size_t length = copy_lower(name, lower);
    if (capture->names.count == LEARN_NAMES_MAX)
        return intern_find(&capture->names, lower, length);
    return intern_add(&capture->names, lower, length, &number, NULL) < 0 ? UINT32_MAX : number;
}

/* Copies at most NAME_SIZE characters. Returns their number. */
static size_t copy_lower(const char *name, char lower[NAME_SIZE])
{
    size_t length = 0;
    for (; name[length] && length < NAME_SIZE; length++)
        lower[length] =
            name[length] >= 'A' && name[length] <= 'Z' ? (char)(name[length] + 32) : name[length];
    return length;
}

void learn_capture_realm(struct learn_capture *capture, const char *realm)
{
    char lower[NAME_SIZE];
    uint32_t number;
    size_t length = copy_lower(realm, lower);
    /* Without memory the realm stays unknown, and its queries are of the kind "other". */
    if (capture->realms.count < LEARN_NAMES_MAX)
        (void)intern_add(&capture->realms, lower, length, &number, NULL);
}

int learn_capture_server(const struct learn_capture *capture, uint32_t *server)
{
    *server = UINT32_MAX;
    for (uint32_t i = 0; i < capture->addresses.count; i++)
        if (capture->seen[i].requests > capture->seen[i].name_queries &&
            (*server == UINT32_MAX ||
             capture_is_better(&capture->seen[i], &capture->seen[*server])))
            *server = i;
    return *server == UINT32_MAX ? -ENOENT : 0;
}

/* A file server or a name server may answer more often than a domain controller. So the number of
 * roles counts first, then answers over TCP, then answers in datagrams. Without any answers the
 * host with the most requests wins. */
static bool capture_is_better(const struct learn_address *a, const struct learn_address *b)
{
    int roles = __builtin_popcount(a->roles) - __builtin_popcount(b->roles);
    if (roles != 0)
        return roles > 0;
    if (a->answers != b->answers)
        return a->answers > b->answers;
    if (a->datagram_answers != b->datagram_answers)
        return a->datagram_answers > b->datagram_answers;
    return a->requests > b->requests;
}

void learn_capture_choose(struct learn_capture *capture, uint32_t server)
{
    if (server < capture->addresses.count)
        capture->seen[server].chosen = true;
}

uint64_t learn_capture_counted(const struct learn_capture *capture, enum learn_count count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < capture->addresses.count; i++)
        sum += capture->seen[i].chosen ? capture->seen[i].counts[count] : 0;
    return sum;
}

int learn_capture_finish(struct learn_capture *capture, uint32_t server)
{
    size_t count = capture->forms.count;
    int result = 0;
    learn_capture_choose(capture, server);
    free(capture->resolved);
    capture->resolved = calloc(count + 1, sizeof *capture->resolved);
    if (!capture->resolved)
        return error_no_memory(capture->error);
    for (uint32_t form = 0; form < count && result == 0; form++)
        result = resolve_form(capture, form);
    errno = 0;
    if (result == 0 && fflush(capture->records) != 0)
        result = file_failed(capture, "cannot write");
    return result;
}

static int resolve_form(struct learn_capture *capture, uint32_t form)
{
    const char *text = capture->forms.entries[form].bytes, *at = strstr(text, "\x1fname=@");
    char line[LEARN_FORM_SIZE];
    capture->resolved[form] = form;
    if (!at)
        return 0;
    size_t before = (size_t)(at - text);
    int length = snprintf(line, sizeof line, "%.*s\x1fname=%s", (int)before, text,
                          kind_of_name(capture, (uint32_t)strtoul(at + 7, NULL, 10)));
    if (intern_add(&capture->forms, line, (size_t)length, &capture->resolved[form], NULL) < 0)
        return error_no_memory(capture->error);
    return 0;
}

/* The kind of a name (dns:0 in traffic-model(5)), by its form (RFC 2782, MS-ADTS 6.3.2), its
 * answers and the realms that were seen. */
static const char *kind_of_name(const struct learn_capture *capture, uint32_t number)
{
    const struct intern_entry *name = &capture->names.entries[number];
    if (strncmp(name->bytes, "_kerberos.", 10) == 0)
        return "kerberos";
    if (strstr(name->bytes, "_msdcs."))
        return "msdcs";
    if (strncmp(name->bytes, "_ldap.", 6) == 0)
        return "ldap";
    if (intern_find(&capture->realms, name->bytes, name->size) != UINT32_MAX)
        return "realm";
    return is_of_server(capture, &capture->name_facts[number]) ? "dc" : "other";
}

static bool is_of_server(const struct learn_capture *capture, const struct learn_name *facts)
{
    for (unsigned i = 0; i < facts->address_count; i++)
        if (capture->seen[facts->addresses[i]].chosen)
            return true;
    return facts->is_target;
}

int learn_capture_rewind(struct learn_capture *capture)
{
    errno = 0;
    return fseek(capture->records, 0, SEEK_SET) != 0 ? file_failed(capture, "cannot read") : 0;
}

int learn_capture_next(struct learn_capture *capture, struct learn_record *record)
{
    errno = 0;
    if (fread(record, sizeof *record, 1, capture->records) == 1) {
        record->form = capture->resolved[record->form];
        return 1;
    }
    return ferror(capture->records) ? file_failed(capture, "cannot read") : 0;
}
