/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extra DNS queries of --dns-rate: beside the plan, at random times (a Poisson process, so that
 * a slow server does not slow them down), from the run's start to the window's end. Each worker
 * fires its share.
 */
#ifndef REPLAY_DNS_EXTRA_H
#define REPLAY_DNS_EXTRA_H

struct dns_extra;
struct worker;

/* *out is NULL when no extra queries are wanted. 0 or a negative errno. */
int dns_extra_new(struct worker *worker, struct dns_extra **out);
/* The clock runs. */
void dns_extra_start(struct dns_extra *extra);
/* The window is closed: no more queries. */
void dns_extra_stop(struct dns_extra *extra);
/* When the loop has ended. All of these allow NULL. */
void dns_extra_free(struct dns_extra *extra);

#endif
