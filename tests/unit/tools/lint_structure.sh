#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/lint-structure finds what it is there to find, and passes a tree that keeps the rules.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

tree=$TMPDIR/tree
at_exit "rm -rf '$tree'"

# fresh_tree: a small tree without a violation.
fresh_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"/{base,packets,protocols/ldap,model,replay,summary/result,tests/unit/model}
    echo '#include <stddef.h>' >"$tree/base/text.h"
    echo '#include "base/text.h"' >"$tree/protocols/stream.h"
    echo '#include "protocols/stream.h"' >"$tree/protocols/ldap/ldap.h"
    echo '#include "base/text.h"' >"$tree/model/chain_private.h"
    echo '#include "model/chain_private.h"' >"$tree/model/chain.c"
    echo '#include "model/chain_private.h"' >"$tree/tests/unit/model/test_chain.c"
    echo '#include "protocols/ldap/ldap.h"' >"$tree/replay/run.c"
    echo '#include "base/text.h"' >"$tree/summary/result/result.c"
}

# violation NAME LINE-OF-OUTPUT: the tree, changed by now, is refused with this line.
violation() {
    run tests/lint-structure "$tree"
    is "$1: exit status" "$status" 1
    like "$1: reported" "$output" "$2"
    fresh_tree
}

fresh_tree
run tests/lint-structure "$tree"
is "a tree that keeps the rules: exit status" "$status" 0
is "a tree that keeps the rules: no output" "$output$errors" ""

echo '#include "model/chain.h"' >"$tree/protocols/ldap/ldap.c"
violation "protocols includes model" '^protocols/ldap/ldap.c:1: protocols/ must not include model/chain.h$'
printf '/* first */\n#  include "protocols/stream.h"\n' >"$tree/model/plan.c"
violation "model includes protocols" '^model/plan.c:2: model/ must not include protocols/stream.h$'
echo '#include "replay/run.h"' >"$tree/summary/page.c"
violation "summary includes replay" '^summary/page.c:1: summary/ must not include replay/run.h$'
echo '#include "summary/page.h"' >"$tree/summary/result/result.c"
violation "the result includes the program that reads it" '^summary/result/result.c:1: summary/result/ must not include'
echo '#include "packets/table.h"' >"$tree/base/text.c"
violation "base includes packets" '^base/text.c:1: base/ must not include packets/table.h$'
echo '#include "protocols/stream.h"' >"$tree/packets/table.c"
violation "packets includes protocols" '^packets/table.c:1: packets/ must not include protocols/stream.h$'

echo '#include "model/chain_private.h"' >"$tree/replay/run.c"
violation "a private header from another room" '^replay/run.c:1: model/chain_private.h is private to model/'
echo >"$tree/protocols/ldap/ldap_private.h"
echo '#include "protocols/ldap/ldap_private.h"' >"$tree/protocols/stream.c"
violation "a private header from the folder above" '^protocols/stream.c:1: protocols/ldap/ldap_private.h is private'

echo '#include "protocols/ldap/ldap.h"' >"$tree/protocols/stream.c"
violation "a cycle between folders" 'modules of different folders include each other: protocols/ldap/ldap, protocols/stream$'
for i in 1 2 3 4 5; do
    echo "#include \"model/m$((i % 5 + 1)).h\"" >"$tree/model/m$i.h"
done
violation "a cycle of five modules" 'more than 4 modules include each other: model/m1, model/m2, model/m3, model/m4, model/m5$'
for i in 1 2 3 4; do
    echo "#include \"model/m$((i % 4 + 1)).h\"" >"$tree/model/m$i.h"
done
holds "a cycle of four modules of one folder is allowed" tests/lint-structure "$tree"
fresh_tree

yes '' | head -n 701 >"$tree/replay/long.c"
violation "a file of 701 lines" '^replay/long.c:701: longer than 700 lines$'
for i in {1..41}; do : >"$tree/summary/f$i.c"; done
violation "a folder of 41 files" '^summary:41: more than 40 files in one folder$'
printf 'fine\nwhat is wrong is told here\n' >"$tree/README.md"
violation "unclear English" '^README.md:2: unclear English: is told$'

tap_done
