# traffic-replay: how it is built, tested, measured and installed. See README.md.
#
# make           build the programs into $(BUILD)
# make deps      install the Debian packages that are missing (root; otherwise it says which)
# make demo      a small grid, played on a throwaway DC
# make check     everything that must hold: build, lint, tests, the tests under sanitizers, the lab's tests
# make bench     the figures, beside those of other programs on the same machine
# make lint      format, static checks, scripts, man pages
# make fuzz      every decoder, FUZZ_SECONDS (30) each
# make check-servers everything against Samba DCs of RELEASES (trixie), in default and stricter settings
# make check-build the build and the unit tests with the compiler and libraries of RELEASE (trixie)
# make check-html traffic-summary's pages in a browser, which it installs
# make man-table bring the table of details in traffic-model(5) up to date with packets/packet_table.c
# make format    apply .clang-format to every C file
# make coverage  line coverage of the unit tests, by folder, in build-coverage/
# make compile_commands.json  compiler commands for clangd and other tools
# make dist      build/traffic-replay-VERSION.tar.gz of the last commit, the same bytes each time
# make package   Debian packages of the last commit, in build/package/
# make install   programs, man pages, examples, completion scripts into $(DESTDIR)$(PREFIX)
#
# Knobs: V=1 (show commands), CC=clang, SAN=address,undefined (has a folder of its own), OPT, CFLAGS, LDFLAGS, BUILD=folder,
#        PREFIX, DESTDIR, FUZZ_SECONDS, RELEASES, SETTINGS, LAB_DIR and LAB_ADDRESS (lab/dc's --dir and --address)

comma := ,
SAN ?=
BUILD ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
PREFIX ?= /usr/local
DESTDIR ?=
OPT ?= -O2 -g
VERSION := 0.1.0

DEBIAN_BUILD := gcc make pkg-config libldap-dev libsasl2-dev libsasl2-modules-gssapi-mit libkrb5-dev \
	libyaml-dev libjansson-dev nettle-dev libgnutls28-dev zlib1g-dev
DEBIAN_LINT := clang clang-format cppcheck shellcheck mandoc
DEBIAN_TEST := libcmocka-dev libclang-rt-dev llvm libxml2-utils tshark valgrind python3 libcap2-bin procps zsh
DEBIAN_DC := $(shell cat lab/dc-packages)
DEBIAN_LAB := $(DEBIAN_DC) iproute2 util-linux debootstrap
DEBIAN_PACKAGE := debhelper dpkg-dev fakeroot lintian
DEBIAN_BENCH := slapd 389-ds-base samba-testsuite

PACKAGES := ldap lber libsasl2 krb5 krb5-gssapi yaml-0.1 jansson nettle hogweed gnutls zlib
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lresolv -lm -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
WERROR ?= -Werror
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
# Each function and table in a section, so that programs leave out those that they do not use.
SECTIONS := -ffunction-sections -fdata-sections
ALL_CFLAGS = -std=gnu11 $(OPT) $(SECTIONS) $(WARNINGS) $(WERROR) $(SANFLAGS) -pthread -D_GNU_SOURCE \
	-DTRAFFIC_VERSION='"$(VERSION)"' -I. -I$(BUILD) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SANFLAGS) -Wl,--gc-sections $(LDFLAGS)

# Every room is one library, made of one or more folders; a program is the one file that holds its main().
ROOMS := base packets protocols model replay result summary
folders_base := base base/files
folders_packets := packets
folders_protocols := protocols $(addprefix protocols/,auth kerberos ldap nbench smb2 rpc rpc/netlogon names)
folders_model := model model/learn model/loadfile
folders_replay := replay $(addprefix replay/,session engine accounts sweep sweep/search)
folders_result := summary/result
folders_summary := summary
FOLDERS := $(foreach room,$(ROOMS),$(folders_$(room)))
MAINS := $(wildcard $(FOLDERS:%=%/traffic-*.c))
PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(notdir $(MAINS)))
# Each library once, users before what they use: a call against the arrows does not link.
LIBS := $(foreach room,replay protocols model packets summary result base,$(BUILD)/lib$(room).a)

# Headers that the build makes; they are included by the path below $(BUILD).
GENERATED := $(BUILD)/protocols/ntstatus_names.h $(BUILD)/base/build_options.h

sources = $(filter-out $(MAINS),$(wildcard $(foreach folder,$(folders_$(1)),$(folder)/*.c)))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
programs_in = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))

# What tests share; linked to tests and fuzzers before everything else.
folders_tests := tests/lib tests/lib/servers tests/lib/windows
TEST_LIB := $(BUILD)/libtests.a
UNIT_TESTS := $(call programs_in,tests/unit/*/test_*.c)
DC_TESTS := $(call programs_in,tests/dc/test_*.c)
# A Windows DC for tests, in front of the lab's; it can be started by hand.
STANDIN := $(BUILD)/tests/windows-standin
FUZZERS := $(call programs_in,tests/fuzz/fuzz_*.c)
BENCHES := $(call programs_in,bench/bench_*.c)

C_FILES := $(wildcard $(foreach folder,$(FOLDERS) tests/unit/* $(folders_tests) tests tests/dc tests/fuzz bench,$(folder)/*.[ch]))
SCRIPTS := $(shell grep -lE '^.!/bin/(ba)?sh' .ci/* lab/* tests/* tests/*/* tests/unit/*/* bench/* 2>/dev/null)
MAN_PAGES := $(wildcard man/*.[15])

.PHONY: man-table all unit dc-tests benches fuzzers deps demo check check-servers check-build check-html bench lint format coverage fuzz install dist package clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:
all: $(LIBS) $(PROGRAMS)
unit: $(UNIT_TESTS)
dc-tests: $(DC_TESTS) $(STANDIN)
benches: $(BENCHES)

# --- Build ----------------------------------------------------------------------------------------

# V=1 shows the commands.
Q := $(if $(V),,@)
say := @$(if $(V),:,echo)

# A stamp file is written anew only when its text changes, so that what depends on it is made again when
# the compiler, its flags or the list of files have changed.
define stamp
$(BUILD)/$(1).stamp: FORCE
	$$(shell mkdir -p $$(@D))$$(file >$$@.new,$(2))
	@if cmp -s $$@.new $$@; then rm -f $$@.new; else mv $$@.new $$@; fi
endef
$(eval $(call stamp,compile,$$(CC) $$(ALL_CFLAGS)))
$(eval $(call stamp,link,$$(CC) $$(ALL_LDFLAGS) $$(PKG_LIBS)))

define room_library
$(call stamp,$(1),$(call objects,$(call sources,$(1))))
$(BUILD)/lib$(1).a: $(call objects,$(call sources,$(1))) $(BUILD)/$(1).stamp
	$$(say) "AR   $$@"
	$$(Q)rm -f $$@ && $(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach room,$(ROOMS) tests,$(eval $(call room_library,$(room))))

$(BUILD)/protocols/ntstatus_names.h: protocols/ntstatus.txt protocols/ntstatus.awk
	@mkdir -p $(@D)
	$(say) "AWK  $@"
	$(Q)awk -f protocols/ntstatus.awk protocols/ntstatus.txt >$@

# What --version prints. Maps of folder names in debug information are no option that anybody chose.
quoted = "$(subst ",\",$(1))"
BUILD_FLAGS := $(filter-out -ffile-prefix-map=% -fdebug-prefix-map=%,$(OPT) $(SANFLAGS) $(CFLAGS))
LIBRARIES := $(shell for package in $(PACKAGES); do echo "$$package $$(pkg-config --modversion $$package)"; \
	done 2>/dev/null | paste -s -d , | sed 's/,/, /g')
$(eval $(call stamp,build_options,$$(CC) $$(BUILD_FLAGS) $$(LIBRARIES)))
$(BUILD)/base/build_options.h: $(BUILD)/build_options.stamp
	@mkdir -p $(@D)
	$(Q)printf '#define %s %s\n' \
		TRAFFIC_COMPILER '$(call quoted,$(shell $(CC) --version | head -n 1))' \
		TRAFFIC_OPTIONS '$(call quoted,$(BUILD_FLAGS))' TRAFFIC_LIBRARIES '$(call quoted,$(LIBRARIES))' >$@

# cmocka 2.0 replaces assert_in_range() and others with functions that cmocka 1.1 does not have.
$(BUILD)/tests/%.o: private ALL_CFLAGS += -DCMOCKA_DISABLE_DEPRECATION_WARNINGS

# GENERATED without a rebuild: after the first build the .d files name what includes them.
$(BUILD)/%.o: %.c $(BUILD)/compile.stamp | $(GENERATED)
	@mkdir -p $(@D)
	$(say) "CC   $@"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

link = $(Q)$(if $(V),,echo "LINK $@" &&) $(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(1) $(LIBS) $(PKG_LIBS)

$(foreach main,$(MAINS),$(eval $(BUILD)/$(basename $(notdir $(main))): $(call objects,$(main))))
$(PROGRAMS): $(LIBS) $(BUILD)/link.stamp
	$(link)

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_LIB) $(LIBS) $(BUILD)/link.stamp
	$(call link,$(TEST_LIB)) -lcmocka

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(LIBS) $(BUILD)/link.stamp
	$(link)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(TEST_LIB) $(LIBS) $(BUILD)/link.stamp
	$(call link,$(TEST_LIB)) -fsanitize=fuzzer -lcmocka

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- What is done with it -------------------------------------------------------------------------

export BUILD SAN LAB_DIR LAB_ADDRESS FUZZ_SECONDS RELEASES RELEASE SETTINGS

deps:
	@lab/install-packages $(DEBIAN_BUILD) $(DEBIAN_LINT) $(DEBIAN_TEST) $(DEBIAN_LAB) $(DEBIAN_PACKAGE) $(DEBIAN_BENCH)

# The script comes back to this Makefile for the build, and once more for the sanitizers' build, so that
# a failure of either is counted and not the last word.
check: deps
	@MAKE='$(MAKE)' tests/check

# In no other target: it takes half an hour per release.
check-servers: deps
	@$(MAKE) --no-print-directory all dc-tests
	@tests/check-servers

# In no other target: it downloads a compiler.
check-build: deps
	@tests/check-build $(DEBIAN_BUILD) libcmocka-dev procps

# In no other target: the browser is large.
check-html: deps
	@lab/install-packages chromium fonts-dejavu-core
	@$(MAKE) --no-print-directory all
	@tests/html/check

demo: deps
	@$(MAKE) --no-print-directory all
	@lab/demo

bench: deps
	@$(MAKE) --no-print-directory all benches
	@bench/run

lint: $(GENERATED)
	@echo clang-format, cppcheck, shellcheck, structure, mandoc
	@clang-format --dry-run -Werror $(C_FILES)
	@cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning \
		--suppress=missingIncludeSystem -j 2 -I. -I$(BUILD) -D_GNU_SOURCE -DTRAFFIC_VERSION='""' $(filter %.c,$(C_FILES))
	@shellcheck -x $(SCRIPTS) tests/lib/tap.sh
	@shellcheck -x -a lab/dc
	@tests/lint-structure
	$(if $(MAN_PAGES),@mandoc -T lint -W warning $(MAN_PAGES))

format:
	@clang-format -i $(C_FILES)

# The flags are split by the shell, as for the compiler.
compile_commands.json: FORCE $(GENERATED)
	@python3 -c 'import json, os, sys; cut = sys.argv.index("::"); \
		json.dump([{"directory": os.getcwd(), "file": f, "arguments": sys.argv[1:cut] + ["-c", f]} \
			for f in sys.argv[cut + 1:]], open("$@", "w"), indent=1)' \
		$(CC) $(ALL_CFLAGS) :: $(filter %.c,$(C_FILES))

coverage:
	@MAKE='$(MAKE)' tests/coverage

# libFuzzer is clang's, and every room is built for it.
fuzz:
	@MAKE='$(MAKE)' tests/fuzz/run
fuzzers: $(FUZZERS)

# The table of details in traffic-model(5); a unit test compares it with the packet table.
man-table: $(BUILD)/tests/unit/packets/test_manual_page
	@$< --write

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/traffic-replay/examples/sweeps \
		$(DESTDIR)$(PREFIX)/share/doc/traffic-replay/docs $(DESTDIR)$(PREFIX)/share/doc/traffic-replay/summary/result
	install $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(filter %.1,$(MAN_PAGES)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(filter %.5,$(MAN_PAGES)) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(wildcard examples/*.yaml) $(DESTDIR)$(PREFIX)/share/traffic-replay/examples
	install -m 644 $(wildcard examples/sweeps/*) $(DESTDIR)$(PREFIX)/share/traffic-replay/examples/sweeps
	install -m 644 README.md CONTRIBUTING.md SECURITY.md CHANGES LICENSE $(DESTDIR)$(PREFIX)/share/doc/traffic-replay
	install -m 644 $(wildcard docs/*.md) $(DESTDIR)$(PREFIX)/share/doc/traffic-replay/docs
	install -m 644 summary/result/RESULT.md $(DESTDIR)$(PREFIX)/share/doc/traffic-replay/summary/result
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	for program in $(notdir $(PROGRAMS)); do \
		$(BUILD)/$$program --completion bash \
			>$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$program && \
		$(BUILD)/$$program --completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_$$program || exit; \
	done

dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=traffic-replay-$(VERSION)/ HEAD | gzip -9n >$(BUILD)/traffic-replay-$(VERSION).tar.gz

# Built from an unpacked tarball, so that nothing of the working folder gets in. For a faster build:
# DEB_BUILD_OPTIONS=nocheck.
package: dist
	rm -rf $(BUILD)/package && mkdir $(BUILD)/package
	tar -x -C $(BUILD)/package -f $(BUILD)/traffic-replay-$(VERSION).tar.gz
	cd $(BUILD)/package/traffic-replay-$(VERSION) && env -u MAKEFLAGS -u BUILD -u SAN dpkg-buildpackage -b -us -uc

clean:
	rm -rf $(BUILD)
