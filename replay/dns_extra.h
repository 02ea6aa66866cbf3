/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extra DNS queries of --dns-rate. They are not part of the plan: they start at random times (a
 * Poisson process, so a slow server does not slow them down), from the start of the run to the end
 * of the window. Each worker sends its share.
 */
#ifndef REPLAY_DNS_EXTRA_H
#define REPLAY_DNS_EXTRA_H

struct dns_extra;
struct worker;

/* *out is NULL without --dns-rate. 0 or -ENOMEM. All other functions allow NULL. */
int dns_extra_new(struct worker *worker, struct dns_extra **out);
/* Starts the queries. Call after the plan's clock has started. */
void dns_extra_start(struct dns_extra *extra);
/* Starts no more queries: the window is closed. */
void dns_extra_stop(struct dns_extra *extra);
/* Call after the loop has ended. */
void dns_extra_free(struct dns_extra *extra);

#endif
