/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of tshark -T fields. */
#include "model/learn/learn_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[LINE_FIELDS] = {
    [LINE_TIME] = "frame.time_epoch",
    [LINE_PROTOCOLS] = "frame.protocols",
    [LINE_IP_SRC] = "ip.src",
    [LINE_IP_DST] = "ip.dst",
    [LINE_IPV6_SRC] = "ipv6.src",
    [LINE_IPV6_DST] = "ipv6.dst",
    [LINE_TCP_STREAM] = "tcp.stream",
    [LINE_UDP_STREAM] = "udp.stream",
    [LINE_TCP_SRCPORT] = "tcp.srcport",
    [LINE_TCP_DSTPORT] = "tcp.dstport",
    [LINE_UDP_SRCPORT] = "udp.srcport",
    [LINE_UDP_DSTPORT] = "udp.dstport",
    [LINE_TCP_FLAGS] = "tcp.flags",
    [LINE_RETRANSMISSION] = "tcp.analysis.retransmission",
    [LINE_MALFORMED] = "_ws.malformed",
    [LINE_ICMP] = "icmp.type",
    [LINE_ICMPV6] = "icmpv6.type",
    [LINE_TLS_TYPE] = "tls.record.content_type",
    [LINE_TLS_OPAQUE] = "tls.record.opaque_type",
    [LINE_DNS_RESPONSE] = "dns.flags.response",
    [LINE_DNS_OPCODE] = "dns.flags.opcode",
    [LINE_DNS_ID] = "dns.id",
    [LINE_DNS_NAME] = "dns.qry.name",
    [LINE_DNS_TYPE] = "dns.qry.type",
    [LINE_DNS_A] = "dns.a",
    [LINE_DNS_AAAA] = "dns.aaaa",
    [LINE_DNS_TARGET] = "dns.srv.target",
    [LINE_NBNS_RESPONSE] = "nbns.flags.response",
    [LINE_NBNS_OPCODE] = "nbns.flags.opcode",
    [LINE_NBNS_ID] = "nbns.id",
    [LINE_KERBEROS_TYPE] = "kerberos.msg_type",
    [LINE_KERBEROS_ERROR] = "kerberos.error_code",
    [LINE_KERBEROS_NONCE] = "kerberos.nonce",
    [LINE_KERBEROS_CNAME] = "kerberos.CNameString",
    [LINE_KERBEROS_SNAME] = "kerberos.SNameString",
    [LINE_KERBEROS_REALM] = "kerberos.realm",
    [LINE_LDAP_ID] = "ldap.messageID",
    [LINE_LDAP_OP] = "ldap.protocolOp",
    [LINE_LDAP_RESULT] = "ldap.resultCode",
    [LINE_LDAP_AUTH] = "ldap.authentication",
    [LINE_LDAP_MECHANISM] = "ldap.mechanism",
    [LINE_LDAP_BASE] = "ldap.baseObject",
    [LINE_LDAP_SCOPE] = "ldap.scope",
    [LINE_LDAP_FILTER] = "ldap.filter",
    [LINE_LDAP_AND] = "ldap.and",
    [LINE_LDAP_OR] = "ldap.or",
    [LINE_LDAP_AND_ITEM] = "ldap.and_item",
    [LINE_LDAP_OR_ITEM] = "ldap.or_item",
    [LINE_LDAP_NOT] = "ldap.not",
    [LINE_LDAP_ATTRIBUTE] = "ldap.attributeDesc",
    [LINE_LDAP_VALUE] = "ldap.assertionValue",
    [LINE_LDAP_PRESENT] = "ldap.present",
    [LINE_LDAP_TYPE] = "ldap.type",
    [LINE_LDAP_ATTRIBUTES] = "ldap.attributes",
    [LINE_LDAP_ATTRIBUTE_NAME] = "ldap.AttributeDescription",
    [LINE_LDAP_CONTROLS] = "ldap.controls",
    [LINE_LDAP_CONTROL] = "ldap.controlType",
    [LINE_LDAP_SASL_LENGTH] = "ldap.sasl_buffer_length",
    [LINE_SMB_COMMAND] = "smb.cmd",
    [LINE_SMB_RESPONSE] = "smb.flags.response",
    [LINE_SMB2_COMMAND] = "smb2.cmd",
    [LINE_SMB2_RESPONSE] = "smb2.flags.response",
    [LINE_SMB2_STATUS] = "smb2.nt_status",
    [LINE_SMB2_SESSION] = "smb2.sesid",
    [LINE_SMB2_TREE] = "smb2.tree",
    [LINE_SMB2_FID] = "smb2.fid",
    [LINE_SMB2_FILENAME] = "smb2.filename",
    [LINE_SMB2_ACCESS] = "smb.access_mask",
    [LINE_SMB2_OPLOCK] = "smb2.create.oplock",
    [LINE_SMB2_LEASE] = "smb2.lease.lease_state",
    [LINE_SMB2_DIRECTORY] = "smb.nt.create_options.directory",
    [LINE_SMB2_READ] = "smb2.read_length",
    [LINE_SMB2_WRITE] = "smb2.write_length",
    [LINE_SMB2_FIND] = "smb2.find.infolevel",
    [LINE_SMB2_CLASS] = "smb2.class",
    [LINE_SMB2_FILE_LEVEL] = "smb2.file_info.infolevel",
    [LINE_SMB2_FS_LEVEL] = "smb2.fs_info.infolevel",
    [LINE_SMB2_SEC_LEVEL] = "smb2.sec_info.infolevel",
    [LINE_SMB2_FUNCTION] = "smb2.ioctl.function",
    [LINE_SMB2_ENCRYPTED] = "smb2.header.transform.msg_size",
    [LINE_RPC_TYPE] = "dcerpc.pkt_type",
    [LINE_RPC_OPNUM] = "dcerpc.opnum",
    [LINE_RPC_FIRST] = "dcerpc.cn_flags.first_frag",
    [LINE_RPC_CONTEXT] = "dcerpc.cn_ctx_id",
    [LINE_RPC_UUID] = "dcerpc.cn_bind_to_uuid",
    [LINE_RPC_AUTH] = "dcerpc.auth_type",
    [LINE_SAMR_DOMAIN_LEVEL] = "samr.samr_QueryDomainInfo.level",
    [LINE_SAMR_USER_LEVEL] = "samr.samr_QueryUserInfo.level",
    [LINE_SAMR_DOMAIN2_LEVEL] = "samr.samr_QueryDomainInfo2.level",
    [LINE_LSA_LEVEL] = "lsarpc.lsa_QueryInfoPolicy.level",
    [LINE_LSA2_LEVEL] = "lsarpc.lsa_QueryInfoPolicy2.level",
    [LINE_SHARE_LEVEL] = "srvsvc.srvsvc_NetShareGetInfo.level",
    [LINE_SERVER_LEVEL] = "srvsvc.srvsvc_NetSrvGetInfo.level",
};

const char *line_field_name(enum line_field field)
{
    return names[field];
}

bool line_parse(struct line *line, char *text, const enum line_field *columns, size_t count)
{
    static char nothing[] = "";
    char separator[2] = {LINE_SEPARATOR, '\0'};
    size_t column = 0;
    for (size_t i = 0; i < LINE_FIELDS; i++)
        line->values[i] = nothing;
    for (char *rest = text, *value; (value = strsep(&rest, separator)); column++) {
        if (column == count)
            return false;
        line->values[columns[column]] = value;
    }
    return column == count;
}

const char *line_next(const char **at, char *buffer, size_t size)
{
    if (!*at || !**at)
        return NULL;
    const char *end = strchrnul(*at, LINE_AGGREGATOR);
    size_t length = (size_t)(end - *at);
    length = length < size ? length : size - 1;
    memcpy(buffer, *at, length);
    buffer[length] = '\0';
    /* After a separator at the very end there is one more value, an empty one: it is let go, since
     * nothing that is counted here is empty there. */
    *at = *end ? end + 1 : NULL;
    return buffer;
}

size_t line_count(const struct line *line, enum line_field field)
{
    const char *text = line->values[field];
    size_t count = *text != '\0';
    for (; (text = strchr(text, LINE_AGGREGATOR)); text++)
        count++;
    return count;
}

bool line_value(const struct line *line, enum line_field field, size_t index, char *buffer,
                size_t size)
{
    const char *text = line->values[field];
    buffer[0] = '\0';
    if (!*text)
        return false;
    for (; index > 0; index--, text++)
        if (!(text = strchr(text, LINE_AGGREGATOR)))
            return false;
    size_t length = (size_t)(strchrnul(text, LINE_AGGREGATOR) - text);
    length = length < size ? length : size - 1;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    return true;
}

bool line_number(const struct line *line, enum line_field field, size_t index, uint64_t *number)
{
    char text[32], *end;
    *number = 0;
    if (!line_value(line, field, index, text, sizeof text) || !text[0])
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

bool line_has_layer(const struct line *line, const char *layer)
{
    size_t length = strlen(layer);
    const char *at = line->values[LINE_PROTOCOLS];
    while ((at = strstr(at, layer))) {
        if (at[length] == ':' || at[length] == '\0')
            return true;
        at += length;
    }
    return false;
}

#define NANOSECONDS INT64_C(1000000000)

bool line_time(const char *text, int64_t *time)
{
    size_t whole = strspn(text, "0123456789"), digits = 0;
    int64_t fraction = 0;
    if (whole == 0 || whole > 10)
        return false;
    int64_t seconds = strtoll(text, NULL, 10);
    if (seconds > INT64_MAX / NANOSECONDS - 1)
        return false;
    text += whole;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++, digits++)
            if (digits < 9)
                fraction = fraction * 10 + (*text - '0');
    for (; digits < 9; digits++)
        fraction *= 10;
    *time = seconds * NANOSECONDS + fraction;
    return *text == '\0';
}
