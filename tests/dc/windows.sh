#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# shellcheck disable=SC2154 # read assigns the columns of the table
#
# traffic-replay against a stand-in for a patched Windows DC, one rule at a time, on and off. The table is in
# tests/lib/windows/windows_rules.c. The arguments are the names of rules; default: all.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh

standin=$TRAFFIC_REPLAY_BUILD/tests/windows-standin
export TRAFFIC_REPLAY_FIXED_PASSWORD='Stand-in.Pa55' KRB5_KTNAME=$work/keytab
AT_ONCE=4
lab/dc keytab "$work/keytab" >/dev/null 2>&1 || exit 1

# model FORM|FORM...: a model that plays them in turn; those of one packet are its details.
model() {
    tr '|' '\n' <<<"$1" | awk '
        { details[$1] = details[$1] ($2 == "" ? "" : "    - " substr($0, length($1) + 2) "\n") }
        !seen[$1]++ { names[++count] = $1 }
        END {
            print "version: 3\npacket_rate: 40\nhistory: 1\nchain:"
            for (i = 0; i <= count; i++)
                printf "  \"%s\": {\"%s\": 1}\n", i ? names[i] : "-", i < count ? names[i + 1] : "-"
            print "details:"
            for (i = 1; i <= count; i++)
                if (details[names[i]] != "") printf "  \"%s\":\n%s", names[i], details[names[i]]
        }' | sed '$ { /^details:$/ d }'
}

# play_through NUMBER TOUCHES OPTIONS RULE...: plays $work/NUMBER.yaml through a stand-in with these rules and leaves NUMBER.json, .output,
# .status (of the run and of the clean-up) and .met (of each rule: NAME N M).
# shellcheck disable=SC2086,SC2317 # options are words; it is called in the background
play_through() {
    local at=$work/$1 touches=$2 options=$3 address=$own_net.65.$((10 + $1)) pid rules=()
    local instance=${address##*.}
    shift 3
    for rule in "$@"; do rules+=(--rule "$rule"); done
    "$standin" "${rules[@]}" --listen "$address" --dc "$dc_address" >"$at.standin" 2>&1 &
    pid=$!
    until grep -q ready "$at.standin" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    # The rules are about the run, unless they are about the accounts.
    [[ $touches = accounts ]] ||
        "$replay" --yes --make-accounts -I "$instance" -F "$TRAFFIC_REPLAY_FIXED_PASSWORD" $options "$at.yaml" \
            "$TRAFFIC_REPLAY_DC" >"$at.accounts" 2>&1
    "$replay" --yes --json "$at.json" --random-seed 1 --warmup 0 -D 8 --latency-timeout 20 -S 0.4 -I "$instance" \
        -F "$TRAFFIC_REPLAY_FIXED_PASSWORD" $options "$at.yaml" "dc1=$address" >"$at.output" 2>&1
    echo $? >"$at.status"
    "$replay" -c -I "$instance" "dc1=$address" >"$at.cleaned" 2>&1
    echo $? >>"$at.status"
    kill $pid
    wait $pid
    sed -n 's/^\(.*\): met \(.*\) of \(.*\) times$/\1 \2 \3/p' "$at.standin" >"$at.met"
}

# went_well NAME CLAIM
went_well() {
    json=$work/$1.json
    is "$2: run and clean-up" "$(tr '\n' ' ' <"$work/$1.status")" "0 0 " ||
        grep -hE '^traffic-replay: |^ +[0-9]+  [a-z_0-9]+:' "$work/$1.output" "$work/$1.cleaned" | sed 's/^/# /'
    value_is "$2: causes of failures" 'causes()' '{}'
}

rows=0 everything=''
while IFS=$'\t' read -r 'name[rows]' 'paragraph[rows]' 'touches[rows]' 'claim[rows]' 'number[rows]' 'options[rows]' 'on[rows]' 'met[rows]' \
    'form[rows]'; do
    [ $# = 0 ] || [[ " $* " = *" ${name[rows]} "* ]] || continue
    [ "${options[rows]}" != - ] || options[rows]=
    rule[rows]=${name[rows]}
    [ "${number[rows]}" = 0 ] || rule[rows]+="=${number[rows]}"
    model "${form[rows]}" >"$work/$rows.yaml"
    everything="$everything|${form[rows]}"
    rows=$((rows + 1))
done < <("$standin" --list)

for ((i = 0; i < rows; i++)); do
    [[ ${touches[i]} != *idle* ]] || continue
    while [ "$(jobs -rp | wc -l)" -ge $AT_ONCE ]; do wait -n; done
    play_through "$i" "${touches[i]}" "${options[i]}" "${rule[i]}" &
done
wait
# A client that is late does not wait; so what needs idle connections has the machine alone.
for ((i = 0; i < rows; i++)); do
    [[ ${touches[i]} != *idle* ]] || play_through "$i" "${touches[i]}" "${options[i]}" "${rule[i]}"
done
# Without a rule, everything succeeds: in one run.
model "${everything#|}" >"$work/99.yaml"
play_through 99 everything "-S 0.8 -D 12 --allow-replication --plain-simple-bind"

for ((i = 0; i < rows; i++)); do
    claim="${claim[i]} (${paragraph[i]})"
    if [ "${on[i]}" = ok ]; then
        went_well $i "$claim"
    else
        like "$claim" "$(grep -E '^traffic-replay: |^ +[0-9]+  [a-z_0-9]+:' "$work/$i.output" | sort | tr '\n' ' ')" "${on[i]}"
    fi
    wanted='0 [1-9]'
    [ "${met[i]}" = kept ] || wanted='[1-9][0-9]* [1-9]'
    like "$claim: it was ${met[i]}" "$(cat "$work/$i.met")" "^${name[i]} $wanted"
done
went_well 99 "no rule"
json=$work/99.json
for packet in $(tr '|' '\n' <<<"$everything" | sed 's/ .*//' | grep -v wait: | sort -u); do
    value_holds "no rule: $packet succeeds" "packet('${packet%:*}', '${packet#*:}')['count'] > 0"
done
tap_done
