/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/sample_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static const int64_t us = 1000, second = 1000000000;

static const struct tally_type types[SAMPLE_TYPES] = {
    {"ldap", "3", "searchRequest"}, {"ldap", "0", "bindRequest"}, {"nbns", "0", "query"},
    {"smb2", "13", "Echo"},         {"smb", "0x72", ""},          {"samr", "0", "Connect"}};

static const uint8_t sha256[32] = {0xab, 0xcd, 0x01};
static const struct report_skipped skipped[] = {{"foo", "3", false, 12}, {"dns", "0", true, 7}};
static struct settings_pair labels[] = {
    {"prefork", "4"}, {"site", "K\xc3\xb6ln"}, {"bell", "\a\nx"}};

static struct tally *play_some(void);

void sample_result(struct result *result)
{
    struct settings settings = sample_settings();
    struct report_facts facts = sample_facts(&settings);
    struct tally *tally = play_some();
    struct error error = {0};
    assert_int_equal(tally_check(tally, &error), 0);
    assert_int_equal(report_make(tally, &facts, result), 0);
    tally_free(tally);
    if (result_check(result, &error) != 0)
        fail_msg("%s", error.text);
}

static struct tally *play_some(void)
{
    struct tally *tally = sample_tally_new();
    struct outcome none = {.kind = OUTCOME_NO_ANSWER};
    for (int64_t i = 0; i < 100; i++)
        sample_play(tally, SAMPLE_SEARCH, second + i * 90000 * us, (i + 1) * 1000 * us,
                    i % 10 == 9 ? "insufficientAccessRights" : NULL);
    for (int64_t i = 0; i < 3; i++)
        sample_play(tally, SAMPLE_BIND, 2 * second + i, 5000 * us,
                    i ? "timed out" : "connection reset");
    sample_play(tally, SAMPLE_ECHO, 3 * second, 622 * us, NULL);
    sample_play(tally, SAMPLE_ODD, 3 * second, 622 * us, NULL);
    tally_planned(tally, SAMPLE_NBNS, 4 * second);
    tally_event(tally,
                &(struct tally_event){.type = SAMPLE_NBNS,
                                      .due = 4 * second,
                                      .ready = 4 * second,
                                      .first_sent = 4 * second,
                                      .last_received = INT64_MIN,
                                      .ended = 8 * second},
                &none);
    for (unsigned i = 0; i < 50; i++)
        tally_conversation(tally);
    tally_conversation_ended(tally);
    tally_timer_late(tally, 8146 * us);
    return tally;
}

void sample_play(struct tally *tally, uint32_t type, int64_t due, int64_t service,
                 const char *cause)
{
    struct outcome outcome = {.kind = cause ? OUTCOME_FAILED : OUTCOME_OK};
    if (cause)
        strcpy(outcome.cause, cause);
    tally_planned(tally, type, due);
    tally_event(tally,
                &(struct tally_event){.type = type,
                                      .due = due,
                                      .ready = due,
                                      .first_sent = due + 20 * us,
                                      .last_received = due + 20 * us + service,
                                      .ended = due + 20 * us + service},
                &outcome);
}

struct tally *sample_tally_new(void)
{
    struct tally *tally = tally_new(&(struct tally_setup){.types = types,
                                                          .type_count = SAMPLE_TYPES,
                                                          .clients = 49,
                                                          .window_start = second,
                                                          .window_end = 11 * second});
    assert_non_null(tally);
    return tally;
}

struct settings sample_settings(void)
{
    return (struct settings){.model = "office.yaml",
                             .dc = "dc1",
                             .replay_rate = 4,
                             .scale = 5,
                             .duration = 10,
                             .warmup = 1,
                             .instance_id = 0,
                             .labels = labels,
                             .label_count = 3,
                             .command_line = (char *)"traffic-replay -r 4 -S 5 office.yaml dc1"};
}

struct report_facts sample_facts(const struct settings *settings)
{
    return (struct report_facts){.settings = settings,
                                 .model = "office.yaml",
                                 .model_sha256 = sha256,
                                 .seed = UINT64_MAX,
                                 .clients = 49,
                                 .threads = 2,
                                 .nominal = 10.4,
                                 .nominal_packets = 12.25,
                                 .planned_conversations = 60,
                                 .planned_packets = 927,
                                 .start = 1700000000.25,
                                 .cpu_user = 0.5,
                                 .cpu_system = 0.25,
                                 .busy = 0.125,
                                 .skipped = skipped,
                                 .skipped_count = 2};
}

char *sample_text(const struct result *result)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(report_print(stream, result), 0);
    fclose(stream);
    return text;
}
