#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
#
# A domain controller that dies, comes back, falls silent, or sends nonsense: the run ends on time, failures are counted
# by cause, and no client is lost.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh

own_dc 20.1
processes=()
# shellcheck disable=SC2317 # called at exit
finish() {
    [ ${#processes[@]} = 0 ] || kill "${processes[@]}" 2>/dev/null
    wait
    lab/dc remove
}
at_exit finish
lab/dc start || exit 1
eval "$(lab/dc env)"
dc_address=$own_net.20.1

# A domain without accounts of ours is not touched unasked.
run "$replay" -D 2 tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC" </dev/null
is "accounts are not made without --yes when nobody can be asked" "$status" 2
like "... is reported" "$errors" '--yes'
is "and none is there" "$(search -b "OU=traffic_replay,$domain_dn" dn 2>/dev/null)" ""

play
run_is_good "before"

# accounted LIMIT NAME: the last run took less than LIMIT seconds and lost nothing.
accounted() {
    value_holds "$2: planned = sent + not sent + dropped" 'planned == sent + not_sent + dropped'
    value_holds "$2: sent = ok + failed + no answer + unfinished" 'sent == ok + failed + no_answer + unfinished'
    value_is "$2: each failure has a cause" 'sum(causes().values()) - done_failed' 0
    [ "$seconds" -le "$1" ]
    tap $? "$2: ends on time" "it took $seconds s"
}

# Killed at about second 3 of the window, back 2 s later.
(
    sleep 6
    lab/dc kill
    sleep 2
    lab/dc start
) >/dev/null 2>&1 &
outage=$!
began=$(now)
play -D 15 --warmup 1 --timeout 5 -v
seconds=$(took "$began")
wait $outage
is "killed and restarted: exit status" "$status" 0
accounted 25 "killed and restarted"
value_holds "killed and restarted: connections are refused or reset meanwhile" \
    'any(word in cause for cause in causes() for word in ("refused", "reset", "closed"))'
value_holds "killed and restarted: traffic flows before and after" \
    'sum(s["ok"] for s in seconds[:2]) > 0 and sum(s["ok"] for s in seconds[-3:]) > 0'
value_holds "killed and restarted: no client is lost: the end's load is the beginning's" \
    'sum(s["ok"] for s in seconds[-3:]) > 0.3 * sum(s["planned"] for s in seconds[-3:])'

# The secure channels are gone with the DC that knew them: each is set up anew, once, inside the operation that finds out.
cat >"$TMPDIR/channel.yaml" <<MODEL
version: 3
packet_rate: 5
history: 1
chain:
  "-": {"rpc_netlogon:39": 1}
  "rpc_netlogon:39": {"rpc_netlogon:39": 60, "rpc_netlogon:29": 30, "lsarpc:76": 30, "wait:6": 30, "-": 1}
  "rpc_netlogon:29": {"rpc_netlogon:39": 1}
  "lsarpc:76": {"rpc_netlogon:39": 1}
  "wait:6": {"rpc_netlogon:39": 1}
MODEL
model=$TMPDIR/channel.yaml play -S 0.75 -r 8 -D 1 # its accounts are made before the clock starts
(
    sleep 6
    lab/dc kill
    lab/dc start
) >/dev/null 2>&1 &
outage=$!
began=$(now)
model=$TMPDIR/channel.yaml play -S 0.75 -r 8 -D 20 --timeout 5
seconds=$(took "$began")
wait $outage
rm -f "$TMPDIR/channel.yaml"
accounted 30 "secure channels after a restart"
value_is "secure channels after a restart: only connections fail" \
    '[cause for cause in causes() if not any(word in cause for word in ("refused", "reset", "closed", "timed out")) or
      "bind" in cause]' '[]'
value_holds "secure channels after a restart: each fails at most once" \
    'sum(s["failed"] for s in seconds[-5:]) < 0.1 * sum(s["ok"] for s in seconds[-5:])'

# Stopped: the kernel accepts connections for it, and nobody ever answers.
(
    sleep 5
    pids=$(lab/dc processes)
    # shellcheck disable=SC2086 # one argument a pid
    kill -STOP $pids
    sleep 12
    # shellcheck disable=SC2086 # one argument a pid
    kill -CONT $pids
) &
outage=$!
began=$(now)
play -D 8 --warmup 1 --timeout 2 --latency-timeout 1
seconds=$(took "$began")
wait $outage
accounted 18 "stopped"
value_holds "stopped: operations time out" 'causes().get("timed out", 0) > 0'

# Somebody between the clients and the DC.
middleman() {
    tests/lib/middleman.py "$@" >"$TMPDIR/ready" &
    processes=($!)
    until grep -q ready "$TMPDIR/ready"; do sleep 0.1; done
    rm -f "$TMPDIR/ready"
}
end_middleman() {
    kill "${processes[0]}"
    wait "${processes[0]}"
    processes=()
}
for kind in mute garbage reset; do
    middleman $kind $own_net.20.2 $own_net.20.1
    (sleep 5 && kill -USR1 "${processes[0]}") &
    turn=$!
    began=$(now)
    TRAFFIC_REPLAY_DC=dc1=$own_net.20.2 play -D 8 --warmup 1 --timeout 2 --latency-timeout 1
    seconds=$(took "$began")
    wait $turn
    is "$kind: exit status" "$status" 0
    accounted 18 "$kind"
    value_holds "$kind: what worked before is counted" 'ok > 0'
    value_holds "$kind: failures have causes" 'len(causes()) > 0'
    # From the start: the run cannot be made, and one line says so.
    began=$(now)
    TRAFFIC_REPLAY_DC=dc1=$own_net.20.2 play -D 2 --timeout 2
    seconds=$(took "$began")
    is "$kind from the start: exit status" "$status" 1
    [ "$seconds" -le 40 ]
    tap $? "$kind from the start: does not take for ever" "$seconds s"
    like "$kind from the start: it is reported" "$errors" "$own_net.20.2"
    end_middleman
done
tap_done
