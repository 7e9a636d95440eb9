//! Families about devices: catalogued values, what they are read from, facts as labels.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::own::put;
use super::sheet::{Labels, Origin, Sample, Sheet, label};
use crate::core::catalog::{self, Row};
use crate::core::ids::PortNumber;
use crate::core::model::facts::{DeviceFacts, PortFacts};
use crate::core::model::snapshot::{SlotState, Snapshot};
use crate::core::render::families::{
    COUNTER_SOURCE_INFO, DEVICE_INFO, DEVICE_SKIPPED, Family, PORT_INFO, RAW_READING,
    READING_SATURATED,
};
use crate::core::units;
use crate::core::wire::{Place, Slot, What};

/// Adds every family about devices.
pub(super) fn add<'a>(sheet: &mut Sheet<'a>, snapshot: &'a Snapshot) {
    let mut columns = Columns::default();
    for (position, device) in snapshot.devices.iter().enumerate() {
        let states = device.slots.iter().zip(device.states.iter().copied());
        for (number, (slot, state)) in states.enumerate() {
            let SlotState::Current {
                value, saturated, ..
            } = state
            else {
                continue;
            };
            let reading = Reading {
                facts: &device.facts,
                slot,
                value,
                saturated,
                origin: Origin {
                    device: position,
                    slot: number,
                    scale: 1,
                },
            };
            add_reading(sheet, &mut columns, reading);
        }
        add_facts(sheet, &device.facts);
    }
    columns.pour(sheet);
    for skipped in &snapshot.skipped {
        let labels = [skipped.device.as_str(), skipped.reason.as_str()];
        put(sheet, &DEVICE_SKIPPED, &labels, Some(1.0));
    }
}

/// Samples by the row's number, so that a sample costs no search by name.
#[derive(Debug, Default)]
struct Columns<'a> {
    rows: BTreeMap<u16, (&'static Row, Vec<Sample<'a>>)>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, position: u16, row: &'static Row, sample: Sample<'a>) {
        let (_, samples) = self
            .rows
            .entry(position)
            .or_insert_with(|| (row, Vec::new()));
        samples.push(sample);
    }

    fn pour(self, sheet: &mut Sheet<'a>) {
        for (row, samples) in self.rows.into_values() {
            if let Some(family) = sheet.family(row.metric, row.help, row.kind) {
                family.extend(samples);
            }
        }
    }
}

/// A slot's current value.
#[derive(Debug)]
struct Reading<'a> {
    facts: &'a DeviceFacts,
    slot: &'a Slot,
    value: u64,
    saturated: bool,
    origin: Origin,
}

fn add_reading<'a>(sheet: &mut Sheet<'a>, columns: &mut Columns<'a>, reading: Reading<'a>) {
    let Reading {
        facts,
        slot,
        value,
        origin,
        ..
    } = reading;
    match &slot.what {
        What::Row { row, entry } => {
            let position = *row;
            let Some(row) = catalog::row(position) else {
                return;
            };
            let Some(entry) = row.entries.get(usize::from(*entry)) else {
                return;
            };
            let sample = Sample {
                labels: place_labels(facts, &slot.place),
                value: units::scaled(value, entry.scale),
                origin: Some(Origin {
                    scale: entry.scale,
                    ..origin
                }),
            };
            columns.push(position, row, sample);
            if reading.saturated {
                let labels = about(facts, slot, row.metric);
                listed(sheet, &READING_SATURATED, labels);
            }
            if spelled_differently(position) {
                let mut labels = about(facts, slot, row.metric);
                labels.push(("name", label(&slot.file)));
                listed(sheet, &COUNTER_SOURCE_INFO, labels);
            }
        }
        What::Raw { group } => {
            let mut labels = place_list(facts, &slot.place);
            labels.push(("group", label(group)));
            labels.push(("name", label(&slot.file)));
            let sample = Sample {
                labels: Labels::Listed(labels),
                value: units::float(value),
                origin: Some(origin),
            };
            add_to(sheet, &RAW_READING, sample);
        }
    }
}

fn add_to<'a>(sheet: &mut Sheet<'a>, family: &Family, sample: Sample<'a>) {
    if let Some(samples) = sheet.family(family.name, family.help, family.kind) {
        samples.push(sample);
    }
}

/// A sample that is there or not and always 1.
fn listed<'a>(sheet: &mut Sheet<'a>, family: &Family, labels: Vec<(&'static str, Cow<'a, str>)>) {
    let sample = Sample {
        labels: Labels::Listed(labels),
        value: 1.0,
        origin: None,
    };
    add_to(sheet, family, sample);
}

fn place_labels<'a>(facts: &'a DeviceFacts, place: &'a Place) -> Labels<'a> {
    let port = match place {
        Place::Device => None,
        Place::Port(port) => Some(*port),
        Place::Netdev(netdev) => return Labels::Netdev(label(netdev.as_str())),
    };
    Labels::Device {
        device: label(facts.name.as_str()),
        port,
    }
}

fn place_list<'a>(facts: &'a DeviceFacts, place: &'a Place) -> Vec<(&'static str, Cow<'a, str>)> {
    match place_labels(facts, place) {
        Labels::Device { device, port } => {
            let mut labels = vec![("device", device)];
            labels.extend(port.map(|port| ("port", Cow::Owned(port.to_string()))));
            labels
        }
        Labels::Netdev(netdev) => vec![("netdev", netdev)],
        Labels::Listed(labels) => labels,
    }
}

fn about<'a>(
    facts: &'a DeviceFacts,
    slot: &'a Slot,
    metric: &'static str,
) -> Vec<(&'static str, Cow<'a, str>)> {
    let mut labels = vec![("metric", Cow::Borrowed(metric))];
    labels.extend(place_list(facts, &slot.place));
    labels
}

/// Whether drivers spell the row differently, so that it is worth telling which file is behind it.
fn spelled_differently(position: u16) -> bool {
    static ROWS: LazyLock<Vec<bool>> = LazyLock::new(|| {
        let differs = |row: &&Row| row.has_synonyms();
        catalog::rows().iter().map(differs).collect()
    });
    ROWS.get(usize::from(position)).copied().unwrap_or(false)
}

fn add_facts<'a>(sheet: &mut Sheet<'a>, facts: &'a DeviceFacts) {
    let (pci, slot, numa) = facts.pci.as_ref().map_or_else(Default::default, |pci| {
        (
            Cow::Owned(pci.address.to_string()),
            label(pci.slot.as_deref().unwrap_or_default()),
            Cow::Owned(
                pci.numa_node
                    .map(|node| node.to_string())
                    .unwrap_or_default(),
            ),
        )
    });
    let driver = label(facts.driver.as_deref().unwrap_or_default());
    for port in &facts.ports {
        add_port(sheet, facts, port, (&driver, &pci));
    }
    let values = [label(facts.name.as_str()), driver, pci, slot, numa];
    let labels = DEVICE_INFO.labels.iter().copied().zip(values).collect();
    listed(sheet, &DEVICE_INFO, labels);
}

fn add_port<'a>(
    sheet: &mut Sheet<'a>,
    facts: &'a DeviceFacts,
    port: &'a PortFacts,
    (driver, pci): (&Cow<'a, str>, &Cow<'a, str>),
) {
    let rdma = facts.rdma.as_ref();
    let text = |fact: Option<&'a String>| label(fact.map_or("", String::as_str));
    let PortNumber(number) = port.number;
    let values = [
        label(facts.name.as_str()),
        Cow::Owned(number.to_string()),
        label(port.netdev.as_ref().map_or("", |netdev| netdev.as_str())),
        driver.clone(),
        pci.clone(),
        text(port.link_layer.as_ref()),
        text(rdma.and_then(|rdma| rdma.firmware.as_ref())),
        text(rdma.and_then(|rdma| rdma.board_id.as_ref())),
        text(rdma.and_then(|rdma| rdma.node_guid.as_ref())),
    ];
    let labels = PORT_INFO.labels.iter().copied().zip(values).collect();
    listed(sheet, &PORT_INFO, labels);
}
