# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Part of lab/dc: creates the domain.

provision() {
    [ ! -e "$marker" ] || say "the provision in $dir was interrupted; starting over"
    address=${address:-$DEFAULT_ADDRESS} netbios_name=${netbios_name:-$DEFAULT_NAME}
    # The lock file stays: other processes may be waiting for it.
    find "$dir" -mindepth 1 -maxdepth 1 ! -name traffic-replay-lab ! -name lock-file -exec rm -rf {} + &&
        : >"$marker" && mkdir -p "$dir/log" "$dir/etc" || die "cannot write to $dir"
    make_password
    # Its processes keep the lock: when this script is killed, the next one waits for them to end.
    if ! provision_steps >"$dir/log/provision.log" 2>&1; then
        if grep -q "invalid choice: '$function_level'" "$dir/log/provision.log"; then
            die "this version of Samba has no --function-level $function_level; choose a newer --release, such as trixie"
        fi
        die "cannot create the domain; last lines of $dir/log/provision.log:
$(tail -n 15 "$dir/log/provision.log")"
    fi
    printf '%s\n' "$address" "$release" "$netbios_name" "$function_level" >"$made"
}

provision_steps() {
    # samba-tool prints a password; it is replaced at once, and kept out of the log anyway.
    local level=()
    [ -z "$function_level" ] ||
        level=("--function-level=$function_level" --option="ad dc functional level = $function_level")
    "${enter[@]}" samba-tool domain provision --server-role=dc --use-rfc2307 --dns-backend=SAMBA_INTERNAL \
        --realm=$REALM --domain=$DOMAIN --host-name="${netbios_name,,}" --host-ip="$address" --targetdir="$dir" \
        --option="interfaces=$address/8" --option="bind interfaces only=yes" "${level[@]}" 2>&1 |
        grep -v 'Admin password'
    [ "${PIPESTATUS[0]}" = 0 ] || return 1
    mkdir -p "$dir/run" "$dir/lock" "$dir/cache" "$dir/ncalrpc" "$dir/ntp_signd" "$dir/scratch" &&
        chmod 1777 "$dir/scratch" && chmod 750 "$dir/ntp_signd" && write_kept_conf && write_krb5_conf &&
        relax_policy && set_password
}

write_kept_conf() {
    cat >"$kept_conf" <<CONF
[global]
    netbios name = $netbios_name
    realm = $REALM
    workgroup = $DOMAIN
    server role = active directory domain controller
    idmap_ldb:use rfc2307 = yes
${function_level:+    ad dc functional level = $function_level
}    interfaces = $address/8
    bind interfaces only = yes
    dns forwarder =
    private dir = $dir/private
    binddns dir = $dir/bind-dns
    state directory = $dir/state
    cache directory = $dir/cache
    lock directory = $dir/lock
    pid directory = $dir/run
    ncalrpc dir = $dir/ncalrpc
    ntp signd socket directory = $dir/ntp_signd
    log file = $dir/log/log.samba
    max log size = 20000
    max open files = $OPEN_FILES
    load printers = no
    printing = bsd
    printcap name = /dev/null
    disable spoolss = yes
[sysvol]
    path = $dir/state/sysvol
    read only = no
[netlogon]
    path = $dir/state/sysvol/${REALM,,}/scripts
    read only = no
[scratch]
    path = $dir/scratch
    read only = no
CONF
}

write_krb5_conf() {
    cat >"$krb5_conf" <<CONF
[libdefaults]
    default_realm = $REALM
    dns_lookup_realm = false
    dns_lookup_kdc = false
    dns_canonicalize_hostname = false
    rdns = false
[realms]
    $REALM = {
        kdc = $address
        kpasswd_server = $address
        default_domain = ${REALM,,}
    }
[domain_realm]
    .${REALM,,} = $REALM
    ${REALM,,} = $REALM
CONF
    printf 'nameserver %s\nsearch %s\n' "$address" "${REALM,,}" >"$dir/etc/resolv.conf"
}

# It is read from files, never passed as an argument that a process list shows.
make_password() {
    local password
    if [ -n "$given_password_file" ]; then
        IFS= read -r password <"$given_password_file" || [ -n "$password" ] || die "cannot read $given_password_file"
    else
        password=$(head -c 200 /dev/urandom | base64 -w 0 | tr -dc 'A-Za-z0-9' | head -c 24)
        [ ${#password} = 24 ] || die "cannot read /dev/urandom"
        password=$password-Lab7 # the default policy requires character classes that a random password may lack
    fi
    (umask 077 && printf '%s\n' "$password" >"$password_file" &&
        printf 'username = Administrator\npassword = %s\ndomain = %s\n' "$password" "$DOMAIN" >"$auth_file")
}

set_password() {
    "${enter[@]}" /usr/bin/python3 - "$kept_conf" "$password_file" <<'PYTHON'
import sys
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

lp = LoadParm()
lp.load(sys.argv[1])
database = SamDB(url=lp.samdb_url(), session_info=system_session(), lp=lp)
with open(sys.argv[2]) as password:
    database.setpassword("(sAMAccountName=Administrator)", password.read().strip())
PYTHON
}

# For the accounts of a load generator: any password, no lock-out, no expiry.
relax_policy() {
    "${enter[@]}" samba-tool domain passwordsettings set -s "$kept_conf" -H "$dir/private/sam.ldb" --complexity=off \
        --history-length=0 --min-pwd-length=1 --min-pwd-age=0 --max-pwd-age=0 --account-lockout-threshold=0
}
