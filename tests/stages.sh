#!/usr/bin/env bash
# stages.sh: runs every stage of `make test`, prints the seconds of each, and lists last, loudly, what was skipped.
# A stage that exits 77 was skipped; the last line it printed is the reason.
set -u
cd "$(dirname "$0")/.." || exit 70
export RAILWATCH_STAGES=1
failed=() skipped=() table=()
log=$(mktemp -d "${TMPDIR:-/tmp}/railwatch-stages.XXXXXX")
trap 'rm -rf "$log"' EXIT

stage() {
  local name=$1 began=$SECONDS status=0
  shift
  printf '== %s\n' "$name"
  "$@" >"$log/out" 2>&1 || status=$?
  local took=$((SECONDS - began))
  # A test that skips says so in its output; a skipped test is not a passed one.
  grep -aoE 'SKIPPED: .*' "$log/out" | sort -u >"$log/skips" || true
  while IFS= read -r line; do skipped+=("$name: ${line#SKIPPED: }"); done <"$log/skips"
  case $status in
    0) table+=("$(printf '%6d s  ok       %s' "$took" "$name")") ;;
    77) table+=("$(printf '%6d s  SKIPPED  %s' "$took" "$name")"); skipped+=("$name: $(tail -n 1 "$log/out")") ;;
    *) table+=("$(printf '%6d s  FAILED   %s' "$took" "$name")"); failed+=("$name"); tail -n 120 "$log/out" ;;
  esac
  return 0
}

deny() {
  if ! command -v cargo-deny >/dev/null 2>&1; then
    if [ -n "${NO_INSTALL:-}" ]; then echo "cargo-deny is not installed and NO_INSTALL is set"; return 77; fi
    cargo install --debug --locked --version 0.20.2 cargo-deny || { echo "cargo-deny could not be installed"; return 77; }
  fi
  cargo fetch --locked && cargo deny --offline --locked check bans licenses sources
}

advisories() {
  command -v cargo-deny >/dev/null 2>&1 || { echo "cargo-deny is not installed"; return 77; }
  timeout 60 cargo deny --locked check advisories && return 0
  if cargo deny --offline --locked check advisories 2>&1 | grep -q 'advisories FAILED'; then return 1; fi
  echo "the RustSec advisory database can't be had here"
  return 77
}

docs() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items; }
shell() { local f; for f in tests/*.sh deploy/*.sh tests/vm/*.sh fuzz/*.sh .ci/run; do [ ! -e "$f" ] || bash -n "$f" || return 1; done; }
# Every file of tests/ is a layer of its own; readme runs last because it starts `make run`.
layers() { local f; for f in tests/*.rs; do f=$(basename "$f" .rs); [ "$f" = readme ] || printf '%s ' --test "$f"; done; }

stage install   deploy/install-needs.sh test
stage format    cargo fmt --all --check
stage shell     shell
stage clippy    cargo clippy --locked --all-targets -- -D warnings
stage deny      deny
stage advisories advisories
stage docs      docs
stage unit      cargo test --locked --lib --bins -- --nocapture
# shellcheck disable=SC2046
stage layers    cargo test --locked $(layers) -- --nocapture
stage doc-tests cargo test --locked --doc
stage alerts    tests/prometheus/alerts.sh
stage side-by-side tests/independent/node_exporter_side_by_side.sh target/debug/railwatch
stage bench-smoke benches/run.py target/debug/railwatch --smoke
stage readme    cargo test --locked --test readme -- --nocapture
stage vm-needs  deploy/install-needs.sh vm
stage vm        tests/vm/run-all.sh target/debug/railwatch

printf '\n== seconds per stage\n'
printf '%s\n' "${table[@]}"
printf '%6d s  in all\n' "$SECONDS"
if [ "${#skipped[@]}" -gt 0 ]; then
  printf '\n!! SKIPPED, and so not proven here:\n'
  printf '!!   %s\n' "${skipped[@]}"
fi
if [ "${#failed[@]}" -gt 0 ]; then
  printf '\n!! FAILED: %s\n' "${failed[*]}"
  exit 1
fi
