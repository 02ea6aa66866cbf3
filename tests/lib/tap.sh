# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that are shell scripts: results as TAP lines. Source it, state results, end with tap_done.

tap_count=0
tap_failed=0
# Tests write to $TMPDIR and empty it again, so it must be a private folder. tests/run makes one for each test;
# a test that is started by hand gets one here, whatever TMPDIR was.
case ${TMPDIR:-} in
    */traffic-replay-tests.*) tap_folder= ;;
    *)
        tap_folder=$(mktemp -d "${TMPDIR:-/tmp}/traffic-replay-tests.XXXXXX") || exit 2
        chmod 755 "$tap_folder" # a DC's users pass through it
        export TMPDIR=$tap_folder
        ;;
esac
# at_exit COMMAND: what the test does at its end, however it ends. The folders are removed after it: a DC whose
# folder is gone cannot be found and stopped.
tap_at_exit=
tap_work=
at_exit() { tap_at_exit=$1; }
tap_exit() {
    eval "$tap_at_exit"
    [ -z "$tap_work" ] || rm -rf "$tap_work"
    [ -z "$tap_folder" ] || rm -rf "$tap_folder"
}
trap tap_exit EXIT
# make_work: a folder $work for the test's files, which is removed at the end. The lab's users can read it.
make_work() {
    work=$(mktemp -d) && chmod 755 "$work" || exit 2
    tap_work=$work
}
# Servers that a test starts have addresses in this network, which differs from that of tests in another checkout.
own_net=127.$((100 + $$ % 150))
# own_dc HOST: lab/dc uses a DC of this test only, with address $own_net.HOST; it is removed at the end.
own_dc() {
    export LAB_DIR=$TMPDIR/dc LAB_ADDRESS=$own_net.$1
    at_exit 'lab/dc remove'
}

# tap STATUS NAME [DETAIL]: one result; the detail is shown when it failed.
tap() {
    tap_count=$((tap_count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
        [ -z "${3:-}" ] || printf '#   %s\n' "${3//$'\n'/$'\n#   '}"
    fi
    return "$1"
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# is NAME GOT WANTED
is() {
    [ "$2" = "$3" ]
    tap $? "$1" "got:    $2
wanted: $3"
}

# like NAME TEXT REGULAR-EXPRESSION (of grep -E, on any one line)
like() {
    grep -qE -- "$3" <<<"$2"
    tap $? "$1" "got:    $2
wanted: a line like $3"
}

unlike() {
    ! grep -qE -- "$3" <<<"$2"
    tap $? "$1" "got:      $2
unwanted: a line like $3"
}

# holds NAME COMMAND...: the command succeeds.
holds() {
    local name=$1 output
    shift
    output=$("$@" 2>&1)
    tap $? "$name" "failed: $*
$output"
}

# run COMMAND...: leaves its $status, $output (standard output) and $errors (standard error).
# shellcheck disable=SC2034 # read by the tests
run() {
    local file
    file=$(mktemp)
    output=$("$@" 2>"$file")
    status=$?
    errors=$(cat "$file")
    rm -f "$file"
}

# mistake NAME REGULAR-EXPRESSION ARGUMENT...: $program reports a usage error, and prints nothing else
# shellcheck disable=SC2154 # the test sets it
mistake() {
    local name=$1 wanted=$2
    shift 2
    run "$program" "$@"
    is "$name: status" $status 2
    is "$name: no output" "$output" ""
    like "$name: message" "$errors" "$wanted"
}

tap_done() {
    echo "1..$tap_count"
    [ $tap_failed = 0 ]
    exit
}
