//! What an RDMA device and its ports are.

use crate::core::catalog::Driver;
use crate::core::catalog::driver::{self, Clues};
use crate::core::ids::{NetdevName, PortNumber};
use crate::core::model::facts::{NetdevFacts, NetdevRole, PortFacts, RdmaFacts};
use crate::core::model::outcome::FaultReason;
use crate::core::parse::facts as parse;
use crate::host::discover::{Facts, PORTS, netdev};

/// GID slots whose netdev is asked for before giving up.
const GID_NETDEVS: usize = 16;

/// The device's own facts. Files that not every driver has are no fault when they refuse.
pub(super) fn device(
    facts: &mut Facts<'_>,
    name: &str,
    module: Option<&str>,
) -> (RdmaFacts, Option<Driver>) {
    let path = format!("sys/class/infiniband/{name}");
    let node_type = facts.parsed(&format!("{path}/node_type"), parse::id);
    let has_parent_file = facts.tree.exists(&format!("{path}/parent"));
    let driver = driver::of(Clues {
        module,
        has_parent_file,
        node_type,
    });
    let guid = |text: &str| Ok(parse::guid(text));
    let rdma = RdmaFacts {
        node_type,
        node_guid: facts.parsed(&format!("{path}/node_guid"), guid).flatten(),
        sys_image_guid: facts
            .parsed(&format!("{path}/sys_image_guid"), guid)
            .flatten(),
        firmware: facts.text(&format!("{path}/fw_ver")),
        hca_type: facts.text(&format!("{path}/hca_type")),
        board_id: board(facts, &path),
        rdma_driver: driver.map(|driver| driver.as_str().to_owned()),
    };
    (rdma, driver)
}

/// `board_id`; hfi1 answers `EINVAL` when the board has no name.
fn board(facts: &mut Facts<'_>, path: &str) -> Option<String> {
    let known = facts.faults.len();
    let board = facts.text(&format!("{path}/board_id"));
    if facts
        .faults
        .last()
        .is_some_and(|fault| fault.reason == FaultReason::InvalidArgument)
    {
        facts.faults.truncate(known);
    }
    board
}

/// Numbers of the ports, ascending.
pub(super) fn port_numbers(facts: &mut Facts<'_>, name: &str) -> Vec<PortNumber> {
    let path = format!("sys/class/infiniband/{name}/ports");
    let names = facts
        .kept(&path, facts.tree.list(&path))
        .unwrap_or_default();
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().take(PORTS).map(PortNumber).collect()
}

/// Facts of one port; `netdevs` are those on the device's function.
pub(super) fn port(
    facts: &mut Facts<'_>,
    name: &str,
    number: PortNumber,
    netdevs: &[NetdevFacts],
) -> PortFacts {
    let path = format!("sys/class/infiniband/{name}/ports/{number}");
    // The kernel's word for a link layer it has no name for.
    let link_layer = facts
        .text(&format!("{path}/link_layer"))
        .filter(|link_layer| link_layer != "Unknown");
    let netdev = netdev_of(facts, name, number, netdevs);
    let members = netdev.as_ref().map_or_else(Vec::new, |netdev| {
        let members = netdev::members(facts, netdev.as_str());
        if members.is_empty() {
            vec![netdev.clone()]
        } else {
            members
        }
    });
    PortFacts {
        number,
        link_layer,
        netdev,
        members,
    }
}

/// The netdev that carries a port: by GID attribute, else by the function's netdevs, else by the
/// file `parent` of soft RoCE.
fn netdev_of(
    facts: &mut Facts<'_>,
    name: &str,
    number: PortNumber,
    netdevs: &[NetdevFacts],
) -> Option<NetdevName> {
    let attributes = format!("sys/class/infiniband/{name}/ports/{number}/gid_attrs/ndevs");
    let by_gid = (0..GID_NETDEVS).find_map(|index| {
        // An empty slot answers EINVAL: it has none, which is no fault.
        let bytes = facts.tree.read(&format!("{attributes}/{index}"), 64).ok()?;
        let named = parse::netdev_name(&crate::core::parse::text(&bytes, 16).ok()?)?;
        is_ours(facts, name, &named, netdevs).then_some(named)
    });
    by_gid
        .or_else(|| by_function(facts, number, netdevs))
        .or_else(|| {
            parse::netdev_name(&facts.text(&format!("sys/class/infiniband/{name}/parent"))?)
        })
}

/// Whether a name among the GID attributes is a netdev of this namespace and of this device: a
/// virtual function whose netdev was moved still names it as it is called there.
fn is_ours(
    facts: &mut Facts<'_>,
    device: &str,
    named: &NetdevName,
    netdevs: &[NetdevFacts],
) -> bool {
    let hardware = |class: &str| facts.tree.exists(&format!("sys/class/{class}/device"));
    let stranger = hardware(&format!("infiniband/{device}")) && hardware(&format!("net/{named}"));
    if !stranger {
        // A bond, a VLAN, a veth below soft RoCE, or nothing that is here.
        return true;
    }
    netdevs.iter().any(|own| own.name == *named)
}

/// The uplink whose `dev_port` (or `dev_id`) is port − 1; the first port takes an only uplink that
/// does not say. Further ports of a function with one uplink are a switch's ports to its functions.
fn by_function(
    facts: &mut Facts<'_>,
    number: PortNumber,
    netdevs: &[NetdevFacts],
) -> Option<NetdevName> {
    let uplinks: Vec<&NetdevFacts> = netdevs
        .iter()
        .filter(|netdev| netdev.role == NetdevRole::Uplink)
        .collect();
    if let ([only], PortNumber(1)) = (uplinks.as_slice(), number) {
        return Some(only.name.clone());
    }
    let wanted = number.0.checked_sub(1)?;
    let is_wanted = |netdev: &&&NetdevFacts| {
        let path = format!("sys/class/net/{}", netdev.name);
        let port = facts.parsed(&format!("{path}/dev_port"), parse::decimal);
        let id = facts.parsed(&format!("{path}/dev_id"), parse::hex);
        // Old drivers leave dev_port 0 on every port and count in dev_id.
        port.filter(|port| *port != 0).or(id).or(port) == Some(wanted)
    };
    uplinks
        .iter()
        .find(is_wanted)
        .map(|netdev| netdev.name.clone())
}
