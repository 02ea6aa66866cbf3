/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON: the round trip, how the file is written, and what result_read() refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "summary/result/result.h"
#include "tests/lib/sample_result.h"
#include "tests/lib/temporary.h"

static void json_survives_a_round_trip(void **state)
{
    (void)state;
    struct result before, after;
    struct error error = {0};
    char *path = path_in_tmp("round-trip.json");
    sample_result(&before);
    struct result_value values[] = {{"cpu", 1.5}, {"memory", NAN}};
    struct result_sample samples[] = {{0.5, 2, values}, {1.5, 1, values}};
    before.samples = samples;
    before.sample_count = 2;
    mode_t mask = umask(027);
    assert_int_equal(result_write(&before, path, &error), 0);
    umask(mask);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);

    result_init(&after);
    if (result_read(&after, path, &error) != 0)
        fail_msg("%s", error.text);
    char *text = sample_text(&before), *again = sample_text(&after);
    assert_string_equal(text, again);
    assert_true(after.seed == UINT64_MAX);
    assert_int_equal(after.label_count, 3);
    assert_string_equal(after.labels[1].value, "K\xc3\xb6ln");
    assert_int_equal(after.second_count, 10);
    assert_true(isnan(after.T));
    assert_true(after.start == 1700000000.25);
    assert_int_equal(after.sample_count, 2);
    assert_int_equal(after.samples[0].value_count, 2);
    assert_string_equal(after.samples[1].values[0].name, "cpu");
    assert_true(isnan(after.samples[0].values[1].value));
    free(text);
    free(again);

    /* A second file is identical. */
    char *second_path = path_in_tmp("again.json"), *bytes, *second_bytes;
    size_t length, second_length;
    assert_int_equal(result_write(&after, second_path, &error), 0);
    assert_int_equal(result_load(path, &bytes, &length, &error), 0);
    assert_int_equal(result_load(second_path, &second_bytes, &second_length, &error), 0);
    assert_int_equal(length, second_length);
    assert_memory_equal(bytes, second_bytes, length);
    unlink(path);
    unlink(second_path);
    free(bytes);
    free(second_bytes);
    free(path);
    free(second_path);
    before.sample_count = 0;
    result_clear(&before);
    result_clear(&after);
}

/* A command line need not be UTF-8. */
static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    struct result result, after;
    struct error error = {0};
    char *path = path_in_tmp("bytes.json");
    result_init(&result);
    result.command = "traffic-replay K\xf6ln.yaml";
    assert_int_equal(result_write(&result, path, &error), 0);
    result_init(&after);
    assert_int_equal(result_read(&after, path, &error), 0);
    assert_string_equal(after.command, "traffic-replay K?ln.yaml");
    unlink(path);
    free(path);
    result_clear(&result);
    result_clear(&after);
}

/* Results are written atomically. */
static void a_failed_write_leaves_nothing(void **state)
{
    (void)state;
    struct result result;
    struct error error = {0};
    result_init(&result);
    assert_int_equal(result_write(&result, "/nonexistent/x.json", &error), -ENOENT);
    assert_non_null(strstr(error.text, "/nonexistent/x.json: "));
    char *folder = path_in_tmp("folder.json");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_true(result_write(&result, folder, &error) < 0);
    assert_int_equal(rmdir(folder), 0);
    free(folder);
    result_clear(&result);
}

/* A device stays a device, and a link still points to its file. */
static void special_files_and_links_stay(void **state)
{
    (void)state;
    struct result result;
    struct stat status;
    struct error error = {0};
    result_init(&result);
    /* A link, so that a fault of the program cannot replace the device. */
    char *link = path_in_tmp("null.json"), *target = path_in_tmp("target.json");
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_int_equal(result_write(&result, link, &error), -ENOSPC);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(link, &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(unlink(link), 0);

    assert_int_equal(result_write(&result, target, &error), 0);
    assert_int_equal(truncate(target, 0), 0);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(result_write(&result, link, &error), 0);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(target, &status), 0);
    assert_true(status.st_size > 100);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(target), 0);
    free(link);
    free(target);
    result_clear(&result);
}

/* A valid result as a tree. */
static json_t *good_tree(void)
{
    struct result result;
    struct error error = {0};
    char *path = path_in_tmp("good.json");
    sample_result(&result);
    assert_int_equal(result_write(&result, path, &error), 0);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    unlink(path);
    free(path);
    result_clear(&result);
    return root;
}

static int parse_tree(const json_t *root, struct error *error)
{
    struct result result;
    result_init(&result);
    char *text = json_dumps(root, JSON_COMPACT);
    assert_non_null(text);
    int parsed = result_parse(&result, text, strlen(text), "x.json", error);
    free(text);
    result_clear(&result);
    return parsed;
}

/* Files of older versions do not have them. */
static const char *const later_fields[] = {
    "stopped_on_error", "dns_extra_causes", "read", "written", "requests", "sizes", "pace"};

static void spoil(json_t *root, json_t *object, const char *place, const char *name)
{
    struct error error = {0};
    json_t *value = json_incref(json_object_get(object, name));
    json_object_del(object, name);
    bool may_be_missing = false;
    for (size_t i = 0; i < sizeof later_fields / sizeof later_fields[0]; i++)
        may_be_missing |= strcmp(name, later_fields[i]) == 0;
    if (parse_tree(root, &error) != (may_be_missing ? 0 : -EINVAL) ||
        (!may_be_missing && !strstr(error.text, name)))
        fail_msg("without %s%s: %s", place, name, error.text);
    json_object_set_new(object, name, json_pack("[[]]"));
    error.text[0] = '\0';
    if (parse_tree(root, &error) != -EINVAL || !strstr(error.text, name))
        fail_msg("with a list as %s%s: %s", place, name, error.text);
    json_object_set_new(object, name, value);
    if (parse_tree(root, &error) != 0)
        fail_msg("%s%s: not restored: %s", place, name, error.text);
}

/* A field that is missing or of another type is refused by name. */
static void spoil_each(json_t *root, json_t *object, const char *place)
{
    /* Copy the names first: spoil() changes the order of an object. */
    char names[64][32];
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) if (strcmp(name, "format") != 0)
        snprintf(names[count++], sizeof names[0], "%s", name);
    assert_true(count > 1 && count <= 64);
    for (size_t i = 0; i < count; i++)
        spoil(root, object, place, names[i]);
}

static void every_field_is_required_and_typed(void **state)
{
    (void)state;
    json_t *root = good_tree();
    spoil_each(root, root, "");
    spoil_each(root, json_object_get(root, "backlog"), "backlog.");
    spoil_each(root, json_object_get(root, "cpu"), "cpu.");
    spoil_each(root, json_array_get(json_object_get(root, "packets"), 1), "packets[1].");
    spoil_each(root, json_array_get(json_object_get(root, "seconds"), 3), "seconds[3].");
    json_decref(root);
}

static void malformed_json_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"", "x.json:1:0: not JSON"},
        {"{\"format\": 1", "x.json:1:12: not JSON"},
        {"[]", "x.json: not a result"},
        {"{}", "x.json: not a result"},
        {"{\"format\": \"1\"}", "x.json: not a result"},
        {"{\"format\": 2}", "x.json: written in format 2; this program reads format 1"},
        {"{\"format\": 1, \"format\": 1}", "duplicate"},
        {"{\"format\": 1}", "x.json: program: expected a string"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct result result;
        struct error error = {0};
        result_init(&result);
        bool foreign = strstr(wrong[i].error, "not a result") != NULL;
        assert_int_equal(
            result_parse(&result, wrong[i].text, strlen(wrong[i].text), "x.json", &error),
            foreign ? -ENOMSG : -EINVAL);
        if (!strstr(error.text, wrong[i].error))
            fail_msg("%s: %s", wrong[i].text, error.text);
        result_clear(&result);
    }
}

/* Values that contradict each other. */
static void contradictory_values_are_refused(void **state)
{
    (void)state;
    static const char *const counts[] = {"planned", "sent",    "not_sent",    "dropped",   "ok",
                                         "failed",  "done_ok", "done_failed", "unfinished"};
    json_t *root = good_tree();
    struct error error = {0};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        json_int_t value = json_integer_value(json_object_get(root, counts[i]));
        json_object_set_new(root, counts[i], json_integer(value + 1));
        assert_int_equal(parse_tree(root, &error), -EINVAL);
        assert_non_null(strstr(error.text, "x.json: damaged: "));
        json_object_set_new(root, counts[i], json_integer(-1));
        assert_int_equal(parse_tree(root, &error), -EINVAL);
        json_object_set_new(root, counts[i], json_integer(value));
    }
    json_t *packet = json_array_get(json_object_get(root, "packets"), 0);
    json_object_set_new(json_object_get(packet, "causes"), "more", json_integer(1));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    json_object_del(json_object_get(packet, "causes"), "more");
    json_t *row = json_array_get(json_object_get(root, "seconds"), 2);
    json_object_set_new(row, "ok", json_integer(1000));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    json_object_set_new(row, "t", json_integer(1));
    assert_int_equal(parse_tree(root, &error), -EINVAL);
    assert_non_null(strstr(error.text, "seconds[2].t"));
    /* What a later version may add does not matter. */
    json_t *fresh = good_tree();
    json_object_set_new(fresh, "weather", json_string("fine"));
    assert_int_equal(parse_tree(fresh, &error), 0);
    json_decref(fresh);
    json_decref(root);
}

/* At any byte, and without reading past it. */
static void truncated_json_is_refused(void **state)
{
    (void)state;
    json_t *root = good_tree();
    struct error error = {0};
    char *text = json_dumps(root, JSON_COMPACT);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += cut < 3000 ? 1 : 97) {
        char *part = malloc(cut ? cut : 1);
        assert_non_null(part);
        memcpy(part, text, cut);
        struct result result;
        result_init(&result);
        assert_int_equal(result_parse(&result, part, cut, "x.json", &error), -EINVAL);
        result_clear(&result);
        free(part);
    }
    free(text);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_survives_a_round_trip),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(special_files_and_links_stay),
        cmocka_unit_test(every_field_is_required_and_typed),
        cmocka_unit_test(malformed_json_is_refused),
        cmocka_unit_test(contradictory_values_are_refused),
        cmocka_unit_test(truncated_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
