#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
#
# SMB2 and RPC through a middleman that truncates, changes, repeats and delays replies: nothing crashes, each failure has
# a cause, and the other conversations continue. Uses the build with sanitizers if there is one.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh

own_dc 10.1
process=
# shellcheck disable=SC2317 # called at exit
finish() {
    [ -z "$process" ] || kill "$process" 2>/dev/null
    wait
    lab/dc remove
}
at_exit finish
if [ -x "$TRAFFIC_REPLAY_BUILD-sanitized/traffic-replay" ]; then
    replay=$TRAFFIC_REPLAY_BUILD-sanitized/traffic-replay
fi
lab/dc start || exit 1
eval "$(lab/dc env)"
# shellcheck disable=SC2034 # read by play
model=tests/data/smb-rpc.yaml dc_address=$LAB_ADDRESS

play_all() {
    play --smb-share scratch --allow-replication -S 0.4 -r 2 --warmup 0 -D 14 --timeout 3 --latency-timeout 2 "$@"
}
play_all -D 2
run_is_good "before"

# through NAME KIND OPTION...
through() {
    local name=$1 kind=$2 turn
    shift 2
    tests/lib/middleman.py "$kind" "$own_net.10.2" "$LAB_ADDRESS" >"$TMPDIR/ready" &
    process=$!
    until grep -q ready "$TMPDIR/ready"; do sleep 0.1; done
    rm -f "$TMPDIR/ready"
    # What comes before the run must not be hit.
    (sleep 6 && kill -USR1 $process) &
    turn=$!
    TRAFFIC_REPLAY_DC=dc1=$own_net.10.2 play_all "$@"
    wait $turn
    kill $process
    wait $process
    process=
    is "$name: exit status" "$status" 0
    unlike "$name: no complaint of a sanitizer" "$errors" 'Sanitizer|runtime error'
    value_holds "$name: planned = sent + not sent + dropped" 'planned == sent + not_sent + dropped'
    value_holds "$name: sent = ok + failed + no answer + unfinished" 'sent == ok + failed + no_answer + unfinished'
    value_is "$name: each failure has a cause" 'sum(causes().values()) - done_failed' 0
    value_holds "$name: there are failures" 'done_failed > 0'
    value_holds "$name: the others continue" 'sum(s["ok"] for s in seconds[-4:]) > sum(s["failed"] for s in seconds[-4:])'
}
through "a bit is changed" flip
through "answers are cut" cut
through "answers come twice" twice
through "answers come out of order" late
through "a bit is changed, Kerberos, encrypted" flip -K --smb-encrypt
tap_done
