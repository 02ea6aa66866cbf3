/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the results of the probe, and reads --dns-query-file. */
#include "protocols/names/dns_names.h"

#include <arpa/nameser.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/files/text_file.h"
#include "base/text.h"
#include "packets/packet_details.h"

const uint16_t dns_types[DNS_TYPES] = {ns_t_a,  ns_t_aaaa, ns_t_srv, ns_t_ns,    ns_t_soa,
                                       ns_t_mx, ns_t_txt,  ns_t_ptr, ns_t_cname, ns_t_any};

static int read_lines(struct dns_names *dns_names, FILE *stream, const char *file,
                      const char *realm, struct error *error);
static char *trim_spaces(char *text);
static const char *parse_query(char *line, const char *realm, struct dns_query *query);
static bool has_unknown_mark(const char *name);
static bool fill_in_realm(const char *name, const char *realm, char out[DNS_NAME_SIZE]);
static int add_query(struct dns_names *dns_names, const struct dns_query *query);

void dns_names_free(struct dns_names *dns_names)
{
    if (dns_names)
        free(dns_names->queries);
    free(dns_names);
}

int dns_names_prepare(struct dns_names **dns_names)
{
    if (!*dns_names)
        *dns_names = calloc(1, sizeof **dns_names);
    return *dns_names ? 0 : -ENOMEM;
}

int dns_queries_read(struct dns_names **dns_names, const char *file, const char *dns_domain,
                     struct error *error)
{
    if (dns_names_prepare(dns_names) != 0)
        return error_no_memory(error);
    FILE *stream = fopen(file, "re");
    if (!stream) {
        int code = -errno;
        return error_set(error, code, "%s: %s", file, strerror(-code));
    }
    int result = read_lines(*dns_names, stream, file, dns_domain ? dns_domain : "", error);
    fclose(stream);
    return result;
}

static int read_lines(struct dns_names *dns_names, FILE *stream, const char *file,
                      const char *realm, struct error *error)
{
    char line[TEXT_FILE_LINE_SIZE];
    int result = 0, got = 1;
    unsigned number = 1;
    for (; !result && (got = text_file_read_line(stream, line, sizeof line)) > 0; number++) {
        char *text = trim_spaces(line + (number == 1 ? text_mark_length(line) : 0));
        struct dns_query query;
        if (!*text || *text == '#')
            continue;
        const char *wrong = parse_query(text, realm, &query);
        result = wrong ? -EINVAL : add_query(dns_names, &query);
        if (wrong)
            error_set(error, -EINVAL, "%s:%u: line %s", file, number, wrong);
        else if (result)
            error_no_memory(error);
    }
    if (got < 0)
        return text_file_line_error(file, number, got, error);
    if (!result && dns_names->query_count == 0)
        return error_set(error, -EINVAL, "%s: contains no queries", file);
    return result;
}

static char *trim_spaces(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* NULL, or what is wrong with the line. The first field is called opcode, but existing files use it
 * to number their lines (0, 1, 2, 10, 11, 20, ...): it is not a DNS opcode and is not sent. */
static const char *parse_query(char *line, const char *realm, struct dns_query *query)
{
    enum { OPCODE, NAME, TYPE, EXPECTED, PARTS };
    char *parts[PARTS];
    int count = 0;
    for (char *rest = line, *part; (part = strsep(&rest, ",")); count++)
        if (count < PARTS)
            parts[count] = trim_spaces(part);
    if (count != PARTS)
        return "is not opcode,name,type,expected";
    if (!*parts[OPCODE] || parts[OPCODE][strspn(parts[OPCODE], "0123456789")])
        return "does not begin with a number";
    if (has_unknown_mark(parts[NAME]))
        return "has an unknown placeholder in its second field; only {realm} is replaced";
    if (!fill_in_realm(parts[NAME], realm, query->name))
        return "has no domain name in its second field";
    query->type = packet_dns_type(parts[TYPE]);
    if (!query->type)
        return "has no DNS type (A, AAAA, SRV, ... TYPE65) in its third field";
    query->expected = strcasecmp(parts[EXPECTED], "yes") == 0;
    if (!query->expected && strcasecmp(parts[EXPECTED], "no") != 0)
        return "does not end in yes or no";
    return NULL;
}

static const char realm_mark[] = "{realm}";

static bool has_unknown_mark(const char *name)
{
    for (const char *brace = name; (brace = strpbrk(brace, "{}")); brace += sizeof realm_mark - 1)
        if (strncmp(brace, realm_mark, sizeof realm_mark - 1) != 0)
            return true;
    return false;
}

/* Copies name and replaces {realm}. False: the result is not a domain name, or too long. */
static bool fill_in_realm(const char *name, const char *realm, char out[DNS_NAME_SIZE])
{
    u_char wire[NS_MAXCDNAME];
    size_t length = 0;
    while (*name) {
        bool marked = strncmp(name, realm_mark, sizeof realm_mark - 1) == 0;
        const char *piece = marked ? realm : name;
        size_t size = marked ? strlen(realm) : 1;
        if (length + size >= DNS_NAME_SIZE)
            return false;
        memcpy(out + length, piece, size);
        length += size;
        name += marked ? sizeof realm_mark - 1 : 1;
    }
    out[length] = '\0';
    return length > 0 && ns_name_pton(out, wire, sizeof wire) >= 0;
}

static int add_query(struct dns_names *dns_names, const struct dns_query *query)
{
    struct dns_query *grown = array_grow(dns_names->queries, dns_names->query_count, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    dns_names->queries = grown;
    dns_names->queries[dns_names->query_count++] = *query;
    return 0;
}
