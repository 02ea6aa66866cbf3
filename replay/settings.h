/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a run. The command line overrides the environment, which overrides
 * $XDG_CONFIG_HOME/traffic-replay.yaml.
 */
#ifndef REPLAY_SETTINGS_H
#define REPLAY_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/program.h" /* exit statuses */
#include "base/step.h"
#include "protocols/dc.h"

struct settings_pair {
    const char *name;
    const char *value;
};

/* PROTOCOL[:OPCODE], an argument of --only or --skip. */
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
    bool duration_given, warmup_given;             /* false: a recording has other defaults */
    double conversation_persistence;
    uint64_t random_seed;
    bool random_seed_given;
    double dns_rate; /* extra DNS queries/s */
    const char *dns_query_file;

    /* Engine */
    unsigned threads;       /* 0: one per core */
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
    const char *authentication_file; /* -A; already read into the members below */
    struct account admin;            /* name and password */
    /* The administrator's domain or realm, as in DOMAIN\name or name@REALM; NULL: not given. The
     * test accounts can be in another one. */
    const char *admin_domain, *admin_realm;
    bool admin_kerberos; /* -k */
    const char *workgroup, *realm;
    char *fixed_password;      /* NULL: the random one of password_store */
    int instance_id;           /* -I */
    const char *accounts_file; /* --accounts */
    bool yes;

    /* Accounts */
    bool clean_up, generate_users_only, make_accounts;

    /* Loadfiles */
    bool pace_reply;        /* --pace reply */
    double pace;            /* --pace MB/S, per client; 0: by replies or the file's times */
    uint64_t passes;        /* --passes; 0: until the window ends */
    const char *smb_folder; /* NULL: traffic-replay-<instance> */
    bool keep_files;
    uint64_t number_of_users; /* -n; 0: as many as the plan needs */
    uint64_t number_of_groups, group_memberships, max_members;
    double average_groups_per_user;
    bool number_of_groups_given, group_memberships_given; /* 0 can be given, too */

    /* What comes out */
    /* File names; "-" is standard output */
    const char *timing_data, *json, *traffic_summary, *hdr_log, *seconds;

    bool json_wanted; /* --dry-run --json needs no file name */
    struct settings_pair *labels;
    size_t label_count;
    uint64_t log_failures;
    bool stop_on_any_error;
    bool dry_run;
    int verbose;

    const char *config; /* --config: read this file instead of the user's */

    char *command_line; /* as given, secrets overwritten */

    struct settings_sources *sources; /* private; owns the strings above */
};

/*
 * Reads and checks all sources. Secrets in argv and in the environment are overwritten.
 * STEP_NEXT: the run can begin. STEP_DONE: *status is the exit status, EXIT_OK after --help or
 * --version, EXIT_USAGE after a usage error, which is reported in one line. The caller calls
 * settings_clear() in any case.
 */
enum step settings_read(struct settings *settings, int argc, char **argv, int *status);
/* Frees all members; overwrites passwords. */
void settings_clear(struct settings *settings);

/* Whether --only and --skip let this packet be played. */
bool settings_plays(const struct settings *settings, const char *protocol, const char *opcode);

/* Whether the command line contains the option of this long name. */
bool settings_given(const struct settings *settings, const char *name);

/* The number of arguments that are no options, without argv[0]. argv is not reordered; errors are
 * ignored. */
int settings_count_arguments(int argc, char *const *argv);

/* Whether there is an option of this long name without an argument. */
bool settings_is_flag(const char *name);

/* Checks one option of a configuration file. Returns NULL or what is wrong. */
const char *settings_try(const char *name, const char *value);

/* Prints --help. */
void settings_help(FILE *out);

#endif
