#!/usr/bin/env python3
"""reader.py NODE EXPOSITION: derives every sample a captured node should give and compares.

Written from the kernel's formats and the InfiniBand architecture, without the catalog; names.tsv is its own
table of files. Ends with 1 if a sample is missing, too many or wrong. Families about itself are not looked at.
"""
import os
import re
import sys
HERE, NODE = os.path.dirname(os.path.abspath(__file__)), os.path.realpath(sys.argv[1])
SYS = NODE + "/sys"
DRIVER = {"mlx5_core": "mlx5", "mlx5_core.sf": "mlx5", "mlx4_core": "mlx4", "bnxt_en": "bnxt_re", "ice": "irdma",
          "i40e": "irdma", "idpf": "irdma", "hfi1": "hfi1", "efa": "efa"}
REPRESENTOR = re.compile(r"(c\d+)?pf\d+(vf|sf)\d+")
FAULTS, ROWS, SPELLED, WANT, GOT, seen = {}, {}, {}, {}, {}, set()
if os.path.exists(NODE + "/faults.tsv"):
    for line in open(NODE + "/faults.tsv"):
        path, errno = line.rstrip("\n").split("\t")[:2]
        FAULTS[os.path.realpath(f"{NODE}/{path}")] = errno
for line in open(HERE + "/names.tsv"):
    if line.strip() and not line.startswith("#"):
        driver, where, file, name, scale, bits, top = line.rstrip("\n").split("\t")
        ROWS.setdefault((name, driver), []).append((where, file, int(scale), int(bits), top))
        if where != "counters_ext":  # the same counter as in counters, not another spelling
            SPELLED.setdefault(name, set()).add(file)

def read(path):
    """A file's text without its newline; None where it can't be had."""
    if os.path.realpath(path) in FAULTS or not os.path.isfile(path):
        return None
    return open(path, "rb").read(65536).decode("utf-8", "replace").removesuffix("\n")

def number(path, pattern=r"(\d+)"):
    found = re.fullmatch(pattern, read(path) or "")
    return found and (float if "." in found[1] else int)(found[1])

def ls(path):
    return sorted(os.listdir(path)) if os.path.isdir(path) else []
def put(family, value, **labels):
    if value is not None:
        labels = tuple(sorted((k, v) for k, v in labels.items() if v is not None))
        WANT[("railwatch_" + family, labels)] = float(value)

def counters(driver, base, dirs, taken=(), **labels):
    """Every counter of a port, device or netdev but those taken: of a driver's spellings the first that is there."""
    for name in dict.fromkeys(name for name, _ in ROWS if name not in taken):
        rows = [row for who in (driver, "any") for row in ROWS.get((name, who), ()) if row[0] in dirs]
        row = next((row for row in rows if os.path.exists(f"{base}/{row[0].lstrip('@')}/{row[1]}")), None)
        value = row and number(f"{base}/{row[0].lstrip('@')}/{row[1]}")
        if value is None:
            continue
        _, file, scale, bits, top = row
        put(name, float(value) * scale, **labels)
        if top == "stops" and value == 2**bits - 1:
            put("reading_saturated", 1, metric="railwatch_" + name, **labels)
        if len(SPELLED[name]) > 1:
            put("counter_source_info", 1, metric="railwatch_" + name, name=file, **labels)

def pci_of(function):
    """The PCI function something hangs on: its address and directory."""
    found = re.fullmatch(r"(.*/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]))(/.*)?", function)
    return (found[2], found[1]) if found else ("", None)

def driver_of(function):
    return os.path.basename(os.readlink(function + "/driver")) if os.path.islink(function + "/driver") else ""
def device(name, function, driver):
    address, pci = pci_of(function)
    slots = {read(f"{SYS}/bus/pci/slots/{slot}/address"): slot for slot in ls(SYS + "/bus/pci/slots")}
    numa = number(f"{pci}/numa_node") if pci else None
    put("device_info", 1, device=name, driver=driver, pci=address, slot=slots.get(address.split(".")[0], ""),
        numa_node="" if numa is None else str(numa))
    for which, what in (("current", ""), ("max", "max_")) if pci and ".sf." not in function else ():
        gt, lanes = number(f"{pci}/{which}_link_speed", r"([\d.]+) GT/s(?: PCIe)?"), number(f"{pci}/{which}_link_width")
        put(f"pcie_link_{what}speed_transfers_per_second", gt and gt * 1e9, device=name)
        put(f"pcie_link_{what}width_lanes", lanes if lanes not in (0, 63, 255) else None, device=name)

def netdev(name):
    at = f"{SYS}/class/net/{name}"
    if REPRESENTOR.fullmatch(read(at + "/phys_port_name") or ""):
        return  # it counts what its function counts, from the other side
    put("netdev_carrier", number(at + "/carrier", "([01])"), netdev=name)
    put("netdev_up", {"up": 1, "down": 0, "lowerlayerdown": 0}.get(read(at + "/operstate")), netdev=name)
    megabits = number(at + "/speed")
    put("netdev_speed_bytes_per_second", megabits * 125_000 if megabits not in (None, 0, 2**32 - 1) else None, netdev=name)
    put("netdev_mtu_bytes", number(at + "/mtu"), netdev=name)
    counters("", at, (".", "statistics"), netdev=name)

def carrier_of(at, port, function, parent):
    """The netdev of an RDMA port: of its first GID, else the one of its number on the same function."""
    for gid in sorted(map(int, ls(at + "/gid_attrs/ndevs"))):
        if read(f"{at}/gid_attrs/ndevs/{gid}"):
            return read(f"{at}/gid_attrs/ndevs/{gid}")
    own = [n for n in ls(function + "/net") if not REPRESENTOR.fullmatch(read(f"{function}/net/{n}/phys_port_name") or "")]
    fit = [n for n in own if number(f"{function}/net/{n}/dev_port") == int(port) - 1]
    return parent or (fit[0] if len(fit) == 1 else "")

def refused(at, function, driver):
    """NVSwitch management functions: their VPD says so, or every counter answers EINVAL."""
    files = [f"{at}/ports/{p}/counters/{f}" for p in ls(at + "/ports") for f in ls(f"{at}/ports/{p}/counters")]
    return driver == "mlx5" and ("SMDL=SW_MNG" in (read(function + "/vpd") or "") or bool(files) and all(
        FAULTS.get(os.path.realpath(file)) == "EINVAL" for file in files))

for name in ls(SYS + "/class/infiniband"):
    at = os.path.realpath(f"{SYS}/class/infiniband/{name}")
    function = os.path.dirname(os.path.dirname(at)) if os.path.islink(at + "/device") else at
    kernel, parent = driver_of(function), read(at + "/parent")
    driver = DRIVER.get(kernel) or ("rxe" if parent else "siw" if read(at + "/node_type") == "4: RNIC" else "")
    seen.add(function)
    if refused(at, function, driver):
        put("device_skipped", 1, device=name, reason="restricted")
        continue
    device(name, function, kernel)
    for net in ls(function + "/net"):
        netdev(net)
    for port in ls(at + "/ports"):
        base, labels = f"{at}/ports/{port}", {"device": name, "port": port}
        counters(driver, base, ("counters_ext", "counters", "hw_counters"), **labels)
        put("port_state_id", number(base + "/state", r"(\d+): .+"), **labels)
        put("port_physical_state_id", number(base + "/phys_state", r"(\d+): .+"), **labels)
        rate = number(base + "/rate", r"([\d.]+) Gb/sec.*") if (read(base + "/state") or "").startswith("4:") else None
        put("port_rate_bytes_per_second", rate and rate * 125_000_000, **labels)
        put("port_info", 1, netdev=carrier_of(base, port, function, parent), driver=kernel, pci=pci_of(function)[0],
            link_layer=read(base + "/link_layer") or "", firmware=read(at + "/fw_ver") or "",
            board=read(at + "/board_id") or "", guid=(read(at + "/node_guid") or "").replace("0000:0000:0000:0000", ""), **labels)
    # A driver that counts per port and for the whole device counts the same thing twice.
    taken = {family[10:] for family, labels in WANT if ("device", name) in labels and dict(labels).get("port")}
    counters(driver, at, ("@hw_counters",), taken, device=name)
for name in ls(SYS + "/class/net"):
    at = os.path.realpath(f"{SYS}/class/net/{name}")
    function = at if os.path.isdir(at + "/bonding") else os.path.dirname(os.path.dirname(at))
    if (os.path.islink(at + "/device") or function == at) and function not in seen:
        seen.add(function)
        device(name, function, driver_of(function))
        netdev(name)
for address in ls(SYS + "/bus/pci/devices"):
    function = os.path.realpath(f"{SYS}/bus/pci/devices/{address}")
    why = {"": "no_driver", "vfio-pci": "passthrough"}.get(driver_of(function), "moved")
    if (read(function + "/class") or "").startswith("0x02") and not any(s.startswith(function) for s in seen):
        put("device_skipped", 1, device=address, reason=why)
for line in open(sys.argv[2]):
    found = re.fullmatch(r'([a-z0-9_]+)(?:\{(.*)\})? (\S+)\n', line)
    if found and not re.match("railwatch_(build_info|config_problems)", line):
        labels = re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', found[2] or "")
        labels = tuple(sorted((k, v.replace('\\"', '"').replace("\\\\", "\\")) for k, v in labels))
        GOT[(found[1], labels)] = float(found[3])
wrong = [("missing" if key not in GOT else "extra" if key not in WANT else "differs", key)
         for key in WANT.keys() | GOT.keys() if WANT.get(key) != GOT.get(key)]
print("\n".join(f"{what} {k[0]} {dict(k[1])} want {WANT.get(k)}, have {GOT.get(k)}" for what, k in sorted(wrong)))
print(f"{len(WANT)} samples derived, {len(GOT)} given, {len(wrong)} differences", file=sys.stderr)
sys.exit(bool(wrong))
