/* SPDX-License-Identifier: Apache-2.0 */
/* User information of samr, MS-SAMR 2.2.6: what a user's account holds, by level. */
#ifndef PROTOCOLS_RPC_RPC_SAMR_USER_H
#define PROTOCOLS_RPC_RPC_SAMR_USER_H

#include "protocols/rpc/ndr.h"

enum { SAMR_LOGON_HOURS_MAX = 1260 }; /* bytes; 2.2.6.5 */

struct samr_logon_hours {
    uint16_t units; /* 168 for one bit an hour of a week */
    uint8_t *bits;
};
/* MS-SAMR 2.2.6.6 SAMPR_USER_ALL_INFORMATION and the smaller forms: members of the arm are set. */
struct samr_user_info {
    uint16_t level;
    char *account_name, *full_name, *admin_comment, *user_comment, *home_directory, *home_drive;
    char *logon_script, *profile_path, *workstations, *parameters, *lm_password, *nt_password;
    char *private_data, *unknown;
    uint64_t last_logon, last_logoff, last_password_change, account_expires;
    uint64_t allow_password_change, force_password_change;
    uint32_t rid, primary_gid, account_control, fields_present;
    uint32_t security_descriptor_size;
    uint8_t *security_descriptor;
    struct samr_logon_hours logon_hours;
    uint16_t bad_password_count, logon_count, country_code, code_page;
    uint8_t lm_password_set, nt_password_set, password_expired, private_data_sensitive;
};

/* SAMPR_USER_INFO_BUFFER of a struct samr_user_info, with its level in front; a level that nobody
 * may query is refused. */
void samr_user_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg);

#endif
