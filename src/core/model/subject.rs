//! What a verdict or a finding is about, and what is remembered of it under changing names.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::core::ids::{DeviceName, NetdevName, PciAddress, PortNumber};

/// What a finding is about, as it is shown and asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// `host`.
    Host,
    /// `mlx5_0`: a device, or its only port.
    Device(DeviceName),
    /// `mlx4_0/2`: one of several ports.
    Port(DeviceName, PortNumber),
    /// `mlx5_bond_0/ens1f1np1`: one of the netdevs below a port.
    Member(DeviceName, NetdevName),
    /// `eno1`: a netdev without an RDMA device.
    Netdev(NetdevName),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Device(device) => write!(f, "{device}"),
            Self::Port(device, port) => write!(f, "{device}/{port}"),
            Self::Member(device, netdev) => write!(f, "{device}/{netdev}"),
            Self::Netdev(netdev) => write!(f, "{netdev}"),
        }
    }
}

/// Under what a subject is remembered: by its PCI function and GUID, as names change from boot to
/// boot. Only what has neither, software devices, goes by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SubjectKey(String);

impl SubjectKey {
    /// The host as a whole.
    #[must_use]
    pub fn host() -> Self {
        Self("host".to_owned())
    }

    /// A device, or one port of it.
    #[must_use]
    pub fn of(hardware: &Hardware, port: Option<PortNumber>) -> Self {
        let mut key = match (&hardware.pci, &hardware.guid) {
            (Some(pci), Some(guid)) => format!("{pci} {guid}"),
            (Some(pci), None) => pci.to_string(),
            (None, Some(guid)) => guid.clone(),
            (None, None) => hardware.name.clone(),
        };
        if let Some(port) = port {
            key.push_str(&format!(" port {port}"));
        }
        Self(key)
    }

    /// The same without the hardware's GUID: the place, whatever card is in it.
    #[must_use]
    pub fn without_guid(&self, hardware: &Hardware) -> Self {
        match (&hardware.pci, &hardware.guid) {
            (Some(_), Some(guid)) => Self(self.0.replacen(&format!(" {guid}"), "", 1)),
            _ => self.clone(),
        }
    }

    /// The netdev of a function that has several.
    #[must_use]
    pub fn netdev(hardware: &Hardware, ordinal: u32) -> Self {
        let Self(key) = Self::of(hardware, None);
        Self(format!("{key} netdev {ordinal}"))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What tells one piece of hardware from another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hardware {
    /// The PCI function.
    pub pci: Option<PciAddress>,
    /// The node GUID.
    pub guid: Option<String>,
    /// The name it has now.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_written_as_it_is_asked_for() {
        let device = DeviceName::new("mlx5_0");
        let netdev = NetdevName::new("ens1f1np1");
        for (subject, text) in [
            (Subject::Host, "host"),
            (Subject::Device(device.clone()), "mlx5_0"),
            (Subject::Port(device.clone(), PortNumber(2)), "mlx5_0/2"),
            (Subject::Member(device, netdev.clone()), "mlx5_0/ens1f1np1"),
            (Subject::Netdev(netdev), "ens1f1np1"),
        ] {
            assert_eq!(subject.to_string(), text);
        }
    }

    #[test]
    fn a_key_outlives_a_rename_where_there_is_hardware() {
        let hardware = |name: &str| Hardware {
            pci: "0000:c1:00.0".parse().ok(),
            guid: Some("b83f:d203:00a1:b2c0".to_owned()),
            name: name.to_owned(),
        };
        let (old, new) = (hardware("mlx5_0"), hardware("mlx5_7"));
        assert_eq!(SubjectKey::of(&old, None), SubjectKey::of(&new, None));
        let software = |name: &str| Hardware {
            name: name.to_owned(),
            ..Hardware::default()
        };
        assert_ne!(
            SubjectKey::of(&software("siw0"), None),
            SubjectKey::of(&software("siw1"), None)
        );
    }
}
