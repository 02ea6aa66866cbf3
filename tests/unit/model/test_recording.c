/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings: lines that are loaded and lines that are refused, the clients that play for -S and
 * -T, the times of packets and of ends, and plans that are written as a recording and played as
 * the same plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_load.h"
#include "model/model_private.h"
#include "model/model_write.h"
#include "model/plan_count.h"
#include "model/recording_write.h"
#include "tests/lib/plans.h"

#define EXCERPT "examples/office-recording.txt"
#define OFFICE  "../shared/data/models/office-summary.txt"

static bool every_request(const struct model_type *type, void *context)
{
    (void)context;
    return type->opcode[0] != '\0';
}

static struct plan_settings settings_of(const struct model *model, double r, double s)
{
    return (struct plan_settings){.seed = 1,
                                  .replay_rate = r,
                                  .scale = s,
                                  .duration = model_recording_seconds(model, r),
                                  .is_operation = every_request};
}

/* A client's steps: "ldap:3@1.5" (in parentheses if it is not an operation), "end@2". */
static void list_steps(const struct plan *plan, uint32_t client, char *text, size_t size)
{
    struct plan_client cursor;
    struct plan_step step;
    size_t used = 0, count;
    const struct model_type *types = model_types(plan_model(plan), &count);
    text[0] = '\0';
    plan_client_start(plan, client, &cursor);
    while (plan_client_next(plan, &cursor, &step) && used < size) {
        const char *before = used ? " " : "";
        double due = (double)step.due / 1e9;
        if (step.kind == PLAN_END)
            used += (size_t)snprintf(text + used, size - used, "%send@%.9g", before, due);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s%u%s:%s@%.9g%s", before,
                                     step.operation ? "" : "(", step.conversation,
                                     types[step.type].protocol, types[step.type].opcode, due,
                                     step.operation ? "" : ")");
    }
}

static void expect_steps(const char *text, double r, uint32_t client, const char *wanted)
{
    char steps[1024];
    struct model *model = model_of(text, NULL);
    struct plan_settings settings = settings_of(model, r, 1);
    struct plan *plan = plan_of(model, &settings);
    list_steps(plan, client, steps, sizeof steps);
    assert_string_equal(steps, wanted);
    plan_free(plan);
    model_free(model);
}

#define LINE(time, client, packet) time "\t06\t\t" client "\t1\t" packet "\n"
#define SEARCH                     "ldap\t3\tsearchRequest\t2\tDC,DC\t(cn)\tcn\t\t\t"
#define OTHER                      "ldap\t3\tsearchRequest\t0\t\t\tcn\t\t\t"

static const char small[] = LINE("100.5", "7", "dns\t0\tquery\t") LINE("101", "9", SEARCH)
    LINE("101.25", "7", SEARCH) LINE("102", "7", OTHER) LINE("102", "9", SEARCH)
        LINE("103.123456789", "9", "samr\t7\tOpenDomain\t");

static void a_recording_is_read(void **state)
{
    (void)state;
    struct warnings warnings = {0};
    struct model *model = model_of(small, &warnings);
    size_t count, search = model_find_type(model, "ldap", "3");
    const struct model_type *types = model_types(model, &count);
    assert_int_equal(warnings.count, 0);
    assert_true(model_is_recording(model));
    assert_false(model_is_samba_v2(model));
    assert_int_equal(count, 3);
    assert_int_equal(types[search].count, 4);
    assert_true(types[search].visits == 2);
    assert_int_equal(types[search].details_count, 2);
    assert_int_equal(types[search].details[0].count, 3);
    assert_int_equal(types[search].details[1].count, 1);
    assert_string_equal(types[search].details[0].fields[0].values[0], "sub");
    size_t samr = model_find_type(model, "samr", "7");
    assert_true(samr != SIZE_MAX);
    assert_int_equal(types[samr].details_count, 0);
    assert_true(model_find_type(model, "samr", "8") == SIZE_MAX);
    /* 2.623456789 s, rounded up to whole milliseconds */
    assert_true(fabs(model_recording_seconds(model, 1) - 2.624) < 1e-12);
    assert_true(fabs(model_recording_seconds(model, 2) - 1.312) < 1e-12);
    expect_near(model->packet_rate, 6 / 2.624, 1e-14);
    assert_int_equal(model_write_yaml(model, stdout), -ENOTSUP);
    model_free(model);
    model = model_of_file("tests/data/office-v2.json");
    assert_false(model_is_recording(model));
    assert_true(model_recording_seconds(model, 1) == 0);
    model_free(model);
}

static void times_start_at_the_first_packet(void **state)
{
    (void)state;
    expect_steps(small, 1, 0, "0dns:0@0 0ldap:3@0.75 0ldap:3@1.5 end@1.5");
    expect_steps(small, 1, 1, "0ldap:3@0.5 0ldap:3@1.5 0samr:7@2.62345679 end@2.62345679");
    expect_steps(small, 0.5, 0, "0dns:0@0 0ldap:3@1.5 0ldap:3@3 end@3");
    expect_steps(small, 5, 1, "0ldap:3@0.1 0ldap:3@0.3 0samr:7@0.524691357 end@0.524691357");
}

/* A text that was joined from several: sorted by time, and by line for equal times. */
static void lines_are_sorted_by_time(void **state)
{
    (void)state;
    expect_steps(
        LINE("20", "a", "dns\t0\t") LINE("21", "a", "samr\t1\t") LINE("10", "a", "samr\t2\t")
            LINE("20", "a", "samr\t3\t") LINE("15", "a", "samr\t4\t") LINE("10", "a", "samr\t5\t")
                LINE("21", "a", "samr\t6\t"),
        1, 0, "0samr:2@0 0samr:5@0 0samr:4@5 0dns:0@10 0samr:3@10 0samr:1@11 0samr:6@11 end@11");
}

/* More than a minute of silence in recorded time ends a conversation, at its last packet. */
static void a_minute_of_silence_ends_a_conversation(void **state)
{
    (void)state;
    static const char text[] = LINE("10", "a", "dns\t0\t") LINE("70", "a", "dns\t0\t")
        LINE("130.000000001", "a", "dns\t0\t") LINE("500", "a", "dns\t0\t");
    expect_steps(text, 1, 0, "0dns:0@0 0dns:0@60 end@60 1dns:0@120 end@120 2dns:0@490 end@490");
    expect_steps(text, 10, 0, "0dns:0@0 0dns:0@6 end@6 1dns:0@12 end@12 2dns:0@49 end@49");
    struct model *model = model_of(text, NULL);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    const struct plan_figures *figures = plan_figures(plan);
    struct plan_client cursor;
    struct plan_step step;
    unsigned firsts = 0;
    expect_near(figures->conversation_packets, 4.0 / 3, 1e-15);
    expect_near(figures->conversation_seconds, 60.0 / 3, 1e-15);
    expect_near(figures->client_rate, 4 / 490.001, 1e-15);
    plan_client_start(plan, 0, &cursor);
    while (plan_client_next(plan, &cursor, &step))
        firsts += step.kind == PLAN_PACKET && step.first;
    assert_int_equal(firsts, 3);
    plan_free(plan);
    model_free(model);
}

/* Nothing is due after the window, not even the end of a client that started in it. */
static void nothing_is_due_after_the_window(void **state)
{
    (void)state;
    char steps[200];
    struct model *model = model_of(small, NULL);
    struct plan_settings settings = settings_of(model, 1, 1);
    settings.warmup = 0.5;
    settings.duration = 1;
    struct plan *plan = plan_of(model, &settings);
    list_steps(plan, 0, steps, sizeof steps);
    assert_string_equal(steps, "0dns:0@0 0ldap:3@0.75");
    plan_free(plan);
    model_free(model);
}

#define TALK(time, stream, from, to, packet) time "\t06\t" stream "\t" from "\t" to "\t" packet "\n"
#define BIND(mech)                           "ldap\t0\tbindRequest\t\t\t\t\t3\tsasl\t" mech
#define SPNEGO                               "1.2.840.48018.1.2.2"

/* Replies, further messages of a SASL bind and a repeated AS request are left out, with one
 * warning. */
static void replies_and_legs_are_left_out(void **state)
{
    (void)state;
    static const char text[] = TALK("1", "4", "a", "d", "kerberos\t10\t")
        TALK("1.1", "4", "d", "a", "kerberos\t30\t") TALK("1.2", "5", "a", "d", "kerberos\t10\t")
            TALK("1.3", "5", "d", "a", "kerberos\t11\t")
                TALK("1.4", "6", "a", "d", "kerberos\t10\t") TALK("2", "7", "a", "d", BIND(SPNEGO))
                    TALK("2.1", "7", "d", "a", "ldap\t1\t") TALK("2.2", "7", "a", "d", BIND(""))
                        TALK("2.3", "8", "a", "d", BIND("")) TALK("2.4", "7", "a", "d", BIND(""))
                            TALK("2.5", "7", "a", "d", BIND(SPNEGO))
                                TALK("2.6", "7", "a", "d", SEARCH)
                                    TALK("2.7", "7", "a", "d", BIND(""))
                                        TALK("3", "9", "a", "d", "smb2\t1\t")
                                            TALK("3.1", "9", "d", "a", "smb2\t1\t");
    struct warnings warnings = {0};
    char steps[1024];
    struct model *model = model_of(text, &warnings);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    list_steps(plan, 0, steps, sizeof steps);
    assert_string_equal(steps, "0kerberos:10@0 0kerberos:10@0.4 0ldap:0@1 0ldap:0@1.3 0ldap:0@1.5 "
                               "0ldap:3@1.6 0ldap:0@1.7 0smb2:1@2 end@2");
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.last, "m: 4 replies and 3 further messages"));
    plan_free(plan);
    model_free(model);
}

/* As in Samba v2 models, an smb2:1 directly after another is a further leg, not an operation. On
 * another stream, or later, it is a separate session. */
static void further_legs_are_no_operations(void **state)
{
    (void)state;
    expect_steps(
        LINE("1", "a", "smb2\t1\t") LINE("1.1", "b", "smb2\t1\t") LINE("1.2", "a", "smb2\t1\t")
            LINE("2", "a", "smb2\t3\t") LINE("2.5", "a", "smb2\t1\t") LINE("9", "a", "smb2\t1\t")
                TALK("9.5", "4", "a", "1", "smb2\t1\t"),
        1, 0, "0smb2:1@0 (0smb2:1@0.2) 0smb2:3@1 0smb2:1@1.5 0smb2:1@8 0smb2:1@8.5 end@8.5");
    /* unless the text says that each line includes all messages */
#define JOINED "smb2\t1\t\t\t\t\t\t\t\t\tlegs=joined"
    expect_steps(LINE("1", "a", JOINED) LINE("1.1", "a", JOINED) LINE("1.2", "a", "smb2\t1\t"), 1,
                 0, "0smb2:1@0 0smb2:1@0.1 (0smb2:1@0.2) end@0.2");
    expect_steps(TALK("1", "1", "a", "d", BIND(SPNEGO))
                     TALK("2", "1", "a", "d", BIND("") "\tlegs=joined"),
                 1, 0, "0ldap:0@0 0ldap:0@1 end@1");
    struct model *model = model_of_file(EXCERPT);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    struct plan_count count;
    size_t set_up = model_find_type(model, "smb2", "1");
    assert_int_equal(plan_count(plan, 1, &count), 0);
    assert_int_equal(count.types[set_up].window_packets, 28);
    assert_int_equal(count.types[set_up].window_operations, 14);
    plan_count_clear(&count);
    plan_free(plan);
    model_free(model);
}

/* A machine that ran both sides: each connection is a client, and requests are distinguished
 * from replies. */
static void one_machine_can_run_both_sides(void **state)
{
    (void)state;
    static const char text[] =
        TALK("1", "1", "m", "m", "smb2\t1\t") TALK("2", "1", "m", "m", "smb2\t1\t")
            TALK("3", "2", "m", "m", SEARCH) TALK("4", "2", "m", "m", "ldap\t5\t")
                TALK("5", "1", "m", "m", "samr\t7\t") TALK("6", "1", "m", "m", "samr\t7\t");
    struct warnings warnings = {0};
    char steps[200];
    struct model *model = model_of(text, &warnings);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    assert_int_equal(plan_figures(plan)->clients, 2);
    list_steps(plan, 0, steps, sizeof steps);
    assert_string_equal(steps, "0smb2:1@0 0samr:7@4 end@4");
    list_steps(plan, 1, steps, sizeof steps);
    assert_string_equal(steps, "0ldap:3@2 end@2");
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.last, "each connection counts as a client"));
    plan_free(plan);
    model_free(model);
}

static void malformed_recordings_are_refused(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {LINE("1", "a", "dns\t0\t") "\n" LINE("2", "a", "d ns\t0\t"), "m:3: expected a protocol"},
        {LINE("1", "a", "dns\t0\t") LINE("x", "a", "dns\t0\t"), "m:2: expected a time"},
        {LINE("1", "a", "dns\t0\t") "2\t06\n", "m:2: expected a traffic-summary line"},
        {LINE("1", "a", "dns\t1\t") LINE("2", "a", "ldap\t1\t"), "m: expected packets of clients"},
        {LINE("9999999999", "a", "dns\t0\t"), "m:1:1: expected a model"},
        {LINE("1", "a", "dns\t0\t") LINE("9223372036", "a", "dns\t0\t"), "m:2: expected a time"},
        {LINE("1", "a", "dns\t0\t") LINE("8640002", "a", "dns\t0\t"),
         "m: expected a recording of at most 100 days, found 100.0"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct model *model = NULL;
        struct error error = {0};
        assert_int_equal(
            model_load_text("m", texts[i][0], strlen(texts[i][0]), &model, &error, NULL, NULL),
            -EINVAL);
        assert_null(model);
        if (strncmp(error.text, texts[i][1], strlen(texts[i][1])) != 0)
            fail_msg("\"%s\" does not begin with \"%s\"", error.text, texts[i][1]);
    }
}

static char *many(const char *format, unsigned count, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    for (unsigned i = 0; i < count; i++)
        /* cppcheck-suppress wrongPrintfScanfArgNum ; the callers' formats take one */
        fprintf(out, format, i); /* NOLINT(clang-diagnostic-format-nonliteral) */
    fclose(out);
    return text;
}

static void too_many_types_are_refused(void **state)
{
    (void)state;
    size_t size;
    struct model *model = NULL;
    struct error error = {0};
    char *text = many(LINE("1", "a", "foo\t%u\t"), 4097, &size);
    assert_int_equal(model_load_text("m", text, size, &model, &error, NULL, NULL), -EINVAL);
    assert_string_equal(error.text, "m:4097: expected at most 4096 different packets");
    free(text);
}

/* Tables grow: many clients and many details, each kept once. */
static void many_clients_and_details_are_kept(void **state)
{
    (void)state;
    enum { CLIENTS = 5000 };
    size_t size, count;
    char *text = many("1\t06\t\tc%u\t1\tldap\t3\t\t2\tDC\t(cn)\ta%1$u\t\t\t\n", CLIENTS, &size);
    char *twice = malloc(2 * size + 1);
    assert_non_null(twice);
    memcpy(twice, text, size);
    memcpy(twice + size, text, size + 1);
    struct model *model = model_of(twice, NULL);
    const struct model_type *types = model_types(model, &count);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    assert_int_equal(plan_figures(plan)->clients, CLIENTS);
    assert_int_equal(types[0].details_count, CLIENTS);
    for (size_t i = 0; i < CLIENTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%zu", i);
        assert_int_equal(types[0].details[i].count, 2);
        assert_string_equal(types[0].details[i].fields[3].values[0], name);
    }
    plan_free(plan);
    model_free(model);
    free(twice);
    free(text);
}

static void expect_scale(const struct model *model, double r, double s, uint32_t clients,
                         double tolerance)
{
    struct plan_settings settings = settings_of(model, r, s);
    struct plan *plan = plan_of(model, &settings);
    const struct plan_figures *figures = plan_figures(plan);
    struct plan_count count;
    assert_int_equal(figures->clients, clients);
    expect_near(figures->nominal_packets, r * s * model->packet_rate, tolerance);
    assert_true(figures->stretch == 1);
    assert_int_equal(plan_count(plan, 1, &count), 0);
    /* the plan has exactly the nominal packets, in exactly the duration of the recording */
    assert_int_equal(count.packets, count.window_packets);
    expect_near((double)count.packets,
                figures->nominal_packets * model_recording_seconds(model, 1) / r, 1e-12);
    expect_near((double)count.window_operations, (double)count.packets * figures->share, 1e-12);
    expect_near((double)count.conversations * figures->conversation_packets, (double)count.packets,
                1e-12);
    expect_near(figures->client_rate * clients * r, figures->nominal_packets, 1e-12);
    plan_count_clear(&count);
    plan_free(plan);
}

static void a_scale_repeats_the_clients(void **state)
{
    (void)state;
    struct model *model = model_of_file(EXCERPT);
    expect_scale(model, 1, 1, 29, 1e-14);
    expect_scale(model, 7, 1, 29, 1e-14);
    expect_scale(model, 0.3, 3, 87, 1e-14);
    expect_scale(model, 1, 0.5, 15, 0.08); /* round(14.5) */
    expect_scale(model, 4, 2.5, 73, 0.02);
    expect_scale(model, 1, 0.999, 29, 0.002);
    expect_scale(model, 1, 0.0001, 1, 1e4); /* at least one */
    model_free(model);
}

/* A part of the clients: different clients, independent of the seed, after complete copies. */
static void a_part_plays_other_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 73, ALL = 29 };
    struct model *model = model_of_file(EXCERPT);
    struct plan_settings settings = settings_of(model, 1, 2.5), other = settings;
    other.seed = 99;
    struct plan *plan = plan_of(model, &settings), *again = plan_of(model, &other);
    static char steps[CLIENTS][1 << 14], same[1 << 14];
    assert_int_equal(plan_figures(plan)->clients, CLIENTS);
    for (uint32_t c = 0; c < CLIENTS; c++) {
        list_steps(plan, c, steps[c], sizeof steps[c]);
        list_steps(again, c, same, sizeof same);
        assert_string_equal(steps[c], same);
    }
    for (uint32_t c = 0; c < ALL; c++)
        assert_string_equal(steps[c], steps[c + ALL]);
    for (uint32_t c = 2 * ALL; c < CLIENTS; c++) {
        unsigned originals = 0, copies = 0;
        for (uint32_t o = 0; o < ALL; o++)
            originals += strcmp(steps[o], steps[c]) == 0;
        for (uint32_t o = 2 * ALL; o < CLIENTS; o++)
            copies += strcmp(steps[o], steps[c]) == 0;
        assert_int_equal(originals, 1);
        assert_int_equal(copies, 1);
    }
    plan_free(again);
    plan_free(plan);
    model_free(model);
}

/* -T is the offered rate, independent of r, as closely as whole clients allow. */
static void packets_per_second_fix_the_load(void **state)
{
    (void)state;
    static const double rates[] = {0.25, 1, 10};
    struct model *model = model_of_file(EXCERPT);
    for (size_t i = 0; i < 3; i++) {
        struct plan_settings settings = settings_of(model, rates[i], 0);
        settings.packets_per_second = 500;
        struct plan *plan = plan_of(model, &settings);
        expect_near(plan_figures(plan)->nominal_packets, 500, i == 2 ? 0.03 : 0.01);
        plan_free(plan);
    }
    model_free(model);
}

static void impossible_settings_are_refused(void **state)
{
    (void)state;
    struct model *model = model_of_file(EXCERPT);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = NULL;
    struct error error = {0};
    settings.persistence = 0.1;
    assert_int_equal(plan_make(model, &settings, &plan, &error), -EINVAL);
    assert_non_null(
        strstr(error.text, "--conversation-persistence: office-recording.txt is a recording"));
    settings.persistence = 0;
    settings.scale = 1e6;
    assert_int_equal(plan_make(model, &settings, &plan, &error), -ERANGE);
    assert_non_null(
        strstr(error.text, "this takes 29000000 clients, more than 10000000: lower -S"));
    model_free(model);
}

/* Figures do not depend on threads; steps do not depend on other clients. */
static void threads_do_not_change_a_plan(void **state)
{
    (void)state;
    struct model *model = model_of_file(EXCERPT);
    struct plan_settings settings = settings_of(model, 2, 40);
    struct plan *plan = plan_of(model, &settings);
    struct plan_count one, other;
    assert_int_equal(plan_count(plan, 1, &one), 0);
    for (unsigned threads = 2; threads <= 8; threads *= 4) {
        assert_int_equal(plan_count(plan, threads, &other), 0);
        assert_int_equal(one.packets, other.packets);
        assert_int_equal(one.window_operations, other.window_operations);
        assert_int_equal(one.conversations, other.conversations);
        for (size_t t = 0; t < one.type_count; t++)
            assert_memory_equal(&one.types[t], &other.types[t], sizeof one.types[t]);
        plan_count_clear(&other);
    }
    plan_count_clear(&one);
    plan_free(plan);
    model_free(model);
}

/* The plan of a model as a recording. */
static char *write_plan(struct model *model, const struct plan_settings *wanted)
{
    struct plan *plan = plan_of(model, wanted);
    size_t count, size = 0;
    model_types(model, &count);
    bool *written = test_calloc(count + 1, sizeof *written);
    memset(written, true, count);
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(recording_write(plan, written, out), 0);
    fclose(out);
    test_free(written);
    plan_free(plan);
    return text;
}

static char *write_recording(const char *text)
{
    struct model *model = model_of(text, NULL);
    struct plan_settings settings = settings_of(model, 1, 1);
    char *written = write_plan(model, &settings);
    model_free(model);
    return written;
}

/* Compares lines without clients. Times count from the first line. */
static void expect_same_packets(const char *one, const char *other)
{
    double origin = strtod(one, NULL), other_origin = strtod(other, NULL);
    while (*one && *other) {
        char *end, *other_end;
        double time = strtod(one, &end), other_time = strtod(other, &other_end);
        assert_true(fabs(time - origin - (other_time - other_origin)) < 1e-6);
        for (int field = 0; field < 4; field++) {
            bool client = field == 2;
            size_t length = strcspn(end + 1, "\t"), other_length = strcspn(other_end + 1, "\t");
            if (!client) {
                assert_int_equal(length, other_length);
                assert_memory_equal(end + 1, other_end + 1, length);
            }
            end += 1 + length;
            other_end += 1 + other_length;
        }
        size_t length = strcspn(end, "\n"), other_length = strcspn(other_end, "\n");
        assert_int_equal(length, other_length);
        assert_memory_equal(end, other_end, length);
        one = end + length + 1;
        other = other_end + other_length + 1;
    }
    assert_int_equal(*one, *other);
}

static uint64_t count_operations(const struct model *model, const struct plan_settings *settings)
{
    struct plan *plan = plan_of(model, settings);
    struct plan_count count;
    uint64_t sum = 0;
    assert_int_equal(plan_count(plan, 1, &count), 0);
    for (size_t i = 0; i < count.type_count; i++)
        sum += count.types[i].window_operations;
    plan_count_clear(&count);
    plan_free(plan);
    return sum;
}

static void expect_same_operations(const struct model *model, const struct plan_settings *wanted,
                                   const char *text)
{
    struct plan_settings all = *wanted;
    all.duration += all.warmup;
    all.warmup = 0;
    struct model *recording = model_of(text, NULL);
    struct plan_settings settings = settings_of(recording, 1, 1);
    assert_int_equal(count_operations(recording, &settings), count_operations(model, &all));
    model_free(recording);
}

static void a_written_plan_plays_the_same(void **state)
{
    (void)state;
    static const char *const models[] = {
        "examples/office.yaml",        "examples/ldap-application.yaml",
        "tests/data/all-packets.yaml", "tests/data/office-v2.json",
        "examples/file-server.yaml",   EXCERPT};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct model *model = model_of_file(models[m]);
        struct plan_settings settings = settings_of(model, 3, 2);
        settings.warmup = 5;
        settings.duration = 40;
        char *first = write_plan(model, &settings);
        char *second = write_recording(first);
        char *third = write_recording(second);
        expect_same_operations(model, &settings, first);
        assert_true(strlen(first) > 10000);
        expect_same_packets(first, second);
        assert_string_equal(second, third);
        free(third);
        free(second);
        free(first);
        model_free(model);
    }
}

static void the_example_is_read(void **state)
{
    (void)state;
    FILE *file = fopen(OFFICE, "re");
    if (!file) {
        skip();
        return;
    }
    fclose(file);
    struct model *model = model_of_file(OFFICE);
    expect_scale(model, 1, 1, 300, 1e-14);
    expect_scale(model, 4, 0.5, 150, 0.02);
    expect_scale(model, 1, 2.5, 750, 0.005);
    struct plan_settings settings = settings_of(model, 1, 1);
    struct plan *plan = plan_of(model, &settings);
    struct plan_count count;
    assert_int_equal(plan_count(plan, 2, &count), 0);
    assert_int_equal(count.packets, 10877);
    assert_int_equal(count.types[model_find_type(model, "ldap", "3")].packets, 3118);
    assert_int_equal(count.types[model_find_type(model, "kerberos", "")].packets, 189);
    /* The first and the last line of the text are 583.051678 s apart. */
    assert_true(fabs(model_recording_seconds(model, 1) - 583.052) < 1e-9);
    plan_count_clear(&count);
    plan_free(plan);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_read),
        cmocka_unit_test(times_start_at_the_first_packet),
        cmocka_unit_test(lines_are_sorted_by_time),
        cmocka_unit_test(a_minute_of_silence_ends_a_conversation),
        cmocka_unit_test(nothing_is_due_after_the_window),
        cmocka_unit_test(replies_and_legs_are_left_out),
        cmocka_unit_test(further_legs_are_no_operations),
        cmocka_unit_test(one_machine_can_run_both_sides),
        cmocka_unit_test(malformed_recordings_are_refused),
        cmocka_unit_test(too_many_types_are_refused),
        cmocka_unit_test(many_clients_and_details_are_kept),
        cmocka_unit_test(a_scale_repeats_the_clients),
        cmocka_unit_test(a_part_plays_other_clients),
        cmocka_unit_test(packets_per_second_fix_the_load),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(threads_do_not_change_a_plan),
        cmocka_unit_test(a_written_plan_plays_the_same),
        cmocka_unit_test(the_example_is_read),
    };
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
