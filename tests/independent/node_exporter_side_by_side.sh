#!/bin/sh
# node_exporter_side_by_side.sh [PROGRAM]: one device lacks counters/. Debian's node_exporter then shows no
# InfiniBand metric at all; railwatch shows every other device.
# PROGRAM is railwatch, by default the debug build. Ends with 0 if both are as said, 1 if not,
# 77 where node_exporter is not installed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
railwatch=${1:-$root/target/debug/railwatch}
node=$root/tests/fixtures/counters-missing-one
exporter=$(command -v prometheus-node-exporter) || {
    echo "SKIPPED: prometheus-node-exporter is not installed"
    exit 77
}
work=$(mktemp -d)
exporter_pid=
trap '[ -z "$exporter_pid" ] || kill "$exporter_pid" 2>/dev/null || :; rm -rf "$work"' EXIT

# scrape SYSFS OUT: what node_exporter shows of a sysfs.
scrape() {
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$exporter" --path.sysfs "$1" --collector.disable-defaults --collector.infiniband \
        --web.listen-address "127.0.0.1:$port" 2>"$work/log" &
    exporter_pid=$!
    python3 - "$port" >"$2" <<'PYTHON'
import sys, time, urllib.request
end = time.monotonic() + 15
while True:
    try:
        sys.stdout.write(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read().decode())
        break
    except OSError:
        if time.monotonic() > end:
            raise
        time.sleep(0.05)
PYTHON
    kill "$exporter_pid"
    wait "$exporter_pid" 2>/dev/null || :
    exporter_pid=
}

# devices FILE PREFIX: how many devices have lines.
devices() {
    grep -o "^$2[a-z_]*{device=\"[a-z0-9_]*\"" "$1" | sed 's/.*device=//' | sort -u | wc -l
}

scrape "$node/sys" "$work/theirs"
cp -a "$node/sys" "$work/without"
rm "$work/without/class/infiniband/irdma0"
scrape "$work/without" "$work/theirs-without"
"$railwatch" metrics --node "$node" --web.disable-exporter-metrics >"$work/ours"

theirs=$(devices "$work/theirs" node_infiniband_)
theirs_without=$(devices "$work/theirs-without" node_infiniband_)
ours=$(devices "$work/ours" railwatch_port_)
version=$("$exporter" --version 2>&1 | sed -n 's/.*version \([0-9.]*\).*/\1/p' | head -1)
printf '%-42s %s\n' \
    "eight mlx5 ports and one irdma device" "devices with InfiniBand metrics" \
    "  node_exporter $version" "$theirs" \
    "  railwatch" "$ours" \
    "the same without the irdma device" "" \
    "  node_exporter $version" "$theirs_without"
[ "$theirs" -eq 0 ] && [ "$theirs_without" -eq 8 ] && [ "$ours" -eq 9 ]
