#!/usr/bin/env bash
# install-needs.sh build|test|vm|bench|deb: installs what that target lacks, from Debian or Ubuntu.
# NO_INSTALL=1 installs nothing. Prints only what it does.
set -euo pipefail

have() { command -v "$1" >/dev/null 2>&1; }

# Pairs of command and the package that brings it.
packages() {
  case "$1" in
    build) echo "cc:gcc ld:binutils" ;;
    test) echo "cc:gcc ld:binutils python3:python3-minimal promtool:prometheus prometheus-node-exporter:prometheus-node-exporter strace:strace git:git curl:curl" ;;
    vm) echo "cc:gcc qemu-system-x86_64:qemu-system-x86 cpio:cpio zstd:zstd xz:xz-utils readelf:binutils python3:python3-minimal" ;;
    bench) echo "python3:python3-minimal prometheus-node-exporter:prometheus-node-exporter" ;;
    deb) echo "dpkg-shlibdeps:dpkg-dev" ;;
    *) echo "install-needs.sh: unknown target $1 (build, test, vm, bench, deb)" >&2; exit 64 ;;
  esac
}

if ! have cargo; then
  echo "cargo is not there: install Rust first (https://rustup.rs); rust-toolchain.toml names the version" >&2
  exit 69
fi

lacking=()
for pair in $(packages "$1"); do
  have "${pair%%:*}" || lacking+=("${pair#*:}")
done
# The C library's headers come without a command of their own.
[ -e /usr/include/stdlib.h ] || lacking+=(libc6-dev)
[ "${#lacking[@]}" -gt 0 ] || exit 0

if [ -n "${NO_INSTALL:-}" ]; then
  echo "lacking, and NO_INSTALL is set: ${lacking[*]}" >&2
  exit 0
fi
if ! have apt-get; then
  echo "lacking: ${lacking[*]}; no apt-get here, install them by hand" >&2
  exit 0
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  if have sudo; then as_root=(sudo); else
    echo "lacking: ${lacking[*]}; neither root nor sudo, install them by hand" >&2
    exit 0
  fi
fi
echo "installing: ${lacking[*]}"
# Packages must not start services on the machine they are tested on.
policy=/usr/sbin/policy-rc.d
made_policy=
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
  made_policy=1
fi
undo() { [ -z "$made_policy" ] || "${as_root[@]}" rm -f "$policy"; }
trap undo EXIT
export DEBIAN_FRONTEND=noninteractive
install() { "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${lacking[@]}" >/dev/null; }
install 2>/dev/null || { "${as_root[@]}" apt-get update -qq && install; } ||
  echo "could not install: ${lacking[*]}; what needs them is skipped or fails by name" >&2
