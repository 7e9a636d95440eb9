//! Rows of the `netdev` family: what the kernel's network stack says of an interface.
//!
//! Traffic that a NIC handles itself (RDMA) is not in a netdev's statistics; on soft RoCE it is.

use super::row::{AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, Row, Scope, Source, Unit};
use crate::core::units::BYTES_PER_SECOND_PER_MEGABIT;

/// The rows.
pub(super) const ROWS: &[Row] = &[
    Row {
        metric: "railwatch_netdev_carrier",
        unit: Unit::Flag,
        help: "Whether the netdev has carrier (1) or not (0); absent while it is administratively down",
        concept: Some("carrier"),
        entries: &[Entry {
            // Waits for the kernel's link watch under its lock (`carrier_show`, Linux 6.8).
            cost: Cost::Rtnl,
            ..net("carrier", Form::Flag)
        }],
        ..GAUGE
    },
    Row {
        metric: "railwatch_netdev_up",
        unit: Unit::Flag,
        help: "Whether the netdev is operationally up (1) or down (0); absent where the kernel says neither",
        concept: Some("netdev_up"),
        entries: &[net("operstate", Form::Operstate)],
        ..GAUGE
    },
    Row {
        metric: "railwatch_netdev_speed_bytes_per_second",
        unit: Unit::BytesPerSecond,
        help: "Speed of the netdev's link",
        concept: Some("netdev_speed"),
        lane: Lane::Slow,
        entries: &[Entry {
            scale: BYTES_PER_SECOND_PER_MEGABIT,
            // `speed_show` asks the driver for its link settings under the lock.
            cost: Cost::Rtnl,
            ..net("speed", Form::NetSpeed)
        }],
        ..GAUGE
    },
    Row {
        metric: "railwatch_netdev_mtu_bytes",
        unit: Unit::Bytes,
        help: "Largest packet the netdev sends",
        concept: Some("netdev_mtu"),
        lane: Lane::Slow,
        entries: &[net("mtu", Form::Number)],
        ..GAUGE
    },
    Row {
        metric: "railwatch_netdev_carrier_down_total",
        unit: Unit::Events,
        help: "Times the netdev lost its carrier",
        concept: Some("carrier_down"),
        entries: &[Entry {
            // An atomic int of the kernel.
            width: 32,
            ..net("carrier_down_count", Form::Number)
        }],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_receive_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes received by the netdev, without the RDMA traffic that a NIC handles itself",
        concept: Some("netdev_receive_bytes"),
        entries: &[statistic("rx_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_transmit_bytes_total",
        unit: Unit::Bytes,
        help: "Bytes sent by the netdev, without the RDMA traffic that a NIC handles itself",
        concept: Some("netdev_transmit_bytes"),
        entries: &[statistic("tx_bytes")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_receive_packets_total",
        unit: Unit::Packets,
        help: "Packets received by the netdev, without the RDMA traffic that a NIC handles itself",
        concept: Some("netdev_receive_packets"),
        entries: &[statistic("rx_packets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_transmit_packets_total",
        unit: Unit::Packets,
        help: "Packets sent by the netdev, without the RDMA traffic that a NIC handles itself",
        concept: Some("netdev_transmit_packets"),
        entries: &[statistic("tx_packets")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_receive_errors_total",
        unit: Unit::Packets,
        help: "Packets the netdev received with an error",
        concept: Some("netdev_receive_errors"),
        entries: &[statistic("rx_errors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_transmit_errors_total",
        unit: Unit::Packets,
        help: "Packets the netdev failed to send",
        concept: Some("netdev_transmit_errors"),
        entries: &[statistic("tx_errors")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_receive_dropped_total",
        unit: Unit::Packets,
        help: "Packets received by the netdev and dropped",
        concept: Some("netdev_receive_dropped"),
        entries: &[statistic("rx_dropped")],
        ..COUNTER
    },
    Row {
        metric: "railwatch_netdev_transmit_dropped_total",
        unit: Unit::Packets,
        help: "Packets dropped on their way out of the netdev",
        concept: Some("netdev_transmit_dropped"),
        entries: &[statistic("tx_dropped")],
        ..COUNTER
    },
];

const GAUGE: Row = Row {
    metric: "",
    unit: Unit::Flag,
    kind: Kind::Gauge,
    help: "",
    concept: None,
    yields_to: None,
    lane: Lane::Link,
    source: Source::Netdev,
    entries: &[],
};

const COUNTER: Row = Row {
    kind: Kind::Counter,
    ..GAUGE
};

const fn net(file: &'static str, form: Form) -> Entry {
    Entry {
        driver: Driver::Any,
        file: File::Net(file),
        form,
        scale: 1,
        width: 64,
        at_top: AtTop::Wrap,
        native_refresh_ms: 0,
        cost: Cost::Free,
        scope: Scope::Function,
        source: "K:net/core/net-sysfs.c",
    }
}

const fn statistic(file: &'static str) -> Entry {
    Entry {
        file: File::NetStatistics(file),
        source: "K:net/core/net-sysfs.c, K:Documentation/networking/statistics.rst",
        ..net(file, Form::Number)
    }
}
