/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the report about file load: pace, bytes, data operations, SMB2 requests and sizes.
 */
#include <inttypes.h>
#include <string.h>

#include "replay/session/report.h"

static const double megabyte = 1e6;

static void print_bytes(FILE *stream, const struct result *result, const struct result_data *data);
static void print_direction(FILE *stream, const char *label, const char *what, uint64_t bytes,
                            uint64_t operations, double window);
static void print_sizes(FILE *stream, const struct result_packet *packet);

void report_print_data(FILE *stream, const struct result *result)
{
    struct result_data data = result_data(result);
    if (!data.requests || !(result->window > 0))
        return;
    if (data.read + data.written)
        print_bytes(stream, result, &data);
    fprintf(stream, "%-29s%.2f SMB2 requests per operation\n",
            "Requests:", (double)data.requests / (double)data.request_senders);
    for (size_t i = 0; i < result->packet_count; i++)
        if (result->packets[i].size_count)
            print_sizes(stream, &result->packets[i]);
}

static void print_bytes(FILE *stream, const struct result *result, const struct result_data *data)
{
    double all = (double)(data->read + data->written) / megabyte;
    fprintf(stream, "%-29s%.3f MB/s (%.3f MB in the window; MB = 10^6 bytes)\n",
            "Data:", all / result->window, all);
    print_direction(stream, "Data read:", "reads", data->read, data->reads, result->window);
    print_direction(stream, "Data written:", "writes", data->written, data->writes, result->window);
    fprintf(stream, "%-29s%.3f reads and writes per second (IOPS)\n",
            "Data operations:", (double)(data->reads + data->writes) / result->window);
}

static void print_direction(FILE *stream, const char *label, const char *what, uint64_t bytes,
                            uint64_t operations, double window)
{
    fprintf(stream, "%-29s%.3f MB/s in %.3f %s per second", label,
            (double)bytes / megabyte / window, (double)operations / window, what);
    if (operations)
        fprintf(stream, " of %.0f bytes", (double)bytes / (double)operations);
    fputc('\n', stream);
}

/* The most frequent sizes of a packet type. */
static void print_sizes(FILE *stream, const struct result_packet *packet)
{
    enum { SHOWN = 6 };
    char label[64];
    uint64_t total = 0, shown = 0;
    snprintf(label, sizeof label, "Sizes, %.20s:%.20s:", packet->protocol, packet->opcode);
    fprintf(stream, "%-29s", label);
    for (size_t i = 0; i < packet->size_count; i++)
        total += packet->sizes[i].count;
    for (size_t i = 0; i < packet->size_count && i < SHOWN; i++) {
        fprintf(stream, "%s%s %.1f%%", i ? ", " : "", packet->sizes[i].name,
                100.0 * (double)packet->sizes[i].count / (double)total);
        shown += packet->sizes[i].count;
    }
    if (shown < total)
        fprintf(stream, ", others %.1f%%", 100.0 * (double)(total - shown) / (double)total);
    fputc('\n', stream);
}

void report_print_pace(FILE *stream, const struct result *result)
{
    if (strcmp(result->pace, "reply") == 0)
        fprintf(stream, "%-29sreply (closed loop: a server that stalls is asked less)\n", "Pace:");
    else if (*result->pace)
        fprintf(stream, "%-29s%s%s (open loop)\n", "Pace:", result->pace,
                strcmp(result->pace, "times") == 0 ? "" : " per client");
}
