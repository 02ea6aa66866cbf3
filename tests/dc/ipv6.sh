#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# A domain controller with IPv6 addresses only, seen from a network namespace without IPv4: the stand-in for a Windows DC
# listens on them and hands everything on to the lab's DC.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh

number=$(($$ % 60000))
space=traffic-replay-$number outside=tr$number.o inside=tr$number.i network=fd00:$(printf %x $number)
standins=()
# shellcheck disable=SC2317 # called at exit
finish() {
    [ ${#standins[@]} = 0 ] || kill "${standins[@]}"
    wait
    ip netns delete "$space" 2>/dev/null
    ip link delete "$outside" 2>/dev/null
}
at_exit finish
if ! ip netns add "$space" 2>/dev/null; then
    skip "IPv6" "cannot make a network namespace"
    tap_done
fi
ip link add "$outside" type veth peer name "$inside" netns "$space" && ip address add "$network::1/64" dev "$outside" nodad &&
    ip link set "$outside" up || exit 1
within() { ip netns exec "$space" "$@"; }
within ip link set lo up && within ip address add "$network::2/64" dev "$inside" nodad &&
    within ip address add "$network::3/64" dev "$inside" nodad && within ip link set "$inside" up || exit 1
link_local() { ip -6 -o address show dev "$outside" scope link -tentative | sed -n 's/.*inet6 \(fe80[^/]*\).*/\1/p'; }
until [ -n "$(link_local)" ]; do sleep 0.1; done
near=$(link_local)

export TRAFFIC_REPLAY_FIXED_PASSWORD=Stand-in.Pa55 KRB5_KTNAME=$work/keytab
lab/dc keytab "$KRB5_KTNAME" >/dev/null 2>&1 || exit 1
for address in "$network::1" "$near%$outside"; do
    "$TRAFFIC_REPLAY_BUILD/tests/windows-standin" --listen "$address" --dc "$dc_address" >"$work/ready" 2>&1 &
    standins+=($!)
    until grep -q ready "$work/ready"; do sleep 0.05; done
done

# plays NAME DC OPTION...: a run in the namespace.
plays() {
    local name=$1 dc=$2
    shift 2
    rm -f "$json"
    run within "$replay" --yes --json "$json" --warmup 1 -D 4 -S 0.5 -I 66 -F "$TRAFFIC_REPLAY_FIXED_PASSWORD" "$@" "$dc"
    run_is_good "$name"
}
# refused NAME MESSAGE DC OPTION...
refused() {
    local name=$1 message=$2 dc=$3
    shift 3
    run within "$replay" --yes -D 1 "$@" tests/data/all-packets.yaml "$dc"
    is "$name: exit status" "$status" 2
    like "$name: message" "$errors" "$message"
}

plays "DNS, CLDAP, Kerberos and LDAP at dc1=[ADDRESS]" "dc1=[$network::1]" -K tests/data/all-packets.yaml
value_is "the server in the result" 'dc' "dc1=[$network::1]"
plays "SMB2 and RPC at dc1=ADDRESS" dc1="$network::1" -D 10 -S 1 tests/data/smb-rpc.yaml
value_holds "... RPC over TCP by the ports of the mapper's towers" 'packet("epm", "3")["count"] > 0 and packet("samr", "64")["count"] + packet("rpc_netlogon", "4")["count"] > 0'
plays "Kerberos over UDP, an address alone" "$network::1" --only kerberos,dns,cldap --kdc-transport udp tests/data/all-packets.yaml
plays "a link-local address with its interface" "dc1=$near%$inside" --only ldap,cldap tests/data/all-packets.yaml
plays "a link-local address in brackets" "[$near%$inside]" --only cldap,dns tests/data/all-packets.yaml
refused "a link-local address alone" "give $near%INTERFACE" "dc1=$near"

plays "--source with an address" "$network::1" --source "$network::3/128" --only cldap,ldap tests/data/all-packets.yaml
refused "--source with the other family" "the server has an IPv6 address; give an IPv6 range" "$network::1" --source 10.1.0.0/24
refused "--source with the server's address" "the range holds the server's address" "dc1=[$network::1]" --source "$network::/64"

# A name that has an IPv6 address only.
printf '%s six.example.com\n' "$network::1" >"$work/hosts"
# shellcheck disable=SC2016,SC2317 # the inner shell expands it; run calls it
by_name() { within unshare --mount sh -c 'mount --bind "$1" /etc/hosts && shift && exec "$@"' sh "$work/hosts" "$@"; }
run by_name "$replay" --yes --json "$json" --warmup 1 -D 3 -S 0.5 -I 66 -F "$TRAFFIC_REPLAY_FIXED_PASSWORD" --only cldap,dns,ldap \
    tests/data/all-packets.yaml six.example.com
run_is_good "a name with an IPv6 address alone"

run within "$TRAFFIC_REPLAY_BUILD/traffic-sweep" --results "$work/results" -S 0.3,0.5 tests/data/all-packets.yaml "[$network::1]" \
    -- --yes -D 2 --warmup 1 -I 66 -F "$TRAFFIC_REPLAY_FIXED_PASSWORD" --only cldap,dns </dev/null
is "a sweep: exit status" "$status" 0 || echo "# $errors"
is "a sweep: files" "$(cd "$work/results" && echo *_S0.?.json)" "${network//:/-}--1_r1_S0.3.json ${network//:/-}--1_r1_S0.5.json"
run "$TRAFFIC_REPLAY_BUILD/traffic-summary" --html "$work/page.html" "$work/results"
is "a page: exit status" "$status" 0 || echo "# $errors"
like "a page names the server" "$(cat "$work/page.html")" "\[$network::1\]"

run within "$replay" -c -I 66 "[$network::1]"
is "clean-up" "$status" 0
tap_done
