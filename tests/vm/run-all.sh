#!/usr/bin/env bash
# run-all.sh BINARY: every test that needs a kernel of its own. Exits 77, with the reason on its last line, where QEMU or Debian's packages can't be had.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
binary=$(realpath "$1")
work=$project/target/vm
"$here/prepare.sh" "$work"
status=$?
[ "$status" = 0 ] || exit "$status"
share=$work/share
rm -rf "$share" && mkdir -p "$share"
cp "$binary" "$share/railwatch"
cp "$work/module/railwatch_stuck.ko" "$share/"
cp -r "$here/guest" "$share/guest"

failed=0
guest() {
  local began=$SECONDS
  if "$here/boot.sh" "$work" "$share" "guest/$1.sh" | tr -d '\r' | grep -aE '^(PASS|FAIL|GUEST)|^[<>+-]'; then :; fi
  if [ "$(tr -d '\r' <"$share/console.log" | sed -n 's/^GUEST exit=//p' | tail -n 1)" != 0 ]; then
    failed=1
    tail -n 40 "$share/console.log"
  fi
  echo "$((SECONDS - began)) s: $1"
}
guest stuck
guest readonly
for trace in "$share"/trace.*; do
  case $trace in
    *.guilty) "$here/judge.py" "$trace" /var/lib/railwatch /run/railwatch >/dev/null && { echo "the judge finds nothing in a trace that writes"; failed=1; } ;;
    *) "$here/judge.py" "$trace" /var/lib/railwatch /run/railwatch || failed=1 ;;
  esac
done
[ "$(find "$share" -name 'trace.*' | wc -l)" -ge 9 ] || { echo "traces are missing"; failed=1; }
exit "$failed"
