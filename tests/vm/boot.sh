#!/usr/bin/env bash
# boot.sh WORK SHARE SCRIPT [qemu arguments…]: boots a guest, shares SHARE at /host, runs /host/SCRIPT, powers off; the console is standard output.
# The guest's exit code is ours. VM_TIMEOUT seconds (300) end it in any case.
set -uo pipefail
work=$(realpath "$1") share=$(realpath "$2") script=$3
shift 3
version=$(cat "$work/version")
kernel=$work/kernel/boot/vmlinuz-$version
log=$share/console.$(basename "$script" .sh)
timeout -k 5 "${VM_TIMEOUT:-300}" qemu-system-x86_64 -accel tcg,thread=multi -machine q35 -cpu max -smp 2 -m 768M \
  -kernel "$kernel" -initrd "$work/initrd.zst" -nodefaults -display none -serial stdio -no-reboot \
  -append "console=ttyS0 quiet panic=-1 mitigations=off rw.run=/host/$script ${VM_APPEND:-}" \
  -virtfs "local,path=$share,mount_tag=host,security_model=none,id=host" \
  -netdev user,id=n0,restrict=on -device e1000e,netdev=n0 -netdev user,id=n1,restrict=on -device igb,netdev=n1 "$@" \
  </dev/null | tee "$log"
status=$(tr -d '\r' <"$log" | sed -n 's/^GUEST exit=//p' | tail -n 1)
[ -n "$status" ] || { echo "the guest did not come to its end"; exit 70; }
exit "$status"
