/* SPDX-License-Identifier: Apache-2.0 */
/* traffic-replay's options: the table, then the parsers of custom values. */
#include "replay/settings_table.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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
    [GROUP_SCALE] = "Amount of traffic",
    [GROUP_TIME] = "Time and load generation",
    [GROUP_PACKETS] = "Packets",
    [GROUP_SERVER] = "Server",
    [GROUP_CREDENTIALS] = "Administrator's credentials",
    [GROUP_ACCOUNTS] = "Test accounts",
    [GROUP_OUTPUT] = "Output",
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
    {"clean-up", "generate-users-only", "run the program twice"},
    {"dry-run", "clean-up", "leave one out"},
    {"dry-run", "generate-users-only", "leave one out"},
    {"dry-run", "traffic-summary", "leave one out"},
    {"traffic-summary", "clean-up", "leave one out"},
    {"traffic-summary", "generate-users-only", "leave one out"},
    {"make-accounts", "clean-up", "run the program twice"},
    {"make-accounts", "generate-users-only", "run the program twice"},
    {"make-accounts", "dry-run", "leave one out"},
    {"make-accounts", "traffic-summary", "leave one out"},
    {"accounts", "make-accounts", "leave one out"},
    {"accounts", "clean-up", "accounts of a file are never removed"},
    {"accounts", "generate-users-only", "leave one out"},
    {"accounts", "number-of-users", "the file determines their number"},
    {"accounts", "fixed-password", "the file contains the passwords"},
    {"user", "authentication-file", "give one of them"},
    {"user", "kerberos", "the tickets contain the name"},
    {"authentication-file", "kerberos", "the tickets contain the name"},
    {NULL, NULL, NULL},
};

static const char *parse_seed(void *owner, char *value);
static const char *parse_source(void *owner, char *value);
static const char *parse_only(void *owner, char *value);
static const char *parse_packets(struct settings_packet **packets, size_t *count, char *value);
static const char *parse_skip(void *owner, char *value);
static const char *parse_transport(void *owner, char *value);
static const char *parse_server(void *owner, char *value);
static const char *parse_folder(void *owner, char *value);
static const char *parse_dialect(void *owner, char *value);
static const char *parse_signing(void *owner, char *value);
static const char *parse_pace(void *owner, char *value);
static const char *parse_user(void *owner, char *value);
static const char *settings_table_parse_json(void *owner, char *value);
static const char *settings_table_parse_label(void *owner, char *value);

/* clang-format off */
static const struct options_row rows[] = {
    {"replay-rate", 'r', "FACTOR", OPTIONS_NUMBER, AT(replay_rate), 0, 1e6, OPTIONS_ABOVE,
     GROUP_SCALE,
     "speed of each client relative to the model (default 1)", NULL},
    {"scale-traffic", 'S', "FACTOR", OPTIONS_NUMBER, AT(scale), 0, 1e6, OPTIONS_ABOVE, GROUP_SCALE,
     "number of clients relative to the model (default 1)", NULL},
    {"packets-per-second", 'T', "RATE", OPTIONS_NUMBER, AT(packets_per_second), 0, 1e8,
     OPTIONS_ABOVE, GROUP_SCALE,
     "offer RATE packets per second at any -r; instead of -S", NULL},
    {"conversation-persistence", 0, "P", OPTIONS_NUMBER, AT(conversation_persistence), 0, 1, 0,
     GROUP_SCALE,
     "probability that a client makes a long pause between two\nconversations (default 0)", NULL},
    {"pace", 0, "reply|MB/S", CUSTOM(0, 0), 0, GROUP_SCALE,
     "pace of a loadfile: each line follows the reply to the one\nbefore, or MB/S per client (default: the file's times, else\nreply)",
     parse_pace},
    {"passes", 0, "N", OPTIONS_WHOLE, AT(passes), 1, 1e9, 0, GROUP_SCALE,
     "end when each client has played a loadfile N times", NULL},
    {"random-seed", 0, "N", CUSTOM(0, 0), 0, GROUP_SCALE,
     "repeat the plan of the run that printed this seed\n(default: random)", parse_seed},
    {"dns-rate", 0, "RATE", OPTIONS_NUMBER, AT(dns_rate), 0, 1e6, 0, GROUP_SCALE,
     "extra DNS queries per second besides the plan (default 0)", NULL},
    {"dns-query-file", 0, "FILE", OPTIONS_INPUT, AT(dns_query_file), 0, 0, 0, GROUP_SCALE,
     "read the extra DNS queries from FILE:\nlines opcode,name,type,yes|no", NULL},

    {"duration", 'D', "SECONDS", OPTIONS_NUMBER, AT(duration), 0, SECONDS_MAX, OPTIONS_ABOVE,
     GROUP_TIME,
     "length of the measured window (default 60; recording: to its\nend)", NULL},
    {"warmup", 0, "SECONDS", OPTIONS_NUMBER, AT(warmup), 0, SECONDS_MAX, 0, GROUP_TIME,
     "play this long before the measured window (default 5;\nrecording: 0)", NULL},
    {"timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(timeout), 0, WAIT_MAX, OPTIONS_ABOVE, GROUP_TIME,
     "time after which an operation has failed (default 30)", NULL},
    {"latency-timeout", 0, "SECONDS", OPTIONS_NUMBER, AT(latency_timeout), 0, WAIT_MAX, 0,
     GROUP_TIME,
     "wait this long for replies after the window (default 1)", NULL},
    {"max-backlog", 0, "SECONDS", OPTIONS_NUMBER, AT(max_backlog), 0, SECONDS_MAX, OPTIONS_ABOVE,
     GROUP_TIME,
     "drop and count packets that are later than this\n(default: play all)", NULL},
    {"stop-on-any-error", 0, FLAG(stop_on_any_error), 0, GROUP_TIME,
     "stop at the first failed operation, with exit status 1", NULL},
    {"threads", 0, "N", OPTIONS_UNSIGNED, AT(threads), 1, 1024, 0, GROUP_TIME,
     "number of worker threads (default: one per core)", NULL},
    {"source", 0, "CIDR", CUSTOM(0, 0), 0, GROUP_TIME,
     "send each client's traffic from a separate address in CIDR", parse_source},

    {"only", 0, "PACKETS", CUSTOM(0, 0), SETTINGS_LIST, GROUP_PACKETS,
     "play only these: PROTOCOL or PROTOCOL:OPCODE, separated by\ncommas", parse_only},
    {"skip", 0, "PACKETS", CUSTOM(0, 0), SETTINGS_LIST, GROUP_PACKETS,
     "do not play these", parse_skip},
    {"prefer-kerberos", 'K', FLAG(play.prefer_kerberos), 0, GROUP_PACKETS,
     "authenticate with Kerberos from the start of each conversation", NULL},
    {"badpassword-frequency", 'B', "P", OPTIONS_NUMBER, AT(play.badpassword_frequency), 0, 1, 0,
     GROUP_PACKETS,
     "probability of an attempt with a wrong password before each\nauthentication (default 0)",
     NULL},
    {"kdc-transport", 0, "tcp|udp", CUSTOM(0, 0), 0, GROUP_PACKETS,
     "transport of Kerberos requests; udp switches to tcp when the\nKDC asks for it (default tcp)",
     parse_transport},
    {"kdc-preauth-legs", 0, "1|2", OPTIONS_INT, AT(play.kdc_preauth_legs), 1, 2, 0, GROUP_PACKETS,
     "requests per AS exchange; Windows clients send 2 (default 1)", NULL},
    {"plain-simple-bind", 0, FLAG(play.plain_simple_bind), 0, GROUP_PACKETS,
     "send simple binds unencrypted on port 389", NULL},
    {"smb-share", 0, "SHARE", OPTIONS_NAME, AT(play.smb_share), 0, 0, 0, GROUP_PACKETS,
     "share that test users can write to; SMB2 writes go to scratch\nfiles there", NULL},
    {"smb-folder", 0, "NAME", CUSTOM(0, 0), 0, GROUP_PACKETS,
     "folder of the share that the run of a loadfile creates\n(default traffic-replay-INSTANCE)",
     parse_folder},
    {"keep-files", 0, FLAG(keep_files), 0, GROUP_PACKETS,
     "do not remove that folder after the run", NULL},
    {"smb-dialect", 0, "VERSION", CUSTOM(0, 0), 0, GROUP_PACKETS,
     "highest SMB2 dialect to offer: 2.0.2, 2.1, 3.0, 3.0.2 or 3.1.1\n(default 3.1.1)",
     parse_dialect},
    {"smb-signing", 0, "server|required", CUSTOM(0, 0), 0, GROUP_PACKETS,
     "sign SMB2 if the server requires it, or always (default server)", parse_signing},
    {"smb-encrypt", 0, FLAG(play.smb_encrypt), 0, GROUP_PACKETS,
     "encrypt SMB2 even if the server does not require it", NULL},
    {"samr-as-user", 0, FLAG(play.samr_as_user), 0, GROUP_PACKETS,
     "make SAMR calls as test users, not as the administrator", NULL},
    {"allow-replication", 0, FLAG(play.allow_replication), 0, GROUP_PACKETS,
     "let drsuapi:3 replicate the domain's data, as the\nadministrator", NULL},

    {"server", 0, "dc|ldap|smb", CUSTOM(0, 0), 0, GROUP_SERVER,
     "type of server: domain controller, any LDAPv3 server, or any\nSMB2 file server (default dc)", parse_server},
    {"realm", 0, "REALM", OPTIONS_NAME, AT(realm), 0, 0, 0, GROUP_SERVER,
     "Kerberos realm (default: from the server)", NULL},
    {"workgroup", 'W', "NAME", OPTIONS_NAME, AT(workgroup), 0, 0, 0, GROUP_SERVER,
     "NetBIOS name of the domain (default: from the server)", NULL},
    {"tls-verify", 0, FLAG(play.tls_verify), 0, GROUP_SERVER,
     "verify the server's TLS certificate", NULL},
    {"tls-ca", 0, "FILE", OPTIONS_INPUT, AT(tls_ca), 0, 0, 0, GROUP_SERVER,
     "verify it with the authorities in FILE (PEM)", NULL},

    {"user", 'U', "[DOMAIN\\]USER[%PASSWORD]", CUSTOM(0, 0), SETTINGS_CREDENTIALS |
     SETTINGS_HOLDS_SECRET, GROUP_CREDENTIALS,
     "administrator who creates the test accounts; a missing\npassword is read from the terminal",
     parse_user},
    {"authentication-file", 'A', "FILE", OPTIONS_TEXT, AT(authentication_file), 0, 0,
     SETTINGS_CREDENTIALS, GROUP_CREDENTIALS,
     "read username, password and domain from FILE", NULL},
    {"kerberos", 'k', FLAG(admin_kerberos), SETTINGS_CREDENTIALS, GROUP_CREDENTIALS,
     "use the tickets of kinit(1)", NULL},

    {"instance-id", 'I', "N", OPTIONS_INT, AT(instance_id), 0, INSTANCE_MAX, 0, GROUP_ACCOUNTS,
     "number of this set of accounts; several can exist at the same\ntime (default 0)", NULL},
    {"fixed-password", 'F', "PASSWORD", OPTIONS_SECRET, AT(fixed_password), 0, 0,
     SETTINGS_HOLDS_SECRET, GROUP_ACCOUNTS,
     "password of the test accounts (default: random, stored)", NULL},
    {"number-of-users", 'n', "N", OPTIONS_WHOLE, AT(number_of_users), 1, USERS_MAX, 0,
     GROUP_ACCOUNTS,
     "create N users (default: one per client)", NULL},
    {"number-of-groups", 0, "N", OPTIONS_WHOLE, AT(number_of_groups), 0, GROUPS_MAX, 0,
     GROUP_ACCOUNTS,
     "create N groups (default: a tenth of the users)", NULL},
    {"average-groups-per-user", 0, "N", OPTIONS_NUMBER, AT(average_groups_per_user), 0, GROUPS_MAX,
     OPTIONS_ABOVE, GROUP_ACCOUNTS,
     "mean number of memberships per user (default 5)", NULL},
    {"group-memberships", 0, "N", OPTIONS_WHOLE, AT(group_memberships), 0, 1e9, 0, GROUP_ACCOUNTS,
     "total number of memberships", NULL},
    {"max-members", 0, "N", OPTIONS_WHOLE, AT(max_members), 1, 1e9, 0, GROUP_ACCOUNTS,
     "maximum number of members per group", NULL},
    {"generate-users-only", 'G', FLAG(generate_users_only), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "create users, groups and filler machine accounts; play nothing", NULL},
    {"make-accounts", 0, FLAG(make_accounts), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "create the accounts that this run needs; play nothing", NULL},
    {"clean-up", 'c', FLAG(clean_up), OPTIONS_COMMAND_LINE, GROUP_ACCOUNTS,
     "remove all accounts of this instance; play nothing", NULL},
    {"accounts", 0, "FILE", OPTIONS_INPUT, AT(accounts_file), 0, 0, 0, GROUP_ACCOUNTS,
     "use the accounts in FILE (name or DN, password); create none", NULL},
    {"yes", 0, FLAG(yes), 0, GROUP_ACCOUNTS,
     "do not ask before creating the first accounts in a domain", NULL},

    {"json", 0, "FILE", CUSTOM(0, 0), SETTINGS_MAY_BE_LAST, GROUP_OUTPUT,
     "write the result as JSON to FILE (- is standard output)", settings_table_parse_json},
    {"timing-data", 't', "FILE", OPTIONS_OUTPUT, AT(timing_data), 0, 0, 0, GROUP_OUTPUT,
     "write one line per operation to FILE (- is standard output)", NULL},
    {"hdr-log", 0, "FILE", OPTIONS_OUTPUT, AT(hdr_log), 0, 0, 0, GROUP_OUTPUT,
     "write the response times by packet to FILE as an HdrHistogram\nlog", NULL},
    {"seconds-csv", 0, "FILE", OPTIONS_OUTPUT, AT(seconds), 0, 0, 0, GROUP_OUTPUT,
     "write the seconds of the window to FILE as CSV", NULL},
    {"label", 0, "NAME=VALUE", CUSTOM(0, 0), SETTINGS_LIST, GROUP_OUTPUT,
     "add a label to the JSON result; can be given several times", settings_table_parse_label},
    {"log-failures", 0, "N", OPTIONS_WHOLE, AT(log_failures), 0, 1e9, 0, GROUP_OUTPUT,
     "print the first N failures on standard error (default 0)", NULL},
    {"dry-run", 0, FLAG(dry_run), OPTIONS_COMMAND_LINE, GROUP_OUTPUT,
     "print what would be sent, without contacting a server, and\nexit; --json needs no FILE then",
     NULL},
    {"traffic-summary", 0, "FILE", OPTIONS_OUTPUT, AT(traffic_summary), 0, 0, OPTIONS_COMMAND_LINE,
     GROUP_OUTPUT,
     "write each packet of the plan as a traffic-summary text, and\nexit", NULL},

    {"config", 0, "FILE", OPTIONS_INPUT, AT(config), 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "read FILE instead of $XDG_CONFIG_HOME/traffic-replay.yaml", NULL},
    {"verbose", 'v', NULL, OPTIONS_COUNTER, AT(verbose), 0, 0, 0, GROUP_OTHER,
     "print details of the server and of each step before the run;\n-vv: also of each SMB2 and RPC call",
     NULL},
    {"list-packets", 0, NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print the packets that can be played", NULL},
    OPTIONS_COMPLETION_ROW(GROUP_OTHER),
    OPTIONS_HELP_ROW(GROUP_OTHER),
    OPTIONS_VERSION_ROW(GROUP_OTHER),
};

/* clang-format on */
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX, "raise OPTIONS_ROWS_MAX");

/* Options of Samba's script for traffic replay. */
static const struct options_hint hints[] = {
    {"s", "this program reads no smb.conf"},
    {"configfile", "this program reads no smb.conf"},
    {"option", "this program reads no smb.conf"},
    {"d", "use -v or -vv for more messages"},
    {"debuglevel", "use -v or -vv for more messages"},
    {"debug-level", "use -v or -vv for more messages"},
    {"P", "machine accounts are created as they are needed; give -U USER%PASSWORD or -k"},
    {"machine-pass",
     "machine accounts are created as they are needed; give -U USER%PASSWORD or -k"},
    {"N", "give -U USER%PASSWORD, -A FILE or -k"},
    {"no-pass", "give -U USER%PASSWORD, -A FILE or -k"},
    {"password", "give -U USER%PASSWORD, or -A FILE, which other users cannot see"},
    {"ipaddress", "give the server as NAME=ADDRESS"},
    {"dns-hostname", "the server reports its name; give it as NAME=ADDRESS"},
    {"use-kerberos", "use -k for the administrator and -K for the clients"},
    {"old-scale", "use -T for packets per second"},
    {"preserve-tempdir", "there are no temporary files to keep"},
    {NULL, NULL}};

static const struct options_words words[] = {
    {"only", "$(\"$program\" --list-packets | cut -f 1)", true},
    {"skip", "$(\"$program\" --list-packets | cut -f 1)", true},
    {NULL, NULL, false}};

const struct options_table settings_table = {
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .groups = group_titles,
    .group_count = GROUP_COUNT,
    .help_column = 34,
    .hints = hints,
    .print_help = settings_help,
    .completion = {.words = words, .models = MODEL_SUFFIXES, .server = true}};

static const char *parse_seed(void *owner, char *value)
{
    struct settings *settings = owner;
    const char *wrong = options_parse_seed(value, &settings->random_seed);
    settings->random_seed_given = !wrong;
    return wrong;
}

static const char *parse_source(void *owner, char *value)
{
    struct settings *settings = owner;
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    char *slash = strchr(value, '/');
    size_t length = slash ? (size_t)(slash - value) : 0;
    if (!slash || length >= sizeof text)
        return options_wrong("\"%s\" is not ADDRESS/BITS, for example 10.1.0.0/16", value);
    memcpy(text, value, length);
    text[length] = '\0';
    bool v4 = inet_pton(AF_INET, text, &address) == 1;
    if (!v4 && inet_pton(AF_INET6, text, &address) != 1)
        return options_wrong("\"%s\" is not ADDRESS/BITS, for example 10.1.0.0/16", value);
    char *end;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (!isdigit((unsigned char)slash[1]) || *end || bits > (v4 ? 32 : 128))
        return options_wrong("\"%s\" has no valid prefix length; expected 0 to %d", value,
                             v4 ? 32 : 128);
    settings->source = value;
    return NULL;
}

static const char *parse_only(void *owner, char *value)
{
    struct settings *settings = owner;
    return parse_packets(&settings->only, &settings->only_count, value);
}

/* Parses PROTOCOL[:OPCODE],...; cuts value in place. */
static const char *parse_packets(struct settings_packet **packets, size_t *count, char *value)
{
    for (char *rest = value, *word; (word = strsep(&rest, ","));) {
        char *colon = strchr(word, ':');
        if (!*word || colon == word)
            return options_wrong(
                "expected PROTOCOL or PROTOCOL:OPCODE, for example ldap or ldap:3");
        struct settings_packet *grown = array_grow(*packets, *count, sizeof **packets);
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
    settings->play.file_server = strcmp(value, "smb") == 0;
    settings->play.generic_ldap = settings->play.file_server || strcmp(value, "ldap") == 0;
    return settings->play.generic_ldap || strcmp(value, "dc") == 0
               ? NULL
               : options_wrong("\"%s\" is none of dc, ldap and smb", value);
}

/* One name: the run creates the folder, and removes it with all that is in it. */
static const char *parse_folder(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->smb_folder = value;
    if (!*value || strlen(value) > 200 || strcmp(value, ".") == 0 || strcmp(value, "..") == 0 ||
        strpbrk(value, "\\/:*?\"<>|"))
        return options_wrong("\"%s\" is not the name of a folder", value);
    return NULL;
}

static const char *parse_dialect(void *owner, char *value)
{
    static const struct {
        const char *name;
        uint16_t dialect;
    } versions[] = {
        {"2.0.2", 0x0202}, {"2.1", 0x0210}, {"3.0", 0x0300}, {"3.0.2", 0x0302}, {"3.1.1", 0x0311}};
    struct settings *settings = owner;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(value, versions[i].name) == 0) {
            settings->play.smb_dialect = versions[i].dialect;
            return NULL;
        }
    return options_wrong("\"%s\" is none of 2.0.2, 2.1, 3.0, 3.0.2 and 3.1.1", value);
}

static const char *parse_signing(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->play.smb_sign = strcmp(value, "required") == 0;
    return settings->play.smb_sign || strcmp(value, "server") == 0
               ? NULL
               : options_wrong("\"%s\" is neither server nor required", value);
}

static const char *parse_pace(void *owner, char *value)
{
    struct settings *settings = owner;
    char *end;
    settings->pace_reply = strcmp(value, "reply") == 0;
    settings->pace = settings->pace_reply ? 0 : strtod(value, &end);
    if (settings->pace_reply ||
        (isdigit((unsigned char)*value) && !*end && settings->pace > 0 && settings->pace <= 1e6))
        return NULL;
    return options_wrong("\"%s\" is neither reply nor a number of MB/s above 0", value);
}

static const char *parse_user(void *owner, char *value)
{
    struct settings *settings = owner;
    free(settings->admin.name);
    secret_free(settings->admin.password);
    settings->admin = (struct account){0};
    if (credentials_take(value, &settings->admin.name, &settings->admin.password) != 0)
        return options_wrong("out of memory");
    return settings->admin.name[0] ? NULL : options_wrong("missing name before the %%");
}

/* take_back_model() can turn the value into the model, so check_files() checks the file later. */
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
            return options_wrong("\"%s\" is given twice", value);
    struct settings_pair *grown =
        array_grow(settings->labels, settings->label_count, sizeof *settings->labels);
    if (!grown)
        return options_wrong("out of memory");
    settings->labels = grown;
    grown[settings->label_count++] = (struct settings_pair){.name = value, .value = equals + 1};
    return NULL;
}
