#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
#
# SMB2, and RPC over SMB2 and TCP, against a domain controller in each of its configurations: dialects, ciphers, signing
# algorithms, encryption and signing required, NTLM refused; and LDAP binds with SASL inside TLS.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

make_work
export TMPDIR=$work
own_dc 2.1

# plays NAME SETTINGS OPTION...: all of test_smb2 on a DC started with these options. SETTINGS are
# variables for test_smb2.
plays() {
    local name=$1 settings=$2 options=()
    shift 2
    for option in "$@"; do
        options+=(--option "$option")
    done
    lab/dc kill >/dev/null 2>&1 # quicker than its orderly end
    run lab/dc start "${options[@]}"
    is "$name: the DC starts" "$status" 0 || { echo "# $errors"; return; }
    # shellcheck disable=SC2086
    run env $settings TRAFFIC_REPLAY_TIMES=2 "$BUILD/tests/dc/test_smb2"
    is "$name" "$status" 0 || echo "# ${errors//$'\n'/$'\n# '}"
}

# plays_rpc NAME SETTINGS OPTION...: and all of test_rpc.
plays_rpc() {
    plays "$@"
    # shellcheck disable=SC2086
    run env $2 TRAFFIC_REPLAY_TIMES=2 "$BUILD/tests/dc/test_rpc"
    is "$1: RPC" "$status" 0 || echo "# ${errors//$'\n'/$'\n# '}"
}

run lab/dc start
is "the first start" "$status" 0 || exit 1
eval "$(lab/dc env)"
# HMAC-SHA256 is never left out: without it Samba refuses the SMB1 negotiate, which leads to 2.x first.
D=TRAFFIC_REPLAY_DIALECT C=TRAFFIC_REPLAY_CIPHER S=TRAFFIC_REPLAY_SIGNING

plays "2.0.2" "$D=0x0202 $C=0 $S=0" 'server max protocol=SMB2_02'
plays "2.1" "$D=0x0210 $C=0 $S=0" 'server max protocol=SMB2_10'
plays "3.0" "$D=0x0300 $C=1 $S=1" 'server max protocol=SMB3_00'
plays "3.0.2" "$D=0x0302 $C=1 $S=1" 'server max protocol=SMB3_02'
plays_rpc "3.1.1 alone, AES-256-GCM, AES-CMAC" "$D=0x0311 $C=4 $S=1" 'server min protocol=SMB3_11' \
    'server smb3 encryption algorithms=AES-256-GCM' 'server smb3 signing algorithms=AES-128-CMAC, HMAC-SHA256'
plays "AES-256-CCM, HMAC-SHA256" "$C=3 $S=0" 'server smb3 encryption algorithms=AES-256-CCM' \
    'server smb3 signing algorithms=HMAC-SHA256'
plays "AES-128-CCM, AES-GMAC" "$C=1 $S=2" 'server smb3 encryption algorithms=AES-128-CCM' \
    'server smb3 signing algorithms=AES-128-GMAC, HMAC-SHA256'
plays_rpc "signing is mandatory" "" 'server signing=mandatory'
plays "signing is disabled" "" 'server signing=disabled'
plays_rpc "encryption is required" "$C=2" 'smb encrypt=required'
plays "encryption is required in 3.0" "$D=0x0300" 'smb encrypt=required' 'server max protocol=SMB3_00'
plays_rpc "NTLM is refused" "TRAFFIC_REPLAY_NTLM=refused" 'ntlm auth=disabled'
run "$BUILD/traffic-replay" --yes tests/data/smb-rpc.yaml "$TRAFFIC_REPLAY_DC"
like "NTLM is refused: the remedy is printed" "$errors" 'NTLM is disabled\); use -K for Kerberos'
plays_rpc "anonymous is restricted" "" 'restrict anonymous=2'

# plays_sasl_in_tls OPTION: SASL binds by LDAPS and StartTLS, with NTLM or Kerberos.
plays_sasl_in_tls() {
    run "$BUILD/traffic-replay" --yes --warmup 1 -D 3 -r 2 "$@" tests/data/sasl-in-tls.yaml "$TRAFFIC_REPLAY_DC"
    is "SASL inside TLS $*" "$status" 0 || echo "# ${errors//$'\n'/$'\n# '}"
    like "SASL inside TLS $*: nothing fails" "$output" '^Failed operations: +0 '
}
run "$BUILD/traffic-replay" --yes --warmup 0 -D 3 -r 2 tests/data/sasl-in-tls.yaml "$TRAFFIC_REPLAY_DC"
like "SASL inside TLS is refused by default" "$output" 'strongerAuthRequired \(SASL inside TLS\)'
like "SASL inside TLS is refused: the remedy is printed" "$errors" 'allow_sasl_over_tls'
lab/dc kill >/dev/null 2>&1
run lab/dc start --option 'ldap server require strong auth=allow_sasl_over_tls'
is "SASL inside TLS: the DC starts" "$status" 0
plays_sasl_in_tls
plays_sasl_in_tls -K

tap_done
