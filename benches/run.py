#!/usr/bin/env python3
"""run.py BINARY [--smoke] [--only NAME…]: railwatch beside Debian's node_exporter on one 8-port tree in memory.

Both run at the same time and are scraped once a second in alternating order, so that whatever else the machine does
falls on both; figures are medians over rounds. CPU is summed over every thread of every process of ours.
"""
import argparse, gzip, http.client, os, shutil, signal, statistics, subprocess, sys, tempfile, time

import tree

OURS, THEIRS, PORTS = 19409, 19410, 8
HEADERS = {"Accept-Encoding": "gzip", "Accept": "text/plain;version=0.0.4", "X-Prometheus-Scrape-Timeout-Seconds": "10"}


def family(pid):
    """The process and every descendant."""
    found, index = [pid], 0
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(entry))
    while index < len(found):
        found += children.get(found[index], [])
        index += 1
    return found


def cpu_seconds(pid):
    """Time on a CPU of every thread, from schedstat (nanoseconds): /proc/PID/stat counts in hundredths only."""
    total = 0
    for member in family(pid):
        for task in os.listdir(f"/proc/{member}/task"):
            with open(f"/proc/{member}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def memory(pid, key):
    total = 0
    for member in family(pid):
        with open(f"/proc/{member}/smaps_rollup") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith(key + ":"))
    return total * 1024


class Exporter:
    def __init__(self, name, port, command):
        self.name, self.port = name, port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.latencies, self.cpu, self.samples = [], [], 0
        for _ in range(200):
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                self.scrape()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"{name} ended at once: {command}")
                time.sleep(0.05)
        sys.exit(f"{name} does not answer on port {port}")

    def scrape(self):
        began = time.perf_counter()
        self.connection.request("GET", "/metrics", headers=HEADERS)
        answer = self.connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            sys.exit(f"{self.name}: status {answer.status}")
        if answer.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.samples = sum(1 for line in body.splitlines() if line and not line.startswith(b"#"))
        return took, body

    def value(self, metric):
        for line in self.scrape()[1].decode().splitlines():
            if line.startswith(metric + " ") or line.startswith(metric + "{"):
                return float(line.rsplit(" ", 1)[1])
        sys.exit(f"{self.name} has no {metric}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def railwatch(arguments, root, scratch, *extra):
    command = [arguments.binary, "run", f"--path.sysfs={root}", f"--web.listen-address=127.0.0.1:{OURS}", *extra]
    environment = {**os.environ, "RAILWATCH__PATH__STATE": f"{scratch}/state", "RAILWATCH__PATH__RUNTIME": f"{scratch}/run"}
    os.environ.update(environment)
    return Exporter("railwatch", OURS, command)


def node_exporter(root):
    return Exporter("node_exporter", THEIRS, [
        shutil.which("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{THEIRS}", f"--path.sysfs={root}",
        "--log.level=error", "--collector.disable-defaults", "--collector.infiniband"])


def side_by_side(arguments, root, scratch):
    rounds, scrapes = (2, 3) if arguments.smoke else (8, 20)
    pair = [railwatch(arguments, root, scratch), node_exporter(root)]
    time.sleep(1 if arguments.smoke else 5)
    for number in range(rounds):
        order = pair if number % 2 == 0 else pair[::-1]
        before = {exporter.name: cpu_seconds(exporter.process.pid) for exporter in pair}
        for _ in range(scrapes):
            began = time.monotonic()
            for exporter in order:
                exporter.latencies.append(exporter.scrape()[0])
            # A little over the publish interval: every scrape of ours finds a snapshot nobody has encoded.
            time.sleep(max(0, began + 1.03 - time.monotonic()))
        for exporter in pair:
            exporter.cpu.append((cpu_seconds(exporter.process.pid) - before[exporter.name]) / scrapes)
    ours, theirs = pair
    rows = [
        ("CPU per scrape, ms", statistics.median(ours.cpu) * 1e3, statistics.median(theirs.cpu) * 1e3, "1/2"),
        ("cold scrape, median ms", statistics.median(ours.latencies) * 1e3, statistics.median(theirs.latencies) * 1e3, "1/3"),
        ("memory, MiB (PSS of all ours, RSS of theirs)", memory(ours.process.pid, "Pss") / 2**20, memory(theirs.process.pid, "Rss") / 2**20, "2/3"),
        ("samples served", ours.samples, theirs.samples, "-"),
    ]
    for exporter in pair:
        exporter.stop()
    print(f"\nside by side, {PORTS} ports, {rounds} rounds of {scrapes} scrapes, one a second\n")
    print("| figure | railwatch | node_exporter | ratio | allowed |\n|---|---|---|---|---|")
    for name, own, other, allowed in rows:
        print(f"| {name} | {own:.2f} | {other:.2f} | {own / other:.2f} | {allowed} |")


def idle(arguments, root, scratch):
    seconds = 3 if arguments.smoke else 300
    exporter = railwatch(arguments, root, scratch)
    time.sleep(2)
    before, began = cpu_seconds(exporter.process.pid), time.monotonic()
    time.sleep(seconds)
    share = (cpu_seconds(exporter.process.pid) - before) / (time.monotonic() - began)
    exporter.stop()
    print(f"\nidle, {PORTS} ports, default lanes, {seconds} s: {100 * share:.3f} % of a core (allowed 0.3 %)")


def growth(arguments, root, scratch):
    first, last, factor = (200, 400, 50) if arguments.smoke else (20_000, 100_000, 400)
    exporter = railwatch(arguments, root, scratch, f"--test.clock-factor={factor}")
    resident = {}
    for target in (first, last):
        while (ticks := exporter.value("railwatch_polls_total")) < target:
            time.sleep(max(0.05, min(5, (target - ticks) / factor / 2)))
        resident[target] = (memory(exporter.process.pid, "Rss"), ticks)
    exporter.stop()
    grown = (resident[last][0] - resident[first][0]) / 1024
    print(f"\nmemory at poll {resident[last][1]:.0f} minus at poll {resident[first][1]:.0f}: {grown:.0f} KiB (allowed 256 KiB)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--smoke", action="store_true", help="seconds instead of minutes; proves that it runs, not how fast")
    parser.add_argument("--only", nargs="*", choices=["side_by_side", "idle", "growth"])
    arguments = parser.parse_args()
    arguments.binary = os.path.abspath(arguments.binary)
    if not shutil.which("prometheus-node-exporter"):
        print("prometheus-node-exporter is not installed")
        sys.exit(77)
    print(f"binary: {os.path.getsize(arguments.binary) / 2**20:.1f} MiB")
    memory_backed = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="railwatch-bench-", dir=memory_backed) as root, tempfile.TemporaryDirectory() as scratch:
        tree.host(root, PORTS)
        for part in (side_by_side, idle, growth):
            if not arguments.only or part.__name__ in arguments.only:
                part(arguments, root, scratch)


if __name__ == "__main__":
    main()
