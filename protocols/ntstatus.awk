# SPDX-License-Identifier: Apache-2.0
# Makes the table of names from the list of facts:
#     awk -f protocols/ntstatus.awk protocols/ntstatus.txt > protocols/ntstatus_names.h
BEGIN {
    print "/* SPDX-License-Identifier: Apache-2.0 */"
    print "/* Made from ntstatus.txt by ntstatus.awk; sorted by value. */"
    print "/* clang-format off */"
}
/^0x/ { printf "{%su, \"%s\"},\n", $1, $2 }
