# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Part of lab/dc: whether the DC answers. No setting of a --option may keep a DC that works from counting as ready.

client() { timeout 15 "${enter[@]}" "$@" 9>&-; }

# The rootDSE needs no credentials: NTLM and simple binds may be disabled. Kerberos checks the password.
ldap_answers() { client ldapsearch -LLL -x -H "ldap://$address" -s base -b '' dnsHostName; }
ldaps_answers() {
    [ "$(client testparm -s --parameter-name='tls enabled' "$conf" 2>/dev/null)" = No ] ||
        LDAPTLS_REQCERT=never client ldapsearch -LLL -x -H "ldaps://$address" -s base -b '' dnsHostName
}
kerberos_answers() {
    KRB5_CONFIG=$krb5_conf client kinit -c MEMORY: "Administrator@$REALM" <"$password_file"
}
# The answer of a DC with "ntlm auth = disabled". Kerberos is no alternative here: it needs a name that these
# programs cannot look up.
refuses_ntlm() { [[ $1 == *NT_STATUS_NTLM_BLOCKED* ]]; }
smb_answers() {
    local answer
    answer=$(client smbclient -s "$conf" -A "$auth_file" --use-kerberos=off "//$address/scratch" -c 'ls' 2>&1) ||
        refuses_ntlm "$answer" || { echo "$answer" && false; }
}
rpc_answers() {
    local answer
    if answer=$(client rpcclient -s "$conf" -A "$auth_file" --use-kerberos=off "$address" -c lsaquery 2>&1); then
        client rpcclient -s "$conf" -A "$auth_file" --use-kerberos=off "ncacn_ip_tcp:${address}[sign]" \
            -c querydominfo
    elif refuses_ntlm "$answer"; then
        client bash -c "exec 3<>/dev/tcp/$address/135"
    else
        echo "$answer" && false
    fi
}
dns_answers() {
    /usr/bin/python3 - "$address" "$(dc_name)" <<'PYTHON'
import socket, sys
question = b"".join(bytes([len(label)]) + label.encode() for label in sys.argv[2].split("."))
query = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
query.settimeout(5)
query.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0" + question + b"\0\0\1\0\1", (sys.argv[1], 53))
answer = query.recv(512)
sys.exit(0 if answer[3] & 15 == 0 and answer[7] > 0 else "DNS reply code %d" % (answer[3] & 15))
PYTHON
}
