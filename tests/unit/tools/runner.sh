#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The test runner itself: a runner that overlooks failures would make all other tests worthless.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

make_work
export TMPDIR=$work
programs=$TMPDIR/programs
mkdir "$programs"
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$programs/$1"
    chmod +x "$programs/$1"
}
program good 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
program skips 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"'
program fails 'echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1'
program hides 'echo 1..1; echo not ok 1 - a'
program planless 'echo ok 1 - a'
program short 'echo 1..3; echo ok 1 - a'
program crashes 'echo 1..1; echo ok 1 - a; kill -KILL $$'
program status 'echo 1..1; echo ok 1 - a; exit 3'
program slow '# timeout: 1
echo 1..1; sleep 60; echo ok 1 - a'
# shellcheck disable=SC2016 # expanded by the program
program file 'echo 1..1; echo ok 1 - a; : >"$TMPDIR/left"'
program process 'echo 1..1; echo ok 1 - a; setsid sleep 60 </dev/null >/dev/null 2>&1 &'

# judged NAME COUNTS STATUS [OPTION...]: what the runner makes of one of them.
judged() {
    local name=$1 counts=$2 wanted=$3
    shift 3
    rm -f "$TMPDIR/totals"
    run tests/run --totals "$TMPDIR/totals" "$@" "$programs/$name"
    is "$name $*: counts" "$(cat "$TMPDIR/totals")" "$counts"
    is "$name $*: exit status" "$status" "$wanted"
}
judged good '2 0 0' 0
judged skips '1 0 1' 0
judged skips '1 1 0' 1 --no-skip
judged fails '1 1 0' 1
judged hides '0 1 0' 1
judged planless '1 1 0' 1
judged short '1 1 0' 1
judged crashes '1 1 0' 1
judged status '1 1 0' 1
judged slow '0 1 0' 1
judged file '1 1 0' 1
judged process '1 1 0' 1

run tests/run --jobs 3 --totals "$TMPDIR/totals" "$programs/good" "$programs/skips" "$programs/good"
is "several at a time" "$(sort "$TMPDIR/totals" | tr '\n' ' ')" "1 0 1 1 1 0 2 0 0 2 0 0 "
run tests/run --sum "$TMPDIR/totals"
is "their sum" "$output" "6 passed, 1 failed, 1 skipped"
is "a sum with failures fails" "$status" 1
printf '2 0 1\n' >"$TMPDIR/totals"
run tests/run --sum "$TMPDIR/totals"
is "a sum without failures does not" "$output $status" "2 passed, 0 failed, 1 skipped 0"
: >"$TMPDIR/totals"
run tests/run --sum "$TMPDIR/totals"
is "nothing at all is a failure" "$output $status" "0 passed, 0 failed, 0 skipped 1"

# Interrupted, the runner ends what it has started, and tests remove what they have made.
mkdir "$TMPDIR/made"
cat >"$programs/long" <<END
#!/bin/bash
trap 'rmdir "$TMPDIR/made"; exit 1' TERM
touch "$TMPDIR/begun"
sleep 60 &
wait
END
chmod +x "$programs/long"
tests/run "$programs/long" >/dev/null 2>&1 &
runner=$!
until [ -e "$TMPDIR/begun" ]; do sleep 0.02; done
kill $runner
wait $runner
is "interrupted: exit status" $? 130
[ ! -e "$TMPDIR/made" ]
tap $? "interrupted: the test has removed what it made"
is "interrupted: no process is left" "$(grep -lzs "^TRAFFIC_REPLAY_TEST=$runner\." /proc/[0-9]*/environ)" ""
rm -f "$TMPDIR/begun"

# A test that is started by hand: what it does at its end comes before its folder goes, and nothing stays.
cat >"$programs/by-hand" <<END
. tests/lib/tap.sh
at_exit '[ -d "\$TMPDIR" ] && echo "\$TMPDIR" >"$TMPDIR/seen"'
tap 0 a
tap_done
END
run env TMPDIR=/tmp bash "$programs/by-hand"
is "by hand: exit status" "$status" 0
like "by hand: its folder is there to its end" "$(cat "$TMPDIR/seen")" '^/tmp/traffic-replay-tests\.'
[ ! -e "$(cat "$TMPDIR/seen")" ]
tap $? "by hand: then it is removed"

tap_done
