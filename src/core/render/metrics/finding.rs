//! Families of what is found. A finding that is over is shown a while longer, so that a scraper that
//! comes every minute sees each.

use super::own::put;
use super::sheet::Sheet;
use crate::core::detect::RULES;
use crate::core::detect::coverage::worst;
use crate::core::model::finding::{Finding, Severity, State};
use crate::core::model::snapshot::Snapshot;
use crate::core::render::families::{
    DETECTOR_CAPABILITY, FINDING_RAISED, FINDING_SEVERITY, MAINTENANCE,
};
use crate::core::units::float;

/// Seconds for which a finding that is over is shown.
const EXPORT_HOLD: f64 = 120.0;

/// Adds them, if anything was judged.
pub(super) fn add<'a>(sheet: &mut Sheet<'a>, snapshot: &'a Snapshot) {
    let Some(findings) = &snapshot.findings else {
        return;
    };
    let recent = findings.recent.iter().filter(|finding| {
        let until = finding.until.unwrap_or_default();
        (snapshot.wall_seconds - until) <= EXPORT_HOLD
    });
    // Of two on one subject the active one comes first and stays.
    for finding in findings.active.iter().chain(recent) {
        // The end of a silenced finding is no reason for an alert either.
        let quiet = findings.quiet.contains(&finding.id);
        if let Some(severity) = exported(finding, findings.maintenance).filter(|_| !quiet) {
            let labels = [finding.code.as_str(), finding.subject.as_str()];
            let value = Some(float(severity.number()));
            put(sheet, &FINDING_SEVERITY, &labels, value);
        }
    }
    for (code, count) in &findings.raised {
        put(sheet, &FINDING_RAISED, &[code], Some(float(*count)));
    }
    for rule in RULES {
        let capability = worst(&findings.coverage, rule);
        let value = capability.map(|capability| float(capability.number()));
        put(sheet, &DETECTOR_CAPABILITY, &[rule.code], value);
    }
    let maintenance = if findings.maintenance { 1.0 } else { 0.0 };
    put(sheet, &MAINTENANCE, &[], Some(maintenance));
}

/// The severity that is exported: none of a silenced finding, at most info in maintenance.
fn exported(finding: &Finding, maintenance: bool) -> Option<Severity> {
    match finding.state {
        State::Silenced => None,
        State::Active | State::Cleared if maintenance => Some(Severity::Info),
        State::Active | State::Cleared => Some(finding.severity),
    }
}
