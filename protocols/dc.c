/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and frees the description of the server under test. */
#include "protocols/dc.h"

#include <stdlib.h>
#include <string.h>

#include "protocols/names/dns_names.h"
#include "protocols/rpc/rpc_epm.h"

static void free_accounts(struct account *accounts, size_t count);

struct dc *dc_new(void)
{
    struct dc *dc = calloc(1, sizeof *dc);
    if (!dc)
        return NULL;
    dc->rpc_ports = rpc_ports_new();
    if (!dc->rpc_ports) {
        free(dc);
        return NULL;
    }
    dc->ports = (struct dc_ports){.dns = 53,
                                  .kerberos = 88,
                                  .epm = 135,
                                  .nbns = 137,
                                  .ldap = 389,
                                  .cldap = 389,
                                  .smb = 445,
                                  .ldaps = 636};
    dc->options.kdc_preauth_legs = 1;
    return dc;
}

void dc_free(struct dc *dc)
{
    if (!dc)
        return;
    rpc_ports_free(dc->rpc_ports);
    free(dc->given);
    free(dc->address_text);
    free(dc->realm);
    free(dc->dns_domain);
    free(dc->dns_name);
    free(dc->netbios_domain);
    free(dc->server_realm);
    free(dc->server_domain);
    free(dc->netbios_name);
    free(dc->forest);
    free(dc->site);
    free(dc->base_dn);
    free(dc->config_dn);
    free(dc->schema_dn);
    free(dc->domain_sid);
    free(dc->admin_ccache);
    free(dc->instance_dn);
    dns_names_free(dc->dns_names);
    account_clear(&dc->admin);
    free_accounts(dc->users, dc->account_count);
    free_accounts(dc->machines, dc->account_count);
    free(dc);
}

static void free_accounts(struct account *accounts, size_t count)
{
    for (size_t i = 0; accounts && i < count; i++)
        account_clear(&accounts[i]);
    free(accounts);
}

socklen_t dc_address(const struct dc *dc, uint16_t port, struct sockaddr_storage *out)
{
    *out = dc->address;
    if (out->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)out)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)out)->sin_port = htons(port);
    return dc->address_len;
}
