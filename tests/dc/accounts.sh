#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# Test accounts on the lab's DC: created, reused, completed after an interruption, given another password,
# refused by the DC, taken from a file, removed.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

replay_program=${TRAFFIC_REPLAY_BUILD:-${BUILD:-build}}/traffic-replay
if [ -z "${TRAFFIC_REPLAY_DC:-}" ] || [ -z "${TRAFFIC_REPLAY_PASSWORD:-}" ]; then
    skip "accounts" "no TRAFFIC_REPLAY_DC in the environment"
    tap_done
fi

make_work
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
instance=861
address=${TRAFFIC_REPLAY_DC#*=}
secret=$work/admin
(umask 077 && printf %s "$TRAFFIC_REPLAY_PASSWORD" >"$secret")
base=DC=samdom,DC=example,DC=com
parent=OU=traffic_replay,$base
unit=OU=instance-$instance,$parent

# shellcheck disable=SC2317 # called at exit
remove_all() {
    for number in $instance $((instance + 1)); do
        "$replay_program" -c -I "$number" "$TRAFFIC_REPLAY_DC" 2>/dev/null
    done
}
at_exit remove_all

admin() {
    local command=$1
    shift
    LDAPTLS_REQCERT=never "$command" -x -H "ldaps://$address" -D "$TRAFFIC_REPLAY_USER@samdom.example.com" -y "$secret" "$@"
}
search() { admin ldapsearch -LLL -o ldif-wrap=no -E pr=1000/noprompt "$@" 2>/dev/null; }
count() { search -b "$unit" -s one "$1" dn | grep -c '^dn:'; }
value() { search -b "$1" -s base '(objectClass=*)' "$2" | sed -n "s/^$2: //p"; }
usn() { value "" highestCommittedUSN; }
replay() { run "$replay_program" -I $instance "$@" "$TRAFFIC_REPLAY_DC"; }
memberships() { search -b "$unit" -s one '(objectClass=group)' member | grep -c '^member:'; }

cat >"$work/model.yaml" <<MODEL
version: 3
packet_rate: 40
history: 1
chain:
  "-": {"ldap:0": 10}
  "ldap:0": {"wait:0": 10}
  "wait:0": {"ldap:3": 20, "ldap:6": 5, "ldap:8": 5, "-": 10}
  "ldap:3": {"wait:0": 20}
  "ldap:6": {"wait:0": 5}
  "ldap:8": {"wait:0": 5}
details:
  "ldap:0":
    - {count: 1, auth: sasl, mech: GSS-SPNEGO}
  "ldap:3":
    - {count: 1, scope: sub, base: "DC,DC", filter: "(sAMAccountName)", attrs: [cn]}
MODEL
# play SETTINGS...: a short run; on success nothing may have failed.
play() { run "$replay_program" -I $instance -D 2 --warmup 1 -r 2 --random-seed 5 "$@" "$work/model.yaml" "$TRAFFIC_REPLAY_DC"; }

replay -c
is "a clean start" "$status" 0

# The first time.
if [ -z "$(search -b "$parent" -s base dn)" ]; then
    replay -G -n 4 </dev/null
    is "first accounts without --yes: exit status" "$status" 2
    like "first accounts without --yes: message" "$errors" \
        '^traffic-replay: 4 users, 5 filler machines and 1 group would be created in samdom.example.com.*--yes$'
    is "nothing was made" "$(search -b "$parent" -s base dn)" ""
else
    skip "first accounts without --yes" "others have accounts in this domain"
fi

# -G.
replay -G --yes -n 8 --number-of-groups 3
is "-G: exit status" "$status" 0 || echo "# $errors"
like "-G: says what was made" "$errors" '^Accounts created: 21 in '
like "-G: says how they are removed" "$errors" "remain in $unit; remove them with: traffic-replay -c -I $instance"
is "-G: users" "$(count '(sAMAccountName=STGU-*)')" 8
is "-G: filler machines, 1.25 times as many" "$(count '(sAMAccountName=PC-*)')" 10
is "-G: no machines that play" "$(count '(sAMAccountName=STGM-*)')" 0
is "-G: groups" "$(count '(objectClass=group)')" 3
is "-G: memberships, five a user where there is room" "$(memberships)" 24
is "a user's control" "$(value "CN=STGU-$instance-3,$unit" userAccountControl)" 512
is "a filler's control" "$(value "CN=PC-$instance-3,$unit" userAccountControl)" 4096
rights=$(PATH=/usr/bin:/bin PASSWD=$TRAFFIC_REPLAY_PASSWORD samba-tool dsacl get \
    --objectdn "CN=STGU-$instance-3,$unit" -H "ldap://$address" -U "$TRAFFIC_REPLAY_USER" 2>&1 </dev/null)
is "a user may write its own SPN" "$(grep -o '(A;;WP;;;PS)' <<<"$rights" | wc -l)" 1
like "and has its class's other rights" "$rights" '\(OA;;CR;ab721a53-1e2f-11d0-9819-00aa0040529b;;PS\)'
like "and what it inherits" "$rights" ';[A-Z]*ID;'
store=$(echo "$XDG_STATE_HOME"/traffic-replay/samdom.example.com-S-1-5-21-*-instance-$instance)
is "the kept password's mode" "$(stat -c %a "$store")" 600
is "its folder's mode" "$(stat -c %a "$XDG_STATE_HOME/traffic-replay")" 700
password=$(sed -n 's/^password = //p' "$store")
is "the password is not printed" "$(grep -cF -e "$password" <<<"$output$errors")" 0
like "the marker tells nothing" "$(value "$unit" description)" '^traffic-replay password=[0-9a-f]{64} users=8 groups=3 memberships=24$'

before=$(usn)
replay -G -n 8 --number-of-groups 3
is "-G again: exit status" "$status" 0
is "-G again writes nothing" "$(usn)" "$before"
replay -G -n 8 --number-of-groups 3 --group-memberships 10
like "other memberships than the existing ones are reported" "$errors" 'keeps its 24 memberships; to change them, remove the accounts first \(-c\)'

member() { printf 'dn: CN=STGG-%s-1,%s\nchangetype: modify\n%s: member\nmember: CN=STGU-%s-2,%s\n' $instance "$unit" "$1" $instance "$unit" | admin ldapmodify >/dev/null 2>&1; }
member delete
replay -G -n 8 --number-of-groups 3 --group-memberships 10
like "existing memberships are counted" "$errors" 'keeps its 23 memberships; to change them'
admin ldapdelete "CN=STGU-$instance-2,$unit" >/dev/null 2>&1
replay -G -n 8 --number-of-groups 3
like "an account that was deleted is created again" "$errors" '^Accounts created: 1 in '
is "with its memberships" "$(memberships)" 24

replay -G -n 12 --number-of-groups 3
is "more users: users" "$(count '(sAMAccountName=STGU-*)')" 12
is "more users: memberships" "$(memberships)" 36

# A run.
play -n 3
is "-n below what the run needs: exit status" "$status" 2
like "-n below what the run needs: message" "$errors" '^traffic-replay: -n: 3 users are too few for the [0-9]+ clients of this run'
play --make-accounts
is "--make-accounts: exit status" "$status" 0 || echo "# $errors"
like "--make-accounts: makes machines, too" "$errors" '^Accounts created: [0-9]+ in '
is "--make-accounts: plays nothing" "$output" ""
play
unlike "--make-accounts: leaves none to be made" "$errors" '^(Accounts created|Changes of group)'
is "a run: exit status" "$status" 0 || echo "# $errors"
like "a run with these accounts: nothing failed" "$output" '^Failed operations: +0 '
unlike "and something succeeded" "$output" '^Successful operations: +0 '
clients=$(sed -n 's/^Clients: *\([0-9]*\) .*/\1/p' <<<"$output")
is "machines, one a client" "$(count '(sAMAccountName=STGM-*)')" "$clients"
is "a machine's control" "$(value "CN=STGM-$instance-1,$unit" userAccountControl)" 4096
is "objects that clients added are gone or theirs alone" "$(count '(objectClass=organizationalUnit)')" 0
play -K
is "a run with Kerberos: exit status" "$status" 0 || echo "# $errors"
like "a run with Kerberos: nothing failed" "$output" '^Failed operations: +0 '

# Passwords.
rm "$store"
play
like "without the key all passwords are reset" "$errors" "has accounts with another password; resetting it"
like "and the run goes well" "$output" '^Failed operations: +0 '
play -F 'Other-Pass.123'
like "another password: reset" "$errors" "^Passwords reset: [0-9]+ in"
like "another password: the run goes well" "$output" '^Failed operations: +0 '
unlike "another password is not printed" "$output$errors" 'Other-Pass'
play -F 'Other-Pass.123'
unlike "the same password: not reset" "$errors" "reset"

# Passwords that somebody else changes.
change() { PATH=/usr/bin:/bin PASSWD=$TRAFFIC_REPLAY_PASSWORD samba-tool user setpassword "$1" --newpassword 'Some.Body-1' -H "ldap://$address" -U "$TRAFFIC_REPLAY_USER" </dev/null >/dev/null 2>&1; }
change "STGU-$instance-1"
play -F 'Other-Pass.123'
like "a user's changed password is noticed" "$errors" "the server refuses the password of STGU-$instance-1, .*resetting the passwords of all users of"
like "a user's changed password: nothing failed" "$output" '^Failed operations: +0 '
change "STGM-$instance-2\$"
play -F 'Other-Pass.123' -K
like "a machine's changed password is noticed" "$errors" "the server refuses the password of STGM-$instance-2\\$, .*resetting the passwords of all machines of"
play -F 'Other-Pass.123'
unlike "changed passwords are reset once" "$errors" 'reset'

# Half made.
admin ldapadd >/dev/null 2>&1 <<LDIF
dn: CN=STGU-$instance-13,$unit
objectClass: user
sAMAccountName: STGU-$instance-13
LDIF
is "an account without a password is there" "$(value "CN=STGU-$instance-13,$unit" pwdLastSet)" 0
replay -G -n 13 --number-of-groups 3 -F 'Other-Pass.123'
like "only its password is set" "$errors" '^Passwords reset: 1 in'
is "it is enabled" "$(value "CN=STGU-$instance-13,$unit" userAccountControl)" 512
holds "its password works" env LDAPTLS_REQCERT=never ldapsearch -LLL -x -H "ldaps://$address" \
    -D "STGU-$instance-13@samdom.example.com" -w 'Other-Pass.123' -b "$unit" -s base dn

replay -c
"$replay_program" -I $instance -G --yes -n 80 --number-of-groups 4 "$TRAFFIC_REPLAY_DC" 2>"$work/errors" &
child=$!
for _ in $(seq 200); do
    [ "$(count '(sAMAccountName=STGU-*)')" -ge 5 ] && break
    sleep 0.02
done
kill -TERM $child
wait $child
is "interrupted" $? 130
half=$(count '(objectClass=user)')
[ "$half" -ge 5 ] && [ "$half" -lt 180 ]
tap $? "half of the accounts are there ($half of 180)"
replay -G -n 80 --number-of-groups 4
is "started again: exit status" "$status" 0 || echo "# $errors"
# The DC may have finished a few that were under way.
made=$(sed -n 's/^Accounts created: \([0-9]*\) in .*/\1/p' <<<"$errors")
[ "${made:-0}" -le $((184 - half)) ] && [ "${made:-0}" -ge $((184 - half - 8)) ]
tap $? "makes only what is missing" "$half of 180 were there, and then: $errors"
is "all users" "$(count '(&(sAMAccountName=STGU-*)(!(pwdLastSet=0)))')" 80
is "all fillers" "$(count '(&(sAMAccountName=PC-*)(!(pwdLastSet=0)))')" 100
is "all memberships" "$(memberships)" 320

# As after an interruption while members were added: most are there, and nothing says so.
marker=$(value "$unit" description)
admin ldapmodify >/dev/null 2>&1 <<LDIF
dn: $unit
changetype: modify
replace: description
description: ${marker%% users=*}

dn: CN=STGG-$instance-2,$unit
changetype: modify
delete: member
member: CN=STGU-$instance-7,$unit
member: CN=STGU-$instance-80,$unit

dn: CN=STGG-$instance-3,$unit
changetype: modify
delete: member
LDIF
is "memberships taken away" "$(memberships)" 238
replay -G -n 80 --number-of-groups 4
is "interrupted between members: exit status" "$status" 0 || echo "# $errors"
is "interrupted between members: all are there" "$(memberships)" 320
is "interrupted between members: the marker" "$(value "$unit" description)" "$marker"

# Accounts from a file.
password=$(sed -n 's/^password = //p' "$store")
for number in $(seq 60); do
    printf 'STGU-%s-%s,%s\n' $instance "$number" "$password"
done >"$work/accounts.csv"
chmod 600 "$work/accounts.csv"
sed -i '1s/^/SAMDOM\\/' "$work/accounts.csv"
play --accounts "$work/accounts.csv" --skip ldap:8
is "accounts from a file: exit status" "$status" 0 || echo "# $errors"
like "accounts from a file: nothing failed" "$output" '^Failed operations: +0 '
unlike "accounts from a file are not ours to remove" "$errors" 'remove them with'
printf '"CN=STGU-%s-1,%s","%s"\n' $instance "$unit" "$password" >"$work/one.csv"
play --accounts "$work/one.csv"
is "too few in the file: exit status" "$status" 2
like "too few in the file: message" "$errors" 'one.csv has 1 users, but this run has [0-9]+ clients'
printf '# nobody\nnobody-of-this-name\tx\n' >"$work/nobody.tsv"
play --accounts "$work/nobody.tsv"
is "not in the directory: exit status" "$status" 2
like "not in the directory: message" "$errors" 'nobody.tsv:2: nobody-of-this-name: there is no such account'

# Refusals.
run "$replay_program" -I $((instance + 1)) -G --yes -n 2 -U "STGU-$instance-1%$password" "$TRAFFIC_REPLAY_DC"
is "an administrator without rights: exit status" "$status" 1
like "an administrator without rights: message" "$errors" '^traffic-replay: cannot add OU=.*: insufficientAccessRights \(.*needs this right'
run "$replay_program" -I $instance -G -n 2 -U "$TRAFFIC_REPLAY_USER%wrong" "$TRAFFIC_REPLAY_DC"
is "a wrong password: exit status" "$status" 1
like "a wrong password: message" "$errors" '^traffic-replay: cannot bind to .* as the administrator: invalidCredentials'
policy() { printf 'dn: %s\nchangetype: modify\nreplace: minPwdLength\nminPwdLength: %s\n' "$base" "$1" | admin ldapmodify >/dev/null 2>&1; }
usual=$(value "$base" minPwdLength)
policy 14
run "$replay_program" -I $((instance + 1)) -G --yes -n 2 -F Short.1 "$TRAFFIC_REPLAY_DC"
policy "$usual"
is "a password that the policy refuses: exit status" "$status" 1
like "a password that the policy refuses: message" "$errors" '^traffic-replay: cannot add STGU-.*-1: constraintViolation \(.*set an acceptable password with -F$'

is "a password that the policy refuses: nothing is left" "$(search -b "OU=instance-$((instance + 1)),$parent" -s base dn)" ""
printf 'dn: CN=Holder,CN=Users,%s\nobjectClass: user\nsAMAccountName: STGU-%s-2\n' "$base" $((instance + 1)) | admin ldapadd >/dev/null 2>&1
run "$replay_program" -I $((instance + 1)) -G --yes -n 3 --number-of-groups 1 "$TRAFFIC_REPLAY_DC"
admin ldapdelete "CN=Holder,CN=Users,$base"
is "a taken name: exit status" "$status" 1
like "a taken name: message" "$errors" "cannot add STGU-$((instance + 1))-2: the name is taken by CN=Holder,CN=Users,$base; choose another instance with -I"
like "a taken name: what stays" "$errors" "what was created remains in OU=instance-$((instance + 1)),.*; remove it with -c -I $((instance + 1))"

# A delegated administrator: full control of an existing OU=traffic_replay and nothing else.
delegate() { PATH=/usr/bin:/bin PASSWD=$TRAFFIC_REPLAY_PASSWORD samba-tool "$@" -H "ldap://$address" -U "$TRAFFIC_REPLAY_USER" </dev/null >/dev/null 2>&1; }
delegate user create delegated-$instance 'Dele-Gated.1'
sid=$(PATH=/usr/bin:/bin PASSWD=$TRAFFIC_REPLAY_PASSWORD samba-tool user show delegated-$instance --attributes objectSid -H "ldap://$address" -U "$TRAFFIC_REPLAY_USER" 2>/dev/null </dev/null | sed -n 's/^objectSid: //p')
delegate dsacl set --objectdn "$parent" --sddl "(A;CI;GA;;;$sid)"
run "$replay_program" -c -I $((instance + 1)) "$TRAFFIC_REPLAY_DC"
run "$replay_program" -I $((instance + 1)) -D 2 --warmup 1 -r 2 -U "delegated-$instance%Dele-Gated.1" "$work/model.yaml" "$TRAFFIC_REPLAY_DC"
is "a delegated administrator: exit status" "$status" 0 || echo "# $errors"
like "a delegated administrator: nothing failed" "$output" '^Failed operations: +0 '
run "$replay_program" -c -I $((instance + 1)) -U "delegated-$instance%Dele-Gated.1" "$TRAFFIC_REPLAY_DC"
is "a delegated administrator: -c" "$status" 0 || echo "# $errors"
delegate user delete delegated-$instance

# Clean-up.
replay -c
is "-c: exit status" "$status" 0 || echo "# $errors"
is "-c: the instance is gone" "$(search -b "$unit" -s base dn)" ""
[ ! -e "$store" ]
tap $? "-c: so is the kept password"
replay -c "$work/model.yaml"
is "-c again, and with a MODEL: exit status" "$status" 0
like "-c again: message" "$errors" 'nothing to remove'
run "$replay_program" -c -I $((instance + 1)) "$TRAFFIC_REPLAY_DC"
is "-c of what a refusal left" "$status" 0

tap_done
