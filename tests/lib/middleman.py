#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
A server that misbehaves on demand: it listens at ADDRESS on the ports of a domain controller, passes everything
on to the real one at SERVER, and when SIGUSR1 comes turns into something else:

  mute     accepts connections, reads, and never answers again
  garbage  answers every request with random bytes
  reset    resets every connection at the next request
  flip     changes a bit in one piece of the server's answers of twenty, wherever it is
  cut      ends the connection in the middle of one piece of twenty
  twice    sends one piece of twenty twice
  late     sends one piece of twenty behind the next one, or a second later

Without SERVER it is that something from the start. Prints "ready" once it listens.

usage: middleman.py mute|garbage|reset|flip|cut|twice|late ADDRESS [SERVER]
"""
import asyncio
import random
import signal
import socket
import struct
import sys

TCP_PORTS = (53, 88, 135, 389, 445, 464, 636, 3268, 3269) + tuple(range(49152, 49160))
UDP_PORTS = (53, 88, 137, 389, 464)

kind, address = sys.argv[1:3]
server = sys.argv[3] if len(sys.argv) > 3 else None
bad = turned = server is None
rng = random.Random(1)


def garbage():
    return rng.randbytes(rng.randint(1, 300))


def misbehave(writer):
    if kind == "garbage":
        writer.write(garbage())
    elif kind == "reset":
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


DAMAGES = ("flip", "cut", "twice", "late")
damages = kind in DAMAGES
bad = bad and not damages
ODDS = 20


class Damage:
    """Of one connection's answers, from the turn on."""

    def __init__(self, writer):
        self.writer, self.held = writer, None

    def release(self):
        if self.held and not self.writer.is_closing():
            self.writer.write(self.held)
        self.held = None

    def write(self, data):
        if not turned or rng.randrange(ODDS):
            self.writer.write(data)
            self.release()
        elif kind == "flip":
            changed = bytearray(data)
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            self.writer.write(bytes(changed))
        elif kind == "cut":
            self.writer.write(data[:rng.randrange(len(data))])
            self.writer.close()
        elif kind == "twice":
            self.writer.write(data + data)
        else:
            self.release()
            self.held = data
            asyncio.get_running_loop().call_later(1, self.release)


async def pump(reader, writer, from_client, client):
    damage = None if from_client else Damage(writer)
    try:
        while data := await reader.read(65536):
            if damages and damage:
                damage.write(data)
                await writer.drain()
            elif not bad:
                writer.write(data)
                await writer.drain()
            elif from_client:
                misbehave(client)
    except (ConnectionError, OSError):
        pass
    finally:
        if writer is not None and not bad:
            writer.close()


async def serve(reader, writer):
    back_reader = back_writer = None
    if not bad:
        try:
            port = writer.get_extra_info("sockname")[1]
            back_reader, back_writer = await asyncio.open_connection(server, port)
        except OSError:
            writer.transport.abort()
            return
    pumps = [pump(reader, back_writer, True, writer)]
    if back_reader is not None:
        pumps.append(pump(back_reader, writer, False, writer))
    await asyncio.gather(*pumps)
    for end in (writer, back_writer):
        if end is not None:
            end.close()


class Datagrams(asyncio.DatagramProtocol):
    """One upstream socket a client, so that answers find their way back."""

    def __init__(self, port):
        self.port, self.upstream = port, {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, client):
        if bad:
            if kind == "garbage":
                self.transport.sendto(garbage(), client)
            return
        asyncio.ensure_future(self.forward(data, client))

    async def forward(self, data, client):
        if client not in self.upstream:
            front = self.transport

            class Back(asyncio.DatagramProtocol):
                def datagram_received(self, answer, _):
                    if not bad:
                        front.sendto(answer, client)

            self.upstream[client], _ = await asyncio.get_running_loop().create_datagram_endpoint(
                Back, remote_addr=(server, self.port))
        self.upstream[client].sendto(data)


async def main():
    loop = asyncio.get_running_loop()

    def turn():
        global bad, turned
        bad, turned = not damages, True

    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, turn)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.set_exception_handler(lambda *_: None)
    for port in TCP_PORTS:
        await asyncio.start_server(serve, address, port, backlog=512)
    for port in UDP_PORTS:
        await loop.create_datagram_endpoint(lambda port=port: Datagrams(port), local_addr=(address, port))
    print("ready", flush=True)
    await ended.wait()


asyncio.run(main())
