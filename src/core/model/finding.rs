//! A verdict that held: what is wrong, on what, since when, with its evidence and the next step.

use serde::{Deserialize, Serialize};

use crate::core::ids::PciAddress;
use crate::core::model::subject::SubjectKey;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nobody need act.
    Info,
    /// Performance or redundancy is at risk.
    Warning,
    /// A job suffers now, or will when it starts.
    Critical,
}

impl Severity {
    /// The word in JSON, text and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// The number in `railwatch_finding_severity`.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Info => 1,
            Self::Warning => 2,
            Self::Critical => 3,
        }
    }
}

/// Where a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It holds.
    Active,
    /// It is over.
    Cleared,
    /// It holds and somebody said not to be told.
    Silenced,
}

/// What the subject is, so that a person can find and replace it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// PCI address of the function.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci: Option<PciAddress>,
    /// Name of the physical slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<String>,
    /// Node GUID.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guid: Option<String>,
    /// Serial number, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub serial: Option<String>,
    /// Firmware version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub firmware: Option<String>,
    /// Netdev of the port.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub netdev: Option<String>,
    /// Rail of the port.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rail: Option<String>,
    /// Port at the other end of the cable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub peer: Option<String>,
}

/// A measured or expected quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A number in the evidence's unit.
    Number(f64),
    /// A text, such as a firmware version.
    Text(String),
}

impl From<f64> for Quantity {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// One thing that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was measured, in words.
    pub what: String,
    /// What it was.
    pub value: Quantity,
    /// Base unit of `value` and `threshold`; absent for texts and plain counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// What it should have been.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub threshold: Option<Quantity>,
    /// Over how long it was measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_seconds: Option<f64>,
    /// Metrics behind it, with `railwatch_`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub counters: Vec<String>,
}

impl Evidence {
    /// Something that was measured, without more.
    #[must_use]
    pub fn of(what: impl Into<String>, value: impl Into<Quantity>) -> Self {
        Self {
            what: what.into(),
            value: value.into(),
            unit: None,
            threshold: None,
            window_seconds: None,
            counters: Vec::new(),
        }
    }

    /// With its unit.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Some(unit.to_owned());
        self
    }

    /// With what it should have been.
    #[must_use]
    pub fn threshold(mut self, threshold: impl Into<Quantity>) -> Self {
        self.threshold = Some(threshold.into());
        self
    }

    /// With the window it was measured over.
    #[must_use]
    pub fn window(mut self, seconds: f64) -> Self {
        self.window_seconds = Some(seconds);
        self
    }

    /// With the metrics behind it.
    #[must_use]
    pub fn counters(mut self, metrics: &[&str]) -> Self {
        self.counters = metrics.iter().map(|&metric| metric.to_owned()).collect();
        self
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Number of this finding on this host; grows by one with each.
    pub id: u64,
    /// Code of the rule that raised it.
    pub code: String,
    /// How bad.
    pub severity: Severity,
    /// Where it stands.
    pub state: State,
    /// What it is about, by the name it had.
    pub subject: String,
    /// Under what the subject is remembered.
    pub key: SubjectKey,
    /// What the subject is.
    pub identity: Identity,
    /// When it began, seconds since 1970.
    pub since: f64,
    /// When it was over, seconds since 1970.
    pub until: Option<f64>,
    /// What it means here, in a sentence.
    pub meaning: String,
    /// What to do next.
    pub next_step: String,
    /// What was measured.
    pub evidence: Vec<Evidence>,
}
