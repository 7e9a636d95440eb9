//! The answer of `railwatch check`: one status for each area, the findings behind it, an exit code.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::document::{At, DocumentError, written};
use super::finding::{self, Entry};
use crate::core::detect::coverage::Coverage;
use crate::core::detect::engine::Findings;
use crate::core::detect::rule::{Area, Capability};
use crate::core::model::finding::{Finding, Severity, State};
use crate::core::model::snapshot::Snapshot;

/// The document's name and version.
pub const SCHEMA: &str = "railwatch-check/1";

/// How bad it must be to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// Warnings and worse, and areas that could not be judged.
    Warning,
    /// Critical findings alone.
    Critical,
    /// As `Warning`; for those who want to be told of what is not known first.
    Unknown,
}

/// How an area stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing wrong was found.
    Ok,
    /// It could not be judged at all.
    Unknown,
    /// The worst finding is a warning.
    Warning,
    /// There is a critical finding.
    Critical,
}

impl Status {
    /// The word in text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    fn exit(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }
}

/// What was checked.
#[derive(Debug)]
pub struct Check<'a> {
    wall: f64,
    status: Status,
    areas: BTreeMap<Area, AreaState>,
    findings: Vec<&'a Finding>,
}

#[derive(Debug)]
struct AreaState {
    status: Status,
    judged: usize,
    unknown: Vec<Unknown>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Unknown {
    what: String,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    widen: Option<String>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    at: At,
    status: Status,
    exit: u8,
    areas: BTreeMap<&'static str, AreaEntry<'a>>,
    /// What must keep jobs off the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<String>,
    findings: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct AreaEntry<'a> {
    status: Status,
    judged: usize,
    unknown: &'a [Unknown],
}

impl<'a> Check<'a> {
    /// Checks these areas of a snapshot; all of them if none is named.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, areas: &[Area]) -> Self {
        static NONE: std::sync::LazyLock<Findings> = std::sync::LazyLock::new(Findings::default);
        let findings = snapshot.findings.as_deref().unwrap_or(&NONE);
        let wanted = |area: Area| areas.is_empty() || areas.contains(&area);
        let told: Vec<&Finding> = findings
            .active
            .iter()
            .filter(|finding| finding.state == State::Active)
            .filter(|finding| area_of(finding).is_some_and(wanted))
            .collect();
        let states: BTreeMap<Area, AreaState> = Area::ALL
            .into_iter()
            .filter(|area| wanted(*area))
            .map(|area| (area, area_state(area, &findings.coverage, &told)))
            .collect();
        Self {
            wall: snapshot.wall_seconds,
            status: overall(&states, !areas.is_empty()),
            areas: states,
            findings: told,
        }
    }

    /// The exit code: 2 for critical, 1 for warning, 3 if an area that was asked for could not be
    /// judged, else 0.
    #[must_use]
    pub fn exit(&self, fail_on: FailOn) -> u8 {
        match (self.status, fail_on) {
            (Status::Warning | Status::Unknown, FailOn::Critical) => 0,
            (status, _) => status.exit(),
        }
    }

    /// The document `railwatch-check/1`.
    ///
    /// # Errors
    ///
    /// Never for findings of this crate; the JSON writer's error has to go somewhere.
    pub fn document(&self, fail_on: FailOn) -> Result<Vec<u8>, DocumentError> {
        let areas = self.areas.iter().map(|(area, state)| {
            let entry = AreaEntry {
                status: state.status,
                judged: state.judged,
                unknown: &state.unknown,
            };
            (area.as_str(), entry)
        });
        written(&Document {
            schema: SCHEMA,
            at: At::new(self.wall),
            status: self.status,
            exit: self.exit(fail_on),
            areas: areas.collect(),
            gate: self.gate(),
            findings: self
                .findings
                .iter()
                .map(|finding| Entry::new(finding))
                .collect(),
        })
    }

    /// The same for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            text.push_str(&finding::text(finding));
        }
        for (area, state) in &self.areas {
            if state.judged == 0 && state.unknown.is_empty() {
                continue;
            }
            let (area, status) = (area.as_str(), state.status.as_str());
            writeln!(text, "{area}: {status}, {} judged", state.judged).ok();
            for unknown in &state.unknown {
                writeln!(text, "  not judged: {}: {}", unknown.what, unknown.why).ok();
            }
        }
        let nothing: Vec<&str> = self
            .areas
            .iter()
            .filter(|(_, state)| state.judged == 0 && state.unknown.is_empty())
            .map(|(area, _)| area.as_str())
            .collect();
        if !nothing.is_empty() {
            writeln!(text, "nothing to judge: {}", nothing.join(", ")).ok();
        }
        writeln!(text, "status: {}", self.status.as_str()).ok();
        text
    }

    /// The first critical finding of a rule that keeps jobs off, in one line.
    #[must_use]
    pub fn gate(&self) -> Option<String> {
        let gate = self.findings.iter().find(|finding| {
            finding.severity == Severity::Critical
                && crate::core::detect::rule(&finding.code).is_some_and(|rule| rule.gate)
        })?;
        Some(format!("{} {}: {}", gate.code, gate.subject, gate.meaning))
    }
}

fn area_of(finding: &Finding) -> Option<Area> {
    crate::core::detect::rule(&finding.code).map(|rule| rule.area)
}

fn area_state(area: Area, coverage: &[Coverage], findings: &[&Finding]) -> AreaState {
    let covered: Vec<&Coverage> = coverage
        .iter()
        .filter(|covered| covered.rule.area == area)
        .collect();
    let cannot = |covered: &&&Coverage| {
        covered.unknown.is_some() || matches!(covered.capability, Capability::None(_))
    };
    let mut unknown: Vec<Unknown> = covered
        .iter()
        .filter(cannot)
        .map(|covered| Unknown {
            what: format!("{} {}", covered.rule.code, covered.subject),
            why: covered
                .unknown
                .unwrap_or_else(|| covered.capability.why())
                .to_owned(),
            widen: None,
        })
        .collect();
    unknown.sort();
    let judged = covered.len().saturating_sub(unknown.len());
    let worst = findings
        .iter()
        .filter(|finding| area_of(finding) == Some(area))
        .map(|finding| finding.severity)
        .max();
    let status = match worst {
        Some(Severity::Critical) => Status::Critical,
        Some(Severity::Warning) => Status::Warning,
        _ if judged == 0 => Status::Unknown,
        _ => Status::Ok,
    };
    AreaState {
        status,
        judged,
        unknown,
    }
}

/// Precedence: critical, warning, unknown, ok. An area nobody asked for by name and that has
/// nothing to judge does not make the whole unknown.
fn overall(areas: &BTreeMap<Area, AreaState>, named: bool) -> Status {
    let counts = |state: &&AreaState| named || state.judged > 0 || !state.unknown.is_empty();
    let worst = areas
        .values()
        .filter(counts)
        .map(|state| state.status)
        .max();
    match worst {
        Some(status) => status,
        // Nothing at all could be judged.
        None => Status::Unknown,
    }
}
