/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One invocation of traffic-replay. It is a sequence of steps, which the session_*.c files
 * implement in the order in which a run takes them: session_plan.c, session_server.c, session.c,
 * session_report.c. A step that returns STEP_DONE has reported why, and has stored the exit status
 * in session->status.
 */
#ifndef REPLAY_SESSION_SESSION_PRIVATE_H
#define REPLAY_SESSION_SESSION_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/step.h"
#include "model/model.h"
#include "model/plan.h"
#include "protocols/dc.h"
#include "replay/accounts/accounts.h"
#include "replay/run.h"
#include "replay/session/report.h"
#include "replay/tally.h"
#include "replay/timing.h"

struct session {
    struct settings *settings;
    struct model *model;
    struct plan *plan;
    struct play_table *table;
    struct dc *dc;
    struct nbench *nbench; /* of a loadfile */
    char folder[256];      /* of the share, for a loadfile */
    bool folder_created;
    bool kerberos; /* kerberos_global_end() must be called */
    struct accounts_wanted accounts;
    struct tally_type *types;
    unsigned workers;
    struct tally **tallies;
    struct timing *timing;
    struct failure_log *failures;
    struct run_result run;
    uint64_t timing_lost;
    bool timing_failed;
    struct report_skipped *skipped;
    size_t skipped_count;
    struct error error;
    int status; /* the exit status, once a step has returned STEP_DONE */
};

/* Prints a message and ends the session with this exit status. */
enum step session_end(struct session *session, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints session->error and ends the session: with EXIT_USAGE when code is -EINVAL (the user's
 * input is wrong), otherwise with EXIT_FAILED. */
enum step session_end_error(struct session *session, int code);
enum step session_no_memory(struct session *session);

/* session_plan.c: model and plan; no network. */
enum step session_load_model(struct session *session);
enum step session_make_plan(struct session *session);
enum step session_check_play(struct session *session);
enum step session_show_plan(struct session *session);
enum step session_write_recording(struct session *session);
/* Prints what will be played and which packets are skipped. */
void session_report_plan(const struct session *session);
/* Whether this run sends any packet of the protocol. */
bool session_plays(const struct session *session, const char *protocol);

/* session_server.c: the domain controller and the accounts. */
enum step session_find_dc(struct session *session);
enum step session_remove_accounts(struct session *session);
enum step session_want_accounts(struct session *session);
enum step session_get_accounts(struct session *session);
enum step session_prepare_dns(struct session *session);
enum step session_learn_sid(struct session *session);
enum step session_derive_keys(struct session *session);
enum step session_read_catalogue(struct session *session);
enum step session_check_certificate(struct session *session);
/* Whether binds of this run use TLS. */
bool session_uses_tls(const struct session *session);
enum step session_survey_files(struct session *session);
enum step session_check_share(struct session *session);
/* Prints how to remove the test accounts. */
void session_report_remaining(const struct session *session);

/* session_files.c: the folder in which a loadfile is played. */
enum step session_create_folder(struct session *session);
void session_remove_folder(struct session *session);
/* -c with --server smb: removes the folder of a run that was killed. */
enum step session_clean_share(struct session *session);

/* session_report.c: after the run. */
enum step session_merge_tallies(struct session *session);
enum step session_report(struct session *session);

#endif
