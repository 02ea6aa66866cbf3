/* SPDX-License-Identifier: Apache-2.0 */
/* What --dry-run and --traffic-summary print about a plan, as text and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/lib/model_text.h"

#include "model/plan_count.h"
#include "replay/run_part.h"
#include "replay/session/dry_run.h"

static const char small[] =
    "version: 3\npacket_rate: 50\nhistory: 1\nchain:\n"
    "  \"-\": {\"cldap:3\": 1}\n"
    "  \"cldap:3\": {\"kerberos:\": 1}\n"
    "  \"kerberos:\": {\"ldap:0\": 1}\n"
    "  \"ldap:0\": {\"ldap:3\": 1}\n"
    "  \"ldap:3\": {\"ldap:3\": 1, \"ldap:5\": 1, \"foo:3\": 1}\n"
    "  \"ldap:5\": {\"wait:0\": 1}\n"
    "  \"foo:3\": {\"wait:0\": 1}\n"
    "  \"wait:0\": {\"dns:0\": 1}\n"
    "  \"dns:0\": {\"ldap:2\": 1}\n"
    "  \"ldap:2\": {\"-\": 1}\n"
    "details:\n"
    "  \"ldap:3\": [{count: 1, scope: one, base: \"CN,DC\", filter: \"(cn)\", attrs: [a, b]}]\n"
    "  \"ldap:0\": [{count: 1, auth: sasl, mech: GSSAPI}]\n";

struct run {
    struct settings settings;
    struct model *model;
    struct plan *plan;
    char *text;
    size_t size;
    FILE *out;
};

static void begin(struct run *run, struct model *model)
{
    struct error error = {0};
    struct plan_settings wanted = {.seed = 5,
                                   .replay_rate = run->settings.replay_rate,
                                   .scale = run->settings.scale,
                                   .warmup = 5,
                                   .duration = 60,
                                   .is_operation = run_part_is_operation,
                                   .context = &run->settings};
    run->model = model;
    if (plan_make(model, &wanted, &run->plan, &error) < 0)
        fail_msg("%s", error.text);
    run->out = open_memstream(&run->text, &run->size);
    assert_non_null(run->out);
}

static void end(struct run *run)
{
    if (run->out)
        fclose(run->out);
    free(run->text);
    plan_free(run->plan);
    model_free(run->model);
}

static void expect_line(const struct run *run, const char *line)
{
    if (!strstr(run->text, line))
        fail_msg("no \"%s\" in\n%s", line, run->text);
}

static void text_has_the_plan(void **state)
{
    (void)state;
    struct run run = {.settings = {.replay_rate = 2, .scale = 3}};
    struct plan_count count;
    char line[200];
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run(&run.settings, run.plan, run.out), 0);
    assert_int_equal(plan_count(run.plan, 1, &count), 0);
    snprintf(line, sizeof line, "Clients:            %u\n", plan_figures(run.plan)->clients);
    expect_line(&run, line);
    /* K = 7.5: half a silent one, half one without a player, a hint and an unbind are no operations
     */
    snprintf(line, sizeof line, "Nominal load:       300.000 packets/s, %.3f operations/s\n",
             300 * 4.5 / 7.5);
    expect_line(&run, line);
    snprintf(line, sizeof line, "Planned load:       %.3f packets/s, %.3f operations/s\n",
             (double)count.window_packets / 60, (double)count.window_operations / 60);
    expect_line(&run, line);
    expect_line(&run, "Share with player:  0.6000 of the packets");
    expect_line(&run, "\nOperations in the window\n");
    expect_line(&run, "\nPackets without a player, skipped\n");
    expect_line(&run, "\nfoo            3 ");
    expect_line(&run, "\nSilent packets");
    expect_line(&run, "\nldap           5        searchResDone");
    expect_line(&run, "\nPackets that change the state of a client");
    assert_null(strstr(run.text, "left out by"));
    plan_count_clear(&count);
    end(&run);
}

static void left_out_packets_are_listed(void **state)
{
    (void)state;
    struct settings_packet skip[] = {{"dns", NULL}, {"ldap", "0"}};
    struct run run = {.settings = {.replay_rate = 1, .scale = 1, .skip = skip, .skip_count = 2}};
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run(&run.settings, run.plan, run.out), 0);
    const char *left_out = strstr(run.text, "\nPackets left out by --only or --skip\n");
    assert_non_null(left_out);
    assert_non_null(strstr(left_out, "\ndns            0 "));
    assert_non_null(strstr(left_out, "\nldap           0 "));
    end(&run);
}

static json_int_t count_of(const json_t *root, const char *reason, const char *packet)
{
    return json_integer_value(json_object_get(json_object_get(root, reason), packet));
}

static void check_json(const struct run *run, const json_t *root)
{
    const struct plan_figures *figures = plan_figures(run->plan);
    struct plan_count count;
    size_t i;
    json_t *packet;
    json_int_t sum = 0;
    assert_non_null(root);
    assert_int_equal(plan_count(run->plan, 1, &count), 0);
    assert_int_equal(json_integer_value(json_object_get(root, "clients")), figures->clients);
    assert_int_equal(json_integer_value(json_object_get(root, "planned")), count.window_operations);
    assert_int_equal(json_integer_value(json_object_get(root, "window_packets")),
                     count.window_packets);
    assert_int_equal(json_integer_value(json_object_get(root, "planned_packets")), count.packets);
    assert_true(fabs(json_real_value(json_object_get(root, "nominal_packets")) - 300) < 1e-9);
    json_array_foreach(json_object_get(root, "packets"), i, packet) sum +=
        json_integer_value(json_object_get(packet, "planned"));
    assert_int_equal(sum, count.window_operations);
    assert_string_equal(json_string_value(json_object_get(root, "seed")), "5");
    assert_int_equal(json_object_size(json_object_get(root, "skipped")), 1);
    assert_int_equal(count_of(root, "skipped", "foo:3"),
                     count.types[model_find_type(run->model, "foo", "3")].packets);
    assert_true(count_of(root, "silent", "ldap:5") > 0);
    assert_true(count_of(root, "state", "ldap:2") > 0);
    assert_true(count_of(root, "state", "kerberos:") > 0);
    assert_int_equal(json_object_size(json_object_get(root, "left_out")), 0);
    plan_count_clear(&count);
}

static void json_has_the_plan(void **state)
{
    (void)state;
    struct run run = {.settings = {.replay_rate = 2, .scale = 3, .json_wanted = true}};
    json_error_t error;
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run(&run.settings, run.plan, run.out), 0);
    json_t *root = json_loadb(run.text, run.size, 0, &error);
    check_json(&run, root);
    json_decref(root);
    end(&run);
}

/* --json FILE: text as before, and JSON in the file. */
static void json_goes_to_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/test-dry-run-XXXXXX";
    int fd = mkstemp(path);
    struct run run = {
        .settings = {.replay_rate = 2, .scale = 3, .json = path, .json_wanted = true}};
    json_error_t error;
    assert_true(fd >= 0);
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run(&run.settings, run.plan, run.out), 0);
    expect_line(&run, "Nominal load:");
    json_t *root = json_load_file(path, 0, &error);
    check_json(&run, root);
    json_decref(root);
    run.settings.json = "/nonexistent/plan.json";
    assert_int_equal(dry_run(&run.settings, run.plan, run.out), -ENOENT);
    close(fd);
    unlink(path);
    end(&run);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct run run = {.settings = {.replay_rate = 2, .scale = 3}};
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run(&run.settings, run.plan, full), -ENOSPC);
    fclose(full);
    full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(dry_run_write_recording(&run.settings, run.plan, full), -ENOSPC);
    fclose(full);
    end(&run);
}

/* For every packet of the small model: the columns after the time, without the client's number. */
static const struct line {
    const char *protocol, *opcode, *before, *after;
} lines[] = {
    {"cldap", "3", "11\t\t", "\t1\tcldap\t3\tsearchRequest\t\t\t\tNetlogon\t\t\t"},
    {"kerberos", "", "06\t\t", "\t1\tkerberos\t\t\t"},
    {"ldap", "0", "06\t\t", "\t1\tldap\t0\tbindRequest\t\t\t\t\t3\tsasl\t1.2.840.113554.1.2.2"},
    {"ldap", "3", "06\t\t", "\t1\tldap\t3\tsearchRequest\t1\tCN,DC\t(cn)\ta,b\t\t\t"},
    {"ldap", "5", "06\t\t", "\t1\tldap\t5\tsearchResDone\t\t\t\t\t\t\t"},
    {"foo", "3", "06\t\t", "\t1\tfoo\t3\t\t"},
    {"dns", "0", "11\t\t", "\t1\tdns\t0\tquery\t"},
    {"ldap", "2", "06\t\t", "\t1\tldap\t2\tunbindRequest\t\t\t\t\t\t\t"},
};

static size_t find_line(const char *rest, unsigned long *client)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        size_t length = strlen(lines[i].before);
        char *after;
        if (strncmp(rest, lines[i].before, length) != 0)
            continue;
        *client = strtoul(rest + length, &after, 10);
        if (strcmp(after, lines[i].after) == 0)
            return i;
    }
    fail_msg("unexpected: %s", rest);
    return 0;
}

static void a_recording_has_every_packet(void **state)
{
    (void)state;
    struct run run = {.settings = {.replay_rate = 2, .scale = 3}};
    struct plan_count count;
    uint64_t counts[sizeof lines / sizeof lines[0]] = {0};
    double last = 1500000000;
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run_write_recording(&run.settings, run.plan, run.out), 0);
    assert_int_equal(plan_count(run.plan, 1, &count), 0);
    for (char *rest = run.text, *line; *rest;) {
        unsigned long client = 0;
        line = strsep(&rest, "\n");
        char *after = line;
        double time = strtod(line, &after);
        assert_int_equal(strchr(line, '.') + 10 - line, after - line); /* nine decimals */
        assert_true(time >= last && time < 1500000065);
        last = time;
        counts[find_line(after + 1, &client)]++;
        assert_true(client >= 2 && client < 2 + plan_figures(run.plan)->clients);
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(
            counts[i],
            count.types[model_find_type(run.model, lines[i].protocol, lines[i].opcode)].packets);
    plan_count_clear(&count);
    end(&run);
}

static void a_recording_without_left_out_packets(void **state)
{
    (void)state;
    struct settings_packet only[] = {{"ldap", NULL}};
    struct run run = {.settings = {.replay_rate = 1, .scale = 1, .only = only, .only_count = 1}};
    begin(&run, model_of(small, NULL));
    assert_int_equal(dry_run_write_recording(&run.settings, run.plan, run.out), 0);
    assert_null(strstr(run.text, "cldap"));
    assert_non_null(strstr(run.text, "\tldap\t3\t"));
    end(&run);
}

/* The format of the file from which the Samba v2 model was learned, with every kind of line. */
static void a_recording_of_the_office_model(void **state)
{
    (void)state;
    static const char *const ends[] = {
        ("\t1\tldap\t3\tsearchRequest\t2\tDC,DC\t(&(sAMAccountName)(objectClass=user))\t"
         "objectSid,userPrincipalName,memberOf\t\t\t\n"),
        "\t1\tldap\t3\tsearchRequest\t0\tOU,DC,DC\t\tgpLink,gpOptions\t\t\t\n",
        "\t1\tldap\t0\tbindRequest\t\t\t\t\t3\tsasl\t1.2.840.48018.1.2.2\n",
        "\t1\tldap\t0\tbindRequest\t\t\t\t\t0\tsimple\t\n",
        "\t1\tldap\t2\tunbindRequest\t\t\t\t\t\t\t\n",
        "\t1\tcldap\t3\tsearchRequest\t\t\t\tNetlogon\t\t\t\n",
        "\t1\tkerberos\t\t\t\n",
        "\t1\trpc_netlogon\t39\tNetrLogonSamLogonEx\t\n",
        "\t1\tsamr\t17\tLookupNames\t\n",
    };
    struct run run = {.settings = {.replay_rate = 4, .scale = 4}};
    begin(&run, model_of_file(OFFICE_V2));
    assert_int_equal(dry_run_write_recording(&run.settings, run.plan, run.out), 0);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        expect_line(&run, ends[i]);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_the_plan),
        cmocka_unit_test(left_out_packets_are_listed),
        cmocka_unit_test(json_has_the_plan),
        cmocka_unit_test(json_goes_to_a_file),
        cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(a_recording_has_every_packet),
        cmocka_unit_test(a_recording_without_left_out_packets),
        cmocka_unit_test(a_recording_of_the_office_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
