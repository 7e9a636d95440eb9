#!/usr/bin/env bash
# run-all.sh BINARY: every test that needs a kernel of its own; prints seconds a step. Exits 77, with the reason on its last
# line, where QEMU or Debian's packages can't be had. VM_TESTS names the guests to run (stuck readonly systemd).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
binary=$(realpath "$1")
work=$project/target/vm
# Downloads, a compiler and emulators: each has a deadline of its own, and this one is for all of them together.
timeout -k 5 600 "$here/prepare.sh" "$work"
status=$?
[ "$status" != 124 ] || { echo "Debian's packages did not come within 600 s"; exit 77; }
[ "$status" = 0 ] || exit "$status"
echo "$SECONDS s: prepare"
share=$work/share
rm -rf "$share" && mkdir -p "$share"
cp "$binary" "$share/railwatch"
cp "$work/module/railwatch_stuck.ko" "$share/"
cp -r "$here/guest" "$share/guest"
"$here/judge.py" --calls >"$share/calls"

failed=0
guest() {
  local began=$SECONDS name=$1
  shift
  if ! "$here/boot.sh" "$work" "$share" "guest/$name.sh" "$@" >"$share/qemu.$name" 2>&1; then
    failed=1
    tail -n 60 "$share/qemu.$name" | tr -d '\r'
  else
    tr -d '\r' <"$share/qemu.$name" | grep -a '^PASS'
  fi
  echo "$((SECONDS - began)) s: $name"
}
for name in ${VM_TESTS:-stuck readonly}; do [ "$name" = systemd ] || guest "$name"; done

# The package under a real systemd. What it needs beyond the others can lack by itself: then it is said, and it alone is skipped.
skipped=
systemd() {
  "$here/package.sh" "$binary" "$share" >"$share/package.log" 2>&1 && "$here/debian.sh" "$work" >"$share/debian.log" 2>&1
  status=$?
  if [ "$status" = 77 ]; then
    skipped="systemd: $(tail -qn 1 "$share/package.log" "$share/debian.log" 2>/dev/null | tail -n 1)"
    return
  fi
  if [ "$status" != 0 ]; then failed=1; tail -n 20 "$share/package.log" "$share/debian.log"; return; fi
  drive=(-drive "file=$work/debian.ext4,if=virtio,format=raw,snapshot=on")
  VM_APPEND="rw.root=/dev/vda systemd.show_status=0" guest systemd "${drive[@]}"
}
if [[ " ${VM_TESTS:-systemd} " = *" systemd "* ]]; then systemd; fi

judge() { "$here/judge.py" "$1" /var/lib/railwatch /run/railwatch; }
if [[ " ${VM_TESTS:-readonly} " = *" readonly "* ]]; then
  for trace in "$share"/trace.*; do
    case $trace in
      *.guilty) if judge "$trace" >/dev/null; then echo "the judge finds nothing in a trace that writes"; failed=1; fi ;;
      *) judge "$trace" || failed=1 ;;
    esac
  done
  # The daemon, its commands, and the guilty one.
  [ -e "$share/trace.run" ] && [ -e "$share/trace.guilty" ] || { echo "traces are missing"; failed=1; }
  "$here/judge.py" --self-test || failed=1
fi
echo "$SECONDS s in all"
[ "$failed" = 0 ] || exit "$failed"
[ -z "$skipped" ] || { echo "SKIPPED: $skipped"; exit 77; }
