#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# lab/root without a network: what it refuses, interruptions, roots that are not complete. `make check-servers`
# makes real ones.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

if [ "$(id -u)" != 0 ]; then
    skip "lab/root" "needs root"
    tap_done
fi
make_work
export LAB_ROOTS=$work/roots LAB_MIRROR=http://$own_net.60.1:8080/debian
root() { run lab/root "$@"; }
make_one() { root make trixie trixie samba; }

root
is "no command: exit status" "$status" 2
root make ../x y samba
like "a name that is no suite" "$errors" "'../x' is not a name of a Debian suite"
is "a name that is no suite: exit status" "$status" 2
root make trixie trixie
like "no packages" "$errors" 'make needs a suite, a name and packages'
LAB_ROOTS="$work/a b" make_one
like "a folder with blanks" "$errors" 'does not allow blanks'

make_one
is "no mirror: exit status" "$status" 1
like "no mirror" "$errors" "^lab/root: cannot reach $LAB_MIRROR .*; check the network, or set LAB_MIRROR"

# A mirror that has one suite, "slow", and does not deliver it.
/usr/bin/python3 - "$own_net.60.1" <<'PYTHON' 2>/dev/null &
import http.server, sys, time
class Mirror(http.server.BaseHTTPRequestHandler):
    seen = 0
    def do_GET(self):
        if not self.path.startswith("/debian/dists/slow/"):
            return self.send_error(404)
        Mirror.seen += 1
        if Mirror.seen % 2 == 0:
            time.sleep(60)
        self.send_response(200)
        self.end_headers()
http.server.ThreadingHTTPServer((sys.argv[1], 8080), Mirror).serve_forever()
PYTHON
mirror=$!
until ss -Hlnt src "$own_net.60.1" | grep -q :8080; do sleep 0.05; done

make_one
is "no such suite: exit status" "$status" 1
like "no such suite" "$errors" "^lab/root: $LAB_MIRROR has no suite 'trixie'; see $LAB_MIRROR/dists/"
run env LAB_DIR="$work/dc" lab/dc start --release trixie
like "lab/dc passes it on" "$errors" "has no suite 'trixie'"
[ ! -e "$work/dc" ]
tap $? "lab/dc leaves no folder behind"

mkdir -p "$LAB_ROOTS/.slow.part/etc" "$LAB_ROOTS/slow/etc"
root run slow true
like "a root that is not complete is none" "$errors" 'there is no root slow'
is "nor is it listed" "$(lab/root list)" ""

# Interruptions in the middle of debootstrap, which then waits for the mirror.
interrupt() {
    env --default-signal=INT setsid lab/root make slow slow samba 2>"$work/errors" &
    maker=$!
    until pgrep -f "debootstrap .*$LAB_ROOTS/.slow.part" >/dev/null; do sleep 0.05; done
    kill "-$1" "${2:-}$maker"
    wait $maker 2>/dev/null
}
left() { pgrep -f "debootstrap .*$LAB_ROOTS/.slow.part"; }
interrupt TERM
is "TERM: exit status" $? 130
like "a root that was half made is made again" "$(cat "$work/errors")" 'was interrupted; starting over'
is "TERM: no process is left" "$(left)" ""
[ ! -e "$LAB_ROOTS/.slow.part" ]
tap $? "TERM: no half-made root is left"
interrupt INT -
is "Ctrl-C: no process is left" "$(left)" ""
interrupt KILL
for _ in $(seq 100); do
    [ -n "$(left)" ] || break
    sleep 0.05
done
is "KILL: no process is left" "$(left)" ""
# Two at once: the second one waits, and starts over when the first one has failed.
lab/root make slow slow samba 2>/dev/null &
first=$!
until [ -n "$(left)" ]; do sleep 0.05; done
lab/root make slow slow samba 2>"$work/errors" &
second=$!
until grep -q waiting "$work/errors"; do sleep 0.05; done
like "two at once: the second waits" "$(cat "$work/errors")" "^lab/root: waiting for another lab/root, which makes $LAB_ROOTS/slow\$"
kill $first
wait $first 2>/dev/null
until grep -q 'making a root' "$work/errors" && [ -n "$(left)" ]; do sleep 0.05; done
tap 0 "two at once: it goes on when the first one has ended"
kill $second
wait $second 2>/dev/null
is "two at once: no process is left" "$(left)" ""
root run slow true
like "what interruptions left is no root" "$errors" 'there is no root slow'

# shellcheck disable=SC2016 # expanded by the inner shell
run unshare --mount bash -c 'mount -t tmpfs -o size=64k tmpfs "$LAB_ROOTS" && lab/root make slow slow samba'
like "a full disk" "$errors" 'has [0-9]+ MB free, and a root needs [0-9]+; free some space, or set LAB_ROOTS'

kill $mirror
wait $mirror 2>/dev/null
holds "remove" lab/root remove slow
[ ! -e "$LAB_ROOTS/slow" ]
tap $? "it is gone"
tap_done
