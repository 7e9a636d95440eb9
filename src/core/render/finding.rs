//! Findings as JSON (`railwatch-findings/1`), as text, and as a ticket.

use std::fmt::Write as _;

use serde::Serialize;

use super::document::{At, DocumentError, written};
use super::node::rfc3339;
use crate::core::detect::engine::Findings;
use crate::core::model::finding::{Evidence, Finding, Identity, Quantity, Severity, State};
use crate::core::model::snapshot::Snapshot;

/// The document's name and version.
pub const SCHEMA: &str = "railwatch-findings/1";
/// Where a code is explained.
const DOC: &str = "docs/FINDINGS.md#";

/// One finding as every document has it.
#[derive(Debug, Serialize)]
pub(super) struct Entry<'a> {
    id: u64,
    code: &'a str,
    severity: Severity,
    state: State,
    subject: &'a str,
    identity: &'a Identity,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    meaning: &'a str,
    next_step: &'a str,
    doc: String,
    jobs: [(); 0],
    evidence: &'a [Evidence],
}

impl<'a> Entry<'a> {
    pub(super) fn new(finding: &'a Finding) -> Self {
        Self {
            id: finding.id,
            code: &finding.code,
            severity: finding.severity,
            state: finding.state,
            subject: &finding.subject,
            identity: &finding.identity,
            since: rfc3339(finding.since),
            until: finding.until.and_then(rfc3339),
            meaning: &finding.meaning,
            next_step: &finding.next_step,
            doc: format!("{DOC}{}", finding.code),
            jobs: [],
            evidence: &finding.evidence,
        }
    }
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    at: At,
    maintenance: bool,
    findings: Vec<Entry<'a>>,
}

/// The findings that hold, then those that are over; with `id` that one alone.
///
/// # Errors
///
/// Never for findings of this crate; the JSON writer's error has to go somewhere.
pub fn document(snapshot: &Snapshot, id: Option<u64>) -> Result<Vec<u8>, DocumentError> {
    let none = Findings::default();
    let findings = snapshot.findings.as_deref().unwrap_or(&none);
    let wanted = |finding: &&Finding| id.is_none_or(|id| id == finding.id);
    let all = findings.active.iter().chain(&findings.recent);
    written(&Document {
        schema: SCHEMA,
        at: At::new(snapshot.wall_seconds),
        maintenance: findings.maintenance,
        findings: all.filter(wanted).map(Entry::new).collect(),
    })
}

/// A finding for a terminal: what, what it means, what to do, what was measured.
#[must_use]
pub fn text(finding: &Finding) -> String {
    let mut text = format!(
        "{} {} {} (number {}, since {})\n  {}\n",
        finding.severity.as_str().to_uppercase(),
        finding.code,
        finding.subject,
        finding.id,
        rfc3339(finding.since).unwrap_or_default(),
        finding.meaning,
    );
    for evidence in &finding.evidence {
        writeln!(text, "  - {}", measured(evidence)).ok();
    }
    writeln!(text, "  next: {}", finding.next_step).ok();
    text
}

/// Findings for a terminal: those that hold, then those that are over in one line each.
#[must_use]
pub fn list(snapshot: &Snapshot, id: Option<u64>) -> String {
    let mut said = String::new();
    let Some(findings) = &snapshot.findings else {
        return said;
    };
    let wanted = |finding: &&Finding| id.is_none_or(|id| id == finding.id);
    for finding in findings.active.iter().filter(wanted) {
        if finding.state == State::Silenced {
            said.push_str("silenced: ");
        }
        said.push_str(&text(finding));
    }
    for finding in findings.recent.iter().filter(wanted) {
        let until = finding.until.and_then(rfc3339).unwrap_or_default();
        let (code, subject, meaning) = (&finding.code, &finding.subject, &finding.meaning);
        writeln!(
            said,
            "over since {until}: {code} {subject} (number {}): {meaning}",
            finding.id
        )
        .ok();
    }
    if said.is_empty() {
        said.push_str("nothing was found\n");
    }
    said
}

/// Tickets of the findings that hold, or of the one that was asked for.
#[must_use]
pub fn tickets(snapshot: &Snapshot, id: Option<u64>) -> String {
    let host = snapshot.own.host.hostname.as_deref().unwrap_or("unknown");
    let Some(findings) = &snapshot.findings else {
        return String::new();
    };
    let all = findings.active.iter().chain(&findings.recent);
    let wanted = all.filter(|finding| match id {
        Some(id) => finding.id == id,
        None => finding.state == State::Active,
    });
    wanted.map(|finding| ticket(finding, host)).collect()
}

/// The paragraph for a repair order: who and where first, then what and since when.
fn ticket(finding: &Finding, host: &str) -> String {
    let mut parts = Vec::new();
    let identity = &finding.identity;
    let pci = identity.pci.map(|pci| pci.to_string());
    for (what, value) in [
        ("PCI", pci.as_ref()),
        ("slot", identity.slot.as_ref()),
        ("GUID", identity.guid.as_ref()),
        ("serial", identity.serial.as_ref()),
        ("firmware", identity.firmware.as_ref()),
        ("netdev", identity.netdev.as_ref()),
        ("peer", identity.peer.as_ref()),
    ] {
        if let Some(value) = value {
            parts.push(format!("{what} {value}"));
        }
    }
    let evidence: Vec<String> = finding.evidence.iter().map(measured).collect();
    format!(
        "Host {host}, {} ({}): {} [{}, {}] since {}. Measured: {}. Next step: {}\n",
        finding.subject,
        parts.join(", "),
        finding.meaning,
        finding.code,
        finding.severity.as_str(),
        rfc3339(finding.since).unwrap_or_default(),
        evidence.join("; "),
        finding.next_step,
    )
}

/// One piece of evidence in words.
fn measured(evidence: &Evidence) -> String {
    let unit = evidence
        .unit
        .as_deref()
        .map_or_else(String::new, |unit| format!(" {}", unit.replace('_', " ")));
    let mut text = format!("{}: {}{unit}", evidence.what, quantity(&evidence.value));
    if let Some(threshold) = &evidence.threshold {
        write!(text, " (should be {}{unit})", quantity(threshold)).ok();
    }
    if let Some(seconds) = evidence.window_seconds {
        write!(text, " within {seconds} s").ok();
    }
    text
}

fn quantity(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Number(number) => number.to_string(),
        Quantity::Text(text) => text.clone(),
    }
}
