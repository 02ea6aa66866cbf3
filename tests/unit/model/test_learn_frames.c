/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as requests: which frames count, the details that are kept of LDAP, Kerberos and names,
 * and that no private value is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the four above */
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/lib/learn_bench.h"

/* (&(objectClass=user)(|(sAMAccountName=x)(displayName=a*b)(!(usnChanged>=5)))(member=*)
 *   (userAccountControl:...:=2)(uid<=5)), as tshark shows it. */
static void a_filter_keeps_its_attributes(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(
        bench,
        TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "3"}, {LEARN_LINE_LDAP_SCOPE, "2"},
               {LEARN_LINE_LDAP_BASE, "OU=Sales,DC=corp,DC=example"}, {LEARN_LINE_LDAP_FILTER, "0"},
               {LEARN_LINE_LDAP_AND, "5"}, {LEARN_LINE_LDAP_OR, "3"},
               {LEARN_LINE_LDAP_AND_ITEM, "3" AND "1" AND "7" AND "9" AND "6"},
               {LEARN_LINE_LDAP_OR_ITEM, "3" AND "4" AND "2"}, {LEARN_LINE_LDAP_NOT, "5"},
               {LEARN_LINE_LDAP_ATTRIBUTE,
                "objectClass" AND "sAMAccountName" AND "usnChanged" AND "uid"},
               {LEARN_LINE_LDAP_VALUE, "user" AND "x" AND "5" AND "5"},
               {LEARN_LINE_LDAP_PRESENT, "member"},
               {LEARN_LINE_LDAP_TYPE, "displayName" AND "userAccountControl"},
               {LEARN_LINE_LDAP_ATTRIBUTES, "2"}, {LEARN_LINE_LDAP_ATTRIBUTE_NAME, "cn" AND "mail"},
               {LEARN_LINE_LDAP_CONTROLS, "2"},
               {LEARN_LINE_LDAP_CONTROL, "1.2.840.113556.1.4.319" AND "1.2.3"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:3 scope=sub base=OU,DC,DC filter=(&(objectClass=user)"
                        "(|(sAMAccountName)(displayName)(!(usnChanged)))(member=*)"
                        "(userAccountControl)(uid)) attrs=cn,mail "
                        "controls=1.2.840.113556.1.4.319,1.2.3\n");
}

/* A control whose type is no OID is left out; StartTLS belongs to the bind after it. */
static void extended_requests_keep_their_operation(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(
        bench, TCP_TO("389", "ldap:ldap:ldap", {LEARN_LINE_LDAP_OP, "23" AND "3" AND "23" AND "23"},
                      {LEARN_LINE_LDAP_REQUEST_NAME,
                       "1.3.6.1.4.1.1466.101.119.1" AND "1.3.6.1.4.1.1466.20037" AND "secret"},
                      {LEARN_LINE_LDAP_SCOPE, "0"}, {LEARN_LINE_LDAP_BASE, ""},
                      {LEARN_LINE_LDAP_FILTER, "7"}, {LEARN_LINE_LDAP_PRESENT, "objectClass"}));
    learn_bench_take(
        bench, TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "3"}, {LEARN_LINE_LDAP_SCOPE, "0"},
                      {LEARN_LINE_LDAP_BASE, ""}, {LEARN_LINE_LDAP_FILTER, "7"},
                      {LEARN_LINE_LDAP_PRESENT, "objectClass"}, {LEARN_LINE_LDAP_CONTROLS, "3"},
                      {LEARN_LINE_LDAP_CONTROL, "1" AND "1..2" AND "1.2.3"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:23 oid=1.3.6.1.4.1.1466.101.119.1\n"
                        "ldap:3 scope=base base= filter=(objectClass=*)\n"
                        "ldap:23\n"
                        "ldap:23\n"
                        "ldap:3 scope=base base= filter=(objectClass=*) controls=1.2.3\n");
}

/* DirSync, change notification and virtual list view; sort gets a value when it is played. */
static void controls_without_their_value_are_left_out(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(
        bench,
        TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "3"}, {LEARN_LINE_LDAP_SCOPE, "0"},
               {LEARN_LINE_LDAP_BASE, ""}, {LEARN_LINE_LDAP_FILTER, "7"},
               {LEARN_LINE_LDAP_PRESENT, "cn"}, {LEARN_LINE_LDAP_CONTROLS, "4"},
               {LEARN_LINE_LDAP_CONTROL, "1.2.840.113556.1.4.841" AND "1.2.840.113556.1.4.528" AND
                                         "1.2.840.113556.1.4.473" AND "2.16.840.1.113730.3.4.9"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:3 scope=base base= filter=(cn=*) controls=1.2.840.113556.1.4.473\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_CONTROLS), 3);
}

/* Each message takes its own fields. */
static void searches_in_one_frame_are_distinguished(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(
        bench, TCP_TO("389", "ldap:ldap:ldap", {LEARN_LINE_LDAP_OP, "3" AND "3" AND "2" AND "3"},
                      {LEARN_LINE_LDAP_SCOPE, "2" AND "0" AND "1"},
                      {LEARN_LINE_LDAP_BASE, "DC=x" AND "" AND "CN=a,DC=y"},
                      {LEARN_LINE_LDAP_FILTER, "3" AND "7" AND "1"}, {LEARN_LINE_LDAP_OR, "2"},
                      {LEARN_LINE_LDAP_OR_ITEM, "3" AND "3"},
                      {LEARN_LINE_LDAP_ATTRIBUTE, "cn" AND "cn" AND "sn"},
                      {LEARN_LINE_LDAP_VALUE, "A" AND "B" AND "C"},
                      {LEARN_LINE_LDAP_PRESENT, "objectClass"},
                      {LEARN_LINE_LDAP_ATTRIBUTES, "2" AND "0" AND "1"},
                      {LEARN_LINE_LDAP_ATTRIBUTE_NAME, "a" AND "b" AND "c"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:3 scope=sub base=DC filter=(cn) attrs=a,b\n"
                        "ldap:3 scope=base base= filter=(objectClass=*)\n"
                        "ldap:2\n"
                        "ldap:3 scope=one base=CN,DC filter=(|(cn)(sn)) attrs=c\n");
}

/* Three legs, then a separate bind. Encrypted messages after it count as searches. */
static void binds_are_counted_with_their_legs(void **state)
{
    struct learn_bench *bench = *state;
    for (int leg = 0; leg < 3; leg++) {
        learn_bench_take(bench, TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_OP, "0"},
                                       {LEARN_LINE_LDAP_AUTH, "3"},
                                       {LEARN_LINE_LDAP_MECHANISM, "GSS-SPNEGO"},
                                       {LEARN_LINE_KERBEROS_TYPE, "14"}));
        learn_bench_take(bench, TCP_FROM("389", "ldap", {LEARN_LINE_LDAP_OP, "1"},
                                         {LEARN_LINE_LDAP_RESULT, leg < 2 ? "14" : "0"}));
    }
    learn_bench_take(bench,
                     TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "117" AND "90"}));
    learn_bench_take(bench, TCP_FROM("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "1000"}));
    learn_bench_take(bench,
                     TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "0"}, {LEARN_LINE_LDAP_AUTH, "0"}));
    learn_bench_take(
        bench, TCP_FROM("389", "ldap", {LEARN_LINE_LDAP_OP, "1"}, {LEARN_LINE_LDAP_RESULT, "0"}));
    learn_bench_take(
        bench, TCP_TO("636", "tls:ldap", {LEARN_LINE_LDAP_OP, "0"}, {LEARN_LINE_LDAP_AUTH, "0"}));
    learn_bench_take(bench, TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "23" AND "6" AND "16"}));
    assert_string_equal(learn_bench_requests(bench), "ldap:0 auth=sasl mech=GSS-SPNEGO (ticket)\n"
                                                     "ldap:3 sealed=true\n"
                                                     "ldap:3 sealed=true\n"
                                                     "ldap:0 auth=simple tls=none\n"
                                                     "ldap:0 auth=simple tls=ldaps\n"
                                                     "ldap:23\nldap:6\nldap:16\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_LEGS), 2);
    assert_int_equal(learn_bench_counted(bench, LEARN_SEALED), 2);
}

/* A client's last sealed message before it closes the connection is its unbind, unless the
 * server answered it or the server closes. */
static void the_last_sealed_message_is_an_unbind(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench, TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "117"}));
    learn_bench_take(bench, TCP_FROM("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "1000"}));
    learn_bench_take(bench, TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "67"}));
    learn_bench_take(bench, TCP_TO("389", "", {LEARN_LINE_TCP_FLAGS, "0x0011"}));
    learn_bench_take(bench, TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "117"}));
    learn_bench_take(bench, TCP_FROM("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "1000"}));
    learn_bench_take(bench, TCP_TO("389", "", {LEARN_LINE_TCP_FLAGS, "0x0011"}));
    learn_bench_take(bench, TCP_TO("389", "ldap:gss-api", {LEARN_LINE_LDAP_SASL_LENGTH, "117"}));
    learn_bench_take(bench, TCP_FROM("389", "", {LEARN_LINE_TCP_FLAGS, "0x0011"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:3 sealed=true\nldap:2\nldap:3 sealed=true\n"
                        "ldap:3 sealed=true\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_SEALED), 3);
}

/* Entries have no result code, the end of a search has one; this must not confuse binds. */
static void results_belong_to_their_message(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(bench,
                     TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "0"}, {LEARN_LINE_LDAP_AUTH, "3"},
                            {LEARN_LINE_LDAP_MECHANISM, "GSSAPI"}));
    learn_bench_take(bench,
                     TCP_FROM("389", "ldap", {LEARN_LINE_LDAP_OP, "4" AND "19" AND "5" AND "1"},
                              {LEARN_LINE_LDAP_RESULT, "14" AND "0"}));
    learn_bench_take(bench,
                     TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "0"}, {LEARN_LINE_LDAP_AUTH, "3"},
                            {LEARN_LINE_LDAP_MECHANISM, "GSSAPI"}));
    assert_string_equal(learn_bench_requests(bench),
                        "ldap:0 auth=sasl mech=GSSAPI\nldap:0 auth=sasl mech=GSSAPI\n");
}

static void cldap_pings_are_learned(void **state)
{
    struct learn_bench *bench = *state;
    for (int i = 0; i < 2; i++)
        learn_bench_take(bench,
                         UDP_TO("cldap", {LEARN_LINE_LDAP_OP, "3"}, {LEARN_LINE_LDAP_ID, "1"}));
    learn_bench_take(bench, UDP_FROM("cldap", {LEARN_LINE_LDAP_OP, "4" AND "5"},
                                     {LEARN_LINE_LDAP_ID, "1" AND "1"}));
    learn_bench_take(bench, UDP_TO("cldap", {LEARN_LINE_LDAP_OP, "3"}, {LEARN_LINE_LDAP_ID, "1"}));
    assert_string_equal(learn_bench_requests(bench), "cldap:3\ncldap:3\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_RETRIED), 1);
}

static void kerberos_exchanges_are_learned(void **state)
{
    struct learn_bench *bench = *state;
    /* preauthentication required, then too large for UDP, then over TCP: one exchange */
    learn_bench_take(bench,
                     UDP_TO("kerberos", {LEARN_LINE_KERBEROS_TYPE, "10"},
                            {LEARN_LINE_KERBEROS_NONCE, "1"}, {LEARN_LINE_KERBEROS_CNAME, "jane"}));
    learn_bench_take(bench, UDP_FROM("kerberos", {LEARN_LINE_KERBEROS_TYPE, "30"},
                                     {LEARN_LINE_KERBEROS_ERROR, "25"}));
    learn_bench_take(bench,
                     UDP_TO("kerberos", {LEARN_LINE_KERBEROS_TYPE, "10"},
                            {LEARN_LINE_KERBEROS_NONCE, "2"}, {LEARN_LINE_KERBEROS_CNAME, "jane"}));
    learn_bench_take(bench, UDP_FROM("kerberos", {LEARN_LINE_KERBEROS_TYPE, "30"},
                                     {LEARN_LINE_KERBEROS_ERROR, "52"}));
    learn_bench_take(bench,
                     TCP_TO("88", "kerberos", {LEARN_LINE_KERBEROS_TYPE, "10"},
                            {LEARN_LINE_KERBEROS_NONCE, "2"}, {LEARN_LINE_KERBEROS_CNAME, "jane"}));
    learn_bench_take(bench, TCP_FROM("88", "kerberos", {LEARN_LINE_KERBEROS_TYPE, "11"}));
    /* of a machine, sent twice; and an error that does not ask for a repetition */
    for (int i = 0; i < 2; i++)
        learn_bench_take(bench, UDP_TO("kerberos", {LEARN_LINE_KERBEROS_TYPE, "10"},
                                       {LEARN_LINE_KERBEROS_NONCE, "3"},
                                       {LEARN_LINE_KERBEROS_CNAME, "PC7$"}));
    learn_bench_take(bench, UDP_FROM("kerberos", {LEARN_LINE_KERBEROS_TYPE, "30"},
                                     {LEARN_LINE_KERBEROS_ERROR, "6"}));
    learn_bench_take(bench,
                     UDP_TO("kerberos", {LEARN_LINE_KERBEROS_TYPE, "10"},
                            {LEARN_LINE_KERBEROS_NONCE, "4"}, {LEARN_LINE_KERBEROS_CNAME, "PC7$"}));
    /* the ticket in the request is not a request itself */
    learn_bench_take(
        bench, TCP_TO("88", "kerberos", {LEARN_LINE_KERBEROS_TYPE, "12" AND "14"},
                      {LEARN_LINE_KERBEROS_NONCE, "5"},
                      {LEARN_LINE_KERBEROS_SNAME, "krbtgt" AND "CORP" AND "cifs" AND "dc1.corp"}));
    learn_bench_take(
        bench, TCP_TO("88", "kerberos", {LEARN_LINE_KERBEROS_TYPE, "12" AND "14"},
                      {LEARN_LINE_KERBEROS_NONCE, "6"},
                      {LEARN_LINE_KERBEROS_SNAME, "krbtgt" AND "CORP" AND "krbtgt" AND "CORP"}));
    assert_string_equal(learn_bench_requests(bench),
                        "kerberos:10 as=user\nkerberos:10 as=machine\nkerberos:10 as=machine\n"
                        "kerberos:12 service=cifs\nkerberos:12 service=krbtgt\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_PREAUTH), 2);
    assert_int_equal(learn_bench_counted(bench, LEARN_RETRIED), 1);
}

static void ask(struct learn_bench *bench, const char *id, const char *name, const char *type)
{
    learn_bench_take(bench, UDP_TO("dns", {LEARN_LINE_DNS_RESPONSE, "0"}, {LEARN_LINE_DNS_ID, id},
                                   {LEARN_LINE_DNS_NAME, name}, {LEARN_LINE_DNS_TYPE, type}));
}

static void dns_queries_are_learned(void **state)
{
    struct learn_bench *bench = *state;
    ask(bench, "0x1", "DC1.corp.example", "1");
    ask(bench, "0x1", "DC1.corp.example", "1");
    learn_bench_take(
        bench, UDP_FROM("dns", {LEARN_LINE_DNS_RESPONSE, "1"}, {LEARN_LINE_DNS_ID, "0x1"},
                        {LEARN_LINE_DNS_NAME, "DC1.corp.example"}, {LEARN_LINE_DNS_A, "10.1.1.1"}));
    ask(bench, "0x2", "DC1.corp.example", "28");
    ask(bench, "0x3", "_ldap._tcp.corp.example", "33");
    ask(bench, "0x4", "_kerberos._udp.corp.example", "33");
    ask(bench, "0x5", "_ldap._tcp.dc._msdcs.corp.example", "33");
    ask(bench, "0x6", "Corp.Example", "65");
    ask(bench, "0x7", "www.elsewhere.example", "1");
    learn_bench_take(
        bench, UDP_TO("mdns", {LEARN_LINE_DNS_RESPONSE, "0"}, {LEARN_LINE_DNS_NAME, "x.local"}));
    learn_bench_take(bench, UDP_TO("nbns", {LEARN_LINE_NBNS_RESPONSE, "0"},
                                   {LEARN_LINE_NBNS_ID, "9"}, {LEARN_LINE_NBNS_OPCODE, "0"}));
    learn_bench_take(bench, UDP_TO("nbns", {LEARN_LINE_NBNS_RESPONSE, "0"},
                                   {LEARN_LINE_NBNS_ID, "9"}, {LEARN_LINE_NBNS_OPCODE, "0"}));
    assert_string_equal(learn_bench_requests(bench),
                        "dns:0 type=A name=dc\ndns:0 type=AAAA name=dc\ndns:0 type=SRV name=ldap\n"
                        "dns:0 type=SRV name=kerberos\ndns:0 type=SRV name=msdcs\n"
                        "dns:0 type=TYPE65 name=realm\ndns:0 type=A name=other\nnbns:0\n");
    assert_int_equal(learn_bench_counted(bench, LEARN_RETRIED), 2);
}

static void other_traffic_is_left_out(void **state)
{
    struct learn_bench *bench = *state;
    learn_bench_take(
        bench, UDP_TO("icmp:ip:udp:dns", {LEARN_LINE_ICMP, "3"}, {LEARN_LINE_DNS_RESPONSE, "0"}));
    for (int copy = 0; copy < 2; copy++)
        learn_bench_take(bench, TCP_TO("389", "ldap", {LEARN_LINE_TCP_SEQUENCE, "4294967290"},
                                       {LEARN_LINE_TCP_LENGTH, "20"}));
    learn_bench_take(bench, TCP_TO("389", "ldap", {LEARN_LINE_MALFORMED, "_ws.malformed"},
                                   {LEARN_LINE_LDAP_OP, "3"}));
    learn_bench_take(bench, TCP_TO("636", "tls", {LEARN_LINE_TLS_TYPE, "22" AND "23"}));
    learn_bench_take(bench, TCP_TO("636", "tls", {LEARN_LINE_TLS_OPAQUE, "23" AND "23"}));
    learn_bench_take(bench, TCP_TO("445", "nbss:smb2", {LEARN_LINE_SMB2_ENCRYPTED, "108"}));
    learn_bench_take(bench, (const struct learn_value[]){
                                {LEARN_LINE_PROTOCOLS, "eth:ethertype:arp"}, {0, NULL}});
    assert_string_equal(learn_bench_requests(bench), "");
    assert_int_equal(learn_bench_counted(bench, LEARN_FRAMES), 8);
    assert_int_equal(learn_bench_counted(bench, LEARN_IN_ICMP), 1);
    assert_int_equal(learn_bench_counted(bench, LEARN_RETRANSMITTED), 1);
    assert_int_equal(learn_bench_counted(bench, LEARN_MALFORMED), 1);
    assert_int_equal(learn_bench_counted(bench, LEARN_TLS), 3);
    assert_int_equal(learn_bench_counted(bench, LEARN_SMB_ENCRYPTED), 1);
    /* decrypted messages are learned */
    learn_bench_take(bench, TCP_FROM("636", "tls:ldap", {LEARN_LINE_TLS_OPAQUE, "23"},
                                     {LEARN_LINE_LDAP_OP, "5"}));
    assert_int_equal(learn_bench_counted(bench, LEARN_TLS), 3);
    /* a Kerberos message with a part that tshark cannot read counts */
    learn_bench_take(bench,
                     UDP_TO("kerberos", {LEARN_LINE_MALFORMED, "_ws.malformed"},
                            {LEARN_LINE_KERBEROS_TYPE, "10"}, {LEARN_LINE_KERBEROS_NONCE, "1"}));
    assert_string_equal(learn_bench_requests(bench), "kerberos:10\n");
}

static const char *name_of(const struct learn_bench *bench, uint32_t address)
{
    return bench->capture.addresses.entries[address].bytes;
}

static void addresses_of_both_versions_are_read(void **state)
{
    struct learn_bench *bench = *state;
    struct learn_record record;
    uint32_t server;
    /* IPv6, then IPv4 in IPv6 in a VLAN: the innermost address counts */
    learn_bench_take(
        bench, (const struct learn_value[]){{LEARN_LINE_PROTOCOLS, "eth:ethertype:ipv6:tcp:ldap"},
                                            {LEARN_LINE_IPV6_SRC, "fd00::7"},
                                            {LEARN_LINE_IPV6_DST, "fd00::1"},
                                            {LEARN_LINE_TCP_STREAM, "0"},
                                            {LEARN_LINE_LDAP_OP, "3"},
                                            {0, NULL}});
    learn_bench_take(bench,
                     (const struct learn_value[]){
                         {LEARN_LINE_PROTOCOLS, "eth:ethertype:vlan:ethertype:ipv6:ip:tcp:ldap"},
                         {LEARN_LINE_IPV6_SRC, "fd00::a"},
                         {LEARN_LINE_IPV6_DST, "fd00::b"},
                         {LEARN_LINE_IP_SRC, "10.0.0.7"},
                         {LEARN_LINE_IP_DST, "10.0.0.1"},
                         {LEARN_LINE_TCP_STREAM, "1"},
                         {LEARN_LINE_LDAP_OP, "3"},
                         {0, NULL}});
    assert_int_equal(learn_capture_server(&bench->capture, &server), 0);
    assert_int_equal(learn_capture_finish(&bench->capture, server), 0);
    assert_int_equal(learn_capture_rewind(&bench->capture), 0);
    assert_int_equal(learn_capture_next(&bench->capture, &record), 1);
    assert_string_equal(name_of(bench, record.client), "fd00::7");
    assert_string_equal(name_of(bench, record.server), "fd00::1");
    assert_int_equal(learn_capture_next(&bench->capture, &record), 1);
    assert_string_equal(name_of(bench, record.client), "10.0.0.7");
    assert_string_equal(name_of(bench, record.server), "10.0.0.1");
}

/* A name server that answers more often than the domain controller is not mistaken for it. */
static void the_server_is_the_domain_controller(void **state)
{
    struct learn_bench *bench = *state;
    uint32_t server;
    for (int i = 0; i < 9; i++) {
        struct learn_value values[] = {{LEARN_LINE_PROTOCOLS, "eth:ethertype:ip:udp:dns"},
                                       {LEARN_LINE_IP_SRC, i % 3 ? "10.1.1.9" : "10.1.1.7"},
                                       {LEARN_LINE_IP_DST, i % 3 ? "10.1.1.7" : "10.1.1.9"},
                                       {LEARN_LINE_UDP_STREAM, "1"},
                                       {LEARN_LINE_DNS_ID, i == 0   ? "1"
                                                           : i == 3 ? "2"
                                                                    : "3"},
                                       {LEARN_LINE_DNS_RESPONSE, i % 3 ? "1" : "0"},
                                       {0, NULL}};
        learn_bench_take(bench, values);
    }
    assert_int_equal(learn_capture_server(&bench->capture, &server), -ENOENT);
    learn_bench_take(bench, TCP_TO("389", "ldap", {LEARN_LINE_LDAP_OP, "3"}));
    learn_bench_take(bench, TCP_FROM("389", "ldap", {LEARN_LINE_LDAP_OP, "5"}));
    assert_int_equal(learn_capture_server(&bench->capture, &server), 0);
    assert_string_equal(name_of(bench, server), "10.1.1.1");
}

/* Every field of every protocol contains secrets, in a valid form where possible. None of them
 * is kept. */
static void no_secret_is_kept(void **state)
{
    static const char *const shapes[] = {"secret",
                                         "SECRET$",
                                         "secret.secret.example",
                                         "CN=Secret,OU=secret,DC=secret",
                                         "\\\\secret\\secret",
                                         "secret\\secret.ini",
                                         "host/secret",
                                         "(cn=secret)",
                                         "*secret*",
                                         "secret@SECRET",
                                         "_ldap._tcp.secret._msdcs.secret"};
    static const char *const layers[] = {"ldap", "cldap",  "kerberos",  "dns",
                                         "nbns", "dcerpc", "nbss:smb2", "nbss:smb"};
    struct learn_bench *bench = *state;
    for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++)
        for (size_t layer = 0; layer < 2 * sizeof layers / sizeof layers[0]; layer++) {
            struct learn_value values[LEARN_LINE_FIELDS + 40] = {{0, NULL}};
            char protocols[80], number[8], twice[256];
            size_t count = 0;
            snprintf(protocols, sizeof protocols, "eth:ethertype:ip:%s:%s",
                     layer % 2 ? "udp" : "tcp", layers[layer / 2]);
            snprintf(number, sizeof number, "%zu", shape);
            snprintf(twice, sizeof twice, "%s" AND "%s", shapes[shape], shapes[shape]);
            for (int field = LEARN_LINE_IP_SRC; field < LEARN_LINE_FIELDS; field++)
                if (field != LEARN_LINE_ICMP && field != LEARN_LINE_ICMPV6 &&
                    field != LEARN_LINE_MALFORMED)
                    values[count++] = (struct learn_value){(enum learn_line_field)field, twice};
            static const struct learn_value fixed[] = {
                {LEARN_LINE_LDAP_OP, "3" AND "0"},
                {LEARN_LINE_LDAP_AUTH, "3"},
                {LEARN_LINE_LDAP_SCOPE, "2"},
                {LEARN_LINE_LDAP_FILTER, "0"},
                {LEARN_LINE_LDAP_AND, "4"},
                {LEARN_LINE_LDAP_ATTRIBUTES, "0"},
                {LEARN_LINE_LDAP_AND_ITEM, "3" AND "4" AND "9" AND "7"},
                {LEARN_LINE_LDAP_CONTROLS, "2"},
                {LEARN_LINE_SMB2_RESPONSE, "0"},
                {LEARN_LINE_SMB_RESPONSE, "0"},
                {LEARN_LINE_SMB_COMMAND, "114"},
                {LEARN_LINE_DNS_RESPONSE, "0"},
                {LEARN_LINE_DNS_TYPE, "1"},
                {LEARN_LINE_NBNS_RESPONSE, "0"},
                {LEARN_LINE_RPC_TYPE, "0"},
                {LEARN_LINE_RPC_OPNUM, "17"},
                {LEARN_LINE_RPC_FIRST, "1"},
                {LEARN_LINE_LDAP_ATTRIBUTE, "sAMAccountName"},
                {LEARN_LINE_LDAP_TYPE, "cn" AND "sn"},
                {LEARN_LINE_LDAP_PRESENT, "member"},
                {LEARN_LINE_LDAP_RESULT, "0"},
            };
            for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
                values[count++] = fixed[i];
            values[count++] =
                (struct learn_value){LEARN_LINE_KERBEROS_TYPE, shape % 2 ? "10" : "12"};
            values[count++] = (struct learn_value){LEARN_LINE_KERBEROS_NONCE, number};
            values[count++] = (struct learn_value){LEARN_LINE_DNS_ID, number};
            values[count++] = (struct learn_value){LEARN_LINE_NBNS_ID, number};
            values[count++] =
                (struct learn_value){LEARN_LINE_SMB2_COMMAND, shape % 3 == 0   ? "3"
                                                              : shape % 3 == 1 ? "5"
                                                                               : "14"};
            if (strncmp(layers[layer / 2], "nbss:smb2", 9) != 0)
                values[count++] = (struct learn_value){LEARN_LINE_SMB2_COMMAND, ""};
            values[count++] = (struct learn_value){LEARN_LINE_PROTOCOLS, protocols};
            learn_bench_take(bench, values);
        }
    const char *text = learn_bench_requests(bench);
    /* the form of the search and the kind of the name are kept */
    assert_non_null(strstr(text, "filter=(&(sAMAccountName)(cn)(sn)(member=*))"));
    assert_non_null(strstr(text, "base=CN,OU,DC"));
    assert_non_null(strstr(text, "dns:0 type=A name=msdcs"));
    assert_non_null(strstr(text, "kerberos:10 as=machine"));
    assert_non_null(strstr(text, "smb2:3 share=other"));
    assert_null(strcasestr(text, "secret"));
}

static void broken_lines_are_counted(void **state)
{
    const enum learn_line_field columns[] = {LEARN_LINE_TIME, LEARN_LINE_LDAP_OP};
    struct learn_line line;
    char few[] = "1", many[] = "1\xff\x32\xff\x33", good[] = "1.5\xff\x33\xfe\x34";
    char buffer[4];
    uint64_t number;
    (void)state;
    assert_int_equal(learn_line_parse(&line, few, columns, 2), -EINVAL);
    assert_int_equal(learn_line_parse(&line, many, columns, 2), -EINVAL);
    assert_int_equal(learn_line_parse(&line, good, columns, 2), 0);
    assert_int_equal(learn_line_count(&line, LEARN_LINE_LDAP_OP), 2);
    assert_int_equal(learn_line_count(&line, LEARN_LINE_DNS_ID), 0);
    assert_true(learn_line_number(&line, LEARN_LINE_LDAP_OP, 1, &number) && number == 4);
    assert_false(learn_line_number(&line, LEARN_LINE_LDAP_OP, 2, &number));
    assert_false(learn_line_value(&line, LEARN_LINE_DNS_ID, 0, buffer, sizeof buffer));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, learn_bench_set_up, learn_bench_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_filter_keeps_its_attributes),
        TEST(extended_requests_keep_their_operation),
        TEST(controls_without_their_value_are_left_out),
        TEST(searches_in_one_frame_are_distinguished),
        TEST(binds_are_counted_with_their_legs),
        TEST(the_last_sealed_message_is_an_unbind),
        TEST(results_belong_to_their_message),
        TEST(cldap_pings_are_learned),
        TEST(kerberos_exchanges_are_learned),
        TEST(dns_queries_are_learned),
        TEST(other_traffic_is_left_out),
        TEST(addresses_of_both_versions_are_read),
        TEST(the_server_is_the_domain_controller),
        TEST(no_secret_is_kept),
        cmocka_unit_test(broken_lines_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
