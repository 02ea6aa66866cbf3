/* SPDX-License-Identifier: Apache-2.0 */
#include "model/learn/learn_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[LEARN_LINE_FIELDS] = {
    [LEARN_LINE_TIME] = "frame.time_epoch",
    [LEARN_LINE_LENGTH] = "frame.len",
    [LEARN_LINE_CAPTURED] = "frame.cap_len",
    [LEARN_LINE_PROTOCOLS] = "frame.protocols",
    [LEARN_LINE_IP_SRC] = "ip.src",
    [LEARN_LINE_IP_DST] = "ip.dst",
    [LEARN_LINE_IPV6_SRC] = "ipv6.src",
    [LEARN_LINE_IPV6_DST] = "ipv6.dst",
    [LEARN_LINE_TCP_STREAM] = "tcp.stream",
    [LEARN_LINE_UDP_STREAM] = "udp.stream",
    [LEARN_LINE_TCP_SRCPORT] = "tcp.srcport",
    [LEARN_LINE_TCP_DSTPORT] = "tcp.dstport",
    [LEARN_LINE_UDP_SRCPORT] = "udp.srcport",
    [LEARN_LINE_UDP_DSTPORT] = "udp.dstport",
    [LEARN_LINE_TCP_FLAGS] = "tcp.flags",
    [LEARN_LINE_TCP_SEQUENCE] = "tcp.seq_raw",
    [LEARN_LINE_TCP_LENGTH] = "tcp.len",
    [LEARN_LINE_MALFORMED] = "_ws.malformed",
    [LEARN_LINE_ICMP] = "icmp.type",
    [LEARN_LINE_ICMPV6] = "icmpv6.type",
    [LEARN_LINE_TLS_TYPE] = "tls.record.content_type",
    [LEARN_LINE_TLS_OPAQUE] = "tls.record.opaque_type",
    [LEARN_LINE_DNS_RESPONSE] = "dns.flags.response",
    [LEARN_LINE_DNS_OPCODE] = "dns.flags.opcode",
    [LEARN_LINE_DNS_ID] = "dns.id",
    [LEARN_LINE_DNS_NAME] = "dns.qry.name",
    [LEARN_LINE_DNS_TYPE] = "dns.qry.type",
    [LEARN_LINE_DNS_A] = "dns.a",
    [LEARN_LINE_DNS_AAAA] = "dns.aaaa",
    [LEARN_LINE_DNS_TARGET] = "dns.srv.target",
    [LEARN_LINE_NBNS_RESPONSE] = "nbns.flags.response",
    [LEARN_LINE_NBNS_OPCODE] = "nbns.flags.opcode",
    [LEARN_LINE_NBNS_ID] = "nbns.id",
    [LEARN_LINE_KERBEROS_TYPE] = "kerberos.msg_type",
    [LEARN_LINE_KERBEROS_ERROR] = "kerberos.error_code",
    [LEARN_LINE_KERBEROS_NONCE] = "kerberos.nonce",
    [LEARN_LINE_KERBEROS_CNAME] = "kerberos.CNameString",
    [LEARN_LINE_KERBEROS_SNAME] = "kerberos.SNameString",
    [LEARN_LINE_KERBEROS_REALM] = "kerberos.realm",
    [LEARN_LINE_LDAP_ID] = "ldap.messageID",
    [LEARN_LINE_LDAP_OP] = "ldap.protocolOp",
    [LEARN_LINE_LDAP_RESULT] = "ldap.resultCode",
    [LEARN_LINE_LDAP_AUTH] = "ldap.authentication",
    [LEARN_LINE_LDAP_MECHANISM] = "ldap.mechanism",
    [LEARN_LINE_LDAP_BASE] = "ldap.baseObject",
    [LEARN_LINE_LDAP_SCOPE] = "ldap.scope",
    [LEARN_LINE_LDAP_FILTER] = "ldap.filter",
    [LEARN_LINE_LDAP_AND] = "ldap.and",
    [LEARN_LINE_LDAP_OR] = "ldap.or",
    [LEARN_LINE_LDAP_AND_ITEM] = "ldap.and_item",
    [LEARN_LINE_LDAP_OR_ITEM] = "ldap.or_item",
    [LEARN_LINE_LDAP_NOT] = "ldap.not",
    [LEARN_LINE_LDAP_ATTRIBUTE] = "ldap.attributeDesc",
    [LEARN_LINE_LDAP_VALUE] = "ldap.assertionValue",
    [LEARN_LINE_LDAP_PRESENT] = "ldap.present",
    [LEARN_LINE_LDAP_TYPE] = "ldap.type",
    [LEARN_LINE_LDAP_MODIFICATIONS] = "ldap.modification",
    [LEARN_LINE_LDAP_ATTRIBUTES] = "ldap.attributes",
    [LEARN_LINE_LDAP_ATTRIBUTE_NAME] = "ldap.AttributeDescription",
    [LEARN_LINE_LDAP_CONTROLS] = "ldap.controls",
    [LEARN_LINE_LDAP_CONTROL] = "ldap.controlType",
    [LEARN_LINE_LDAP_REQUEST_NAME] = "ldap.requestName",
    [LEARN_LINE_LDAP_SASL_LENGTH] = "ldap.sasl_buffer_length",
    [LEARN_LINE_SMB_COMMAND] = "smb.cmd",
    [LEARN_LINE_SMB_RESPONSE] = "smb.flags.response",
    [LEARN_LINE_SMB2_COMMAND] = "smb2.cmd",
    [LEARN_LINE_SMB2_RESPONSE] = "smb2.flags.response",
    [LEARN_LINE_SMB2_STATUS] = "smb2.nt_status",
    [LEARN_LINE_SMB2_SESSION] = "smb2.sesid",
    [LEARN_LINE_SMB2_TREE] = "smb2.tree",
    [LEARN_LINE_SMB2_FID] = "smb2.fid",
    [LEARN_LINE_SMB2_FILENAME] = "smb2.filename",
    [LEARN_LINE_SMB2_ACCESS] = "smb.access_mask",
    [LEARN_LINE_SMB2_OPLOCK] = "smb2.create.oplock",
    [LEARN_LINE_SMB2_LEASE] = "smb2.lease.lease_state",
    [LEARN_LINE_SMB2_DIRECTORY] = "smb.nt.create_options.directory",
    [LEARN_LINE_SMB2_READ] = "smb2.read_length",
    [LEARN_LINE_SMB2_WRITE] = "smb2.write_length",
    [LEARN_LINE_SMB2_FIND] = "smb2.find.infolevel",
    [LEARN_LINE_SMB2_CLASS] = "smb2.class",
    [LEARN_LINE_SMB2_FILE_LEVEL] = "smb2.file_info.infolevel",
    [LEARN_LINE_SMB2_FS_LEVEL] = "smb2.fs_info.infolevel",
    [LEARN_LINE_SMB2_SEC_LEVEL] = "smb2.sec_info.infolevel",
    [LEARN_LINE_SMB2_FUNCTION] = "smb2.ioctl.function",
    [LEARN_LINE_SMB2_ENCRYPTED] = "smb2.header.transform.msg_size",
    [LEARN_LINE_RPC_TYPE] = "dcerpc.pkt_type",
    [LEARN_LINE_RPC_OPNUM] = "dcerpc.opnum",
    [LEARN_LINE_RPC_FIRST] = "dcerpc.cn_flags.first_frag",
    [LEARN_LINE_RPC_CONTEXT] = "dcerpc.cn_ctx_id",
    [LEARN_LINE_RPC_UUID] = "dcerpc.cn_bind_to_uuid",
    [LEARN_LINE_RPC_AUTH] = "dcerpc.auth_type",
    [LEARN_LINE_SAMR_DOMAIN_LEVEL] = "samr.samr_QueryDomainInfo.level",
    [LEARN_LINE_SAMR_USER_LEVEL] = "samr.samr_QueryUserInfo.level",
    [LEARN_LINE_SAMR_DOMAIN2_LEVEL] = "samr.samr_QueryDomainInfo2.level",
    [LEARN_LINE_LSA_LEVEL] = "lsarpc.lsa_QueryInfoPolicy.level",
    [LEARN_LINE_LSA2_LEVEL] = "lsarpc.lsa_QueryInfoPolicy2.level",
    [LEARN_LINE_SHARE_LEVEL] = "srvsvc.srvsvc_NetShareGetInfo.level",
    [LEARN_LINE_SERVER_LEVEL] = "srvsvc.srvsvc_NetSrvGetInfo.level",
};

const char *learn_line_field_name(enum learn_line_field field)
{
    return names[field];
}

bool learn_line_is_required(enum learn_line_field field)
{
    static const enum learn_line_field required[] = {
        LEARN_LINE_TIME,         LEARN_LINE_PROTOCOLS,     LEARN_LINE_IP_SRC,
        LEARN_LINE_IP_DST,       LEARN_LINE_IPV6_SRC,      LEARN_LINE_IPV6_DST,
        LEARN_LINE_TCP_STREAM,   LEARN_LINE_UDP_STREAM,    LEARN_LINE_TCP_SRCPORT,
        LEARN_LINE_TCP_DSTPORT,  LEARN_LINE_TCP_FLAGS,     LEARN_LINE_MALFORMED,
        LEARN_LINE_DNS_RESPONSE, LEARN_LINE_DNS_ID,        LEARN_LINE_NBNS_RESPONSE,
        LEARN_LINE_NBNS_ID,      LEARN_LINE_KERBEROS_TYPE, LEARN_LINE_KERBEROS_ERROR,
        LEARN_LINE_LDAP_ID,      LEARN_LINE_LDAP_OP,       LEARN_LINE_LDAP_RESULT,
        LEARN_LINE_LDAP_AUTH,    LEARN_LINE_SMB_COMMAND,   LEARN_LINE_SMB_RESPONSE,
        LEARN_LINE_SMB2_COMMAND, LEARN_LINE_SMB2_RESPONSE, LEARN_LINE_SMB2_STATUS,
        LEARN_LINE_SMB2_FID,     LEARN_LINE_RPC_TYPE,      LEARN_LINE_RPC_OPNUM,
        LEARN_LINE_RPC_CONTEXT,  LEARN_LINE_RPC_UUID,      LEARN_LINE_SMB2_SESSION,
        LEARN_LINE_TCP_SEQUENCE, LEARN_LINE_TCP_LENGTH};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (required[i] == field)
            return true;
    return false;
}

int learn_line_parse(struct learn_line *line, char *text, const enum learn_line_field *columns,
                     size_t count)
{
    static char nothing[] = "";
    char separator[2] = {(char)LEARN_LINE_SEPARATOR, '\0'};
    size_t column = 0;
    for (size_t i = 0; i < LEARN_LINE_FIELDS; i++)
        line->values[i] = nothing;
    for (char *rest = text, *value; (value = strsep(&rest, separator)); column++) {
        if (column == count)
            return -EINVAL;
        line->values[columns[column]] = value;
    }
    return column == count ? 0 : -EINVAL;
}

const char *learn_line_next(const char **at, char *buffer, size_t size)
{
    if (!*at || !**at)
        return NULL;
    const char *end = strchrnul(*at, LEARN_LINE_AGGREGATOR);
    size_t length = (size_t)(end - *at);
    length = length < size ? length : size - 1;
    memcpy(buffer, *at, length);
    buffer[length] = '\0';
    /* Ignores an empty value after a separator at the end: no counted field has such a value. */
    *at = *end ? end + 1 : NULL;
    return buffer;
}

size_t learn_line_count(const struct learn_line *line, enum learn_line_field field)
{
    const char *text = line->values[field];
    size_t count = *text != '\0';
    for (; (text = strchr(text, LEARN_LINE_AGGREGATOR)); text++)
        count++;
    return count;
}

bool learn_line_value(const struct learn_line *line, enum learn_line_field field, size_t index,
                      char *buffer, size_t size)
{
    const char *text = line->values[field];
    buffer[0] = '\0';
    if (!*text)
        return false;
    for (; index > 0; index--, text++)
        if (!(text = strchr(text, LEARN_LINE_AGGREGATOR)))
            return false;
    size_t length = (size_t)(strchrnul(text, LEARN_LINE_AGGREGATOR) - text);
    length = length < size ? length : size - 1;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    return true;
}

bool learn_line_number(const struct learn_line *line, enum learn_line_field field, size_t index,
                       uint64_t *number)
{
    char text[32], *end;
    *number = 0;
    if (!learn_line_value(line, field, index, text, sizeof text) || !text[0])
        return false;
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
        *number = text[0] == 'T';
        return true;
    }
    if (!isdigit((unsigned char)text[0]))
        return false;
    *number = strtoull(text, &end, 0);
    return *end == '\0';
}

bool learn_line_has_layer(const struct learn_line *line, const char *layer)
{
    size_t length = strlen(layer);
    const char *at = line->values[LEARN_LINE_PROTOCOLS];
    while ((at = strstr(at, layer))) {
        if (at[length] == ':' || at[length] == '\0')
            return true;
        at += length;
    }
    return false;
}
