#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 400
#
# lab/dc itself, with a separate domain controller.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

make_work
export TMPDIR=$work
own_dc 1.1

mistaken() {
    local name=$1 pattern=$2
    shift 2
    run lab/dc "$@"
    is "$name: exit status" "$status" 2
    like "$name: message" "$errors" "$pattern"
}
mistaken "no command" 'a command is missing'
mistaken "unknown command" "unknown command 'begin'" begin
mistaken "unknown option" 'unknown option --foo' start --foo
mistaken "address outside loopback" 'not in 127' --address 10.0.0.1 start
mistaken "not an address" 'not an address' --address 127.0.1.x start
mistaken "no number" 'not a positive number' --prefork-children none start
mistaken "no value" 'needs a value' start --dir
mistaken "an option without =" 'not of the form' start --option foo
mistaken "a release that is no name" 'not the name of a Debian suite' start --release ../trixie
mistaken "a folder with blanks" 'does not allow blanks' start --dir "$TMPDIR/a b"
mistaken "no functional level" 'is not 2008_R2' start --function-level 2019
mistaken "no password file" 'is missing or empty' start --password-file /dev/null
mistaken "not a NetBIOS name" 'at most 15 characters' start --netbios-name sixteen-letters-
mistaken "the domain's name" 'name of the domain' start --netbios-name samdom
mistaken "a name that --option cannot change" 'use --netbios-name' start --option 'netbios name = DC2'

run lab/dc status
is "status before: exit status" "$status" 3
like "status before" "$output" '^not created'
run lab/dc env
is "env before" "$status" 1
mkdir -p "$TMPDIR/foreign/x"
run lab/dc --dir "$TMPDIR/foreign" start
like "a folder that is not ours" "$errors" 'was not created by lab/dc'
holds "it is left alone" rmdir "$TMPDIR/foreign/x" "$TMPDIR/foreign"
# An earlier lab/dc kept only the address; its DCs are called DC1.
mkdir "$TMPDIR/earlier" && echo "$LAB_ADDRESS" >"$TMPDIR/earlier/made"
run lab/dc --dir "$TMPDIR/earlier" status --netbios-name dc1
like "a folder of an earlier version, and its name" "$output" "^stopped: dc1.samdom.example.com at $LAB_ADDRESS, "
run lab/dc --dir "$TMPDIR/earlier" status --netbios-name dc2
like "a folder of an earlier version, and another name" "$errors" 'created with --netbios-name DC1 and stays so'
rm -rf "$TMPDIR/earlier"
mkdir -m 700 "$TMPDIR/closed"
run lab/dc --dir "$TMPDIR/closed/dc" start
like "a folder that users cannot pass" "$errors" "mode 700"
rm -rf "$TMPDIR/closed"

# A provision that was interrupted.
mkdir "$LAB_DIR" && touch "$LAB_DIR/traffic-replay-lab" "$LAB_DIR/half"
echo 'Own "pass word' >"$TMPDIR/password"
run lab/dc start --prefork-children 1 --netbios-name lab-dc1 --password-file "$TMPDIR/password"
rm -f "$TMPDIR/password"
is "start" "$status" 0 || echo "# $errors"
like "an interrupted provision is made again" "$errors" 'was interrupted'
[ ! -e "$LAB_DIR/half" ]
tap $? "what it left is gone"
run lab/dc status
is "status: exit status" "$status" 0
like "status" "$output" "^running: lab-dc1.samdom.example.com at $own_net.1.1(, release [a-z]+)?, pid [0-9]+"
first=$(cat "$LAB_DIR/run/samba.pid")

run lab/dc start
is "start of a running DC" "$status" 0
is "is the same DC" "$(cat "$LAB_DIR/run/samba.pid")" "$first"
run lab/dc start --prefork-children 3
is "start with other options" "$status" 1
like "says what to do" "$errors" 'restart it'
run lab/dc start --address $own_net.1.2
like "another address is refused" "$errors" "created with --address $own_net.1.1 and stays so; for --address $own_net.1.2 use"
run lab/dc start --netbios-name dc2
like "another name is refused" "$errors" 'created with --netbios-name LAB-DC1'
run lab/dc start --function-level 2016
like "another functional level is refused" "$errors" 'created without --function-level'


eval "$(lab/dc env)"
is "env: DC" "$TRAFFIC_REPLAY_DC" lab-dc1=$own_net.1.1
is "env: password" "$TRAFFIC_REPLAY_PASSWORD" 'Own "pass word'
is "env: user" "$TRAFFIC_REPLAY_USER" Administrator
is "password file's mode" "$(stat -c %a "$LAB_DIR/admin.password" "$LAB_DIR/admin.auth" | tr '\n' ' ')" "600 600 "
unlike "no password in a process list" "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ')" "$TRAFFIC_REPLAY_PASSWORD"
is "no password in a log" "$(grep -rlF -e "$TRAFFIC_REPLAY_PASSWORD" "$LAB_DIR/log")" ""

search() {
    LDAPTLS_REQCERT=never ldapsearch -LLL -x -H ldaps://$own_net.1.1 -D Administrator@samdom.example.com \
        -y <(printf %s "$TRAFFIC_REPLAY_PASSWORD") -s base -b "$@"
}
policy=$(search DC=samdom,DC=example,DC=com minPwdLength lockoutThreshold)
like "no password policy to speak of" "$policy" '^minPwdLength: 1$'
like "no lock-out" "$policy" '^lockoutThreshold: 0$'
holds "keytab" lab/dc keytab "$TMPDIR/keytab"
run lab/dc keytab "$TMPDIR/missing/keytab"
like "a keytab that cannot be written" "$errors" 'cannot write .*/missing/keytab: .*No such file'
like "of all accounts" "$(klist -k "$TMPDIR/keytab" 2>&1)" 'krbtgt@SAMDOM.EXAMPLE.COM'
is "keytab's mode" "$(stat -c %a "$TMPDIR/keytab")" 600
rm -f "$TMPDIR/keytab"

# An ordinary user writes to the share.
unicode_password=$(printf '"first-Pass.1"' | iconv -t UTF-16LE | base64 -w 0)
printf '%s\n' 'dn: CN=writer,CN=Users,DC=samdom,DC=example,DC=com' 'objectClass: user' \
    'sAMAccountName: writer' 'userAccountControl: 512' "unicodePwd:: $unicode_password" >"$TMPDIR/ldif"
printf 'username = writer\npassword = first-Pass.1\ndomain = SAMDOM\n' >"$TMPDIR/writer"
holds "an account is made over LDAPS" env LDAPTLS_REQCERT=never ldapadd -x -H ldaps://$own_net.1.1 \
    -D Administrator@samdom.example.com -y <(printf %s "$TRAFFIC_REPLAY_PASSWORD") -f "$TMPDIR/ldif"
holds "a user writes to the share scratch" smbclient -s "$LAB_DIR/run/smb.conf" //$own_net.1.1/scratch \
    -A "$TMPDIR/writer" --use-kerberos=off -c 'put LICENSE; del LICENSE'
rm -f "$TMPDIR/ldif" "$TMPDIR/writer"

kill -KILL "$first"
sleep 0.5
run lab/dc status
is "after its death: exit status" "$status" 1
like "after its death" "$output" '^died'
run lab/dc start --option 'server signing = mandatory'
is "start after its death" "$status" 0
like "with an option for this start" "$(cat "$LAB_DIR/run/smb.conf")" 'server signing = mandatory'
unlike "which is not kept" "$(cat "$LAB_DIR/etc/smb.conf")" 'server signing'
like "the accounts are kept" "$(search CN=writer,CN=Users,DC=samdom,DC=example,DC=com dn)" '^dn: CN=writer'

# Readiness depends neither on LDAPS nor on NTLM.
run lab/dc restart --option 'tls enabled=no'
is "without TLS it gets ready" "$status $errors" "0 lab/dc: lab-dc1.samdom.example.com answers at $own_net.1.1"
run lab/dc restart --option 'ntlm auth=disabled'
is "without NTLM it gets ready" "$status $errors" "0 lab/dc: lab-dc1.samdom.example.com answers at $own_net.1.1"
run lab/dc restart --timeout 0
is "a DC that is too slow: exit status" "$status" 1
like "a DC that is too slow: message" "$errors" 'did not answer over LDAP within 0 s and was stopped'
unlike "a DC that is too slow: nothing of the shell" "$errors" 'Killed'
run lab/dc status
like "a DC that is too slow is stopped" "$output" '^stopped'
lab/dc start 2>/dev/null

# Folders of the same name in two roots.
elsewhere() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount bash -c 'mkdir -p /run/samba && mount -t tmpfs tmpfs /run/samba &&
        echo "$1" >/run/samba/traffic-replay-lab && exec sleep 60' elsewhere "$1" &
    other=$!
    until grep -qs . "/proc/$other/root/run/samba/traffic-replay-lab"; do sleep 0.05; done
}
elsewhere "1:1 $LAB_DIR"
unlike "processes of a folder of the same name elsewhere are not the DC's" "$(lab/dc processes)" "^$other\$"
kill $other
elsewhere "$(stat -c %d:%i "$LAB_DIR") $LAB_DIR"
like "processes of the folder itself are" "$(lab/dc processes)" "^$other\$"
kill $other
# What the first version of lab/dc wrote: the folder alone, and the address alone.
elsewhere "$LAB_DIR"
like "processes of a DC that an older lab/dc started are" "$(lab/dc processes)" "^$other\$"
kill $other
wait $other 2>/dev/null
made=$(cat "$LAB_DIR/made")
echo "$LAB_ADDRESS" >"$LAB_DIR/made"
run lab/dc status
like "a folder of an older lab/dc: its name" "$output" "^running: dc1\..* at $LAB_ADDRESS, pid"
echo "$made" >"$LAB_DIR/made"

second=$(cat "$LAB_DIR/run/samba.pid")
run lab/dc restart
is "restart" "$status" 0
[ "$(cat "$LAB_DIR/run/samba.pid")" != "$second" ]
tap $? "restart is another process"
holds "kill" lab/dc kill
run lab/dc status
is "status after kill" "$status" 3
lab/dc start 2>>"$TMPDIR/starts" &
starts=$!
lab/dc start 2>>"$TMPDIR/starts"
wait $starts
is "two starts at once make one DC" "$(grep -c 'answers at' "$TMPDIR/starts") $(grep -c 'already' "$TMPDIR/starts")" "1 1"
rm -f "$TMPDIR/starts"
holds "stop" lab/dc stop
holds "stop again" lab/dc stop
is "no process is left" "$(ss -Hlnt src $own_net.1.1)" ""

/usr/bin/python3 -c '
import socket, sys, time
taken = socket.create_server((sys.argv[1], 636))
time.sleep(60)' "$LAB_ADDRESS" &
taker=$!
until ss -Hlnt src $own_net.1.1 | grep -q :636; do sleep 0.05; done
run lab/dc start
is "a port is taken: exit status" "$status" 1
like "a port is taken: which, by whom" "$errors" "$own_net.1.1:636 is taken by .*pid=$taker"
kill $taker
wait $taker 2>/dev/null
run lab/dc start --option 'no such = thing'
is "an option that samba does not know" "$status" 1
run lab/dc status
like "stopped" "$output" '^stopped'
holds "remove" lab/dc remove
[ ! -e "$LAB_DIR" ]
tap $? "its folder is gone"
tap_done
