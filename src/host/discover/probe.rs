//! Asks one device what it is and what it counts. Enters its driver.

use crate::core::catalog::{Driver, Form};
use crate::core::ids::NetdevName;
use crate::core::model::facts::{DeviceFacts, Function, NetdevFacts, NetdevRole, PortFacts};
use crate::core::parse::facts::is_switch_management;
use crate::core::wire::Slot;
use crate::host::discover::census::{Located, pci_path};
use crate::host::discover::slots::Collector;
use crate::host::discover::{Facts, function, netdev, rdma};
use crate::host::tree::Tree;

/// Bytes of vital product data that are looked at; the keyword stands in the first kilobyte.
const VPD_BYTES: usize = 1 << 15;

/// What a device is, and where its values are.
#[derive(Debug)]
pub struct Probed {
    /// What it is.
    pub facts: DeviceFacts,
    /// Its values, in reading order.
    pub slots: Vec<Slot>,
    /// Where they are; same order and length.
    pub targets: Vec<Target>,
    /// Whose counter names apply.
    pub driver: Option<Driver>,
    /// Its firmware refuses every counter: nothing of it may be read.
    pub restricted: bool,
    /// File that tells whether the function sleeps.
    pub runtime_status: Option<String>,
    /// The kernel's objects behind its names, as [`Tree::object`] tells them apart.
    pub objects: Vec<Option<u64>>,
    /// Directories that are there and could not be listed.
    pub unlisted: Vec<String>,
}

/// One file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Path in the tree.
    pub path: String,
    /// How its text is read.
    pub form: Form,
    /// Bits of the counter.
    pub width: u8,
}

/// Probes a device, again if there is a probe from `before`. Whatever cannot be read is missing from the answer, never an end to it.
#[must_use]
pub fn probe(tree: &dyn Tree, located: &Located, raw: bool, before: Option<&Probed>) -> Probed {
    let mut facts = Facts::new(tree);
    let module = function::driver(&mut facts, located);
    let kind = function::kind(&mut facts, located);
    let pci = function::pci(&mut facts, located);
    let (rdma, driver) = match &located.rdma {
        Some(name) => {
            let (rdma, driver) = rdma::device(&mut facts, name, module.as_deref());
            (Some(rdma), driver)
        }
        None => (None, None),
    };
    let objects = objects(tree, located);
    // The mark of a device does not change; reading it costs a command for each four bytes.
    let asked = before.is_some_and(|before| before.objects == objects);
    let restricted = driver == Some(Driver::Mlx5) && !asked && has_switch_mark(tree, located);
    let (mut ports, mut netdevs) = (Vec::new(), Vec::new());
    if !restricted {
        netdevs = located
            .netdevs
            .iter()
            .map(|name| netdev::facts(&mut facts, name))
            .collect();
        netdevs.sort_by_key(|netdev: &NetdevFacts| netdev.role == NetdevRole::Representor);
        ports = ports_of(&mut facts, located, &mut netdevs);
    }
    let faults = facts.faults;
    let key = located.key.clone();
    let name = located.name.clone();
    let mut facts = DeviceFacts {
        key,
        name,
        driver: module,
        function: kind,
        pci,
        rdma,
        ports,
        netdevs,
        faults,
    };
    let mut collector = Collector::new(tree, driver, raw);
    if !restricted {
        collect(&mut collector, located, &facts);
    }
    let Collector {
        slots,
        targets,
        unlisted,
        ..
    } = collector;
    facts.faults.extend(unlisted.iter().cloned());
    let runtime_status = runtime_status(tree, located);
    Probed {
        facts,
        slots,
        targets,
        driver,
        restricted,
        runtime_status,
        objects,
        unlisted: unlisted.into_iter().map(|fault| fault.what).collect(),
    }
}

/// The objects behind the device's names: others after it was taken away and made anew.
fn objects(tree: &dyn Tree, located: &Located) -> Vec<Option<u64>> {
    let rdma = located
        .rdma
        .iter()
        .map(|name| format!("sys/class/infiniband/{name}"));
    let netdevs = located
        .netdevs
        .iter()
        .map(|name| format!("sys/class/net/{name}"));
    rdma.chain(netdevs).map(|path| tree.object(&path)).collect()
}

/// The file that tells whether the device's PCI function sleeps.
fn runtime_status(tree: &dyn Tree, located: &Located) -> Option<String> {
    let path = pci_path(located.function.as_deref()?)?;
    Some(format!("{path}/power/runtime_status")).filter(|path| tree.exists(path))
}

fn ports_of(
    facts: &mut Facts<'_>,
    located: &Located,
    netdevs: &mut Vec<NetdevFacts>,
) -> Vec<PortFacts> {
    let Some(name) = &located.rdma else {
        return Vec::new();
    };
    let numbers = rdma::port_numbers(facts, name);
    let ports: Vec<PortFacts> = numbers
        .into_iter()
        .map(|number| rdma::port(facts, name, number, netdevs))
        .collect();
    if located.function.is_none() {
        take_carriers(facts, &ports, netdevs);
    }
    ports
}

/// A software RDMA device may sit on a netdev that is no device of its own (veth, VLAN): it is read
/// with it.
fn take_carriers(facts: &mut Facts<'_>, ports: &[PortFacts], netdevs: &mut Vec<NetdevFacts>) {
    let names: Vec<NetdevName> = ports
        .iter()
        .filter_map(|port| port.netdev.clone())
        .collect();
    for name in names {
        let known = netdevs.iter().any(|netdev| netdev.name == name);
        let there = facts.tree.exists(&format!("sys/class/net/{name}"));
        if known || !there {
            continue;
        }
        let carrier = netdev::facts(facts, name.as_str());
        if carrier.role == NetdevRole::Software {
            netdevs.push(carrier);
        }
    }
}

fn collect(collector: &mut Collector<'_>, located: &Located, facts: &DeviceFacts) {
    if let Some(device) = &located.rdma {
        for port in &facts.ports {
            collector.port(device, port.number);
        }
        collector.device(device);
    }
    for netdev in &facts.netdevs {
        // A representor counts what its VF counts, seen from the other side.
        if netdev.role != NetdevRole::Representor {
            collector.netdev(&netdev.name);
        }
    }
    let is_function = matches!(
        facts.function,
        Function::Physical | Function::Virtual { .. }
    );
    if let Some(path) = located.function.as_deref().and_then(pci_path)
        && is_function
    {
        collector.pci(path);
    }
}

/// Whether the function's vital product data marks it as an NVSwitch management function. Only
/// root may read it; without it the first refused counters tell. It is kept in the function's
/// configuration space, so asking a sleeping function would wake it.
fn has_switch_mark(tree: &dyn Tree, located: &Located) -> bool {
    let status = runtime_status(tree, located).and_then(|path| tree.read(&path, 64).ok());
    if status.is_some_and(|status| status.starts_with(b"suspend")) {
        return false;
    }
    let path = located.function.as_deref().and_then(pci_path);
    let vpd = path.and_then(|path| tree.read(&format!("{path}/vpd"), VPD_BYTES).ok());
    vpd.is_some_and(|bytes| is_switch_management(&bytes))
}
