/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong models: the exact message of the loader for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "model/model_load.h"
#include "tests/lib/model_text.h"

#define TEXT(literal) (literal), sizeof(literal) - 1

static const struct broken {
    const char *name;
    const char *text;
    size_t size;
    const char *message;
} table[] = {
    {"unknown key",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\nrate: 3\n"),
     "m:7:1: expected one of the keys version, source, packet_rate, history, legs, chain, gaps, "
     "details, "
     "dns, found 'rate'"},
    {"unknown key of source",
     TEXT("version: 3\nsource: {capture: a, packet: 1}\npacket_rate: 1\nchain:\n  \"-\": "
          "{\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:2:22: expected one of the keys capture, packets, seconds, conversations, found 'packet'"},
    {"unknown key of dns",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndns: {queries: 1, rate: 2}\n"),
     "m:7:19: expected one of the keys queries, found 'rate'"},
    {"gaps, no mapping",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: 3\n"),
     "m:7:7: expected a mapping of packets and waits to lists of seconds, found '3'"},
    {"gaps of a packet not there",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:0\": [0, 1]}\n"),
     "m:7:8: expected packets of the chain, found 'ldap:0'"},
    {"gaps of an end",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"-\": [0, 1]}\n"),
     "m:7:8: expected a packet or wait:N at the end, found '-'"},
    {"gaps after too much",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3 ldap:3 ldap:3\": [0, 1]}\n"),
     "m:7:8: expected at most 2 entries, history and one more"},
    {"finer gaps only",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3 ldap:3\": [0, 1]}\n"),
     "m:7:8: expected gaps of 'ldap:3' alone too"},
    {"one point",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3\": [1]}\n"),
     "m:7:18: expected a list of 2 to 1000 numbers of seconds, found a sequence"},
    {"points that fall",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3\": [1, 0.5]}\n"),
     "m:7:22: expected seconds not below those before, found '0.5'"},
    {"negative point",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3\": [-1, 0.5]}\n"),
     "m:7:19: expected seconds from 0 to 1000000, found '-1'"},
    {"endless point",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3\": [1, .inf]}\n"),
     "m:7:22: expected seconds from 0 to 1000000, found '.inf'"},
    {"point as text",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ngaps: {\"ldap:3\": [1, \"2\"]}\n"),
     "m:7:22: expected seconds from 0 to 1000000, found the text '2'"},
    {"other version",
     TEXT("version: 4\npacket_rate: 2\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:1:10: expected version 3, found '4'"},
    {"version as text",
     TEXT("version: \"3\"\npacket_rate: 2\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:1:10: expected version 3, found the text '3'"},
    {"no version",
     TEXT("packet_rate: 2\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:1:1: expected the key version"},
    {"no rate",
     TEXT("version: 3\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:1:1: expected the key packet_rate"},
    {"no chain", TEXT("version: 3\npacket_rate: 2\nhistory: 1\n"), "m:1:1: expected the key chain"},
    {"negative count",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": -1}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '-1'"},
    {"zero count",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 0}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '0'"},
    {"broken count",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1.5}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '1.5'"},
    {"count as text",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": \"1\"}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found the text '1'"},
    {"count nothing",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": }\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found nothing"},
    {"huge count",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1000000000001}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '1000000000001'"},
    {"count beyond 64 bits",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": "
          "99999999999999999999999}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '99999999999999999999999'"},
    {"count not a number",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": .nan}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '.nan'"},
    {"count infinite",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": .inf}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found '.inf'"},
    {"count a list",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": [1]}\n"),
     "m:5:19: expected a whole number from 1 to 1000000000000, found a sequence"},
    {"rate not a number",
     TEXT("version: 3\npacket_rate: .nan\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found '.nan'"},
    {"rate NaN",
     TEXT("version: 3\npacket_rate: NaN\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found 'NaN'"},
    {"rate infinite",
     TEXT("version: 3\npacket_rate: inf\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found 'inf'"},
    {"rate too large",
     TEXT("version: 3\npacket_rate: 1e999\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found '1e999'"},
    {"rate zero",
     TEXT("version: 3\npacket_rate: 0\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found '0'"},
    {"rate negative",
     TEXT("version: 3\npacket_rate: -1.5\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found '-1.5'"},
    {"rate hexadecimal",
     TEXT("version: 3\npacket_rate: 0x10\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": {\"-\": "
          "1}\n"),
     "m:2:14: expected a number of packets per second above 0, found '0x10'"},
    {"history zero",
     TEXT("version: 3\npacket_rate: 1\nhistory: 0\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\n"),
     "m:3:10: expected a history of 1 to 32 entries, found '0'"},
    {"history too long",
     TEXT("version: 3\npacket_rate: 1\nhistory: 33\nchain:\n  \"-\": {\"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\n"),
     "m:3:10: expected a history of 1 to 32 entries, found '33'"},
    {"history of the wrong length",
     TEXT("version: 3\npacket_rate: 1\nhistory: 2\nchain:\n  \"- -\": {\"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\n"),
     "m:6:3: expected a history of 2 entries, found 1: 'ldap:3'"},
    {"history too long here",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"- "
          "ldap:3\": {\"-\": 1}\n"),
     "m:6:3: expected a history of 1 entry, found 2: '- ldap:3'"},
    {"two blanks in a history",
     TEXT("version: 3\npacket_rate: 1\nchain:\n  \"-  -\": {\"ldap:3\": 1}\n"),
     "m:4:3: expected a history of 2 entries, found 3: '-  -'"},
    {"end inside a history",
     TEXT("version: 3\npacket_rate: 1\nchain:\n  \"ldap:3 -\": {\"ldap:3\": 1}\n"),
     "m:4:3: expected '-' only before a conversation's first entries"},
    {"packet without a colon",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap3\": 1}\n"),
     "m:5:9: expected a packet like ldap:3, wait:N or -, found 'ldap3'"},
    {"packet without a protocol",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\":3\": 1}\n"),
     "m:5:9: expected a packet like ldap:3, wait:N or -, found ':3'"},
    {"packet with two colons",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3:4\": 1}\n"),
     "m:5:9: expected a packet like ldap:3, wait:N or -, found 'ldap:3:4'"},
    {"packet with a blank",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap: 3\": 1}\n"),
     "m:5:9: expected a packet like ldap:3, wait:N or -, found 'ldap: 3'"},
    {"history without a colon",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap3\": "
          "{\"-\": 1}\n"),
     "m:6:3: expected a packet like ldap:3, wait:N or -, found 'ldap3'"},
    {"wait without a number",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"wait:x\": 1}\n"),
     "m:5:9: expected wait:0 to wait:20, found 'wait:x'"},
    {"wait too long",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"wait:21\": 1}\n"),
     "m:5:9: expected wait:0 to wait:20, found 'wait:21'"},
    {"wait with a leading zero",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"wait:01\": 1}\n"),
     "m:5:9: expected wait:0 to wait:20, found 'wait:01'"},
    {"duplicate top key",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nhistory: 2\nchain:\n  \"-\": {\"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\n"),
     "m:4:1: expected each key once, found 'history' again"},
    {"duplicate history",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:7:3: expected each key once, found 'ldap:3' again"},
    {"duplicate packet",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1, \"ldap:3\": "
          "2}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:5:22: expected each key once, found 'ldap:3' again"},
    {"end at the start",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"-\": 1, \"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\n"),
     "m:5:9: expected a packet or a wait at the start, found an end"},
    {"no start", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:1:1: expected a history '-', the start of conversations"},
    {"leads nowhere",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1, \"ldap:0\": 2}\n"),
     "m:6:22: expected a history 'ldap:0' in the chain, to which this leads"},
    {"no way out",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1, \"cldap:3\": "
          "1}\n  \"ldap:3\": {\"ldap:0\": 1}\n  \"ldap:0\": {\"ldap:3\": 7, \"wait:2\": 1}\n  "
          "\"wait:2\": {\"ldap:3\": 1}\n  \"cldap:3\": {\"-\": 1}\n"),
     "m:6:3: expected a way to an end ('-'), found none out of ldap:0, ldap:3, wait:2"},
    {"no way out anywhere",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"ldap:3\": 1}\n"),
     "m:5:3: expected a way to an end ('-'), found none out of ldap:3"},
    {"never sends",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"wait:0\": 1}\n  \"wait:0\": "
          "{\"wait:0\": 1, \"-\": 1}\n"),
     "m:5:3: expected a packet somewhere after the start, found only waits"},
    {"nothing after a history",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {}\n"),
     "m:5:8: expected a mapping of packets to counts, found an empty mapping"},
    {"empty chain", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain: {}\n"),
     "m:4:8: expected a mapping of histories, found an empty mapping"},
    {"chain a list", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  - \"ldap:3\"\n"),
     "m:5:3: expected a mapping of histories, found a sequence"},
    {"chain nothing", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n"),
     "m:4:7: expected a mapping of histories, found nothing"},
    {"transitions a number", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": 3\n"),
     "m:5:8: expected a mapping of packets to counts, found '3'"},
    {"details of an unknown packet",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:0\":\n    - {count: 1}\n"),
     "m:8:3: expected a packet of the chain, found 'ldap:0'"},
    {"details of no packet",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  ldap:\n    - {count: 1}\n"),
     "m:8:3: expected a packet like ldap:3, found 'ldap'"},
    {"details a mapping",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\": {count: 1}\n"),
     "m:8:13: expected a list of the packet's forms, found a mapping"},
    {"details an empty list",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\": []\n"),
     "m:8:13: expected a list of the packet's forms, found an empty sequence"},
    {"details without a count",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {scope: sub}\n"),
     "m:9:7: expected the key count"},
    {"details with count 0",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 0}\n"),
     "m:9:15: expected a whole number from 1 to 1000000000000, found '0'"},
    {"unknown field",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, attributes: [cn]}\n"),
     "m:9:18: expected one of count, scope, base, filter, attrs, controls, sealed for ldap:3, "
     "found 'attributes'"},
    {"field of another packet",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, auth: simple}\n"),
     "m:9:18: expected one of count, scope, base, filter, attrs, controls, sealed for ldap:3, "
     "found 'auth'"},
    {"field of a packet without fields",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"dcerpc:11\": 1}\n  "
          "\"dcerpc:11\": {\"-\": 1}\ndetails:\n  \"dcerpc:11\": [{count: 1, level: 2}]\n"),
     "m:8:28: expected only count for dcerpc:11, found 'level'"},
    {"unknown scope",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, scope: subtree}\n"),
     "m:9:25: expected one of base, one, sub, found 'subtree'"},
    {"filter a list",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, filter: [a]}\n"),
     "m:9:26: expected an LDAP filter without values, found a sequence"},
    {"filter nothing",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, filter: }\n"),
     "m:9:26: expected an LDAP filter without values, found nothing"},
    {"attributes not a list",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, attrs: cn}\n"),
     "m:9:25: expected a list of names without blanks and commas, found 'cn'"},
    {"attributes empty",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, attrs: []}\n"),
     "m:9:25: expected a list of names without blanks and commas, found an empty sequence"},
    {"attribute with a comma",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, attrs: [\"cn,sn\"]}\n"),
     "m:9:26: expected a list of names without blanks and commas, found 'cn,sn'"},
    {"attribute a mapping",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, attrs: [{a: b}]}\n"),
     "m:9:26: expected a list of names without blanks and commas, found a mapping"},
    {"base with values",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, base: \"DC=a,DC=b\"}\n"),
     "m:9:24: expected a DN pattern like CN,CN,DC,DC, found 'DC=a,DC=b'"},
    {"sealed maybe",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:3\":\n    - {count: 1, sealed: maybe}\n"),
     "m:9:26: expected true or false, found 'maybe'"},
    {"unknown mechanism",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:0\": [{count: 1, auth: sasl, mech: DIGEST-MD5}]\n"),
     "m:8:43: expected one of GSS-SPNEGO, GSSAPI, found 'DIGEST-MD5'"},
    {"mechanism of a simple bind",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:0\": 1}\n  \"ldap:0\": "
          "{\"-\": 1}\ndetails:\n  \"ldap:0\": [{count: 1, auth: simple, mech: GSSAPI}]\n"),
     "m:8:45: expected no mech with auth: simple, found 'GSSAPI'"},
    {"level too large",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"samr:36\": 1}\n  "
          "\"samr:36\": {\"-\": 1}\ndetails:\n  \"samr:36\": [{count: 1, level: 65536}]\n"),
     "m:8:33: expected one of 1-14, 16, 17, 20, 21, found '65536'"},
    {"class 0",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"smb2:14\": 1}\n  "
          "\"smb2:14\": {\"-\": 1}\ndetails:\n  \"smb2:14\": [{count: 1, class: 0}]\n"),
     "m:8:33: expected a whole number from 1 to 255, found '0'"},
    {"service",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"kerberos:12\": 1}\n  "
          "\"kerberos:12\": {\"-\": 1}\ndetails:\n  \"kerberos:12\": [{count: 1, service: "
          "cifs/dc1}]\n"),
     "m:8:39: expected a word of letters, digits, '.', '-' and '_', found 'cifs/dc1'"},
    {"control",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\ndetails:\n  \"ldap:3\": [{count: 1, controls: [paged]}]\n"),
     "m:8:36: expected a list of at most 16 OIDs, found 'paged'"},
    {"unknown DNS type",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"dns:0\": 1}\n  \"dns:0\": "
          "{\"-\": 1}\ndetails:\n  \"dns:0\": [{count: 1, type: FOO}]\n"),
     "m:8:30: expected a DNS type like A, SRV or TYPE65, found 'FOO'"},
    {"legs",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nlegs: both\nchain:\n  \"-\": {\"ldap:3\": 1}\n  "
          "\"ldap:3\": {\"-\": 1}\n"),
     "m:4:7: expected joined or separate, found 'both'"},
    {"conversations negative",
     TEXT("version: 3\nsource: {conversations: -1}\npacket_rate: 1\nchain:\n  \"-\": {\"ldap:3\": "
          "1}\n  \"ldap:3\": {\"-\": 1}\n"),
     "m:2:25: expected a number not below 0, found '-1'"},
    {"alias",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": &a {\"ldap:3\": 1}\n  "
          "\"ldap:3\": *a\n"),
     "m:5:8: expected no anchors and no tags"},
    {"alias alone", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain: *chain\n"),
     "m:4:8: expected no aliases"},
    {"tag", TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain: !!map {}\n"),
     "m:4:8: expected no anchors and no tags"},
    {"key a list", TEXT("version: 3\npacket_rate: 2\nhistory: 1\n? [a]\n: 3\n"),
     "m:4:3: expected a plain key"},
    {"not YAML", TEXT("version: 3\n	packet_rate: 2\n"),
     "m:2:1: expected YAML: found a tab character that violates indentation, while scanning a "
     "plain scalar"},
    {"unclosed", TEXT("version: 3\nchain: {\"-\": {\"ldap:3\": 1}\n"),
     "m:3:1: expected YAML: did not find expected ',' or '}', while parsing a flow mapping"},
    {"a list", TEXT("- version: 3\n"),
     "m:1:1: expected a model: a mapping that begins with version: 3, found a sequence"},
    {"a word", TEXT("hello\n"),
     "m:1:1: expected a model: a mapping that begins with version: 3, found 'hello'"},
    {"only a comment", TEXT("# nothing\n"), "m:1:1: expected a document, found nothing"},
    {"two documents",
     TEXT("version: 3\npacket_rate: 2\nhistory: 1\nchain:\n  \"-\": {\"ldap:3\": 1}\n  \"ldap:3\": "
          "{\"-\": 1}\n---\nversion: 3\n"),
     "m:7:1: expected one document"},
    {"too deep",
     TEXT("version: "
          "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]"
          "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"),
     "m:1:73: expected at most 64 levels of nesting"},
    {"not UTF-8", TEXT("version: 3\npacket_rate: 2\nhistory: 1\n# caf\xe9\n"),
     "m:4:6: expected UTF-8 text: incomplete UTF-8 octet sequence"},
    {"JSON: cut off", TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": "),
     "m:1:49: expected JSON: unexpected token near end of file"},
    {"JSON: not JSON", TEXT("{\"version\": 2,, }"),
     "m:1:15: expected JSON: string or '}' expected near ','"},
    {"JSON: other version", TEXT("{\"version\": 4, \"packet_rate\": [10, 5],\n \"ngrams\": {}}"),
     "m:1:13: expected version 2, found 4"},
    {"JSON: no version",
     TEXT("{\"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:1: expected the key version"},
    {"JSON: no ngrams", TEXT("{\"version\": 2, \"packet_rate\": [10, 5]}"),
     "m:1:1: expected the key ngrams"},
    {"JSON: no rate", TEXT("{\"version\": 2, \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:1: expected the key packet_rate"},
    {"JSON: rate a number",
     TEXT("{\"version\": 2, \"packet_rate\": 3, \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:31: expected [packets, seconds], both above 0, found 3"},
    {"JSON: rate without time",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 0], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:31: expected [packets, seconds], both above 0, found an array"},
    {"JSON: rate of three",
     TEXT(
         "{\"version\": 2, \"packet_rate\": [10, 5, 1], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:31: expected [packets, seconds], both above 0, found an array"},
    {"JSON: unknown key",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5],\n  \"grams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:2:3: expected one of the keys version, ngrams, query_details, packet_rate, dns, "
     "cumulative_duration, found 'grams'"},
    {"JSON: unknown key in another script", TEXT("{\"version\": 2, \"caf\xc3\xa9\": 1, \"x\": 2}"),
     "m:1:16: expected one of the keys version, ngrams, query_details, packet_rate, dns, "
     "cumulative_duration, found 'caf\xc3\xa9'"},
    {"JSON: empty", TEXT("{}"), "m:1:1: expected the key version"},
    {"JSON: an array", TEXT("[1, 2]"), "m:1:1: expected a model: an object, found an array"},
    {"JSON: ngrams an array", TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": []}"),
     "m:1:50: expected an object of histories, found an array"},
    {"JSON: ngrams empty", TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {}}"),
     "m:1:1: expected a chain with histories, found an empty one"},
    {"JSON: transitions a number",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\":\n  3}}"),
     "m:2:3: expected an object of packets and counts, found 3"},
    {"JSON: negative count",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1, "
          "\"ldap:0\":\n -4}}}"),
     "m:2:2: expected a whole number from 1 to 1000000000000, found -4"},
    {"JSON: zero count",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 0}}}"),
     "m:1:70: expected a whole number from 1 to 1000000000000, found 0"},
    {"JSON: broken count",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1.5}}}"),
     "m:1:70: expected a whole number from 1 to 1000000000000, found a number"},
    {"JSON: count as text",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": "
          "\"1\"}}}"),
     "m:1:70: expected a whole number from 1 to 1000000000000, found '1'"},
    {"JSON: count null",
     TEXT(
         "{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": null}}}"),
     "m:1:70: expected a whole number from 1 to 1000000000000, found null"},
    {"JSON: NaN",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": NaN}}}"),
     "m:1:70: expected JSON: invalid token near 'NaN'"},
    {"JSON: count beyond 64 bits",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": "
          "99999999999999999999}}}"),
     "m:1:70: expected JSON: too big integer near '99999999999999999999'"},
    {"JSON: rate infinite",
     TEXT(
         "{\"version\": 2, \"packet_rate\": [1e999, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:1:32: expected JSON: real number overflow near '1e999'"},
    {"JSON: history of the wrong length",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1},\n  "
          "\"ldap:3\": {\"ldap:3\": 1}}}"),
     "m:2:3: expected a history of 2 entries, found 1: 'ldap:3'"},
    {"JSON: packet without a colon",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1, "
          "\"ldap3\": 1}}}"),
     "m:1:73: expected a packet like ldap:3, wait:N or -, found 'ldap3'"},
    {"JSON: history without a colon",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}, "
          "\"-\\tldap3\": {\"ldap:3\": 1}}}"),
     "m:1:74: expected a packet like ldap:3, wait:N or -, found 'ldap3'"},
    {"JSON: duplicate history",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1},\n "
          "\"-\\t-\": {\"ldap:3\": 1}}}"),
     "m:2:2: expected each key once: duplicate object key near '\"-\\t-\"'"},
    {"JSON: duplicate packet",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1, "
          "\"ldap:3\": 1}}}"),
     "m:1:73: expected each key once: duplicate object key near '\"ldap:3\"'"},
    {"JSON: no start",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\tldap:3\": {\"ldap:3\": "
          "1}}}"),
     "m:1:1: expected a history '- -', the start of conversations"},
    {"JSON: end at the start",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1, "
          "\"-\": 2}}}"),
     "m:1:73: expected a packet or a wait at the start, found an end"},
    {"JSON: no way out",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1},\n "
          "\"ldap:0\\tldap:0\": {\"ldap:0\": 7}}}"),
     "m:2:2: expected a way to an end ('-'), found none out of ldap:0"},
    {"JSON: never sends",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"wait:0\": 1}}}"),
     "m:1:51: expected a packet somewhere after the start, found only waits"},
    {"JSON: details of no packet",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}},\n "
          "\"query_details\": {\"ldap\": {\"\": 1}}}"),
     "m:2:20: expected a packet like ldap:3, found 'ldap'"},
    {"JSON: details an array",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, "
          "\"query_details\": {\"ldap:3\": []}}"),
     "m:1:103: expected an object of details and counts, found an array"},
    {"JSON: details with count 0",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, "
          "\"query_details\": {\"ldap:3\": {\"\\t\":\n 0}}}"),
     "m:2:2: expected a whole number from 1 to 1000000000000, found 0"},
    {"JSON: dns a number",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, "
          "\"dns\": 3}"),
     "m:1:82: expected an object of DNS opcodes and counts, found 3"},
    {"JSON: dns by name",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, "
          "\"dns\": {\"query\": 3}}"),
     "m:1:83: expected a DNS opcode, found 'query'"},
    {"JSON: duration as text",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, "
          "\"cumulative_duration\": \"3\"}"),
     "m:1:98: expected a number of seconds, found '3'"},
    {"JSON: too deep",
     TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]"
          "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"),
     "m:1:65: expected at most 64 levels of nesting"},
    {"JSON: key with NUL",
     TEXT("{\"version\": 2, \"packet_rate\": [10, 5], \"ngrams\": {\"\\u0000\": {}}}"),
     "m:1:51: expected JSON: NUL byte in object key not supported near '\"\\u0000\"'"},
    {"a Samba model of version 1",
     TEXT("{\"ngrams\": {\"-\\t-\": {\"ldap:3\": 1}}, \"query_details\": {}, "
          "\"conversation_rate\": [2, "
          "1.5], \"dns\": {}}"),
     "m:1:1: found a Samba traffic model of version 1 (Samba 4.7 to 4.9), which has no packet "
     "rate; recreate it from its capture with traffic-learn"},
    {"tshark's PDML", TEXT("<?xml version=\"1.0\"?>\n<pdml version=\"0\">\n"),
     "m:1:1: found tshark's PDML; give the capture itself to traffic-learn"},
    {"empty file", TEXT(""), "m:1:1: expected text, found an empty file"},
    {"NUL byte",
     TEXT("version: 3\nab\x00"
          "c"),
     "m:2:3: expected text, found a NUL byte"},
    {"packet capture", TEXT("\x0a\x0d\x0d\x0a????"),
     "m:1:1: expected text, found a packet capture (traffic-learn makes models of them)"},
    {"UTF-16", TEXT("\xff\xfev\x00"), "m:1:1: expected UTF-8, found UTF-16"},
};

static void expect_message(const char *name, const char *text, size_t size, const char *message)
{
    struct model *model = NULL;
    struct error error = {0};
    int result = model_load_text("m", text, size, &model, &error, NULL, NULL);
    if (result != -EINVAL || strcmp(error.text, message) != 0)
        fail_msg("%s: got %d, %s", name, result, error.text);
}

static void each_mistake_has_its_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        expect_message(table[i].name, table[i].text, table[i].size, table[i].message);
}

/* Neither a byte order mark nor characters of several bytes shift columns. */
static void columns_count_characters(void **state)
{
    (void)state;
    static const char yaml[] = "\xef\xbb\xbfversion: 4\n";
    static const char wide[] = "version: 3\nsource: {capture: \xc3\xa9\xe2\x82\xac, x: 1}\n";
    static const char json[] = "\xef\xbb\xbf{\"version\": 3, \"ngrams\": {}}";
    expect_message("BOM, YAML", TEXT(yaml), "m:1:10: expected version 3, found '4'");
    expect_message("wide", TEXT(wide),
                   "m:2:23: expected one of the keys capture, packets, seconds, conversations, "
                   "found 'x'");
    expect_message("BOM, JSON", TEXT(json), "m:1:13: expected version 2, found 3");
}

/* No text of a file can control a terminal. */
static void control_characters_are_made_visible(void **state)
{
    (void)state;
    static const char json[] =
        "{\"version\": 2, \"packet_rate\": [1, 1], \"ngrams\": {\"-\": {\"a\\u001b[2J\": 1}}}";
    static const char yaml[] = "version: 3\n\"a\\x1b[2J\": 1\n";
    expect_message("JSON", TEXT(json),
                   "m:1:56: expected a packet like ldap:3, wait:N or -, found 'a?[2J'");
    expect_message("YAML", TEXT(yaml),
                   "m:2:1: expected one of the keys version, source, packet_rate, history, legs, "
                   "chain, gaps, details, dns, found 'a?[2J'");
}

/* Each file truncated to each length is refused with a place and never loads. */
static void truncated_models_are_refused(void **state)
{
    (void)state;
    static const char yaml[] =
        "version: 3\npacket_rate: 1\nchain: {\"- -\": {\"ldap:3\": 1}, \"- ldap:3\": {\"-\": 1}}";
    static const char json[] = "{\"version\": 2, \"packet_rate\": [1, 2], \"ngrams\": {\"-\\t-\": "
                               "{\"ldap:3\": 1}}, \"query_details\": {\"ldap:3\": {\"\": 1}}}";
    const char *const texts[] = {yaml, json};
    for (size_t t = 0; t < 2; t++) {
        for (size_t size = 0; size < strlen(texts[t]); size++) {
            struct model *model = NULL;
            struct error error = {0};
            assert_int_equal(model_load_text("m", texts[t], size, &model, &error, NULL, NULL),
                             -EINVAL);
            assert_ptr_equal(strstr(error.text, "m:"), error.text);
        }
        model_free(model_of(texts[t], NULL));
    }
}

static void expect_file(const char *path, int result, const char *message)
{
    struct model *model = NULL;
    struct error error = {0};
    assert_int_equal(model_load(path, &model, &error, NULL, NULL), result);
    assert_string_equal(error.text, message);
}

static void unreadable_files_are_reported(void **state)
{
    (void)state;
    char path[] = "/tmp/test-model-XXXXXX", message[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    expect_file("/nonexistent/model.yaml", -ENOENT,
                "/nonexistent/model.yaml: No such file or directory");
    expect_file("/tmp", -EINVAL, "/tmp: expected a file, found a directory");
    expect_file("/dev/null", -EINVAL, "/dev/null:1:1: expected text, found an empty file");
    assert_int_equal(ftruncate(fd, MODEL_FILE_MAX + 1), 0);
    snprintf(message, sizeof message, "%s:1:1: expected at most 64 MiB", path);
    expect_file(path, -EFBIG, message);
    close(fd);
    unlink(path);
}

static void standard_input_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "version: 3\npacket_rate: 1\nchain: {\"- -\": {\"ldap:3\": 1}, \"- ldap:3\": {\"-\": 1}}";
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    struct model *model = model_of_file("-");
    assert_string_equal(model_name(model), "stdin");
    model_free(model);
    /* the input was read to its end */
    expect_file("-", -EINVAL, "stdin:1:1: expected text, found an empty file");
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(control_characters_are_made_visible),
        cmocka_unit_test(truncated_models_are_refused),
        cmocka_unit_test(unreadable_files_are_reported),
        cmocka_unit_test(standard_input_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
