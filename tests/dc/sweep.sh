#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
#
# Real sweeps against a separate domain controller: a setting of the server that a hook varies, samples of its processes,
# interrupt and resume, no passwords in process lists, a DC that dies.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

if [ -z "${TRAFFIC_REPLAY_DC:-}" ] || [ "$(id -u)" != 0 ]; then
    skip "sweeps" "needs the lab and root"
    tap_done
fi

build=${TRAFFIC_REPLAY_BUILD:-${BUILD:-build}}
make_work
export TMPDIR=$work XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
own_dc 30.1
results=$work/results

cat >"$work/model.yaml" <<MODEL
version: 3
packet_rate: 40
history: 1
chain:
  "-": {"ldap:0": 10}
  "ldap:0": {"wait:0": 10}
  "wait:0": {"ldap:3": 20, "-": 10}
  "ldap:3": {"wait:0": 20}
details:
  "ldap:0":
    - {count: 1, auth: sasl, mech: GSS-SPNEGO}
  "ldap:3":
    - {count: 1, scope: sub, base: "DC,DC", filter: "(sAMAccountName)", attrs: [cn]}
MODEL

run lab/dc start --prefork-children 1
is "a DC" "$status" 0 || { echo "# $errors"; tap_done; }
settings=$(lab/dc env)
eval "$settings"
password=$TRAFFIC_REPLAY_PASSWORD

sweep() {
    run "$build/traffic-sweep" --results "$results" "$@" "$work/model.yaml" "$TRAFFIC_REPLAY_DC" \
        -- --yes -D 3 --warmup 1 --random-seed 1 </dev/null
}
# number FILE EXPRESSION: of a result, with d for it.
number() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

# A hook varies a setting of the server; its processes are sampled.
sweep -r 2 -S 0.5,1 --vary prefork=1,3 --before 'lab/dc restart --prefork-children {prefork}'
is "a sweep with restarts: exit status" "$status" 0 || echo "# $errors"
is "a sweep with restarts: cells" "$(find "$results" -name 'dc1_r2_S*.json' | wc -l)" 4
for prefork in 1 3; do
    file=$results/dc1_r2_S1_prefork-$prefork.json
    is "prefork $prefork: the number of cores in each sample" \
        "$(number "$file" '{int(s["cores"]) for s in d["samples"]}')" "{$(getconf _NPROCESSORS_ONLN)}"
    is "prefork $prefork: samples once a second" "$(number "$file" 'len(d["samples"]) in (2, 3, 4)')" True
    is "prefork $prefork: the processes of each service" \
        "$(number "$file" '{int(s["processes.ldap"]) for s in d["samples"]}')" "{$((prefork + 1))}"
    is "prefork $prefork: the whole server, smbd and winbindd too" \
        "$(number "$file" 'all(s["processes"] > 20 and s["processes.smbd"] > 0 and s["processes.winbindd"] > 0 for s in d["samples"])')" True
    is "prefork $prefork: processor time grows" \
        "$(number "$file" 'd["samples"][-1]["cpu"] > d["samples"][0]["cpu"] > 0')" True
    is "prefork $prefork: its label" "$(number "$file" 'd["labels"]["prefork"]')" "$prefork"
done
is "nothing failed" "$(number "$results/dc1_r2_S1_prefork-3.json" '(d["done_failed"], d["done_ok"] > 20)')" "(0, True)"
run "$build/traffic-summary" --by prefork "$results"
like "traffic-summary --by: a row a value, with the DC's processor time" "$output" '^ +3 +2 +[0-9.]+ +r=2 S=1 +[0-9.]+ +0\.0[0-9]+$'

# Interrupt and resume; who sees the password.
rm -rf "$results"
"$build/traffic-sweep" --results "$results" -r 1,2,3 -S 1 "$work/model.yaml" "$TRAFFIC_REPLAY_DC" \
    -- --yes -D 3 --warmup 1 --random-seed 1 -F Own-Hidden.Pass1 </dev/null 2>"$work/errors" &
child=$!
printf '%s\n' "$password" Own-Hidden.Pass1 >"$work/secrets"
seen=""
looked=0
for _ in $(seq 400); do
    # The sweep itself had it on its command line, for as long as it took to overwrite it there.
    seen=$seen$(grep -lFf "$work/secrets" /proc/[0-9]*/cmdline 2>/dev/null | grep -v "^/proc/$child/")
    [ -z "$(pgrep -P $child)" ] || looked=$((looked + 1))
    [ ! -e "$results/dc1_r1_S1.json" ] || break
    sleep 0.05
done
[ $looked -gt 3 ]
tap $? "the runs were looked at ($looked times)"
is "passwords are in no process's command line" "$seen" ""
is "nor is one left in the sweep's own" "$(tr '\0' ' ' <"/proc/$child/cmdline" | grep -c Own-Hidden)" 0
sleep 1
kill -INT $child
wait $child
is "interrupted: exit status" $? 130
is "interrupted: two cells are there" "$(find "$results" -name '*.json' | wc -l)" 2
run "$build/traffic-sweep" --resume --results "$results" -r 1,2,3 -S 1 "$work/model.yaml" "$TRAFFIC_REPLAY_DC" \
    -- --yes -D 3 --warmup 1 --random-seed 1 -F Own-Hidden.Pass1 </dev/null
is "resumed: exit status" "$status" 0 || echo "# $errors"
is "resumed: all cells are there" "$(find "$results" -name 'dc1_*.json' | wc -l) $(find "$results" -name '.*' ! -name . | wc -l)" "3 0"
is "resumed: one was played" "$(grep -c 'of 3 cells' <<<"$errors")" 1

# The search.
rm -rf "$results"
sweep --find-max -r 1:3 -S 0.5,1,2 --slo 'success>=99%'
is "--find-max: exit status" "$status" 0 || echo "# $errors"
like "--find-max: more load is more, for so small loads" "$output" '^maximum within success>=99%: [0-9.]+/s at r=3 S=2 \(3 runs, '

# A DC that dies.
rm -rf "$results"
sweep -r 1,2,3 -S 1 --before '[ {r} != 2 ] || lab/dc kill'
is "a DC that died: exit status" "$status" 1
like "a DC that died: what the run said" "$errors" '^  \| .*nothing listens on port 389'
is "a DC that died: the finished cell is kept" "$(find "$results" -name '*.json' | wc -l)" 1
run lab/dc start
run "$build/traffic-sweep" --resume --results "$results" -r 1,2,3 -S 1 --before '[ {r} != 2 ] || lab/dc kill' \
    --after 'lab/dc start' "$work/model.yaml" "$TRAFFIC_REPLAY_DC" -- --yes -D 3 --warmup 1 --random-seed 1 </dev/null
is "--resume with another hook is refused" "$status" 2

tap_done
