#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# traffic-summary's command line: options, usage errors, exit statuses, and what is written where.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

program=${BUILD:-build}/traffic-summary
runs=tests/data/samba-runs
make_work

run "$program" --help
is "--help: status" $status 0
like "--help: options" "$output" '^  -f, --full  '
like "--help: metrics" "$output" '^  success-rate  '
is "--help: nothing on standard error" "$errors" ""
while read -r option; do
    like "--help and the manual page list --$option" "$(mandoc -T ascii man/traffic-summary.1 | sed 's,.\x08,,g')" "^ +.*--$option"
done < <(sed -n 's/^.*--\([a-z]*\).*/\1/p' <<<"$output" | sort -u)

run "$program" --version
is "--version: status" $status 0
like "--version" "$output" '^traffic-summary [0-9]+\.[0-9]+'

# Usage errors: status 2, one line that names the error, nothing on standard output.
mistake "no files" 'missing FILE or FOLDER; give results of runs'
mistake "unknown option" '--fulll: unknown option; did you mean --full[?]' --fulll "$runs"
mistake "unknown letter" '-x: unknown option; see --help' -x "$runs"
mistake "option without its argument" '--metric: missing NAME' "$runs" --metric
mistake "unknown metric" '-m: unknown metric "p96"; choose one of ok, failed, .*success-rate' -m p96 "$runs"
mistake "unknown condition" '--slo: p96<=1s: expected success, ok' --slo 'success>=99%,p96<=1s' "$runs"
mistake "--compare of one" '--compare: expected two files or folders, found 1' --compare "$runs"
mistake "--compare of three" '--compare: expected two files or folders, found 3' --compare "$runs" "$runs" "$runs"
mistake "--compare --by" '--compare and --by exclude each other' --compare --by x "$runs" "$runs"
mistake "--compare --svg" '--compare and --svg exclude each other' --compare --svg x "$runs" "$runs"
mistake "picture to standard output" '--svg: cannot be standard output; give a file name' --svg - "$runs"
mistake "two forms" '--csv and --json exclude each other' --csv --json "$runs"

run "$program" "$runs"
is "the grid: status" $status 0
is "the grid: nothing on standard error" "$errors" ""
is "the grid: title" "$(head -n 1 <<<"$output")" \
    ' r\S         1        5       10'
like "the grid: largest" "$output" '^  4  .* \*119\.066 '
is "the grid: last line" "$(tail -n 1 <<<"$output")" "max: 119.066"

run "$program" --full "$runs"/dc1_r1_S1.txt
is "--full" "$output" ' r\S         1        2
  1    *27.679        0
  2          0        0

max: 27.679'

run "$program" --csv "$runs"
is "--csv" "$output" 'r,S,metric,runs,mean,min,max,mixed,spoiled
1,1,ok,1,27.679,27.679,27.679,false,0
4,5,ok,1,119.066,119.066,119.066,false,0
8,10,ok,1,110.525,110.525,110.525,false,0'

{ printf '\xef\xbb\xbf'; cat "$runs/dc1_r4_S5.txt"; } >"$work/dc1_r4_S5.txt"
run "$program" --csv "$work/dc1_r4_S5.txt"
is "a text result with a byte order mark" "$(tail -n 1 <<<"$output")" '4,5,ok,1,119.066,119.066,119.066,false,0'
rm "$work/dc1_r4_S5.txt"

run "$program" --json -m planned "$runs"
holds "--json is JSON" python3 -c '
import json, sys
grid = json.loads(sys.argv[1])
assert grid["metric"] == "planned" and len(grid["cells"]) == 3
assert grid["max"] == {"r": 8, "S": 10, "runs": 1, "mean": 9172, "min": 9172, "max": 9172}' "$output"

run "$program" -m nominal "$runs"
is "a metric that no file holds: status" $status 0
is "... one warning a run" "$(grep -c 'contains no nominal$' <<<"$errors")" 3
is "... max" "$(tail -n 1 <<<"$output")" "max: none"
run "$program" --csv -m nominal "$runs"
like "... --csv" "$output" '^4,5,nominal,1,,,,false,0$'
run "$program" --json -m nominal "$runs"
like "... --json" "$output" '^ *"mean": null,$'

run "$program" --slo 'success>=75%,failed<35' --csv "$runs"
is "--slo --csv" "$output" 'r,S,metric,runs,mean,min,max,kept,mixed,spoiled
1,1,ok,1,27.679,27.679,27.679,no,false,0
4,5,ok,1,119.066,119.066,119.066,no,false,0
8,10,ok,1,110.525,110.525,110.525,yes,false,0'
run "$program" --slo 'success>=75%' "$runs"
is "--slo" "$(tail -n 1 <<<"$output")" 'max within success>=75%: 119.066 at r=4 S=5'
run "$program" --slo 'p95<=1s' --json "$runs"
like "--slo --json" "$output" '^ "max_kept": null'
run "$program" --by prefork "$runs"
is "--by: runs without the label are named" "$(grep -c 'has no label prefork$' <<<"$errors")" 3
like "... and make a row" "$output" '^   none     3     119.066  r=4 S=5 '

run "$program" --compare "$runs/dc1_r4_S5.txt" "$runs/dc1_r8_S10.txt"
is "--compare: status" $status 0
is "--compare: verdict" "$(head -n 1 <<<"$output")" \
    "B's maximum is 7.2% below A's (110.525 at r=8 S=10 against 119.066 at r=4 S=5); one run each: the difference may be chance."
run "$program" --compare "$runs" "$runs/dc1_r8_S10.txt"
like "--compare: text has no details" "$output" '^Packet types and failures are those of JSON results alone'
run "$program" --compare --csv "$runs" "$runs/dc1_r8_S10.txt"
is "--compare --csv" "$output" 'r,S,runs_a,runs_b,a,b,ratio,low,high,limits,mixed_a,mixed_b
8,10,1,1,110.525,110.525,1,1,1,range,false,false'
run "$program" --compare --json "$runs" "$runs/dc1_r8_S10.txt"
holds "--compare --json is JSON" python3 -c '
import json, sys
compared = json.loads(sys.argv[1])
assert compared["verdict"].startswith("B\x27s maximum is 7.2% below A\x27s (110.525")
assert compared["a"]["runs"] == 3 and compared["b"]["max"] == {"r": 8, "S": 10, "ok": 110.525}
assert len(compared["cells"]) == 1 and compared["cells"][0]["ratio"] == 1' "$output"
run "$program" --compare "$runs" "$work"
is "--compare with nothing: status" $status 1

# Pictures and pages: well-formed, without references to a network or scripts.
ours=tests/fuzz/seeds/result/run.json
sound() {
    holds "$1: well-formed" xmllint --noout "$2"
    unlike "$1: no scripts, nothing from elsewhere" "$(sed 's,xmlns="[^"]*",,g' "$2")" \
        '<script|javascript:|https?:|<link|<img|@import|url\('
    unlike "$1: no number that is none" "$(cat "$2")" '[^a-z](nan|inf)[^a-z]'
    like "$1: light and dark" "$(cat "$2")" 'prefers-color-scheme:dark'
}
run "$program" --svg "$work/grid.svg" --html "$work/page.html" --slo 'success>=76%' "$runs" "$ours"
is "--svg and --html: status" $status 0
is "... the text is printed, too" "$(tail -n 1 <<<"$output")" 'max within success>=76%: 119.066 at r=4 S=5'
sound "--svg" "$work/grid.svg"
sound "--html" "$work/page.html"
page=$(cat "$work/page.html")
like "--html: a cell's link and its details" "$page" '<a href="#cell-1-2">'
like "... details" "$page" '<section class="cell" id="cell-1-2">'
like "... load" "$page" 'Successful operations per second over load'
like "... failures, escaped" "$page" 'timed out &lt;&amp;&gt; after'
run "$program" --html "$work/page.html" "$ours"
sound "--html of one run" "$work/page.html"
page=$(cat "$work/page.html")
like "... percentiles" "$page" 'Response times by protocol at r=4 S=2'
like "... server samples" "$page" '<title id="sample1-t">Memory</title>'
like "... what was measured: the server" "$page" '<th class="l">Server</th><td class="l">&lt;dc&gt; &amp; &quot;co&quot;</td>'
like "... the date" "$page" '<th class="l">Date</th><td class="l">2023-11-14 22:13 UTC</td>'
like "... the window" "$page" '<th class="l">Window</th><td class="l">1000 s</td>'
like "... the command" "$page" '<th class="l">Command</th><td class="l">traffic-replay model.yaml dc1</td>'
like "... the seed" "$page" '<th class="l">Seed</th><td class="l">1</td>'
like "... many failures are marked" "$page" 'fewer than 90% succeeded'
like "... it can be printed" "$page" '@media print.*cell.display:block'
unlike "... a server that failed a quarter did not keep up" "$page" 'the maximum lies beyond'
# With fewer failures, the server kept up.
python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
fewer = {"ok": 38, "failed": 2}
run.update(fewer, done_ok=38, done_failed=2)
run["seconds"][0].update(fewer)
run["packets"] = [dict(packet, failed=2, causes={"refused": 2}) for packet in run["packets"]]
json.dump(run, open(sys.argv[2], "w"))' "$ours" "$work/lone.json"
run "$program" --html "$work/page.html" "$work/lone.json"
like "a lone cell that was kept up with: the maximum lies beyond" "$errors" \
    'the maximum lies beyond this grid: the server kept up with r=4 S=2 \(100% of planned\); give larger -r or -S$'
like "... in the page, too" "$(cat "$work/page.html")" '<p class="warn">the maximum lies beyond this grid'
rm "$work/lone.json"
run "$program" --slo 'p95<=500ms' --html "$work/page.html" "$runs" "$ours"
page=$(cat "$work/page.html")
like "--html: the service level in the chart of response times" "$page" 'service level: 500 ms'
like "... a success map and a p95 map" "$(grep -c '<title id="\(success\|slowest\)-t">' <<<"$page")" '^2$'
run "$program" --by prefork --html "$work/vary.html" "$runs" "$ours"
is "--by --html: status" $status 0
sound "--by --html" "$work/vary.html"
like "... names the best value" "$(cat "$work/vary.html")" '<h1>prefork: largest at none, 119/s</h1>'
run "$program" --compare --html "$work/compare.html" "$runs" "$ours"
is "--compare --html: status" $status 0
sound "--compare --html" "$work/compare.html"
like "... both curves are in one chart" "$(cat "$work/compare.html")" 'Successful operations per second over load'
run "$program" --compare --html "$work/compare.html" "$runs" "$runs/dc1_r4_S5.txt"
like "... cells of the ratio map lead to their figures" "$(cat "$work/compare.html")" '<a href="#cell-4-5">1.00</a>'
run "$program" --svg "$work/none/grid.svg" "$runs"
is "a picture that cannot be written: status" $status 2
like "... message" "$errors" '--svg: cannot write \".*none/grid\.svg\": No such file'
is "nothing else is left" "$(ls "$work")" 'compare.html
grid.svg
page.html
vary.html'
rm "$work"/*

cp "$runs"/dc1_r1_S1.txt "$work"
echo "Dear diary" >"$work/diary.txt"
run "$program" "$work"
is "a foreign file in a folder: status" $status 0
is "... is counted" "$errors" "traffic-summary: $work: skipped 1 file not of results"
is "... the rest is shown" "$(tail -n 1 <<<"$output")" "max: 27.679"

run "$program" "$work/dc1_r1_S1.txt" "$work/diary.txt"
is "a foreign file named by hand: status" $status 1
is "... has a line" "$errors" "traffic-summary: $work/diary.txt: not a result of a traffic replay"

run "$program" "$work/diary.txt"
is "nothing to show: status" $status 1
is "... no output" "$output" ""
like "... message" "$errors" '^traffic-summary: no results$'

run "$program" "$work/dc1_r1_S1.txt" "$runs/dc1_r1_S1.txt" "$work/dc1_r1_S1.txt"
is "a file named twice counts once, a copy is a run: status" $status 0
like "... message" "$errors" 'another file also contains: 1;'

faults=${TRAFFIC_REPLAY_SHARED:-../shared}/faults/replay
if [ -d "$faults/knee" ]; then
    run "$program" --html "$work/knee.html" "$faults/knee"
    unlike "no knee where the server kept up" "$(cat "$work/knee.html")" 'knee:'
    run "$program" "$faults/mixed"
    is "two runs of nothing in common: four differences" "$(grep -c 'runs differ in' <<<"$errors")" 4
    rm "$work/knee.html"
fi

# Runs that did not measure the same thing, and the messages about a folder of them.
mkdir "$work/vary" "$work/edge"
vary() { # NAME LABELS SEED OK
    python3 - "$ours" "$work/vary/$1.json" "$2" "$3" "$4" <<'END'
import json, sys
source, target, labels, seed, ok = sys.argv[1:]
run = json.load(open(source))
run["labels"] = json.loads(labels)
run["seed"] = seed
run["window"] = 1000.0 / int(ok)
json.dump(run, open(target, "w"))
END
}
vary one '{"prefork": "1"}' 1 1
vary four '{"prefork": "4"}' 2 1
run "$program" "$work/vary"
is "runs of two settings: one line says how they differ" "$(grep differ <<<"$errors")" \
    "traffic-summary: runs differ in label prefork (1, 4), also within 1 cell: use --by prefork"
is "... and the mean is marked" "$(tail -n 1 <<<"$output")" "max: 0.030 (~ mean of runs that differ)"
run "$program" --json "$work/vary"
holds "... in JSON, too" python3 -c '
import json, sys
grid = json.loads(sys.argv[1])
assert grid["mixed"] == [{"name": "label prefork", "values": "1, 4", "cells": 1}]
assert grid["max"]["mixed"] and grid["cells"][0]["mixed"]' "$output"
run "$program" --csv "$work/vary"
like "... and in CSV" "$output" '^[0-9.]+,[0-9.]+,ok,2,[0-9.,]+,true,0$'
run "$program" --compare --csv "$work/vary" "$work/vary/one.json"
like "... and where it is compared" "$output" ',range,true,false$'
run "$program" --compare --json "$work/vary" "$work/vary/one.json"
holds "... in JSON" python3 -c '
import json, sys
compared = json.loads(sys.argv[1])
assert compared["a"]["mixed"][0]["name"] == "label prefork" and compared["b"]["mixed"] == []
assert compared["cells"][0]["mixed_a"] and not compared["cells"][0]["mixed_b"]' "$output"
run "$program" --by prefork "$work/vary"
is "... and --by has nothing to say" "$errors" ""
run "$program" --by prefork --csv "$work/vary"
is "... its rows are not mixed" "$(grep -c ',false$' <<<"$output")" 2
run "$program" --compare "$work/vary" "$work/vary/one.json"
like "... --compare names the side" "$errors" '^traffic-summary: A: runs differ in label prefork'
vary four '{"prefork": "\u001b]0;x\u0007"}' 2 1
run "$program" --by prefork "$work/vary"
is "--by: control characters do not reach the terminal" "$(tr -d '[:print:]\n' <<<"$output$errors")" ""
vary four '{"spoiled": "the server died", "prefork": "1"}' 2 1
run "$program" "$work/vary"
like "a spoiled run is named" "$errors" 'four\.json: spoiled: the server died; the maximum leaves it out'
run "$program" "$work/vary/one.json"
unlike "a lone cell with 25% failures was not kept up with" "$errors" 'the maximum lies beyond'
colours() { TERM=$1 script -qec "'$program' '$runs'" /dev/null </dev/null; }
like "a terminal gets colours" "$(colours xterm)" $'\033\\[[0-9;]*m'
unlike "... a dumb one does not" "$(colours dumb)" $'\033'

for option in --version --help; do
    run bash -c '"$1" "$2" >/dev/full' - "$program" $option
    is "$option that cannot be written: status" $status 1
done
run bash -c '"$1" "$2" >/dev/full' - "$program" "$runs"
is "output that cannot be written: status" $status 1
like "... message" "$errors" 'No space left'

tap_done
