//! What is there, by listing and links alone: no driver is entered.

use std::collections::BTreeMap;

use crate::core::ids::{DeviceKey, DeviceName, PciAddress};
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::outcome::FaultReason;
use crate::core::parse;
use crate::host::discover::{DEVICES, last};
use crate::host::tree::Tree;

const INFINIBAND: &str = "sys/class/infiniband";
const NET: &str = "sys/class/net";
const PCI: &str = "sys/bus/pci/devices";
const NETWORK: [&str; 3] = ["0x0200", "0x0207", "0x0208"];
const OTHER: &str = "0x0280";
const MELLANOX: &str = "0x15b3";
const SLOTS: &str = "sys/bus/pci/slots";

/// What a node has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Census {
    /// Devices to be read, ordered by key.
    pub devices: Vec<Located>,
    /// Network functions that are not ours to read.
    pub skipped: Vec<Skipped>,
}

/// Where a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its key.
    pub key: DeviceKey,
    /// Its name: the RDMA device's, else the first netdev's.
    pub name: DeviceName,
    /// Name below `class/infiniband`.
    pub rdma: Option<String>,
    /// Path of the function it hangs on; absent for software devices.
    pub function: Option<String>,
    /// Names below `class/net`.
    pub netdevs: Vec<String>,
    /// Physical slot of the function.
    pub slot: Option<String>,
}

/// Names and places of all class entries: as long as it stays equal, so does the census.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    rdma: Vec<(String, String)>,
    net: Vec<(String, String)>,
}

/// Names of all class entries. A device that comes or goes changes them; one that was replaced
/// under the same name between two looks answers its open files with `ENODEV`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    rdma: Vec<String>,
    net: Vec<String>,
}

/// Lists the classes, names only.
///
/// # Errors
///
/// A class is there and cannot be listed.
pub fn names(tree: &dyn Tree) -> Result<Names, FaultReason> {
    let list = |class: &str| match tree.list(class) {
        Err(FaultReason::NotExposed) => Ok(Vec::new()),
        listed => listed,
    };
    Ok(Names {
        rdma: list(INFINIBAND)?,
        net: list(NET)?,
    })
}

/// Lists the classes with their links.
#[must_use]
pub fn shape(tree: &dyn Tree) -> Shape {
    let placed = |class: &str| {
        let names = tree.list(class).unwrap_or_default();
        let place = |name: String| {
            let path = tree.resolve(&format!("{class}/{name}")).ok()?;
            // A name is a label and a path component; the kernel allows nothing else either.
            (parse::escaped(&name) == name && name.len() <= 64).then_some((name, path))
        };
        names.into_iter().filter_map(place).collect()
    };
    Shape {
        rdma: placed(INFINIBAND),
        net: placed(NET),
    }
}

/// Groups what [`shape`] found into devices.
#[must_use]
pub fn census(tree: &dyn Tree, shape: &Shape) -> Census {
    let mut found: BTreeMap<String, Located> = BTreeMap::new();
    let functions: Vec<Option<String>> = shape
        .rdma
        .iter()
        .map(|(name, _)| function(tree, &format!("{INFINIBAND}/{name}")))
        .collect();
    for ((name, path), function) in shape.rdma.iter().zip(&functions) {
        let shared = functions.iter().filter(|other| *other == function).count() > 1;
        let key = match function {
            Some(function) if shared => format!("{function}/infiniband/{name}"),
            Some(function) => function.clone(),
            None => path.clone(),
        };
        let mut device = located(&key, name, function.clone());
        device.rdma = Some(name.clone());
        found.insert(key, device);
    }
    for (name, path) in &shape.net {
        place_netdev(tree, &mut found, name, path);
    }
    let slots = slots(tree);
    let mut census = Census {
        devices: found.into_values().collect(),
        skipped: Vec::new(),
    };
    for device in &mut census.devices {
        let address = device.function.as_deref().and_then(pci_address);
        device.slot = address.and_then(|address| slots.get(&slot_of(address)).cloned());
    }
    census.skipped = functions_elsewhere(tree, &census.devices);
    census.skipped.extend(unreadable(tree));
    if census.devices.len() > DEVICES {
        // Physical functions before the virtual ones that there are too many of.
        census.devices.sort_by_cached_key(|device| {
            let function = device.function.as_deref().unwrap_or_default();
            tree.exists(&format!("{function}/physfn"))
        });
    }
    for device in census.devices.drain(census.devices.len().min(DEVICES)..) {
        let Located { key, name, .. } = device;
        census.skipped.push(Skipped {
            key,
            device: name,
            reason: SkipReason::TooMany,
        });
    }
    census
}

fn located(key: &str, name: &str, function: Option<String>) -> Located {
    Located {
        key: DeviceKey::new(key),
        name: DeviceName::new(name),
        rdma: None,
        function,
        netdevs: Vec::new(),
        slot: None,
    }
}

/// Gives a netdev to the device on its function, or makes it one of its own. Netdevs without a
/// function are software; only bonds are worth reading by themselves.
fn place_netdev(tree: &dyn Tree, found: &mut BTreeMap<String, Located>, name: &str, path: &str) {
    let class = format!("{NET}/{name}");
    let function = function(tree, &class);
    let owner = found
        .values_mut()
        .find(|device| function.is_some() && device.function == function);
    if let Some(owner) = owner {
        owner.netdevs.push(name.to_owned());
        return;
    }
    let bond = function.is_none() && tree.exists(&format!("{class}/bonding"));
    if function.is_none() && !bond {
        return;
    }
    let key = function.clone().unwrap_or_else(|| path.to_owned());
    let mut device = located(&key, name, function);
    device.netdevs.push(name.to_owned());
    found.insert(key, device);
}

/// Directories of the host that cannot be listed: what is in them is not known.
fn unreadable(tree: &dyn Tree) -> Vec<Skipped> {
    let fails = |class: &&str| {
        let listed = tree.list(class);
        listed.is_err_and(|reason| reason != FaultReason::NotExposed)
    };
    let skipped = |class: &str| Skipped {
        key: DeviceKey::new(class),
        device: DeviceName::new(class),
        reason: SkipReason::Unreadable,
    };
    let classes = [INFINIBAND, NET, PCI].into_iter();
    classes.filter(fails).map(skipped).collect()
}

/// The bus device a class entry hangs on.
fn function(tree: &dyn Tree, class: &str) -> Option<String> {
    tree.resolve(&format!("{class}/device")).ok()
}

/// The PCI function a device path lies on: its last component that is an address.
pub(super) fn pci_address(path: &str) -> Option<PciAddress> {
    path.rsplit('/')
        .find_map(|component| component.parse().ok())
}

/// The path up to the PCI function.
pub(super) fn pci_path(path: &str) -> Option<&str> {
    let mut end = path.len();
    loop {
        let part = path.get(..end)?;
        if last(part).parse::<PciAddress>().is_ok() {
            return Some(part);
        }
        end = part.rfind('/')?;
    }
}

/// Slot names by the address of the slot, which has no function.
fn slots(tree: &dyn Tree) -> BTreeMap<String, String> {
    let names = tree.list(SLOTS).unwrap_or_default();
    let slot = |name: String| {
        let bytes = tree.read(&format!("{SLOTS}/{name}/address"), 64).ok()?;
        let address = parse::text(&bytes, 32).ok()?;
        Some((address, parse::escaped(&name)))
    };
    names.into_iter().take(DEVICES).filter_map(slot).collect()
}

fn slot_of(address: PciAddress) -> String {
    let PciAddress {
        domain,
        bus,
        device,
        ..
    } = address;
    format!("{domain:04x}:{bus:02x}:{device:02x}")
}

/// Network and InfiniBand controllers that have neither netdev nor RDMA device here.
fn functions_elsewhere(tree: &dyn Tree, devices: &[Located]) -> Vec<Skipped> {
    let addresses = tree.list(PCI).unwrap_or_default();
    let skipped = |name: String| {
        let path = tree.resolve(&format!("{PCI}/{name}")).ok()?;
        let address: PciAddress = name.parse().ok()?;
        if !is_network(tree, &path) || devices.iter().any(|device| is_on(device, &path)) {
            return None;
        }
        let reason = match tree.link(&format!("{path}/driver")) {
            Ok(driver) if last(&driver) == "vfio-pci" => SkipReason::Passthrough,
            Ok(_) => SkipReason::Moved,
            Err(_) => SkipReason::NoDriver,
        };
        Some(Skipped {
            key: DeviceKey::new(path),
            device: DeviceName::new(address.to_string()),
            reason,
        })
    };
    addresses.into_iter().filter_map(skipped).collect()
}

fn is_on(device: &Located, function: &str) -> bool {
    let on = device
        .function
        .as_deref()
        .and_then(|path| path.strip_prefix(function));
    on.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// PCI class codes 0x0200 (Ethernet), 0x0207 (InfiniBand) and 0x0208 (fabric: Omni-Path) of the PCI
/// Code and ID Assignment Specification; `class` is kept by the PCI core and enters no driver.
fn is_network(tree: &dyn Tree, path: &str) -> bool {
    let class = tree.read(&format!("{path}/class"), 64).ok();
    let class = class.and_then(|bytes| parse::text(&bytes, 16).ok());
    class.is_some_and(|class| {
        NETWORK.iter().any(|code| class.starts_with(code))
            // ConnectX-3 calls itself "other network controller".
            || (class.starts_with(OTHER) && vendor(tree, path).as_deref() == Some(MELLANOX))
    })
}

fn vendor(tree: &dyn Tree, path: &str) -> Option<String> {
    let bytes = tree.read(&format!("{path}/vendor"), 64).ok()?;
    parse::text(&bytes, 16).ok()
}
