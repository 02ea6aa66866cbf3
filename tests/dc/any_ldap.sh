#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 120
#
# --server ldap and --accounts: a server that is no domain controller.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh

slapd=(--dir "$TMPDIR/slapd" --address "$own_net.15.1" --entries 200)
# shellcheck disable=SC2317 # called at exit
finish() {
    lab/slapd remove "${slapd[@]}"
}
at_exit finish
lab/slapd start "${slapd[@]}" || exit 1
(umask 077 && lab/slapd accounts "${slapd[@]}" >"$TMPDIR/accounts")
TRAFFIC_REPLAY_DC=ldap1=$own_net.15.1
unset TRAFFIC_REPLAY_USER TRAFFIC_REPLAY_PASSWORD

model=bench/models/ldap-search.yaml play --server ldap --accounts "$TMPDIR/accounts" --plain-simple-bind -S 0.1 -r 0.1
run_is_good "searches"
value_is "searches alone, each client's bind inside its first" \
    'sorted({p["protocol"] + ":" + p["opcode"] for p in packets if p["count"]})' "['ldap:3']"
value_holds "all of it" '(ok + unfinished) >= 0.9 * planned'
play --server ldap --accounts "$TMPDIR/accounts" --plain-simple-bind --only ldap:23,ldap:3
value_holds "the root DSE and searches of a model made for a DC" 'packet("ldap", "3")["count"] > 0'
head -n 2 "$TMPDIR/accounts" >"$TMPDIR/few"
model=bench/models/ldap-search.yaml play --server ldap --accounts "$TMPDIR/few" --plain-simple-bind
is "fewer accounts than clients: exit status" "$status" 2
like "... is reported" "$errors" 'few'
printf 'cn=user00001,ou=people,dc=lab,dc=example\tno-such\n' >"$TMPDIR/few"
model=bench/models/ldap-search.yaml play --server ldap --accounts "$TMPDIR/few" --plain-simple-bind -S 0.001 -r 0.1
value_holds "a wrong password is a failure by its name" 'causes().get("invalidCredentials", 0) > 0'
lab/slapd stop "${slapd[@]}"
lab/slapd start "${slapd[@]}" --sizelimit 50 || exit 1
(umask 077 && lab/slapd accounts "${slapd[@]}" >"$TMPDIR/accounts")
play --server ldap --accounts "$TMPDIR/accounts" --plain-simple-bind --only ldap:3
value_holds "a server that limits searches: the run takes place" 'packet("ldap", "3")["count"] > 0'
like "... with the entries that came" "$errors" 'only 50 entries of the directory \(sizeLimitExceeded\).*-U ROOTDN'
tap_done
