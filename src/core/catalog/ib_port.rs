//! Rows of the `ib_port` family: the standard port counters of the InfiniBand Architecture, which
//! the kernel core gives the same names for every driver.
//!
//! The widths are those of the fields in the PMA's answer (`PORT_PMA_ATTR` list of
//! `K:drivers/infiniband/core/sysfs.c`), so they hold whatever the driver; that they stick at their
//! top is a rule of the specification (IBA vol. 1 §16.1.3.5). Drivers have entries of their own where they
//! count something narrower or mask a wider number.

use super::row::{AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, Row, Scope, Source, Unit};
use crate::core::units::BYTES_PER_WORD;

/// Names that every kernel with a `counters` directory shows in it. One that is missing there is a
/// fault; the others depend on what the device's extended counters hold.
pub(super) const ALWAYS: [&str; 16] = [
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
    "port_xmit_data",
    "port_rcv_data",
    "port_xmit_packets",
    "port_rcv_packets",
];

/// The rows.
pub(super) const ROWS: &[Row] = &[
    Row {
        metric: "railwatch_port_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent through the RDMA port; on mlx5 and on Ethernet those of this function alone",
        concept: Some("rdma_transmit_bytes"),
        yields_to: Some("railwatch_rdma_transmit_bytes_total"),
        entries: &[
            words(mlx5(ext("port_xmit_data_64"))),
            words(mlx5(extended("port_xmit_data"))),
            words(bnxt(extended("port_xmit_data"))),
            words(rxe(extended("port_xmit_data"))),
            words(ext("port_xmit_data_64")),
            words(either("port_xmit_data")),
        ],
        ..TRAFFIC
    },
    Row {
        metric: "railwatch_port_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received through the RDMA port; on mlx5 and on Ethernet those of this function alone",
        concept: Some("rdma_receive_bytes"),
        yields_to: Some("railwatch_rdma_receive_bytes_total"),
        entries: &[
            words(mlx5(ext("port_rcv_data_64"))),
            words(mlx5(extended("port_rcv_data"))),
            words(bnxt(extended("port_rcv_data"))),
            words(rxe(extended("port_rcv_data"))),
            words(ext("port_rcv_data_64")),
            words(either("port_rcv_data")),
        ],
        ..TRAFFIC
    },
    Row {
        metric: "railwatch_port_transmit_packets_total",
        unit: Unit::Packets,
        help: "Packets sent through the RDMA port; on mlx5 and on Ethernet those of this function alone",
        concept: Some("rdma_transmit_packets"),
        yields_to: Some("railwatch_rdma_transmit_packets_total"),
        entries: &[
            mlx5(ext("port_xmit_packets_64")),
            mlx5(extended("port_xmit_packets")),
            bnxt(extended("port_xmit_packets")),
            rxe(extended("port_xmit_packets")),
            ext("port_xmit_packets_64"),
            either("port_xmit_packets"),
        ],
        ..TRAFFIC
    },
    Row {
        metric: "railwatch_port_receive_packets_total",
        unit: Unit::Packets,
        help: "Packets received through the RDMA port; on mlx5 and on Ethernet those of this function alone",
        concept: Some("rdma_receive_packets"),
        yields_to: Some("railwatch_rdma_receive_packets_total"),
        entries: &[
            mlx5(ext("port_rcv_packets_64")),
            mlx5(extended("port_rcv_packets")),
            bnxt(extended("port_rcv_packets")),
            rxe(extended("port_rcv_packets")),
            ext("port_rcv_packets_64"),
            either("port_rcv_packets"),
        ],
        ..TRAFFIC
    },
    Row {
        metric: "railwatch_port_unicast_transmit_packets_total",
        unit: Unit::Packets,
        help: "Unicast packets sent by the port",
        entries: &[
            mlx5(ext("port_unicast_xmit_packets")),
            mlx5(extended("unicast_xmit_packets")),
            ext("port_unicast_xmit_packets"),
            extended("unicast_xmit_packets"),
        ],
        ..CAST
    },
    Row {
        metric: "railwatch_port_unicast_receive_packets_total",
        unit: Unit::Packets,
        help: "Unicast packets received by the port",
        entries: &[
            mlx5(ext("port_unicast_rcv_packets")),
            mlx5(extended("unicast_rcv_packets")),
            ext("port_unicast_rcv_packets"),
            extended("unicast_rcv_packets"),
        ],
        ..CAST
    },
    Row {
        metric: "railwatch_port_multicast_transmit_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets sent by the port",
        entries: &[
            mlx5(ext("port_multicast_xmit_packets")),
            mlx5(extended("multicast_xmit_packets")),
            ext("port_multicast_xmit_packets"),
            extended("multicast_xmit_packets"),
        ],
        ..CAST
    },
    Row {
        metric: "railwatch_port_multicast_receive_packets_total",
        unit: Unit::Packets,
        help: "Multicast packets received by the port",
        entries: &[
            mlx5(ext("port_multicast_rcv_packets")),
            mlx5(extended("multicast_rcv_packets")),
            ext("port_multicast_rcv_packets"),
            extended("multicast_rcv_packets"),
        ],
        ..CAST
    },
    Row {
        metric: "railwatch_port_symbol_errors_total",
        help: "Minor link errors on the lanes of the port",
        concept: Some("symbol_error"),
        entries: &[pma("symbol_error", 16)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_link_error_recoveries_total",
        help: "Times the link retrained with success",
        concept: Some("link_error_recovery"),
        entries: &[pma("link_error_recovery", 8)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_link_downed_total",
        help: "Times the link went down: on InfiniBand after a recovery that failed",
        concept: Some("link_downed"),
        entries: &[
            // The number that `counters/link_downed` clamps at 255.
            Entry {
                file: File::PortHwCounters("link_downed"),
                width: 64,
                at_top: AtTop::Wrap,
                source: "K:drivers/infiniband/sw/rxe/rxe_hw_counters.c",
                ..rxe(pma("link_downed", 8))
            },
            rxe(pma("link_downed", 8)),
            pma("link_downed", 8),
        ],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_receive_errors_total",
        unit: Unit::Packets,
        help: "Packets received with an error, found by this port",
        concept: Some("port_receive_error"),
        entries: &[
            masked(bnxt(pma("port_rcv_errors", 16))),
            pma("port_rcv_errors", 16),
        ],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_receive_remote_physical_errors_total",
        unit: Unit::Packets,
        help: "Packets received that an earlier hop had marked as bad",
        concept: Some("port_receive_remote_physical_error"),
        entries: &[pma("port_rcv_remote_physical_errors", 16)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_receive_switch_relay_errors_total",
        unit: Unit::Packets,
        help: "Packets received that a switch could not forward",
        entries: &[pma("port_rcv_switch_relay_errors", 16)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_transmit_discards_total",
        unit: Unit::Packets,
        help: "Outbound packets dropped: the port was down or the packet waited too long",
        concept: Some("port_transmit_discard"),
        entries: &[
            masked(bnxt(pma("port_xmit_discards", 16))),
            pma("port_xmit_discards", 16),
        ],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_transmit_constraint_errors_total",
        unit: Unit::Packets,
        help: "Packets not sent because of a partition or filter rule; on Broadcom because of any error",
        entries: &[
            masked(bnxt(pma("port_xmit_constraint_errors", 8))),
            pma("port_xmit_constraint_errors", 8),
        ],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_receive_constraint_errors_total",
        unit: Unit::Packets,
        help: "Packets dropped on arrival because of a partition or filter rule; on Broadcom for any reason",
        entries: &[
            masked(bnxt(pma("port_rcv_constraint_errors", 8))),
            pma("port_rcv_constraint_errors", 8),
        ],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_local_link_integrity_errors_total",
        help: "Times local physical errors passed their threshold",
        concept: Some("local_link_integrity"),
        entries: &[pma("local_link_integrity_errors", 4)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_excessive_buffer_overrun_errors_total",
        help: "Times the peer violated flow control in a row until a buffer overran",
        concept: Some("buffer_overrun"),
        entries: &[pma("excessive_buffer_overrun_errors", 4)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_vl15_dropped_total",
        unit: Unit::Packets,
        help: "Management packets dropped for want of buffers",
        entries: &[pma("VL15_dropped", 16)],
        ..ERROR
    },
    Row {
        metric: "railwatch_port_transmit_wait_ticks_total",
        unit: Unit::Ticks,
        help: "Time with data to send and no credit, in ticks of a clock the device does not tell: compare only with itself",
        concept: Some("transmit_wait"),
        entries: &[pma("port_xmit_wait", 32)],
        ..ERROR
    },
];

const ERROR: Row = Row {
    metric: "",
    unit: Unit::Events,
    kind: Kind::Counter,
    help: "",
    concept: None,
    yields_to: None,
    lane: Lane::Link,
    source: Source::Infiniband,
    entries: &[],
};

const TRAFFIC: Row = Row {
    lane: Lane::Fast,
    ..ERROR
};

/// Each is a firmware command of its own on mlx5 and of no use at a finer resolution.
const CAST: Row = Row {
    lane: Lane::Slow,
    ..ERROR
};

/// A field of PortCounters: sticks at its top.
const fn pma(file: &'static str, width: u8) -> Entry {
    Entry {
        driver: Driver::Any,
        file: File::PortCounters(file),
        form: Form::Number,
        scale: 1,
        width,
        at_top: AtTop::Saturate,
        native_refresh_ms: 0,
        cost: Cost::Firmware,
        scope: Scope::Port,
        source: "IBA vol. 1 §16.1.3.5, K:drivers/infiniband/core/sysfs.c",
    }
}

/// A field of PortCountersExtended: 64 bits.
const fn extended(file: &'static str) -> Entry {
    Entry {
        at_top: AtTop::Wrap,
        source: "IBA vol. 1 §16.1.4.5, K:drivers/infiniband/core/sysfs.c",
        ..pma(file, 64)
    }
}

/// A field of PortCountersExtended, or of PortCounters where a device has no other.
const fn either(file: &'static str) -> Entry {
    Entry {
        at_top: AtTop::WrapOrStick,
        ..extended(file)
    }
}

/// The same in the directory of kernels up to 4.4, whose `counters` hold 32 bits of it.
const fn ext(file: &'static str) -> Entry {
    Entry {
        file: File::PortCountersExt(file),
        ..extended(file)
    }
}

/// A count of 32-bit words, whatever the number of lanes.
const fn words(entry: Entry) -> Entry {
    Entry {
        scale: BYTES_PER_WORD,
        ..entry
    }
}

/// A number that the driver masks to the field's width: starts again at zero.
const fn masked(entry: Entry) -> Entry {
    Entry {
        at_top: AtTop::Trunc,
        ..entry
    }
}

/// RDMA traffic of this function's virtual port, without plain Ethernet.
const fn mlx5(entry: Entry) -> Entry {
    Entry {
        driver: Driver::Mlx5,
        scope: Scope::Function,
        source: "IBA vol. 1 §16.1.4.5, K:drivers/infiniband/hw/mlx5/mad.c",
        ..entry
    }
}

/// Statistics of the function that the device writes to memory once a second.
const fn bnxt(entry: Entry) -> Entry {
    Entry {
        driver: Driver::BnxtRe,
        native_refresh_ms: 1_000,
        cost: Cost::Dma,
        scope: Scope::Function,
        source: "K:drivers/infiniband/hw/bnxt_re/hw_counters.c",
        ..entry
    }
}

const fn rxe(entry: Entry) -> Entry {
    Entry {
        driver: Driver::Rxe,
        cost: Cost::Free,
        scope: Scope::Device,
        source: "K:drivers/infiniband/sw/rxe",
        ..entry
    }
}
