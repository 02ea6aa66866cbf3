#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of two made-up sweeps, which the pages of tests/html/check show: sweeps.py RESULT FOLDER"""
import copy
import json
import os
import random
import sys

source, folder = sys.argv[1:]
base = json.load(open(source))
random.seed(1)
WINDOW = 10


def run(r, s, repeat, prefork, limit, start):
    """One run: the server keeps up until its limit, then it fails more and more."""
    planned = round(12 * r * s * WINDOW * random.gauss(1, 0.01))
    top = round(limit * WINDOW * random.gauss(1, 0.04))
    ok = min(planned, top)
    failed = (planned - ok) // 2
    sent = ok + failed
    result = copy.deepcopy(base)
    result.update(r=float(r), S=float(s), seed=str(repeat), window=float(WINDOW), nominal=12.0 * r * s, planned=planned,
                  sent=sent, not_sent=planned - sent, ok=ok, failed=failed, done_ok=ok, done_failed=failed, start=start,
                  model="office.yaml", model_sha256="2361d4765f95ca06" * 4, dc="dc1=127.88.0.1",
                  command=f"traffic-replay --yes -r {r} -S {s} office.yaml dc1=127.88.0.1",
                  labels={"prefork": str(prefork), "repeat": str(repeat)}, busy=0.1 + 0.2 * r / 16, timer_p99=0.0002)
    packet = result["packets"][0]
    time = int(5e6 * (1 + max(0, planned / top - 0.5) * 8) * random.uniform(0.9, 1.1))
    bucket = 0
    while (64 + bucket % 64) * 2 ** (3 + bucket // 64) < time:
        bucket += 1
    times = {"min": time, "max": time, "sum": float(time * 100), "rule": "log2/64 from 512 ns",
             "counts": f"{bucket - 1}:100"}
    packet.update(count=sent, failed=failed, planned=planned, no_answer=0, service=times, response=times,
                  causes={"timed out": failed} if failed else {})
    result["packets"] = [dict(packet, protocol=name, opcode="3", count=0, failed=0, planned=0, causes={})
                         for name in ("cldap", "dns", "kerberos", "smb2")] + [dict(packet, protocol="ldap", opcode="3")]
    result["seconds"] = [{"t": 0, "planned": planned, "ok": ok, "failed": failed, "p95": None}]
    result["samples"] = [
        {"t": float(t), "cpu": 100 + 1.7 * t, "memory": 4.1e8 + 1e6 * t, "read": 1e9, "written": 2e9 + 3e6 * t, "cores": 2,
         "processes": 41, "processes.ldap": 2 + t // 3, "processes.kdc": 1 + t // 5, "processes.smbd": 1 + t // 2,
         "processes.rpc": 3, "processes.tfork": 18} for t in range(0, WINDOW + 1, 2)]
    return result


for name, factor in ("sweep", 1), ("other", 0.85):
    os.makedirs(f"{folder}/{name}")
    number = 0
    for prefork, limit in (1, 250), (4, 420):
        for r in 4, 8, 16:
            for s in 1, 2, 4:
                for repeat in 1, 2, 3:
                    number += 1
                    with open(f"{folder}/{name}/{number}.json", "w") as out:
                        json.dump(run(r, s, repeat, prefork, limit * factor, 1.7e9 + 100 * number + (factor < 1)), out)
