//! The table of every counter: one row is one vendor-neutral quantity, one entry one driver's
//! spelling of it. Docs, metrics, API, capture and replay follow from here.

mod ib_port;
mod netdev;
mod pci;
mod rdma_hw;
mod row;
mod state;

pub use row::{
    AtTop, Cost, Driver, Entry, File, Form, Kind, Lane, LaneSet, Row, Scope, Source, Unit,
};

use std::sync::LazyLock;

/// Every row, in the order of docs and metrics. The position is the row's number on the wire.
#[must_use]
pub fn rows() -> &'static [&'static Row] {
    static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
        [
            ib_port::ROWS,
            rdma_hw::ROWS,
            state::ROWS,
            netdev::ROWS,
            pci::ROWS,
        ]
        .into_iter()
        .flatten()
        .collect()
    });
    &ROWS
}

/// The row at a wire position.
#[must_use]
pub fn row(position: u16) -> Option<&'static Row> {
    rows().get(usize::from(position)).copied()
}
