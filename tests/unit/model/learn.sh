#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
#
# traffic-learn's command line, inputs and outputs, and captures of real clients. The expected counts were made by
# hand from tshark's listing. Tests of captures that are missing are skipped.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

program=$(realpath "${BUILD:-build}/traffic-learn")
captures=${TRAFFIC_CAPTURES:-../shared/data/captures}
[ -d "$captures" ] || captures=../../shared/data/captures
models=$captures/../models
make_work

# The command line.

run "$program" --help
is "--help: status" $status 0
is "--help: nothing on standard error" "$errors" ""
while read -r option; do
    like "--help and the manual page list --$option" "$(mandoc -T ascii man/traffic-learn.1 | sed 's,.\x08,,g')" "--$option"
done < <(sed -n 's/^.*--\([a-z-]*\).*/\1/p' <<<"$output" | sort -u)
run "$program" --version
like "--version" "$output" '^traffic-learn [0-9]+\.[0-9]+'

summary=$work/small.txt
printf '1500000000.0\t06\t\t2\t1\tldap\t3\tsearchRequest\n1500000001.0\t06\t\t2\t1\tldap\t2\tunbindRequest\n' >"$summary"
echo 'just some words' >"$work/words.txt"
: >"$work/empty"
mistake "no files" 'missing FILE; give a capture'
mistake "unknown option" '--histry: unknown option; did you mean --history[?]' --histry 2 "$summary"
mistake "history too long" '--history: "17" is neither auto nor a whole number from 1 to 16' --history 17 "$summary"
mistake "history no number" '--history: "two" is neither auto nor' --history two "$summary"
mistake "idle" '--idle: "0" is out of range: expected a number from 0.001 to 1000000' --idle 0 "$summary"
mistake "max-details" '--max-details: "0" is out of range' --max-details 0 "$summary"
mistake "keytab" '--keytab: cannot read ".*none": No such file' --keytab "$work/none" "$summary"
mistake "tshark-option" '--tshark-option: "tcp" is not NAME:VALUE' --tshark-option tcp "$summary"
mistake "json alone" '--json requires --check MODEL' --json "$summary"
mistake "check and summary" 'exclude each other' --check x --summary "$summary"
mistake "no such file" 'none: No such file' "$work/none"
mistake "a folder" 'found a directory' "$work"
mistake "an empty file" 'empty: the file is empty' "$work/empty"
mistake "a text" 'words.txt: a text, but neither' "$work/words.txt"
printf '<?xml version="1.0"?>\n<pdml version="0">\n</pdml>\n' >"$work/frames.pdml"
mistake "tshark's PDML" "frames.pdml:1:1: found tshark's PDML; give the capture itself to traffic-learn" "$work/frames.pdml"
cat >"$work/v1.json" <<<'{"ngrams": {"-\t-": {"ldap:3": 1}}, "conversation_rate": [2, 1.5], "dns": {}}'
mistake "a Samba model of version 1" 'v1.json:1:1: found a Samba traffic model of version 1 ' "$work/v1.json"
mistake "a device" '/dev/zero: expected a file, found a device' /dev/zero
mistake "/dev/stdin" '/dev/stdin: give - for standard input' /dev/stdin
mistake "process substitution" '/dev/fd/[0-9]+: a pipe; give it as standard input: - </dev/fd/' <(cat "$summary")
mistake "random-seed" '--random-seed: "9223372036854775808" is out of range: expected a number from 0 to 9223372036854775807' \
    --random-seed 9223372036854775808 "$summary"
mistake "several of which one is a text" 'only captures can be merged' "$summary" "$summary"
mistake "a model that is none" 'none.yaml: No such file' --check "$work/none.yaml" "$summary"

# Output is written atomically.

run "$program" -q "$summary"
is "to standard output: status" $status 0
like "to standard output" "$output" '^  "- ldap:3": \{"wait:2": 1\}'
like "the capture's name" "$output" 'capture: small.txt, packets: 2, seconds: 1, conversations: 1'
first=$output
run "$program" -q - <"$summary"
is "from standard input" "${output/capture: stdin/capture: small.txt}" "$first"
run "$program" -q "$summary"
is "twice the same" "$output" "$first"
run "$program" -q "$summary" -o /dev/full
is "full disk: status" $status 1
like "full disk: message" "$errors" 'No space left on device'
echo precious >"$work/model.yaml"
run "$program" -q "$work/small.txt" -o "$work/no/model.yaml"
is "a path that cannot be written: status" $status 2
like "a path that cannot be written: message" "$errors" '--?o.*: cannot write ".*model.yaml": No such file or directory'
printf 'no summary\n' >>"$work/small.txt"
run "$program" -q "$work/small.txt" -o "$work/model.yaml"
is "a broken line: status" $status 1
like "a broken line is reported by number" "$errors" 'small.txt:3: expected a traffic-summary line'
is "what was there stays" "$(cat "$work/model.yaml")" precious
is "nothing is left beside it" "$(cd "$work" && ls model*)" model.yaml
sed -i 3d "$work/small.txt"
ln -s model.yaml "$work/link.yaml"
run "$program" -q "$summary" -o "$work/link.yaml"
is "through a link: status" $status 0
is "a link stays a link" "$(readlink "$work/link.yaml")" model.yaml
is "and its target is written" "$(cat "$work/model.yaml")" "$first"

# Other inputs.

run "$program" -q tests/data/office-v2.json -o "$work/v2.yaml"
is "a Samba v2 model: status" $status 0
like "a Samba v2 model: version 3" "$(cat "$work/v2.yaml")" '^version: 3'
run "$program" -q - <tests/data/office-v2.json
is "from standard input the same" "${output/model stdin/model office-v2.json}" "$(cat "$work/v2.yaml")"
run "$program" -q --check "$work/model.yaml" --json "$summary"
is "--check --json: status" $status 0
holds "--check --json: JSON" python3 -c 'import json, sys; d = json.loads(sys.argv[1])
assert d["mix"]["total_variation"] < 0.01 and d["gaps"]["ks"] < 0.01, d
assert d["lengths"]["ks"] == 0 and d["mix"]["types"]["ldap:3"]["capture"] == 0.5, d' "$output"
run "$program" -q --check "$work/model.yaml" "$summary"
like "--check: for people" "$output" '^mix .* 0\.00.. +total variation'
run "$program" --check "$work/model.yaml" --random-seed 9223372036854775807 "$summary"
is "the largest seed" $status 0
{ printf '\xef\xbb\xbf'; cat "$summary"; } >"$work/marked.txt"
run "$program" -q "$work/marked.txt"
is "a byte order mark before a traffic-summary text" "${output/marked.txt/small.txt}" "$first"
printf '%s.0\t06\t\t2\t1\tsmb\t0x74\tx\n' 1500000000 1500000009 >"$work/smb1.txt"
run "$program" "$work/smb1.txt"
is "a model without anything to play: status" $status 0
like "a model without anything to play is reported" "$errors" 'traffic-replay can send none of these packets; it sends'
run "$program" "$summary"
unlike "a model with something to play is not" "$errors" 'can send none'

# tshark.

if ! command -v tshark >/dev/null; then
    skip "captures" "there is no tshark"
    tap_done
fi
# One search with secrets in it, a reply, and traffic that is not with a domain controller.
python3 tests/unit/model/learn_captures.py "$work"
run "$program" -q --tshark "$work/none" "$work/secret.pcap"
is "no tshark: status" $status 1
like "no tshark: message" "$errors" 'cannot start .*none: No such file or directory .it comes with Wireshark'
printf '#!/bin/sh\nkill -KILL $$\n' >"$work/killed"
printf '#!/bin/sh\necho "killed half way" >&2; exit 3\n' >"$work/failing"
# An older tshark without two of the fields.
cat >"$work/older" <<'END'
#!/bin/sh
for argument; do
    case $argument in
    tls.record.opaque_type | dns.srv.target)
        printf 'tshark: Some fields aren'"'"'t valid:\n\ttls.record.opaque_type\n\tdns.srv.target\n' >&2
        exit 1
        ;;
    esac
done
exec tshark "$@"
END
chmod +x "$work/killed" "$work/failing" "$work/older"
run "$program" -q --tshark "$work/killed" "$work/secret.pcap"
is "tshark killed: status" $status 1
like "tshark killed: message" "$errors" 'killed was ended by signal 9'
is "tshark killed: no model" "$output" ""
run "$program" -q --tshark "$work/failing" "$work/secret.pcap"
is "tshark fails: status" $status 1
like "tshark fails: message" "$errors" 'killed half way'
run "$program" -q "$work/secret.pcap"
is "a capture: status" $status 0
learned=$output
learned_plain=$output
run "$program" -q --tshark "$work/older" "$work/secret.pcap"
is "fields that tshark does not know are not asked for" "$output" "$learned"
run "$program" -q --tshark "$work/older" - <"$work/secret.pcap"
is "from standard input neither" "${output/stdin/secret.pcap}" "$learned"
gzip -k "$work/secret.pcap"
run "$program" -q "$work/secret.pcap.gz"
is "compressed" "${output/secret.pcap.gz/secret.pcap}" "$learned"
# shellcheck disable=SC2002 # a pipe is the point
run "$program" -q - < <(cat "$work/secret.pcap.gz")
is "compressed, through a pipe" "${output/stdin/secret.pcap}" "$learned"
run "$program" -q "$work/second-half.pcap" "$work/first-half.pcap"
is "two halves in the wrong order" "${output/\"second-half.pcap and 1 more\"/secret.pcap}" "$learned"

# Nothing private: the capture contains these words many times.
for secret in secret 10.9.8 sekret fd00 topsy; do
    is "no '$secret' in the model" "$(grep -i "$secret" <<<"${learned//secret.pcap/}")" ""
done
like "but its shape" "$(tr -s '\n ' ' ' <<<"$learned")" 'base: "OU,DC,DC", filter: "\(&\(objectClass=user\)\(\|\(sAMAccountName\)\(displayName\)'
is "the capture does have the secrets" "$(($(strings "$work/secret.pcap" | grep -ic secret) > 3))" 1
run "$program" -q --summary "$work/secret.pcap"
is "nor in the summary" "$(grep -icE 'secret|10\.9\.8|fd00' <<<"$output")" 0

run "$program" "$work/nothing.pcap" -o "$work/model.yaml"
is "no domain controller: status" $status 1
like "no domain controller: message" "$errors" 'no request to a domain controller among 2 frames'
run "$program" -q "$work/names.pcap"
is "only names: status" $status 1
like "only names: message" "$errors" 'only name queries'
run "$program" -q --server 10.9.8.1 "$work/names.pcap"
is "only names, but --server" $status 0
is "no domain controller: the old model stays" "$(cat "$work/model.yaml")" "$first"
run "$program" -q --server 10.9.8.99 "$work/secret.pcap"
is "another server: status" $status 1
like "another server: message" "$errors" 'no request to --server 10.9.8.99'
head -c 900 "$work/secret.pcap" >"$work/cut.pcap"
run "$program" -q "$work/cut.pcap"
is "truncated: status" $status 0
like "truncated: warning" "$errors" 'the capture is truncated or damaged; the frames before are used'
head -c 10 "$work/secret.pcap" >"$work/short.pcap"
run "$program" -q "$work/short.pcap"
is "truncated in its header: status" $status 1

# Captures with faults. Each test says what a user meets.

# Further captures, with faults that are not easily made up. They are not part of the sources.
faults=${TRAFFIC_REPLAY_SHARED:-../shared}/faults/learn
[ -d "$faults" ] || faults=../../shared/faults/learn
# learned NAME FILE WANTED OPTION...: the packets of --summary, as "1*ldap:0 ".
learned() {
    local name=$1 file=$2 wanted=$3
    shift 3
    [ -r "$file" ] || return
    run "$program" "$@" --summary "$file"
    is "$name" "$(awk -F'\t' '{n[$6 ":" $7]++} END {for (t in n) print n[t] "*" t}' <<<"$output" | sort -t'*' -k2 |
        tr '\n' ' ')" "$wanted"
}
learned "a lost segment loses no later request of its connection" "$work/lost.pcap" '1*ldap:2 4*ldap:3 '
like "the lost segment is reported" "$errors" 'lacks TCP segments in 1 place'
learned "a request recorded after its reply counts" "$work/late.pcap" '1*ldap:2 5*ldap:3 '
learned "a segment that was sent twice counts once" "$work/twice.pcap" '1*ldap:2 5*ldap:3 '
like "repeated segments are reported" "$errors" 'left out: retransmitted TCP segments: 1'
learned "frames with control bytes in names are read" "$work/control.pcap" '1*ldap:3 '
learned "a question first asked of another server counts" "$work/other.pcap" '1*dns:0 ' --server 10.9.8.1
like "requests to other servers are named" "$errors" 'left out: requests to 10.9.8.2: 1; to add them, give --server 10.9.8.2'
learned "several servers can be given" "$work/other.pcap" '2*dns:0 ' --server 10.9.8.1 --server 10.9.8.2
learned "a capture that ends in garbage is used up to there" "$work/garbage.pcap" '1*ldap:2 5*ldap:3 '
like "the garbage is reported" "$errors" 'truncated or damaged; the frames before are used'
run "$program" "$work/days.pcap"
like "a day without frames does not count in the rate" "$output" 'seconds: 12,'
like "a day without frames is reported" "$errors" 'nothing was recorded for 86391 s'
run "$program" "$work/back.pcap"
like "a clock that was set back does not count in the rate" "$errors" ' over 12 s: 0.5 packets/s'
like "a clock that was set back is reported" "$errors" 'nothing was recorded for 3587 s .*a clock that was set back'
run "$program" "$work/shared.pcap"
like "several clients behind one address: a hint" "$errors" '^traffic-learn: 10\.9\.8\.7 uses many connections .*--by-connection$'
run "$program" --by-connection "$work/shared.pcap"
unlike "several clients behind one address: no hint with --by-connection" "$errors" 'by-connection'
like "several clients behind one address: five conversations" "$errors" 'in 5 conversations'
run "$program" -q "$work/odd.pcap"
unlike "names that are no attribute descriptions are left out" "$output" '10\.1\.2\.3|alice'
like "an extended operation keeps its OID" "$output" '- \{count: 1, oid: 1\.3\.6\.1\.4\.1\.1466\.101\.119\.1\}'
unlike "StartTLS is no extended operation to play" "$output" '20037'
"$program" -q --summary "$work/odd.pcap" >"$work/odd.txt"
run "$program" -q "$work/odd.txt"
like "an extended operation keeps its OID in a traffic-summary text" "$output" 'oid: 1\.3\.6\.1\.4\.1\.1466\.101\.119\.1'
learned "cut frames keep their requests" "$work/short-frames.pcap" '1*ldap:2 5*ldap:3 '
like "cut frames are reported" "$errors" 'frames were cut when they were recorded'
learned "an LDAP server wins over a busy file server" "$faults/03-file-server.pcap" '1*ldap:0 10*ldap:3 '
learned "SMB1 messages that are chained to nothing do not count" "$faults/09-smb1-andx.pcap" \
    '1*smb:0x72 1*smb:0x73 1*smb:0x74 '
learned "a bound interface on port 135 is not the endpoint mapper" "$faults/15-dcom-135.pcap" '1*dcerpc:0 1*dcerpc:11 '
learned "a frame with an impossible time is left out" "$faults/23-far-time.pcapng" '1*ldap:0 4*ldap:3 '
learned "requests of one segment keep their filters" "$faults/16-pipelined.pcap" \
    '1*ldap:0 1*ldap:14 1*ldap:2 5*ldap:3 1*ldap:6 '
[ ! -r "$faults/16-pipelined.pcap" ] || unlike "no filter is a compare's" "$output" 'employeeNumber|telephoneNumber'
[ ! -r "$faults/25-krb-udp.pcap" ] ||
    is "Kerberos over UDP has protocol 11" "$("$program" -q --summary "$faults/25-krb-udp.pcap" | cut -f2 | sort -u)" 11
while IFS='|' read -r file wanted arguments; do
    # shellcheck disable=SC2086 # several arguments
    learned "$file: the requests that it contains" "$faults/$file" "$wanted" $arguments
done <<'END'
plain.pcap|1*ldap:0 1*ldap:2 10*ldap:3 |
01-lost-segment.pcap|1*ldap:0 1*ldap:2 19*ldap:3 |
02-reply-before-request.pcap|1*ldap:0 1*ldap:2 10*ldap:3 |
04-two-dcs.pcap|2*ldap:0 19*ldap:3 |--server 192.0.2.1 --server 192.0.2.3
05-zero-tail.pcap|1*ldap:0 1*ldap:2 10*ldap:3 |
05b-two-days.pcap|2*ldap:0 20*ldap:3 |
06-control-byte.pcap|1*kerberos:10 1*ldap:0 1*ldap:2 10*ldap:3 |
08-dns-second-server.pcap|5*dns:0 1*ldap:0 |
14-garbage-tail.pcap|1*ldap:0 1*ldap:2 10*ldap:3 |
18-cut-frames.pcap|1*ldap:0 1*ldap:2 10*ldap:3 |
24-odd-names.pcap|1*ldap:0 3*ldap:3 |
25-krb-udp.pcap|5*kerberos:10 |
26-nat.pcap|5*ldap:0 25*ldap:3 |
END
mkdir -p "$work/home/.config/wireshark"
echo ldap >"$work/home/.config/wireshark/disabled_protos"
run env -u XDG_CONFIG_HOME HOME="$work/home" "$program" -q "$work/secret.pcap"
is "the user's Wireshark profile changes nothing" "$output" "$learned_plain"
cat >"$work/lacking" <<'END'
#!/bin/sh
case $* in *smb2.cmd*) printf "tshark: Some fields aren't valid:\n\tsmb2.cmd\n" >&2; exit 1 ;; esac
exec tshark "$@"
END
chmod +x "$work/lacking"
run "$program" -q --tshark "$work/lacking" "$work/secret.pcap"
is "a tshark without a field that counting needs: status" $status 1
like "a tshark without a field that counting needs: its version and the field" "$errors" 'TShark.* lacks fields .* smb2.cmd'
cp "$work/secret.pcap" "$work/$(printf 'caf\xe9.pcap')"
run "$program" -q "$work/$(printf 'caf\xe9.pcap')"
holds "a file name that is not UTF-8 gives a model that is" iconv -f UTF-8 -t UTF-8 <<<"$output"
mkfifo "$work/pipe"
mistake "a FIFO is refused at once" 'pipe: a pipe; give it as standard input' "$work/pipe"
cp "$work/secret.pcap" "$work/same.pcap"
mistake "the capture is not overwritten by the model" '--output names a FILE that is read' "$work/same.pcap" -o "$work/same.pcap"
mistake "a keylog file that is not there" 'cannot read ".*none.keys"' --tshark-option "tls.keylog_file:$work/none.keys" "$summary"
run "$program" -q --keytab "$work/empty" "$work/secret.pcap"
like "what tshark says of a keytab is passed on" "$errors" 'keytab'
run "$program" -q "$work/one.pcap"
like "a single request is too little" "$errors" 'too little to learn from'
status=0
"$program" "$work/secret.pcap" -o "$work/closed.yaml" 2>&- || status=$?
is "closed standard error: status" $status 0

# Captures of real clients.

# counts CAPTURE WANTED...: expects these numbers of packets by type in the output of --summary.
counts() {
    local name=$1 got
    shift
    if [ ! -r "$captures/$name" ]; then
        skip "$name" "the capture is not there"
        return
    fi
    got=$("$program" -q --summary "$captures/$name" | awk -F'\t' '{n[$6 ":" $7]++} END {for (t in n) print n[t] "*" t}' |
        sort -t'*' -k2 | tr '\n' ' ')
    is "$name" "$got" "$(printf '%s\n' "$@" | sort -t'*' -k2 | tr '\n' ' ')"
}
# A bind in two legs, a search, an unbind.
counts ldap_sasl-ntlm.pcap '1*ldap:0' '1*ldap:3' '1*ldap:2'
# Two clients begin an NTLM bind and give up.
counts ldap_ctu-sme-11-win7ad-1-ldap-tcp-50041.pcap '2*ldap:0' '2*ldap:2'
# A bind over two segments whose second leg is an alter_context; the ticket was fetched before.
counts dce-rpc_cs_window7-join_stream092.pcap '1*dcerpc:11' '1*kerberos:' '1*drsuapi:0' '1*drsuapi:12' '1*drsuapi:1'
# Everything after the session setup is encrypted.
counts smb_smb311.pcap '1*smb2:0' '1*smb2:1'
# 93 AS requests: 8 answer "preauthentication required", 2 are the same over TCP.
counts krb_kinit.pcap '83*kerberos:10' '1*kerberos:12'
# By display filters: requests of each command without the legs that MORE_PROCESSING and saslBindInProgress ask for,
# without 76 transactions that carry RPC, 196 DNS queries asked twice, 22 AS requests each for preauthentication and TCP.
# Of 24 sealed LDAP messages 12 are the last before their client closes the connection: unbinds, as in the clear.
counts office-hosts.pcapng '1318*dns:0' '22*kerberos:10' '55*kerberos:12' '28*ldap:0' '28*ldap:2' '28*ldap:3' \
    '16*dcerpc:11' '4*lsarpc:0' '1*lsarpc:15' '4*lsarpc:6' '3*lsarpc:7' '12*samr:1' '1*samr:11' '5*samr:13' '6*samr:5' \
    '6*samr:6' '6*samr:64' '6*samr:7' '30*smb2:0' '30*smb2:1' '17*smb2:11' '47*smb2:3' '47*smb2:4' '76*smb2:5' \
    '16*smb2:6' '1*srvsvc:15' '5*srvsvc:21'

# Fidelity.

# faithful FILE LIMITS OPTION...: LIMITS are the maximum differences of mix, rate, gaps, lengths, durations.
faithful() {
    local file=$1 limits=$2 seed
    shift 2
    if [ ! -r "$file" ]; then
        skip "fidelity of $(basename "$file")" "it is not there"
        return
    fi
    "$program" -q "$@" "$file" -o "$work/learned.yaml"
    for seed in 1 2; do
        run "$program" -q "$@" --random-seed $seed --check "$work/learned.yaml" --json "$file"
        holds "fidelity of $(basename "$file") $* (seed $seed)" python3 -c 'import json, sys
d = json.loads(sys.argv[1])
got = [d["mix"]["total_variation"], abs(d["rate"]["difference"])] + [d[n]["ks"] for n in ("gaps", "lengths", "durations")]
assert all(g <= float(w) for g, w in zip(got, sys.argv[2].split())), got' "$output" "$limits"
    done
}
faithful "$models/office-summary.txt" "0.02 0.01 0.05 0.12 0.12"
faithful "$captures/office-hosts.pcapng" "0.02 0.01 0.05 1 1"
faithful "$captures/office-hosts.pcapng" "0.02 0.01 0.05 0.10 0.10" --idle 2 --history 4
faithful "$captures/replay-20s.pcapng" "0.02 0.01 0.05 0.12 0.12"
if [ -r "$models/office-summary.txt" ]; then
    run "$program" --history auto "$models/office-summary.txt" -o "$work/auto.yaml"
    is "--history auto: status" $status 0
    like "--history auto: tells what it tried" "$errors" '^traffic-learn: --history 2: lengths and durations within 0\.'
    like "--history auto: a history of 2 to 6" "$(cat "$work/auto.yaml")" '^history: [2-6] '
fi

tap_done
