# traffic-replay: how it is built, tested, measured and installed. See README.md.
#
# Knobs: BUILD=folder, CC=clang, SAN=address,undefined, PREFIX=/usr/local, DESTDIR=

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
OPT ?= -O2 -g
VERSION := 0.1.0

PACKAGES := ldap lber libsasl2 krb5 krb5-gssapi yaml-0.1 jansson nettle hogweed gnutls
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lresolv -lm -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
WERROR ?= -Werror
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARNINGS) $(WERROR) $(SANFLAGS) -pthread -D_GNU_SOURCE \
	-DTRAFFIC_VERSION='"$(VERSION)"' -I. $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SANFLAGS) $(LDFLAGS)

# Every room is one library; a program is the one file that holds its main().
ROOMS := replay model protocols summary
MAINS := $(wildcard replay/traffic-*.c model/traffic-*.c summary/traffic-*.c)
PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(notdir $(MAINS)))
# Order of linking: who may know whom.
LIBS := $(foreach room,replay protocols model summary,$(BUILD)/lib$(room).a)

sources = $(filter-out $(MAINS),$(wildcard $(1)/*.c))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))

.PHONY: all clean
all: $(LIBS) $(PROGRAMS)

define room_library
$(BUILD)/lib$(1).a: $(call objects,$(call sources,$(1)))
	rm -f $$@ && $(AR) rcs $$@ $$^
endef
$(foreach room,$(ROOMS),$(eval $(call room_library,$(room))))

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(PROGRAMS): $(BUILD)/%: $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $(filter %/$*.o,$(call objects,$(MAINS))) $(LIBS) $(LIBS) $(PKG_LIBS)
$(foreach main,$(MAINS),$(eval $(BUILD)/$(basename $(notdir $(main))): $(call objects,$(main))))

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIBS)
	$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIBS) $(LIBS) $(PKG_LIBS) -lcmocka

.PHONY: unit
unit: $(UNIT_TESTS)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
