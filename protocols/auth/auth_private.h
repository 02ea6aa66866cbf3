/* SPDX-License-Identifier: Apache-2.0 */
/* A mechanism (NTLM, Kerberos) below SPNEGO. */
#ifndef PROTOCOLS_AUTH_AUTH_PRIVATE_H
#define PROTOCOLS_AUTH_AUTH_PRIVATE_H

#include "protocols/auth/auth.h"
#include "protocols/auth/spnego.h"

struct auth_mech;

struct auth_mech_ops {
    /* Like auth_step(), without SPNEGO. */
    int (*step)(struct auth_mech *mech, const uint8_t *token, size_t size, uint8_t **out,
                size_t *out_size);
    int (*session_key)(struct auth_mech *mech, uint8_t *key, size_t *size);
    /* Signs the mechListMIC; *mic is malloc'd. */
    int (*sign_mic)(struct auth_mech *mech, struct spnego_slice list, uint8_t **mic,
                    size_t *mic_size);
    int (*verify_mic)(struct auth_mech *mech, struct spnego_slice list, struct spnego_slice mic);
    /* SPNEGO is complete and both MICs were exchanged. */
    void (*after_mics)(struct auth_mech *mech);
    int (*token_size)(struct auth_mech *mech, size_t body_size, size_t *size);
    int (*protect)(struct auth_mech *mech, const struct auth_pdu *pdu, uint8_t *token,
                   size_t token_size);
    int (*unprotect)(struct auth_mech *mech, const struct auth_pdu *pdu, const uint8_t *token,
                     size_t token_size);
    void (*free)(struct auth_mech *mech);
};

enum { AUTH_ERROR_SIZE = 80 };

struct auth_mech {
    const struct auth_mech_ops *ops;
    enum auth_level level;
    bool wants_mic; /* once the mechanism is done: SPNEGO must send a mechListMIC */
    char error[AUTH_ERROR_SIZE];
};

int auth_ntlm_new(struct conversation *conversation, const struct auth_request *request,
                  struct auth_mech **out);
int auth_kerberos_new(struct conversation *conversation, const struct auth_request *request,
                      struct auth_mech **out);

#endif
