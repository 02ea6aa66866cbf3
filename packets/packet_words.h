/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of details mean: the numbers that the packet table gives to them and the players
 * read. */
#ifndef PACKETS_PACKET_WORDS_H
#define PACKETS_PACKET_WORDS_H

/* ldap:0 auth, mech and tls */
enum ldap_auth { LDAP_AUTH_SASL_BIND, LDAP_AUTH_SIMPLE_BIND };
enum ldap_mechanism { LDAP_MECHANISM_GSSAPI, LDAP_MECHANISM_GSS_SPNEGO };
enum ldap_transport { LDAP_TRANSPORT_CLEAR, LDAP_TRANSPORT_STARTTLS, LDAP_TRANSPORT_LDAPS };

/* ldap:3: how many controls one search may have. */
enum { LDAP_SEARCH_CONTROLS_MAX = 16 };

/* kerberos:10 as */
enum kerberos_client { KERBEROS_CLIENT_USER, KERBEROS_CLIENT_MACHINE };

/* dns:0 name */
enum dns_name {
    DNS_NAME_REALM,
    DNS_NAME_DC,
    DNS_NAME_LDAP,
    DNS_NAME_KERBEROS,
    DNS_NAME_MSDCS,
    DNS_NAME_OTHER,
    DNS_NAMES
};

/* smb2:3 share */
enum smb2_share { SMB2_SHARE_IPC, SMB2_SHARE_SYSVOL, SMB2_SHARE_NETLOGON, SMB2_SHARE_OTHER };

/* smb2:5 file, oplock (MS-SMB2 2.2.13) and lease (MS-SMB2 2.2.13.2.8) */
enum smb2_file_class {
    SMB2_FILE_POLICY,
    SMB2_FILE_SCRIPT,
    SMB2_FILE_DIRECTORY,
    SMB2_FILE_PIPE,
    SMB2_FILE_OTHER /* the scratch file on --smb-share, or a policy file without that option */
};
enum smb2_oplock {
    SMB2_OPLOCK_NONE = 0x00,
    SMB2_OPLOCK_II = 0x01,
    SMB2_OPLOCK_EXCLUSIVE = 0x08,
    SMB2_OPLOCK_BATCH = 0x09,
    SMB2_OPLOCK_LEASE = 0xff
};
enum smb2_lease { SMB2_LEASE_READ = 1, SMB2_LEASE_HANDLE = 2, SMB2_LEASE_WRITE = 4 };

/* smb2:5 disposition of the scratch file (MS-SMB2 2.2.13) */
enum smb2_scratch_disposition {
    SMB2_SCRATCH_OVERWRITE_IF, /* the usual one */
    SMB2_SCRATCH_CREATE,
    SMB2_SCRATCH_OPEN_IF,
    SMB2_SCRATCH_SUPERSEDE
};

/* smb2:17 class (MS-FSCC 2.4) */
enum smb2_set_class { SMB2_SET_BASIC = 4, SMB2_SET_ALLOCATION = 19, SMB2_SET_END_OF_FILE = 20 };

/* smb2:9: bytes to which a scratch file grows; then it is written from its start. */
enum { SMB2_SCRATCH_MAX = 16 << 20 };

#endif
