/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay's options: the values that have a form of their own, then the table. */
#include "replay/settings_table.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "base/utf16.h"
#include "replay/accounts/credentials.h"
#include "replay/settings.h"

enum group {
    GROUP_SCALE,
    GROUP_TIME,
    GROUP_PACKETS,
    GROUP_SERVER,
    GROUP_CREDENTIALS,
    GROUP_ACCOUNTS,
    GROUP_OUTPUT,
    GROUP_OTHER,
    GROUP_COUNT
};

static const char *const group_titles[GROUP_COUNT] = {
    [GROUP_SCALE] = "How much traffic",
    [GROUP_TIME] = "How long, and how it is played",
    [GROUP_PACKETS] = "Which packets, and how they are sent",
    [GROUP_SERVER] = "The server",
    [GROUP_CREDENTIALS] = "Administrator's credentials",
    [GROUP_ACCOUNTS] = "Test accounts",
    [GROUP_OUTPUT] = "What comes out",
    [GROUP_OTHER] = "Other",
};

#define AT(member)       offsetof(struct settings, member)
#define FLAG(member)     NULL, OPTIONS_FLAG, AT(member), 0, 0
#define CUSTOM(min, max) OPTIONS_CUSTOM, 0, min, max

enum { USERS_MAX = 10000000, GROUPS_MAX = 1000000, INSTANCE_MAX = 99999 };
enum { SECONDS_MAX = 10000000, WAIT_MAX = 3600 };

const struct settings_conflict settings_conflicts[] = {
    {"scale-traffic", "packets-per-second", "give one of them"},
    {"average-groups-per-user", "group-memberships", "give one of them"},
    {"clean-up", "generate-users-only", "run it twice"},
    {"dry-run", "clean-up", "leave one out"},
    {"dry-run", "generate-users-only", "leave one out"},
    {"dry-run", "traffic-summary", "leave one out"},
    {"traffic-summary", "clean-up", "leave one out"},
    {"traffic-summary", "generate-users-only", "leave one out"},
    {"make-accounts", "clean-up", "run it twice"},
    {"make-accounts", "generate-users-only", "run it twice"},
    {"make-accounts", "dry-run", "leave one out"},
    {"make-accounts", "traffic-summary", "leave one out"},
    {"accounts", "make-accounts", "leave one out"},
    {"accounts", "clean-up", "accounts from a file are not ours to remove"},
    {"accounts", "generate-users-only", "leave one out"},
    {"accounts", "number-of-users", "the file says how many there are"},
    {"accounts", "fixed-password", "the file has the passwords"},
    {"user", "authentication-file", "give one of them"},
    {"user", "kerberos", "the tickets say who you are"},
    {"authentication-file", "kerberos", "the tickets say who you are"},
    {NULL, NULL, NULL},
};

static const char *parse_seed(void *owner, char *value);
static const char *parse_source(void *owner, char *value);
static const char *parse_only(void *owner, char *value);
static const char *parse_packets(struct settings_packet **packets, size_t *count, char *value);
static const char *parse_skip(void *owner, char *value);
static const char *parse_transport(void *owner, char *value);
static const char *parse_server(void *owner, char *value);
static const char *parse_user(void *owner, char *value);
static const char *settings_table_parse_json(void *owner, char *value);
static const char *settings_table_parse_label(void *owner, char *value);

/* clang-format off */
static const struct options_row rows[] = {
    {"replay-rate", 'r', "FACTOR", OPTIONS_NUMBER, AT(replay_rate), 0, 1e6, OPTIONS_ABOVE,
     GROUP_SCALE, "make every client FACTOR times as fast (default 1)", NULL},
    {"scale-traffic", 'S', "FACTOR", OPTIONS_NUMBER, AT(scale), 0, 1e6, OPTIONS_ABOVE, GROUP_SCALE,
     "make FACTOR times as many clients (default 1)", NULL},
    {"packets-per-second", 'T', "RATE", OPTIONS_NUMBER, AT(packets_per_second), 0, 1e8,
     OPTIONS_ABOVE, GROUP_SCALE,
     "offer RATE packets a second, whatever -r is; instead of -S", NULL},
    {"conversation-persistence", 0, "P", OPTIONS_NUMBER, AT(conversation_persistence), 0, 1, 0,
     GROUP_SCALE,
     "chance that a client pauses for long between two conversations (default 0)", NULL},
    {"random-seed", 0, "N", CUSTOM(0, 0), 0, GROUP_SCALE,
     "repeat the plan of the run that printed this seed (default: random)", parse_seed},
    {"dns-rate", 0, "RATE", OPTIONS_NUMBER, AT(dns_rate), 0, 1e6, 0, GROUP_SCALE,
     "send RATE extra DNS queries a second beside the plan (default 0)", NULL},
    {"dns-query-file", 0, "FILE", OPTIONS_INPUT, AT(dns_query_file), 0, 0, 0, GROUP_SCALE,
     "take the extra DNS queries from FILE: lines opcode,name,type,yes|no", NULL},

    {"duration", 'D', "SECONDS", OPTIONS_NUMBER, AT(duration), 0, SECONDS_MAX, OPTIONS_ABOVE,
     GROUP_TIME, "measure for so long (default 60; a recording: to its end)", NULL},
    {"warmup", 0, "SECONDS", OPTIONS_NUMBER, AT(warmup), 0, SECONDS_MAX, 0, GROUP_TIME,
     "play for so long before measuring (default 5; a recording: 0)", NULL},
    {"timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(timeout), 0, WAIT_MAX, OPTIONS_ABOVE, GROUP_TIME,
     "an operation that takes longer has failed (default 30)", NULL},
    {"latency-timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(latency_timeout), 0, WAIT_MAX, 0,
     GROUP_TIME, "at the end, wait so long for answers still under way (default 1)", NULL},
    {"max-backlog", 0, "SECONDS", OPTIONS_NUMBER, AT(max_backlog), 0, SECONDS_MAX, OPTIONS_ABOVE,
     GROUP_TIME,
     "drop, and count, packets that are later than this (default: play them all)", NULL},
    {"stop-on-any-error", 0, FLAG(stop_on_any_error), 0, GROUP_TIME,
     "end the run at the first failed operation, with exit status 1", NULL},
    {"threads", 0, "N", OPTIONS_UNSIGNED, AT(threads), 1, 1024, 0, GROUP_TIME,
     "worker threads (default: one a core)", NULL},
    {"source", 0, "CIDR", CUSTOM(0, 0), 0, GROUP_TIME,
     "send each client's traffic from an address of its own out of CIDR", parse_source},

    {"only", 0, "PACKETS", CUSTOM(0, 0), SETTINGS_LIST, GROUP_PACKETS,
     "play these alone: PROTOCOL or PROTOCOL:OPCODE, several with commas", parse_only},
    {"skip", 0, "PACKETS", CUSTOM(0, 0), SETTINGS_LIST, GROUP_PACKETS,
     "leave these out", parse_skip},
    {"prefer-kerberos", 'K', FLAG(play.prefer_kerberos), 0, GROUP_PACKETS,
     "authenticate with Kerberos from the start of every conversation", NULL},
    {"badpassword-frequency", 'B', "P", OPTIONS_NUMBER, AT(play.badpassword_frequency), 0, 1, 0,
     GROUP_PACKETS,
     "chance of a wrong-password attempt before an authentication (default 0)", NULL},
    {"kdc-transport", 0, "tcp|udp", CUSTOM(0, 0), 0, GROUP_PACKETS,
     "how Kerberos requests travel; udp goes on over TCP when told to (default tcp)",
     parse_transport},
    {"kdc-preauth-legs", 0, "1|2", OPTIONS_INT, AT(play.kdc_preauth_legs), 1, 2, 0, GROUP_PACKETS,
     "requests of an AS exchange: 1, or 2 as Windows clients send (default 1)", NULL},
    {"plain-simple-bind", 0, FLAG(play.plain_simple_bind), 0, GROUP_PACKETS,
     "send simple binds in clear text on port 389", NULL},
    {"smb-share", 0, "SHARE", OPTIONS_TEXT, AT(play.smb_share), 0, 0, 0, GROUP_PACKETS,
     "a share that test users may write: SMB2 writes go to scratch files there", NULL},
    {"smb-encrypt", 0, FLAG(play.smb_encrypt), 0, GROUP_PACKETS,
     "encrypt SMB2 also where the server does not ask for it", NULL},
    {"samr-as-user", 0, FLAG(play.samr_as_user), 0, GROUP_PACKETS,
     "make SAMR calls as the test users instead of the administrator", NULL},
    {"allow-replication", 0, FLAG(play.allow_replication), 0, GROUP_PACKETS,
     "let drsuapi:3 replicate the domain's data, as the administrator", NULL},

    {"server", 0, "dc|ldap", CUSTOM(0, 0), 0, GROUP_SERVER,
     "what the server is: a domain controller, or any LDAPv3 server (default dc)", parse_server},
    {"realm", 0, "REALM", OPTIONS_TEXT, AT(realm), 0, 0, 0, GROUP_SERVER,
     "Kerberos realm (default: what the server says)", NULL},
    {"workgroup", 'W', "NAME", OPTIONS_TEXT, AT(workgroup), 0, 0, 0, GROUP_SERVER,
     "NetBIOS name of the domain (default: what the server says)", NULL},
    {"tls-verify", 0, FLAG(play.tls_verify), 0, GROUP_SERVER,
     "check the server's TLS certificate", NULL},
    {"tls-ca", 0, "FILE", OPTIONS_INPUT, AT(tls_ca), 0, 0, 0, GROUP_SERVER,
     "check it against the authorities in FILE (PEM)", NULL},

    {"user", 'U', "[DOMAIN\\]USER[%PASSWORD]", CUSTOM(0, 0),
     SETTINGS_CREDENTIALS | SETTINGS_HOLDS_SECRET, GROUP_CREDENTIALS,
     "who makes the test accounts; without a password the terminal is asked", parse_user},
    {"authentication-file", 'A', "FILE", OPTIONS_TEXT, AT(authentication_file), 0, 0,
     SETTINGS_CREDENTIALS, GROUP_CREDENTIALS,
     "read username, password and domain from FILE", NULL},
    {"kerberos", 'k', FLAG(admin_kerberos), SETTINGS_CREDENTIALS, GROUP_CREDENTIALS,
     "use the tickets of kinit(1)", NULL},

    {"instance-id", 'I', "N", OPTIONS_INT, AT(instance_id), 0, INSTANCE_MAX, 0, GROUP_ACCOUNTS,
     "number of this set of accounts, so that several can be used at a time (default 0)", NULL},
    {"fixed-password", 'F', "PASSWORD", OPTIONS_SECRET, AT(fixed_password), 0, 0,
     SETTINGS_HOLDS_SECRET, GROUP_ACCOUNTS,
     "password of the test accounts (default: a random one, kept)", NULL},
    {"number-of-users", 'n', "N", OPTIONS_WHOLE, AT(number_of_users), 1, USERS_MAX, 0,
     GROUP_ACCOUNTS, "make N users (default: one a client)", NULL},
    {"number-of-groups", 0, "N", OPTIONS_WHOLE, AT(number_of_groups), 0, GROUPS_MAX, 0,
     GROUP_ACCOUNTS, "make N groups (default: a tenth of the users)", NULL},
    {"average-groups-per-user", 0, "N", OPTIONS_NUMBER, AT(average_groups_per_user), 0, GROUPS_MAX,
     OPTIONS_ABOVE, GROUP_ACCOUNTS, "memberships, as a mean over the users (default 5)", NULL},
    {"group-memberships", 0, "N", OPTIONS_WHOLE, AT(group_memberships), 0, 1e9, 0, GROUP_ACCOUNTS,
     "memberships, in all", NULL},
    {"max-members", 0, "N", OPTIONS_WHOLE, AT(max_members), 1, 1e9, 0, GROUP_ACCOUNTS,
     "no group gets more members than this", NULL},
    {"generate-users-only", 'G', FLAG(generate_users_only), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "make users, groups and filler machines to give the server weight; play nothing", NULL},
    {"make-accounts", 0, FLAG(make_accounts), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "make the accounts that this run would need, and play nothing", NULL},
    {"clean-up", 'c', FLAG(clean_up), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "remove all accounts of this instance; play nothing", NULL},
    {"accounts", 0, "FILE", OPTIONS_INPUT, AT(accounts_file), 0, 0, 0, GROUP_ACCOUNTS,
     "use the accounts in FILE (name or DN, password) and make none", NULL},
    {"yes", 0, FLAG(yes), 0, GROUP_ACCOUNTS,
     "do not ask before the first accounts are made in a domain", NULL},

    {"json", 0, "FILE", CUSTOM(0, 0), SETTINGS_MAY_BE_LAST, GROUP_OUTPUT,
     "write the result to FILE as JSON (- is standard output)", settings_table_parse_json},
    {"timing-data", 't', "FILE", OPTIONS_OUTPUT, AT(timing_data), 0, 0, 0, GROUP_OUTPUT,
     "write a line for each operation to FILE (- is standard output)", NULL},
    {"label", 0, "NAME=VALUE", CUSTOM(0, 0), SETTINGS_LIST, GROUP_OUTPUT,
     "put a label into the JSON result; may be given several times", settings_table_parse_label},
    {"log-failures", 0, "N", OPTIONS_WHOLE, AT(log_failures), 0, 1e9, 0, GROUP_OUTPUT,
     "tell the first N failures one by one on standard error (default 0)", NULL},
    {"dry-run", 0, FLAG(dry_run), OPTIONS_COMMAND_LINE, GROUP_OUTPUT,
     "tell what would be sent, and exit; needs no DC, and --json no FILE", NULL},
    {"traffic-summary", 0, "FILE", OPTIONS_OUTPUT, AT(traffic_summary), 0, 0, OPTIONS_COMMAND_LINE,
     GROUP_OUTPUT, "write the plan packet by packet as a traffic summary, and exit", NULL},

    {"config", 0, "FILE", OPTIONS_INPUT, AT(config), 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "read FILE instead of $XDG_CONFIG_HOME/traffic-replay.yaml", NULL},
    {"verbose", 'v', NULL, OPTIONS_COUNTER, AT(verbose), 0, 0, 0, GROUP_OTHER,
     "tell of the server and of each step before the run; -vv: of each SMB2 and RPC call", NULL},
    {"list-packets", 0, NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print which packets can be played", NULL},
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};

/* clang-format on */
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX,
               "a reading has no room for so many rows");

const struct options_table settings_table = {.rows = rows,
                                             .count = sizeof rows / sizeof rows[0],
                                             .groups = group_titles,
                                             .group_count = GROUP_COUNT,
                                             .help_column = 34,
                                             .print_help = settings_help};

static const char *parse_seed(void *owner, char *value)
{
    struct settings *settings = owner;
    /* What JSON integers hold. */
    char *end;
    errno = 0;
    settings->random_seed = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end)
        return options_wrong("\"%s\" is not a whole number from 0 to %lld", value,
                             (long long)INT64_MAX);
    if (errno == ERANGE || settings->random_seed > INT64_MAX)
        return options_wrong("\"%s\" is out of range: give one from 0 to %lld", value,
                             (long long)INT64_MAX);
    settings->random_seed_given = true;
    return NULL;
}

static const char *parse_source(void *owner, char *value)
{
    struct settings *settings = owner;
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    char *slash = strchr(value, '/');
    size_t length = slash ? (size_t)(slash - value) : 0;
    if (!slash || length >= sizeof text)
        return options_wrong("\"%s\" is not ADDRESS/BITS, as in 10.1.0.0/16", value);
    memcpy(text, value, length);
    text[length] = '\0';
    bool v4 = inet_pton(AF_INET, text, &address) == 1;
    if (!v4 && inet_pton(AF_INET6, text, &address) != 1)
        return options_wrong("\"%s\" is not ADDRESS/BITS, as in 10.1.0.0/16", value);
    char *end;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (!isdigit((unsigned char)slash[1]) || *end || bits > (v4 ? 32 : 128))
        return options_wrong("\"%s\" has no prefix length from 0 to %d", value, v4 ? 32 : 128);
    settings->source = value;
    return NULL;
}

static const char *parse_only(void *owner, char *value)
{
    struct settings *settings = owner;
    return parse_packets(&settings->only, &settings->only_count, value);
}

/* PROTOCOL[:OPCODE], several with commas; cuts value into pieces in place. */
static const char *parse_packets(struct settings_packet **packets, size_t *count, char *value)
{
    for (char *rest = value, *word; (word = strsep(&rest, ","));) {
        char *colon = strchr(word, ':');
        if (!*word || colon == word)
            return options_wrong("expected PROTOCOL or PROTOCOL:OPCODE, as in ldap or ldap:3");
        struct settings_packet *grown = reallocarray(*packets, *count + 1, sizeof **packets);
        if (!grown)
            return options_wrong("out of memory");
        *packets = grown;
        if (colon)
            *colon = '\0';
        grown[(*count)++] =
            (struct settings_packet){.protocol = word, .opcode = colon ? colon + 1 : NULL};
    }
    return NULL;
}

static const char *parse_skip(void *owner, char *value)
{
    struct settings *settings = owner;
    return parse_packets(&settings->skip, &settings->skip_count, value);
}

static const char *parse_transport(void *owner, char *value)
{
    struct settings *settings = owner;
    bool udp = strcmp(value, "udp") == 0;
    settings->play.kdc = udp ? KDC_UDP : KDC_TCP;
    return udp || strcmp(value, "tcp") == 0 ? NULL
                                            : options_wrong("\"%s\" is neither tcp nor udp", value);
}

static const char *parse_server(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->play.generic_ldap = strcmp(value, "ldap") == 0;
    return settings->play.generic_ldap || strcmp(value, "dc") == 0
               ? NULL
               : options_wrong("\"%s\" is neither dc nor ldap", value);
}

static const char *parse_user(void *owner, char *value)
{
    struct settings *settings = owner;
    free(settings->admin.name);
    secret_free(settings->admin.password);
    settings->admin = (struct account){0};
    if (credentials_take(value, &settings->admin.name, &settings->admin.password) != 0)
        return options_wrong("out of memory");
    return settings->admin.name[0] ? NULL : options_wrong("there is no name before the %%");
}

/* Whether the file can be written is checked when it is known to be one: see take_back_model(). */
static const char *settings_table_parse_json(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->json = value;
    settings->json_wanted = true;
    return *value ? NULL : options_wrong("empty value");
}

static const char *settings_table_parse_label(void *owner, char *value)
{
    struct settings *settings = owner;
    char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return options_wrong("\"%s\" is not NAME=VALUE", value);
    size_t size;
    if (utf16le_size(value, &size) != 0)
        return options_wrong("\"%s\" is not UTF-8", value);
    *equals = '\0';
    for (size_t i = 0; i < settings->label_count; i++)
        if (strcmp(settings->labels[i].name, value) == 0)
            return options_wrong("the label \"%s\" is given twice", value);
    struct settings_pair *grown =
        reallocarray(settings->labels, settings->label_count + 1, sizeof *settings->labels);
    if (!grown)
        return options_wrong("out of memory");
    settings->labels = grown;
    grown[settings->label_count++] = (struct settings_pair){.name = value, .value = equals + 1};
    return NULL;
}
