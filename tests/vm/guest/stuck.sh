# A device whose read sleeps uninterruptibly: the others keep their cadence, /metrics stays quick, a restart serves at once.
. /host/guest/common.sh
bring_up
armed=/sys/module/railwatch_stuck/parameters/armed
healthy='railwatch_port_receive_packets_total{device="healthy0",port="1"}'
stuck='railwatch_port_receive_packets_total{device="stuck0",port="1"}'
skipped='railwatch_device_skipped{device="stuck0",reason="stalled"}'
# Whatever has a driver of its own: a soft RoCE device, and a network card of the emulator.
others='railwatch_rdma_transmit_packets_total{device="rxe0",port="1"} railwatch_netdev_receive_packets_total{netdev="eth0"}'

# watch SECONDS NAME: scrapes without a pause; leaves polls, changes of healthy0's count, the longest time without a change
# and the slowest answer (hundredths) in $polls, $changes, $still and $slowest.
watch() {
  scrape || fail "no answer: $2"
  until=$(($(now) + $1 * 100)) polls=$(value railwatch_polls_total) count=$(value "$healthy") since=$(now)
  changes=0 still=0 slowest=0
  while began=$(now) && [ "$began" -lt "$until" ]; do
    scrape || fail "no answer: $2"
    ended=$(now)
    [ $((ended - began)) -le "$slowest" ] || slowest=$((ended - began))
    for other in $others; do [ -n "$(value "$other")" ] || fail "$other is gone: $2"; done
    if [ "$(value "$healthy")" != "$count" ]; then
      count=$(value "$healthy")
      changes=$((changes + 1))
      since=$ended
    fi
    [ $((ended - since)) -le "$still" ] || still=$((ended - since))
    sleep 0.05
  done
  polls=$(($(value railwatch_polls_total) - polls))
}

# A thread of this process that is in the D state.
in_d_state() { cat "/proc/$1"/task/*/stat 2>/dev/null | grep -q '(stuck0) D '; }
hangs_still() { in_d_state "$old" || fail "the old reader is gone: this proves nothing"; }

start || fail "the daemon does not get ready"
until_ok 100 appears "$stuck" || fail "stuck0 is not read while it is well"
watch 6 "all are well"
[ "$changes" -ge $((polls - 1)) ] || fail "healthy0 was seen to change $changes times in $polls polls: this proves nothing"
pass "calm: $changes changes in $polls polls, $still hundredths the longest without one, slowest /metrics $slowest hundredths"
calm=$slowest
old=$(children "$daemon")
[ "$(echo "$old" | wc -l)" = 1 ] || fail "not one reader:" $old

echo 1 >$armed
until_ok 100 in_d_state "$old" || fail "no thread of the reader is in the D state"
armed_at=$(now)
pass "a thread of reader $old is in the D state"
watch 6 "stuck0 hangs"
hangs_still
[ "$(children "$daemon")" = "$old" ] || fail "the reader was replaced before its time"
[ "$changes" -ge $((polls - 1)) ] || fail "healthy0 changed $changes times in $polls polls while stuck0 hangs"
# A loaded emulator scatters; what must not be is a wait for the device, which never answers.
[ "$slowest" -le $((calm * 3 + 50)) ] || fail "/metrics slowed down from $calm to $slowest hundredths"
[ -z "$(value "$stuck")" ] || fail "stuck0 still has a value"
pass "hanging: $changes changes in $polls polls, $still hundredths the longest without one, slowest /metrics $slowest hundredths"

watch 8 "the reader is replaced"
until_ok 150 reaches 'railwatch_source_abandoned_total{source="infiniband"}' 1 || fail "no reader was abandoned"
[ "$still" -le 500 ] || fail "healthy0 stood still for $still hundredths while the reader was replaced"
[ "$(value "$skipped")" = 1 ] || fail "the stalled device is not told"
[ -z "$(value "$stuck")" ] || fail "stuck0 still has a value"
hangs_still
fresh=$(children "$daemon" | grep -vx "$old" | head -n 1)
[ -n "$fresh" ] || fail "no fresh reader"
! in_d_state "$fresh" || fail "the fresh reader hangs, too"
pass "replaced: $still hundredths the longest without a change, $(($(now) - armed_at)) hundredths after the device stopped"
watch 4 "a fresh reader reads"
[ "$changes" -ge $((polls - 1)) ] || fail "healthy0 changed $changes times in $polls polls with the fresh reader"
pass "reader $old abandoned in the D state, reader $fresh reads on without stuck0"
! ls -l "/proc/$old/fd" | grep -q socket: || fail "the old reader holds a socket"

began=$(now)
kill -TERM "$daemon"
wait "$daemon" || fail "the daemon did not end cleanly"
hangs_still
start || fail "the daemon does not get ready again"
until_ok 50 appears "$healthy" || fail "nothing served after the restart"
took=$(($(now) - began))
[ "$took" -le 500 ] || fail "the restart took $took hundredths of a second"
hangs_still
pass "restart: healthy0 served after $took hundredths while reader $old still hangs"
[ "$(value "$skipped")" = 1 ] || fail "the restart forgot that stuck0 hangs"
[ -z "$(value "$stuck")" ] || fail "stuck0 has a value after the restart"
pass "the restart leaves stuck0 alone"

echo 0 >$armed
gone() { ! [ -e "/proc/$old/stat" ]; }
until_ok 100 gone || fail "the old reader does not end"
until_ok 900 appears "$stuck" || fail "stuck0 does not come back"
[ -z "$(value "$skipped")" ] || fail "stuck0 is read and skipped"
pass "stuck0 is read again after its rest, $(($(now) - armed_at)) hundredths after it stopped"
kill -TERM "$daemon"
wait "$daemon" || fail "the daemon did not end cleanly"
