#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# Recordings against the lab's DC: twenty seconds of an office at their speed, faster, and many times.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
instance=17
recording=examples/office-recording.txt

# recorded [OPTION...]: plays it, its result in $json.
recorded() {
    rm -f "$json"
    run "$replay" --yes --json "$json" -I $instance "$@" "$recording" "$TRAFFIC_REPLAY_DC"
}

# lines PACKET...: how often the text has it.
lines() {
    local packet sum=0
    for packet; do
        sum=$((sum + $(awk -F '\t' -v packet="$packet" '$6 ":" $7 == packet' $recording | wc -l)))
    done
    echo $sum
}

recorded
run_is_good "as it was"
value_is "each recorded client is a client" clients "$(cut -f 4 $recording | sort -u | wc -l)"
value_is "the window is the recording" '[warmup, window]' '[0.0, 19.841]'
value_is "every line is a packet of the plan" planned_packets "$(wc -l <$recording)"
value_holds "planned = sent + not sent + dropped" 'planned == sent + not_sent + dropped'
value_holds "nominal is planned, exactly" 'abs(nominal * window - planned) < 1e-6'
value_holds "nothing was dropped or without an answer" 'dropped == no_answer == 0 and unfinished <= 2'

# The window of a recording ends with it, where a slow server's last packets are late; this one is longer.
recorded -D 25
value_holds "all of it was sent" 'not_sent == dropped == no_answer == 0 and unfinished <= 2'
for packet in ldap:3 ldap:0 kerberos:12 rpc_netlogon:39 cldap:3; do
    value_is "as many $packet as lines" "sent_of('${packet%:*}', '${packet#*:}')" \
        "$(lines $packet)"
done
value_holds "further legs of a session set-up are none" "sent_of('smb2', '1') == $(lines smb2:1) / 2"

recorded -r 8 -S 2.5
run_is_good "-r 8 -S 2.5"
value_is "whole clients" clients 73
value_holds "all the faster" 'abs(window - 2.481) < 1e-9'
value_holds "nominal is planned, nearly" 'abs(nominal * window / planned - 1) < 0.001'

recorded -r 2 -T 60 -D 4 --warmup 1
run_is_good "-T"
value_holds "-T is the rate that is offered" 'abs(nominal_packets / 60 - 1) < 0.05 and window == 4 and warmup == 1'

# A run's plan, written as a text, is played as it was.
model=tests/data/all-packets.yaml
run "$replay" --traffic-summary "$TMPDIR/plan.txt" --random-seed 4 -D 4 $model
is "a model's plan as a text: exit status" "$status" 0
recording=$TMPDIR/plan.txt
recorded
run_is_good "a model's plan as a text"
value_is "its packets" planned_packets "$(wc -l <"$TMPDIR/plan.txt")"

"$replay" -c -I $instance "$TRAFFIC_REPLAY_DC" >"$TMPDIR/out" 2>&1
tap $? "clean-up" "$(cat "$TMPDIR/out")"
tap_done
