//! One line of the page: a port or a netdev in words.

use std::borrow::Cow;

use super::words::{self, UNKNOWN};
use crate::core::model::snapshot::SlotState;
use crate::core::render::entry::{self, Entry};

/// Faults that are listed one by one; the rest is counted.
const FAULTS_LISTED: usize = 4;

/// A cell and how it is shown.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) word: String,
    pub(super) class: &'static str,
}

/// What deserves a sentence.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) subject: String,
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The line.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) subject: String,
    pub(super) netdev: &'a str,
    pub(super) driver: &'a str,
    pub(super) pci: Cow<'static, str>,
    pub(super) numa: Cow<'static, str>,
    pub(super) state: Cell,
    pub(super) rate: String,
    pub(super) pcie: Cell,
    pub(super) sent: String,
    pub(super) received: String,
    pub(super) faults: Vec<String>,
}

impl<'a> Line<'a> {
    pub(super) fn new(entry: &Entry<'a>) -> Self {
        let facts = entry.facts;
        let pci = facts.pci.as_ref();
        let numa = pci.and_then(|pci| pci.numa_node);
        let kind = Kind::of(entry);
        let total = |metric| {
            let value = entry.value(metric);
            value.map_or_else(|| UNKNOWN.to_owned(), words::bytes)
        };
        let rate = entry.value(kind.rate());
        Self {
            subject: subject(entry),
            netdev: entry.netdev.map_or(UNKNOWN, |netdev| netdev.as_str()),
            driver: facts.driver.as_deref().unwrap_or(UNKNOWN),
            pci: pci.map_or(UNKNOWN.into(), |pci| pci.address.to_string().into()),
            numa: numa.map_or(UNKNOWN.into(), |node| node.to_string().into()),
            state: kind.state(entry),
            rate: rate.map_or_else(|| UNKNOWN.to_owned(), words::rate),
            pcie: pcie(entry),
            sent: total(kind.sent()),
            received: total(kind.received()),
            faults: faults(entry),
        }
    }

    /// What a reader should know without reading the table.
    pub(super) fn notes(&self) -> Vec<Note> {
        let note = |class, text: &str| Note {
            subject: self.subject.clone(),
            class,
            text: text.to_owned(),
        };
        let mut notes = Vec::new();
        if self.state.class == "bad" {
            notes.push(note("bad", &self.state.word));
        }
        if self.pcie.class == "bad" {
            notes.push(note("bad", &format!("PCIe {}", self.pcie.word)));
        }
        if !self.faults.is_empty() {
            notes.push(note(
                "odd",
                &format!("cannot read {}", self.faults.join(", ")),
            ));
        }
        notes
    }
}

/// The device and the port or netdev that the entry is about.
fn subject(entry: &Entry<'_>) -> String {
    let device = entry.facts.name.as_str();
    let part = match (entry.port, entry.netdev) {
        (Some(port), _) => port.number.to_string(),
        (None, Some(netdev)) if netdev.as_str() != device => netdev.to_string(),
        _ => return device.to_owned(),
    };
    format!("{device}/{part}")
}

/// Which metrics speak for an entry.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Rdma,
    Netdev,
}

impl Kind {
    fn of(entry: &Entry<'_>) -> Self {
        if entry.port.is_some() {
            Self::Rdma
        } else {
            Self::Netdev
        }
    }

    fn rate(self) -> &'static str {
        match self {
            Self::Rdma => "railwatch_port_rate_bytes_per_second",
            Self::Netdev => "railwatch_netdev_speed_bytes_per_second",
        }
    }

    fn sent(self) -> &'static str {
        match self {
            Self::Rdma => "railwatch_port_transmit_bytes_total",
            Self::Netdev => "railwatch_netdev_transmit_bytes_total",
        }
    }

    fn received(self) -> &'static str {
        match self {
            Self::Rdma => "railwatch_port_receive_bytes_total",
            Self::Netdev => "railwatch_netdev_receive_bytes_total",
        }
    }

    fn state(self, entry: &Entry<'_>) -> Cell {
        let (word, class) = match self {
            Self::Rdma => port_state(entry),
            Self::Netdev => netdev_state(entry),
        };
        Cell { word, class }
    }
}

fn port_state(entry: &Entry<'_>) -> (String, &'static str) {
    let Some(id) = entry.value("railwatch_port_state_id") else {
        return (UNKNOWN.to_owned(), "dim");
    };
    let state = words::port_state(id);
    if id == 4 {
        return (state.to_owned(), "good");
    }
    match entry.value("railwatch_port_physical_state_id") {
        Some(physical) => (
            format!("{state} ({})", words::physical_state(physical)),
            "bad",
        ),
        None => (state.to_owned(), "bad"),
    }
}

fn netdev_state(entry: &Entry<'_>) -> (String, &'static str) {
    let up = entry.value("railwatch_netdev_up");
    let carrier = entry.value("railwatch_netdev_carrier");
    let (word, class) = match (up, carrier) {
        (_, Some(0)) => ("no carrier", "odd"),
        (Some(1), _) => ("up", "good"),
        (Some(_), _) => ("down", "odd"),
        (None, Some(_)) => ("carrier", "good"),
        (None, None) => (UNKNOWN, "dim"),
    };
    (word.to_owned(), class)
}

fn pcie(entry: &Entry<'_>) -> Cell {
    let speed = entry.value("railwatch_pcie_link_speed_transfers_per_second");
    let width = entry.value("railwatch_pcie_link_width_lanes");
    let max_speed = entry.value("railwatch_pcie_link_max_speed_transfers_per_second");
    let max_width = entry.value("railwatch_pcie_link_max_width_lanes");
    let now = words::pcie(speed, width);
    let below =
        |now: Option<u64>, max: Option<u64>| matches!((now, max), (Some(n), Some(m)) if n < m);
    if below(speed, max_speed) || below(width, max_width) {
        let max = words::pcie(max_speed, max_width);
        return Cell {
            word: format!("{now} of {max}"),
            class: "bad",
        };
    }
    let class = if now == UNKNOWN { "dim" } else { "" };
    Cell { word: now, class }
}

fn faults(entry: &Entry<'_>) -> Vec<String> {
    let slots = entry.slots.iter().filter_map(|(slot, state)| {
        let SlotState::Fault(reason) = state else {
            return None;
        };
        Some(format!("{}: {reason}", entry::key(slot)?))
    });
    let facts = entry.facts.faults.iter();
    let facts = facts.map(|fault| format!("{}: {}", fault.what, fault.reason));
    let mut all: Vec<String> = slots.chain(facts).collect();
    let more = all.len().saturating_sub(FAULTS_LISTED);
    if more > 0 {
        all.truncate(FAULTS_LISTED);
        all.push(format!("{more} more"));
    }
    all
}
