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

#endif
