"""An 8-port host as a sysfs tree, for timing exporters: values don't matter here, shape and number of files do.

Names are those a ConnectX-7 in RoCE mode shows on a current kernel: 21 files in counters/, 24 in hw_counters/.
"""
import os

COUNTERS = (
    "symbol_error link_error_recovery link_downed port_rcv_errors port_rcv_remote_physical_errors "
    "port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors port_rcv_constraint_errors "
    "local_link_integrity_errors excessive_buffer_overrun_errors VL15_dropped port_xmit_data port_rcv_data "
    "port_xmit_packets port_rcv_packets unicast_xmit_packets unicast_rcv_packets multicast_xmit_packets "
    "multicast_rcv_packets port_xmit_wait"
).split()
HW_COUNTERS = (
    "rx_write_requests rx_read_requests rx_atomic_requests out_of_buffer out_of_sequence duplicate_request "
    "rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err resp_local_length_error "
    "resp_cqe_error req_cqe_error req_remote_invalid_request req_remote_access_errors resp_remote_access_errors "
    "resp_cqe_flush_error req_cqe_flush_error roce_adp_retrans rp_cnp_handled rp_cnp_ignored np_cnp_sent "
    "np_ecn_marked_roce_packets lifespan"
).split()
STATISTICS = "rx_bytes rx_packets rx_errors rx_dropped tx_bytes tx_packets tx_errors tx_dropped".split()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f"{text}\n")


def link(path, target):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(os.path.relpath(target, os.path.dirname(path)), path)


def nic(root, index):
    """One function with one RDMA port and its netdev."""
    address = f"0000:{0x21 + index:02x}:00.0"
    function = f"{root}/devices/pci0000:{0x20 + index:02x}/0000:{0x20 + index:02x}:01.0/{address}"
    for name, text in {
        "vendor": "0x15b3", "device": "0x1021", "class": "0x020000", "numa_node": index // 4,
        "current_link_speed": "32.0 GT/s PCIe", "max_link_speed": "32.0 GT/s PCIe",
        "current_link_width": 16, "max_link_width": 16, "power/runtime_status": "active",
    }.items():
        write(f"{function}/{name}", text)
    os.makedirs(f"{root}/bus/pci/drivers/mlx5_core", exist_ok=True)
    link(f"{function}/driver", f"{root}/bus/pci/drivers/mlx5_core")
    link(f"{root}/bus/pci/devices/{address}", function)

    device, netdev = f"{function}/infiniband/mlx5_{index}", f"{function}/net/ens{index}np0"
    for name, text in {
        "node_type": "1: CA", "node_guid": f"b83f:d203:0000:{index:04x}", "fw_ver": "28.43.2026",
        "sys_image_guid": f"b83f:d203:0000:{index:04x}", "hca_type": "MT4129", "board_id": "MT_0000000838",
    }.items():
        write(f"{device}/{name}", text)
    port = f"{device}/ports/1"
    for name, text in {
        "state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "400 Gb/sec (4X NDR)", "link_layer": "Ethernet",
        "lid": "0x0", "sm_lid": "0x0", "cap_mask": "0x00010000", "gid_attrs/ndevs/0": f"ens{index}np0",
        "gid_attrs/types/0": "RoCE v2", "gids/0": f"fe80:0000:0000:0000:ba3f:d2ff:fe00:{index:04x}",
    }.items():
        write(f"{port}/{name}", text)
    for position, name in enumerate(COUNTERS):
        # Small enough for the narrowest counter, or every one would stand at its top.
        write(f"{port}/counters/{name}", (position % 13) + 1)
    for position, name in enumerate(HW_COUNTERS):
        write(f"{port}/hw_counters/{name}", 1000 * index + position)
    link(f"{device}/device", function)
    link(f"{root}/class/infiniband/mlx5_{index}", device)

    for name, text in {
        "operstate": "up", "carrier": 1, "speed": 400000, "mtu": 9000, "flags": "0x1003", "ifindex": index + 2,
        "type": 1, "dev_port": 0, "dev_id": "0x0", "carrier_changes": 2, "carrier_down_count": 1,
        "address": f"b8:3f:d2:00:00:{index:02x}",
    }.items():
        write(f"{netdev}/{name}", text)
    for position, name in enumerate(STATISTICS):
        write(f"{netdev}/statistics/{name}", 10**9 + position)
    link(f"{netdev}/device", function)
    link(f"{root}/class/net/ens{index}np0", netdev)


def host(root, ports):
    for index in range(ports):
        nic(root, index)
