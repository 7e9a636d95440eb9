# Functions of every guest script; read by them with ".".
export RAILWATCH__PATH__STATE=/var/lib/railwatch RAILWATCH__PATH__RUNTIME=/run/railwatch
mkdir -p /var/lib/railwatch /run/railwatch
RW=/host/railwatch
URL=http://127.0.0.1:29400

fail() { echo "FAIL: $*"; [ ! -e /tmp/daemon.log ] || tail -n 20 /tmp/daemon.log; exit 1; }
pass() { echo "PASS: $*"; }

# What a host with RDMA has loaded, before anything of ours runs.
bring_up() {
  modprobe -a ib_core ib_uverbs rdma_rxe e1000e igb || fail "the modules of a host do not load"
  insmod /host/railwatch_stuck.ko || fail "the test module does not load"
  ip link set eth0 up
  rdma link add rxe0 type rxe netdev eth0 || fail "no soft RoCE device"
}

start() {
  "$RW" run --web.listen-address=127.0.0.1:29400 "$@" >>/tmp/daemon.log 2>&1 &
  daemon=$!
  until_ok 300 ready
}

ready() { timeout 10 wget -qO /dev/null "$URL/-/ready" 2>/dev/null; }

# until_ok TENTHS COMMAND…: tries every tenth of a second. (A shell function's variables are everybody's: the body is a subshell
# where commands may call until_ok themselves.)
until_ok() (
  left=$1
  shift
  until "$@"; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || return 1
    sleep 0.1
  done
)

# One scrape, for value and has to look at.
scrape() { timeout 10 wget -qO /tmp/scrape "$URL/metrics"; }

# A sample's value in the last scrape; empty if it is not there.
value() { awk -v name="$1 " 'index($0, name) == 1 { print substr($0, length(name) + 1) }' /tmp/scrape; }

# For until_ok: a fresh scrape has, or lacks, this sample; the sample has at least this value.
appears() { scrape && [ -n "$(value "$1")" ]; }
reaches() { scrape && [ "$(value "$1")" -ge "$2" ] 2>/dev/null; }

# Processes a process has started, one a line.
children() { cat "/proc/$1"/task/*/children 2>/dev/null | tr ' ' '\n' | grep .; }

# Hundredths of seconds since boot.
now() { sed 's/ .*//; s/\.//' /proc/uptime; }
