# Modules, devices, mounts and sleeping functions are the same before and after 3 600 polls and every command; no file is
# opened for writing outside the state and runtime directories.
. /host/guest/common.sh
bring_up
# eth1 sleeps, as igb lets an unused port: reading its driver the wrong way would wake it. The emulator's cable is always
# plugged, so that the driver sees no link, and lets it sleep, only just after a reset; closing the port is one. Once woken it
# stays awake, and the time it was awake tells of a short wake-up, too.
echo auto >/sys/class/net/eth1/device/power/control
asleep() { [ "$(cat /sys/class/net/eth1/device/power/runtime_status)" = suspended ]; }
falls_asleep() {
  ip link set eth1 up && ip link set eth1 down
  until_ok 80 asleep
}
until_ok 4 falls_asleep || fail "eth1 does not fall asleep: this proves nothing of sleeping functions"

# The console is ours: what this script prints would wake it.
for device in /sys/class/tty/ttyS0/device /sys/class/tty/ttyS0/device/..; do
  [ ! -e "$device/power/control" ] || echo on >"$device/power/control"
done

awake_time=$(cat /sys/class/net/eth1/device/power/runtime_active_time)
slept() { asleep && [ "$(cat /sys/class/net/eth1/device/power/runtime_active_time)" = "$awake_time" ]; }

state() {
  sort /proc/modules | cut -d' ' -f1-5 >"/tmp/modules.$1"
  find /dev | sort >"/tmp/dev.$1"
  cp /proc/mounts "/tmp/mounts.$1"
  find /sys/devices -name runtime_status | sort | while read -r file; do echo "$file $(cat "$file")"; done >"/tmp/runtime.$1"
}
same() {
  for what in modules dev mounts runtime; do
    cmp -s "/tmp/$what.before" "/tmp/$what.$1" || { diff "/tmp/$what.before" "/tmp/$what.$1"; fail "$what changed: $1"; }
  done
  pass "modules, devices, mounts and $(wc -l <"/tmp/runtime.$1") runtime states are equal $1"
}
state before

began=$(now)
start --test.clock-factor=60 || fail "the daemon does not get ready"
until_ok 600 reaches railwatch_polls_total 3600 || fail "$(value railwatch_polls_total) polls instead of 3600"
slept || fail "polling woke eth1"
polls=$(value railwatch_polls_total)
took=$((($(now) - began) / 100))
kill -TERM "$daemon"
wait "$daemon" || fail "the daemon did not end cleanly"
state after-polls
same after-polls
pass "$polls polls in $took seconds, on a clock 60 times as fast"

# Each command, and the daemon itself, with every call that could change something on record.
calls=$(cat /host/calls)
trace() {
  name=$1
  shift
  strace -f -y -qq -o "/host/trace.$name" -e "trace=$calls" "$@"
}
trace run $RW run --web.listen-address=127.0.0.1:29400 >/tmp/daemon.log 2>&1 &
tracer=$!
until_ok 600 ready || fail "no answer under strace"
until_ok 300 appears 'railwatch_rdma_transmit_packets_total{device="rxe0",port="1"}' || fail "rxe0 is not read under strace"
traced() {
  name=$1
  shift
  trace "$name" "$RW" "$@" >"/tmp/out.$name" 2>&1 || { cat "/tmp/out.$name"; fail "railwatch $* failed"; }
}
# A check's code is its answer; 64 and above are failures.
checked() {
  name=$1
  shift
  status=0
  trace "$name" "$RW" "$@" >"/tmp/out.$name" 2>&1 || status=$?
  [ "$status" -le 3 ] || { cat "/tmp/out.$name"; fail "railwatch $* failed: $status"; }
}
# Whatever the program says it can do; a command that is not known here fails, so that none goes untested.
for command in $("$RW" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  case $command in
    run) continue ;;
    help) traced help help ;;
    metrics)
      traced metrics metrics
      traced metrics-direct metrics --direct
      traced metrics-json metrics --output json
      ;;
    config)
      traced config-check config check
      traced config-show config show
      traced config-default config default
      ;;
    capture) traced capture capture --out /run/railwatch/node.tar.zst ;;
    reload) traced reload reload ;;
    check)
      checked check check
      checked check-direct check --direct
      ;;
    doctor)
      traced doctor doctor
      traced doctor-direct doctor --direct
      ;;
    findings) traced findings findings ;;
    expect)
      traced expect expect --from-this-node
      traced expect-accept expect --accept
      ;;
    silence) traced silence silence link_down --for 1m ;;
    maintenance)
      traced maintenance-on maintenance on --for 1m --reason test
      traced maintenance-off maintenance off
      ;;
    *) fail "the command $command is not covered here" ;;
  esac
  pass "$command on record"
done
traced version --version
# A few more polls, the slow lane's too, are on record before it ends.
until_ok 300 reaches railwatch_polls_total $(($(value railwatch_polls_total) + 5)) || fail "the traced daemon does not poll"
# Below this shell's own child is strace, below that the daemon.
kill -TERM "$(children "$(children $tracer)")" || fail "no traced daemon"
wait $tracer || fail "the traced daemon did not end cleanly"
slept || fail "a command woke eth1"
state after-commands
same after-commands
# What wakes eth1 must be seen to.
ip link set eth1 up
! slept || fail "opening eth1 does not show as a wake-up: this proves nothing of sleeping functions"
# The judge must be able to find something: here is a command that does what ours may not.
trace guilty sh -c 'echo x >/tmp/evil; mkdir /tmp/evil.d' 2>/dev/null
