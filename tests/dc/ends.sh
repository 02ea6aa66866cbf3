#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# How runs end: exit statuses, one signal, two signals.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=12

play
is "a complete run" "$status" 0
run "$replay" --yes -S x tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
is "a usage error" "$status" 2
is "... is one line" "$(wc -l <<<"$errors")" 1
like "... that says what and where" "$errors" 'scale-traffic|-S'
run "$replay" --yes "$TMPDIR/nothing.yaml" "$TRAFFIC_REPLAY_DC"
is "no such model" "$status" 2
run "$replay" --yes tests/data/all-packets.yaml
is "no DC" "$status" 2
run "$replay" --yes -D 2 tests/data/all-packets.yaml dc1=127.88.255.254
is "nobody at this address" "$status" 1
like "... is reported" "$errors" '127\.88\.255\.254'
TRAFFIC_REPLAY_PASSWORD=wrong play
is "wrong administrator's password" "$status" 1
like "... is reported unchanged" "$errors" 'invalidCredentials'
# signalled SIGNALS...: a long run that gets them, half a second apart.
signalled() {
    local signal
    rm -f "$json"
    "$replay" --yes --json "$json" -D 60 --warmup 1 -I $instance tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC" \
        >"$TMPDIR/output" 2>"$TMPDIR/errors" &
    local pid=$!
    sleep 6
    began=$(now)
    for signal in "$@"; do
        kill "-$signal" $pid
        sleep 0.3
    done
    wait $pid
    status=$?
    seconds=$(took "$began")
    output=$(cat "$TMPDIR/output")
    errors=$(cat "$TMPDIR/errors")
    rm -f "$TMPDIR/output" "$TMPDIR/errors"
}
for signal in INT TERM; do
    signalled $signal
    is "SIG$signal: exit status" "$status" 130
    like "SIG$signal: the report is printed" "$output" '^Successful operations'
    value_holds "SIG$signal: the window is what was measured" '1 < window < 20 and interrupted'
    value_holds "SIG$signal: the sums agree" 'planned == sent + not_sent + dropped and sent == ok + failed + no_answer + unfinished'
    value_holds "SIG$signal: something was measured" 'ok > 0'
    [ "$seconds" -le 4 ]
    tap $? "SIG$signal: ends soon" "$seconds s"
done
lab_pid=
middle=$own_net.3.2
tests/lib/middleman.py mute $middle "$dc_address" >"$TMPDIR/ready" &
lab_pid=$!
until grep -q ready "$TMPDIR/ready"; do sleep 0.1; done
rm -f "$TMPDIR/ready"
(sleep 4 && kill -USR1 $lab_pid) &
real=$TRAFFIC_REPLAY_DC
TRAFFIC_REPLAY_DC=dc1=$middle signalled INT INT
TRAFFIC_REPLAY_DC=$real
kill $lab_pid
wait
is "two SIGINT, nobody answers: exit status" "$status" 130
[ "$seconds" -le 1 ]
tap $? "two SIGINT: leaves at once" "$seconds s"

run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
is "clean-up" "$status" 0
is "the accounts are gone" "$(search -b "OU=instance-$instance,OU=traffic_replay,$domain_dn" dn 2>/dev/null)" ""
run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
is "clean-up of nothing" "$status" 0
tap_done
