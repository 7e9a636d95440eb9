//! Physical functions: what each is, what its PCIe path gives, whether it works.

use std::sync::Arc;

use crate::core::detect::scene::link::{hardware, identity, model};
use crate::core::detect::scene::reading::{Got, got};
use crate::core::ids::DeviceName;
use crate::core::model::change::Point;
use crate::core::model::facts::{self, DeviceFacts, PcieHop};
use crate::core::model::finding::Identity;
use crate::core::model::snapshot::DeviceView;
use crate::core::model::subject::{Hardware, Subject, SubjectKey};
use crate::core::wire::Place;

/// One physical function as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// What it is called.
    pub subject: Subject,
    /// Under what it is remembered.
    pub key: SubjectKey,
    /// What it is.
    pub identity: Identity,
    /// Its name.
    pub name: DeviceName,
    /// What tells it from others.
    pub hardware: Hardware,
    /// Functions of the same model are compared.
    pub model: Option<String>,
    /// It has an RDMA device.
    pub is_rdma: bool,
    /// PCIe ports on the way to it, from the root port down.
    pub path: Vec<PcieHop>,
    /// RDMA bytes of each port in each direction, as far as they are read.
    pub traffic: Vec<Point>,
    /// Rate of its fastest link that is up, bytes per second.
    pub rate: Option<u64>,
}

/// Every physical function of the devices.
pub(super) fn functions(devices: &[Arc<DeviceView>]) -> Vec<Function> {
    devices
        .iter()
        .filter(|device| device.facts.function == facts::Function::Physical)
        .map(|device| function(device))
        .collect()
}

fn function(device: &DeviceView) -> Function {
    let facts = &device.facts;
    let hardware = hardware(facts);
    let rates = places(facts).into_iter().filter_map(|place| {
        let port = got(device, "port_rate", &place).value();
        port.or_else(|| got(device, "netdev_speed", &place).value())
    });
    Function {
        subject: Subject::Device(facts.name.clone()),
        key: SubjectKey::of(&hardware, None),
        identity: identity(facts),
        name: facts.name.clone(),
        model: model(facts),
        is_rdma: facts.rdma.is_some(),
        path: facts
            .pci
            .as_ref()
            .map_or_else(Vec::new, |pci| pci.path.clone()),
        traffic: traffic(device),
        rate: rates.max(),
        hardware,
    }
}

fn places(facts: &DeviceFacts) -> Vec<Place> {
    let ports = facts.ports.iter().map(|port| Place::Port(port.number));
    let netdevs = facts.netdevs.iter();
    let netdevs = netdevs.map(|netdev| Place::Netdev(netdev.name.clone()));
    ports.chain(netdevs).collect()
}

fn traffic(device: &DeviceView) -> Vec<Point> {
    const CONCEPTS: [&str; 2] = ["rdma_transmit_bytes", "rdma_receive_bytes"];
    let mut points = Vec::new();
    for place in places(&device.facts) {
        for concept in CONCEPTS {
            if let Got::Value { point, scaled, .. } = got(device, concept, &place) {
                let value = scaled;
                points.push(Point { value, ..point });
            }
        }
    }
    points
}
