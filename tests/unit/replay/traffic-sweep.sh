#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# traffic-sweep as a program, with a fake traffic-replay in the same folder: calls and their order,
# results, interrupts, resuming, commands that fail or hang, read-only folders.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

make_work
export FAKE=$work/fake XDG_CONFIG_HOME=$work TRAFFIC_REPLAY_USER=admin TRAFFIC_REPLAY_PASSWORD=Kept-Hidden.1
mkdir "$FAKE" "$work/bin"
cp "${TRAFFIC_REPLAY_BUILD:-${BUILD:-build}}/traffic-sweep" tests/data/sweep/traffic-replay "$work/bin"
cp tests/data/sweep/cell.json "$FAKE"
cp examples/office.yaml "$work/model.yaml"
program=$work/bin/traffic-sweep
model=$work/model.yaml
results=$work/results

# sweep OPTION...: sweeps a remote server.
sweep() { run "$program" --results "$results" --sample none "$@" </dev/null; }
fresh() {
    rm -rf "$results" "$work"/hooks
    for name in log secrets cmdlines playing sleep fail status version accounts-status; do rm -f "$FAKE/$name"; done
}
played() { grep -c -- --json "$FAKE/log" 2>/dev/null || true; }
files() { (cd "$results" && find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' '); }
# wait_for FILE LINES: waits until a file has this many lines.
wait_for() {
    for _ in $(seq 200); do
        [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ] && return
        sleep 0.05
    done
    return 1
}

# Help and mistakes.
run "$program" --help
is "--help: exit status" "$status" 0
is "--help: nothing on standard error" "$errors" ""
while read -r option; do
    like "--help and the manual page list --$option" "$(mandoc -T ascii man/traffic-sweep.1 | col -b)" "^ +.*--$option"
done < <(sed -n 's/^.*--\([a-z-]*[a-z]\).*/\1/p' <<<"$output" | sort -u)
run "$program" --version
like "--version" "$output" '^traffic-sweep [0-9]+\.[0-9]+\.[0-9]+$'
"$program" --help >/dev/full 2>"$work/errors"
is "--help to a full disk" $? 1
run "$program" -r 4 "$work/missing" dc1
is "no model: exit status" "$status" 2
like "no model: message" "$errors" "^traffic-sweep: MODEL: cannot read \"$work/missing\": No such file"
echo 'version: 9' >"$work/wrong"
fresh
sweep "$work/wrong" dc1
is "an invalid model: exit status" "$status" 2
like "an invalid model: message" "$errors" "^traffic-sweep: $work/wrong:1:[0-9]+: "
is "an invalid model: nothing is created" "$(ls -d "$results" 2>/dev/null)" ""

# A whole sweep.
fresh
sweep -r 2,4 -S 1,3 --vary x=a,b --before "echo before {r} {S} {x} >>$work/hooks" \
    --after "echo after {r} {S} {x} >>$work/hooks" "$model" dc1=192.0.2.7 -- -D 3 --random-seed 5
is "a sweep: exit status" "$status" 0 || echo "# $errors"
is "a sweep of a varied setting ends with the command that shows each value" "$(tail -n 1 <<<"$output")" \
    "traffic-summary --by x $results shows the maximum of each value"
is "a sweep: files" "$(files)" "dc1_r2_S1_x-a.json dc1_r2_S1_x-a.txt dc1_r2_S1_x-b.json dc1_r2_S1_x-b.txt \
dc1_r2_S3_x-a.json dc1_r2_S3_x-a.txt dc1_r2_S3_x-b.json dc1_r2_S3_x-b.txt dc1_r4_S1_x-a.json dc1_r4_S1_x-a.txt \
dc1_r4_S1_x-b.json dc1_r4_S1_x-b.txt dc1_r4_S3_x-a.json dc1_r4_S3_x-a.txt dc1_r4_S3_x-b.json dc1_r4_S3_x-b.txt "
is "a sweep: the text" "$(cat "$results/dc1_r4_S3_x-b.txt")" "report of r=4 S=3"
is "a sweep: commands before and after each cell" "$(head -n 4 "$work/hooks" | tr '\n' ' ')" \
    "before 2 1 a after 2 1 a before 2 3 a after 2 3 a "
is "a sweep: one run per cell" "$(played)" 8
is "a sweep: accounts are created once" "$(grep -c -- --make-accounts "$FAKE/log")" 1
like "a sweep: for the largest cell, before the first run" "$(head -n 1 "$FAKE/log")" '--make-accounts --scale-traffic=3 '
like "a sweep: arguments of a run" "$(sed -n 2p "$FAKE/log")" \
    '^--duration=3 --config=/proc/self/fd/[0-9]+ --replay-rate=2 --scale-traffic=1 --random-seed=5 --label=x=a --label=repeat=1 --label=options=--duration=3 .*--json=[^ ]*/\.dc1_r2_S1_x-a\.json -- [^ ]*model.yaml dc1=192\.0\.2\.7$'
like "a sweep: progress" "$errors" '^traffic-sweep: dc1_r2_S3_x-a [0-9.]+/s; 2 of 8 cells, best [0-9.]+/s in dc1_r2_S1_x-a, [0-9:]+ left$'
like "a sweep: the end" "$output" "^8 cells in $results; maximum: "
run "${BUILD:-build}/traffic-summary" --by x "$results"
like "a sweep: traffic-summary reads it" "$output" '^ *b +4 '

# Secrets.
like "secrets: reach the runs" "$(cat "$FAKE/secrets")" '^user: "admin%Kept-Hidden.1"$'
is "secrets: by a file of mode 0600" "$(grep -c '^0o100600$' "$FAKE/secrets")" 9
unlike "secrets: on no command line" "$(cat "$FAKE/cmdlines")" 'Kept-Hidden'
unlike "secrets: in no result" "$(cat "$results"/*)" 'Kept-Hidden'
fresh
sweep "$model" dc1 -- -U 'other%Told-Openly.2' -F Accounts-Own.3
is "secrets of the command line: exit status" "$status" 0
like "secrets of the command line: reach the runs" "$(cat "$FAKE/secrets")" '^user: "other%Told-Openly.2"$'
like "secrets of the command line: the accounts' too" "$(cat "$FAKE/secrets")" '^fixed-password: "Accounts-Own.3"$'
unlike "secrets of the command line: on no command line, not this program's either" "$(cat "$FAKE/cmdlines")" 'Told-Openly|Accounts-Own'
unlike "secrets of the command line: in no result" "$(cat "$results"/*)" 'Told-Openly|Accounts-Own'

# Resuming.
fresh
sweep -r 2,4 "$model" dc1 -- -D 3
sweep -r 2,4 "$model" dc1 -- -D 3
is "existing results: exit status" "$status" 2
like "existing results: message" "$errors" "^traffic-sweep: $results/dc1_r2_S1.json exists; give --resume to continue, or another --results folder$"
sweep -r 2,4,6 --repeat 2 --resume "$model" dc1 -- -D 3
is "--resume: exit status" "$status" 0 || echo "# $errors"
is "--resume: plays what is missing" "$(played)" 6
like "--resume: the seed is the sweep's, repeats have the next ones" \
    "$(python3 -c 'import json, sys; a, b = (int(json.load(open(f))["seed"]) for f in sys.argv[1:]); print(b - a)' \
        "$results/dc1_r2_S1.json" "$results/dc1_r6_S1_2.json")" '^1$'

# refuses NAME PATTERN OPTION...
refuses() {
    local name=$1 pattern=$2
    shift 2
    sweep -r 2,4,6 --resume "$@"
    is "--resume with $name: exit status" "$status" 2
    like "--resume with $name: message" "$errors" "^traffic-sweep: $results/dc1_r2_S1.json was played $pattern"
    is "--resume with $name: nothing is played" "$(played)" 6
}
refuses "another duration" 'with --duration=3; this sweep has --duration=4; give the same options' "$model" dc1 -- -D 4
refuses "more options" 'without --prefer-kerberos, which this sweep has' "$model" dc1 -- -D 3 -K
refuses "a hook" "without --before=true, which this sweep has" --before true "$model" dc1 -- -D 3
refuses "another seed" 'with --random-seed=[0-9]+; this sweep needs 1' "$model" dc1 -- -D 3 --random-seed 1
refuses "another address" 'against dc1; this sweep is against dc1=192.0.2.9' "$model" dc1=192.0.2.9 -- -D 3
(cat "$model" && echo '# changed') >"$work/changed.yaml"
refuses "another model" 'with another model \(' "$work/changed.yaml" dc1 -- -D 3
echo 7.2 >"$FAKE/version"
refuses "another program" 'by traffic-replay 7.1; this version is 7.2' "$model" dc1 -- -D 3
rm "$FAKE/version"

# Damaged, empty and foreign files.
printf '{"format": 1, "pro' >"$results/dc1_r2_S1.json"
: >"$results/dc1_r4_S1.json"
echo "Dear diary" >"$results/diary.txt"
echo 5 >"$results/.dc1_r6_S1.json"
sweep -r 2,4,6 --resume "$model" dc1 -- -D 3
is "damaged results: exit status" "$status" 0
is "damaged results: are played again" "$(played)" 8
like "damaged results: are reported" "$errors" "^traffic-sweep: $results/dc1_r2_S1.json:.*; playing this cell again$"
is "damaged results: once each" "$(grep -c 'playing this cell again' <<<"$errors")" 2
holds "damaged results: are complete" python3 -m json.tool "$results/dc1_r4_S1.json"

# Interrupts.
fresh
echo 1 >"$FAKE/sleep"
"$program" --results "$results" --sample none -r 1:4 --after "echo after >>$work/hooks" "$model" dc1 2>"$work/errors" </dev/null &
child=$!
wait_for "$FAKE/playing" 2
kill -INT $child
wait $child
is "Ctrl-C: exit status" $? 130
is "Ctrl-C: the running cell is kept" "$(files)" "dc1_r1_S1.json dc1_r1_S1.txt dc1_r2_S1.json dc1_r2_S1.txt "
is "Ctrl-C: the command after it is run" "$(wc -l <"$work/hooks")" 2
like "Ctrl-C: message" "$(cat "$work/errors")" '^traffic-sweep: interrupted: finishing the current cell; interrupt again to stop at once$'
like "Ctrl-C: how to continue" "$(cat "$work/errors")" '^traffic-sweep: interrupted after 2 cells; give --resume to continue$'

echo 60 >"$FAKE/sleep"
"$program" --resume --results "$results" --sample none -r 1:4 --after "echo after >>$work/hooks" "$model" dc1 2>"$work/errors" </dev/null &
child=$!
wait_for "$FAKE/playing" 3
kill -INT $child
sleep 0.2
kill -INT $child
wait $child
is "Ctrl-C twice: exit status" $? 130
is "Ctrl-C twice: nothing unfinished is left" "$(files)" "dc1_r1_S1.json dc1_r1_S1.txt dc1_r2_S1.json dc1_r2_S1.txt "
kill -0 "$(tail -n 1 "$FAKE/playing")" 2>/dev/null
is "Ctrl-C twice: the run is ended" $? 1

"$program" --resume --results "$results" --sample none -r 1:4 --after "echo after >>$work/hooks" "$model" dc1 2>/dev/null </dev/null &
child=$!
wait_for "$FAKE/playing" 4
run "$program" --resume --results "$results" --sample none -r 1:4 --after "echo after >>$work/hooks" "$model" dc1
is "two sweeps in one folder: exit status" "$status" 1
like "two sweeps in one folder: message" "$errors" "^traffic-sweep: --results: another sweep is using $results$"
kill -KILL $child
{ wait $child; } 2>/dev/null
for _ in $(seq 100); do
    kill -0 "$(tail -n 1 "$FAKE/playing")" 2>/dev/null || break
    sleep 0.05
done
kill -0 "$(tail -n 1 "$FAKE/playing")" 2>/dev/null
is "SIGKILL: the run is ended, too" $? 1
echo 0 >"$FAKE/sleep"
sweep --resume -r 1:4 --after "echo after >>$work/hooks" "$model" dc1
is "SIGKILL, then --resume: exit status" "$status" 0 || echo "# $errors"
is "SIGKILL, then --resume: files" "$(files)" \
    "dc1_r1_S1.json dc1_r1_S1.txt dc1_r2_S1.json dc1_r2_S1.txt dc1_r3_S1.json dc1_r3_S1.txt dc1_r4_S1.json dc1_r4_S1.txt "
is "SIGKILL, then --resume: finished cells are not played again" "$(grep -c -- 'json=.*_r[12]_' "$FAKE/log")" 2

# Runs that fail.
fresh
echo dc1_r3_ >"$FAKE/fail"
sweep -r 1:4 "$model" dc1
is "a run that fails: exit status" "$status" 1
like "a run that fails: where" "$errors" '^traffic-sweep: dc1_r3_S1: traffic-replay failed \(exit status 1\)$'
like "a run that fails: what it said, cleaned" "$errors" '^  \| \?\[31mnothing listens on port 389$'
like "a run that fails: the last cell may be invalid" "$errors" 'the last cell \(dc1_r2_S1\) may be invalid'
is "a run that fails: the others are kept" "$(files)" "dc1_r1_S1.json dc1_r1_S1.txt dc1_r2_S1.json dc1_r2_S1.txt "
rm "$FAKE/fail"
sweep -r 1:4 --resume "$model" dc1
is "a run that fails, then --resume" "$status" 0
fresh
echo 1 >"$FAKE/accounts-status"
sweep "$model" dc1
is "accounts that cannot be made: exit status" "$status" 1
like "accounts that cannot be made: message" "$errors" 'cannot create the test accounts \(exit status 1\)$'
is "accounts that cannot be made: nothing is played" "$(played)" 0

# Commands that fail or hang.
fresh
sweep -r 1:3 --before 'echo starting {r}; [ {r} != 2 ] || { echo no such DC >&2; exit 3; }' --after "echo {r} >>$work/hooks" "$model" dc1
is "--before fails: exit status" "$status" 1
like "--before fails: message" "$errors" '^traffic-sweep: dc1_r2_S1: --before: "echo starting 2; .*" failed \(exit status 3\)$'
like "--before fails: its output" "$errors" '^  \| no such DC$'
is "--before fails: the cell is not played" "$(played)" 1
is "--before fails: there is nothing to take down" "$(cat "$work/hooks")" 1
fresh
sweep -r 1:3 --after 'exit 4' "$model" dc1
is "--after fails: exit status" "$status" 1
is "--after fails: the cell is kept" "$(files)" "dc1_r1_S1.json dc1_r1_S1.txt "
fresh
before=$SECONDS
nap=97.$$ # a duration that no other process has
sweep --hook-timeout 0.5 --before "echo waiting; sleep $nap & sleep $nap" "$model" dc1
is "--before hangs: exit status" "$status" 1
like "--before hangs: message" "$errors" 'took longer than 0.5 s and was stopped$'
like "--before hangs: its output" "$errors" '^  \| waiting$'
[ $((SECONDS - before)) -lt 30 ]
tap $? "--before hangs: not for long"
is "--before hangs: nothing of it is left" "$(pgrep -cf "^sleep $nap\$")" 0
fresh
sweep --before "setsid sleep 3 & echo daemon" "$model" dc1
is "--before leaves a daemon that keeps its output: exit status" "$status" 0
pkill_by_pid=$(pgrep -f '^sleep 3$')
# shellcheck disable=SC2086 # one argument a pid
[ -z "$pkill_by_pid" ] || kill $pkill_by_pid

# Samples.
fresh
echo 2.2 >"$FAKE/sleep"
run "$program" --results "$results" --sample 'echo cpu 1.5; echo jobs.{x} 3' --vary x=q "$model" dc1 </dev/null
is "samples: exit status" "$status" 0 || echo "# $errors"
# The window of the fake begins at its end, so it contains no samples, but the result is read and written.
holds "samples: the result is whole" python3 -m json.tool "$results/dc1_r1_S1_x-q.json"
fresh
run "$program" --results "$results" "$model" dc1=192.0.2.1 </dev/null
like "samples of a remote server: message" "$errors" '^traffic-sweep: no samples: no visible process on this machine listens on port 389 of dc1=192.0.2.1; '
is "samples of a server elsewhere: exit status" "$status" 0

fresh
echo 1.2 >"$FAKE/sleep"
run "$program" --results "$results" --sample 'sleep 97.5' "$model" dc1 </dev/null
like "samples that never come are reported" "$errors" '^traffic-sweep: samples: none in this cell: the command takes longer than the cell$'

# A server that dies while its cell is played. No DC runs here, so a program listens on its port.
address=$own_net.7.1
serve() { exec python3 -c 'import socket, sys, time
s = socket.create_server((sys.argv[1], 389)); open(sys.argv[2], "w"); time.sleep(60)' "$address" "$work/serves"; }
sampled() { run "$program" --results "$results" -r 2,4 "$@" "$model" dc1=$address </dev/null; }
if [ "$(id -u)" = 0 ]; then
    fresh
    # Not below the shell: children of a program that starts traffic-sweep are none of a server.
    rm -f "$work/serves"
    serve &
    server=$!
    wait_for "$work/serves" 0
    echo 2 >"$FAKE/sleep"
    (wait_for "$FAKE/playing" 2 && kill "$server") &
    sampled
    wait
    label='json.load(open(sys.argv[1]))["labels"].get("spoiled")'
    is "a cell whose server lives is not marked" "$(python3 -c "import json, sys; print($label)" "$results/dc1_r2_S1.json")" None
    is "a cell during which the server ended is marked as spoiled" \
        "$(python3 -c "import json, sys; print($label)" "$results/dc1_r4_S1.json")" server
    like "a cell during which the server ended: message" "$errors" "^traffic-sweep: $results/dc1_r4_S1.json: the server's processes ended while this cell was played; it is marked as spoiled, and --resume plays it again$"
    echo 0 >"$FAKE/sleep"
    sampled --resume
    is "--resume plays a spoiled cell again, and no other" "$(grep -o -- 'json=.*_r[0-9]' "$FAKE/log" | tail -c 2)$(played)" 43
    is "--resume: the cell is not spoiled any more" \
        "$(python3 -c "import json, sys; print($label)" "$results/dc1_r4_S1.json")" None
else
    skip "a server that dies while its cell is played" "needs port 389"
fi

# The search.
fresh
sweep --find-max -r 4:24:4 -S 2:8:2 "$model" dc1
is "--find-max: exit status" "$status" 0 || echo "# $errors"
like "--find-max: the maximum" "$output" '^maximum: [0-9.]+/s at r=[0-9]+ S=[0-9]+ \(3 runs, '
like "--find-max: at most half of the cells" "$output" '^  ([1-9]|1[0-2]) of 24 cells were played; '
before=$(played)
sweep --find-max --resume -r 4:24:4 -S 2:8:2 "$model" dc1
is "--find-max --resume: the same search" "$(played)" "$before"
sweep --find-max --resume --slo 'success>=101%' -r 4:24:4 -S 2:8:2 "$model" dc1
like "--find-max: no cell keeps the level" "$output" '^none of [0-9]+ played cells keeps success>=101%; the least loaded one: '

# A machine that disturbs a cell: the search repeats it, at most two times.
fresh
echo '{"timer_p99": 0.05}' >"$FAKE/r4_S2"
sweep --find-max -r 4,8 -S 2 "$model" dc1
is "--find-max repeats disturbed cells: exit status" "$status" 0 || echo "# $errors"
like "--find-max repeats disturbed cells: message" "$errors" \
    "^traffic-sweep: $results/dc1_r4_S2.json: disturbed \(timers were late by 50 ms\); playing this cell again$"
is "--find-max repeats disturbed cells: twice per cell" "$(grep -c 'r4_S2.*timers.*playing this cell again' <<<"$errors")" 2
is "--find-max repeats disturbed cells: and marks them" \
    "$(grep -l '"spoiled": *"machine"' "$results"/dc1_r4_S2*.json | wc -l)" 2
before=$(played)
sweep --find-max --resume -r 4,8 -S 2 "$model" dc1
is "--find-max --resume: disturbed runs are known" "$(played)" "$before"
sweep --resume -r 4,8 -S 2 "$model" dc1
like "a grid over the same folder plays disturbed cells again" "$errors" \
    "^traffic-sweep: $results/dc1_r4_S2.json: the machine was disturbed while it was played; playing this cell again$"
rm "$FAKE/r4_S2"

# An interrupted search prints what it knows.
fresh
echo 0.3 >"$FAKE/sleep"
"$program" --results "$results" --sample none --find-max -r 4:24:4 -S 2:8:2 "$model" dc1 >"$work/output" 2>"$work/errors" </dev/null &
child=$!
wait_for "$FAKE/playing" 4
kill -INT $child
wait $child
is "an interrupted search: exit status" $? 130
like "an interrupted search prints what it knows" "$(cat "$work/output")" '^So far, without the cells that were not played:'
like "an interrupted search names the best cell so far" "$(cat "$work/output")" '^maximum: '
echo 0 >"$FAKE/sleep"
sweep --find-max --resume -r 4:24:4 -S 2:8:2 "$model" dc1
is "an interrupted search can be resumed" "$status" 0
like "a resumed search ends like any other" "$output" '^  [0-9]+ of 24 cells were played; 95% interval of the maximum: '

# The best value of a setting. The fake server is the same with all of them.
fresh
tune() { sweep --tune x=a,b,3:4 -r 4:24:4 -S 2,4 --before true "$@" "$model" dc1; }
tune
is "--tune: exit status" "$status" 0 || echo "# $errors"
like "--tune: names the best value" "$output" '^best: x=[ab34], [0-9.]+/s at r=[0-9]+ S=[0-9]+ \(95% interval '
like "--tune: equal values are not called different" "$output" '^x=[ab34] is not proven to be better than x=[ab34] \(95% interval of the difference '
is "--tune: ranks all values" "$(grep -cE '  x=[ab34]( \(dropped in round [0-9]\))?$' <<<"$output")" 4
cells=$(grep -oE '^[0-9]+ of 48 cells' <<<"$output")
[ "${cells%% *}" -lt 24 ]
tap $? "--tune: plays fewer than half of all cells ($cells)"
before=$(played)
tune --resume
is "--tune --resume: the same search" "$(played)" "$before"
sweep --tune x=1:3 "$model" dc1
is "--tune without --before: message" "$errors" "traffic-sweep: --tune requires --before COMMAND, which applies the value"
is "--tune without --before: exit status" "$status" 2
sweep --tune x=1:3 --vary y=1,2 --before true "$model" dc1
is "--tune with --vary: message" "$errors" "traffic-sweep: --vary: excludes --tune; leave one out"
sweep --tune x=1 --before true "$model" dc1
is "--tune with one value: message" "$errors" "traffic-sweep: --tune: one value only; give at least two"
sweep --tune x= --before true "$model" dc1
is "--tune with an empty value: message" "$errors" "traffic-sweep: --tune: x has an empty value"
fresh
echo b >"$FAKE/fail"
sweep --tune x=a,b -r 4,8 -S 2 --before 'test {x} = a' "$model" dc1
is "--tune: a value that cannot be applied ends the sweep: exit status" "$status" 1
like "--tune: a value that cannot be applied ends the sweep: message" "$errors" '^traffic-sweep: dc1_r[0-9]_S2_x-b: --before: '
rm "$FAKE/fail"

# Two servers. The fake serves the same for both, unless a file says otherwise.
fresh
versus() { sweep --versus -r 4,8 -S 2,4 "$@"; }
versus "$model" dcA dcB
is "--versus: exit status" "$status" 0 || echo "# $errors"
like "--versus: equal servers" "$output" '^no difference: dcB sustains 0\.0% less to 0\.0% more than dcA \(95% interval\)$'
like "--versus: each server's maximum" "$output" '^  dcA: [0-9.]+/s at r=[48] S=[24] \(mean of 6 runs\)$'
like "--versus: names the command for more" "$output" "traffic-summary --compare $results/A-dcA $results/B-dcB shows"
is "--versus: a folder per server" "$(cd "$results" && echo *)" "A-dcA B-dcB"
before=$(played)
versus --resume "$model" dcA dcB
is "--versus --resume: the same comparison" "$(played)" "$before"
versus --resume "$model" dcA dcC
is "--versus --resume: another server is played from the start" "$(cd "$results" && echo *)" "A-dcA B-dcB B-dcC"
fresh
versus "$model" dc1 dc1
like "--versus: a server against itself" "$output" '^no difference: dc1 \(B\) sustains 0\.0% less to 0\.0% more than dc1 \(A\) '
fresh
printf 'username = other\npassword = Other-Hidden.2\n' >"$work/b.auth"
printf 'username = admin\npassword = First-Hidden.2\n' >"$work/a.auth"
chmod 600 "$work"/?.auth
unset TRAFFIC_REPLAY_USER TRAFFIC_REPLAY_PASSWORD
versus --before "echo A >>$work/hooks" --before "echo B >>$work/hooks" "$model" dcA dcB -- -A "$work/a.auth" -A "$work/b.auth"
is "--versus with options per server, servers before --: exit status" "$status" 2
versus --before "echo A >>$work/hooks" --before "echo B >>$work/hooks" -- -A "$work/a.auth" -A "$work/b.auth" "$model" dcA dcB
is "--versus with options per server: exit status" "$status" 0 || echo "# $errors"
is "--versus: a command per server" "$(sort -u "$work/hooks" | tr '\n' ' ')" "A B "
like "--versus: credentials of the first server" "$(cat "$FAKE/secrets")" '^user: "admin%First-Hidden.2"$'
like "--versus: credentials of the second server" "$(cat "$FAKE/secrets")" '^user: "other%Other-Hidden.2"$'
export TRAFFIC_REPLAY_USER=admin TRAFFIC_REPLAY_PASSWORD=Kept-Hidden.1
versus "$model" dcA
is "--versus with one server: message" "$errors" "traffic-sweep: --versus: two servers are required at the end: MODEL DC1 DC2"
is "--versus with one server: exit status" "$status" 2
versus --find-max "$model" dcA dcB
is "--versus with --find-max: message" "$errors" "traffic-sweep: --versus excludes --find-max, --tune, --vary and --order; leave them out"
sweep --budget 5 "$model" dcA
is "--budget without --versus: message" "$errors" "traffic-sweep: --precision and --budget require --versus"
versus --before a --before b --before c "$model" dcA dcB
is "--versus with a third command: message" "$errors" \
    "traffic-sweep: --before: given 3 times; --versus compares two servers, give it at most twice"
fresh
echo 0.2 >"$FAKE/sleep"
versus --budget 1 "$model" dcA dcB
like "--versus: the budget ends it" "$output" '^no verdict: '
is "--versus: the budget ends it with success" "$status" 0
"$program" --results "$results" --sample none --resume --versus -r 4,8 -S 2,4 "$model" dcA dcB >"$work/output" 2>"$work/errors" </dev/null &
child=$!
wait_for "$FAKE/playing" 12
kill -KILL $child
wait $child 2>/dev/null
echo 0 >"$FAKE/sleep"
first=$(find "$results" -name '*.json' ! -name '.*' | head -n 1)
echo damaged >"$first"
versus --resume "$model" dcA dcB
is "--versus after a KILL and with a damaged result: exit status" "$status" 0 || echo "# $errors"
like "--versus after a KILL and with a damaged result: verdict" "$output" '^no difference: '
like "--versus after a KILL and with a damaged result: message" "$errors" "$first:.*; playing this cell again$"

# --dry-run plays nothing and writes nothing.
fresh
sweep --dry-run -r 1:3 -S 1,2 --repeat 2 --settle 1 "$model" dc1 -- -D 10 --warmup 4
is "--dry-run of a grid" "$output" "12 runs of 6 cells, 3:00 in total: 15 s each, and the time for start-up"
is "--dry-run: exit status" "$status" 0
sweep --dry-run --find-max -r 1:21 -S 1:8 "$model" dc1 -- -D 10 --warmup 0
is "--dry-run of a search" "$output" "at most 84 runs of 168 cells, 14:00 in total: 10 s each, and the time for start-up"
sweep --dry-run --tune x=1:4 --before true -r 1:6 -S 1:4 "$model" dc1 -- -D 10 --warmup 0
like "--dry-run of --tune" "$output" '^at most [0-9]+ runs of 96 cells, [0-9:]+ in total: 10 s each, and the time for start-up and commands$'
sweep --dry-run --versus -r 1 "$model" dcA dcB -- -D 10 --warmup 0
is "--dry-run of --versus with servers before --: exit status" "$status" 2
sweep --dry-run --versus -r 1 -- -D 10 --warmup 0 "$model" dcA dcB
is "--dry-run of --versus" "$output" "at most 366 runs of 1 cells per server, 1:01:00 in total: 10 s each, and the time for start-up"
is "--dry-run: nothing is played or written" "$(played) $(ls -d "$results" 2>/dev/null)" " "

# Servers that serve nothing.
fresh
python3 -c 'import json, sys
cell = json.load(open(sys.argv[1]))
for packet in cell["packets"]:
    packet.update(failed=packet["count"], causes={"refused": packet["count"]} if packet["count"] else {})
for second in cell["seconds"]:
    second.update(ok=0, failed=second["ok"])
fields = {"ok": 0, "failed": 4, "done_ok": 0, "done_failed": 4, "packets": cell["packets"], "seconds": cell["seconds"]}
for name in sys.argv[2:]:
    json.dump(fields, open(name, "w"))' "$FAKE/cell.json" "$FAKE/r1_S1" "$FAKE/r2_S1"
sweep --versus -r 1,2 "$model" dcA dcB
is "--versus of servers that serve nothing: verdict" "$output" "neither server had a success in any cell that was played"
is "--versus of servers that serve nothing: exit status" "$status" 1
fresh
sweep --tune x=1:3 --before true -r 1,2 "$model" dc1
like "--tune of a server that serves nothing" "$output" '^no value had a success in any cell that was played$'
fresh
sweep --find-max -r 1,2 "$model" dc1
like "--find-max on a server that serves nothing" "$output" '^none of [12] played cells had a success; the least loaded one: 0\.000/s at r=1 S=1'
rm "$FAKE/r1_S1" "$FAKE/r2_S1"

# A server that keeps up with the largest load: its limit is elsewhere.
beyond='the server kept up with the largest load \(100% of planned\): the maximum lies beyond this grid; give larger -r or -S$'
fresh
sweep --find-max -r 4,6 -S 2 "$model" dc1
like "--find-max whose largest load is kept up with says that the maximum lies beyond the grid" "$output" "^$beyond"
fresh
sweep -r 6,4 -S 2,1 --vary x=a,b "$model" dc1
is "so does a grid, once per combination" "$(grep -cE "^x=[ab]: $beyond" <<<"$output")" 2
fresh
echo '{"ok": 3, "failed": 1, "done_ok": 3, "done_failed": 1}' >"$FAKE/r6_S2"
sweep -r 4,6 -S 2 "$model" dc1
unlike "a grid whose largest load has failures does not" "$output" 'the maximum lies beyond'
rm "$FAKE/r6_S2"

# Folders that cannot be written to.
run "$program" --results /dev/null/x --sample none "$model" dc1
is "a folder that cannot be created: exit status" "$status" 1
like "a folder that cannot be created: message" "$errors" '^traffic-sweep: --results: cannot create /dev/null/x: Not a directory$'
run "$program" --results /proc/self --sample none "$model" dc1
is "a folder that cannot be written to: exit status" "$status" 1
like "a folder that cannot be written to: message" "$errors" '^traffic-sweep: --results: cannot write to /proc/self: '
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    fresh
    mkdir "$results"
    # shellcheck disable=SC2016 # the inner shell's
    run unshare -m bash -c 'mount -t tmpfs -o size=24k tmpfs "$1" && shift && "$@"; status=$?; ls -A "$FAKE/../results" >&2; exit $status' \
        - "$results" "$program" --results "$results" --sample none -r 1:20 "$model" dc1
    is "a full folder: exit status" "$status" 1
    like "a full folder: message" "$errors" 'No space left on device'
    unlike "a full folder: nothing unfinished is left" "$errors" '^\.'
else
    skip "a full folder" "needs root and a mount namespace"
fi

tap_done
