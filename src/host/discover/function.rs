//! What kind of function a device is, and its PCI facts.

use crate::core::catalog::Form;
use crate::core::ids::PciAddress;
use crate::core::model::facts::{Function, PciFacts, PcieHop};
use crate::core::model::outcome::Outcome;
use crate::core::parse::{facts as parse, outcome};
use crate::host::discover::census::{Located, pci_address, pci_path};
use crate::host::discover::{Facts, last};

/// Kind of the function, from its links and its place.
pub(super) fn kind(facts: &mut Facts<'_>, located: &Located) -> Function {
    let Some(path) = located.function.as_deref() else {
        return Function::Software;
    };
    if last(path).contains(".sf.") {
        let sfnum = facts.parsed(&format!("{path}/sfnum"), parse::decimal);
        return Function::Sub { sfnum };
    }
    match facts.link_name(&format!("{path}/physfn")) {
        Some(parent) => Function::Virtual {
            physfn: parent.parse().ok(),
        },
        None => Function::Physical,
    }
}

/// Facts of the PCI function the device lies on.
pub(super) fn pci(facts: &mut Facts<'_>, located: &Located) -> Option<PciFacts> {
    let function = located.function.as_deref()?;
    let address = pci_address(function)?;
    let path = pci_path(function)?;
    Some(PciFacts {
        address,
        slot: located.slot.clone(),
        vendor: facts.parsed(&format!("{path}/vendor"), parse::hex_id),
        device: facts.parsed(&format!("{path}/device"), parse::hex_id),
        numa_node: facts
            .parsed(&format!("{path}/numa_node"), parse::numa_node)
            .flatten(),
        path: hops(facts, path),
    })
}

/// The PCIe ports a path leads through. One that sleeps is not asked: that would wake it.
fn hops(facts: &mut Facts<'_>, path: &str) -> Vec<PcieHop> {
    let mut hops = Vec::new();
    let mut end = 0;
    for component in path.split('/') {
        end = component.len().saturating_add(end).saturating_add(1);
        let Ok(address) = component.parse() else {
            continue;
        };
        let at = path.get(..end.saturating_sub(1)).unwrap_or(path);
        hops.push(hop(facts, at, address));
    }
    hops
}

fn hop(facts: &mut Facts<'_>, path: &str, address: PciAddress) -> PcieHop {
    let status = facts.text(&format!("{path}/power/runtime_status"));
    let asleep = status.is_some_and(|status| status.starts_with("suspend"));
    let read = |file: &str, form| {
        if asleep {
            return None;
        }
        let bytes = facts.tree.read(&format!("{path}/{file}"), 64).ok()?;
        match outcome(&bytes, form, 64) {
            Outcome::Value(value) => Some(value),
            Outcome::Absent | Outcome::Fault(_) => None,
        }
    };
    PcieHop {
        address,
        speed: read("current_link_speed", Form::PcieSpeed),
        width: read("current_link_width", Form::PcieWidth),
        max_speed: read("max_link_speed", Form::PcieSpeed),
        max_width: read("max_link_width", Form::PcieWidth),
    }
}

/// Basename of the bound driver.
pub(super) fn driver(facts: &mut Facts<'_>, located: &Located) -> Option<String> {
    let path = located.function.as_deref()?;
    facts.link_name(&format!("{path}/driver"))
}
