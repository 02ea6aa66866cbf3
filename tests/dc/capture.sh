#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
#
# The operations in the report are those that tshark finds in a capture of the run, and no packet is malformed.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
# shellcheck source=tests/lib/capturing.sh
. tests/lib/capturing.sh

start_captured_dc 4.1 --option 'ldap server require strong auth = no'

# requests FIELD FILTER: values of the field in what the clients sent since the plan's start, with their counts.
requests() {
    dissected -Y "frame.time_epoch >= $(value start) && ip.dst == $LAB_ADDRESS && ($2)" -T fields -e "$1" |
        tr ',' '\n' | sort -n | uniq -c | awk 'NF == 2 { print $2 ": " $1 }'
}

malformed() {
    dissected -Y "_ws.malformed && ip.dst == $LAB_ADDRESS" | head -n 5
}

# The accounts come first, so that the keys can be read.
play -F "$password"
holds "keys" lab/dc keytab "$TMPDIR/keytab"

model=tests/data/clear-ldap.yaml captured play -F "$password" --plain-simple-bind --warmup 0 -D 6
run_is_good "in clear text"
value_holds "something was sent" 'sent > 50'
# AbandonRequest and unbind are not in this model's operations; protocolOp 2 is the unbind that ends conversations.
is "LDAP requests by operation" "$(requests ldap.protocolOp 'ldap && tcp && ldap.protocolOp != 2')" \
    "$(value '"\n".join("%s: %d" % (op, sent_of("ldap", op)) for op in "0 3 6 8 10 12 14".split())')"
is "CLDAP requests" "$(requests ldap.protocolOp 'cldap && udp')" "$(value '"3: %d" % sent_of("cldap", "3")')"
is "DNS queries" "$(requests dns.flags.response 'dns && dns.flags.response == 0')" \
    "$(value '"0: %d" % sent_of("dns", "0")')"
is "nothing malformed" "$(malformed)" ""

captured play -F "$password" --warmup 0 -D 6 --only kerberos:10
run_is_good "AS exchanges"
is "AS requests" "$(requests kerberos.msg_type 'kerberos.msg_type == 10')" "$(value '"10: %d" % sent_of("kerberos", "10")')"
captured play -F "$password" --warmup 0 -D 6 --only kerberos:10 --kdc-preauth-legs 2
is "AS requests, Windows' way" "$(requests kerberos.msg_type 'kerberos.msg_type == 10')" \
    "$(value '"10: %d" % (2 * sent_of("kerberos", "10"))')"

captured play -F "$password" --warmup 0 -D 6 -K
run_is_good "everything, sealed as usual, with Kerberos"
is "AS requests: at least one an operation" \
    "$(($(requests kerberos.msg_type 'kerberos.msg_type == 10' | cut -d ' ' -f 2) >= $(value 'sent_of("kerberos", "10")')))" 1
like "Kerberos' seal can be read" "$(requests ldap.protocolOp 'gss-api && ldap.protocolOp == 3')" '^3: '
is "no NTLM with -K" "$(requests ntlmssp.messagetype ntlmssp)" ""
is "nothing malformed, inside the seals either" "$(malformed)" ""
unlike "no password in clear text" "$(strings "$TMPDIR/pcap" | grep -F "$password")" "$password"
tap_done
