#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
#
# SMB2 and RPC as tshark decrypts them with the DC's keys: each command and each opnum is in the capture as often as in
# the report, and no packet is malformed. With NTLM and with Kerberos.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/end_to_end.sh
. tests/lib/end_to_end.sh
# shellcheck source=tests/lib/capturing.sh
. tests/lib/capturing.sh

start_captured_dc 8.1
# shellcheck disable=SC2034 # read by play
model=tests/data/smb-rpc.yaml

# tshark distinguishes secure channels by address, so each client has a separate one.
play_all() {
    play --source $own_net.9.0/24 -F "$password" --smb-share scratch --allow-replication -S 0.4 --warmup 0 -D 14 --timeout 20 \
        --latency-timeout 15 "$@"
}

# requests FILTER FIELD...: the fields of what was sent to the DC.
requests() {
    local filter=$1 fields=()
    shift
    for field in "$@"; do fields+=(-e "$field"); done
    dissected -Y "ip.dst == $LAB_ADDRESS && ($filter)" -T fields "${fields[@]}"
}

# An interface's requests since the plan's start: "opnum: count" lines.
opnums() {
    requests "frame.time_epoch >= $(value start) && $1 && dcerpc.pkt_type == 0" dcerpc.opnum |
        tr ',' '\n' | sort -n | uniq -c | awk 'NF == 2 { print $2 ": " $1 }'
}
# The same of SMB2 requests: one frame may hold several.
commands() {
    requests "frame.time_epoch >= $(value start) && smb2.flags.response == 0" smb2.cmd |
        tr ',' '\n' | sort -n | uniq -c | awk 'NF == 2 { print $2 ": " $1 }'
}

# What was reported of a protocol: the same lines. Where another packet brings requests along, they are added.
reported() {
    value "'\n'.join('%s: %d' % (p['opcode'], n) for p in sorted(packets, key=lambda p: int(p['opcode'], 0))
        if p['protocol'] == '$1' and (n := sent_of(p['protocol'], p['opcode']) + {$2}.get(p['opcode'], 0)))"
}

# What tshark cannot judge: it takes two reference pointers of netlogon (the server's name of NetrLogonGetCapabilities, the
# account's of NetrServerPasswordSet2) for unique ones, passes over the array of SAMR's LookupRids, and of what NTLM seals
# within SPNEGO it reads the first message alone. Samba's own client looks the same. With Kerberos all else can be read.
judged='!(rpc_netlogon && (dcerpc.opnum == 21 || dcerpc.opnum == 30)) && !(samr && dcerpc.opnum == 18)'
judged+=' && !(dcerpc.auth_type == 9 && ntlmssp.verf)'
# It knows DRS_EXTENSIONS_INT (MS-DRSR 5.39) up to 48 bytes, and remarks on the 52 bytes with dwExtCaps.
remarks='_ws.expert.severity >= 0x600000 && !(_ws.expert.group == "Sequence")'
remarks+=' && !(drsuapi && dcerpc.opnum == 0 && _ws.expert.message == "Long frame")'

# good NAME: of the last run and its capture.
good() {
    run_is_good "$1"
    is "$1: nothing is malformed" "$(requests "_ws.malformed && $judged" frame.number _ws.col.Info | head -n 5)" ""
    is "$1: nothing is remarkable" \
        "$(requests "$remarks && $judged" \
            frame.number _ws.col.Info _ws.expert.message | head -n 5)" ""
}

# seen NAME: each packet of the model is on the wire, as often as it was reported.
seen() {
    [ "$status" = 0 ] || return
    local protocol command count wanted=
    # NetrServerPasswordSet2 sets another password, then the machine's own.
    is "$1: rpc_netlogon's opnums" "$(opnums rpc_netlogon)" \
        "$(reported rpc_netlogon "'30': sent_of('rpc_netlogon', '30')")"
    is "$1: lsarpc's opnums" "$(opnums lsarpc)" "$(reported lsarpc)"
    is "$1: samr's opnums" "$(opnums samr)" "$(reported samr)"
    is "$1: srvsvc's opnums" "$(opnums srvsvc)" "$(reported srvsvc)"
    # GetNCChanges is sent as administrator, after a separate DsBind.
    is "$1: drsuapi's opnums" "$(opnums drsuapi)" "$(reported drsuapi "'0': sent_of('drsuapi', '3')")"
    like "$1: the endpoint mapper is asked" "$(opnums epm)" '^3: '
    for protocol in rpc_netlogon:11 lsarpc:10 samr:24 srvsvc:3 drsuapi:5; do
        value_is "$1: packets of ${protocol%:*} in the model" \
            "sum(p['protocol'] == '${protocol%:*}' for p in packets)" "${protocol#*:}"
    done
    commands >"$TMPDIR/commands"
    for command in 0 1 2 3 4 5 6 8 9 11 13 14 16; do
        count=$(awk -v c="$command:" '$1 == c { print $2 }' "$TMPDIR/commands")
        wanted=$(value "sent_of('smb2', '$command')")
        [ "$wanted" -gt 0 ] && [ "${count:-0}" -ge "$wanted" ]
        tap $? "$1: SMB2 command $command" "$count on the wire, $wanted reported"
    done
    # Those that no other packet brings along.
    for command in 2 4 9 13 14 16; do
        is "$1: SMB2 command $command, no more" \
            "$(awk -v c="$command:" '$1 == c { print $2 }' "$TMPDIR/commands")" "$(value "sent_of('smb2', '$command')")"
    done
    is "$1: SMB1's negotiate" "$(requests "frame.time_epoch >= $(value start) && smb.cmd == 0x72" frame.number | wc -l)" \
        "$(value "sent_of('smb', '0x72')")"
    rm -f "$TMPDIR/commands"
}

# The accounts come first, so that the keys can be read.
play_all -D 1
holds "keys" lab/dc keytab "$TMPDIR/keytab"

captured play_all
good "NTLM"
seen "NTLM"
captured play_all -K
good "Kerberos"
seen "Kerberos"
is "Kerberos: no NTLM" "$(requests "frame.time_epoch >= $(value start) && ntlmssp.messagetype" ntlmssp.messagetype)" ""
captured play_all --only smb2 --smb-encrypt
good "encrypted"
is "encrypted: nothing but the way there is in clear text" \
    "$(requests "frame.time_epoch >= $(value start) && smb2.header_len == 64 && !smb2.header.transform.signature" smb2.cmd |
        tr ',' '\n' | sort -n -u | tr '\n' ' ')" "0 1 "
tap_done
