# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that look at what was sent with tshark. After tests/lib/end_to_end.sh; LAB_ADDRESS is the DC's.

# Skips the test where packets on loopback cannot be captured.
need_capture() {
    if ! tshark -i lo -a duration:1 -f "host $LAB_ADDRESS" -w "$TMPDIR/try" 2>/dev/null; then
        skip "everything" "packets on loopback cannot be captured"
        tap_done
    fi
    rm -f "$TMPDIR/try"
}

# captured COMMAND...: runs it while tshark listens; the capture is in $TMPDIR/pcap.
captured() {
    tshark -q -i lo -f "host $LAB_ADDRESS" -B 64 -s 0 -w "$TMPDIR/pcap" 2>"$TMPDIR/tshark" &
    local tshark=$!
    until grep -qi 'capturing on' "$TMPDIR/tshark"; do sleep 0.1; done
    sleep 0.5
    "$@"
    sleep 1
    kill -INT $tshark
    wait $tshark
    unlike "the capture is whole" "$(cat "$TMPDIR/tshark")" '[1-9][0-9]* packets? dropped'
    rm -f "$TMPDIR/tshark"
}

# dissected FIELD-OR-OPTION...: the capture, with the keys of $TMPDIR/keytab and the accounts' $password.
# shellcheck disable=SC2154 # password is the test's
dissected() {
    tshark -r "$TMPDIR/pcap" -o "kerberos.file:$TMPDIR/keytab" -o kerberos.decrypt:TRUE \
        -o "ntlmssp.nt_password:$password" "$@" 2>/dev/null
}
