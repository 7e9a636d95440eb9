#!/usr/bin/env python3
"""reader.py NODE EXPOSITION: derives what contract.md promises from a captured node, compares with an exposition."""
import os, re, sys
from os.path import basename, dirname, exists, isdir, join, realpath
DRIVER = {'mlx5_core': 'mlx5', 'mlx5_core.sf': 'mlx5', 'mlx4_core': 'mlx4', 'bnxt_en': 'bnxt_re', 'ice': 'irdma',
          'i40e': 'irdma', 'idpf': 'irdma', 'irdma': 'irdma', 'efa': 'efa', 'hfi1': 'hfi1'}
PLACES = ['counters_ext', 'counters', 'hw_counters', '@hw_counters', 'statistics', '.']
DATA = re.compile(r'port_((uni|multi)cast_)?(receive|transmit)_(bytes|packets)_total$')
IGNORED = re.compile(r'railwatch_(build_info|config_problems|polls_total|source_|read_faults_total|host_info|process_'
                     r'|raw_reading|finding_|detector_|maintenance)')
node, want, faults, names, spelled = realpath(sys.argv[1]), {}, {}, [], {}
def fault(path): return faults.get(realpath(path))
def raw(path):
    try:
        return b'' if fault(path) else open(path, 'rb').read()
    except OSError:
        return b''
def text(*parts): return raw(join(*parts)).decode('utf-8', 'replace').strip()
def number(*parts, pattern=r'(\d+)$'):
    m = re.match(pattern, text(*parts))
    return int(m.group(1)) if m and int(m.group(1)) < 1 << 64 else None
def ls(*parts): return sorted(os.listdir(join(*parts))) if isdir(join(*parts)) and not fault(join(*parts)) else []
def link(path): return basename(os.readlink(path)) if os.path.islink(path) and not fault(path) else ''
def target(path): return realpath(path) if exists(path) and not fault(path) else ''
def put(family, value, **labels):
    if value is not None:
        want['railwatch_' + family, tuple(sorted(labels.items()))] = value
def counters(driver, dirs, labels, skip=()):
    """Puts the widest valid candidate of each metric of one port, device or netdev; returns the metrics."""
    rows, best = {}, {}
    for drv, place, file, *rest in sorted(names, key=lambda r: r[0] != 'any'):  # a driver's own row replaces any's
        if place in dirs and drv in ('any', driver) and rest[0] != '?':
            rows[place, file] = rest
    for (place, file), (metric, factor, bits, end) in rows.items():
        value = number(dirs[place], file)
        if value is None or metric in skip:
            continue
        if place == 'counters' and DATA.match(metric) and not (
                exists(join(dirs[place], 'unicast_rcv_packets')) or value >> 32):
            bits = 32  # rdma.md 1.3: 32 bits without the extended set
        rank = (0 if DATA.match(metric) else -bits, PLACES.index(place))
        if metric not in best or rank < best[metric][0]:
            best[metric] = (rank, file, value, factor, bits, end)
    for metric, (_, file, value, factor, bits, end) in best.items():
        put(metric, value * factor, **labels)
        if len(spelled[metric]) > 1:
            put('counter_source_info', 1, metric=metric, name=file, **labels)
        if end == 'stops' and value == (1 << bits) - 1:
            put('reading_saturated', 1, metric=metric, **labels)
    return set(best)
def function(real):
    while real.startswith(node) and not re.match(r'[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$', basename(real)):
        real = dirname(real)
    return real if real.startswith(node) else ''
def device(name, real):
    fn, slots = function(real), join(node, 'sys/bus/pci/slots')
    pci, driver = basename(fn), link(join(real, 'driver')) if real else ''
    slot = [s for s in ls(slots) if pci and text(slots, s, 'address') == pci.rsplit('.', 1)[0]] + ['']
    numa = text(fn, 'numa_node') if fn else ''
    put('device_info', 1, device=name, driver=driver, pci=pci, slot=slot[0], numa_node=numa if numa.isdigit() else '')
    for file, metric in (('current_link_', 'pcie_link_'), ('max_link_', 'pcie_link_max_')):
        if fn and '.sf.' not in basename(real):
            m, width = re.match(r'(\d+(\.\d+)?) GT/s', text(fn, file + 'speed')), number(fn, file + 'width')
            put(metric + 'speed_transfers_per_second', float(m.group(1)) * 1e9 if m else None, device=name)
            put(metric + 'width_lanes', width if width not in (0, 63, 255) else None, device=name)
    return driver, pci
def netdev(path):
    n, flags, speed = basename(path), text(path, 'flags'), number(path, 'speed')
    counters('any', {'statistics': join(path, 'statistics')}, {'netdev': n})
    put('netdev_mtu_bytes', number(path, 'mtu'), netdev=n)
    put('netdev_carrier', number(path, 'carrier') if not flags or int(flags, 16) & 1 else None, netdev=n)
    put('netdev_carrier_down_total', number(path, 'carrier_down_count'), netdev=n)
    put('netdev_speed_bytes_per_second', speed * 125000 if speed and speed != 0xffffffff else None, netdev=n)
    put('netdev_up', {'up': 1, 'down': 0}.get(text(path, 'operstate')), netdev=n)
def port_netdev(path, port, nets, ports):
    for i in sorted(ls(path, 'gid_attrs/ndevs'), key=int):
        if text(path, 'gid_attrs/ndevs', i):
            return text(path, 'gid_attrs/ndevs', i)
    by = [n for n in nets if number(n, 'dev_port') == int(port) - 1]
    if len(ports) > 1 and not any(number(n, 'dev_port') for n in nets):
        by = [n for n in nets if text(n, 'dev_id') and int(text(n, 'dev_id'), 16) == int(port) - 1] or by
    by = nets if len(ports) == len(nets) == 1 else by
    return basename(by[0]) if by else text(path, '../../parent')
def restricted(path, fn, kernel):
    files = [join(path, 'ports', p, 'counters', f) for p in ls(path, 'ports') for f in ls(path, 'ports', p, 'counters')]
    refused = kernel == 'mlx5' and fault(join(fn, 'vpd')) and files and all(fault(f) == 'EINVAL' for f in files)
    return b'SMDL=SW_MNG' in raw(join(fn, 'vpd')) or refused
def rdma(path, nets):
    name, real = basename(path), target(join(path, 'device'))
    kernel = 'rxe' if exists(join(path, 'parent')) else DRIVER.get(link(join(real, 'driver')), '') if real else 'siw'
    if real and restricted(path, function(real), kernel):
        return put('device_skipped', 1, device=name, reason='restricted')
    driver, pci = device(name, real)
    guid, seen, ports = re.sub('^[0:]+$', '', text(path, 'node_guid')), set(), ls(path, 'ports')
    for p in ports:
        at, labels = join(path, 'ports', p), {'device': name, 'port': p}
        seen |= counters(kernel, {k: join(at, k) for k in PLACES[:3]}, labels)
        put('port_info', 1, netdev=port_netdev(at, p, nets, ports), driver=driver, pci=pci, guid=guid, **labels,
            link_layer=text(at, 'link_layer').replace('Unknown', ''), firmware=text(path, 'fw_ver'),
            board=text(path, 'board_id'))
        state, rate = number(at, 'state', pattern=r'(\d+):'), re.match(r'(\d+(\.\d+)?) Gb/sec', text(at, 'rate'))
        put('port_state_id', state, **labels)
        put('port_physical_state_id', number(at, 'phys_state', pattern=r'(\d+):'), **labels)
        put('port_rate_bytes_per_second', float(rate.group(1)) * 125e6 if rate and state == 4 else None, **labels)
    counters(kernel, {'@hw_counters': join(path, 'hw_counters')}, {'device': name}, seen)
    [netdev(n) for n in nets]
def derive():
    cls, owners, taken = join(node, 'sys/class'), [], set()
    nets = {n: target(join(n, 'device')) for n in [join(cls, 'net', x) for x in ls(cls, 'net')] if isdir(n)}
    shown = [n for n in nets if not re.match(r'(c\d+)?pf\d+(vf|sf)\d+$', text(n, 'phys_port_name'))]
    for path in (join(cls, 'infiniband', d) for d in ls(cls, 'infiniband')):
        owners.append(target(join(path, 'device')))
        mine = [n for n in shown if nets[n] and nets[n] == owners[-1]]
        taken |= set(mine)
        rdma(path, mine)
    for n in shown:
        if n not in taken and (nets[n] or isdir(join(n, 'bonding'))):
            device(basename(n), nets[n]), netdev(n)
    for f in ls(node, 'sys/bus/pci/devices'):
        fn = realpath(join(node, 'sys/bus/pci/devices', f))
        used, drv = any((o + '/').startswith(fn + '/') for o in owners + [*nets.values()]), link(join(fn, 'driver'))
        if text(fn, 'class').startswith('0x02') and not used:
            put('device_skipped', 1, device=f, reason={'': 'no_driver', 'vfio-pci': 'passthrough'}.get(drv, 'moved'))
def given(path):
    have = {}
    for line in open(path, encoding='utf-8'):
        m = re.match(r'(railwatch_\w+)(\{(.*)\})? (\S+)( -?\d+)?$', line.rstrip('\n'))
        if m and not IGNORED.match(line):
            labels = {k: re.sub(r'\\(.)', lambda e: e.group(1).replace('n', '\n'), v)
                      for k, v in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m.group(3) or '')}
            labels.update({'metric': labels['metric'].replace('railwatch_', '')} if 'metric' in labels else {})
            have[m.group(1), tuple(sorted(labels.items()))] = m.group(4)
    return have
for row in [x.split('\t') for x in raw(join(node, 'faults.tsv')).decode().splitlines()]:
    if len(row) > 1 and row[1] != '-':
        faults[realpath(join(node, row[0]))] = row[1]
for line in open(join(dirname(realpath(__file__)), 'names.tsv'), encoding='utf-8'):
    d, place, file, metric, factor, bits, end = line.rstrip('\n').split('\t')[:7]
    names.append((d, place, file, metric, int(factor), int(bits), end))
    spelled.setdefault(metric, set()).update([] if place == 'counters_ext' else [file])
derive()
have, differences = given(sys.argv[2]), 0
for key in sorted({**want, **have}):
    w, h = want.get(key), have.get(key)
    if w is None or h is None or float(h) != float(w):
        differences += 1
        kind = 'missing' if h is None else 'extra' if w is None else 'differs'
        print(kind, key[0], '{' + ','.join(f'{k}="{v}"' for k, v in key[1]) + '}', f'want {w}, have {h}')
print(f'{len(want)} samples derived, {len(have)} given, {differences} differences', file=sys.stderr)
sys.exit(1 if differences else 0)
