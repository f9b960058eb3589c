# rooflint.  `make help` lists the targets.
#
# Knobs: CC, CFLAGS, CPPFLAGS, LDFLAGS, WERROR=1, V=1 (show commands), SAN=address,undefined,
# O (build folder; by default one per compiler and flag set), PREFIX, DESTDIR, DEV=1 (make deps),
# HARDEN=1 (as releases are built), UPDATE=1 and CASES (make golden), PKG_CONFIG,
# LIBRARIES (what --version says it was built with),
# JAX=1 (make test-packaging), EMULATOR (to run on this machine what is built for another),
# FUZZ_SECONDS and TARGET (make fuzz), BENCH_BYTES, BENCH_PROGRAMS
# and BENCH_TRACE_BYTES (make bench), BENCH_FLEET_RUNS (make bench-fleet).

VERSION := $(shell cat VERSION)
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
CLANG   ?= clang
PKG_CONFIG ?= pkg-config
UNAME   := $(shell uname)

# Not for the user to change: the language, and arithmetic that gives the same bytes everywhere.
FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -I. -ffp-contract=off -pthread \
	-Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wconversion -Wno-sign-conversion $(if $(WERROR),-Werror) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	-DROOFLINT_VERSION='"$(VERSION)"'

# A release is built with what makes a mistake harder to use; what this compiler does not take of it
# is left out.
ifdef HARDEN
takes   = $(foreach f,$(1),$(shell $(CC) -Werror -O2 $(f) -x c -c /dev/null -o /dev/null 2>/dev/null && echo '$(f)'))
HARD   := $(call takes,-fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE)
override CFLAGS  += $(HARD) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
ifeq ($(UNAME),Linux)
override LDFLAGS += -pie -Wl,-z,relro -Wl,-z,now
endif
endif

ifeq ($(UNAME),Darwin)
FLAGS += -D_DARWIN_C_SOURCE -Dst_mtim=st_mtimespec
BREW  := $(shell brew --prefix 2>/dev/null)/opt
export PKG_CONFIG_PATH := $(BREW)/libxml2/lib/pkgconfig:$(BREW)/sqlite/lib/pkgconfig:$(BREW)/curl/lib/pkgconfig:$(BREW)/openssl@3/lib/pkgconfig:$(PKG_CONFIG_PATH)
endif

KEY := $(shell printf '%s' '$(CC) $(SAN) $(WERROR) $(FUZZER) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) \
	$(VERSION)' | cksum | cut -d' ' -f1)
O   ?= build/$(notdir $(firstword $(CC)))-$(KEY)
Q   := $(if $(V),,@)
SAY := @$(if $(V),:,printf '  %-5s %s\n')

# ---- what there is ------------------------------------------------------------------------------

ROOMS   := base profile hlo hardware measure rules store report session cmd
SRC     := $(wildcard $(ROOMS:=/*.c))
HTTP    := $(wildcard http/*.c)
HDR     := $(wildcard $(ROOMS:=/*.h)) $(wildcard http/*.h)
CODE    := $(SRC) $(HTTP) $(HDR) base/embed/main.c
EMBED   := $(wildcard rules/*.yaml hardware/*.json hardware/*.yaml store/*.sql templates/*.* \
	templates/ci/* templates/completion/* docs/diagnostics.md)
LIB     := $(patsubst %.c,$(O)/%.o,$(filter-out cmd/%,$(SRC))) $(O)/embedded.o
ARCHIVE := $(O)/objects.a
CMD     := $(patsubst %.c,$(O)/%.o,$(filter cmd/%,$(SRC)))
HELPERS := $(patsubst %.c,$(O)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
GOLDEN  := $(O)/rooflint-golden
UNIT    := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
FUZZ    := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH   := $(patsubst %.c,$(O)/%,$(filter-out tests/bench/power.c,$(wildcard tests/bench/*.c)))
HTTP_OBJ  := $(HTTP:%.c=$(O)/%.o)
HTTP_BASE := $(patsubst %,$(O)/base/%.o,arena diag frame input json out secret str \
	text when)
TESTED  := $(LIB) $(HELPERS) $(filter-out %/main.o,$(HTTP_OBJ))
OBJ     := $(LIB) $(CMD) $(O)/base/embed/main.o $(HTTP_OBJ) $(HELPERS) $(UNIT:=.o) $(FUZZ:=.o) \
	$(O)/tests/fuzz/driver.o

# Asked once, when first needed: on a bare machine pkg-config arrives only with `make deps`.
PACKAGES = libxml-2.0 libcjson libfyaml sqlite3 libbrotlidec libmd $(shell grep -ls '<isa-l' $(SRC) | sed 's/.*/libisal/;q')
pkg      = $(if $(shell $(PKG_CONFIG) --exists $(1) && echo yes),$(shell $(PKG_CONFIG) $(2) $(1)),$(error \
	Libraries are missing; `make deps` installs them: $(1)))
PKG_INC  = $(eval PKG_INC := $(patsubst -I%,-isystem %,$(call pkg,$(PACKAGES),--cflags-only-I)))$(PKG_INC)
PKG_LIBS = $(eval PKG_LIBS := $(call pkg,$(PACKAGES),--libs))$(PKG_LIBS)
HTTP_INC  = $(eval HTTP_INC := $(patsubst -I%,-isystem %,$(call pkg,libcurl libcrypto,--cflags-only-I)))$(HTTP_INC)
HTTP_LIBS = $(eval HTTP_LIBS := $(call pkg,libcurl libcrypto libcjson,--libs))$(HTTP_LIBS)
LIBRARIES ?= $(shell for p in $(PACKAGES); do echo "$$p $$($(PKG_CONFIG) --modversion $$p),"; done | sed '$$s/,//')
CMOCKA   = $(eval CMOCKA := $(call pkg,cmocka libbrotlienc,--cflags --libs))$(CMOCKA)

COMPILE = $(CC) $(FLAGS) $(PKG_INC) $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS)
# A test is linked with what it needs of all objects, and the linker says what that was: the test is
# linked again when one of those changed, not when any did.
ifneq ($(UNAME),Darwin)
NOTED   = -Wl,-t >$@.t && sed -n 's,^$(O)/.*\.o$$,$@: &\n&:,p' $@.t >$@.linked
NEW     = $(filter-out $(patsubst %.linked,%,$(wildcard $(O)/tests/*/*.linked)),$(UNIT) $(FUZZ))
$(NEW): FORCE
endif
LIBS    = $(PKG_LIBS) -lm
JOBS   := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
SUB     = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))
RUN     = O='$(O)' ROOFLINT='$(abspath $(O)/rooflint)' UPDATE='$(UPDATE)' CASES='$(CASES)' \
	SAN='$(SAN)' tests/run-all.sh

# ---- building -----------------------------------------------------------------------------------

.PHONY: all deps demo test picture site unit golden fuzz fuzz-corpus interop-jax mutation bench bench-changes bench-fleet bench-power \
	regenerate lint check-layers check-headers check-style check-calls check-dead check-names check-format format tidy analyze coverage \
	install uninstall dist dist-linux dist-macos test-packaging clean help run-demo run-tests run-fuzz run-coverage FORCE
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

# Only a plain build takes the short name; sanitizer and fuzzer builds stay in their folders.
ifeq ($(SAN)$(FUZZER),)
all: $(O)/rooflint $(O)/rooflint-http ## build build/rooflint and build/rooflint-http (default)
	@for f in $^; do ln -f $$f build/ 2>/dev/null || cp -f $$f build/; done
else
all: $(O)/rooflint $(O)/rooflint-http
	@echo '  built $<'
endif

$(O)/rooflint: $(CMD) $(LIB)
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Golden cases are judged with chips of their own (tests/golden/hardware), so that a number of a
# chip that is corrected changes one case, not half of them.
$(GOLDEN): $(CMD) $(filter-out $(O)/embedded.o,$(LIB)) $(O)/golden.o
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# `rooflint --version` says what it was built with.
$(O)/cmd/main.o: private CPPFLAGS += -DROOFLINT_LIBRARIES='"$(LIBRARIES)"'

# Networking is a program of its own, so that the one above loads none of it.
HTTP_TESTS := $(O)/tests/unit/test_http $(O)/tests/unit/test_cloud $(O)/tests/fuzz/fuzz_listing
$(HTTP_OBJ) $(HTTP_TESTS:=.o): private CPPFLAGS += $(HTTP_INC)
$(O)/rooflint-http: $(HTTP_OBJ) $(HTTP_BASE)
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $^ $(HTTP_LIBS) -lm

# What a test does once is not worth the optimiser's time.
$(UNIT:=.o) $(HELPERS): private LEVEL := -O0
# What every other folder calls is, where sanitizers slow it down and the rest is built without.
$(filter $(O)/base/%,$(LIB)): private LEVEL := $(and $(SAN),$(filter -O0,$(CFLAGS)),-O1)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) $(LEVEL) -MMD -MP -c -o $@ $<

$(O)/embedded.o $(O)/golden.o: %.o: %.c
	$(Q)$(COMPILE) -c -o $@ $<

$(O)/golden.c: private export INSTEAD = tests/golden
$(O)/golden.c: $(wildcard tests/golden/hardware/*)
$(O)/embedded.c $(O)/golden.c: $(O)/embed $(EMBED) $(O)/embedded.list
	$(SAY) EMBED $@
	$(Q)$(EMULATOR) $< $(EMBED) >$@

$(O)/embed: $(patsubst %,$(O)/base/%.o,embed/main arena diag doc embed input out str text)
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Changes only when a file comes or goes, which the files' own times cannot tell.
$(O)/embedded.list: LIST = $(EMBED) $(wildcard tests/golden/hardware/*)
$(O)/objects.list: LIST = $(TESTED)
$(O)/%.list: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(LIST) | cmp -s - $@ || printf '%s\n' $(LIST) >$@

# A thin archive holds the paths of its objects, which the linker then names.
$(ARCHIVE): $(TESTED) $(O)/objects.list
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs$(if $(NOTED),T) $@ $(TESTED)

$(UNIT): %: %.o $(if $(NOTED),|) $(ARCHIVE)
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $< $(ARCHIVE) $(CMOCKA) $(LIBS) $(NOTED)

DRIVER := $(if $(FUZZER),,$(O)/tests/fuzz/driver.o)
$(FUZZ): %: %.o $(DRIVER) $(if $(NOTED),|) $(ARCHIVE)
	$(SAY) LINK $@
	$(Q)$(LINK) $(if $(FUZZER),-fsanitize=fuzzer) -o $@ $< $(DRIVER) $(ARCHIVE) $(LIBS) $(NOTED)

$(HTTP_TESTS): private LIBS += $(HTTP_LIBS)

$(BENCH): $(O)/%: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

$(O)/tests/bench/power: $(O)/tests/bench/power.o $(ARCHIVE)
	$(SAY) LINK $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)

deps: ## install the libraries (apt, dnf, apk, brew); DEV=1 adds clang and its tools
	@CC='$(CC)' .ci/deps $(if $(DEV),dev)

# ---- trying and testing -------------------------------------------------------------------------

demo: deps ## install what is needed, build, and check a profile that the project carries
	@$(SUB) run-demo
run-demo: all
	@tests/run-demo.sh

test: deps ## install what is needed, build, and run every test
	@$(SUB) run-tests
run-tests: all $(GOLDEN) $(UNIT) $(FUZZ)
	@$(RUN) $(GROUPS)

unit: $(UNIT) ## unit tests (cmocka)
	@$(RUN) unit

golden: all $(GOLDEN) ## golden cases; UPDATE=1 rewrites what is expected, CASES='a b' picks some
	@$(RUN) golden

mutation: all ## damage every red profile in every way: never green (a nightly; minutes)
	@python3 tests/mutation/run.py --all

interop-jax: all ## against jax, flax, optax and xprof of today: jobs recorded anew, the wheel, the example (minutes)
	@ROOFLINT='$(abspath $(O)/rooflint)' tests/interop-jax.sh

fuzz-corpus: $(FUZZ) ## every corpus file through its fuzz target, without libFuzzer
	@$(RUN) fuzz

FUZZ_SECONDS ?= 60
fuzz: ## libFuzzer on every target, or on TARGET, for FUZZ_SECONDS each (clang)
	@$(SUB) CC='$(CLANG)' SAN=fuzzer-no-link,address,undefined FUZZER=1 run-fuzz
run-fuzz: $(FUZZ)
	@O='$(O)' FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/run-fuzz.sh $(TARGET)

bench: all $(BENCH) ## speed and memory, as ratios measured in one run
	@O='$(O)' ROOFLINT='$(abspath $(O)/rooflint)' BENCH_BYTES='$(BENCH_BYTES)' \
		BENCH_TRACE_BYTES='$(BENCH_TRACE_BYTES)' tests/bench/run.sh
	@O='$(O)' ROOFLINT='$(abspath $(O)/rooflint)' tests/bench/page.sh

BENCH_FLEET_RUNS ?= 10000
bench-fleet: all ## an audit of BENCH_FLEET_RUNS runs: speed, memory, killed and resumed, in shards
	@ROOFLINT='$(abspath $(O)/rooflint)' tests/bench/fleet.py --runs $(BENCH_FLEET_RUNS)

bench-changes: all ## change points: how many that were planted are found, and how many false ones
	@ROOFLINT='$(abspath $(O)/rooflint)' tests/bench/changes.py

bench-power: $(O)/tests/bench/power ## false alarms and power, against docs/statistics.md; UPDATE=1 rewrites
	@POWER='$(O)/tests/bench/power' tests/bench/power.sh

coverage: ## line coverage of the unit and golden tests, by file (gcc)
	@$(SUB) CC=gcc CFLAGS='-O0 -g --coverage' SAN= run-coverage
run-coverage: all $(GOLDEN) $(UNIT)
	@find $(O) -name '*.gcda' -exec rm -f {} +
	@$(RUN) unit golden || :
	@tests/run-coverage.sh $(O) $(SRC)

# ---- keeping the house --------------------------------------------------------------------------

lint: check-layers check-headers check-calls check-dead check-names check-style check-format ## all the checks below

check-layers: ## no folder includes one to its right (tests/layers.txt)
	$(Q)awk -f tests/layers.awk tests/layers.txt $(CODE)

check-headers: $(HDR:%=$(O)/%.ok) ## every header compiles on its own
$(O)/%.h.ok: %.h $(HDR)
	@mkdir -p $(@D)
	$(Q)printf '#include "%s"\n' $< | $(COMPILE) -Werror -fsyntax-only -x c -
	@touch $@

# The program that reads hostile profiles opens no connection, and starts no program but git and
# rooflint-http, each in one place.
NO_NETWORK := socket|socketpair|connect|bind|listen|accept|sendto|recvfrom|getaddrinfo|dlopen
NO_PROGRAM := exec[lv]p?e?|posix_spawnp?|system|popen
STARTERS    = $(O)/session/git.o $(O)/session/http_client.o
check-calls: $(CMD) $(LIB) ## no object calls the network or another program
	$(Q)! nm -u $^ | grep -wE '$(NO_NETWORK)'
	$(Q)! nm -u $(filter-out $(STARTERS),$^) | grep -wE '$(NO_PROGRAM)'

check-dead: $(CMD) $(LIB) $(HTTP_OBJ) ## no function or table is public that no other file uses
	$(Q)nm -A -P $^ | awk '$$3 ~ /^[TDBRC]$$/ { at[$$2] = $$1 } $$3 == "U" { used[$$2] = 1 } \
		END { for (name in at) if (!(name in used) && name != "main") print name, at[name] }' | \
	while read -r name object; do grep -rqw "$$name" tests/unit tests/fuzz || \
		{ echo "$$object $$name is used nowhere else" && exit 1; }; done

# A page that names a function and its file, as in `judge` (rules/judge.c), names one that is there.
check-names: ## the functions that docs/architecture.md names exist
	$(Q){ grep -oE '`[a-z_0-9]+` \([a-z]+/[a-z_0-9]+\.c\)' docs/architecture.md || \
		echo 'no names'; } | tr -d '`()' | \
	while read -r name file; do grep -qE "^[a-z].*[ *]$$name\(" "$$file" || \
		{ echo "docs/architecture.md: there is no $$name in $$file" && exit 1; }; done

check-style: ## banned calls, function length, line width, blanks
	$(Q)LC_ALL=C awk -f tests/style.awk $(CODE) $(wildcard tests/unit/*.[ch] \
		tests/fuzz/*.[ch] tests/bench/*.[ch])

# Versions of clang-format disagree with each other, so only the one named here has a say.
FORMAT_VERSION := 14
check-format: ## .clang-format, when clang-format 14 is installed
	$(Q)if clang-format --version 2>/dev/null | grep -q 'version $(FORMAT_VERSION)\.'; then \
		clang-format --dry-run --Werror --ferror-limit=3 $(CODE); \
	else echo 'check-format: skipped, needs clang-format $(FORMAT_VERSION)'; fi

format: ## let clang-format rewrite the sources in place
	clang-format -i $(CODE)

tidy: ## clang-tidy over the sources (slow, optional)
	$(Q)clang-tidy --quiet $(SRC) $(HTTP) -- $(FLAGS) $(PKG_INC) \
		-DROOFLINT_LIBRARIES='""'

analyze: ## gcc's static analyzer over the sources (slow, optional)
	$(Q)printf '%s\n' $(SRC) $(HTTP) | xargs -P $(JOBS) -I '{}' gcc $(FLAGS) $(PKG_INC) $(HTTP_INC) \
		-DROOFLINT_LIBRARIES='""' -O1 -fanalyzer -Werror -c -o /dev/null '{}'

regenerate: all $(GOLDEN) $(addprefix $(O)/tests/unit/test_,report_json report_html tables facts) ## write again what is generated: docs, schemas, golden
	@$(subst run-all,regenerate,$(RUN))

# ---- shipping -----------------------------------------------------------------------------------

MAN := $(wildcard docs/man/*.1)
DOC := LICENSE NEWS.md SKILL.md

# Where each shell looks for the completion of a command.
COMPLETIONS := bash:bash-completion/completions/rooflint fish:fish/vendor_completions.d/rooflint.fish \
	zsh:zsh/site-functions/_rooflint

install: $(O)/rooflint $(O)/rooflint-http ## install below DESTDIR and PREFIX
	install -d $(addprefix '$(DESTDIR)$(PREFIX)'/,bin libexec/rooflint share/man/man1 share/doc/rooflint)
	install -m 755 $(O)/rooflint '$(DESTDIR)$(PREFIX)/bin/rooflint'
	install -m 755 $(O)/rooflint-http '$(DESTDIR)$(PREFIX)/libexec/rooflint/rooflint-http'
	install -m 644 $(MAN) '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 644 $(DOC) '$(DESTDIR)$(PREFIX)/share/doc/rooflint'
	for c in $(COMPLETIONS); do \
		install -d "$$(dirname '$(DESTDIR)$(PREFIX)/share/'"$${c#*:}")" && \
		$(EMULATOR) $(O)/rooflint completion "$${c%%:*}" >'$(DESTDIR)$(PREFIX)/share/'"$${c#*:}" || exit 1; done

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(PREFIX)/bin/rooflint' \
		$(patsubst docs/man/%,'$(DESTDIR)$(PREFIX)/share/man/man1/%',$(MAN))
	rm -rf '$(DESTDIR)$(PREFIX)/libexec/rooflint' '$(DESTDIR)$(PREFIX)/share/doc/rooflint'
	for c in $(COMPLETIONS); do rm -f '$(DESTDIR)$(PREFIX)/share/'"$${c#*:}"; done

dist: ## build/rooflint-VERSION.tar.gz of HEAD, the same bytes every time
	@mkdir -p build
	git archive --prefix=rooflint-$(VERSION)/ HEAD | gzip -n9 >build/rooflint-$(VERSION).tar.gz

dist-linux: ## build/dist/: for x86-64 and arm64 static programs, wheels, .deb, .rpm; UPDATE=1: today's libraries
	@UPDATE='$(UPDATE)' packaging/dist.sh linux

dist-macos: ## build/dist/: the same for macOS: static programs and wheels, built on Linux
	@UPDATE='$(UPDATE)' packaging/dist.sh macos

test-packaging: ## what these made, in fresh environments and bare roots (minutes); JAX=1 records a job, too
	@JAX='$(JAX)' packaging/test.sh

picture: all ## docs/page.png: the first screen of the demo's page (chromium)
	$(Q)packaging/picture.py $(O)/rooflint docs/page.png

site: all ## build/site/: the documents as static pages (mkdocs, from PyPI)
	$(Q)python3 -m venv build/site-venv
	$(Q)grep '^mkdocs' packaging/requirements.txt | build/site-venv/bin/pip -q install -r /dev/stdin
	$(Q)NO_MKDOCS_2_WARNING=1 build/site-venv/bin/python packaging/site.py $(O)/rooflint build/site

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

-include $(OBJ:.o=.d) $(UNIT:=.linked) $(FUZZ:=.linked)
