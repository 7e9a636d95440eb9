#!/usr/bin/env bash
# debian.sh WORK: WORK/debian.ext4, a small Debian with systemd whose first boot runs /host/guest/systemd.sh as a unit.
# Exits 77 with the reason on its last line where it cannot be had.
set -uo pipefail
work=$(realpath -m "$1")
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$*"; exit 77; }
if [ -e "$work/debian.ext4" ] && [ "$work/debian.ext4" -nt "$here/debian.sh" ]; then exit 0; fi
[ "$(id -u)" = 0 ] || skip "a Debian root can be made by root only"
for tool in mmdebstrap mke2fs tar; do command -v "$tool" >/dev/null || skip "no $tool here (packages mmdebstrap, e2fsprogs, tar)"; done
mirror=$(awk '/^URIs:.*debian/ && !/security/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null)
mirror=${mirror:-http://deb.debian.org/debian}
if [ ! -e "$work/debian.tar" ]; then
  timeout -k 5 300 mmdebstrap --quiet --variant=apt --include=systemd,systemd-sysv,dbus --dpkgopt=path-exclude=/usr/share/doc/* \
    --dpkgopt=path-exclude=/usr/share/locale/* bookworm "$work/debian.part.tar" "deb $mirror bookworm main" >"$work/debian.log" 2>&1 ||
    skip "Debian's packages can't be had ($mirror): $(tail -n 1 "$work/debian.log")"
  mv "$work/debian.part.tar" "$work/debian.tar"
fi
root=$(mktemp -d) || exit 70
trap 'rm -rf "$root"' EXIT
tar -C "$root" --exclude=./dev/* -xf "$work/debian.tar" || exit 70
units=$root/etc/systemd/system
mkdir -p "$units/multi-user.target.wants" "$root/host"
cat >"$units/systemd-test.service" <<'U'
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c '/bin/sh /host/guest/systemd.sh; echo "GUEST exit=$$?"; systemctl poweroff -ff'
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
U
ln -sf ../systemd-test.service "$units/multi-user.target.wants/"
ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
for unit in getty@tty1.service serial-getty@ttyS0.service apt-daily.timer apt-daily-upgrade.timer e2scrub_reap.service dpkg-db-backup.timer; do
  ln -sf /dev/null "$units/$unit"
done
rm -f "$work/debian.ext4"
mke2fs -q -t ext4 -O ^has_journal -d "$root" "$work/debian.ext4" 400M || exit 70
