#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 240
#
# Loadfiles against a file server: every operation over every dialect, signed and encrypted; several clients; expected
# and unexpected failures; a share that others use; a run that is killed.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

if [ "$(id -u)" != 0 ] || ! command -v smbd >/dev/null; then
    skip "file server" "needs root and smbd"
    tap_done
fi

build=${TRAFFIC_REPLAY_BUILD:-${BUILD:-build}}
make_work
export TMPDIR=$work XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
export SMBD_DIR=$work/smbd SMBD_ADDRESS=$own_net.44.1
share=$work/files
at_exit 'lab/smbd remove'
run lab/smbd start --share "$share" --users 4
is "a file server" "$status" 0 || { echo "# $errors"; tap_done; }

# A pass of 26 operations: 4 are meant to fail; 65,536 + 1 bytes are written, 70,000 read.
cat >"$work/all.load" <<'LOAD'
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\none" 0x40 0x1 2 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\none" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\none\x" 1004 NT_STATUS_OBJECT_PATH_NOT_FOUND
FIND_FIRST "\clients\client1\<.JNK" 260 1366 0 NT_STATUS_NO_SUCH_FILE
NTCreateX "\clients\client1\a" 0x40 0x2 3 NT_STATUS_OK
WriteX 3 65535 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 3 258 NT_STATUS_OK
WriteX 3 0 65536 65536 NT_STATUS_OK
Flush 3 NT_STATUS_OK
LockX 3 2147483538 1 NT_STATUS_OK
UnlockX 3 2147483538 1 NT_STATUS_OK
SET_FILE_INFORMATION 3 1004 NT_STATUS_OK
ReadX 3 0 70000 65536 NT_STATUS_OK
ReadX 3 +61072%61072 4464 4464 NT_STATUS_OK
Close 3 NT_STATUS_OK
QUERY_FS_INFORMATION 259 NT_STATUS_OK
FIND_FIRST "\clients\client1\*" 260 1366 1 NT_STATUS_OK
Rename "\clients\client1\a" "\clients\client1\b" NT_STATUS_OK
Unlink "\clients\client1\b" 0x6 NT_STATUS_OK
Mkdir "\clients\client1\d" NT_STATUS_OK
Rmdir "\clients\client1\d" NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1" 1018 NT_STATUS_OK
LOAD

# play OPTION... MODEL: a run with the accounts of the server; its result is in $work/result.json.
play() {
    rm -f "$work/result.json"
    run "$build/traffic-replay" --server smb --accounts "$SMBD_DIR/accounts" --smb-share files --json "$work/result.json" \
        "$@" "$SMBD_ADDRESS"
}
# number EXPRESSION: of the result, with d for it and total() for sums over its packets.
number() {
    python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
def total(name): return sum(p[name] for p in d["packets"])
print(eval(sys.argv[2]))' "$work/result.json" "$1"
}
# Until the clients have begun.
wait_for_clients() {
    for _ in {1..100}; do
        [ ! -e "$share/traffic-replay-0/clients" ] || break
        sleep 0.1
    done
}
in_share() { find "$share" -mindepth 1 | sort; }

echo "somebody's" >"$share/theirs"

for options in "--smb-dialect 2.0.2" "--smb-dialect 2.1 --smb-signing required" "--smb-dialect 3.0 --smb-encrypt" \
    "--smb-dialect 3.0.2" "--smb-signing required" "--smb-encrypt" ""; do
    # shellcheck disable=SC2086 # several options
    play --passes 2 -S 2 $options "$work/all.load"
    is "all operations ${options:-by default}: exit status" "$status" 0 || echo "# $errors"
    is "... succeed" "$(number 'd["done_ok"], d["done_failed"], total("read"), total("written")')" \
        "(104, 0, 280000, 262148)"
done
is "pace" "$(number 'd["pace"]')" reply
like "... and in the report" "$output" '^Pace: +reply \(closed loop'
is "the share is as before" "$(in_share)" "$share/theirs"

cat >"$work/scratch.yaml" <<'MODEL'
version: 3
packet_rate: 40
history: 1
chain:
  "-": {"smb2:5": 10}
  "smb2:5": {"smb2:9": 10}
  "smb2:9": {"smb2:7": 10}
  "smb2:7": {"smb2:10": 10}
  "smb2:10": {"smb2:17": 10}
  "smb2:17": {"smb2:17": 20, "smb2:6": 10}
  "smb2:6": {"wait:0": 10}
  "wait:0": {"-": 10}
details:
  "smb2:5":
    - {count: 1, file: other, disposition: create}
    - {count: 1, file: other, disposition: open_if}
    - {count: 1, file: other, disposition: supersede}
    - {count: 1, file: other}
  "smb2:17":
    - {count: 1, class: basic}
    - {count: 1, class: allocation}
    - {count: 1, class: end_of_file}
MODEL
play -D 3 --warmup 1 "$work/scratch.yaml"
is "flush, lock and set info of a model: exit status" "$status" 0 || echo "# $errors"
is "... none fails" "$(number 'd["done_ok"] > 0, d["done_failed"]')" "(True, 0)"

sed 's/NT_STATUS_OK$/NT_STATUS_ACCESS_DENIED/' "$work/all.load" >"$work/wrong.load"
play --passes 1 "$work/wrong.load"
is "wrong expectations: exit status" "$status" 0
is "... all fail but those meant to fail" "$(number 'd["done_ok"], d["done_failed"]')" "(6, 20)"
like "... and name both statuses" "$output" 'NT_STATUS_OK instead of NT_STATUS_ACCESS_DENIED'

mkdir "$share/mine" && touch "$share/mine/file"
play --passes 1 --smb-folder mine "$work/all.load"
is "a folder that exists: exit status" "$status" 2
like "... is not used" "$errors" 'has a folder "mine" already'
run "$build/traffic-replay" -c --server smb --accounts "$SMBD_DIR/accounts" --smb-share files --smb-folder mine "$SMBD_ADDRESS"
is "... nor removed by -c" "$status $(in_share | grep -c mine)" "2 2"

"$build/traffic-replay" --server smb --accounts "$SMBD_DIR/accounts" --smb-share files -S 2 -D 30 \
    "$work/all.load" "$SMBD_ADDRESS" >"$work/log" 2>&1 &
pid=$!
wait_for_clients
kill -KILL $pid
wait $pid 2>/dev/null
play --passes 1 "$work/all.load"
is "the folder of a killed run: exit status" "$status" 2
run "$build/traffic-replay" -c --server smb --accounts "$SMBD_DIR/accounts" --smb-share files "$SMBD_ADDRESS"
is "-c: exit status" "$status" 0
like "... removes it" "$errors" 'removed folder traffic-replay-0'
is "... and nothing else" "$(in_share | tr '\n' ' ')" "$share/mine $share/mine/file $share/theirs "

"$build/traffic-replay" --server smb --accounts "$SMBD_DIR/accounts" --smb-share files -S 2 -D 30 \
    --json "$work/result.json" "$work/all.load" "$SMBD_ADDRESS" >"$work/log" 2>&1 &
pid=$!
wait_for_clients
sleep 1
kill -INT $pid
wait $pid
is "Ctrl-C: exit status" $? 130
is "... the identity holds" "$(number 'd["planned"] == d["sent"] and d["sent"] == d["ok"] + d["failed"] + d["unfinished"]')" True
is "... and the folder is removed" "$(in_share | grep -c traffic-replay-0)" 0
tap_done
