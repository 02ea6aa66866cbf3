#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Looks into a result of --json: result.py FILE EXPRESSION... prints each Python expression's value on a line. The
file's fields are names; packet("ldap", "3") is the row of a packet type (zeros when it has none), sent_of("ldap", "3") how
many of it that were due inside the window were sent, causes() all causes of failures with their counts.
"""
import json
import sys

try:
    with open(sys.argv[1], encoding="utf-8") as file:
        fields = json.load(file)
except (OSError, ValueError) as error:
    sys.exit(f"no result: {error}")


def packet(protocol, opcode):
    for row in fields["packets"]:
        if (row["protocol"], row["opcode"]) == (protocol, opcode):
            return row
    return {"count": 0, "failed": 0, "causes": {}, "lag": {"counts": ""}}


def sent_of(protocol, opcode):
    return sum(int(pair.split(":")[1]) for pair in packet(protocol, opcode)["lag"]["counts"].split())


def causes():
    sums = {}
    for row in fields["packets"]:
        for cause, count in row["causes"].items():
            sums[cause] = sums.get(cause, 0) + count
    return sums


for expression in sys.argv[2:]:
    value = eval(expression, {"packet": packet, "sent_of": sent_of, "causes": causes, **fields})  # the tests' own text
    print(int(value) if isinstance(value, bool) else value)
