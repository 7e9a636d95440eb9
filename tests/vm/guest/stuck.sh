# A device whose read sleeps uninterruptibly: the others keep their cadence, /metrics stays quick, a restart serves at once.
. /host/guest/common.sh
bring_up
armed=/sys/module/railwatch_stuck/parameters/armed
healthy='railwatch_port_receive_packets_total{device="healthy0",port="1"}'
stuck='railwatch_port_receive_packets_total{device="stuck0",port="1"}'

# The longest of ten scrapes, hundredths of seconds.
slowest() {
  worst=0
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    began=$(now)
    wget -qO- "$URL/metrics" >/dev/null || fail "no answer"
    took=$(($(now) - began))
    [ "$took" -le "$worst" ] || worst=$took
    sleep 0.3
  done
  echo "$worst"
}

# A thread of this process that is in the D state.
in_d_state() { cat "/proc/$1"/task/*/stat 2>/dev/null | grep -q '(stuck0) D '; }

start
until_ok 100 eval '[ -n "$(value "$stuck")" ]' || fail "stuck0 is not read while it is well"
calm=$(slowest)
reader=$(children "$daemon")
[ "$(echo $reader | wc -w)" = 1 ] || fail "not one reader: $reader"

echo 1 >$armed
until_ok 100 in_d_state $reader || fail "no thread of the reader is in the D state"
pass "a thread of the reader is in the D state"

# While the device hangs and nobody has been replaced yet, the others go on once a second.
before=$(value "$healthy")
for second in 1 2 3 4 5; do
  sleep 1.2
  after=$(value "$healthy")
  [ -n "$after" ] && [ "$after" -gt "$before" ] || fail "healthy0 stood still in second $second: $before, $after"
  before=$after
done
pass "healthy0 keeps its cadence while stuck0 hangs"
hanging=$(slowest)
# A loaded emulator scatters; what must not be is a wait for the device, which hangs for good.
[ "$hanging" -le $((calm * 3 + 50)) ] || fail "/metrics slowed down from $calm to $hanging hundredths"
pass "/metrics: slowest of ten $calm hundredths before, $hanging while it hangs"

until_ok 300 eval '[ "$(value "railwatch_source_abandoned_total{source=\"infiniband\"}")" = 1 ]' || fail "no reader was abandoned"
[ "$(value 'railwatch_device_skipped{device="stuck0",reason="stalled"}')" = 1 ] || fail "the stalled device is not told"
[ -z "$(value "$stuck")" ] || fail "stuck0 still has a value"
in_d_state $reader || fail "the old reader is gone: this proves nothing"
fresh=$(children "$daemon" | tr ' ' '\n' | grep -v "^$reader\$" | head -n 1)
[ -n "$fresh" ] || fail "no fresh reader"
before=$(value "$healthy")
sleep 2.2
[ "$(value "$healthy")" -gt "$before" ] || fail "the fresh reader does not read healthy0"
pass "reader $reader abandoned in the D state, reader $fresh reads on without stuck0"

began=$(now)
kill -TERM $daemon
wait $daemon || fail "the daemon did not end cleanly"
in_d_state $reader || fail "the old reader is gone: this proves nothing"
start
took=$(($(now) - began))
until_ok 50 eval '[ -n "$(value "$healthy")" ]' || fail "nothing served after the restart"
[ "$took" -le 500 ] || fail "the restart took $took hundredths of a second"
in_d_state $reader || fail "the old reader is gone: this proves nothing"
pass "restart served after $took hundredths while the old reader still hangs"
[ "$(value 'railwatch_device_skipped{device="stuck0",reason="stalled"}')" = 1 ] || fail "the restart forgot that stuck0 hangs"
pass "the restart left stuck0 alone"

echo 0 >$armed
until_ok 100 eval '! [ -e /proc/$reader/stat ] || ! in_d_state $reader' || fail "the old reader does not end"
until_ok 900 eval '[ -n "$(value "$stuck")" ]' || fail "stuck0 does not come back"
[ -z "$(value 'railwatch_device_skipped{device="stuck0",reason="stalled"}')" ] || fail "stuck0 is read and skipped"
pass "stuck0 is read again after its rest"
kill -TERM $daemon
wait $daemon || fail "the daemon did not end cleanly"
