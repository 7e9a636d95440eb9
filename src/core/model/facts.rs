//! What does not change from poll to poll: which devices there are and what they are.

use serde::{Deserialize, Serialize};

use crate::core::ids::{DeviceKey, DeviceName, NetdevName, PciAddress, PortNumber};
use crate::core::model::outcome::FaultReason;

/// One device: a PCI or auxiliary function, or a software device, with all that hangs on it.
///
/// Text is as the host gives it, trimmed and bounded; `None` where the host does not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Key of its queue and histories.
    pub key: DeviceKey,
    /// What it is shown as.
    pub name: DeviceName,
    /// Basename of `device/driver`, never inferred from the name (`mlx5_core`, `bnxt_en`).
    pub driver: Option<String>,
    /// What kind of function it is.
    pub function: Function,
    /// Its PCI function, or the PCI parent of a sub-function.
    pub pci: Option<PciFacts>,
    /// Set when it is an RDMA device.
    pub rdma: Option<RdmaFacts>,
    /// RDMA ports, ascending; empty for a plain netdev.
    pub ports: Vec<PortFacts>,
    /// Netdevs on the same function, uplink first.
    pub netdevs: Vec<NetdevFacts>,
    /// Facts that could not be read.
    pub faults: Vec<FactFault>,
}

/// Which kind of function a device is; scope of its counters follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// A physical PCI function.
    Physical,
    /// An SR-IOV virtual function; `physfn` is its parent when the link is there.
    Virtual {
        /// Address of the physical function.
        physfn: Option<PciAddress>,
    },
    /// A sub-function on the auxiliary bus.
    Sub {
        /// The administrator's number for it (`sfnum`).
        sfnum: Option<u32>,
    },
    /// No bus device at all: rxe, siw, bonds.
    Software,
}

/// What is known of a PCI function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciFacts {
    /// Its address.
    pub address: PciAddress,
    /// Physical slot label or number from `/sys/bus/pci/slots`.
    pub slot: Option<String>,
    /// Vendor id.
    pub vendor: Option<u16>,
    /// Device id.
    pub device: Option<u16>,
    /// NUMA node; absent when the firmware does not say (-1).
    pub numa_node: Option<u32>,
    /// PCIe ports on the way to it, from the root port down, and itself as the last.
    pub path: Vec<PcieHop>,
}

/// One PCIe port on the way from the root complex to a function. Its link is the one to the next
/// hop for a root port or a switch's downstream port, and the one to the hop before for all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcieHop {
    /// Its address.
    pub address: PciAddress,
    /// Transfers per second of each lane now.
    pub speed: Option<u64>,
    /// Lanes in use now.
    pub width: Option<u64>,
    /// Transfers per second it supports.
    pub max_speed: Option<u64>,
    /// Lanes it supports.
    pub max_width: Option<u64>,
}

/// What is known of an RDMA device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdmaFacts {
    /// `node_type` id: 1 CA, 4 RNIC, 7 unspecified (EFA).
    pub node_type: Option<u32>,
    /// `node_guid`, lower-case hex in four groups.
    pub node_guid: Option<String>,
    /// `sys_image_guid`: equal on all functions of one card.
    pub sys_image_guid: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// `hca_type`.
    pub hca_type: Option<String>,
    /// `board_id` (PSID or part number).
    pub board_id: Option<String>,
    /// The RDMA driver whose counter names apply (`mlx5`, `bnxt_re`, `rxe`); absent if unknown.
    pub rdma_driver: Option<String>,
}

/// What is known of one RDMA port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortFacts {
    /// Its number.
    pub number: PortNumber,
    /// `InfiniBand`, `Ethernet` or `Unknown`.
    pub link_layer: Option<String>,
    /// The netdev that carries it (a bond's name for a LAG device).
    pub netdev: Option<NetdevName>,
    /// The netdevs whose physical ports carry it: a bond's members, else the netdev itself.
    pub members: Vec<NetdevName>,
}

/// What is known of one netdev.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetdevFacts {
    /// Its name.
    pub name: NetdevName,
    /// What it is.
    pub role: NetdevRole,
    /// The bond it is a member of.
    pub master: Option<NetdevName>,
    /// Members, when it is a bond.
    pub members: Vec<NetdevName>,
    /// `phys_port_name` (`p0`, `pf0vf3`).
    pub phys_port_name: Option<String>,
}

/// What a netdev stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetdevRole {
    /// The function's own port.
    Uplink,
    /// A switchdev representor of a VF or SF.
    Representor,
    /// A bond.
    Bond,
    /// A software netdev that is read because an RDMA device sits on it.
    Software,
}

/// A fact that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactFault {
    /// Path below the device.
    pub what: String,
    /// Why.
    pub reason: FaultReason,
}

/// A device that is deliberately not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its key.
    pub key: DeviceKey,
    /// The best name known: RDMA device, netdev or PCI address.
    pub device: DeviceName,
    /// Why it is left alone.
    pub reason: SkipReason,
}

/// Why a device is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Firmware refuses every counter of this function (NVSwitch management functions).
    Restricted,
    /// Bound to its driver, but its netdev and RDMA device are in another namespace.
    Moved,
    /// A network function without a driver.
    NoDriver,
    /// Handed to a virtual machine (`vfio-pci`).
    Passthrough,
    /// A read of it did not return; it rests until the abandoned reader has ended.
    Stalled,
    /// The device limit is reached.
    TooMany,
    /// A directory of the host that cannot be listed: what is in it is not known.
    Unreadable,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: [Self; 7] = [
        Self::Restricted,
        Self::Moved,
        Self::NoDriver,
        Self::Passthrough,
        Self::Stalled,
        Self::TooMany,
        Self::Unreadable,
    ];

    /// The label's spelling.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Moved => "moved",
            Self::NoDriver => "no_driver",
            Self::Passthrough => "passthrough",
            Self::Stalled => "stalled",
            Self::TooMany => "too_many",
            Self::Unreadable => "unreadable",
        }
    }
}
