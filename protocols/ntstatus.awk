# SPDX-License-Identifier: Apache-2.0
# Turns ntstatus.txt into the rows of ntstatus.c's table. The Makefile runs it.
BEGIN { print "/* Generated from protocols/ntstatus.txt by protocols/ntstatus.awk. */" }
/^0x/ { printf "{%su, \"%s\"},\n", $1, $2 }
