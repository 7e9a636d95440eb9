//! What this node should have, and who says so.

use serde::{Deserialize, Serialize};

use crate::core::ids::PciAddress;
use crate::core::model::subject::SubjectKey;

/// Who says what a node should have, the most binding first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The expectation file.
    File,
    /// What this node was seen to have, healthy, for ten minutes or more.
    Learnt,
    /// What the other devices of the same model have.
    Siblings,
    /// The port's own signal: it is cabled.
    Signal,
}

impl Speaker {
    /// In words, for evidence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "the expectation file",
            Self::Learnt => "this node as it was",
            Self::Siblings => "its siblings of the same model",
            Self::Signal => "its own signal: it has a partner",
        }
    }
}

/// A link that should be up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedLink {
    /// Which.
    pub key: SubjectKey,
    /// The PCI function it is on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci: Option<PciAddress>,
    /// It should be up; else only its rate, once it is, is expected.
    pub up: bool,
    /// Its rate, bytes per second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<u64>,
    /// What it was called.
    pub name: String,
    /// Who says so.
    pub by: Speaker,
}

/// A function that should be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedFunction {
    /// Which.
    pub key: SubjectKey,
    /// Its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci: Option<PciAddress>,
    /// Its slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<String>,
    /// Its node GUID; a card that was replaced has another.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guid: Option<String>,
    /// It has an RDMA device.
    pub is_rdma: bool,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Lanes of the narrowest link of its PCIe path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<u64>,
    /// Transfers per second of the slowest link of its PCIe path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speed: Option<u64>,
    /// Firmware it should run; only a file says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub firmware: Option<String>,
    /// What it was called.
    pub name: String,
    /// Who says so.
    pub by: Speaker,
}

/// What a node should have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// Links that should be up. The first of a key speaks.
    pub links: Vec<ExpectedLink>,
    /// Functions that should be there. The first of a key speaks.
    pub functions: Vec<ExpectedFunction>,
}
