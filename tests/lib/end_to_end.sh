# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the end-to-end tests share. The environment holds TRAFFIC_REPLAY_DC, _USER, _PASSWORD and _BUILD.

# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
make_work
export TMPDIR=$work

replay=$TRAFFIC_REPLAY_BUILD/traffic-replay
json=$TMPDIR/result.json
dc_address=${TRAFFIC_REPLAY_DC#*=}
# shellcheck disable=SC2034 # read by the tests
domain_dn=DC=samdom,DC=example,DC=com
# Under ASan a run needs longer to get going; leaks are faults there.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}

# shellcheck disable=SC2120 # it may be called without options
# play [OPTION...]: a short run of the small model, its result in $json. Later options win.
play() {
    rm -f "$json"
    run "$replay" --yes --json "$json" --random-seed 1 --warmup 1 -D 3 -S 1 -I "${instance:-0}" "$@" \
        "${model:-tests/data/all-packets.yaml}" "$TRAFFIC_REPLAY_DC"
}

# value EXPRESSION: of the last run's result.
value() { tests/lib/result.py "$json" "$1"; }

# value_is NAME EXPRESSION WANTED
value_is() { is "$1" "$(value "$2" 2>&1)" "$3"; }

# value_holds NAME EXPRESSION: it is true.
value_holds() {
    local got
    got=$(value "$2" 2>&1)
    [ "$got" = 1 ]
    tap $? "$1" "not true: $2 ($got)
$(value '[planned, sent, ok, failed, no_answer, unfinished, expected, causes()]' 2>&1)
${errors:-}"
}

# run_is_good NAME: the last run was made, nothing failed, and its sums agree.
run_is_good() {
    is "$1: exit status" "$status" 0 || printf '# %s\n' "${errors//$'\n'/$'\n# '}"
    value_is "$1: nothing failed" 'causes()' '{}'
    value_holds "$1: something succeeded" 'ok > 0'
}

# As the administrator, over LDAPS; the password is in no argument.
search() {
    LDAPTLS_REQCERT=never ldapsearch -LLL -o ldif-wrap=no -x -H "ldaps://$dc_address" \
        -D "$TRAFFIC_REPLAY_USER@samdom.example.com" -y <(printf %s "$TRAFFIC_REPLAY_PASSWORD") "$@"
}

# now: seconds with fractions; took FROM: how many since then, rounded down.
now() { echo "$EPOCHREALTIME"; }
took() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { print int(to - from) }'; }
