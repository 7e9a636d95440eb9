//! Physical links. A bond or a dual-port card that lost one of two is not healthy, though its RDMA
//! port is active: each member is a link of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::detect::scene::reading::{Got, got};
use crate::core::ids::{DeviceName, NetdevName, PortNumber};
use crate::core::model::change::Point;
use crate::core::model::facts::{DeviceFacts, Function, NetdevFacts, NetdevRole, PortFacts};
use crate::core::model::finding::Identity;
use crate::core::model::snapshot::DeviceView;
use crate::core::model::subject::{Hardware, Subject, SubjectKey};
use crate::core::model::time::BootTime;
use crate::core::wire::Place;

/// `state` of a port that carries traffic (`K:include/rdma/ib_verbs.h`, `IB_PORT_ACTIVE`).
const ACTIVE: u64 = 4;
/// Physical state of an InfiniBand port that was switched off (IBA vol. 1 §14.2.5.6).
const DISABLED: u64 = 3;

/// What kind of link it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Technology {
    /// InfiniBand: a subnet manager must bring the port up.
    InfiniBand,
    /// Ethernet, with or without RDMA.
    Ethernet,
}

/// One physical link as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What it is called.
    pub subject: Subject,
    /// Under what it is remembered.
    pub key: SubjectKey,
    /// The same by its place alone.
    pub place: SubjectKey,
    /// What it is.
    pub identity: Identity,
    /// Device it belongs to.
    pub device: DeviceName,
    /// Number of its port on the RDMA device.
    pub port: Option<PortNumber>,
    /// Links of the same model are compared.
    pub model: Option<String>,
    /// What kind.
    pub technology: Technology,
    /// RDMA goes over it.
    pub is_rdma: bool,
    /// Whether somebody wants it up; `None` if it does not say.
    pub wanted: Option<bool>,
    /// Whether it is up; `None` if it does not say.
    pub up: Option<bool>,
    /// Logical state of the port.
    pub state: Option<u64>,
    /// Physical state of the port.
    pub physical_state: Option<u64>,
    /// Bytes per second, while it is up.
    pub rate: Option<u64>,
    /// Times it went down, as the hardware or kernel counts.
    pub downs: Option<Point>,
    /// Metric of `downs`.
    pub downs_metric: Option<&'static str>,
    /// When its device last started again.
    pub restarted: Option<BootTime>,
}

/// Every physical link of the devices. Virtual and sub-functions are left out: their link is their
/// parent's.
pub(super) fn links(devices: &[Arc<DeviceView>]) -> Vec<Link> {
    let claimed: BTreeSet<&NetdevName> = devices
        .iter()
        .flat_map(|device| &device.facts.ports)
        .flat_map(|port| port.members.iter().chain(&port.netdev))
        .collect();
    let mut links = Vec::new();
    for device in devices.iter().filter(|device| is_own(&device.facts)) {
        for port in &device.facts.ports {
            let maker = Maker { devices, device };
            if port.members.len() > 1 {
                links.extend(port.members.iter().filter_map(|name| maker.member(name)));
            } else {
                links.push(maker.port(port));
            }
        }
        for (ordinal, netdev) in (0..).zip(&device.facts.netdevs) {
            if netdev.role == NetdevRole::Uplink && !claimed.contains(&netdev.name) {
                links.push(plain(device, ordinal, netdev));
            }
        }
    }
    links
}

fn is_own(facts: &DeviceFacts) -> bool {
    matches!(facts.function, Function::Physical | Function::Software)
}

/// Makes the links of one RDMA device.
struct Maker<'a> {
    devices: &'a [Arc<DeviceView>],
    device: &'a DeviceView,
}

impl Maker<'_> {
    /// A port with at most one netdev below it.
    fn port(&self, port: &PortFacts) -> Link {
        let facts = &self.device.facts;
        let place = Place::Port(port.number);
        let single = facts.ports.len() == 1;
        let subject = if single {
            Subject::Device(facts.name.clone())
        } else {
            Subject::Port(facts.name.clone(), port.number)
        };
        let key = SubjectKey::of(&hardware(facts), (!single).then_some(port.number));
        let mut link = blank(subject, key, facts);
        link.identity.netdev = port.netdev.as_ref().map(ToString::to_string);
        link.is_rdma = true;
        link.port = Some(port.number);
        link.state = got(self.device, "port_state", &place).value();
        link.physical_state = got(self.device, "port_physical_state", &place).value();
        link.rate = got(self.device, "port_rate", &place).value();
        link.restarted = self.device.restarted;
        if port.link_layer.as_deref() == Some("InfiniBand") {
            link.technology = Technology::InfiniBand;
            link.wanted = link.physical_state.map(|state| state != DISABLED);
            link.up = link.state.map(|state| state == ACTIVE);
            link.take_downs(got(self.device, "link_downed", &place));
        } else {
            let below = port.members.first().or(port.netdev.as_ref());
            let carrier = below.and_then(|name| self.find(name));
            if let Some((device, _, netdev)) = carrier {
                link.take_netdev(device, &netdev.name);
            }
            // A carrier without an active port is a port that carries nothing.
            let active = link.state.map(|state| state == ACTIVE);
            link.up = match (link.up, active) {
                (Some(up), Some(active)) => Some(up && active),
                (up, active) => up.or(active),
            };
        }
        link
    }

    /// One of several netdevs below a port.
    fn member(&self, name: &NetdevName) -> Option<Link> {
        let (device, ordinal, netdev) = self.find(name)?;
        let subject = Subject::Member(self.device.facts.name.clone(), name.clone());
        let key = SubjectKey::netdev(&hardware(&device.facts), ordinal);
        let mut link = blank(subject, key, &device.facts);
        link.device = self.device.facts.name.clone();
        link.identity.netdev = Some(name.to_string());
        link.model = model(&self.device.facts);
        link.is_rdma = true;
        link.restarted = device.restarted;
        link.take_netdev(device, &netdev.name);
        Some(link)
    }

    /// The netdev of a name, on whichever device it is.
    fn find(&self, name: &NetdevName) -> Option<(&DeviceView, u32, &NetdevFacts)> {
        self.devices.iter().find_map(|device| {
            let netdevs = (0..).zip(&device.facts.netdevs);
            netdevs
                .into_iter()
                .find(|(_, netdev)| netdev.name == *name)
                .map(|(ordinal, netdev)| (device.as_ref(), ordinal, netdev))
        })
    }
}

/// A netdev without an RDMA port.
fn plain(device: &DeviceView, ordinal: u32, netdev: &NetdevFacts) -> Link {
    let subject = Subject::Netdev(netdev.name.clone());
    let key = SubjectKey::netdev(&hardware(&device.facts), ordinal);
    let mut link = blank(subject, key, &device.facts);
    link.identity.netdev = Some(netdev.name.to_string());
    link.restarted = device.restarted;
    link.take_netdev(device, &netdev.name);
    link
}

impl Link {
    /// Takes state, speed and downs of a netdev. The kernel says nothing of the carrier of one that
    /// is administratively down.
    fn take_netdev(&mut self, device: &DeviceView, name: &NetdevName) {
        let place = Place::Netdev(name.clone());
        let carrier = got(device, "carrier", &place);
        self.wanted = match carrier {
            Got::Value { .. } => Some(true),
            Got::Nothing => Some(false),
            Got::Failed | Got::Missing => None,
        };
        self.up = carrier.value().map(|carrier| carrier == 1);
        let speed = got(device, "netdev_speed", &place).value();
        self.rate = self.rate.or(speed).filter(|_| self.up == Some(true));
        self.take_downs(got(device, "carrier_down", &place));
    }

    fn take_downs(&mut self, downs: Got) {
        if let Got::Value { point, metric, .. } = downs {
            self.downs = Some(point);
            self.downs_metric = Some(metric);
        }
    }
}

/// What identifies a device's hardware.
pub(super) fn hardware(facts: &DeviceFacts) -> Hardware {
    Hardware {
        pci: facts.pci.as_ref().map(|pci| pci.address),
        guid: facts.rdma.as_ref().and_then(|rdma| rdma.node_guid.clone()),
        name: facts.name.to_string(),
    }
}

/// What a person needs to find a device.
pub(super) fn identity(facts: &DeviceFacts) -> Identity {
    let rdma = facts.rdma.as_ref();
    Identity {
        pci: facts.pci.as_ref().map(|pci| pci.address),
        slot: facts.pci.as_ref().and_then(|pci| pci.slot.clone()),
        guid: rdma.and_then(|rdma| rdma.node_guid.clone()),
        firmware: rdma.and_then(|rdma| rdma.firmware.clone()),
        ..Identity::default()
    }
}

/// Devices of one model have the same board, or at least the same PCI device id.
pub(super) fn model(facts: &DeviceFacts) -> Option<String> {
    let board = facts.rdma.as_ref().and_then(|rdma| rdma.board_id.clone());
    board.or_else(|| {
        let pci = facts.pci.as_ref()?;
        Some(format!("{:04x}:{:04x}", pci.vendor?, pci.device?))
    })
}

fn blank(subject: Subject, key: SubjectKey, facts: &DeviceFacts) -> Link {
    Link {
        subject,
        place: key.without_guid(&hardware(facts)),
        key,
        identity: identity(facts),
        device: facts.name.clone(),
        port: None,
        model: model(facts),
        technology: Technology::Ethernet,
        is_rdma: false,
        wanted: None,
        up: None,
        state: None,
        physical_state: None,
        rate: None,
        downs: None,
        downs_metric: None,
        restarted: None,
    }
}
