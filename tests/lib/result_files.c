/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/result_files.h"

#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "replay/session/report.h"

struct results_data results_data;
char results_folder[256], results_warnings[4096];

int results_make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(results_folder, sizeof results_folder, "%s/summary.XXXXXX", base ? base : "/tmp");
    return mkdtemp(results_folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

int results_remove_folder(void **state)
{
    (void)state;
    return nftw(results_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *results_path(const char *format, ...)
{
    static char path[512];
    va_list args;
    int used = snprintf(path, sizeof path, "%s/", results_folder);
    va_start(args, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, args);
    va_end(args);
    return path;
}

void results_write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void results_make(struct result *result, const struct results_run *run)
{
    result_init(result);
    result->program = "traffic-replay";
    result->version = "0.1.0";
    result->command = "traffic-replay model.yaml dc1";
    result->model = "model.yaml";
    result->r = run->r;
    result->S = run->S;
    result->seed = run->seed;
    result->dc = "dc1";
    result->start = 1700000000.5;
    result->warmup = 5;
    result->window = 1000;
    result->nominal = 10 * run->r * run->S;
    result->done_ok = result->ok = run->ok;
    result->done_failed = result->failed = run->failed;
    result->sent = result->planned = run->ok + run->failed;
    result->planned_packets = 2 * result->planned;
    result->packets = result_alloc(result, 1, sizeof *result->packets);
    result->seconds = result_alloc(result, 1, sizeof *result->seconds);
    struct result_count *cause = result_alloc(result, 1, sizeof *cause);
    assert_non_null(result->packets);
    assert_non_null(result->seconds);
    assert_non_null(cause);
    result->packet_count = result->second_count = 1;
    result->pace = results_data.pace ? results_data.pace : "";
    *cause = (struct result_count){"timed out", run->failed};
    struct result_packet *packet = &result->packets[0];
    *packet = (struct result_packet){.protocol = "ldap",
                                     .opcode = "3",
                                     .description = "searchRequest",
                                     .count = result->sent,
                                     .failed = run->failed,
                                     .causes = cause,
                                     .cause_count = run->failed > 0,
                                     .planned = result->planned,
                                     .read = results_data.read,
                                     .written = results_data.written,
                                     .requests = results_data.requests};
    histogram_init(&packet->service);
    histogram_init(&packet->response);
    histogram_init(&packet->lag);
    if (run->response)
        assert_int_equal(histogram_add(&packet->response, run->response), 0);
    result->seconds[0] = (struct result_second){
        0, result->planned, run->ok, run->failed, NAN, results_data.read, results_data.written};
}

void results_write_json(const struct results_run *run, const char *path)
{
    struct result result;
    struct error error = {0};
    results_make(&result, run);
    if (result_write(&result, path, &error) != 0)
        fail_msg("%s", error.text);
    result_clear(&result);
}

void results_write_text(const struct results_run *run, const char *path)
{
    struct result result;
    results_make(&result, run);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(report_print(file, &result), 0);
    assert_int_equal(fclose(file), 0);
    result_clear(&result);
}

void results_keep_warning(void *context, const char *line)
{
    (void)context;
    size_t used = strlen(results_warnings);
    snprintf(results_warnings + used, sizeof results_warnings - used, "%s\n", line);
}

struct readings results_read_folder(void)
{
    struct readings readings = {.warning = results_keep_warning};
    results_warnings[0] = '\0';
    assert_int_equal(readings_add(&readings, results_folder), 0);
    assert_int_equal(readings_finish(&readings), 0);
    return readings;
}

/* Result files that carry the values of a published table. */
void results_write_published(const char *tsv,
                             void (*write)(const struct results_run *run, const char *path),
                             const char *ending)
{
    char line[128];
    FILE *file = fopen(tsv, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (uint64_t seed = 1; fgets(line, sizeof line, file); seed++) {
        struct results_run run = {.seed = seed, .failed = 7};
        double rate;
        assert_int_equal(sscanf(line, "%lf\t%lf\t%lf", &run.r, &run.S, &rate), 3);
        run.ok = (uint64_t)llround(rate * 1000);
        /* The name does not tell the cell: the content has to. */
        write(&run, results_path("run-%" PRIu64 "%s", seed, ending));
    }
    fclose(file);
}

char *results_load_text(const char *path)
{
    struct error error = {0};
    char *bytes;
    size_t length;
    if (result_load(path, &bytes, &length, &error) != 0)
        fail_msg("%s", error.text);
    bytes[length] = '\0';
    return bytes;
}
