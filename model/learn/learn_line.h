/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame as tshark -T fields prints it: which fields are asked for, and a line taken apart. The
 * separators are control characters that no field's text holds (tshark writes those in escapes).
 */
#ifndef MODEL_LEARN_LEARN_LINE_H
#define MODEL_LEARN_LEARN_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between fields, and between the values of one that occurs more than once in a frame. */
enum { LINE_SEPARATOR = 0x1d, LINE_AGGREGATOR = 0x1e };

enum line_field {
    LINE_TIME,
    LINE_PROTOCOLS,
    LINE_IP_SRC,
    LINE_IP_DST,
    LINE_IPV6_SRC,
    LINE_IPV6_DST,
    LINE_TCP_STREAM,
    LINE_UDP_STREAM,
    LINE_TCP_SRCPORT,
    LINE_TCP_DSTPORT,
    LINE_UDP_SRCPORT,
    LINE_UDP_DSTPORT,
    LINE_TCP_FLAGS,
    LINE_RETRANSMISSION,
    LINE_MALFORMED,
    LINE_ICMP,
    LINE_ICMPV6,
    LINE_TLS_TYPE,
    LINE_TLS_OPAQUE,
    LINE_DNS_RESPONSE,
    LINE_DNS_OPCODE,
    LINE_DNS_ID,
    LINE_DNS_NAME,
    LINE_DNS_TYPE,
    LINE_DNS_A,
    LINE_DNS_AAAA,
    LINE_DNS_TARGET,
    LINE_NBNS_RESPONSE,
    LINE_NBNS_OPCODE,
    LINE_NBNS_ID,
    LINE_KERBEROS_TYPE,
    LINE_KERBEROS_ERROR,
    LINE_KERBEROS_NONCE,
    LINE_KERBEROS_CNAME,
    LINE_KERBEROS_SNAME,
    LINE_KERBEROS_REALM,
    LINE_LDAP_ID,
    LINE_LDAP_OP,
    LINE_LDAP_RESULT,
    LINE_LDAP_AUTH,
    LINE_LDAP_MECHANISM,
    LINE_LDAP_BASE,
    LINE_LDAP_SCOPE,
    LINE_LDAP_FILTER,
    LINE_LDAP_AND,
    LINE_LDAP_OR,
    LINE_LDAP_AND_ITEM,
    LINE_LDAP_OR_ITEM,
    LINE_LDAP_NOT,
    LINE_LDAP_ATTRIBUTE,
    LINE_LDAP_VALUE,
    LINE_LDAP_PRESENT,
    LINE_LDAP_TYPE,
    LINE_LDAP_ATTRIBUTES,
    LINE_LDAP_ATTRIBUTE_NAME,
    LINE_LDAP_CONTROLS,
    LINE_LDAP_CONTROL,
    LINE_LDAP_SASL_LENGTH,
    LINE_SMB_COMMAND,
    LINE_SMB_RESPONSE,
    LINE_SMB2_COMMAND,
    LINE_SMB2_RESPONSE,
    LINE_SMB2_STATUS,
    LINE_SMB2_SESSION,
    LINE_SMB2_TREE,
    LINE_SMB2_FID,
    LINE_SMB2_FILENAME,
    LINE_SMB2_ACCESS,
    LINE_SMB2_OPLOCK,
    LINE_SMB2_LEASE,
    LINE_SMB2_DIRECTORY,
    LINE_SMB2_READ,
    LINE_SMB2_WRITE,
    LINE_SMB2_FIND,
    LINE_SMB2_CLASS,
    LINE_SMB2_FILE_LEVEL,
    LINE_SMB2_FS_LEVEL,
    LINE_SMB2_SEC_LEVEL,
    LINE_SMB2_FUNCTION,
    LINE_SMB2_ENCRYPTED,
    LINE_RPC_TYPE,
    LINE_RPC_OPNUM,
    LINE_RPC_FIRST,
    LINE_RPC_CONTEXT,
    LINE_RPC_UUID,
    LINE_RPC_AUTH,
    LINE_SAMR_DOMAIN_LEVEL,
    LINE_SAMR_USER_LEVEL,
    LINE_SAMR_DOMAIN2_LEVEL,
    LINE_LSA_LEVEL,
    LINE_LSA2_LEVEL,
    LINE_SHARE_LEVEL,
    LINE_SERVER_LEVEL,
    LINE_FIELDS
};

/* tshark's name of a field. */
const char *line_field_name(enum line_field field);

struct line {
    char *values[LINE_FIELDS]; /* "" when absent; several with LINE_AGGREGATOR between them */
};

/*
 * Takes a line apart in place: its count columns are the fields in columns[], in this order. False
 * when it has more or fewer.
 */
bool line_parse(struct line *line, char *text, const enum line_field *columns, size_t count);

/* The values of a field one by one: set at to its text, then call until NULL comes. Does not
 * change the line; the value is copied to buffer, cut when it is longer. */
const char *line_next(const char **at, char *buffer, size_t size);

/* How many values a field has. */
size_t line_count(const struct line *line, enum line_field field);

/* Value number index of a field, copied to buffer; false and "" when there is none. */
bool line_value(const struct line *line, enum line_field field, size_t index, char *buffer,
                size_t size);

/* The same as a number (decimal or 0x...; true and false too). False when it is none. */
bool line_number(const struct line *line, enum line_field field, size_t index, uint64_t *number);

/* True when the layers of a frame hold this one: ":dns". */
bool line_has_layer(const struct line *line, const char *layer);

/* "1500000001.371377000" in nanoseconds. */
bool line_time(const char *text, int64_t *time);

#endif
