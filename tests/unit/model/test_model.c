/* SPDX-License-Identifier: Apache-2.0 */
/* Valid models: what the loaders read, the ends added to Samba v2 models, and version 3 files
 * that we write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/lib/model_text.h"

#include "model/chain.h"
#include "model/model_load.h"
#include "model/model_private.h"
#include "model/model_write.h"

/* Points of pauses are the same after writing and loading, in any order in the file. */
static const char with_gaps[] = "version: 3\npacket_rate: 1\nhistory: 2\nchain:\n"
                                "  \"- -\": {\"dns:0\": 1}\n"
                                "  \"- dns:0\": {\"ldap:3\": 1, \"wait:1\": 1}\n"
                                "  \"dns:0 wait:1\": {\"ldap:3\": 1}\n"
                                "  \"dns:0 ldap:3\": {\"-\": 1}\n"
                                "  \"wait:1 ldap:3\": {\"-\": 1}\n"
                                "gaps:\n"
                                "  \"dns:0 ldap:3\": [0.25, 0.5]\n"
                                "  \"ldap:3\": [0, 1e-06, 0.125]\n"
                                "  \"wait:1\": [0.3, 0.3, 0.7]\n"
                                "  \"- dns:0 ldap:3\": [1, 2]\n";

static const char small[] =
    "version: 3\n"
    "source: {capture: morning.pcapng, packets: 7334, seconds: 600.0, conversations: 300}\n"
    "packet_rate: 12.22                   # packets per second at -r 1 -S 1\n"
    "history: 2\n"
    "chain:\n"
    "  \"- -\":              {\"cldap:3\": 120, \"dns:0\": 88}\n"
    "  \"- cldap:3\":        {\"wait:0\": 120}\n"
    "  \"- dns:0\":          {\"-\": 88}\n"
    "  \"cldap:3 wait:0\":   {\"kerberos:10\": 61, \"-\": 3, \"ldap:0\": 50, \"ldap:3\": 6}\n"
    "  \"wait:0 kerberos:10\": {\"kerberos:\": 61}\n"
    "  \"kerberos:10 kerberos:\": {\"-\": 61}\n"
    "  \"wait:0 ldap:0\": {\"-\": 50}\n"
    "  \"wait:0 ldap:3\": {\"-\": 6}\n"
    "details:\n"
    "  \"ldap:3\":\n"
    "    - {count: 30, scope: sub, base: \"DC,DC\", filter: "
    "\"(&(sAMAccountName)(objectClass=user))\","
    " attrs: [objectSid, memberOf]}\n"
    "    - {count: 31, sealed: true}\n"
    "    - {count: 2, filter: \"\", controls: [1.2.840.113556.1.4.319]}\n"
    "  \"ldap:0\":\n"
    "    - {count: 12, auth: sasl, mech: GSS-SPNEGO, tls: none}\n"
    "    - {count: 12, auth: sasl, mech: 1.2.840.113554.1.2.2}\n"
    "  \"cldap:3\": [{count: 7}]\n"
    "dns: {queries: 265}\n";

static const struct model_type *type_of(const struct model *model, const char *protocol,
                                        const char *opcode)
{
    size_t count, index = model_find_type(model, protocol, opcode);
    assert_true(index != SIZE_MAX);
    return &model_types(model, &count)[index];
}

static void expect_field(const struct model_details *details, const char *key, const char *values)
{
    for (size_t i = 0; i < details->field_count; i++) {
        char joined[1024] = "";
        if (strcmp(details->fields[i].key, key) != 0)
            continue;
        for (size_t v = 0; v < details->fields[i].count; v++) {
            size_t used = strlen(joined);
            snprintf(joined + used, sizeof joined - used, "%s%s", v ? "," : "",
                     details->fields[i].values[v]);
        }
        assert_string_equal(joined, values);
        return;
    }
    fail_msg("no field %s", key);
}

static void a_small_model_is_read(void **state)
{
    (void)state;
    struct warnings warnings = {0};
    struct model *model = model_of(small, &warnings);
    size_t count;
    const struct model_type *types = model_types(model, &count);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(count, 6);
    assert_string_equal(types[0].protocol, "cldap");
    assert_int_equal(types[0].count, 120);
    assert_int_equal(types[0].details_count, 0);
    assert_true(model->packet_rate == 12.22);
    assert_int_equal(model->dns_queries, 265);
    assert_false(model_is_samba_v2(model));
    assert_string_equal(model_name(model), "m");
    assert_true(model_find_type(model, "ldap", "33") == SIZE_MAX);
    assert_true(model_find_type(model, "ldap", "") == SIZE_MAX);
    assert_string_equal(type_of(model, "kerberos", "")->opcode, "");
    model_free(model);
}

static void details_are_read(void **state)
{
    (void)state;
    struct model *model = model_of(small, NULL);
    const struct model_type *search = type_of(model, "ldap", "3");
    const struct model_type *bind = type_of(model, "ldap", "0");
    assert_int_equal(search->details_count, 3);
    /* the most frequent first */
    assert_int_equal(search->details[0].count, 31);
    expect_field(&search->details[0], "sealed", "true");
    assert_int_equal(search->details[1].field_count, 4);
    expect_field(&search->details[1], "scope", "sub");
    expect_field(&search->details[1], "base", "DC,DC");
    expect_field(&search->details[1], "filter", "(&(sAMAccountName)(objectClass=user))");
    expect_field(&search->details[1], "attrs", "objectSid,memberOf");
    /* an empty filter is left out */
    assert_int_equal(search->details[2].field_count, 1);
    expect_field(&search->details[2], "controls", "1.2.840.113556.1.4.319");
    expect_field(&bind->details[0], "mech", "GSS-SPNEGO");
    expect_field(&bind->details[1], "mech", "GSSAPI");
    model_free(model);
}

static void visits_follow_from_the_chain(void **state)
{
    (void)state;
    struct model *model = model_of(small, NULL);
    assert_true(fabs(type_of(model, "cldap", "3")->visits - 120.0 / 208) < 1e-15);
    assert_true(fabs(type_of(model, "kerberos", "10")->visits - 61.0 / 208) < 1e-15);
    assert_true(fabs(type_of(model, "kerberos", "")->visits - 61.0 / 208) < 1e-15);
    model_free(model);
}

/* The order of keys in a file has no effect. */
static void the_order_of_keys_does_not_matter(void **state)
{
    (void)state;
    static const char one[] = "version: 3\npacket_rate: 1\nhistory: 1\nchain:\n"
                              "  \"-\": {\"ldap:0\": 2, \"ldap:3\": 2, \"cldap:3\": 9}\n"
                              "  \"ldap:0\": {\"ldap:3\": 1, \"-\": 3}\n"
                              "  \"ldap:3\": {\"-\": 1}\n"
                              "  \"cldap:3\": {\"-\": 1}\n";
    static const char other[] = "chain:\n"
                                "  \"cldap:3\": {\"-\": 1}\n"
                                "  \"ldap:3\": {\"-\": 1}\n"
                                "  \"ldap:0\": {\"-\": 3, \"ldap:3\": 1}\n"
                                "  \"-\": {\"ldap:3\": 2, \"cldap:3\": 9, \"ldap:0\": 2}\n"
                                "history: 1\npacket_rate: 1\nversion: 3\n";
    struct model *a = model_of(one, NULL), *b = model_of(other, NULL);
    assert_int_equal(a->transition_count, b->transition_count);
    for (uint32_t t = 0; t < a->transition_count; t++) {
        assert_int_equal(a->transitions[t].entry, b->transitions[t].entry);
        assert_int_equal(a->transitions[t].next, b->transitions[t].next);
        assert_int_equal(a->transitions[t].threshold, b->transitions[t].threshold);
    }
    assert_string_equal(a->types[1].opcode, b->types[1].opcode);
    model_free(a);
    model_free(b);
}

/* JSON is YAML, so a version 3 file can be JSON. Flow style that is not JSON is YAML too. */
static void version_3_can_be_json(void **state)
{
    (void)state;
    static const char json[] = "{\"version\": 3, \"packet_rate\": 2, \"chain\": "
                               "{\"- -\": {\"ldap:3\": 1}, \"- ldap:3\": {\"-\": 1}}}";
    static const char flow[] =
        "{version: 3, packet_rate: 2, chain: {\"- -\": {\"ldap:3\": 1}, \"- ldap:3\": {\"-\": 1}}}";
    struct model *model = model_of(json, NULL);
    assert_false(model_is_samba_v2(model));
    model_free(model);
    model = model_of(flow, NULL);
    assert_true(model->packet_rate == 2);
    model_free(model);
}

static void histories_can_be_long(void **state)
{
    (void)state;
    static const char text[] =
        "version: 3\npacket_rate: 1\nhistory: 4\nchain:\n"
        "  \"- - - -\": {\"ldap:0\": 1}\n"
        "  \"- - - ldap:0\": {\"ldap:3\": 5}\n"
        "  \"- - ldap:0 ldap:3\": {\"ldap:3\": 5}\n"
        "  \"- ldap:0 ldap:3 ldap:3\": {\"ldap:3\": 5}\n"
        "  \"ldap:0 ldap:3 ldap:3 ldap:3\": {\"ldap:3\": 1}\n"
        "  \"ldap:3 ldap:3 ldap:3 ldap:3\": {\"ldap:3\": 999999999999, \"-\": 1}\n";
    struct model *model = model_of(text, NULL);
    assert_int_equal(model->history_length, 4);
    /* three, one more, then 10^12 loops on average */
    double wanted = 4 + 1e12;
    assert_true(fabs(type_of(model, "ldap", "3")->visits / wanted - 1) < 1e-12);
    model_free(model);
}

static void unreachable_histories_cause_a_warning(void **state)
{
    (void)state;
    struct warnings warnings = {0};
    struct model *model = model_of("version: 3\npacket_rate: 1\nhistory: 1\nchain:\n"
                                   "  \"-\": {\"ldap:3\": 1}\n"
                                   "  \"ldap:3\": {\"-\": 1}\n"
                                   "  \"ldap:0\": {\"ldap:0\": 1, \"-\": 1}\n",
                                   &warnings);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.last, "m:7:3: history 'ldap:0' is never reached from the start");
    assert_true(type_of(model, "ldap", "0")->visits == 0);
    model_free(model);
}

static uint64_t ends_of(const struct model *model)
{
    uint64_t ends = 0;
    for (uint32_t t = 0; t < model->transition_count; t++)
        ends += model->transitions[t].entry == CHAIN_NONE ? model->transitions[t].count : 0;
    return ends;
}

static void a_samba_model_is_read(void **state)
{
    (void)state;
    struct model *model = NULL;
    struct error error = {0};
    struct warnings warnings = {0};
    assert_int_equal(model_load(OFFICE_V2, &model, &error, keep_warning, &warnings), 0);
    assert_int_equal(warnings.count, 0);
    assert_true(model_is_samba_v2(model));
    assert_string_equal(model_name(model), "office-v2.json");
    assert_int_equal(model->histories[CHAIN_START].total, 300);
    assert_int_equal(ends_of(model), 300);
    assert_int_equal(model->history_count, 316); /* 314, and two ends that the file lacks */
    assert_int_equal(model->dns_queries, 265);
    assert_true(fabs(model->packet_rate - 7334 / 160.11345386505127) < 1e-12);
    /* In 300 conversations each packet is played as often as it was counted. */
    for (uint32_t i = 0; i < model->type_count; i++)
        assert_true(fabs(model->types[i].visits * 300 / (double)model->types[i].count - 1) < 1e-10);
    model_free(model);
}

static void details_of_a_samba_model_are_read(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    const struct model_type *search = type_of(model, "ldap", "3");
    const struct model_type *bind = type_of(model, "ldap", "0");
    assert_int_equal(search->details_count, 10);
    assert_int_equal(search->details[0].count, 828);
    expect_field(&search->details[0], "scope", "sub");
    expect_field(&search->details[0], "filter", "(&(sAMAccountName)(objectClass=user))");
    expect_field(&search->details[0], "attrs", "objectSid,userPrincipalName,memberOf");
    expect_field(&search->details[1], "scope", "base"); /* the root DSE */
    expect_field(&search->details[1], "base", "");
    assert_int_equal(bind->details_count, 2);
    assert_int_equal(bind->details[0].field_count, 1);
    expect_field(&bind->details[0], "auth", "simple");
    expect_field(&bind->details[1], "auth", "sasl");
    expect_field(&bind->details[1], "mech", "GSS-SPNEGO");
    assert_int_equal(type_of(model, "cldap", "3")->details_count, 0);
    assert_int_equal(type_of(model, "samr", "7")->details_count, 0);
    model_free(model);
}

static void the_checksum_is_that_of_the_file(void **state)
{
    (void)state;
    static const uint8_t wanted[] = {0x38, 0x95, 0x3f, 0x03, 0xea, 0xb8, 0xd5, 0x05,
                                     0xa1, 0x10, 0x93, 0xb5, 0xc1, 0x88, 0xff, 0x6c,
                                     0x5e, 0x3b, 0x79, 0x24, 0x10, 0x8e, 0xd5, 0xe4,
                                     0x78, 0x4a, 0x9d, 0xc6, 0x8a, 0xec, 0xd1, 0x6a};
    struct model *model = model_of_file(OFFICE_V2);
    assert_memory_equal(model_sha256(model), wanted, sizeof wanted);
    model_free(model);
}

/* Ends: one in the file, one missing, a history that the file lacks, and a negative balance. */
static void missing_ends_are_added(void **state)
{
    (void)state;
    struct warnings warnings = {0};
    struct model *model =
        model_of("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\n"
                 " \"-\": {\"ldap:0\": 6, \"ldap:3\": 3, \"cldap:3\": 1, \"dns:0\": 2},\n"
                 " \"ldap:0\": {\"ldap:3\": 3, \"-\": 1},\n"    /* in 6, out 4: 2 more ends */
                 " \"ldap:3\": {\"-\": 6},\n"                   /* in 6, out 6 */
                 " \"dns:0\": {\"dns:0\": 5, \"cldap:3\": 3}\n" /* in 7, out 8 */
                 "}}",
                 &warnings);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(warnings.last,
                        "m:5:2: history 'dns:0' is entered 7 times but left 8 times; "
                        "no conversation is assumed to end there");
    assert_int_equal(ends_of(model), 3 + 6 + 4);
    model_free(model);
}

static void unusual_details_are_read(void **state)
{
    (void)state;
    struct warnings warnings = {0};
    struct model *model = model_of("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\": "
                                   "{\"ldap:0\": 6, \"ldap:3\": "
                                   "6, \"samr:0\": 1}}, \"query_details\": {\n"
                                   " \"samr:0\": {\"-\": 1},\n"
                                   " \"ldap:3\": {\"2\\t-\\t-\\tcn\": 1, \"\\t\\t\\t\\t\\t\\t\": "
                                   "2, \"7\\tDC\\t\\t\\t\\t\\t\": 3},\n"
                                   " \"ldap:0\": {\"\\t\\t\\t\\t3\\tsasl\\t1.2.3\": 1},\n"
                                   " \"ldap:2\": {\"\": 3}}}",
                                   &warnings);
    const struct model_type *search = type_of(model, "ldap", "3");
    const struct model_type *bind = type_of(model, "ldap", "0");
    assert_int_equal(warnings.count, 3); /* scope 7, OID 1.2.3, ldap:2 */
    assert_string_equal(warnings.last, "m:5:2: details of ldap:2, which the chain lacks, left out");
    assert_int_equal(type_of(model, "samr", "0")->details_count, 0);
    assert_int_equal(search->details_count, 3);
    assert_int_equal(search->details[0].field_count, 1);
    expect_field(&search->details[0], "base", "DC");
    assert_int_equal(search->details[1].field_count, 0);
    expect_field(&search->details[2], "scope", "sub");
    expect_field(&search->details[2], "base", "");
    expect_field(&search->details[2], "attrs", "cn");
    assert_int_equal(bind->details[0].field_count, 1);
    expect_field(&bind->details[0], "auth", "sasl");
    model_free(model);
}

static char *written(const struct model *model)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(model_write_yaml(model, stream), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void expect_same(const struct model *a, const struct model *b)
{
    assert_int_equal(a->history_count, b->history_count);
    assert_int_equal(a->transition_count, b->transition_count);
    assert_int_equal(a->type_count, b->type_count);
    assert_true(a->packet_rate == b->packet_rate);
    assert_int_equal(a->dns_queries, b->dns_queries);
    for (uint32_t t = 0; t < a->transition_count; t++) {
        assert_int_equal(a->transitions[t].entry, b->transitions[t].entry);
        assert_int_equal(a->transitions[t].next, b->transitions[t].next);
        assert_int_equal(a->transitions[t].count, b->transitions[t].count);
        assert_int_equal(a->transitions[t].further_leg, b->transitions[t].further_leg);
    }
    for (uint32_t h = 0; h < a->history_count; h++)
        assert_true(a->histories[h].visits == b->histories[h].visits);
    for (uint32_t i = 0; i < a->type_count; i++) {
        const struct model_type *left = &a->types[i], *right = &b->types[i];
        assert_string_equal(left->protocol, right->protocol);
        assert_string_equal(left->opcode, right->opcode);
        assert_int_equal(left->details_count, right->details_count);
        for (size_t d = 0; d < left->details_count; d++) {
            assert_int_equal(left->details[d].count, right->details[d].count);
            assert_int_equal(left->details[d].field_count, right->details[d].field_count);
            for (size_t f = 0; f < left->details[d].field_count; f++) {
                const struct packet_field *field = &left->details[d].fields[f];
                char joined[2048] = "";
                for (size_t v = 0; v < field->count; v++) {
                    size_t used = strlen(joined);
                    snprintf(joined + used, sizeof joined - used, "%s%s", v ? "," : "",
                             field->values[v]);
                }
                expect_field(&right->details[d], field->key, joined);
            }
        }
    }
}

static void expect_round_trip(const struct model *model)
{
    char *once = written(model);
    struct model *again = model_of(once, NULL);
    expect_same(model, again);
    char *twice = written(again);
    /* the second file is not a conversion, so it lacks that line at the top */
    const char *body = strstr(once, "version: 3\n"), *same = strstr(twice, "version: 3\n");
    assert_non_null(body);
    assert_non_null(same);
    assert_string_equal(body, same);
    model_free(again);
    free(once);
    free(twice);
}

static void a_written_model_is_the_same(void **state)
{
    (void)state;
    struct model *model = model_of_file(OFFICE_V2);
    expect_round_trip(model);
    model_free(model);
    model = model_of(small, NULL);
    expect_round_trip(model);
    model_free(model);
}

/* In a Samba v2 model, an smb2:1 directly after another is a further leg, also after conversion. */
static void further_legs_stay_further_legs(void **state)
{
    (void)state;
    struct model *model =
        model_of("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {"
                 "\"-\\t-\": {\"smb2:1\": 3}, \"-\\tsmb2:1\": {\"smb2:1\": 2, \"wait:0\": 1}, "
                 "\"smb2:1\\twait:0\": {\"smb2:1\": 1}}}",
                 NULL);
    unsigned legs = 0;
    for (uint32_t t = 0; t < model->transition_count; t++)
        legs += model->transitions[t].further_leg;
    assert_int_equal(legs, 1);
    expect_round_trip(model);
    model_free(model);
}

/* Text that YAML could read as something else is the same after writing and loading. */
static void text_survives_writing(void **state)
{
    (void)state;
    struct model *model = model_of(
        "version: 3\nsource: {capture: \"a \\\"b\\\": #c \\u00e9\\n\\\\\"}\npacket_rate: 1e-7\n"
        "history: 1\nchain: {\"-\": {\"ldap:3\": 1, \"kerberos:12\": 1}, \"ldap:3\": {\"-\": 1}, "
        "\"kerberos:12\": {\"-\": 1}}\n"
        "details:\n"
        "  \"ldap:3\":\n"
        "  - {count: 3, filter: \"(cn=\\\"\\\\#: \\x01\\x7f\\u20ac)\", attrs: [\"*\", \"+\", "
        "\"1.1\", \"cn;lang-de\"]}\n"
        "  \"kerberos:12\": [{count: 1, service: \"null\"}, {count: 1, service: \"1e5\"}]\n",
        NULL);
    expect_round_trip(model);
    model_free(model);
}

static void write_errors_are_reported(void **state)
{
    (void)state;
    struct model *model = model_of(small, NULL);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(model_write_yaml(model, full), -ENOSPC);
    fclose(full);
    model_free(model);
}

/* Histories too long for a simple key of YAML. */
static void long_keys_survive_writing(void **state)
{
    (void)state;
    enum { LENGTH = 32 };
    static const char name[] = "a-protocol-with-a-rather-long-name-indeed:12345";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "version: 3\npacket_rate: 1\nhistory: %d\nchain:\n", LENGTH);
    for (int filled = 0; filled <= LENGTH; filled++) {
        fputs("  ? ", out);
        for (int i = 0; i < LENGTH; i++)
            fprintf(out, "%s%s", i ? " " : "\"", i < LENGTH - filled ? "-" : name);
        fprintf(out, "\"\n  : {\"%s\": 1%s}\n", name, filled == LENGTH ? ", \"-\": 1" : "");
    }
    fclose(out);
    struct model *model = model_of(text, NULL);
    assert_int_equal(model->history_count, LENGTH + 1);
    expect_round_trip(model);
    model_free(model);
    free(text);
}

/* The fuzzers' seeds: each file is read without a fault, and models that load can be written. */
static void run_corpus(const char *folder)
{
    unsigned loaded = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct error error = {0};
        char path[512];
        struct model *model = NULL;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (model_load(path, &model, &error, NULL, NULL) < 0) {
            assert_ptr_equal(strstr(error.text, path), error.text);
            continue;
        }
        loaded++;
        expect_round_trip(model);
        model_free(model);
    }
    closedir(directory);
    assert_true(loaded > 0);
}

static void the_models_of_the_corpus_are_read(void **state)
{
    (void)state;
    run_corpus("tests/fuzz/seeds/model_yaml");
    run_corpus("tests/fuzz/seeds/model_samba");
}

static void pauses_survive_writing(void **state)
{
    char *text = NULL;
    size_t size = 0;
    (void)state;
    struct model *model = model_of(with_gaps, NULL);
    assert_int_equal(model->gaps_count, 4);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(model_write_yaml(model, out), 0);
    fclose(out);
    assert_non_null(strstr(text, "  \"wait:1\": [0.3, 0.3, 0.7]\n"
                                 "  \"ldap:3\": [0, 1e-06, 0.125]\n"
                                 "  \"dns:0 ldap:3\": [0.25, 0.5]\n"
                                 "  \"- dns:0 ldap:3\": [1, 2]\n"));
    struct model *again = model_of(text, NULL);
    for (uint32_t t = 0; t < model->transition_count; t++)
        assert_int_equal(again->transitions[t].gaps, model->transitions[t].gaps);
    /* dns:0 comes first; ldap:3 after it has the points of the longest key; after wait:1 it has
     * no pause */
    for (uint32_t h = 0; h < model->history_count; h++) {
        const struct chain_history *history = &model->histories[h];
        const struct chain_transition *first = &model->transitions[history->first];
        bool waited = history->entries[1] == CHAIN_WAIT + 1;
        if (history->entries[1] == CHAIN_NONE)
            assert_int_equal(first->gaps, CHAIN_GAPS_FORMULA);
        else if (waited)
            assert_int_equal(first->gaps, CHAIN_GAPS_NONE);
        else if (first->entry != CHAIN_NONE && chain_is_packet(first->entry))
            assert_int_equal(first->gaps, 3);
    }
    model_free(again);
    model_free(model);
    free(text);
}

/* As many as a file can have within some megabytes. They are in the order of their counts, and
 * those with equal counts in the order of the file. */
static void many_forms_are_read(void **state)
{
    enum { FORMS = 100000 };
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    fputs("version: 3\npacket_rate: 1\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n"
          "  \"ldap:3\": {\"-\": 1}\ndetails:\n  \"ldap:3\":\n",
          out);
    for (int i = 0; i < FORMS; i++)
        fprintf(out, "    - {count: %d, scope: sub, filter: \"(a%d)\"}\n", 1 + (i == 77777), i);
    fclose(out);
    struct model *model = model_of(text, NULL);
    const struct model_type *type = type_of(model, "ldap", "3");
    assert_int_equal(type->details_count, FORMS);
    expect_field(&type->details[0], "filter", "(a77777)");
    expect_field(&type->details[1], "filter", "(a0)");
    expect_field(&type->details[FORMS - 1], "filter", "(a99999)");
    model_free(model);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_survive_writing),
        cmocka_unit_test(a_small_model_is_read),
        cmocka_unit_test(details_are_read),
        cmocka_unit_test(many_forms_are_read),
        cmocka_unit_test(visits_follow_from_the_chain),
        cmocka_unit_test(the_order_of_keys_does_not_matter),
        cmocka_unit_test(version_3_can_be_json),
        cmocka_unit_test(histories_can_be_long),
        cmocka_unit_test(unreachable_histories_cause_a_warning),
        cmocka_unit_test(a_samba_model_is_read),
        cmocka_unit_test(details_of_a_samba_model_are_read),
        cmocka_unit_test(the_checksum_is_that_of_the_file),
        cmocka_unit_test(missing_ends_are_added),
        cmocka_unit_test(unusual_details_are_read),
        cmocka_unit_test(a_written_model_is_the_same),
        cmocka_unit_test(further_legs_stay_further_legs),
        cmocka_unit_test(text_survives_writing),
        cmocka_unit_test(write_errors_are_reported),
        cmocka_unit_test(long_keys_survive_writing),
        cmocka_unit_test(the_models_of_the_corpus_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
