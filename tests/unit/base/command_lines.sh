#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The same command lines with the same mistakes for all four programs, which must behave alike.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

build=$(realpath "${BUILD:-build}")
make_work
export HOME=$work XDG_CONFIG_HOME=$work/config
export -n TRAFFIC_REPLAY_USER TRAFFIC_REPLAY_PASSWORD
escape=$'\e[31m'

# One line per mistake: PROGRAM|NAME|MESSAGE|ARGUMENTS. The message is the whole standard error.
# %s in the arguments is an escape sequence.
while IFS='|' read -r name mistake wanted arguments; do
    program=$build/$name
    # shellcheck disable=SC2046,SC2059,SC2086 # the format is the point; words are split
    run "$program" $(printf -- "$arguments" "$escape")
    is "$name, $mistake: status" $status 2
    is "$name, $mistake: message" "$errors" "$name: $wanted"
    is "$name, $mistake: no output" "$output" ""
done <<'END'
traffic-replay|unknown option|--replay-rat3: unknown option; did you mean --replay-rate?|--replay-rat3 2
traffic-sweep|unknown option|--repaet: unknown option; did you mean --repeat?|--repaet 2
traffic-learn|unknown option|--histroy: unknown option; did you mean --history?|--histroy=2
traffic-summary|unknown option|--fulll: unknown option; did you mean --full?|--fulll
traffic-replay|unknown option like no other|--qqqqqqqq: unknown option; see --help|--qqqqqqqq
traffic-sweep|unknown option like no other|--qqqqqqqq: unknown option; see --help|--qqqqqqqq
traffic-learn|unknown option like no other|--qqqqqqqq: unknown option; see --help|--qqqqqqqq
traffic-summary|unknown option like no other|--qqqqqqqq: unknown option; see --help|--qqqqqqqq
traffic-replay|unknown letter|-x: unknown option; see --help|-x
traffic-sweep|unknown letter|-x: unknown option; see --help|-x
traffic-learn|unknown letter|-x: unknown option; see --help|-x
traffic-summary|unknown letter|-x: unknown option; see --help|-x
traffic-replay|ambiguous option|--number: ambiguous option; it matches --number-of-users, --number-of-groups|--number 3
traffic-sweep|ambiguous option|--re: ambiguous option; it matches --replay-rate, --repeat, --results, --resume|--re=1
traffic-learn|ambiguous option|--t: ambiguous option; it matches --tshark-option, --tshark|--t
traffic-summary|ambiguous option|--s: ambiguous option; it matches --spread, --slo, --svg|--s
traffic-replay|missing argument|--replay-rate: missing FACTOR|--replay-rate
traffic-sweep|missing argument|--repeat: missing N|--repeat
traffic-learn|missing argument|--max-details: missing N|--max-details
traffic-summary|missing argument|--metric: missing NAME|--metric
traffic-replay|missing argument of a letter|-r: missing FACTOR|-r
traffic-sweep|missing argument of a letter|-r: missing LIST|-r
traffic-learn|missing argument of a letter|-o: missing FILE|-o
traffic-summary|missing argument of a letter|-m: missing NAME|-m
traffic-replay|needless value|--kerberos: takes no value|--kerberos=yes
traffic-sweep|needless value|--resume: takes no value|--resume=yes
traffic-learn|needless value|--json: takes no value|--json=yes
traffic-summary|needless value|--csv: takes no value|--csv=yes
traffic-replay|control characters|--duration: "?[31m" is not a number|--duration %s
traffic-sweep|control characters|--settle: "?[31m" is not a number|--settle %s
traffic-learn|control characters|--idle: "?[31m" is not a number|--idle %s
traffic-summary|control characters|--?[31m: unknown option; see --help|--%s
traffic-replay|out of range|-r: "0" is out of range: expected a number above 0 and at most 1000000|-r 0
traffic-sweep|out of range|--repeat: "0" is out of range: expected a number from 1 to 1000|--repeat 0
traffic-learn|out of range|--max-details: "0" is out of range: expected a number from 1 to 100000|--max-details 0
END

# Values that are no names, that nobody reads to their end, or that are not there.
long=$(printf '%05000d' 0)
while IFS='|' read -r name what wanted arguments; do
    # shellcheck disable=SC2086 # several arguments
    run "$build/$name" ${arguments//LONG/$long}
    is "$name, $what: status" $status 2
    is "$name, $what: message" "$errors" "$name: $wanted"
done <<END
traffic-replay|a name that is too long|--realm: "${long:0:60}..." is too long: expected at most 255 bytes|--realm LONG m dc1
traffic-replay|a name with a control character|--realm: "x?" contains a control character|--realm x$(printf '\001') m dc1
traffic-replay|a packet that is too long|--only: neither the model nor this program knows a protocol "${long:0:119}...${long:0:39}"|--dry-run --only LONG examples/office.yaml
traffic-summary|a name with a control character|--by: "x?" contains a control character|--by x$(printf '\001') y
END
for name in traffic-learn traffic-summary; do
    run "$build/$name" ''
    is "$name, an empty argument: status" $status 2
    is "$name, an empty argument: message" "$errors" "$name: an argument is empty; give a name instead"
done

# A decimal comma in the caller's locale changes nothing.
locale=$(locale -a 2>/dev/null | grep -iE '^(de|fr|es|it)_.*utf-?8$' | head -n 1)
run env LC_ALL="${locale:-de_DE.UTF-8}" "$build/traffic-learn" --idle 0,5 x
is "decimal comma: message" "$errors" 'traffic-learn: --idle: "0,5" is not a number'

for name in traffic-replay traffic-sweep traffic-learn traffic-summary; do
    # The program is called by another name, as a link.
    ln -s "$build/$name" "$work/other-name"
    run "$work/other-name" --qqqqqqqq
    is "$name by another name: its own name in messages" "$errors" \
        "$name: --qqqqqqqq: unknown option; see --help"
    rm "$work/other-name"

    run "$build/$name" --version
    is "$name --version: status" $status 0
    is "$name --version: no message" "$errors" ""
    like "$name --version: text" "$(head -n 1 <<<"$output")" "^$name [0-9]+\.[0-9]+\.[0-9]+$"
    like "$name --version: compiler, libraries" "$output" "built by .*"$'\n'"libraries: .*gnutls [0-9]"

    run "$build/$name" --help
    is "$name --help: status" $status 0
    is "$name --help: no message" "$errors" ""
    like "$name --help: what it is" "$output" "^$name "
    like "$name --help: --help itself" "$output" '^  -h, --help +print this help$'
    is "$name --help: at most 100 columns" "$(grep -cE '.{101}' <<<"$output")" 0
    like "$name --help: the manual page" "$output" "See $name\(1\)\.$"

    for option in --help --version; do
        run bash -c '"$@" >/dev/full' - "$build/$name" $option
        is "$name $option, full standard output: status" $status 1
        like "$name $option, full standard output: message" "$errors" \
            "^$name: cannot write standard output: No space left on device$"
        run bash -c '"$@" >&-' - "$build/$name" $option
        is "$name $option, closed standard output: status" $status 1
        like "$name $option, closed standard output: message" "$errors" \
            "^$name: cannot write standard output: Bad file descriptor$"
        # As in `traffic-summary results | head`: a pipe whose reader has ended.
        exec 8> >(:)
        wait $!
        errors=$("$build/$name" $option 2>&1 >&8)
        is "$name $option, a pipe without a reader: status" $? 141
        is "$name $option, a pipe without a reader: no message" "$errors" ""
        exec 8>&-
    done
done

# What the programs print apart from --help, to a full and to a closed standard output.
printf '1500000000.0\t06\t\t2\t1\tldap\t3\tsearchRequest\n' >"$work/packets.txt"
outputs() {
    case $1 in
        traffic-replay) "$build/$1" --dry-run -S 1 examples/office.yaml ;;
        traffic-learn) "$build/$1" -q "$work/packets.txt" ;;
        traffic-summary) "$build/$1" tests/data/samba-runs ;;
    esac
}
for name in traffic-replay traffic-learn traffic-summary; do
    errors=$(outputs $name 2>&1 >/dev/full)
    is "$name, full standard output: status" $? 1
    is "$name, full standard output: one message" "$(wc -l <<<"$errors")" 1
    like "$name, full standard output: message" "$errors" "^$name: cannot write .*: No space left on device$"
    errors=$(outputs $name 2>&1 >&-)
    is "$name, closed standard output: status" $? 1
    is "$name, closed standard output: one message" "$(wc -l <<<"$errors")" 1
    exec 8> >(:)
    wait $!
    errors=$(outputs $name 2>&1 >&8)
    is "$name, a pipe without a reader: status" $? 141
    is "$name, a pipe without a reader: no message" "$errors" ""
    exec 8>&-
done

tap_done
