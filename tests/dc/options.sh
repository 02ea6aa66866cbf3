#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
#
# The effect of each common option, against the lab's DC.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=11

# The command of the manual.
run "$replay" --yes -r 4 -S 5 -D 4 -I $instance --json "$json" examples/office.yaml "$TRAFFIC_REPLAY_DC"
run_is_good "-r 4 -S 5 of examples/office.yaml"
value_is "r and S are in the result" '[r, S]' '[4.0, 5.0]'
like "the lines that scripts parse" "$output" '^Successful operations: +[0-9]+ \([0-9.]+ per second\)'
like "the remaining accounts are reported, with the way to remove them" "$errors" "(-c|--clean-up)"

play
run_is_good "the model of all packets"
value_is "every packet of it was played" \
    '[p for p in "3 0 6 8 10 12 14 16".split() if packet("ldap", p)["count"] == 0]' '[]'
value_holds "AS and TGS exchanges" 'packet("kerberos", "10")["count"] > 0 and packet("kerberos", "12")["count"] > 0'
value_holds "planned = sent + not sent + dropped" 'planned == sent + not_sent + dropped'
value_holds "sent = ok + failed + no answer + unfinished" 'sent == ok + failed + no_answer + unfinished'
first=$(value '[planned, clients, seed]')
play -r 0.2 -D 5
value_holds "a load that is not too high is achieved" '0 < planned and (ok + failed + no_answer) >= 0.8 * planned'
play --threads 1
is "the same seed: the same plan, whatever --threads" "$(value '[planned, clients, seed]')" "$first"
value_is "--threads" 'threads' 1
play --random-seed 2
[ "$(value planned)" != "${first%%,*}" ]
tap $? "another seed: another plan"
like "the seed is printed" "$output$errors" 'seed.* 2'

play -T 120 -r 2 -S 1
is "-T with -S: exit status" "$status" 2
rm -f "$json"
run "$replay" --yes --json "$json" -D 3 --warmup 1 -I $instance -T 120 -r 2 tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
run_is_good "-T"
value_holds "-T is the offered rate, whatever -r" 'abs(nominal_packets - 120) < 1e-6 and T == 120'
play -S 2.5 -r 1.5
value_holds "-S and -r multiply the load exactly" 'abs(nominal_packets - 60 * 2.5 * 1.5) < 1e-6'
play -D 2 --warmup 0.5
value_holds "-D, --warmup" 'window == 2 and warmup == 0.5'
value_is "a row a second" 'len(seconds)' 2

play -B 1
run_is_good "-B 1"
value_holds "-B: wrong passwords are expected failures, beside the plan" 'expected > 0'
play -K
run_is_good "-K"
play --only ldap
value_is "--only" 'sorted({p["protocol"] for p in packets if p["count"]})' "['ldap']"
play --only ldap:3,kerberos
value_is "--only with a list" 'sorted({p["protocol"] for p in packets if p["count"]})' "['kerberos', 'ldap']"
value_is "--only with an opcode" 'packet("ldap", "6")["count"]' 0
play --skip dns --skip ldap:14
value_is "--skip" '[packet("dns", "0")["count"], packet("ldap", "14")["count"]]' '[0, 0]'
value_holds "packets that were left out are reported" 'sum(n for k, n in left_out.items() if k.startswith("dns:0")) > 0'

play --dns-rate 20
run_is_good "--dns-rate"
value_holds "--dns-rate: as many extra queries, beside the plan" '40 <= dns_extra <= 80'
printf '%s\n' '0,{realm},A,yes' '0,nobody.{realm},A,no' >"$TMPDIR/queries"
play --dns-rate 20 --dns-query-file "$TMPDIR/queries"
run_is_good "--dns-query-file"
value_is "a name that is expected to be missing is not a failure" 'dns_extra_failed' 0
printf '%s\n' '0,nobody.{realm},A,yes' >"$TMPDIR/queries"
play --dns-rate 20 --dns-query-file "$TMPDIR/queries"
value_holds "what is expected and does not exist is one" 'dns_extra_failed == dns_extra > 0'
value_holds "with its cause" 'sum(dns_extra_causes.values()) == dns_extra_failed'
like "in the report, too" "$output" '^ +[0-9]+  extra DNS queries  NXDOMAIN'
rm -f "$TMPDIR/queries"

play --only ldap --realm OTHER.EXAMPLE.COM
like "--realm that is not the server's: a warning" "$errors" '^traffic-replay: --realm OTHER.EXAMPLE.COM is not the realm of the server \(SAMDOM.EXAMPLE.COM\)'
play -K --realm OTHER.EXAMPLE.COM
is "--realm that is not the server's, with -K: refused" "$status" 2
play --only ldap -W OTHER
like "-W that is not the server's domain: a warning" "$errors" '^traffic-replay: -W OTHER is not the domain of the server \(SAMDOM\)'

play --kdc-transport udp --kdc-preauth-legs 2 --only kerberos,ldap
run_is_good "--kdc-transport udp, --kdc-preauth-legs 2"
play --conversation-persistence 0.001 --max-backlog 10 --latency-timeout 2 --timeout 20
run_is_good "--conversation-persistence, --max-backlog, --latency-timeout, --timeout"

play --tls-verify --only ldap
is "--tls-verify: the lab's own certificate ends the run before it begins" "$status" 1
like "--tls-verify: with the reason and the remedy" "$errors" 'certificate not accepted: its authority is unknown; .* --tls-ca FILE'
# The CA of the lab's DC is next to its certificate; only root, who runs the lab, can read it.
ca=${LAB_DIR:-/var/lib/traffic-replay/lab}/private/tls/ca.pem
if [ -r "$ca" ] && [ "$(head -n 1 "${ca%/private*}/made")" = "$dc_address" ]; then
    play --tls-verify --tls-ca "$ca" --only ldap
    run_is_good "--tls-ca"
else
    skip "--tls-ca" "the lab's certificate cannot be read"
fi

play --label build=4711 --label 'who=me too'
value_is "--label" 'labels' "{'build': '4711', 'who': 'me too'}"
play -t "$TMPDIR/timing"
is "-t: a line for each operation that ended in the window, and the heading" \
    "$(awk -F '\t' 'NF != 7 { bad = 1 } END { print bad + 0 }' "$TMPDIR/timing")" 0
# The file tells of the warm-up (1 s) and of what ended after the window (3 s), too.
value_is "-t: as many in the window as were counted" "done_ok + done_failed" \
    "$(awk -F '\t' 'NR > 1 && $1 >= 1 && $1 < 4' "$TMPDIR/timing" | wc -l)"
rm -f "$TMPDIR/timing"
play -v --source 127.99.0.0/24
run_is_good "--source"
like "-v: the server's facts, without an empty one at the end" "$errors" '^traffic-replay: server at .*; base DN DC=[^;]*$'
# An extended operation that Samba does not know: each fails.
cat >"$TMPDIR/refused.yaml" <<END
version: 3
packet_rate: 20
history: 1
chain:
  "-": {"ldap:23": 1}
  "ldap:23": {"ldap:23": 9, "-": 1}
details:
  "ldap:23":
    - {count: 1, oid: 1.3.6.1.4.1.1466.101.119.1}
END
model=$TMPDIR/refused.yaml play -D 30 --stop-on-any-error
is "--stop-on-any-error: exit status" "$status" 1
model=$TMPDIR/refused.yaml play --log-failures 2
is "--log-failures: that many lines" "$(grep -c 'protocolError' <<<"$errors")" 2
run "$replay" --version
like "--version" "$output" '^traffic-replay [0-9]+\.[0-9]+'
run "$replay" --help
like "--help" "$output" 'scale-traffic'

# A share to write to is looked at before anything is played.
for share in missing sysvol; do
    model=tests/data/smb-rpc.yaml play --smb-share $share
    is "--smb-share $share: exit status" "$status" 2
    like "--smb-share $share is reported" "$errors" "--smb-share: .* share \"$share\": NT_STATUS_(BAD_NETWORK_NAME|ACCESS_DENIED)$"
done
model=tests/data/smb-rpc.yaml play -D 1
like "what an option would let be played" "$errors" 'smb2:9 has no player without --smb-share and is skipped'

# So is a test user's password.
for number in $(seq 60); do printf 'STGU-%s-%s\twrong\n' $instance "$number"; done >"$TMPDIR/users"
chmod 600 "$TMPDIR/users"
model=tests/data/smb-rpc.yaml play --accounts "$TMPDIR/users" --only smb2 -S 0.1 -D 1
like "a refused password is reported" "$errors" "the server refuses the password of STGU-$instance-1: check $TMPDIR/users"
is "a refused password ends the run" "$status" 1
rm -f "$TMPDIR/users"

# Credentials.
with_user=(env -u TRAFFIC_REPLAY_USER -u TRAFFIC_REPLAY_PASSWORD)
printf 'username = %s\npassword = %s\ndomain = SAMDOM\n' "$TRAFFIC_REPLAY_USER" "$TRAFFIC_REPLAY_PASSWORD" >"$TMPDIR/auth"
rm -f "$json"
run "${with_user[@]}" "$replay" --yes --json "$json" -A "$TMPDIR/auth" -I $instance -D 2 --warmup 1 tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
run_is_good "-A"
run "${with_user[@]}" "$replay" --yes --json "$json" -U "$TRAFFIC_REPLAY_USER%$TRAFFIC_REPLAY_PASSWORD" -W SAMDOM \
    --realm SAMDOM.EXAMPLE.COM -I $instance -D 2 --warmup 1 tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
run_is_good "-U, -W, --realm"
printf '[libdefaults]\ndefault_realm = SAMDOM.EXAMPLE.COM\n[realms]\nSAMDOM.EXAMPLE.COM = {\nkdc = %s\n}\n' "$dc_address" >"$TMPDIR/krb5.conf"
KRB5_CONFIG=$TMPDIR/krb5.conf kinit -c "$TMPDIR/ccache" Administrator@SAMDOM.EXAMPLE.COM <<<"$TRAFFIC_REPLAY_PASSWORD" >/dev/null
run "${with_user[@]}" KRB5CCNAME="$TMPDIR/ccache" "$replay" --yes --json "$json" -k -I $instance -D 2 --warmup 1 tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
run_is_good "-k"
rm -f "$TMPDIR/auth" "$TMPDIR/krb5.conf" "$TMPDIR/ccache"

run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
is "-c needs no model" "$status" 0
tap_done
