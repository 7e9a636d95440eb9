//! Names and numbers that identify things, each its own type so that none is taken for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is; callers bound its length where it comes from a host.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text as the kernel spells it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// What a device is shown as: the RDMA device's name (`mlx5_0`), else its netdev's (`eth0`).
    DeviceName
}
text_id! {
    /// A network interface's name in the namespace that is read (`ens1f0np0`).
    NetdevName
}
text_id! {
    /// Where a device hangs below the tree, e.g. `sys/devices/pci0000:c0/0000:c1:00.0`.
    ///
    /// It survives a rename of the device; it is the key of queues, skip lists and histories.
    DeviceKey
}

/// A port of an RDMA device; the kernel counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PortNumber(pub u32);

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A PCI function's address, printed as the kernel does: `0000:c1:00.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// Domain; above 16 bits on hosts with VMD controllers.
    pub domain: u32,
    /// Bus.
    pub bus: u8,
    /// Device (slot) on the bus, 0–31.
    pub device: u8,
    /// Function, 0–7.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

/// The text is no PCI address of the form `dddd:bb:dd.f`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a PCI address like 0000:c1:00.0")]
pub struct NotAPciAddress(String);

impl FromStr for PciAddress {
    type Err = NotAPciAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_address(text).ok_or_else(|| NotAPciAddress(text.chars().take(64).collect()))
    }
}

fn parse_address(text: &str) -> Option<PciAddress> {
    let (domain, rest) = text.split_once(':')?;
    let (bus, rest) = rest.split_once(':')?;
    let (device, function) = rest.split_once('.')?;
    if !(4..=8).contains(&domain.len()) || bus.len() != 2 || device.len() != 2 {
        return None;
    }
    let hex = |digits: &str| digits.bytes().all(|b| b.is_ascii_hexdigit());
    if ![domain, bus, device, function].into_iter().all(hex) || function.len() != 1 {
        return None;
    }
    let address = PciAddress {
        domain: u32::from_str_radix(domain, 16).ok()?,
        bus: u8::from_str_radix(bus, 16).ok()?,
        device: u8::from_str_radix(device, 16).ok()?,
        function: u8::from_str_radix(function, 16).ok()?,
    };
    (address.device < 32 && address.function < 8).then_some(address)
}

impl Serialize for PciAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PciAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_prints_as_the_kernel_does() {
        for text in ["0000:c1:00.0", "10000:01:1f.7"] {
            assert_eq!(text.parse::<PciAddress>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_pci_address_is_refused() {
        for text in [
            "",
            "c1:00.0",
            "0000:c1:20.0",
            "0000:c1:00.8",
            "0000:c1:00.00",
            "+000:c1:00.0",
            "mlx5_core.sf.4",
        ] {
            assert!(text.parse::<PciAddress>().is_err(), "{text}");
        }
    }
}
