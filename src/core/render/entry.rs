//! What documents and pages list: one entry per RDMA port, and one per netdev that is no port's.

use crate::core::catalog;
use crate::core::ids::NetdevName;
use crate::core::model::facts::{DeviceFacts, NetdevRole, PortFacts};
use crate::core::model::snapshot::{DeviceView, SlotState};
use crate::core::wire::{Place, Slot, What};

/// A port or a netdev of a device with what was read there.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) facts: &'a DeviceFacts,
    /// The RDMA port; `None` for a netdev.
    pub(super) port: Option<&'a PortFacts>,
    /// The netdev, or the netdev that carries the port.
    pub(super) netdev: Option<&'a NetdevName>,
    /// What is read of the port or netdev, and, on ports and on devices without any, of the whole
    /// device.
    pub(super) slots: Vec<(&'a Slot, SlotState)>,
}

/// A device's entries: ports first, then netdevs that carry none of its ports.
pub(super) fn entries(device: &DeviceView) -> Vec<Entry<'_>> {
    let facts = &*device.facts;
    let ports = facts.ports.iter().map(|port| Entry {
        facts,
        port: Some(port),
        netdev: port.netdev.as_ref(),
        slots: Vec::new(),
    });
    let mut entries: Vec<Entry<'_>> = ports.collect();
    for netdev in &facts.netdevs {
        if entries
            .iter()
            .all(|entry| entry.netdev != Some(&netdev.name))
        {
            entries.push(Entry {
                facts,
                port: None,
                netdev: Some(&netdev.name),
                slots: Vec::new(),
            });
        }
    }
    if entries.is_empty() {
        entries.push(Entry {
            facts,
            port: None,
            netdev: None,
            slots: Vec::new(),
        });
    }
    for entry in &mut entries {
        let slots = device.slots.iter().zip(device.states.iter().copied());
        entry.slots = slots.filter(|(slot, _)| entry.has(slot)).collect();
    }
    entries
}

impl Entry<'_> {
    fn has(&self, slot: &Slot) -> bool {
        match &slot.place {
            Place::Device => self.port.is_some() || self.facts.ports.is_empty(),
            Place::Port(number) => self.port.is_some_and(|port| port.number == *number),
            Place::Netdev(name) => self.netdev == Some(name),
        }
    }

    /// Whether it only stands for another function's port, so that nothing is read of it.
    pub(super) fn is_representor(&self) -> bool {
        let netdevs = self.facts.netdevs.iter();
        let mut own =
            netdevs.filter(|netdev| self.port.is_none() && self.netdev == Some(&netdev.name));
        own.any(|netdev| netdev.role == NetdevRole::Representor)
    }

    /// The current value of a metric in its unit.
    pub(super) fn value(&self, metric: &str) -> Option<u64> {
        self.slots.iter().find_map(|(slot, state)| {
            let What::Row { row, .. } = slot.what else {
                return None;
            };
            let named = catalog::row(row).is_some_and(|row| row.metric == metric);
            named.then(|| scaled(slot, *state)).flatten()
        })
    }
}

/// A slot's current value in its row's unit; a counter the catalog lacks has no scale.
pub(super) fn scaled(slot: &Slot, state: SlotState) -> Option<u64> {
    let SlotState::Current { value, .. } = state else {
        return None;
    };
    let scale = match slot.what {
        What::Row { row, entry } => {
            let row = catalog::row(row)?;
            row.entries.get(usize::from(entry))?.scale
        }
        What::Raw { .. } => 1,
    };
    value.checked_mul(u64::from(scale))
}

/// The key of a value in documents: the metric without `railwatch_` and `_total`.
pub(super) fn key(slot: &Slot) -> Option<String> {
    match &slot.what {
        What::Row { row, .. } => {
            let metric = catalog::row(*row)?.metric;
            let name = metric.strip_prefix("railwatch_").unwrap_or(metric);
            Some(name.strip_suffix("_total").unwrap_or(name).to_owned())
        }
        What::Raw { group } => Some(format!("raw_reading/{group}/{}", slot.file)),
    }
}
