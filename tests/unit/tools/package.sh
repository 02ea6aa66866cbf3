#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
#
# The tarball and the Debian package, made from a clean clone.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
make_work
export TMPDIR=$work
version=$(sed -n 's/^VERSION := //p' Makefile)
unset BUILD MAKEFLAGS SAN

git clone -q . "$work/clone" || exit 1
cd "$work/clone" || exit 1
make -s dist
holds "a tarball is made" mv "build/traffic-replay-$version.tar.gz" "$work/first.tar.gz"
touch README.md
make -s dist
holds "the second one has the same bytes" cmp "build/traffic-replay-$version.tar.gz" "$work/first.tar.gz"
is "it holds the files of the commit" \
    "$(tar -tf "$work/first.tar.gz" | sed -n "s,^traffic-replay-$version/\(.*[^/]\)$,\1,p" | sort)" "$(git ls-files | sort)"
is "debian/changelog has the version of the Makefile" "$(dpkg-parsechangelog -S Version)" "$version"

DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" make -s package >"$work/log" 2>&1
tap $? "the package is built" "$(tail -n 20 "$work/log")"
run lintian --fail-on error,warning --allow-root "build/package/"*.changes
is "lintian has nothing to say" "$status $output" "0 "
dpkg-deb -x build/package/traffic-replay_*.deb "$work/root"
for name in traffic-replay traffic-sweep traffic-summary traffic-learn; do
    like "$name starts" "$("$work/root/usr/bin/$name" --version)" "^$name $version"
    [ -s "$work/root/usr/share/man/man1/$name.1.gz" ] && [ -s "$work/root/usr/share/bash-completion/completions/$name" ] &&
        [ -s "$work/root/usr/share/zsh/site-functions/_$name" ]
    tap $? "$name has a manual page and completion"
done
unlike "no folder of the build is in the program" "$("$work/root/usr/bin/traffic-replay" --version)" "$work"
run "$work/root/usr/bin/traffic-replay" --dry-run -D 5 "$work/root/usr/share/traffic-replay/examples/office.yaml"
is "it plans an installed example" "$status" 0

tap_done
