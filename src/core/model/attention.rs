//! What people asked for: a node in maintenance, findings they do not want to be told of.

use serde::{Deserialize, Serialize};

use crate::core::model::finding::{Finding, State};

/// The longest maintenance and the longest silence, seconds: what is forgotten must come back.
pub const LONGEST: f64 = 24.0 * 3600.0;

/// Somebody works on the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Maintenance {
    /// When it began, seconds since 1970.
    pub since: f64,
    /// When it ends by itself, seconds since 1970.
    pub until: f64,
    /// Why.
    pub reason: String,
}

/// A finding somebody does not want to be told of for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Silence {
    /// The finding's code.
    pub code: String,
    /// The finding's subject; every one if absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<String>,
    /// When it ends by itself, seconds since 1970.
    pub until: f64,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

impl Silence {
    /// Whether it is about this finding.
    #[must_use]
    pub fn covers(&self, finding: &Finding) -> bool {
        let subject = self.subject.as_ref();
        self.code == finding.code && subject.is_none_or(|subject| *subject == finding.subject)
    }
}

/// Marks the findings that are silenced at a time.
pub fn apply(silences: &[Silence], findings: &mut [Finding], wall: f64) {
    for finding in findings {
        let silenced = silences
            .iter()
            .any(|silence| silence.until > wall && silence.covers(finding));
        if silenced && finding.state == State::Active {
            finding.state = State::Silenced;
        }
    }
}
