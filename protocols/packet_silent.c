/* SPDX-License-Identifier: Apache-2.0 */
/* Packets for which nothing is played: servers' replies, and details of transport that another
 * packet's play brings along. They advance the model's history all the same. */
#include "protocols/packet_tables.h"

#define SILENT(protocol_, opcode_, description_)                                                   \
    {                                                                                              \
        .protocol = (protocol_), .opcode = (opcode_), .description = (description_),               \
        .kind = PACKET_SILENT                                                                      \
    }

const struct packet_type packet_tables_silent[] = {
    SILENT("ldap", "", "unknown"),
    SILENT("ldap", "1", "bindResponse"),
    SILENT("ldap", "4", "searchResEntry"),
    SILENT("ldap", "5", "searchResDone"),
    SILENT("ldap", "7", "modifyResponse"),
    SILENT("ldap", "9", "addResponse"),
    SILENT("ldap", "11", "delResponse"),
    SILENT("ldap", "13", "modDNResponse"),
    SILENT("ldap", "15", "compareResponse"),
    SILENT("ldap", "19", "searchResRef"),
    SILENT("ldap", "24", "extendedResp"),
    SILENT("kerberos", "11", "as-rep"),
    SILENT("kerberos", "13", "tgs-rep"),
    SILENT("kerberos", "14", "ap-req"),
    SILENT("kerberos", "15", "ap-rep"),
    SILENT("kerberos", "30", "krb-error"),
    SILENT("dcerpc", "0", "Request"),
    SILENT("dcerpc", "2", "Response"),
    SILENT("dcerpc", "3", "Fault"),
    SILENT("dcerpc", "11", "Bind"),
    SILENT("dcerpc", "12", "Bind_ack"),
    SILENT("dcerpc", "13", "Bind_nak"),
    SILENT("dcerpc", "14", "Alter_context"),
    SILENT("drsuapi", "2", "DsReplicaSync"),
    SILENT("drsuapi", "4", "DsReplicaUpdateRefs"),
    SILENT("dnsserver", "*", "DNS server management"),
    SILENT("browser", "*", "browser announcement"),
    SILENT("smb_netlogon", "*", "SMB netlogon mailslot"),
    {.protocol = NULL},
};
