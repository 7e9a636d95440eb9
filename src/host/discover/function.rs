//! What kind of function a device is, and its PCI facts.

use crate::core::model::facts::{Function, PciFacts};
use crate::core::parse::facts as parse;
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
    })
}

/// Basename of the bound driver.
pub(super) fn driver(facts: &mut Facts<'_>, located: &Located) -> Option<String> {
    let path = located.function.as_deref()?;
    facts.link_name(&format!("{path}/driver"))
}
