/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a run: the command line over the environment over
 * $XDG_CONFIG_HOME/traffic-replay.yaml. Options are rows of one table, from which --help is printed
 * too.
 */
#ifndef REPLAY_SETTINGS_H
#define REPLAY_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/program.h" /* exit statuses */
#include "protocols/dc.h"

struct settings_pair {
    const char *name;
    const char *value;
};

/* A PROTOCOL[:OPCODE] of --only or --skip. */
struct settings_packet {
    const char *protocol;
    const char *opcode; /* NULL: all of the protocol */
};

struct settings {
    const char *model; /* NULL with -c and -G */
    const char *dc;    /* as given: name, address or NAME=ADDRESS; NULL with --dry-run */

    /* Scale and plan */
    double replay_rate, scale, packets_per_second; /* -r -S -T; scale 0 with -T */
    double duration, warmup;                       /* -D, --warmup, seconds */
    bool duration_given, warmup_given;             /* not: a recording has defaults of its own */
    double conversation_persistence;
    uint64_t random_seed;
    bool random_seed_given;
    double dns_rate; /* extra DNS queries/s */
    const char *dns_query_file;

    /* Engine */
    unsigned threads;       /* 0: one a core */
    double timeout;         /* seconds an operation may take */
    double latency_timeout; /* seconds to wait for answers after the window */
    double max_backlog;     /* seconds; 0: no limit */
    const char *source;     /* CIDR; NULL: the system's choice */

    /* Which packets, and how they are played */
    struct settings_packet *only, *skip;
    size_t only_count, skip_count;
    struct dc_options play;
    const char *tls_ca;

    /* Who */
    const char *authentication_file; /* -A; what it holds is below */
    struct account admin;            /* name and password */
    /* What stands with the administrator's name: DOMAIN/name, name@REALM; NULL: neither. It says
     * nothing of the test accounts. */
    const char *admin_domain, *admin_realm;
    bool admin_kerberos; /* -k */
    const char *workgroup, *realm;
    char *fixed_password;      /* NULL: the kept random one */
    int instance_id;           /* -I */
    const char *accounts_file; /* --accounts */
    bool yes;

    /* Accounts */
    bool clean_up, generate_users_only, make_accounts;
    uint64_t number_of_users; /* -n; 0: as many as the plan needs */
    uint64_t number_of_groups, group_memberships, max_members;
    double average_groups_per_user;
    bool number_of_groups_given, group_memberships_given; /* 0 is a wish, too */

    /* What comes out */
    const char *timing_data, *json, *traffic_summary; /* file names, "-" is standard output */
    bool json_wanted;                                 /* --json may stand alone with --dry-run */
    struct settings_pair *labels;
    size_t label_count;
    uint64_t log_failures;
    bool stop_on_any_error;
    bool dry_run;
    int verbose;

    const char *config; /* --config: this file instead of the user's own */

    char *command_line; /* as given, secrets left out */

    struct settings_memory *memory; /* private: what the strings above point into */
};

/*
 * Reads them all and checks them. Secrets are overwritten in argv and environment at once. Returns
 * -1 when the run may go on, else the exit status: 0 after --help or --version, 2 after a user's
 * mistake, which has been told on standard error in one line.
 */
int settings_read(struct settings *settings, int argc, char **argv);
/* Frees it all; passwords are overwritten. */
void settings_clear(struct settings *settings);

/* True when --only and --skip leave this packet in. */
bool settings_plays(const struct settings *settings, const char *protocol, const char *opcode);

/* Whether the command line gave the option of this long name. */
bool settings_given(const struct settings *settings, const char *name);

/* How many words without a dash there are, argv[0] not counted. Says nothing; words stay in place.
 */
int settings_count_words(int argc, char *const *argv);

/* Whether there is an option of this long name that takes no value. */
bool settings_is_flag(const char *name);

/* Checks one option as the configuration file names and sets it: NULL, or what is wrong with it. */
const char *settings_try(const char *name, const char *value);

/* What --help prints: all rows of the table by group. */
void settings_help(FILE *out);

#endif
