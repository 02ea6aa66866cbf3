#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
#
# Each operation of --list-packets is played alone at least a hundred times and does not fail, although no other packet
# prepares anything for it.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=17
model=$TMPDIR/alone.yaml

# play_alone PACKET SECONDS
play_alone() {
    cat >"$model" <<END
version: 3
packet_rate: 100
history: 1
chain:
  "-": {"$1": 1}
  "$1": {"$1": 39, "-": 1}
END
    play --smb-share scratch --allow-replication --warmup 0 --latency-timeout 30 -S 3 -D "$2"
}

# alone PACKET: what is slow has a second try with more time.
alone() {
    play_alone "$1" 1
    [ "$(value 'done_ok >= 100')" = 1 ] || play_alone "$1" 40
    value_holds "$1: played a hundred times, no failure" \
        'done_ok >= 100 and failed == done_failed == no_answer == 0 and skipped == {}'
}

"$replay" --list-packets >"$TMPDIR/packets"
packets=$(awk '$2 == "operation" { print $1 }' "$TMPDIR/packets")
[ "$(wc -w <<<"$packets")" -ge 80 ]
tap $? "--list-packets names the packets" "$packets"
for packet in $packets; do
    [ "$packet" = ldap:23 ] || alone "$packet"
done

# Samba 4.17 does not know "Who am I?", and newer versions that do need not list it in supportedExtension.
play_alone ldap:23 1
value_holds "ldap:23: answered a hundred times, or refused as an unknown operation" \
    '(done_ok >= 100 and done_failed == 0) or (done_failed >= 100 and done_ok == 0 and list(causes()) == ["protocolError"])'
run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
is "the accounts are removed" "$status" 0

tap_done
