#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# Runs of the program that is built with AddressSanitizer and UndefinedBehaviorSanitizer: fibers, libraries and all.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=17

# `make check` builds it in a separate folder; with SAN= it is the program itself.
if [ -x "$TRAFFIC_REPLAY_BUILD-sanitized/traffic-replay" ]; then
    replay=$TRAFFIC_REPLAY_BUILD-sanitized/traffic-replay
fi
if ! nm "$replay" | grep -q __asan_init; then
    skip "everything" "no program with sanitizers: make SAN=address,undefined"
    tap_done
fi

clean() {
    unlike "$1: no complaint" "$errors" 'Sanitizer|runtime error'
    is "$1: exit status" "$status" 0
    value_is "$1: nothing failed" 'causes()' '{}'
}
play
clean "all packets"
play -K -B 0.5 --kdc-transport udp --threads 2 -t "$TMPDIR/timing"
rm -f "$TMPDIR/timing"
clean "Kerberos, wrong passwords, UDP"
model=examples/office.yaml play -r 4 -S 4 --latency-timeout 3
clean "an office"
run "$replay" -c -I $instance "$TRAFFIC_REPLAY_DC"
clean "clean-up"
tap_done
