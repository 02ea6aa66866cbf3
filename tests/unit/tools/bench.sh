#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# bench/run that is ended in the middle of a row leaves no process and no folder. What it measures is a fake here.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

make_work
mkdir -p "$work/build/bench" "$work/temporary"
cat >"$work/build/bench/bench_results" <<TEXT
#!/bin/sh
sleep 60 &
echo \$\$ \$! >"$work/started"
wait
TEXT
chmod +x "$work/build/bench/bench_results"

started() {
    for _ in $(seq 200); do
        [ ! -s "$work/started" ] || return 0
        sleep 0.05
    done
    return 1
}

for ending in TERM HUP; do
    rm -f "$work/started"
    TMPDIR=$work/temporary BUILD=$work/build env --default-signal bench/run summary >/dev/null 2>"$work/errors" &
    bench=$!
    started
    tap $? "$ending: a row is being measured"
    kill -s "$ending" $bench
    wait $bench
    is "$ending: exit status" $? $((128 + $(kill -l "$ending")))
    is "$ending: its folder is gone" "$(ls "$work/temporary")" ""
    is "$ending: nothing on standard error" "$(cat "$work/errors")" ""
    # Killed, but perhaps not yet collected by the process that inherited it.
    is "$ending: what it started is ended" \
        "$(xargs -n 1 ps -o stat=,args= -p <"$work/started" | grep -v '^Z')" ""
done

tap_done
