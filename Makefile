# Targets that work: run, test, test-vm, bench, fuzz, deb, clean.
# NO_INSTALL=1 installs nothing: what lacks is said, and what needs it is skipped or fails by name.

SHELL := /bin/bash
CARGO ?= cargo
BINARY := target/release/railwatch

.PHONY: run build test test-vm bench fuzz deb clean

## Build and start the daemon on this host; ends with Ctrl-C. Writes below target/run only.
run: build
	@mkdir -p target/run/state target/run/runtime
	RAILWATCH__PATH__STATE=$(CURDIR)/target/run/state RAILWATCH__PATH__RUNTIME=$(CURDIR)/target/run/runtime \
	  exec $(BINARY) run $(RUN_FLAGS)

build:
	@deploy/install-needs.sh build
	$(CARGO) build --release --locked

## Everything that proves the project; seconds per stage, skipped stages last.
test:
	@tests/stages.sh

## The tests that need a kernel of their own: read-only, and a read that never returns.
test-vm:
	@deploy/install-needs.sh vm
	$(CARGO) build --locked
	tests/vm/run-all.sh target/debug/railwatch

## Side by side with Debian's node_exporter; figures go to docs/PERFORMANCE.md by hand.
bench: build
	@deploy/install-needs.sh bench
	benches/run.py $(BINARY) $(BENCH_FLAGS)

## Random bytes at whatever reads host text; needs cargo-fuzz and a nightly compiler.
fuzz:
	fuzz/run.sh $(FUZZ_SECONDS)

## The Debian package, in target/debian. DEB_FLAGS goes to cargo-deb, such as --deb-version=0.1.0-2.
deb: build
	@deploy/install-needs.sh deb
	$(CARGO) run --locked --example man_pages -- target/package
	@$(CARGO) deb --version >/dev/null 2>&1 || { \
	  [ -z "$(NO_INSTALL)" ] || { echo "cargo-deb is not installed and NO_INSTALL is set" >&2; exit 69; }; \
	  $(CARGO) install --debug --locked --version 3.8.0 cargo-deb; }
	$(CARGO) deb --no-build $(DEB_FLAGS)

clean:
	$(CARGO) clean
