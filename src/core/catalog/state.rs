//! Rows of the `state` family: what an RDMA port is doing. Ids are the kernel's, as node_exporter
//! shows them.

use super::row::{AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, Row, Scope, Source, Unit};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    Row {
        metric: "railwatch_port_state_id",
        unit: Unit::Id,
        help: "Logical state of the port: 0 no change, 1 down, 2 initialising, 3 armed, 4 active, 5 active with deferred errors",
        concept: Some("port_state"),
        entries: &[port("state", Form::StateId)],
        ..STATE
    },
    Row {
        metric: "railwatch_port_physical_state_id",
        unit: Unit::Id,
        help: "Physical state of the port: 0 unknown, 1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 error recovery, 7 test",
        concept: Some("port_physical_state"),
        entries: &[port("phys_state", Form::StateId)],
        ..STATE
    },
    Row {
        metric: "railwatch_port_rate_bytes_per_second",
        unit: Unit::BytesPerSecond,
        help: "Nominal rate of an active port, lane speed times lanes; absent unless the port is active, as drivers make it up then",
        concept: Some("port_rate"),
        entries: &[port("rate", Form::Rate)],
        ..STATE
    },
];

const STATE: Row = Row {
    metric: "",
    unit: Unit::Id,
    kind: Kind::Gauge,
    help: "",
    concept: None,
    yields_to: None,
    lane: Lane::Link,
    source: Source::Infiniband,
    entries: &[],
};

/// Each read is one `ib_query_port`: several firmware commands on mlx5, the RTNL lock on others.
const fn port(file: &'static str, form: Form) -> Entry {
    Entry {
        driver: Driver::Any,
        file: File::Port(file),
        form,
        scale: 1,
        width: 64,
        at_top: AtTop::Wrap,
        native_refresh_ms: 0,
        cost: Cost::Firmware,
        scope: Scope::Port,
        source: "K:drivers/infiniband/core/sysfs.c",
    }
}
