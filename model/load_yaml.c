/* SPDX-License-Identifier: Apache-2.0 */
/* Version 3 model files (traffic-model(5)). Each key is a row of a table, with the function that
 * reads its value. Other keys are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/yaml_tree.h"
#include "model/chain.h"
#include "model/load_private.h"

enum { FOUND_SIZE = 80, FIELDS_MAX = 8 };

struct yaml_section {
    const char *key;
    bool required;
    int (*read)(struct builder *builder, const struct yaml_node *value);
};

static int load_yaml_read_version(struct builder *builder, const struct yaml_node *value);
static int not_number(struct builder *builder, const struct yaml_node *node, const char *what);
static int load_yaml_unexpected(struct builder *builder, const struct yaml_node *node,
                                const char *what);
static int read_source(struct builder *builder, const struct yaml_node *value);
static int read_capture(struct builder *builder, const struct yaml_node *value);
static int load_yaml_read_packets(struct builder *builder, const struct yaml_node *value);
static int read_not_negative(struct builder *builder, const struct yaml_node *node, double *value);
static int load_yaml_read_seconds(struct builder *builder, const struct yaml_node *value);
static int read_conversations(struct builder *builder, const struct yaml_node *value);
static int load_yaml_read_mapping(struct builder *builder, const struct yaml_section *sections,
                                  const char *what, const struct yaml_node *node);
static const struct yaml_section *find_section(const struct yaml_section *sections,
                                               const char *key);
static int refuse_key(struct builder *builder, const struct yaml_section *sections,
                      const struct yaml_node *key);
static int load_yaml_read_packet_rate(struct builder *builder, const struct yaml_node *value);
static int load_yaml_read_history(struct builder *builder, const struct yaml_node *value);
static int read_legs(struct builder *builder, const struct yaml_node *value);
static int read_chain(struct builder *builder, const struct yaml_node *value);
static int read_transitions(struct builder *builder, const struct yaml_node *key,
                            const struct yaml_node *value);
static int load_yaml_read_count(struct builder *builder, const struct yaml_node *node,
                                uint64_t *count);
static int read_gaps(struct builder *builder, const struct yaml_node *value);
static int read_entry_gaps(struct builder *builder, const struct yaml_node *key,
                           const struct yaml_node *value);
static int read_points(struct builder *builder, const struct yaml_node *value, double *points);
static int load_yaml_read_details(struct builder *builder, const struct yaml_node *value);
static int load_yaml_read_packet_details(struct builder *builder, const struct yaml_node *key,
                                         const struct yaml_node *value);
static int read_form(struct builder *builder, uint32_t type, const struct yaml_node *form);
static int load_yaml_read_field(struct builder *builder, uint32_t type, const struct yaml_node *key,
                                const struct yaml_node *value, struct packet_field *fields,
                                size_t *count);
static int refuse_field(struct builder *builder, uint32_t type, const struct yaml_node *key);
static int load_yaml_add_field(struct builder *builder, const struct packet_rule *rule,
                               const struct yaml_node *node, struct packet_field *field);
static int load_yaml_add_value(struct builder *builder, const struct packet_rule *rule,
                               const struct yaml_node *node, const char **value);
static int check_exclusions(struct builder *builder, const struct packet_row *row,
                            const struct yaml_node *form);
static int load_yaml_read_dns(struct builder *builder, const struct yaml_node *value);
static int read_queries(struct builder *builder, const struct yaml_node *value);

int load_yaml(struct builder *builder, const char *text, size_t size)
{
    static const struct yaml_section sections[] = {
        {"version", true, load_yaml_read_version},
        {"source", false, read_source},
        {"packet_rate", true, load_yaml_read_packet_rate},
        {"history", false, load_yaml_read_history},
        {"legs", false, read_legs},
        {"chain", true, read_chain},
        {"gaps", false, read_gaps},
        {"details", false, load_yaml_read_details},
        {"dns", false, load_yaml_read_dns},
        {NULL, false, NULL}};
    struct yaml_tree *document = NULL;
    int result = yaml_tree_parse(builder->file, text, size, &document, builder->error);
    if (result < 0)
        return result;
    builder->length = 2;
    result =
        load_yaml_read_mapping(builder, sections, "a model: a mapping that begins with version: 3",
                               yaml_tree_root(document));
    yaml_tree_free(document);
    return result;
}

static int load_yaml_read_version(struct builder *builder, const struct yaml_node *value)
{
    uint64_t version;
    if (!yaml_node_unsigned(value, &version) || version != 3)
        return not_number(builder, value, "version 3");
    return 0;
}

/* Refuses a value that is not a number. Numbers in quotes are text. */
static int not_number(struct builder *builder, const struct yaml_node *node, const char *what)
{
    if (node->kind == YAML_TREE_SCALAR && node->quoted)
        return builder_wrong(builder, node->place, "expected %s, found the text '%.40s'", what,
                             node->text);
    return load_yaml_unexpected(builder, node, what);
}

/* Refuses a node: "expected <what>, found <node>". */
static int load_yaml_unexpected(struct builder *builder, const struct yaml_node *node,
                                const char *what)
{
    char found[FOUND_SIZE];
    return builder_wrong(builder, node->place, "expected %s, found %s", what,
                         yaml_node_describe(node, found, sizeof found));
}

static int read_source(struct builder *builder, const struct yaml_node *value)
{
    static const struct yaml_section sections[] = {{"capture", false, read_capture},
                                                   {"packets", false, load_yaml_read_packets},
                                                   {"seconds", false, load_yaml_read_seconds},
                                                   {"conversations", false, read_conversations},
                                                   {NULL, false, NULL}};
    return load_yaml_read_mapping(builder, sections,
                                  "a mapping of capture, packets, seconds, conversations", value);
}

static int read_capture(struct builder *builder, const struct yaml_node *value)
{
    struct model *model = builder->model;
    if (value->kind != YAML_TREE_SCALAR)
        return load_yaml_unexpected(builder, value, "the name of a capture");
    model->source.capture = arena_string(&model->arena, value->text, strlen(value->text));
    return model->source.capture ? 0 : error_no_memory(builder->error);
}

static int load_yaml_read_packets(struct builder *builder, const struct yaml_node *value)
{
    return read_not_negative(builder, value, &builder->model->source.packets);
}

static int read_not_negative(struct builder *builder, const struct yaml_node *node, double *value)
{
    if (!yaml_node_number(node, value) || *value < 0)
        return not_number(builder, node, "a number not below 0");
    return 0;
}

static int load_yaml_read_seconds(struct builder *builder, const struct yaml_node *value)
{
    return read_not_negative(builder, value, &builder->model->source.seconds);
}

static int read_conversations(struct builder *builder, const struct yaml_node *value)
{
    return read_not_negative(builder, value, &builder->model->source.conversations);
}

/* Reads sections in the order of the table, because later sections depend on earlier ones. */
static int load_yaml_read_mapping(struct builder *builder, const struct yaml_section *sections,
                                  const char *what, const struct yaml_node *node)
{
    if (node->kind != YAML_TREE_MAPPING)
        return load_yaml_unexpected(builder, node, what);
    for (size_t i = 0; i < node->count; i++)
        if (!find_section(sections, node->items[2 * i]->text))
            return refuse_key(builder, sections, node->items[2 * i]);
    for (; sections->key; sections++) {
        const struct yaml_node *value = yaml_node_get(node, sections->key);
        if (!value && sections->required)
            return builder_wrong(builder, node->place, "expected the key %s", sections->key);
        int result = value ? sections->read(builder, value) : 0;
        if (result < 0)
            return result;
    }
    return 0;
}

static const struct yaml_section *find_section(const struct yaml_section *sections, const char *key)
{
    for (; sections->key; sections++)
        if (strcmp(sections->key, key) == 0)
            return sections;
    return NULL;
}

static int refuse_key(struct builder *builder, const struct yaml_section *sections,
                      const struct yaml_node *key)
{
    char what[200] = "one of the keys";
    for (const struct yaml_section *s = sections; s->key; s++) {
        size_t used = strlen(what);
        snprintf(what + used, sizeof what - used, "%s %s", s == sections ? "" : ",", s->key);
    }
    return load_yaml_unexpected(builder, key, what);
}

static int load_yaml_read_packet_rate(struct builder *builder, const struct yaml_node *value)
{
    if (!yaml_node_number(value, &builder->model->packet_rate) || builder->model->packet_rate <= 0)
        return not_number(builder, value, "a number of packets per second above 0");
    return 0;
}

static int load_yaml_read_history(struct builder *builder, const struct yaml_node *value)
{
    uint64_t length;
    if (!yaml_node_unsigned(value, &length) || length < 1 || length > CHAIN_HISTORY_MAX)
        return not_number(builder, value, "a history of 1 to 32 entries");
    builder->length = (uint32_t)length;
    return 0;
}

static int read_legs(struct builder *builder, const struct yaml_node *value)
{
    if (value->kind != YAML_TREE_SCALAR ||
        (strcmp(value->text, "joined") != 0 && strcmp(value->text, "separate") != 0))
        return load_yaml_unexpected(builder, value, "joined or separate");
    builder->model->separate_legs = value->text[0] == 's';
    return 0;
}

static int read_chain(struct builder *builder, const struct yaml_node *value)
{
    if (value->kind != YAML_TREE_MAPPING || value->count == 0)
        return load_yaml_unexpected(builder, value, "a mapping of histories");
    for (size_t i = 0; i < value->count; i++) {
        int result = read_transitions(builder, value->items[2 * i], value->items[2 * i + 1]);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_transitions(struct builder *builder, const struct yaml_node *key,
                            const struct yaml_node *value)
{
    uint32_t history;
    int result = builder_add_history(builder, key->text, key->place, &history);
    if (result < 0)
        return result;
    if (value->kind != YAML_TREE_MAPPING || value->count == 0)
        return load_yaml_unexpected(builder, value, "a mapping of packets to counts");
    for (size_t i = 0; i < value->count && result == 0; i++) {
        const struct yaml_node *entry = value->items[2 * i];
        uint64_t count;
        result = load_yaml_read_count(builder, value->items[2 * i + 1], &count);
        if (result == 0)
            result = builder_add_transition(builder, history, entry->text, count, entry->place);
    }
    return result;
}

static int load_yaml_read_count(struct builder *builder, const struct yaml_node *node,
                                uint64_t *count)
{
    if (!yaml_node_unsigned(node, count) || *count < 1 || *count > BUILDER_COUNT_MAX)
        return not_number(builder, node, "a whole number from 1 to 1000000000000");
    return 0;
}

/* The chain was read before: entries that it does not name have no pauses. */
static int read_gaps(struct builder *builder, const struct yaml_node *value)
{
    size_t types = builder->model->type_count;
    if (value->kind != YAML_TREE_MAPPING)
        return load_yaml_unexpected(builder, value,
                                    "a mapping of packets and waits to lists of seconds");
    for (size_t i = 0; i < value->count; i++) {
        int result = read_entry_gaps(builder, value->items[2 * i], value->items[2 * i + 1]);
        if (result < 0)
            return result;
        if (builder->model->type_count > types)
            return load_yaml_unexpected(builder, value->items[2 * i], "packets of the chain");
    }
    return 0;
}

static int read_entry_gaps(struct builder *builder, const struct yaml_node *key,
                           const struct yaml_node *value)
{
    if (value->kind != YAML_TREE_SEQUENCE || value->count < 2 || value->count > GAPS_POINTS_MAX)
        return load_yaml_unexpected(builder, value, "a list of 2 to 1000 numbers of seconds");
    double *points = arena_array(&builder->model->arena, value->count, sizeof *points);
    if (!points)
        return error_no_memory(builder->error);
    int result = read_points(builder, value, points);
    if (result == 0)
        result = builder_add_gaps(builder, key->text, points, (uint32_t)value->count, key->place);
    return result;
}

static int read_points(struct builder *builder, const struct yaml_node *value, double *points)
{
    for (size_t i = 0; i < value->count; i++) {
        const struct yaml_node *item = value->items[i];
        if (!yaml_node_number(item, &points[i]) || points[i] < 0 || points[i] > GAPS_SECONDS_MAX)
            return not_number(builder, item, "seconds from 0 to 1000000");
        if (i > 0 && points[i] < points[i - 1])
            return load_yaml_unexpected(builder, item, "seconds not below those before");
    }
    return 0;
}

static int load_yaml_read_details(struct builder *builder, const struct yaml_node *value)
{
    if (value->kind != YAML_TREE_MAPPING)
        return load_yaml_unexpected(builder, value, "a mapping of packets to lists of forms");
    for (size_t i = 0; i < value->count; i++) {
        int result =
            load_yaml_read_packet_details(builder, value->items[2 * i], value->items[2 * i + 1]);
        if (result < 0)
            return result;
    }
    return 0;
}

static int load_yaml_read_packet_details(struct builder *builder, const struct yaml_node *key,
                                         const struct yaml_node *value)
{
    uint32_t type;
    int result = builder_find_type(builder, key->text, key->place, &type);
    if (result < 0)
        return result;
    if (type == UINT32_MAX)
        return load_yaml_unexpected(builder, key, "a packet of the chain");
    if (value->kind != YAML_TREE_SEQUENCE || value->count == 0)
        return load_yaml_unexpected(builder, value, "a list of the packet's forms");
    for (size_t i = 0; i < value->count && result == 0; i++)
        result = read_form(builder, type, value->items[i]);
    return result;
}

static int read_form(struct builder *builder, uint32_t type, const struct yaml_node *form)
{
    struct packet_field fields[FIELDS_MAX];
    uint64_t times = 0;
    size_t count = 0;
    int result = 0;
    if (form->kind != YAML_TREE_MAPPING)
        return load_yaml_unexpected(builder, form, "a mapping of count and fields");
    for (size_t i = 0; i < form->count && result == 0; i++) {
        const struct yaml_node *key = form->items[2 * i], *value = form->items[2 * i + 1];
        if (strcmp(key->text, "count") == 0)
            result = load_yaml_read_count(builder, value, &times);
        else
            result = load_yaml_read_field(builder, type, key, value, fields, &count);
    }
    if (result == 0 && times == 0)
        result = builder_wrong(builder, form->place, "expected the key count");
    if (result == 0)
        result = check_exclusions(builder, builder->model->types[type].row, form);
    if (result < 0)
        return result;
    struct packet_field *kept = arena_array(&builder->model->arena, count, sizeof *kept);
    if (!kept)
        return error_no_memory(builder->error);
    memcpy(kept, fields, count * sizeof *kept);
    return builder_add_details(builder, type, times, kept, count);
}

static int load_yaml_read_field(struct builder *builder, uint32_t type, const struct yaml_node *key,
                                const struct yaml_node *value, struct packet_field *fields,
                                size_t *count)
{
    const struct model_type *packet = &builder->model->types[type];
    const struct packet_rule *rule = packet_rule_find(packet->row, key->text);
    if (!rule)
        return refuse_field(builder, type, key);
    /* An empty filter means the same as no filter. */
    if (rule->type == PACKET_FILTER && value->kind == YAML_TREE_SCALAR && value->quoted &&
        value->text[0] == '\0')
        return 0;
    int result = load_yaml_add_field(builder, rule, value, &fields[*count]);
    *count += result == 0;
    return result;
}

static int refuse_field(struct builder *builder, uint32_t type, const struct yaml_node *key)
{
    char keys[120], what[200];
    const struct model_type *packet = &builder->model->types[type];
    packet_rule_keys(packet->row, keys, sizeof keys);
    snprintf(what, sizeof what, "%s%s for %s:%s", keys[0] ? "one of count, " : "only count", keys,
             packet->protocol, packet->opcode);
    return load_yaml_unexpected(builder, key, what);
}

static int load_yaml_add_field(struct builder *builder, const struct packet_rule *rule,
                               const struct yaml_node *node, struct packet_field *field)
{
    bool list = packet_rule_is_list(rule);
    char what[160];
    if (list && (node->kind != YAML_TREE_SEQUENCE || node->count == 0 ||
                 (rule->type == PACKET_OIDS && node->count > rule->max)))
        return load_yaml_unexpected(builder, node, packet_rule_expected(rule, what, sizeof what));
    size_t count = list ? node->count : 1;
    const char **values = arena_array(&builder->model->arena, count, sizeof *values);
    if (!values)
        return error_no_memory(builder->error);
    for (size_t i = 0; i < count; i++) {
        int result = load_yaml_add_value(builder, rule, list ? node->items[i] : node, &values[i]);
        if (result < 0)
            return result;
    }
    *field = (struct packet_field){rule->key, count, values};
    return 0;
}

static int load_yaml_add_value(struct builder *builder, const struct packet_rule *rule,
                               const struct yaml_node *node, const char **value)
{
    char what[160];
    const char *kept = NULL;
    if (node->kind == YAML_TREE_SCALAR && (node->text[0] || node->quoted))
        kept = packet_rule_check(rule, node->text);
    if (!kept)
        return load_yaml_unexpected(builder, node, packet_rule_expected(rule, what, sizeof what));
    *value = arena_string(&builder->model->arena, kept, strlen(kept));
    return *value ? 0 : error_no_memory(builder->error);
}

/* Refuses fields that contradict each other. */
static int check_exclusions(struct builder *builder, const struct packet_row *row,
                            const struct yaml_node *form)
{
    for (const struct packet_rule *rule = row ? row->rules : NULL; rule && rule->key; rule++) {
        const struct yaml_node *other = rule->not_with ? yaml_node_get(form, rule->not_with) : NULL;
        const struct yaml_node *field = other ? yaml_node_get(form, rule->key) : NULL;
        char what[100];
        if (!field || strcmp(other->text, rule->not_value) != 0)
            continue;
        snprintf(what, sizeof what, "no %s with %s: %s", rule->key, rule->not_with,
                 rule->not_value);
        return load_yaml_unexpected(builder, field, what);
    }
    return 0;
}

static int load_yaml_read_dns(struct builder *builder, const struct yaml_node *value)
{
    static const struct yaml_section sections[] = {{"queries", true, read_queries},
                                                   {NULL, false, NULL}};
    return load_yaml_read_mapping(builder, sections, "a mapping of queries", value);
}

static int read_queries(struct builder *builder, const struct yaml_node *value)
{
    return load_yaml_read_count(builder, value, &builder->model->dns_queries);
}
