/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a full grid of results for traffic-summary, and parses them with jansson alone for
 * comparison.
 *
 * usage: bench_results make FOLDER    write 2,520 results: r 4 to 24, S 1 to 12, 10 runs each, with
 *                                     38 packet types and 9,000 operations
 *        bench_results parse FILE...  parse them and drop the values
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary/result/result.h"

enum { TYPES = 38, OPERATIONS = 9000, SECONDS = 60, RUNS = 10 };
enum { FIRST_R = 4, LAST_R = 24, FIRST_S = 1, LAST_S = 12 };

/* A time in ns with a log-normal distribution. */
static int64_t draw_time(double median)
{
    double first = drand48() + 1e-12, second = drand48();
    return (int64_t)(median * exp(sqrt(-2 * log(first)) * cos(2 * M_PI * second)));
}

static int fill_packet(struct result *result, struct result_packet *packet, unsigned number,
                       double median)
{
    static const char *const protocols[] = {"cldap",        "kerberos", "ldap",
                                            "rpc_netlogon", "samr",     "smb2"};
    char opcode[16];
    int filled = 0;
    snprintf(opcode, sizeof opcode, "%u", number);
    histogram_init(&packet->service);
    histogram_init(&packet->response);
    histogram_init(&packet->lag);
    packet->protocol = protocols[number * (sizeof protocols / sizeof protocols[0]) / TYPES];
    packet->opcode = result_text(result, opcode);
    packet->description = "a request";
    packet->count = packet->planned = OPERATIONS / TYPES;
    for (unsigned i = 0; filled == 0 && i < OPERATIONS / TYPES; i++) {
        int64_t service = draw_time(median), waited = draw_time(median / 2);
        if (histogram_add(&packet->service, service) < 0 ||
            histogram_add(&packet->response, service + waited) < 0)
            filled = -1;
        else
            filled = histogram_add(&packet->lag, draw_time(30000));
    }
    return packet->opcode ? filled : -1;
}

static void fill_seconds(struct result *result)
{
    for (uint64_t t = 0; t < SECONDS; t++) {
        uint64_t count = result->done_ok * (t + 1) / SECONDS - result->done_ok * t / SECONDS;
        result->seconds[t] = (struct result_second){t, count, count, 0, 0.02};
    }
}

static int write_result(const char *folder, unsigned r, unsigned S, unsigned run)
{
    struct result result;
    struct error error = {0};
    char path[512];
    int written = 0;
    result_init(&result);
    result.program = "traffic-replay";
    result.command = "traffic-replay office.yaml dc1";
    result.model = "office.yaml";
    result.dc = "dc1";
    result.r = r;
    result.S = S;
    result.seed = run;
    result.start = 1e9 + 100 * (run + RUNS * (S + 100.0 * r));
    result.window = SECONDS;
    result.nominal = r * S;
    result.packets = result_alloc(&result, TYPES, sizeof *result.packets);
    result.seconds = result_alloc(&result, SECONDS, sizeof *result.seconds);
    if (!result.packets || !result.seconds)
        written = -1;
    for (unsigned i = 0; written == 0 && i < TYPES; i++) {
        written = fill_packet(&result, &result.packets[i], i, 1e6 + 5e4 * r * S);
        result.packet_count++;
        result.done_ok += result.packets[i].count;
    }
    if (written == 0) {
        result.ok = result.sent = result.planned = result.done_ok;
        result.second_count = SECONDS;
        fill_seconds(&result);
        snprintf(path, sizeof path, "%s/dc1_r%u_S%u_%u.json", folder, r, S, run);
        written = result_write(&result, path, &error);
    }
    if (written < 0)
        fprintf(stderr, "bench_results: %s\n", error.text);
    result_clear(&result);
    return written;
}

static int make(const char *folder)
{
    int made = 0;
    for (unsigned r = FIRST_R; r <= LAST_R; r++)
        for (unsigned S = FIRST_S; S <= LAST_S; S++)
            for (unsigned run = 0; made == 0 && run < RUNS; run++)
                made = write_result(folder, r, S, run);
    return made;
}

static int parse(char **paths)
{
    for (; *paths; paths++) {
        json_t *root = json_load_file(*paths, 0, NULL);
        if (!root)
            return -1;
        json_decref(root);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int result = -1;
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        result = make(argv[2]);
    else if (argc > 2 && strcmp(argv[1], "parse") == 0)
        result = parse(argv + 2);
    else
        fputs("usage: bench_results make FOLDER | parse FILE...\n", stderr);
    return result == 0 ? 0 : 1;
}
