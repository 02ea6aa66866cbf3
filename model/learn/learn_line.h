/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame as tshark -T fields prints it: the list of requested fields, and access to the values
 * of a line. The separators are bytes that UTF-8 does not contain, so no text of a field has them.
 */
#ifndef MODEL_LEARN_LEARN_LINE_H
#define MODEL_LEARN_LEARN_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between fields, and between the values of a field that occurs more than once in a frame. */
enum { LEARN_LINE_SEPARATOR = 0xff, LEARN_LINE_AGGREGATOR = 0xfe };

enum learn_line_field {
    LEARN_LINE_TIME,
    LEARN_LINE_LENGTH,
    LEARN_LINE_CAPTURED,
    LEARN_LINE_PROTOCOLS,
    LEARN_LINE_IP_SRC,
    LEARN_LINE_IP_DST,
    LEARN_LINE_IPV6_SRC,
    LEARN_LINE_IPV6_DST,
    LEARN_LINE_TCP_STREAM,
    LEARN_LINE_UDP_STREAM,
    LEARN_LINE_TCP_SRCPORT,
    LEARN_LINE_TCP_DSTPORT,
    LEARN_LINE_UDP_SRCPORT,
    LEARN_LINE_UDP_DSTPORT,
    LEARN_LINE_TCP_FLAGS,
    LEARN_LINE_TCP_SEQUENCE,
    LEARN_LINE_TCP_LENGTH,
    LEARN_LINE_MALFORMED,
    LEARN_LINE_ICMP,
    LEARN_LINE_ICMPV6,
    LEARN_LINE_TLS_TYPE,
    LEARN_LINE_TLS_OPAQUE,
    LEARN_LINE_DNS_RESPONSE,
    LEARN_LINE_DNS_OPCODE,
    LEARN_LINE_DNS_ID,
    LEARN_LINE_DNS_NAME,
    LEARN_LINE_DNS_TYPE,
    LEARN_LINE_DNS_A,
    LEARN_LINE_DNS_AAAA,
    LEARN_LINE_DNS_TARGET,
    LEARN_LINE_NBNS_RESPONSE,
    LEARN_LINE_NBNS_OPCODE,
    LEARN_LINE_NBNS_ID,
    LEARN_LINE_KERBEROS_TYPE,
    LEARN_LINE_KERBEROS_ERROR,
    LEARN_LINE_KERBEROS_NONCE,
    LEARN_LINE_KERBEROS_CNAME,
    LEARN_LINE_KERBEROS_SNAME,
    LEARN_LINE_KERBEROS_REALM,
    LEARN_LINE_LDAP_ID,
    LEARN_LINE_LDAP_OP,
    LEARN_LINE_LDAP_RESULT,
    LEARN_LINE_LDAP_AUTH,
    LEARN_LINE_LDAP_MECHANISM,
    LEARN_LINE_LDAP_BASE,
    LEARN_LINE_LDAP_SCOPE,
    LEARN_LINE_LDAP_FILTER,
    LEARN_LINE_LDAP_AND,
    LEARN_LINE_LDAP_OR,
    LEARN_LINE_LDAP_AND_ITEM,
    LEARN_LINE_LDAP_OR_ITEM,
    LEARN_LINE_LDAP_NOT,
    LEARN_LINE_LDAP_ATTRIBUTE,
    LEARN_LINE_LDAP_VALUE,
    LEARN_LINE_LDAP_PRESENT,
    LEARN_LINE_LDAP_TYPE,
    LEARN_LINE_LDAP_MODIFICATIONS,
    LEARN_LINE_LDAP_ATTRIBUTES,
    LEARN_LINE_LDAP_ATTRIBUTE_NAME,
    LEARN_LINE_LDAP_CONTROLS,
    LEARN_LINE_LDAP_CONTROL,
    LEARN_LINE_LDAP_REQUEST_NAME,
    LEARN_LINE_LDAP_SASL_LENGTH,
    LEARN_LINE_SMB_COMMAND,
    LEARN_LINE_SMB_RESPONSE,
    LEARN_LINE_SMB2_COMMAND,
    LEARN_LINE_SMB2_RESPONSE,
    LEARN_LINE_SMB2_STATUS,
    LEARN_LINE_SMB2_SESSION,
    LEARN_LINE_SMB2_TREE,
    LEARN_LINE_SMB2_FID,
    LEARN_LINE_SMB2_FILENAME,
    LEARN_LINE_SMB2_ACCESS,
    LEARN_LINE_SMB2_OPLOCK,
    LEARN_LINE_SMB2_LEASE,
    LEARN_LINE_SMB2_DIRECTORY,
    LEARN_LINE_SMB2_READ,
    LEARN_LINE_SMB2_WRITE,
    LEARN_LINE_SMB2_FIND,
    LEARN_LINE_SMB2_CLASS,
    LEARN_LINE_SMB2_FILE_LEVEL,
    LEARN_LINE_SMB2_FS_LEVEL,
    LEARN_LINE_SMB2_SEC_LEVEL,
    LEARN_LINE_SMB2_FUNCTION,
    LEARN_LINE_SMB2_ENCRYPTED,
    LEARN_LINE_RPC_TYPE,
    LEARN_LINE_RPC_OPNUM,
    LEARN_LINE_RPC_FIRST,
    LEARN_LINE_RPC_CONTEXT,
    LEARN_LINE_RPC_UUID,
    LEARN_LINE_RPC_AUTH,
    LEARN_LINE_SAMR_DOMAIN_LEVEL,
    LEARN_LINE_SAMR_USER_LEVEL,
    LEARN_LINE_SAMR_DOMAIN2_LEVEL,
    LEARN_LINE_LSA_LEVEL,
    LEARN_LINE_LSA2_LEVEL,
    LEARN_LINE_SHARE_LEVEL,
    LEARN_LINE_SERVER_LEVEL,
    LEARN_LINE_FIELDS
};

/* tshark's name of a field. */
const char *learn_line_field_name(enum learn_line_field field);

/* True for fields that decide which packets there are; the others are details of packets. */
bool learn_line_is_required(enum learn_line_field field);

struct learn_line {
    char *values[LEARN_LINE_FIELDS]; /* "" when absent; several with LEARN_LINE_AGGREGATOR between
                                        them */
};

/* Splits a line in place. Its columns are the count fields in columns[], in this order. 0, or
 * -EINVAL if it has more or fewer columns. */
int learn_line_parse(struct learn_line *line, char *text, const enum learn_line_field *columns,
                     size_t count);

/* Iterates over the values of a field: set *at to the text of the field and call until NULL is
 * returned. Copies the value to buffer, truncated to its size; does not change the line. */
const char *learn_line_next(const char **at, char *buffer, size_t size);

/* The number of values of a field. */
size_t learn_line_count(const struct learn_line *line, enum learn_line_field field);

/* Copies value number index of a field to buffer. False and "" if there is none. */
bool learn_line_value(const struct learn_line *line, enum learn_line_field field, size_t index,
                      char *buffer, size_t size);

/* The same as a number: decimal, 0x... or a boolean. False if it is not a number. */
bool learn_line_number(const struct learn_line *line, enum learn_line_field field, size_t index,
                       uint64_t *number);

/* True if the layers of a frame include this one, such as ":dns". */
bool learn_line_has_layer(const struct learn_line *line, const char *layer);

#endif
