/* SPDX-License-Identifier: Apache-2.0 */
/* From a test account to an identity of NTLMSSP. */
#include "protocols/auth/ntlm_account.h"

#include <errno.h>
#include <string.h>

static int set_names(struct ntlm_account *out, const struct conversation *conversation,
                     const char *name);
static int copy_name(char to[NTLM_NAME_SIZE], const char *name, size_t length);
static int get_nt_hash(const struct account *account, uint8_t hash[ACCOUNT_NT_HASH_SIZE]);

int ntlm_account_init(struct ntlm_account *out, struct ntlmssp_identity *identity,
                      const struct conversation *conversation, const struct account *account)
{
    *out = (struct ntlm_account){.user = NULL};
    if (!account->name)
        return -ENOKEY;
    int rc = set_names(out, conversation, account->name);
    if (rc == 0)
        rc = get_nt_hash(account, out->nt_hash);
    if (rc)
        return rc;
    *identity =
        (struct ntlmssp_identity){.user = out->user,
                                  .domain = out->domain,
                                  .workstation = out->workstation[0] ? out->workstation : NULL,
                                  .nt_hash = out->nt_hash};
    return 0;
}

static int set_names(struct ntlm_account *out, const struct conversation *conversation,
                     const char *name)
{
    const struct account *machine = conversation->machine;
    const char *client = machine && machine->name ? machine->name : "";
    const char *domain = conversation->dc->netbios_domain;
    const char *backslash = strchr(name, '\\');
    size_t length = 0;
    out->user = backslash ? backslash + 1 : name;
    if (backslash)
        domain = name;
    else if (strchr(name, '@'))
        domain = NULL;
    if (domain)
        length = backslash ? (size_t)(backslash - name) : strlen(domain);
    int rc = copy_name(out->domain, domain, length);
    return rc ? rc : copy_name(out->workstation, client, strcspn(client, "$"));
}

static int copy_name(char to[NTLM_NAME_SIZE], const char *name, size_t length)
{
    if (length >= NTLM_NAME_SIZE)
        return -EINVAL;
    if (length)
        memcpy(to, name, length);
    to[length] = '\0';
    return 0;
}

/* The hash is usually derived before the run; the administrator's may not be. */
static int get_nt_hash(const struct account *account, uint8_t hash[ACCOUNT_NT_HASH_SIZE])
{
    if (!account->has_nt_hash)
        return account->password ? ntlmssp_nt_hash(account->password, hash) : -ENOKEY;
    memcpy(hash, account->nt_hash, ACCOUNT_NT_HASH_SIZE);
    return 0;
}

void ntlm_account_clear(struct ntlm_account *account)
{
    explicit_bzero(account->nt_hash, sizeof account->nt_hash);
}
