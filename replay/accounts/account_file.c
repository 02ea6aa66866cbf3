/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/accounts/account_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/files/text_file.h"
#include "base/message.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/utf16.h"
#include "replay/accounts/credentials.h"
#include "replay/accounts/directory.h"

struct lookup {
    const char *path;
    struct dc *dc;
    struct directory directory;
    struct error *error;
};

struct found {
    char *name, *dn;
    size_t count;
};

static int account_file_read_line(struct account_file *file, const char *path, char *line,
                                  size_t number, struct error *error);
static const char *cut_line(char *line, char **name, char **password);
static char *cut_field(char **text);
static int add_line(struct account_file *file, const char *name, const char *password,
                    size_t number);
static int lookup_accounts(struct lookup *lookup, const struct account_file *file, uint32_t clients,
                           bool machines);
static int fill_all(struct lookup *lookup, const struct account_file *file, bool machines,
                    uint32_t clients, struct account **out);
static bool is_machine_line(const struct account_file_line *line);
static int account_file_fill(struct lookup *lookup, const struct account_file_line *line,
                             struct account *account);
static int account_file_complain(struct lookup *lookup, const struct account_file_line *line,
                                 int result, const char *what);
static bool looks_like_dn(const char *name);
static int account_file_search(struct lookup *lookup, const char *name, struct found *found);
static char *filter_by_name(const struct dc *dc, const char *name);
static const char *without_domain(const struct dc *dc, const char *name);
static char *filter_escape(const char *text);
static int keep_first(void *context, LDAP *handle, LDAPMessage *entry);

int account_file_read(const char *path, struct account_file *file, struct error *error)
{
    *file = (struct account_file){0};
    FILE *input = fopen(path, "re");
    struct stat status;
    if (!input || fstat(fileno(input), &status) != 0) {
        error_set(error, -EINVAL, "cannot read %s: %s", path, strerror(errno));
        if (input)
            fclose(input);
        return -EINVAL;
    }
    file->world_readable = (status.st_mode & S_IROTH) != 0;
    char line[TEXT_FILE_LINE_SIZE];
    size_t number = 0;
    int result = 0, got = 1;
    while (!result && (got = text_file_read_line(input, line, sizeof line)) > 0) {
        size_t mark = ++number == 1 ? text_mark_length(line) : 0;
        result = account_file_read_line(file, path, line + mark, number, error);
    }
    if (got < 0)
        result = text_file_line_error(path, number + 1, got, error);
    explicit_bzero(line, sizeof line);
    fclose(input);
    return result;
}

static int account_file_read_line(struct account_file *file, const char *path, char *line,
                                  size_t number, struct error *error)
{
    char *name, *password;
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line || *line == '#')
        return 0;
    size_t size;
    const char *problem =
        utf16le_size(line, &size) ? "the line is not UTF-8" : cut_line(line, &name, &password);
    if (problem)
        return error_set(error, -EINVAL, "%s:%zu: %s", path, number, problem);
    return add_line(file, name, password, number) ? error_no_memory(error) : 0;
}

/* Splits a line into its two fields. Returns NULL, or what is wrong. */
static const char *cut_line(char *line, char **name, char **password)
{
    char *tab = strchr(line, '\t');
    if (tab) {
        *tab = '\0';
        *name = line;
        *password = tab + 1;
    } else {
        char *rest = line;
        *name = cut_field(&rest);
        if (*name && *rest != ',')
            return "expected a name and a password with a comma or a tab between them";
        if (*name)
            *rest++ = '\0';
        *password = *name ? cut_field(&rest) : NULL;
        if (!*password)
            return "a quoted field must end with a quote";
        if (*rest)
            return "there is a third field; quote names and passwords that contain commas";
    }
    if (!**name)
        return "the name is empty";
    return **password ? NULL : "the password is empty";
}

/* Reads a CSV field from *text in place; *text then points to what follows it (',' or '\0'). NULL:
 * a closing quote is missing, or text follows it. */
static char *cut_field(char **text)
{
    char *field = *text, *to = field, *from = field;
    if (*from != '"') {
        *text = field + strcspn(field, ",");
        return field;
    }
    for (from++; *from; from++) {
        if (*from == '"' && from[1] != '"')
            break;
        if (*from == '"')
            from++;
        *to++ = *from;
    }
    if (*from != '"' || (from[1] != ',' && from[1] != '\0'))
        return NULL;
    *text = from + 1;
    if (to < from + 1)
        *to = '\0';
    return field;
}

static int add_line(struct account_file *file, const char *name, const char *password,
                    size_t number)
{
    struct account_file_line *grown = array_grow(file->lines, file->count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    file->lines = grown;
    struct account_file_line *line = &file->lines[file->count++];
    *line = (struct account_file_line){
        .name = strdup(name), .password = strdup(password), .number = number};
    return line->name && line->password ? 0 : -ENOMEM;
}

void account_file_clear(struct account_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        free(file->lines[i].name);
        secret_free(file->lines[i].password);
    }
    free(file->lines);
    *file = (struct account_file){0};
}

int account_file_load(const char *path, uint32_t clients, bool machines, struct dc *dc,
                      struct error *error)
{
    struct account_file file;
    struct lookup lookup = {.path = path, .dc = dc, .error = error};
    int result = account_file_read(path, &file, error);
    if (!result && file.world_readable)
        message_print("--accounts: %s is world-readable; run: chmod o= %s", path, path);
    if (!result)
        result = lookup_accounts(&lookup, &file, clients, machines);
    account_file_clear(&file);
    return result;
}

static int lookup_accounts(struct lookup *lookup, const struct account_file *file, uint32_t clients,
                           bool machines)
{
    struct dc *dc = lookup->dc;
    if (dc->options.file_server) { /* there is no directory to ask */
        dc->account_count = clients;
        return fill_all(lookup, file, false, clients, &dc->users);
    }
    int result = directory_open_admin(&lookup->directory, dc, lookup->error);
    if (result)
        goto cleanup;
    dc->account_count = clients;
    result = fill_all(lookup, file, false, clients, &dc->users);
    if (!result && machines)
        result = fill_all(lookup, file, true, clients, &dc->machines);
cleanup:
    directory_close(&lookup->directory);
    return result;
}

static int fill_all(struct lookup *lookup, const struct account_file *file, bool machines,
                    uint32_t clients, struct account **out)
{
    struct account *accounts = calloc((size_t)clients + 1, sizeof *accounts);
    uint32_t count = 0;
    int result = accounts ? 0 : error_no_memory(lookup->error);
    *out = accounts;
    for (size_t i = 0; !result && i < file->count && count < clients; i++) {
        if (is_machine_line(&file->lines[i]) != machines)
            continue;
        accounts[count].machine = machines;
        result = account_file_fill(lookup, &file->lines[i], &accounts[count++]);
    }
    if (result || count == clients)
        return result;
    return error_set(lookup->error, -EINVAL,
                     "--accounts: %s has %u %s, but this run has %u clients; add more, or lower -S",
                     lookup->path, count,
                     machines ? "machine accounts (names that end in $)" : "users", clients);
}

/* Names of machine accounts end in $. A DN does not show what it names, so it counts as a user. */
static bool is_machine_line(const struct account_file_line *line)
{
    size_t length = strlen(line->name);
    return length > 0 && line->name[length - 1] == '$';
}

static int account_file_fill(struct lookup *lookup, const struct account_file_line *line,
                             struct account *account)
{
    const struct dc *dc = lookup->dc;
    struct found found = {0};
    account->password = strdup(line->password);
    if (!account->password)
        return account_file_complain(lookup, line, -ENOMEM, "out of memory");
    if (dc->options.file_server) {
        account->name = strdup(line->name);
        return account->name ? 0 : account_file_complain(lookup, line, -ENOMEM, "out of memory");
    }
    /* A bind to an LDAP server needs only the DN. */
    if (dc->options.generic_ldap && looks_like_dn(line->name)) {
        account->name = strdup(line->name);
        account->dn = strdup(line->name);
        return account->name && account->dn
                   ? 0
                   : account_file_complain(lookup, line, -ENOMEM, "out of memory");
    }
    int result = account_file_search(lookup, line->name, &found);
    if (result)
        result = account_file_complain(
            lookup, line, result < 0 ? result : -EACCES,
            lookup->directory.error.text[0] ? lookup->directory.error.text : strerror(-result));
    else if (found.count != 1)
        result = account_file_complain(lookup, line, -EINVAL,
                                       found.count
                                           ? "there are several accounts of this name; give the DN"
                                           : "there is no such account");
    else if (!found.name && !dc->options.generic_ldap)
        result = account_file_complain(lookup, line, -EINVAL,
                                       "not an account: it has no sAMAccountName");
    account->dn = found.dn;
    account->name = found.name ? found.name : found.dn ? strdup(found.dn) : NULL;
    if (!result && !account->name)
        result = account_file_complain(lookup, line, -ENOMEM, "out of memory");
    return result;
}

static int account_file_complain(struct lookup *lookup, const struct account_file_line *line,
                                 int result, const char *what)
{
    return error_set(lookup->error, result, "%s:%zu: %s: %s", lookup->path, line->number,
                     line->name, what);
}

static bool looks_like_dn(const char *name)
{
    LDAPDN dn = NULL;
    bool is = strchr(name, '=') && ldap_str2dn(name, &dn, LDAP_DN_FORMAT_LDAPV3) == LDAP_SUCCESS;
    ldap_dnfree(dn);
    return is;
}

static int account_file_search(struct lookup *lookup, const char *name, struct found *found)
{
    static const char *const attributes[] = {"sAMAccountName", NULL};
    bool by_dn = looks_like_dn(name);
    char *filter = by_dn ? strdup("(objectClass=*)") : filter_by_name(lookup->dc, name);
    if (!filter)
        return -ENOMEM;
    const struct directory_search search = {.base = by_dn ? name : lookup->dc->base_dn,
                                            .scope = by_dn ? LDAP_SCOPE_BASE : LDAP_SCOPE_SUBTREE,
                                            .filter = filter,
                                            .attributes = attributes,
                                            .entry = keep_first,
                                            .context = found};
    int result = directory_search(&lookup->directory, &search);
    free(filter);
    return result == LDAP_NO_SUCH_OBJECT ? 0 : result;
}

/* A filter for the account with this name. */
static char *filter_by_name(const struct dc *dc, const char *name)
{
    char *filter = NULL, *value = filter_escape(without_domain(dc, name));
    int size = -1;
    if (value && dc->options.generic_ldap)
        size = asprintf(&filter, "(|(uid=%s)(cn=%s))", value, value);
    else if (value && strchr(name, '@'))
        size = asprintf(&filter, "(userPrincipalName=%s)", value);
    else if (value)
        size = asprintf(&filter, "(sAMAccountName=%s)", value);
    free(value);
    return size < 0 ? NULL : filter;
}

/* DOMAIN\user of this domain is user. */
static const char *without_domain(const struct dc *dc, const char *name)
{
    const char *const domains[] = {dc->netbios_domain, dc->dns_domain, dc->realm};
    size_t length = strcspn(name, "\\");
    for (size_t i = 0; name[length] && i < sizeof domains / sizeof domains[0]; i++)
        if (domains[i] && strlen(domains[i]) == length &&
            strncasecmp(name, domains[i], length) == 0)
            return name + length + 1;
    return name;
}

/* Escapes a filter's value (RFC 4515). */
static char *filter_escape(const char *text)
{
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    for (; stream && *text; text++)
        if (strchr("*()\\", *text))
            fprintf(stream, "\\%02x", (unsigned char)*text);
        else
            fputc(*text, stream);
    if (stream && fclose(stream) == 0)
        return out;
    free(out);
    return NULL;
}

static int keep_first(void *context, LDAP *handle, LDAPMessage *entry)
{
    struct found *found = context;
    if (found->count++ > 0)
        return 0;
    char *dn = ldap_get_dn(handle, entry);
    found->dn = dn ? strdup(dn) : NULL;
    ldap_memfree(dn);
    found->name = directory_text(handle, entry, "sAMAccountName");
    return found->dn ? 0 : -ENOMEM;
}
