/* SPDX-License-Identifier: Apache-2.0 */
/* The protocols' rows of the packet table, each ended by a row without a protocol. */
#ifndef PROTOCOLS_PACKET_TABLES_H
#define PROTOCOLS_PACKET_TABLES_H

#include "protocols/packet.h"

extern const struct packet_type packet_tables_silent[];
extern const struct packet_type packet_tables_cldap[];
extern const struct packet_type packet_tables_dns[];
extern const struct packet_type packet_tables_nbns[];
extern const struct packet_type packet_tables_kerberos[];
extern const struct packet_type packet_tables_ldap[];
extern const struct packet_type packet_tables_smb2[];
extern const struct packet_type packet_tables_epm[];
extern const struct packet_type packet_tables_netlogon[];
extern const struct packet_type packet_tables_samr[];
extern const struct packet_type packet_tables_lsarpc[];
extern const struct packet_type packet_tables_srvsvc[];
extern const struct packet_type packet_tables_drsuapi[];
extern const struct packet_type packet_tables_rpc_hints[];

#endif
