#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Captures for tests/unit/model/learn.sh, written byte by byte: secret.pcap, where every name and value is a secret; its two
halves; names.pcap with DNS only; captures with faults, such as a lost segment; nothing.pcap without any traffic of a domain controller.

usage: learn_captures.py FOLDER
"""
import os
import struct
import sys

CLIENT, SERVER = bytes([10, 9, 8, 7]), bytes([10, 9, 8, 1])


def tlv(tag, body):
    size = len(body)
    length = bytes([size]) if size < 128 else bytes([0x82, size >> 8, size & 255])
    return bytes([tag]) + length + body


def text(value, tag=4):
    return tlv(tag, value.encode())


def number(value, tag=2):
    return tlv(tag, bytes([value]))


def equal(attribute, value):
    return tlv(0xA3, text(attribute) + text(value))


def search(message, base, scope, condition, attributes):
    request = text(base) + number(scope, 10) + number(0, 10) + number(0) + number(0) + tlv(1, b"\0") + condition
    request += tlv(0x30, b"".join(text(a) for a in attributes))
    return tlv(0x30, number(message) + tlv(0x63, request))


def done(message):
    return tlv(0x30, number(message) + tlv(0x65, number(0, 10) + text("secret matched") + text("secret error")))


def ip(source, target, payload, protocol):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0, source, target)
    total = sum(struct.unpack(">10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack(">H", 0xFFFF ^ total) + head[12:] + payload


class Stream:
    """One TCP connection to the server, its frames in a list."""

    def __init__(self, frames, port, vlan=False):
        self.frames, self.port, self.vlan = frames, port, vlan
        self.next = [1000, 5000]
        self.send(b"", 2)
        self.send(b"", 0x12, back=True)
        self.send(b"", 0x10)

    def send(self, data, flags=0x18, back=False):
        ports = (389, self.port) if back else (self.port, 389)
        segment = struct.pack(">HHIIBBHHH", *ports, self.next[back], self.next[not back], 0x50, flags, 8192, 0, 0) + data
        self.next[back] += len(data) + bool(flags & 2)
        packet = ip(*((SERVER, CLIENT) if back else (CLIENT, SERVER)), segment, 6)
        tag = b"\x81\0\0\x07" if self.vlan else b""
        self.frames.append(b"\2" * 6 + b"\4" * 6 + tag + b"\x08\0" + packet)

    def reply(self, data):
        self.send(data, back=True)


def datagram(port, payload, source=CLIENT, target=SERVER):
    udp = struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload
    return b"\2" * 6 + b"\4" * 6 + b"\x08\0" + ip(source, target, udp, 17)


def query(identifier, name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1)


def write(path, frames, first=0, keep=65535, jump=(0, 0)):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(frames):
            time = 1600000000 + first + i + (jump[1] if i >= jump[0] else 0)
            kept = frame[:keep]
            out.write(struct.pack("<IIII", time, 0, len(kept), len(frame)) + kept)


def secrets():
    frames = []
    substrings = tlv(0xA4, text("displayName") + tlv(0x30, tlv(0x80, b"Secret, first") + tlv(0x82, b"SECRET")))
    extensible = tlv(0xA9, tlv(0x81, b"1.2.840.113556.1.4.803") + tlv(0x82, b"userAccountControl") + tlv(0x83, b"topsy"))
    condition = tlv(0xA0, equal("objectClass", "user") + tlv(0xA1, equal("sAMAccountName", "sekret") + substrings) +
                    tlv(0x87, b"member") + extensible)
    frames.append(datagram(53, query(7, "secret.secret.example")))
    clear = Stream(frames, 40001)
    clear.send(tlv(0x30, number(1) + tlv(0x60, number(3) + text("CN=secret,DC=sekret") + text("topsysecret", 0x80))))
    clear.reply(tlv(0x30, number(1) + tlv(0x61, number(0, 10) + text("") + text(""))))
    clear.send(search(2, "OU=Secret,DC=sekret,DC=example", 2, condition, ["cn", "mail"]))
    clear.reply(done(2))
    # Two in one frame, and one over three frames, in a VLAN.
    tagged = Stream(frames, 40002, vlan=True)
    tagged.send(search(3, "DC=secret", 1, equal("cn", "secret|(sekret)\t\x1e\x1d,"), ["a"]) +
                search(4, "", 0, tlv(0x87, b"objectClass"), ["b"]))
    tagged.reply(done(3) + done(4))
    large = search(5, "CN=secret,DC=x", 0, equal("objectCategory", "CN=secret,CN=Schema,DC=sekret"),
                   [f"attribute{i}" for i in range(100)])
    for at in range(0, len(large), 700):
        tagged.send(large[at:at + 700])
    tagged.reply(done(5))
    tagged.send(tlv(0x30, number(6) + tlv(0x4A, b"CN=secret,DC=sekret")))
    return frames


def searches():
    """Five searches and an unbind, frame by frame: three of the handshake, ten, and one."""
    frames = []
    stream = Stream(frames, 40003)
    for message in range(2, 7):
        stream.send(search(message, "DC=x", 0, equal("cn", "y" * 40), ["cn"]))
        stream.reply(done(message))
    stream.send(tlv(0x30, number(7) + tlv(0x42, b"")))
    return frames


def faults(folder):
    frames = searches()
    write(os.path.join(folder, "lost.pcap"), frames[:5] + frames[6:])
    late = frames[:3]
    for i in range(3, 13, 2):
        late += [frames[i + 1], frames[i]]
    write(os.path.join(folder, "late.pcap"), late + frames[13:])
    write(os.path.join(folder, "twice.pcap"), frames[:6] + [frames[3]] + frames[6:])
    write(os.path.join(folder, "one.pcap"), frames[:4])
    control = []
    stream = Stream(control, 40004)
    stream.send(search(2, "CN=a\x1db\x1ec,DC=x", 0, equal("cn", "\x1d"), ["cn"]))
    stream.reply(done(2))
    write(os.path.join(folder, "control.pcap"), control)
    other = datagram(53, query(9, "www.example"), target=bytes([10, 9, 8, 2]))
    write(os.path.join(folder, "other.pcap"), [other, datagram(53, query(9, "www.example"))])
    write(os.path.join(folder, "garbage.pcap"), frames)
    with open(os.path.join(folder, "garbage.pcap"), "ab") as out:
        out.write(b"\xff" * 40)
    write(os.path.join(folder, "short-frames.pcap"), frames, keep=110)
    write(os.path.join(folder, "days.pcap"), frames[:12] + frames[12:], jump=(12, 86390))
    write(os.path.join(folder, "back.pcap"), frames, jump=(8, -3600))
    # Five clients behind one address: their connections take turns.
    shared = []
    streams = [Stream(shared, 40010 + i) for i in range(5)]
    for message in range(2, 5):
        for stream in streams:
            stream.send(search(message, "DC=x", 0, equal("cn", "y"), ["cn"]))
            stream.reply(done(message))
    write(os.path.join(folder, "shared.pcap"), shared)
    odd = []
    stream = Stream(odd, 40020)
    stream.send(search(2, "DC=x", 0, equal("cn", "y"), ["cn", "10.1.2.3", "alice.private", "msDS-x;range=0-*", "1.2.840.1"]))
    stream.reply(done(2))
    stream.send(tlv(0x30, number(3) + tlv(0x77, tlv(0x80, b"1.3.6.1.4.1.1466.101.119.1"))))
    stream.send(tlv(0x30, number(4) + tlv(0x77, tlv(0x80, b"1.3.6.1.4.1.1466.20037"))))
    write(os.path.join(folder, "odd.pcap"), odd)


def main(folder):
    faults(folder)
    frames = secrets()
    write(os.path.join(folder, "secret.pcap"), frames)
    write(os.path.join(folder, "first-half.pcap"), frames[:8])
    write(os.path.join(folder, "second-half.pcap"), frames[8:], 8)
    write(os.path.join(folder, "names.pcap"), [datagram(53, query(i, "www.example")) for i in range(3)])
    write(os.path.join(folder, "nothing.pcap"), [datagram(9999, b"nothing"), b"\xff" * 12 + b"\x08\x06" + bytes(28)])


main(sys.argv[1])
