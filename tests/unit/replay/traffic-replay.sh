#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# traffic-replay as a program, without a server: exit statuses, output, files that cannot be written.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

program=${TRAFFIC_REPLAY_BUILD:-${BUILD:-build}}/traffic-replay
make_work
export XDG_CONFIG_HOME=$work XDG_STATE_HOME=$work
unset TRAFFIC_REPLAY_USER TRAFFIC_REPLAY_PASSWORD
model=examples/office.yaml
cp $model "$work/model"

# refused NAME STATUS PATTERN OPTION...: expects exactly one line on standard error, and no output.
refused() {
    local name=$1 wanted=$2 pattern=$3
    shift 3
    run "$program" "$@" </dev/null
    is "$name: exit status" "$status" "$wanted"
    like "$name: message" "$errors" "$pattern"
    is "$name: one line" "$(wc -l <<<"$errors")" 1
    is "$name: nothing else" "$output" ""
}

# shellcheck disable=SC2317 # holds calls it
has_clients() { python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["clients"] < 1)'; }

run "$program" --help
is "--help: exit status" "$status" 0
like "--help: on standard output" "$output" '^  -r, --replay-rate FACTOR '
is "--help: nothing on standard error" "$errors" ""
run "$program" --version
like "--version" "$output" '^traffic-replay [0-9]+\.[0-9]+\.[0-9]+$'

run "$program" --list-packets
is "--list-packets: exit status" "$status" 0
like "a packet that is sent" "$output" $'^ldap:3\toperation\tsearchRequest$'
like "a packet that is not sent" "$output" $'^ldap:1\tsilent\tbindResponse$'
like "a hint" "$output" $'^kerberos:\tstate\t'
unlike "no packet of loadfiles, which no model can contain" "$output" '^nbench:'
unlike "nothing else" "$output" $'^[^\t]*:[^\t]*\t(operation|state|silent)\t.*\t|^[^\t]*$'

printf '%s\t06\t\t1\t2\t%s\t%s\t\n' 1000.0 nbench Close 1001.0 cldap 3 >"$work/nbench.txt"
run "$program" --dry-run "$work/nbench.txt"
like "a packet of loadfiles in a recording has no player" "${output#*without a player}" '^nbench +Close '
rm "$work/nbench.txt"

refused "no arguments" 2 '^traffic-replay: missing MODEL' -r 4
echo 'version: 7' >"$work/none"
refused "an invalid model" 2 "^traffic-replay: $work/none:[0-9]+:[0-9]+: " --dry-run "$work/none"
refused "an unknown protocol, --only" 2 '^traffic-replay: --only: neither .* protocol "ldpa"$' \
    --dry-run --only ldpa $model
refused "an unknown protocol, --skip" 2 '^traffic-replay: --skip: neither .* protocol "ldpa"$' \
    --dry-run --skip ldap,ldpa:3 $model
printf '%s\n' 'version: 3' 'packet_rate: 1' 'history: 1' 'chain:' '  "-": {"dns:0": 1}' '  "dns:0": {"-": 1}' >"$work/dns"
refused "--server ldap without LDAP packets" 2 '^traffic-replay: --server ldap plays LDAP only, and dns contains no' \
    --server ldap --dry-run "$work/dns"
refused "nothing left to play" 2 '^traffic-replay: ' --dry-run --only samr:999 $model
refused "a name that does not resolve" 2 'cannot be resolved' -U a%b $model no-such-name.invalid
refused "nothing listens" 1 'nothing listens on port 389 of 127.88.99.99' -U a%b $model 127.88.99.99
refused "clean-up: nothing listens" 1 'nothing listens' -U a%b -c 127.88.99.99
refused "-n below what the run needs" 2 '^traffic-replay: -n: 1 users are too few' -U a%b -S 5 -n 1 $model 127.88.99.99
refused "an invalid TLS authority" 2 '^traffic-replay: ' -U a%b --tls-ca $model $model 127.88.99.99

run "$program" --dry-run -S 400 $model
is "--dry-run: exit status" "$status" 0
like "--dry-run: clients" "$output" '^Clients: +[0-9]+'
refused "--dry-run refuses what the run refuses" 2 \
    '^traffic-replay: -n: 3 users are too few for the [0-9]+ clients' --dry-run -n 3 -S 3 $model
for due in 0.5 5 20; do
    printf '%s\t06\t1\t1\t2\tldap\t3\tsearchRequest\t2\tDC,DC\t(cn)\tcn\t\t\n' $due
done >"$work/recording"
run "$program" --dry-run -S 2 -D 10 "$work/recording"
like "--dry-run: what -D cuts from a recording" "$output" \
    '^Cut: +2 packets of the recording are due after the window; give a longer -D$'
run "$program" --dry-run -S 2 "$work/recording"
unlike "--dry-run: nothing is cut from a whole recording" "$output" '^Cut'
run "$program" --dry-run --json $model
is "--dry-run --json MODEL: exit status" "$status" 0
holds "--dry-run --json MODEL: JSON alone" has_clients <<<"$output"
run "$program" --dry-run --json "$work/plan.json" $model dc1
like "--dry-run --json FILE: the text is printed" "$output" '^Clients: '
holds "--dry-run --json FILE: the file" has_clients <"$work/plan.json"
holds "the model is unchanged" cmp "$work/model" $model

recording=examples/office-recording.txt
run "$program" --dry-run --json $recording
is "a recording: its window is all of it, without a warm-up" \
    "$(python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["warmup"], r["window"], r["clients"], r["window_packets"])' <<<"$output")" \
    "0.0 19.841 29 489"
run "$program" --dry-run -r 2 --warmup 4 $recording
like "a recording: --warmup alone leaves the rest" "$output" '^Warm-up, window: +4 s, 5.921 s$'
run "$program" --dry-run -D 7 $recording
like "a recording: -D cuts it" "$output" '^Warm-up, window: +0 s, 7 s$'
is "a recording: -D cuts it, silently" "$errors" ""
run "$program" --dry-run -D 30 -r 2 $recording
like "a recording: a window beyond its end is reported" "$errors" 'is over after 9.921 s at -r 2; nothing is due in the last 20.079 s'
printf 'duration: 3\nwarmup: 2\n' >"$work/traffic-replay.yaml"
run "$program" --dry-run $recording
like "a recording: the configuration's -D and --warmup hold, too" "$output" '^Warm-up, window: +2 s, 3 s$'
rm "$work/traffic-replay.yaml"
refused "a recording: a warm-up that leaves nothing" 2 ' is over after 19.841 s at -r 1; give less' --dry-run --warmup 20 $recording
refused "a recording: --conversation-persistence" 2 '--conversation-persistence: .* is a recording' --dry-run \
    --conversation-persistence 0.5 $recording
head -3 $recording >"$work/broken"
echo nonsense >>"$work/broken"
refused "a recording: a wrong line" 2 "^traffic-replay: $work/broken:4: expected a traffic-summary line" --dry-run "$work/broken"
run "$program" --dry-run - <$recording
is "a recording from standard input" "$(grep -c '^Clients: *29$' <<<"$output")" 1
like "a recording from standard input: by what it is" "$output" "^Model: +stdin \(recording, SHA-256 $(sha256sum <$recording | cut -c -64)\)"
for threads in 1 2 8; do
    "$program" --traffic-summary - --threads $threads --random-seed $threads -S 2.5 -r 3 $recording | sha256sum
done >"$work/sums"
is "a recording: the same plan whatever --threads and --random-seed" "$(sort -u "$work/sums" | wc -l)" 1

refused "--source: too few, before the server is contacted" 2 'holds 2 addresses for 5 clients; give a larger range$' \
    -U a%b --source 127.77.0.0/30 $model 127.88.99.99
refused "--source: foreign, before the server is contacted" 1 '198.51.100.1 is not an address of this machine' \
    -U a%b --source 198.51.100.0/24 $model 127.88.99.99
refused "--source: the whole Internet" 2 'the range is too large; give /8 or longer$' -U a%b --source 0.0.0.0/0 $model 127.88.99.99
refused "--source: the server's range" 2 "10.99.0.1 is not an address of this machine, and the range holds the server's address; give" \
    -U a%b --source 10.99.0.0/16 $model dc1=10.99.5.5
echo '0,{realm},A,yes' >"$work/queries"
refused "--dns-query-file without --dns-rate" 2 '^traffic-replay: --dns-query-file has no effect without --dns-rate$' \
    -U a%b --dns-query-file "$work/queries" $model 127.88.99.99
cat >"$work/filter" <<'END'
version: 3
packet_rate: 1
history: 1
chain: {"-": {"ldap:3": 1}, "ldap:3": {"-": 1}}
details: {"ldap:3": [{count: 1, scope: sub, filter: "((("}]}
END
refused "details that cannot be played, before anything else" 2 ': details [0-9]+ of ldap:3: filter "\(\(\("' \
    --dry-run "$work/filter"
refused "more clients than this machine can hold, before the server is contacted" 1 ' raise it.*: (prlimit|sysctl)' \
    -U a%b -S 1000000 $model 127.88.99.99

odd=$work/$'m\xff\033[31m\x9bodel'
cp $model "$odd"
run "$program" --dry-run --json - "$odd"
is "a model's name that is not UTF-8: exit status" "$status" 0
holds "a model's name that is not UTF-8: JSON" has_clients <<<"$output"
like "a command line that is not UTF-8: escaped" "$output" "\\\$'[^']*/m.{1,2}377.{1,2}033\[31m"
refused "a name with control characters" 2 'cannot read "/no\?\[31m\?model"' --dry-run $'/no\033[31m\nmodel'
refused "-A with a folder" 2 'it is a directory$' -A / $model 127.88.99.99

first=$("$program" --traffic-summary - --random-seed 3 -D 20 $model | sha256sum)
is "--traffic-summary: the seed repeats it" "$("$program" --traffic-summary - --random-seed 3 -D 20 $model dc1 | sha256sum)" "$first"
"$program" --traffic-summary - --random-seed 4 -D 20 $model | sha256sum >"$work/other"
[ "$(cat "$work/other")" != "$first" ]
tap $? "another seed does not"
run "$program" --traffic-summary "$work/summary" $model
is "--traffic-summary FILE: exit status" "$status" 0
is "--traffic-summary FILE: nothing on standard output" "$output" ""
[ -s "$work/summary" ]
tap $? "--traffic-summary FILE: written"

for option in "--dry-run" "--dry-run --json -" "--traffic-summary -" "--list-packets" "--help" "--version"; do
    # shellcheck disable=SC2086 # two words
    "$program" $option $model >/dev/full 2>"$work/errors"
    is "$option to a full disk: exit status" $? 1
    like "$option to a full disk: message" "$(cat "$work/errors")" 'No space left on device'
    # shellcheck disable=SC2086 # two words
    "$program" $option $model >&- 2>"$work/errors"
    is "$option to a closed output: exit status" $? 1
    like "$option to a closed output: message" "$(cat "$work/errors")" 'Bad file descriptor'
done
(ulimit -f 1 && "$program" --traffic-summary "$work/large" -D 600 -S 20 $model 2>"$work/errors")
is "a file that may not grow: exit status" $? 1
like "a file that may not grow: message" "$(cat "$work/errors")" 'large: File too large$'
"$program" --dry-run --json "$work/closed.json" $model <&- >&- 2>&-
holds "all outputs closed: nothing else is in the file" has_clients <"$work/closed.json"
# shellcheck disable=SC2016 # the inner shell's
is "a reader that goes away: exit status" "$(bash -c '"$0" --traffic-summary - -D 600 "$1" 2>/dev/null | head -1 >/dev/null; echo "${PIPESTATUS[0]}"' "$program" $model)" 141

# Byte order marks, which Windows programs write.
mark=$'\xef\xbb\xbf'
{ printf %s "$mark"; cat $recording; } >"$work/marked"
run "$program" --dry-run "$work/marked"
like "a recording with a byte order mark" "$output" '^Clients: +29$'
like "a recording with a byte order mark: the SHA-256 is the file's" "$output" "SHA-256 $(sha256sum <"$work/marked" | cut -c -64)"
printf '%susername = Administrator\npassword = x\n' "$mark" >"$work/marked"
chmod 600 "$work/marked"
refused "-A with a byte order mark" 1 'nothing listens' -A "$work/marked" $model 127.88.99.99

# Mistyped servers.
for option in -s -d --option=a=b --ipaddress=::1 -P --old-scale --preserve-tempdir --password=x -N --dns-hostname=x --use-kerberos=off; do
    refused "an option of Samba's script, $option, gets a hint" 2 'unknown option; (use|give|this|there|machine|the server)' $option $model 127.88.99.99
done
refused "an address that is not whole" 2 'DC "dc1=127.88.99": "127.88.99" is not an address$' -U a%b $model dc1=127.88.99
refused "an address that is not whole, without a name" 2 '"127.88.99" is not an address$' -U a%b $model 127.88.99
refused "an IPv6 address in brackets is an address" 1 'of ::1|::1' -U a%b $model 'dc1=[::1]'
sed 's/^packet_rate: .*/packet_rate: 1e300/' $model >"$work/huge"
refused "a number of clients that is too large is short" 2 'this takes [0-9.e+]{1,20} clients, more than' --dry-run "$work/huge"
printf 'version: 3\npacket_rate: 1\nhistory: 1\nchain: {"-": {"lpad:3": 1}, "lpad:3": {"-": 1}}\n' >"$work/typo"
refused "packets without a player are named" 2 'no packet of typo \(lpad:3\) has a player' --dry-run "$work/typo"

# A signal at a question ends the program at once.
# at_question NAME QUESTION KEYS-OR-SIGNAL OPTION...
at_question() {
    local name=$1 question=$2 answer=$3
    shift 3
    run python3 tests/lib/terminal.py "$question" "$answer" "$program" "$@" $model 127.88.99.99
    like "$name: exit status" "$output" '^status 130$'
    like "$name: message" "$output" '^traffic-replay: interrupted$'
}
at_question "Ctrl-C when asked for the name" "name: " '\x03'
at_question "SIGTERM when asked for the name" "name: " SIGTERM
at_question "Ctrl-C when asked for the password" "Password of a: " 'x\x03' -U a
at_question "SIGTERM when asked for the password" "Password of a: " SIGTERM -U a
at_question "SIGHUP when asked for the password" "Password of a: " SIGHUP -U a

tap_done
