//! Rows of the `pci` family: the PCIe link of a device's function. A width or speed below the
//! maximum is a fault of a NIC, which does not lower its link when idle.

use super::row::{AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, Row, Scope, Source, Unit};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    Row {
        metric: "railwatch_pcie_link_speed_transfers_per_second",
        unit: Unit::TransfersPerSecond,
        help: "Speed of each lane of the PCIe link now",
        concept: Some("pcie_speed"),
        entries: &[function("current_link_speed", Form::PcieSpeed)],
        ..LINK
    },
    Row {
        metric: "railwatch_pcie_link_width_lanes",
        unit: Unit::Lanes,
        help: "Lanes of the PCIe link in use now",
        concept: Some("pcie_width"),
        entries: &[function("current_link_width", Form::PcieWidth)],
        ..LINK
    },
    Row {
        metric: "railwatch_pcie_link_max_speed_transfers_per_second",
        unit: Unit::TransfersPerSecond,
        help: "Highest speed of each lane that the function itself supports",
        concept: Some("pcie_max_speed"),
        entries: &[function("max_link_speed", Form::PcieSpeed)],
        ..LINK
    },
    Row {
        metric: "railwatch_pcie_link_max_width_lanes",
        unit: Unit::Lanes,
        help: "Most lanes that the function itself supports",
        concept: Some("pcie_max_width"),
        entries: &[function("max_link_width", Form::PcieWidth)],
        ..LINK
    },
];

const LINK: Row = Row {
    metric: "",
    unit: Unit::Lanes,
    kind: Kind::Gauge,
    help: "",
    concept: None,
    yields_to: None,
    lane: Lane::Slow,
    source: Source::Pci,
    entries: &[],
};

const fn function(file: &'static str, form: Form) -> Entry {
    Entry {
        driver: Driver::Any,
        file: File::Pci(file),
        form,
        scale: 1,
        width: 64,
        at_top: AtTop::Wrap,
        native_refresh_ms: 0,
        cost: Cost::Free,
        scope: Scope::Device,
        source: "K:drivers/pci/pci-sysfs.c",
    }
}
