/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server under test: what is known about it before the clock starts, and the options with which
 * packets are played against it. Filled at start-up, read-only during a run, shared by all threads.
 */
#ifndef PROTOCOLS_DC_H
#define PROTOCOLS_DC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "protocols/account.h"

struct tls;
struct smb2_shared_files; /* files under SYSVOL and NETLOGON, see smb2_shared_files.h */
struct catalogue;         /* objects of the directory, see catalogue.h */
struct nbench;            /* a loadfile, ready to be played, see nbench.h */
struct rpc_ports;         /* answers of the endpoint mapper, see rpc_epm.h */
struct dns_names;         /* names that answered in the probe, see dns_names.h */

/* Ports, in host byte order. Only tests change them. */
struct dc_ports {
    uint16_t dns, kerberos, epm, nbns, ldap, cldap, smb, ldaps;
};

enum kdc_transport { KDC_TCP, KDC_UDP };

/* Options of the command line on which protocols act. */
struct dc_options {
    bool generic_ldap;            /* --server ldap or smb: not a DC */
    bool file_server;             /* --server smb: any SMB2 server, not a DC */
    bool prefer_kerberos;         /* -K */
    double badpassword_frequency; /* -B, 0..1 */
    bool plain_simple_bind;       /* --plain-simple-bind: simple binds on port 389 in clear text */
    bool tls_verify;              /* --tls-verify */
    enum kdc_transport kdc;       /* --kdc-transport */
    int kdc_preauth_legs;         /* --kdc-preauth-legs, 1 or 2 */
    const char *smb_share;        /* --smb-share, NULL: none */
    bool smb_encrypt;             /* --smb-encrypt */
    bool smb_sign;                /* --smb-signing required */
    uint16_t smb_dialect;         /* --smb-dialect: the highest to offer; 0: 3.1.1 */
    bool samr_as_user;            /* --samr-as-user */
    bool allow_replication;       /* --allow-replication */
};

struct dc {
    /* Its address. */
    struct sockaddr_storage address; /* port 0; dc_address() fills one in */
    socklen_t address_len;
    bool read_only;     /* an RODC, which takes no writes */
    char *given;        /* as the user wrote it */
    char *address_text; /* numeric */
    struct dc_ports ports;

    /* From the CLDAP netlogon reply and the root DSE; owned by this struct. With generic_ldap only
     * base_dn is set, from namingContexts. */
    char *realm;                        /* SAMDOM.EXAMPLE.COM */
    char *dns_domain;                   /* samdom.example.com */
    char *dns_name;                     /* dc1.samdom.example.com: the name in service principals */
    char *netbios_domain;               /* SAMDOM */
    char *server_realm, *server_domain; /* what the server says, whatever --realm and -W are */
    char *netbios_name;                 /* DC1 */
    char *forest;
    char *site;
    char *base_dn; /* DC=samdom,DC=example,DC=com */
    char *config_dn;
    char *schema_dn;
    char *domain_sid; /* S-1-5-21-... */

    struct account admin;     /* name and password; name is NULL with admin_ccache */
    char *admin_ccache;       /* -k: name of a Kerberos credential cache, NULL: none */
    char *instance_dn;        /* OU=instance-<I>,OU=traffic_replay,<base_dn> */
    struct account *users;    /* test users, by client number */
    struct account *machines; /* test machines, by client number */
    size_t account_count;     /* of each */

    struct tls *tls;
    struct catalogue *catalogue;
    struct smb2_shared_files *shared_files; /* NULL: not surveyed */
    struct dns_names *dns_names;
    const struct nbench *nbench; /* NULL: the model is not a loadfile */
    struct rpc_ports *rpc_ports; /* filled during the run, with atomic operations */
    struct dc_options options;
};

/* Creates a dc with the standard ports and nothing else; NULL: no memory. */
struct dc *dc_new(void);
/* Frees everything that dc owns. NULL is allowed. */
void dc_free(struct dc *dc);

/* Writes the DC's address with one of dc->ports to *out; returns its length. */
socklen_t dc_address(const struct dc *dc, uint16_t port, struct sockaddr_storage *out);

#endif
