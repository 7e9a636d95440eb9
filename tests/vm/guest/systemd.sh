# The package under a real systemd: install, ready, what the sandbox leaves, watchdog, reload, upgrade, remove, purge.
SYSTEMD_COLORS=0 SYSTEMD_PAGER=cat DEBIAN_FRONTEND=noninteractive
export SYSTEMD_COLORS SYSTEMD_PAGER DEBIAN_FRONTEND
fail() { echo "FAIL: $*"; systemctl status railwatch; journalctl -u railwatch --no-pager -o short-monotonic | tail -n 30; exit 1; }
pass() { echo "PASS: $*"; }
show() { systemctl show railwatch -p "$1" --value; }
# Start of a process in ticks since boot: pid and start together are one process for good.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
# until_ok SECONDS COMMAND…
until_ok() { left=$1; shift; until "$@"; do left=$((left - 1)); [ "$left" -gt 0 ] || return 1; sleep 1; done; }
active() { [ "$(systemctl is-active railwatch)" = active ]; }

[ "$(cat /proc/1/comm)" = systemd ] || fail "the first process is not systemd"
dpkg -i /host/railwatch_1.deb || fail "the package does not install"
active || fail "not active after the install: $(systemctl is-active railwatch)"
systemctl is-enabled railwatch >/dev/null || fail "not enabled"
first=$(show MainPID)
first_start=$(started "$first")
pass "installed, active after READY: pid $first, status \"$(show StatusText)\""
systemctl status railwatch --no-pager | head -n 12

status=/proc/$first/status
grep -q '^CapEff:.*0000000000000000$' "$status" && grep -q '^CapBnd:.*0000000000000000$' "$status" || fail "it has capabilities"
grep -q '^NoNewPrivs:.*1$' "$status" && grep -q '^Seccomp:.*2$' "$status" || fail "no_new_privs or seccomp is missing"
[ "$(stat -c %U "/proc/$first")" = railwatch ] || fail "it runs as $(stat -c %U "/proc/$first")"
[ "$(stat -c '%a %U:%G' /run/railwatch/api.sock)" = "660 railwatch:railwatch" ] || fail "socket: $(stat -c '%a %U:%G' /run/railwatch/api.sock)"
[ "$(stat -c '%a %U:%G' /var/lib/railwatch)" = "750 railwatch:railwatch" ] || fail "state: $(stat -c '%a %U:%G' /var/lib/railwatch)"
read_all() { railwatch metrics >/tmp/metrics 2>/tmp/metrics.err && grep -q '"eth0"' /tmp/metrics && grep -q '"rxe0"' /tmp/metrics; }
until_ok 15 read_all || fail "eth0 and rxe0 are not read in the sandbox: $(cat /tmp/metrics.err) $(grep -c . /tmp/metrics) lines"
pass "no capabilities, seccomp, own user, socket 0660 railwatch, $(grep -vc '^#' /tmp/metrics) samples, eth0 and rxe0 among them"

systemctl reload railwatch || fail "the reload fails"
active && [ "$(show MainPID)" = "$first" ] && [ "$(started "$first")" = "$first_start" ] || fail "the reload replaced the process"
journalctl -u railwatch --no-pager -o cat | grep -qi 'reload' || fail "no word of the reload in the journal"
pass "reload: the same pid $first, start $first_start"

kill -STOP "$first"
replaced() { pid=$(show MainPID); [ "$pid" != 0 ] && [ "$pid" != "$first" ] && active; }
until_ok 120 replaced || fail "a stopped daemon is not replaced"
second=$(show MainPID)
second_start=$(started "$second")
[ "$second_start" -gt "$first_start" ] || fail "pid $second started at $second_start, before $first_start"
[ ! -e "/proc/$first" ] || fail "pid $first is still there"
journalctl -u railwatch --no-pager -o short-monotonic | grep -i 'watchdog timeout' || fail "it was not the watchdog"
[ "$(show NRestarts)" = 1 ] || fail "$(show NRestarts) restarts"
pass "watchdog: pid $first (start $first_start) killed, pid $second (start $second_start) runs"

echo '# kept' >>/etc/railwatch/railwatch.toml
echo kept >/var/lib/railwatch/kept
dpkg --force-confold -i /host/railwatch_2.deb || fail "the upgrade fails"
until_ok 30 active || fail "not active after the upgrade"
third=$(show MainPID)
[ "$third" != "$second" ] && [ "$(started "$third")" -gt "$second_start" ] || fail "the upgrade did not restart it"
[ "$(dpkg-query -W -f '${Version}' railwatch)" = 0.1.0-2 ] || fail "version $(dpkg-query -W -f '${Version}' railwatch)"
grep -q '^# kept' /etc/railwatch/railwatch.toml && [ -e /var/lib/railwatch/kept ] || fail "the upgrade lost configuration or state"
pass "upgrade: pid $third (start $(started "$third")), configuration and state kept"

dpkg -r railwatch || fail "the removal fails"
! active && [ ! -e "/proc/$third" ] && [ ! -e /run/railwatch ] || fail "it still runs after the removal"
[ -e /var/lib/railwatch/kept ] && [ -e /etc/railwatch/railwatch.toml ] || fail "the removal took state or configuration"
dpkg -P railwatch || fail "the purge fails"
[ ! -e /var/lib/railwatch ] && [ ! -e /etc/railwatch ] || fail "the purge left something"
systemctl is-enabled railwatch 2>/dev/null | grep -q enabled && fail "still enabled after the purge"
pass "removed: stopped, state kept; purged: state and configuration gone"
