//! What detectors look at: links and functions of the node as they stand, with what they came
//! from. Built anew from each snapshot; knows no threshold and no expectation.

mod function;
mod link;
mod reading;

pub use function::Function;
pub use link::{Link, Technology};
pub use reading::{Got, got};

use std::time::Duration;

use crate::core::model::facts::Skipped;
use crate::core::model::snapshot::Snapshot;
use crate::core::model::time::BootTime;

/// A node as detectors see it.
#[derive(Debug, Default)]
pub struct Scene {
    /// Time of the snapshot on the boot clock, which is how long the host has been up.
    pub now: BootTime,
    /// Every physical link: ports, members of bonds, netdevs without an RDMA device.
    pub links: Vec<Link>,
    /// Every physical function that is read.
    pub functions: Vec<Function>,
    /// Devices that are left alone.
    pub skipped: Vec<Skipped>,
    /// For how long the node has been in maintenance; `None` if it is not.
    pub in_maintenance: Option<Duration>,
}

impl Scene {
    /// The scene of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        Self {
            now: snapshot.at,
            links: link::links(&snapshot.devices),
            functions: function::functions(&snapshot.devices),
            skipped: snapshot.skipped.clone(),
            in_maintenance: None,
        }
    }
}
