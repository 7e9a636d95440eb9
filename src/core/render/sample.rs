//! A small node for the tests of this room.

use std::sync::Arc;

use crate::core::catalog::{self, Driver, Lane, Source};
use crate::core::ids::{DeviceKey, DeviceName, NetdevName, PortNumber};
use crate::core::model::change::Run;
use crate::core::model::facts::{
    DeviceFacts, Function, NetdevFacts, NetdevRole, PciFacts, PortFacts, RdmaFacts,
};
use crate::core::model::snapshot::{DeviceView, SlotState, Snapshot};
use crate::core::model::time::BootTime;
use crate::core::wire::{Place, Slot, What};

pub(super) const PORT: Place = Place::Port(PortNumber(1));

pub(super) fn snapshot(devices: Vec<DeviceView>) -> Snapshot {
    Snapshot {
        at: BootTime(100_000_000_000),
        wall_seconds: 1_772_366_400.25,
        devices: devices.into_iter().map(Arc::new).collect(),
        ..Snapshot::default()
    }
}

/// A slot of a catalogued metric as mlx5 spells it.
pub(super) fn slot(metric: &str, place: Place) -> Slot {
    let mut rows = (0..).map_while(|position| Some((position, catalog::row(position)?)));
    let (row, found) = rows.find(|(_, row)| row.metric == metric).unwrap();
    let ours = |driver| matches!(driver, Driver::Any | Driver::Mlx5);
    let mut entries = (0..).zip(found.entries);
    let (entry, spelling) = entries.find(|(_, entry)| ours(entry.driver)).unwrap();
    Slot {
        what: What::Row { row, entry },
        place,
        file: spelling.file.name().to_owned(),
        lane: found.lane,
        source: found.source,
    }
}

pub(super) fn raw(file: &str) -> Slot {
    Slot {
        what: What::Raw {
            group: "hw_counters".to_owned(),
        },
        place: PORT,
        file: file.to_owned(),
        lane: Lane::Fast,
        source: Source::Infiniband,
    }
}

pub(super) fn netdev(name: &str) -> Place {
    Place::Netdev(NetdevName::new(name))
}

/// Read half a second before the snapshot.
pub(super) fn current(value: u64) -> SlotState {
    SlotState::Current {
        value,
        saturated: false,
        at: BootTime(99_500_000_000),
        run: Run::default(),
    }
}

pub(super) fn saturated(value: u64) -> SlotState {
    SlotState::Current {
        value,
        saturated: true,
        at: BootTime(99_500_000_000),
        run: Run::default(),
    }
}

/// An mlx5 device with one port on `netdev` and these slots.
pub(super) fn device(name: &str, netdev: &str, read: Vec<(Slot, SlotState)>) -> DeviceView {
    let (slots, states): (Vec<Slot>, Vec<SlotState>) = read.into_iter().unzip();
    DeviceView {
        facts: Arc::new(facts(name, netdev)),
        slots: slots.into(),
        states,
        restarted: None,
        concepts: Arc::default(),
    }
}

fn facts(name: &str, netdev: &str) -> DeviceFacts {
    let netdev = NetdevName::new(netdev);
    DeviceFacts {
        key: DeviceKey::new(format!("sys/devices/{name}")),
        name: DeviceName::new(name),
        driver: Some("mlx5_core".to_owned()),
        function: Function::Physical,
        pci: Some(PciFacts {
            address: "0000:c1:00.0".parse().unwrap(),
            slot: Some("5".to_owned()),
            vendor: Some(0x15b3),
            device: Some(0x1021),
            numa_node: None,
            path: Vec::new(),
        }),
        rdma: Some(RdmaFacts {
            node_type: Some(1),
            node_guid: Some("a088:c203:00ab:cdef".to_owned()),
            sys_image_guid: None,
            firmware: Some("28.39.1002".to_owned()),
            hca_type: None,
            board_id: None,
            rdma_driver: Some("mlx5".to_owned()),
        }),
        ports: vec![PortFacts {
            number: PortNumber(1),
            link_layer: Some("Ethernet".to_owned()),
            netdev: Some(netdev.clone()),
            members: vec![netdev.clone()],
        }],
        netdevs: vec![NetdevFacts {
            name: netdev,
            role: NetdevRole::Uplink,
            master: None,
            members: Vec::new(),
            phys_port_name: None,
        }],
        faults: Vec::new(),
    }
}

/// The same device without its RDMA side.
pub(super) fn plain_netdev(name: &str, read: Vec<(Slot, SlotState)>) -> DeviceView {
    let mut view = device(name, name, read);
    let mut facts = facts(name, name);
    facts.rdma = None;
    facts.ports = Vec::new();
    view.facts = Arc::new(facts);
    view
}
