/* SPDX-License-Identifier: Apache-2.0 */
/* The models in examples/ load without a warning, all their packets and details can be played, and
 * a dry run gives the figures in their header comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_load.h"
#include "tests/lib/model_text.h"

#include "protocols/packet.h"
#include "replay/run_part.h"
#include "replay/session/dry_run.h"
#include "tests/lib/packets.h"

static const struct example {
    const char *path;
    double packet_rate, min_share;
    uint32_t min_clients; /* at -r 1 -S 1 */
    bool silent;          /* may contain implied packets: a capture has RPC binds */
} examples[] = {
    {"examples/office.yaml", 3, 0.9, 4, false},
    {"examples/ldap-application.yaml", 20, 0.75, 8, false},
    {"examples/file-server.yaml", 8, 0.95, 6, false},
    {"examples/office-hosts.yaml", 13.1333, 0.95, 9, true},
};

enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static struct model *load(const struct example *example)
{
    struct warnings warnings = {0};
    struct model *model = NULL;
    struct error error = {0};
    if (model_load(example->path, &model, &error, keep_warning, &warnings) < 0)
        fail_msg("%s", error.text);
    if (warnings.count > 0)
        fail_msg("%s", warnings.last);
    return model;
}

static void compile(const struct model_type *type, const struct model_details *details)
{
    struct form form;
    struct error error = {0};
    if (!form_compile(&form, type->protocol, type->opcode, details->fields, details->field_count,
                      &error))
        fail_msg("%s:%s: %s", type->protocol, type->opcode, error.text);
    form_release(&form);
}

static void all_packets_can_be_played(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        size_t count;
        struct model *model = load(&examples[e]);
        const struct model_type *types = model_types(model, &count);
        for (size_t t = 0; t < count; t++) {
            const struct packet_row *row = types[t].row;
            if (row && row->kind == PACKET_SILENT && examples[e].silent)
                continue;
            if (!row || !packet_player_of(row))
                fail_msg("%s: %s:%s has no player", examples[e].path, types[t].protocol,
                         types[t].opcode);
            for (size_t d = 0; d < types[t].details_count; d++)
                compile(&types[t], &types[t].details[d]);
        }
        model_free(model);
    }
}

static struct plan *plan_of(const struct model *model, struct settings *settings)
{
    struct plan *plan = NULL;
    struct error error = {0};
    struct plan_settings wanted = {.seed = 1,
                                   .replay_rate = settings->replay_rate,
                                   .scale = settings->scale,
                                   .warmup = 5,
                                   .duration = 60,
                                   .is_operation = run_part_is_operation,
                                   .context = settings};
    if (plan_make(model, &wanted, &plan, &error) < 0)
        fail_msg("%s", error.text);
    return plan;
}

static void figures_match_the_headers(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        struct settings settings = {.replay_rate = 1, .scale = 1};
        struct model *model = load(&examples[e]);
        struct plan *plan = plan_of(model, &settings);
        const struct plan_figures *figures = plan_figures(plan);
        assert_true(fabs(figures->nominal_packets - examples[e].packet_rate) < 1e-12);
        assert_true(figures->share >= examples[e].min_share);
        assert_true(figures->clients >= examples[e].min_clients);
        plan_free(plan);
        model_free(model);
    }
}

static void dry_runs_match_the_headers(void **state)
{
    (void)state;
    for (size_t e = 0; e < EXAMPLES; e++) {
        struct settings settings = {.replay_rate = 4, .scale = 5};
        struct model *model = load(&examples[e]);
        struct plan *plan = plan_of(model, &settings);
        char *text = NULL, line[80];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        assert_int_equal(dry_run(&settings, plan, out), 0);
        fclose(out);
        snprintf(line, sizeof line, "Nominal load:       %.3f packets/s",
                 20 * examples[e].packet_rate);
        assert_non_null(strstr(text, line));
        assert_null(strstr(text, "without a player"));
        free(text);
        plan_free(plan);
        model_free(model);
    }
}

/* The example of traffic-model(5), and the figures in that page. */
static void the_manual_pages_example(void **state)
{
    (void)state;
    static char page[65536];
    FILE *file = fopen("man/traffic-model.5", "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    char *begin = strstr(page, "\n.Bd -literal\n");
    assert_non_null(begin);
    begin += strlen("\n.Bd -literal\n");
    char *end = strstr(begin, "\n.Ed\n");
    assert_non_null(end);
    end[1] = '\0';
    struct warnings warnings = {0};
    struct settings settings = {.replay_rate = 2, .scale = 60};
    struct model *model = model_of(begin, &warnings);
    assert_int_equal(warnings.count, 0);
    struct plan *plan = plan_of(model, &settings);
    const struct plan_figures *figures = plan_figures(plan);
    assert_true(fabs(figures->conversation_packets - 4.9) < 1e-12);
    assert_true(fabs(figures->conversation_seconds - 3.14) < 0.005);
    assert_true(fabs(figures->client_rate - 1.56) < 0.005);
    assert_int_equal(figures->clients, 19);
    assert_true(fabs(figures->stretch - 0.988) < 0.0005);
    plan_free(plan);
    model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_packets_can_be_played),
        cmocka_unit_test(figures_match_the_headers),
        cmocka_unit_test(dry_runs_match_the_headers),
        cmocka_unit_test(the_manual_pages_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
