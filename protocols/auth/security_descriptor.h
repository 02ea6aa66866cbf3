/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds entries to the DACL of a self-relative security descriptor (MS-DTYP 2.4.6), the format of
 * nTSecurityDescriptor. Trusts nothing from the wire.
 */
#ifndef PROTOCOLS_AUTH_SECURITY_DESCRIPTOR_H
#define PROTOCOLS_AUTH_SECURITY_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part that LDAP_SERVER_SD_FLAGS_OID (MS-ADTS 3.1.1.3.4.1.11) reads or writes. */
enum { SECURITY_DESCRIPTOR_DACL_ONLY = 4 };
#define SECURITY_DESCRIPTOR_FLAGS_OID "1.2.840.113556.1.4.801"

enum security_descriptor_inherited {
    SECURITY_DESCRIPTOR_KEEP_INHERITED,
    SECURITY_DESCRIPTOR_DROP_INHERITED /* for a new object, which inherits by itself */
};

/*
 * Makes a descriptor that contains only the DACL of sd, with those entries of sddl that it lacks
 * added after its last explicit entry. sddl contains access-allowed entries without object types
 * (MS-DTYP 2.5.1), such as "(A;;CCDC;;;AU)(A;CIIO;RPWPSDLCRC;;;CO)"; trustees are S-1-... or one of
 * PS AU CO WD SY BA. The caller frees *out; *changed: something was added.
 * -EBADMSG: sd is malformed; -EINVAL: sddl is malformed; -E2BIG: too many entries for an ACL;
 * -ENOMEM.
 */
int security_descriptor_add(const uint8_t *sd, size_t size, const char *sddl,
                            enum security_descriptor_inherited inherited, uint8_t **out,
                            size_t *out_size, bool *changed);

#endif
