/* SPDX-License-Identifier: Apache-2.0 */
/* The players of each protocol, each table ended by one without a name. */
#ifndef PROTOCOLS_PACKET_PLAYERS_H
#define PROTOCOLS_PACKET_PLAYERS_H

#include "protocols/packet.h"

extern const struct packet_player packet_players_cldap[];
extern const struct packet_player packet_players_dns[];
extern const struct packet_player packet_players_nbns[];
extern const struct packet_player packet_players_kerberos[];
extern const struct packet_player packet_players_ldap[];
extern const struct packet_player packet_players_nbench[];
extern const struct packet_player packet_players_smb2[];
extern const struct packet_player packet_players_dcerpc[];
extern const struct packet_player packet_players_netlogon[];
extern const struct packet_player packet_players_samr[];
extern const struct packet_player packet_players_lsarpc[];
extern const struct packet_player packet_players_srvsvc[];
extern const struct packet_player packet_players_drsuapi[];

#endif
