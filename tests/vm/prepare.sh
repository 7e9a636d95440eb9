#!/usr/bin/env bash
# prepare.sh WORK: brings kernel, guest tools and module into WORK, from Debian's packages alone, and only what WORK lacks.
# No source is added to the machine: a private apt configuration below WORK sees bookworm-backports beside bookworm.
# Exits 77 with the reason on its last line where something cannot be had.
set -uo pipefail
work=$(realpath -m "$1")
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$*"; exit 77; }

mkdir -p "$work"/apt/{lists/partial,cache/archives/partial} "$work/kernel" "$work/kbuild" || exit 70
for tool in qemu-system-x86_64 apt-get dpkg cpio zstd xz readelf cc make python3; do
  command -v "$tool" >/dev/null || skip "no $tool here (installed by make test unless NO_INSTALL is set)"
done
[ "$(uname -m)" = x86_64 ] || skip "the guest is x86_64, this machine is $(uname -m)"

# The machine's own Debian mirror, or Debian's where it has none (Ubuntu).
mirror=$(awk '/^URIs:.*debian/ && !/security/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null)
[ -n "$mirror" ] || mirror=$(awk '$1=="deb" && $0 ~ /debian/ && $0 !~ /security/{for(i=2;i<=NF;i++) if($i ~ /^http/){print $i; exit}}' /etc/apt/sources.list 2>/dev/null)
[ -n "$mirror" ] || mirror=http://deb.debian.org/debian
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || skip "no Debian archive keyring here (package debian-archive-keyring)"
for suite in bookworm bookworm-backports; do
  echo "deb [signed-by=$keyring] $mirror $suite main"
done >"$work/apt/sources.list"
apt=(-o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root
  -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1)

# Downloads packages and their dependencies named here, unpacked below a directory.
unpack() {
  local to=$1 list=$2 deb
  shift 2
  [ -e "$list" ] && return 0
  rm -rf "$work/debs" && mkdir -p "$work/debs" "$to"
  (cd "$work/debs" && apt-get "${apt[@]}" -qq download "$@") >/dev/null 2>&1 || return 1
  for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$to" || return 1; done
  touch "$list"
}

if [ ! -e "$work/version" ]; then
  apt-get "${apt[@]}" -qq update >/dev/null 2>&1 || skip "Debian's package lists can't be had ($mirror)"
  image=$(apt-cache "${apt[@]}" depends linux-image-amd64/bookworm-backports 2>/dev/null | awk '/Depends: linux-image/{print $2; exit}')
  [ -n "$image" ] || skip "no kernel image in bookworm-backports"
  echo "${image#linux-image-}" >"$work/version"
fi
version=$(cat "$work/version")
unpack "$work/kernel" "$work/have-kernel" "linux-image-$version" || skip "the kernel image can't be downloaded"
unpack "$work/kbuild" "$work/have-kbuild" "linux-headers-$version" "linux-headers-${version%-amd64}-common" "linux-kbuild-${version%-amd64}" ||
  skip "the kernel headers can't be downloaded"
# busybox, and three tools with every library they need.
tools=(busybox-static kmod strace iproute2)
closure() {
  apt-cache "${apt[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances --no-pre-depends "${tools[@]}" |
    awk '/^[a-z0-9]/ && !/:/' | grep -vE '^(debconf|perl|dpkg|tar|cdebconf)' | sort -u
}
mapfile -t packages < <([ -e "$work/have-tools" ] || closure)
unpack "$work/tools" "$work/have-tools" "${packages[@]}" || skip "the guest's tools can't be downloaded"

# The headers' Makefile names its place on an installed system.
headers=$work/kbuild/usr/src/linux-headers-$version
if ! grep -q "$work" "$headers/Makefile"; then
  sed -i "s#include /usr/src/#include $work/kbuild/usr/src/#" "$headers/Makefile"
  rm -f "$headers/vmlinux"
fi
if [ ! -e "$work/module/railwatch_stuck.ko" ] || [ "$here/stuck/railwatch_stuck.c" -nt "$work/module/railwatch_stuck.ko" ]; then
  mkdir -p "$work/module" && cp "$here/stuck/railwatch_stuck.c" "$work/module/"
  echo 'obj-m := railwatch_stuck.o' >"$work/module/Makefile"
  make -s -C "$headers" M="$work/module" modules >"$work/module/log" 2>&1 || { tail -n 20 "$work/module/log"; exit 70; }
fi
"$here/pack.sh" "$work" || exit 70
