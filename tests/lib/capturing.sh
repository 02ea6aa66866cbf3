# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that read with tshark what was sent. Source tests/lib/end_to_end.sh first.

# start_captured_dc HOST [OPTION...]: a DC of this test only, whose clients have the $password: tshark needs it to read
# what NTLM has sealed. Skips the test where packets on loopback cannot be captured.
start_captured_dc() {
    own_dc "$1"
    shift
    need_capture
    password=Fixed-Password.4711
    lab/dc start "$@" || exit 1
    eval "$(lab/dc env)"
    # shellcheck disable=SC2034 # read by play
    dc_address=$LAB_ADDRESS
}

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
    # Frames that different processors handled can be in the wrong order, and tshark wants a bind before its calls.
    reordercap "$TMPDIR/pcap" "$TMPDIR/sorted" >/dev/null && mv "$TMPDIR/sorted" "$TMPDIR/pcap"
}

# dissected FIELD-OR-OPTION...: the capture, with the keys of $TMPDIR/keytab and the accounts' $password.
dissected() {
    tshark -r "$TMPDIR/pcap" -o "kerberos.file:$TMPDIR/keytab" -o kerberos.decrypt:TRUE \
        -o "ntlmssp.nt_password:$password" "$@" 2>/dev/null
}
