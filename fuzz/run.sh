#!/usr/bin/env bash
# run.sh [SECONDS]: every fuzz target for so many seconds (60). Needs cargo-fuzz, a C++ compiler and either a nightly
# compiler or the stable one told to behave like it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
if ! command -v cargo-fuzz >/dev/null; then
  if [ -n "${NO_INSTALL:-}" ]; then echo "cargo-fuzz is not installed and NO_INSTALL is set" >&2; exit 77; fi
  cargo install --debug --locked cargo-fuzz
fi
toolchain=()
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then toolchain=(+nightly); else export RUSTC_BOOTSTRAP=1; fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in fuzz/fuzz_targets/*.rs; do
  name=$(basename "$target" .rs)
  echo "== $name, $seconds s"
  status=0
  cargo "${toolchain[@]}" fuzz run "$name" -- -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 >"$log" 2>&1 || status=$?
  grep -aE '^(stat::|SUMMARY|Done )|panicked' "$log" || true
  if [ "$status" != 0 ]; then tail -n 40 "$log"; exit 1; fi
done
