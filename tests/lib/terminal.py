#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py QUESTION KEYS-OR-SIGNAL COMMAND...: runs the command on a new terminal. When the
question appears, types the keys (\\xNN for control characters) or sends the signal (SIGTERM).
Prints what the terminal showed, then "status N" and whether the terminal echoes at the end."""
import os, pty, select, signal, sys, termios, time

question, answer, command = sys.argv[1].encode(), sys.argv[2], sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
seen, sent, deadline = b"", False, time.monotonic() + 20
while time.monotonic() < deadline:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    if not sent and question in seen:
        sent = True
        if answer.startswith("SIG"):
            os.kill(child, getattr(signal, answer))
        else:
            os.write(terminal, answer.encode().decode("unicode_escape").encode())
if time.monotonic() >= deadline:
    os.kill(child, signal.SIGKILL)
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(seen.replace(b"\r\n", b"\n"))
print("\nstatus", os.waitstatus_to_exitcode(status))
