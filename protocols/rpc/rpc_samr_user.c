/* SPDX-License-Identifier: Apache-2.0 */
/* Coders of samr's user information, one per level (MS-SAMR 2.2.6). */
#include "protocols/rpc/rpc_samr.h"

#include <string.h>

typedef void user_arm(struct ndr *ndr, struct samr_user_info *info);

static void user_general(struct ndr *ndr, struct samr_user_info *info);
static void samr_user_text(struct ndr *ndr, const char *field, char **value);
static void user_preferences(struct ndr *ndr, struct samr_user_info *info);
static void user_logon(struct ndr *ndr, struct samr_user_info *info);
static void user_beginning(struct ndr *ndr, struct samr_user_info *info);
static void logon_hours(struct ndr *ndr, struct samr_logon_hours *hours);
static void logon_hours_bits_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg);
static void user_logon_hours(struct ndr *ndr, struct samr_user_info *info);
static void user_account(struct ndr *ndr, struct samr_user_info *info);
static void user_name(struct ndr *ndr, struct samr_user_info *info);
static void user_account_name(struct ndr *ndr, struct samr_user_info *info);
static void user_full_name(struct ndr *ndr, struct samr_user_info *info);
static void user_primary_group(struct ndr *ndr, struct samr_user_info *info);
static void user_home(struct ndr *ndr, struct samr_user_info *info);
static void user_script(struct ndr *ndr, struct samr_user_info *info);
static void user_profile(struct ndr *ndr, struct samr_user_info *info);
static void user_admin_comment(struct ndr *ndr, struct samr_user_info *info);
static void user_workstations(struct ndr *ndr, struct samr_user_info *info);
static void user_control(struct ndr *ndr, struct samr_user_info *info);
static void user_expires(struct ndr *ndr, struct samr_user_info *info);
static void user_parameters(struct ndr *ndr, struct samr_user_info *info);
static void user_all(struct ndr *ndr, struct samr_user_info *info);
static void user_all_texts(struct ndr *ndr, struct samr_user_info *info);
static void hidden_text(struct ndr *ndr, const char *field, char **value);

/* SAMPR_USER_INFO_BUFFER, MS-SAMR 2.2.6.29: the levels that can be queried */
static user_arm *const user_arms[] = {
    [1] = user_general,        [2] = user_preferences,   [3] = user_logon,
    [4] = user_logon_hours,    [5] = user_account,       [6] = user_name,
    [7] = user_account_name,   [8] = user_full_name,     [9] = user_primary_group,
    [10] = user_home,          [11] = user_script,       [12] = user_profile,
    [13] = user_admin_comment, [14] = user_workstations, [16] = user_control,
    [17] = user_expires,       [20] = user_parameters,   [21] = user_all,
};

void samr_user_info_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    (void)arg;
    struct samr_user_info *info = value;
    ndr_u16(ndr, "UserInformationClass", &info->level);
    if (info->level >= sizeof user_arms / sizeof user_arms[0] || !user_arms[info->level])
        ndr_fail(ndr, field, "unknown UserInformationClass");
    else
        user_arms[info->level](ndr, info);
}

/* SAMPR_USER_GENERAL_INFORMATION */
static void user_general(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserName", &info->account_name);
    samr_user_text(ndr, "FullName", &info->full_name);
    ndr_u32(ndr, "PrimaryGroupId", &info->primary_gid);
    samr_user_text(ndr, "AdminComment", &info->admin_comment);
    samr_user_text(ndr, "UserComment", &info->user_comment);
}

static void samr_user_text(struct ndr *ndr, const char *field, char **value)
{
    ndr_unicode_string_coder(ndr, field, value, 0);
}

/* SAMPR_USER_PREFERENCES_INFORMATION */
static void user_preferences(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserComment", &info->user_comment);
    samr_user_text(ndr, "Reserved1", &info->unknown);
    ndr_u16(ndr, "CountryCode", &info->country_code);
    ndr_u16(ndr, "CodePage", &info->code_page);
}

/* SAMPR_USER_LOGON_INFORMATION */
static void user_logon(struct ndr *ndr, struct samr_user_info *info)
{
    user_beginning(ndr, info);
    samr_user_text(ndr, "WorkStations", &info->workstations);
    ndr_old_large_integer(ndr, "LastLogon", &info->last_logon);
    ndr_old_large_integer(ndr, "LastLogoff", &info->last_logoff);
    ndr_old_large_integer(ndr, "PasswordLastSet", &info->last_password_change);
    ndr_old_large_integer(ndr, "PasswordCanChange", &info->allow_password_change);
    ndr_old_large_integer(ndr, "PasswordMustChange", &info->force_password_change);
    logon_hours(ndr, &info->logon_hours);
    ndr_u16(ndr, "BadPasswordCount", &info->bad_password_count);
    ndr_u16(ndr, "LogonCount", &info->logon_count);
    ndr_u32(ndr, "UserAccountControl", &info->account_control);
}

/* The first members of SAMPR_USER_LOGON_INFORMATION and SAMPR_USER_ACCOUNT_INFORMATION. */
static void user_beginning(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserName", &info->account_name);
    samr_user_text(ndr, "FullName", &info->full_name);
    ndr_u32(ndr, "UserId", &info->rid);
    ndr_u32(ndr, "PrimaryGroupId", &info->primary_gid);
    samr_user_text(ndr, "HomeDirectory", &info->home_directory);
    samr_user_text(ndr, "HomeDirectoryDrive", &info->home_drive);
    samr_user_text(ndr, "ScriptPath", &info->logon_script);
    samr_user_text(ndr, "ProfilePath", &info->profile_path);
}

static void logon_hours(struct ndr *ndr, struct samr_logon_hours *hours)
{
    ndr_align(ndr, 4);
    ndr_u16(ndr, "UnitsPerWeek", &hours->units);
    uint32_t bytes = ((uint32_t)hours->units + 7) / 8;
    if (bytes > SAMR_LOGON_HOURS_MAX)
        ndr_fail(ndr, "UnitsPerWeek", "out of range");
    ndr_unique_member(ndr, "LogonHours", hours->bits != NULL, hours, logon_hours_bits_coder, bytes);
}

/* SAMPR_LOGON_HOURS: UnitsPerWeek, [size_is(1260),length_is((UnitsPerWeek+7)/8)] LogonHours.
 * argument is the number of bytes. */
static void logon_hours_bits_coder(struct ndr *ndr, const char *field, void *value, uint32_t arg)
{
    struct samr_logon_hours *hours = value;
    uint32_t room = SAMR_LOGON_HOURS_MAX;
    ndr_varying_array(ndr, field, &hours->bits, &room, arg, ndr_u8_coder);
}

static void user_logon_hours(struct ndr *ndr, struct samr_user_info *info)
{
    logon_hours(ndr, &info->logon_hours);
}

/* SAMPR_USER_ACCOUNT_INFORMATION */
static void user_account(struct ndr *ndr, struct samr_user_info *info)
{
    user_beginning(ndr, info);
    samr_user_text(ndr, "AdminComment", &info->admin_comment);
    samr_user_text(ndr, "WorkStations", &info->workstations);
    ndr_old_large_integer(ndr, "LastLogon", &info->last_logon);
    ndr_old_large_integer(ndr, "LastLogoff", &info->last_logoff);
    logon_hours(ndr, &info->logon_hours);
    ndr_u16(ndr, "BadPasswordCount", &info->bad_password_count);
    ndr_u16(ndr, "LogonCount", &info->logon_count);
    ndr_old_large_integer(ndr, "PasswordLastSet", &info->last_password_change);
    ndr_old_large_integer(ndr, "AccountExpires", &info->account_expires);
    ndr_u32(ndr, "UserAccountControl", &info->account_control);
}

static void user_name(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserName", &info->account_name);
    samr_user_text(ndr, "FullName", &info->full_name);
}

static void user_account_name(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserName", &info->account_name);
}

static void user_full_name(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "FullName", &info->full_name);
}

static void user_primary_group(struct ndr *ndr, struct samr_user_info *info)
{
    ndr_u32(ndr, "PrimaryGroupId", &info->primary_gid);
}

static void user_home(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "HomeDirectory", &info->home_directory);
    samr_user_text(ndr, "HomeDirectoryDrive", &info->home_drive);
}

static void user_script(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "ScriptPath", &info->logon_script);
}

static void user_profile(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "ProfilePath", &info->profile_path);
}

static void user_admin_comment(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "AdminComment", &info->admin_comment);
}

static void user_workstations(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "WorkStations", &info->workstations);
}

static void user_control(struct ndr *ndr, struct samr_user_info *info)
{
    ndr_u32(ndr, "UserAccountControl", &info->account_control);
}

static void user_expires(struct ndr *ndr, struct samr_user_info *info)
{
    ndr_old_large_integer(ndr, "AccountExpires", &info->account_expires);
}

static void user_parameters(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "Parameters", &info->parameters);
}

/* SAMPR_USER_ALL_INFORMATION. Passwords and parameters are counted bytes; servers send them empty.
 */
static void user_all(struct ndr *ndr, struct samr_user_info *info)
{
    ndr_old_large_integer(ndr, "LastLogon", &info->last_logon);
    ndr_old_large_integer(ndr, "LastLogoff", &info->last_logoff);
    ndr_old_large_integer(ndr, "PasswordLastSet", &info->last_password_change);
    ndr_old_large_integer(ndr, "AccountExpires", &info->account_expires);
    ndr_old_large_integer(ndr, "PasswordCanChange", &info->allow_password_change);
    ndr_old_large_integer(ndr, "PasswordMustChange", &info->force_password_change);
    user_all_texts(ndr, info);
    ndr_u32_range(ndr, "SecurityDescriptorLength", &info->security_descriptor_size, 0, 262144);
    ndr_unique_array(ndr, "SecurityDescriptor", &info->security_descriptor,
                     info->security_descriptor_size, ndr_u8_coder);
    ndr_u32(ndr, "UserId", &info->rid);
    ndr_u32(ndr, "PrimaryGroupId", &info->primary_gid);
    ndr_u32(ndr, "UserAccountControl", &info->account_control);
    ndr_u32(ndr, "WhichFields", &info->fields_present);
    logon_hours(ndr, &info->logon_hours);
    ndr_u16(ndr, "BadPasswordCount", &info->bad_password_count);
    ndr_u16(ndr, "LogonCount", &info->logon_count);
    ndr_u16(ndr, "CountryCode", &info->country_code);
    ndr_u16(ndr, "CodePage", &info->code_page);
    ndr_u8(ndr, "LmPasswordPresent", &info->lm_password_set);
    ndr_u8(ndr, "NtPasswordPresent", &info->nt_password_set);
    ndr_u8(ndr, "PasswordExpired", &info->password_expired);
    ndr_u8(ndr, "PrivateDataSensitive", &info->private_data_sensitive);
}

static void user_all_texts(struct ndr *ndr, struct samr_user_info *info)
{
    samr_user_text(ndr, "UserName", &info->account_name);
    samr_user_text(ndr, "FullName", &info->full_name);
    samr_user_text(ndr, "HomeDirectory", &info->home_directory);
    samr_user_text(ndr, "HomeDirectoryDrive", &info->home_drive);
    samr_user_text(ndr, "ScriptPath", &info->logon_script);
    samr_user_text(ndr, "ProfilePath", &info->profile_path);
    samr_user_text(ndr, "AdminComment", &info->admin_comment);
    samr_user_text(ndr, "WorkStations", &info->workstations);
    samr_user_text(ndr, "UserComment", &info->user_comment);
    samr_user_text(ndr, "Parameters", &info->parameters);
    hidden_text(ndr, "LmOwfPassword", &info->lm_password);
    hidden_text(ndr, "NtOwfPassword", &info->nt_password);
    hidden_text(ndr, "PrivateData", &info->private_data);
}

/* A secret: only its length is printed. */
static void hidden_text(struct ndr *ndr, const char *field, char **value)
{
    if (ndr->mode == NDR_PRINT)
        ndr_bytes(ndr, field, NULL, *value ? strlen(*value) : 0);
    else
        samr_user_text(ndr, field, value);
}
