#!/usr/bin/env bash
# package.sh BINARY SHARE: two versions of the Debian package of BINARY, target/debug/railwatch or target/release/railwatch, in SHARE.
# Exits 77 with the reason on its last line where cargo-deb or dpkg cannot be had.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
share=$(realpath "$2")
export PATH=$PWD/target/tools/bin:$PATH
case $(realpath "$1") in
  "$PWD"/target/debug/railwatch) profile=dev ;;
  "$PWD"/target/release/railwatch) profile=release ;;
  *) echo "a package is made of target/debug/railwatch or target/release/railwatch, not of $1"; exit 77 ;;
esac
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "no dpkg-deb or dpkg-shlibdeps here (package dpkg-dev)"; exit 77; }
if ! cargo deb --version >/dev/null 2>&1; then
  [ -z "${NO_INSTALL:-}" ] || { echo "cargo-deb is not installed and NO_INSTALL is set"; exit 77; }
  timeout -k 5 600 cargo install --debug --locked --version 3.8.0 --root target/tools --target-dir target/tools/build cargo-deb ||
    { echo "cargo-deb could not be installed"; exit 77; }
fi
cargo run -q --locked --example man_pages -- target/package || exit 70
for revision in 1 2; do
  cargo deb --no-build --profile "$profile" --deb-version "0.1.0-$revision" -o "$share/railwatch_$revision.deb" || exit 70
done
