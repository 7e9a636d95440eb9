//! One trouble, one finding: where two rules speak of one subject the cause stays and the other
//! becomes its evidence.

use crate::core::detect::RULES;
use crate::core::model::finding::{Evidence, Finding};

/// Codes that are no consequence of anything else: two causes at once are two findings.
const INDEPENDENT: [&str; 2] = ["pcie_degraded", "firmware_differs"];

/// Leaves out findings that another one explains, and puts them into its evidence.
#[must_use]
pub fn arbitrate(findings: &[Finding]) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by_key(|finding| (rank(&finding.code), finding.id));
    for finding in ordered {
        match kept.iter_mut().find(|cause| explains(cause, finding)) {
            Some(cause) => cause.evidence.push(as_evidence(finding)),
            None => kept.push(finding.clone()),
        }
    }
    kept
}

/// The place of a code among the rules; what is no rule comes last.
fn rank(code: &str) -> usize {
    let position = RULES.iter().position(|rule| rule.code == code);
    position.unwrap_or(RULES.len())
}

fn explains(cause: &Finding, finding: &Finding) -> bool {
    let independent = |code: &str| INDEPENDENT.contains(&code);
    !independent(&cause.code)
        && !independent(&finding.code)
        && rank(&cause.code) < rank(&finding.code)
        && is_about(cause, finding)
}

/// The same subject, or a port of a device that is gone as a whole.
fn is_about(cause: &Finding, finding: &Finding) -> bool {
    let whole = cause.code == "device_missing";
    cause.key == finding.key
        || (whole && cause.identity.pci.is_some() && cause.identity.pci == finding.identity.pci)
}

fn as_evidence(finding: &Finding) -> Evidence {
    Evidence::of(format!("also {}", finding.code), finding.meaning.as_str())
}
