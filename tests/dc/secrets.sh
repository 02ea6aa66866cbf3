#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 200
#
# Searches for passwords wherever another user could read them: process lists, environments, logs, and the files that a
# run leaves.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=13
admin=$TRAFFIC_REPLAY_PASSWORD
fixed='Fixed-Password.4711'

# seen PID SECRET: where in /proc it stands.
seen() {
    local file
    for file in cmdline environ; do
        if tr '\0' '\n' <"/proc/$1/$file" | grep -qF -e "$2"; then
            echo "$file"
        fi
    done
}

# look NAME COMMAND...: runs it and looks at its process while it plays.
look() {
    local name=$1 pid found="" where
    shift
    "$@" >"$TMPDIR/output" 2>"$TMPDIR/errors" &
    pid=$!
    # The first moments are the program's own, before it can have read anything.
    while kill -0 $pid && [ "$(readlink "/proc/$pid/exe")" != "$(realpath "$replay")" ]; do sleep 0.01; done
    sleep 0.3
    while kill -0 $pid 2>/dev/null; do
        for secret in "$admin" "$fixed"; do
            where=$(seen $pid "$secret" 2>/dev/null)
            [ -z "$where" ] || found="$found $where"
        done
        sleep 0.1
    done
    wait $pid
    status=$?
    is "$name: exit status" "$status" 0 || sed 's/^/# /' "$TMPDIR/errors"
    is "$name: no password in cmdline or environ" "$found" ""
    is "$name: none in the output" "$(grep -lF -e "$admin" -e "$fixed" "$TMPDIR/output" "$TMPDIR/errors" "$json" "$TMPDIR/timing")" ""
}

arguments=(--yes -v -v --log-failures 100 --json "$json" -t "$TMPDIR/timing" -B 0.5 -D 3 --warmup 1 -I "$instance")
look "by environment" "$replay" "${arguments[@]}" --fixed-password "$fixed" tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
look "by command line" env -u TRAFFIC_REPLAY_USER -u TRAFFIC_REPLAY_PASSWORD \
    "$replay" "${arguments[@]}" -F "$fixed" "-U$TRAFFIC_REPLAY_USER%$admin" tests/data/all-packets.yaml "$TRAFFIC_REPLAY_DC"
like "the command line in the result is there" "$(value command)" 'traffic-replay.* --json'
state=${XDG_STATE_HOME:-$HOME/.local/state}
is "not in the state files" "$(grep -rlF -e "$admin" -e "$fixed" "$state" 2>/dev/null)" ""

play
is "a random password" "$status" 0
is "is kept where only its owner reads" "$(find "$state" -type f ! -perm 600)" ""
holds "at all" test -n "$(find "$state" -type f)"
unlike "the accounts' mark in the directory is no password" \
    "$(search -b "OU=instance-$instance,OU=traffic_replay,$domain_dn" -s base description)" "$fixed|$admin"
rm -f "$TMPDIR/output" "$TMPDIR/errors" "$TMPDIR/timing"
run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
is "clean-up" "$status" 0
tap_done
