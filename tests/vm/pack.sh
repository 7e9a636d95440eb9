#!/usr/bin/env bash
# pack.sh WORK: packs the guest's first file system: busybox, strace, rdma and ip with their libraries, and the kernel modules of the tests.
set -euo pipefail
work=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$work/version")
tools=$work/tools
if [ -e "$work/initrd.zst" ] && [ "$work/initrd.zst" -nt "$here/init" ] && [ "$work/initrd.zst" -nt "$here/pack.sh" ]; then exit 0; fi
root=$(mktemp -d)
kmod=$(mktemp -d)
trap 'rm -rf "$root" "$kmod"' EXIT
mkdir -p "$root"/{bin,proc,sys,dev,tmp,run,host,etc,var/lib,usr/bin,usr/lib,lib64}
ln -s usr/lib "$root/lib"
cp "$tools/bin/busybox" "$root/bin/busybox"

libraries=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$libraries"
# The C library of the machine that built the binary: it may be newer than the guest's tools, which do with it.
for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libgcc_s.so.1; do
  file=$(cc -print-file-name="$library")
  [ ! -e "$file" ] || cp -L "$file" "$libraries/$library"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
# A program's libraries, by what it and they say they need.
bring() {
  local needed file
  for needed in $(readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [ ! -e "$libraries/$needed" ] || continue
    file=$(find "$tools" -name "$needed" -print -quit)
    [ -n "$file" ] || { echo "no library $needed for $1" >&2; continue; }
    cp -L "$file" "$libraries/$needed"
    bring "$file"
  done
}
for tool in strace rdma ip kmod; do
  file=$(find "$tools" -path "*bin/$tool" -print -quit)
  [ -n "$file" ] || { echo "no $tool among the guest's tools" >&2; exit 1; }
  cp -L "$file" "$root/usr/bin/$tool"
  bring "$file"
done
ln -s kmod "$root/usr/bin/modprobe"

# kmod looks at the name it is called by.
base=$work/kernel
[ -d "$base/lib/modules/$version" ] || base=$work/kernel/usr
for name in modprobe depmod; do ln -s "$(find "$tools" -path '*bin/kmod' -print -quit)" "$kmod/$name"; done
[ -e "$base/lib/modules/$version/modules.dep" ] || "$kmod/depmod" -b "$base" "$version"
wanted="virtio_pci virtio_net virtio_blk ext4 9p 9pnet_virtio e1000e igb rdma_rxe ib_uverbs ib_core crc32_generic veth"
for module in $wanted; do
  "$kmod/modprobe" -d "$base" -S "$version" --show-depends "$module" 2>/dev/null </dev/null | awk '$1=="insmod"{print $2}' ||
    echo "no module $module in this kernel, or built in" >&2
done | sort -u | while read -r file; do
  to=$root/usr/${file#"$base"/}
  to=${to/usr\/usr/usr}
  mkdir -p "$(dirname "$to")"
  case $file in *.xz) xz -dc "$file" >"${to%.xz}" ;; *) cp "$file" "$to" ;; esac
done
cp "$base/lib/modules/$version"/modules.{order,builtin} "$root/usr/lib/modules/$version/"
"$kmod/depmod" -b "$root/usr" "$version" 2>/dev/null
install -m 755 "$here/init" "$root/init"
(cd "$root" && find . -print0 | cpio --null --create --format=newc --quiet) | zstd -q -1 -f -o "$work/initrd.zst"
