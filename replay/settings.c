/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings. The command line, the environment and the configuration file each give assignments of
 * text to the table's rows; these are applied from the weakest source to the strongest, then what
 * contradicts is told. The first mistake ends it with one line on standard error.
 */
#include "replay/settings.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocols/utf16.h"
#include "replay/config_file.h"
#include "replay/credentials.h"
#include "replay/message.h"
#include "replay/options.h"
#include "replay/packet_list.h"

/* Properties of rows beside those of every table. */
enum {
    ROW_LIST = OPTIONS_OWN, /* may be given several times */
    ROW_HOLDS_SECRET =
        OPTIONS_OWN * 2,               /* so a world-readable configuration file must not have it */
    ROW_MAY_BE_LAST = OPTIONS_OWN * 4, /* as the last word it stands for "-" */
};

enum row_group {
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

/* Where an assignment came from, from the weakest to the strongest. */
enum source { SOURCE_NONE, SOURCE_CONFIG, SOURCE_ENVIRONMENT, SOURCE_COMMAND_LINE };

struct assignment {
    const struct options_row *row;
    char *value; /* NULL: a flag */
    char *given; /* the same, never cut to pieces; NULL for what may be secret, too */
    enum source source;
    char *origin; /* "--replay-rate", "file:3:14: replay-rate": for messages */
};

struct settings_memory {
    struct assignment *assignments;
    size_t count;
    enum source *source_of_row; /* the strongest that set it */
    int first_word;             /* in argv, of those without a dash */
    char *authentication_file;
    char *environment_password; /* for the user of the environment, or any when it names none */
    char *environment_user;
    char *admin_domain, *admin_realm;
};

static const char *parse_user(void *owner, char *value);
static const char *parse_authentication_file(void *owner, char *value);
static const char *parse_only(void *owner, char *value);
static const char *parse_skip(void *owner, char *value);
static const char *parse_label(void *owner, char *value);
static const char *parse_source(void *owner, char *value);
static const char *parse_server(void *owner, char *value);
static const char *parse_transport(void *owner, char *value);
static const char *parse_json(void *owner, char *value);
static const char *parse_seed(void *owner, char *value);

#define AT(member)       offsetof(struct settings, member)
#define FLAG(member)     NULL, OPTIONS_FLAG, AT(member), 0, 0
#define CUSTOM(min, max) OPTIONS_CUSTOM, 0, min, max

enum { USERS_MAX = 10000000, GROUPS_MAX = 1000000, INSTANCE_MAX = 99999 };
enum { SECONDS_MAX = 10000000, WAIT_MAX = 3600 };

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

    {"only", 0, "PACKETS", CUSTOM(0, 0), ROW_LIST, GROUP_PACKETS,
     "play these alone: PROTOCOL or PROTOCOL:OPCODE, several with commas", parse_only},
    {"skip", 0, "PACKETS", CUSTOM(0, 0), ROW_LIST, GROUP_PACKETS,
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

    {"user", 'U', "[DOMAIN\\]USER[%PASSWORD]", CUSTOM(0, 0), ROW_HOLDS_SECRET, GROUP_CREDENTIALS,
     "who makes the test accounts; without a password the terminal is asked", parse_user},
    {"authentication-file", 'A', "FILE", CUSTOM(0, 0), 0, GROUP_CREDENTIALS,
     "read username, password and domain from FILE", parse_authentication_file},
    {"kerberos", 'k', FLAG(admin_kerberos), 0, GROUP_CREDENTIALS,
     "use the tickets of kinit(1)", NULL},

    {"instance-id", 'I', "N", OPTIONS_INT, AT(instance_id), 0, INSTANCE_MAX, 0, GROUP_ACCOUNTS,
     "number of this set of accounts, so that several can be used at a time (default 0)", NULL},
    {"fixed-password", 'F', "PASSWORD", OPTIONS_SECRET, AT(fixed_password), 0, 0, ROW_HOLDS_SECRET,
     GROUP_ACCOUNTS, "password of the test accounts (default: a random one, kept)", NULL},
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

    {"json", 0, "FILE", CUSTOM(0, 0), ROW_MAY_BE_LAST, GROUP_OUTPUT,
     "write the result to FILE as JSON (- is standard output)", parse_json},
    {"timing-data", 't', "FILE", OPTIONS_OUTPUT, AT(timing_data), 0, 0, 0, GROUP_OUTPUT,
     "write a line for each operation to FILE (- is standard output)", NULL},
    {"label", 0, "NAME=VALUE", CUSTOM(0, 0), ROW_LIST, GROUP_OUTPUT,
     "put a label into the JSON result; may be given several times", parse_label},
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
    {"help", 'h', NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print this", NULL},
    {"version", 'V', NULL, OPTIONS_CUSTOM, 0, 0, 0, OPTIONS_COMMAND_LINE, GROUP_OTHER,
     "print the version", NULL},
};
/* clang-format on */

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_ROWS_MAX,
               "a reading has no room for so many rows");

static const struct options_table table = {.rows = rows,
                                           .count = ROW_COUNT,
                                           .groups = group_titles,
                                           .group_count = GROUP_COUNT,
                                           .help_column = 34};

/* Pairs that contradict each other, when given by the same source. */
static const struct {
    const char *one, *other, *mend;
} conflicts[] = {
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
};

static enum source source_of(const struct settings *settings, const char *name)
{
    return settings->memory->source_of_row[options_find(&table, name) - rows];
}

/* --- Rows with a form of their own --------------------------------------------------------- */

static const char *parse_user(void *owner, char *value)
{
    struct settings *settings = owner;
    free(settings->admin.name);
    credentials_free_secret(settings->admin.password);
    settings->admin = (struct account){0};
    if (credentials_take(value, &settings->admin.name, &settings->admin.password) != 0)
        return options_wrong("out of memory");
    return settings->admin.name[0] ? NULL : options_wrong("there is no name before the %%");
}

static const char *parse_authentication_file(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->memory->authentication_file = value;
    return *value ? NULL : options_wrong("it is empty");
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

static const char *parse_only(void *owner, char *value)
{
    struct settings *settings = owner;
    return parse_packets(&settings->only, &settings->only_count, value);
}

static const char *parse_skip(void *owner, char *value)
{
    struct settings *settings = owner;
    return parse_packets(&settings->skip, &settings->skip_count, value);
}

static const char *parse_label(void *owner, char *value)
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

static const char *parse_server(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->play.generic_ldap = strcmp(value, "ldap") == 0;
    return settings->play.generic_ldap || strcmp(value, "dc") == 0
               ? NULL
               : options_wrong("\"%s\" is neither dc nor ldap", value);
}

static const char *parse_transport(void *owner, char *value)
{
    struct settings *settings = owner;
    bool udp = strcmp(value, "udp") == 0;
    settings->play.kdc = udp ? KDC_UDP : KDC_TCP;
    return udp || strcmp(value, "tcp") == 0 ? NULL
                                            : options_wrong("\"%s\" is neither tcp nor udp", value);
}

/* Whether the file can be written is checked when it is known to be one: see take_back_model(). */
static const char *parse_json(void *owner, char *value)
{
    struct settings *settings = owner;
    settings->json = value;
    settings->json_wanted = true;
    return *value ? NULL : options_wrong("it is empty");
}

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

/* --- Assignments --------------------------------------------------------------------------- */

static int assign(struct settings *settings, const struct options_row *row, const char *value,
                  enum source source, char *origin)
{
    struct settings_memory *memory = settings->memory;
    struct assignment assignment = {.row = row, .source = source, .origin = origin};
    struct assignment *grown =
        reallocarray(memory->assignments, memory->count + 1, sizeof *memory->assignments);
    bool open = value && row->kind != OPTIONS_SECRET && !(row->properties & ROW_HOLDS_SECRET);
    if (grown)
        memory->assignments = grown;
    if (!grown || !origin || (value && !(assignment.value = strdup(value))) ||
        (open && !(assignment.given = strdup(value)))) {
        credentials_free_secret(assignment.value);
        free(origin);
        return options_out_of_memory();
    }
    memory->assignments[memory->count++] = assignment;
    return -1;
}

/* One source's assignments in order; a list replaces the whole list of a weaker source. */
static int apply_source(struct settings *settings, enum source source)
{
    struct settings_memory *memory = settings->memory;
    for (size_t i = 0; i < memory->count; i++) {
        const struct assignment *assignment = &memory->assignments[i];
        enum source *strongest = &memory->source_of_row[assignment->row - rows];
        if (assignment->source != source ||
            ((assignment->row->properties & ROW_LIST) && *strongest > source))
            continue;
        const char *error = options_apply(assignment->row, settings, assignment->value);
        if (error)
            return options_complain("%s: %s", assignment->origin, error);
        *strongest = source;
    }
    return -1;
}

/* A list given by a stronger source is known before the weaker one is applied. */
static void note_lists(struct settings_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct assignment *assignment = &memory->assignments[i];
        enum source *strongest = &memory->source_of_row[assignment->row - rows];
        if ((assignment->row->properties & ROW_LIST) && assignment->source > *strongest)
            *strongest = assignment->source;
    }
}

static int apply_all(struct settings *settings)
{
    note_lists(settings->memory);
    int status = -1;
    for (int source = SOURCE_CONFIG; status < 0 && source <= SOURCE_COMMAND_LINE; source++)
        status = apply_source(settings, (enum source)source);
    return status;
}

/* --- The command line ---------------------------------------------------------------------- */

static char *row_origin(const struct options_row *row, bool by_letter)
{
    char *origin;
    int size =
        by_letter ? asprintf(&origin, "-%c", row->letter) : asprintf(&origin, "--%s", row->name);
    return size < 0 ? NULL : origin;
}

static int complain_unknown(const struct options_given *given)
{
    char name[32];
    if (given->letter)
        return options_complain("-%c: there is no such option; see --help", given->letter);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given->word + 2, "="), given->word + 2);
    if (options_is_ambiguous(&table, name))
        return options_complain("--%s: this could mean several options; write more of it", name);
    const char *nearest = options_nearest(&table, name);
    if (nearest)
        return options_complain("--%s: there is no such option; did you mean --%s?", name, nearest);
    return options_complain("--%s: there is no such option; see --help", name);
}

static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    options_complain("cannot write standard output: %s", strerror(errno));
    return EXIT_FAILED;
}

static int take_option(struct settings *settings, const struct options_given *given)
{
    const struct options_row *row = given->row;
    const char *name = row->name;
    if (strcmp(name, "help") == 0) {
        settings_help(stdout);
        return finish_output();
    }
    if (strcmp(name, "list-packets") == 0) {
        packet_list_print(stdout);
        return finish_output();
    }
    if (strcmp(name, "version") == 0) {
        printf("traffic-replay %s\n", TRAFFIC_VERSION);
        return finish_output();
    }
    int status =
        assign(settings, row, given->value, SOURCE_COMMAND_LINE, row_origin(row, given->by_letter));
    if (!(row->properties & ROW_HOLDS_SECRET))
        return status;
    char *secret = row->kind == OPTIONS_SECRET ? given->value : strchr(given->value, '%');
    if (secret)
        credentials_wipe(secret + (*secret == '%' && row->kind != OPTIONS_SECRET));
    return status;
}

/* A word between quotes; one that would control a terminal, or is not UTF-8 as JSON must be, in
 * bash's form with backslashes. */
static void quote_word(const char *word, FILE *out)
{
    size_t size;
    bool text = utf16le_size(word, &size) == 0;
    for (const char *c = word; *c; c++)
        text = text && !iscntrl((unsigned char)*c);
    if (text) {
        fputc('\'', out);
        for (const char *c = word; *c; c++)
            *c == '\'' ? fputs("'\\''", out) : fputc(*c, out);
    } else {
        fputs("$'", out);
        for (const unsigned char *c = (const unsigned char *)word; *c; c++)
            *c < ' ' || *c >= 0x7f || *c == '\'' || *c == '\\' ? fprintf(out, "\\%03o", *c)
                                                               : fputc(*c, out);
    }
    fputc('\'', out);
}

/* The command line as text that a shell would read back, after the secrets are gone from it. */
static char *quote_command_line(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < argc; i++) {
        bool plain = argv[i][0] && !argv[i][strspn(argv[i], "abcdefghijklmnopqrstuvwxyz"
                                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                            "0123456789-_=+.,:/@%*")];
        if (i > 0)
            fputc(' ', out);
        if (plain)
            fputs(argv[i], out);
        else
            quote_word(argv[i], out);
    }
    if (out && fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return out ? text : NULL;
}

static int take_options(struct settings *settings, int argc, char **argv)
{
    struct options_scan scan;
    struct options_given given;
    options_scan(&scan, &table, argc, argv);
    while (options_next(&scan, &given, &settings->memory->first_word)) {
        int status;
        if (given.fault == OPTIONS_UNKNOWN)
            status = complain_unknown(&given);
        else if (given.fault == OPTIONS_NO_VALUE && (given.row->properties & ROW_MAY_BE_LAST))
            status = assign(settings, given.row, "-", SOURCE_COMMAND_LINE,
                            row_origin(given.row, given.by_letter));
        else if (given.fault != OPTIONS_GOOD)
            status = options_complain_of(&given);
        else
            status = take_option(settings, &given);
        if (status >= 0)
            return status;
    }
    return -1;
}

static int read_command_line(struct settings *settings, int argc, char **argv)
{
    /* Reading moves the words about; the text shows them as they were given. */
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return options_out_of_memory();
    memcpy(words, argv, (size_t)argc * sizeof *words);
    int status = take_options(settings, argc, argv);
    if (status < 0 && !(settings->command_line = quote_command_line(argc, words)))
        status = options_out_of_memory();
    free(words);
    return status;
}

/* --- Environment and configuration file ---------------------------------------------------- */

/* The words stand in the process's first pages, where /proc shows them: copies are taken and what
 * is secret is overwritten there. */
static int read_environment(struct settings *settings)
{
    struct settings_memory *memory = settings->memory;
    char *user = getenv("TRAFFIC_REPLAY_USER"), *password = getenv("TRAFFIC_REPLAY_PASSWORD");
    int status = -1;
    if (user && *user)
        status = assign(settings, options_find(&table, "user"), user, SOURCE_ENVIRONMENT,
                        strdup("TRAFFIC_REPLAY_USER"));
    if (user && strchr(user, '%'))
        credentials_wipe(strchr(user, '%') + 1);
    if (user && *user && !(memory->environment_user = strndup(user, strcspn(user, "%"))))
        status = options_out_of_memory();
    if (password && *password && !(memory->environment_password = strdup(password)))
        status = options_out_of_memory();
    if (password)
        credentials_wipe(password);
    unsetenv("TRAFFIC_REPLAY_PASSWORD");
    return status;
}

static int take_entry(struct settings *settings, const char *path, const struct config_entry *entry,
                      bool world_readable)
{
    const struct options_row *row = options_find(&table, entry->key);
    const char *nearest = row ? NULL : options_nearest(&table, entry->key);
    char *origin = NULL;
    if (asprintf(&origin, "%s:%zu:%zu: %s", path, entry->line, entry->column, entry->key) < 0)
        return options_out_of_memory();
    int status = EXIT_USAGE;
    if (!row && nearest)
        options_complain("%s: there is no such option; did you mean %s?", origin, nearest);
    else if (!row)
        options_complain("%s: there is no such option; see --help", origin);
    else if (row->properties & OPTIONS_COMMAND_LINE)
        options_complain("%s: it belongs on the command line", origin);
    else if (entry->in_list && !(row->properties & ROW_LIST))
        options_complain("%s: expected one value, found a list", origin);
    else if (world_readable && (row->kind == OPTIONS_SECRET || strchr(entry->value, '%')) &&
             (row->properties & ROW_HOLDS_SECRET))
        options_complain("%s: everybody may read the file, and it holds a password; chmod o= it",
                         origin);
    else
        return assign(settings, row, entry->value, SOURCE_CONFIG, origin);
    free(origin);
    return status;
}

/* --config's, or the user's own; malloc'd or NULL. A file that is asked for must be there. */
static int find_config(const struct settings *settings, char **path)
{
    const struct settings_memory *memory = settings->memory;
    const char *given = NULL;
    for (size_t i = 0; i < memory->count; i++)
        if (strcmp(memory->assignments[i].row->name, "config") == 0)
            given = memory->assignments[i].given;
    const char *error = given ? options_check_input(given) : NULL;
    if (error)
        return options_complain("--config: %s", error);
    *path = given ? strdup(given) : config_file_path();
    return given && !*path ? options_out_of_memory() : -1;
}

static int read_config(struct settings *settings)
{
    char *path = NULL;
    struct config_file file = {0};
    char error[512];
    int status = find_config(settings, &path);
    if (status >= 0 || !path)
        return status;
    if (config_file_read(path, &file, error, sizeof error) != 0)
        status = options_complain("%s", error);
    for (size_t i = 0; status < 0 && i < file.count; i++)
        status = take_entry(settings, path, &file.entries[i], file.world_readable);
    config_file_clear(&file);
    free(path);
    return status;
}

/* --- What stands without a dash ------------------------------------------------------------ */

/* `--dry-run --json MODEL`: the word was no file name of --json's. */
static void take_back_model(struct settings *settings)
{
    if (settings->model || !settings->json || strcmp(settings->json, "-") == 0)
        return;
    settings->model = settings->json;
    settings->json = "-";
}

static int take_positional(struct settings *settings, char **words, int count)
{
    bool account_work = settings->clean_up || settings->generate_users_only;
    bool offline = settings->dry_run || settings->traffic_summary;
    if (count > 2)
        return options_complain("\"%s\": there is nothing for this word to mean after MODEL and DC",
                                words[2]);
    if (account_work && count > 0) {
        settings->dc = words[count - 1];
        settings->model = count > 1 ? words[0] : NULL;
    } else if (count > 0) {
        settings->model = words[0];
        settings->dc = count > 1 ? words[1] : NULL;
    }
    if (settings->dry_run)
        take_back_model(settings);
    if (!settings->model && !account_work)
        return options_complain("there is no MODEL; give a model file%s, or see --help",
                                offline ? "" : " and a DC");
    if (!settings->dc && !offline)
        return options_complain("there is no DC; name one after %s",
                                account_work ? "the options" : "the model file");
    return -1;
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return one && other && strcmp(one, "-") != 0 && stat(one, &a) == 0 && stat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

static int check_files(const struct settings *settings)
{
    const char *model = settings->model;
    const char *error = NULL;
    if (model && strcmp(model, "-") != 0 && (error = options_check_input(model)))
        return options_complain("MODEL: %s", error);
    if (settings->json && (error = options_check_output(settings->json)))
        return options_complain("--json: %s", error);
    const struct {
        const char *name, *path;
    } outputs[] = {{"json", settings->json},
                   {"timing-data", settings->timing_data},
                   {"traffic-summary", settings->traffic_summary}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (same_file(outputs[i].path, model))
            return options_complain("--%s: \"%s\" is the model itself; give another file",
                                    outputs[i].name, outputs[i].path);
    if (settings->json && settings->timing_data &&
        (strcmp(settings->json, settings->timing_data) == 0 ||
         same_file(settings->json, settings->timing_data)))
        return options_complain("--json and --timing-data: both would write \"%s\"; give two files",
                                settings->json);
    return -1;
}

/* --- Who ----------------------------------------------------------------------------------- */

/* -A, unless a stronger source named somebody. */
static int read_authentication_file(struct settings *settings)
{
    const char *path = settings->memory->authentication_file;
    if (!path || settings->admin_kerberos ||
        source_of(settings, "user") > source_of(settings, "authentication-file"))
        return -1;
    struct credentials found = {0};
    bool world_readable = false;
    char error[512];
    int status = -1;
    if (credentials_read_file(path, &found, &world_readable, error, sizeof error) != 0) {
        status = options_complain("-A: %s", error);
    } else if (!found.name || !found.name[0]) {
        status = options_complain("-A: %s: it names nobody; add a line \"username = ...\"", path);
    } else {
        if (world_readable)
            options_complain("-A: %s: everybody may read it; chmod o= it", path);
        account_clear(&settings->admin);
        settings->admin.name = found.name;
        settings->admin.password = found.password;
        settings->memory->admin_domain = found.domain;
        found = (struct credentials){0};
    }
    credentials_clear(&found);
    return status;
}

static int split_admin(struct settings *settings)
{
    struct settings_memory *memory = settings->memory;
    char *domain = NULL;
    if (!settings->admin.name || settings->play.generic_ldap)
        return -1;
    if (credentials_split_name(&settings->admin.name, &domain, &memory->admin_realm) != 0)
        return options_out_of_memory();
    if (domain) {
        free(memory->admin_domain);
        memory->admin_domain = domain;
    }
    settings->admin_domain = memory->admin_domain;
    settings->admin_realm = memory->admin_realm;
    return settings->admin.name[0] ? -1 : options_complain("-U: there is no name after the domain");
}

static int ask_for(const char *what, const char *of, bool secret, char **answer)
{
    char question[256];
    snprintf(question, sizeof question, of ? "%s of %s: " : "%s: ", what, of);
    int error = credentials_prompt(question, secret, answer);
    if (error == -ENOTTY)
        return options_complain("no administrator's %s: give -U USER%%PASSWORD, -A FILE, -k, or "
                                "TRAFFIC_REPLAY_USER and _PASSWORD",
                                secret ? "password" : "name");
    return error ? options_complain("no %s was given", secret ? "password" : "name") : -1;
}

/* TRAFFIC_REPLAY_PASSWORD belongs to TRAFFIC_REPLAY_USER, or to whoever is named elsewhere when
 * that is not set. */
static int take_environment_password(struct settings *settings, const char *name)
{
    const struct settings_memory *memory = settings->memory;
    if (!name || settings->admin.password || !memory->environment_password ||
        (memory->environment_user && strcmp(memory->environment_user, name) != 0))
        return -1;
    settings->admin.password = strdup(memory->environment_password);
    return settings->admin.password ? -1 : options_out_of_memory();
}

/* Asks the terminal for what is still missing of the administrator. */
static int complete_admin(struct settings *settings)
{
    bool offline = settings->dry_run || settings->traffic_summary;
    if (offline || settings->admin_kerberos ||
        (settings->play.generic_ldap && !settings->admin.name))
        return -1;
    int status = -1;
    if (!settings->admin.name)
        status = ask_for("Administrator's name", NULL, false, &settings->admin.name);
    if (status < 0 && !settings->admin.password)
        status = ask_for("Password", settings->admin.name, true, &settings->admin.password);
    return status;
}

static int find_admin(struct settings *settings)
{
    enum source ccache = source_of(settings, "kerberos");
    if (settings->admin_kerberos && (ccache > source_of(settings, "user")))
        account_clear(&settings->admin);
    else if (settings->admin_kerberos)
        settings->admin_kerberos = false;
    int status = read_authentication_file(settings);
    if (status < 0)
        status = take_environment_password(settings, settings->admin.name);
    if (status < 0)
        status = split_admin(settings);
    if (status < 0)
        status = complete_admin(settings);
    return status;
}

/* --- What contradicts ---------------------------------------------------------------------- */

static int check_conflicts(const struct settings *settings)
{
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        enum source one = source_of(settings, conflicts[i].one);
        if (one != SOURCE_NONE && one == source_of(settings, conflicts[i].other))
            return options_complain("--%s and --%s exclude each other; %s", conflicts[i].one,
                                    conflicts[i].other, conflicts[i].mend);
    }
    return -1;
}

/* Of two that exclude each other, the stronger source's stays. */
static void settle_scale(struct settings *settings)
{
    if (source_of(settings, "scale-traffic") > source_of(settings, "packets-per-second"))
        settings->packets_per_second = 0;
    if (settings->packets_per_second > 0)
        settings->scale = 0;
    if (source_of(settings, "group-memberships") > source_of(settings, "average-groups-per-user"))
        settings->average_groups_per_user = 0;
}

static int check_server(const struct settings *settings)
{
    static const char *const dc_only[] = {"kerberos", "prefer-kerberos", "clean-up",
                                          "generate-users-only", "make-accounts"};
    bool offline = settings->dry_run || settings->traffic_summary;
    if (!settings->play.generic_ldap)
        return -1;
    for (size_t i = 0; i < sizeof dc_only / sizeof dc_only[0]; i++)
        if (source_of(settings, dc_only[i]) != SOURCE_NONE)
            return options_complain(
                "--%s: only a domain controller has it; leave out --server ldap", dc_only[i]);
    if (!settings->accounts_file && !offline)
        return options_complain(
            "--server ldap: no accounts can be made there; give --accounts FILE");
    return -1;
}

static int check_accounts(const struct settings *settings)
{
    if (settings->generate_users_only && settings->number_of_users == 0 &&
        !settings->number_of_groups_given)
        return options_complain("-G: how many? give -n USERS, --number-of-groups GROUPS, or both");
    if (settings->number_of_groups_given &&
        settings->average_groups_per_user > (double)settings->number_of_groups)
        return options_complain("--average-groups-per-user: %.12g is more than the %llu groups of "
                                "--number-of-groups",
                                settings->average_groups_per_user,
                                (unsigned long long)settings->number_of_groups);
    return -1;
}

static int check_all(struct settings *settings)
{
    static int (*const checks[])(const struct settings *) = {check_conflicts, check_server,
                                                             check_accounts, check_files};
    int status = -1;
    for (size_t i = 0; status < 0 && i < sizeof checks / sizeof checks[0]; i++)
        status = checks[i](settings);
    return status;
}

/* --- All of it ----------------------------------------------------------------------------- */

static void set_defaults(struct settings *settings)
{
    *settings = (struct settings){.replay_rate = 1,
                                  .scale = 1,
                                  .duration = 60,
                                  .warmup = 5,
                                  .timeout = 30,
                                  .latency_timeout = 1,
                                  .play = {.kdc_preauth_legs = 1, .kdc = KDC_TCP}};
}

/* 32 bits: short enough to be typed again. */
static int choose_seed(struct settings *settings)
{
    uint32_t seed;
    if (settings->random_seed_given)
        return -1;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        options_complain("--random-seed: the system gives no random number: %s", strerror(errno));
        return EXIT_FAILED;
    }
    settings->random_seed = seed;
    return -1;
}

static int read_sources(struct settings *settings, int argc, char **argv)
{
    int status = read_command_line(settings, argc, argv);
    if (status < 0)
        status = read_environment(settings);
    if (status < 0)
        status = read_config(settings);
    return status < 0 ? apply_all(settings) : status;
}

int settings_read(struct settings *settings, int argc, char **argv)
{
    set_defaults(settings);
    settings->memory = calloc(1, sizeof *settings->memory);
    if (!settings->memory || !(settings->memory->source_of_row =
                                   calloc(ROW_COUNT, sizeof *settings->memory->source_of_row)))
        return options_out_of_memory();
    int status = read_sources(settings, argc, argv);
    int first = settings->memory->first_word;
    if (status < 0)
        status = take_positional(settings, argv + first, argc - first);
    if (status >= 0)
        return status;
    settings->duration_given = source_of(settings, "duration") != SOURCE_NONE;
    settings->warmup_given = source_of(settings, "warmup") != SOURCE_NONE;
    settings->number_of_groups_given = source_of(settings, "number-of-groups") != SOURCE_NONE;
    settings->group_memberships_given = source_of(settings, "group-memberships") != SOURCE_NONE;
    settings->play.tls_verify = settings->play.tls_verify || settings->tls_ca;
    status = check_all(settings);
    if (status < 0)
        settle_scale(settings);
    if (status < 0)
        status = choose_seed(settings);
    return status < 0 ? find_admin(settings) : status;
}

static void free_memory(struct settings_memory *memory)
{
    for (size_t i = 0; memory && i < memory->count; i++) {
        credentials_free_secret(memory->assignments[i].value);
        free(memory->assignments[i].given);
        free(memory->assignments[i].origin);
    }
    if (memory) {
        free(memory->assignments);
        free(memory->source_of_row);
        free(memory->admin_domain);
        free(memory->admin_realm);
        free(memory->environment_user);
        credentials_free_secret(memory->environment_password);
    }
    free(memory);
}

void settings_clear(struct settings *settings)
{
    account_clear(&settings->admin);
    credentials_free_secret(settings->fixed_password);
    free(settings->only);
    free(settings->skip);
    free(settings->labels);
    free(settings->command_line);
    free_memory(settings->memory);
    *settings = (struct settings){0};
}

static bool matches(const struct settings_packet *packets, size_t count, const char *protocol,
                    const char *opcode)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(packets[i].protocol, protocol) == 0 &&
            (!packets[i].opcode || strcmp(packets[i].opcode, opcode) == 0))
            return true;
    return false;
}

bool settings_plays(const struct settings *settings, const char *protocol, const char *opcode)
{
    if (settings->only_count > 0 &&
        !matches(settings->only, settings->only_count, protocol, opcode))
        return false;
    return !matches(settings->skip, settings->skip_count, protocol, opcode);
}

/* --- For another traffic-replay ------------------------------------------------------------ */

struct words {
    char **items;
    size_t count;
    bool failed;
};

static void add_word(struct words *words, const char *name, const char *value)
{
    char **grown = reallocarray(words->items, words->count + 2, sizeof *grown);
    if (grown)
        words->items = grown;
    if (!grown || asprintf(&grown[words->count], "--%s%s%s", name, value ? "=" : "",
                           value ? value : "") < 0) {
        words->failed = true;
        return;
    }
    grown[++words->count] = NULL;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* All assignments of the row's strongest source: the last one of them, or every one of a list. */
static void add_row(struct words *words, const struct settings *settings,
                    const struct options_row *row)
{
    const struct settings_memory *memory = settings->memory;
    enum source source = memory->source_of_row[row - rows];
    bool every = (row->properties & ROW_LIST) || row->kind == OPTIONS_COUNTER;
    const struct assignment *last = NULL;
    if (row->kind == OPTIONS_FLAG) {
        if (*(const bool *)((const char *)settings + row->offset))
            add_word(words, row->name, NULL);
        return;
    }
    for (size_t i = 0; source != SOURCE_NONE && i < memory->count; i++) {
        const struct assignment *assignment = &memory->assignments[i];
        if (assignment->row != row || assignment->source != source)
            continue;
        last = assignment;
        if (every)
            add_word(words, row->name, row->argument ? assignment->given : NULL);
    }
    if (last && !every)
        add_word(words, row->name, last->given);
}

/* One that excludes it came from a stronger source. */
static bool is_overridden(const struct settings *settings, const struct options_row *row)
{
    enum source own = settings->memory->source_of_row[row - rows];
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++)
        if ((strcmp(row->name, conflicts[i].one) == 0 &&
             source_of(settings, conflicts[i].other) > own) ||
            (strcmp(row->name, conflicts[i].other) == 0 &&
             source_of(settings, conflicts[i].one) > own))
            return true;
    return false;
}

char **settings_words(const struct settings *settings, const char *const *except)
{
    struct words words = {.items = calloc(1, sizeof *words.items)};
    words.failed = !words.items;
    for (const struct options_row *row = rows; !words.failed && row < rows + ROW_COUNT; row++) {
        bool hidden = row->kind == OPTIONS_SECRET || row->group == GROUP_CREDENTIALS ||
                      (row->properties & ROW_HOLDS_SECRET) || strcmp(row->name, "config") == 0;
        if (is_among(row->name, except))
            continue;
        if (strcmp(row->name, "kerberos") == 0 && settings->admin_kerberos)
            add_word(&words, row->name, NULL);
        else if (!hidden && !is_overridden(settings, row))
            add_row(&words, settings, row);
    }
    if (!words.failed)
        return words.items;
    settings_free_words(words.items);
    return NULL;
}

void settings_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

/* A double-quoted scalar of YAML 1.2 (7.3.1), without the quotes. */
static void write_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}

int settings_write_secrets(const struct settings *settings, FILE *out)
{
    const struct account *admin = &settings->admin;
    if (admin->name && strpbrk(admin->name, settings->play.generic_ldap ? "%" : "%\\/@"))
        return -EINVAL;
    if (admin->name && !settings->admin_kerberos) {
        fputs("user: \"", out);
        if (settings->admin_domain) {
            write_quoted(out, settings->admin_domain);
            write_quoted(out, "\\");
        }
        write_quoted(out, admin->name);
        if (settings->admin_realm) {
            fputc('@', out);
            write_quoted(out, settings->admin_realm);
        }
        if (admin->password)
            fputc('%', out);
        write_quoted(out, admin->password ? admin->password : "");
        fputs("\"\n", out);
    }
    if (settings->fixed_password) {
        fputs("fixed-password: \"", out);
        write_quoted(out, settings->fixed_password);
        fputs("\"\n", out);
    }
    return fflush(out) == 0 && !ferror(out) ? 0 : -EIO;
}

bool settings_given(const struct settings *settings, const char *name)
{
    return source_of(settings, name) == SOURCE_COMMAND_LINE;
}

int settings_count_words(int argc, char *const *argv)
{
    struct options_scan scan;
    struct options_given given;
    int first = argc;
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        return 0;
    memcpy(words, argv, (size_t)argc * sizeof *words);
    options_scan(&scan, &table, argc, words);
    while (options_next(&scan, &given, &first))
        ;
    free(words);
    return argc - first;
}

bool settings_is_flag(const char *name)
{
    const struct options_row *row = options_find(&table, name);
    return row && !row->argument;
}

const char *settings_try(const char *name, const char *value)
{
    const struct options_row *row = options_find(&table, name);
    const char *nearest = row ? NULL : options_nearest(&table, name);
    struct settings scratch;
    if (!row && nearest)
        return options_wrong("there is no such option; did you mean %s?", nearest);
    if (!row)
        return options_wrong("there is no such option; see traffic-replay --help");
    if (row->properties & OPTIONS_COMMAND_LINE)
        return options_wrong("it belongs on the command line");
    set_defaults(&scratch);
    scratch.memory = calloc(1, sizeof *scratch.memory);
    char *copy = strdup(value);
    const char *error = scratch.memory && copy ? options_apply(row, &scratch, copy)
                                               : options_wrong("out of memory");
    settings_clear(&scratch);
    credentials_free_secret(copy);
    return error;
}

/* --- Help ---------------------------------------------------------------------------------- */

void settings_help(FILE *out)
{
    fputs("traffic-replay plays the traffic of many Active Directory clients against one domain\n"
          "controller and tells how much it can take.\n"
          "\n"
          "  traffic-replay [OPTION...] MODEL DC        play the model\n"
          "  traffic-replay --dry-run [OPTION...] MODEL tell what would be sent\n"
          "  traffic-replay -G -n USERS [OPTION...] DC  make accounts only\n"
          "  traffic-replay -c [OPTION...] DC           remove the accounts\n"
          "\n"
          "MODEL is a model file, or a recording to be played as it is: a traffic-summary text (- "
          "is\n"
          "standard input). DC is a name, an address or NAME=ADDRESS.\n",
          out);
    options_help(&table, out);
    fputs(
        "\n"
        "TRAFFIC_REPLAY_USER and TRAFFIC_REPLAY_PASSWORD stand for -U. Options may also be set by\n"
        "their long names in $XDG_CONFIG_HOME/traffic-replay.yaml. See traffic-replay(1).\n",
        out);
}
