//! A node that is in maintenance for longer than anybody works on it.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::model::finding::{Evidence, Identity, Severity};
use crate::core::model::subject::{Subject, SubjectKey};

/// A work shift.
const FORGOTTEN: Duration = Duration::from_secs(8 * 3600);

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "maintenance_forgotten",
    title: "Maintenance forgotten",
    area: Area::Host,
    severities: &[Severity::Warning],
    cadence: Cadence::Minute,
    hold: Hold {
        need: Duration::ZERO,
        span: Duration::ZERO,
        off: Duration::ZERO,
    },
    gate: false,
    symptom: "A node with a dead link is back in the queue and no alert says so.",
    physics: "Somebody told the node to keep quiet while they worked on it, and did not take it back.",
    formula: "The node has been in maintenance for 8 h, a work shift. Maintenance ends by itself after \
        24 h at most, and with a reboot.",
    resolution: "Once a minute.",
    next_step: "Ask who works on the node; `railwatch maintenance off`, or remove the file \
        `maintenance` from the runtime directory.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let verdict = match view.scene.in_maintenance {
        Some(lasted) if lasted >= FORGOTTEN => Verdict::Raise {
            severity: Severity::Warning,
            meaning: format!(
                "this node has been in maintenance for {} h; its alerts keep quiet",
                lasted.as_secs() / 3600
            ),
            evidence: vec![
                Evidence::of("in maintenance for", lasted.as_secs_f64())
                    .unit("seconds")
                    .threshold(FORGOTTEN.as_secs_f64())
                    .counters(&["railwatch_maintenance"]),
            ],
        },
        _ => Verdict::Clear,
    };
    vec![Judgement {
        subject: Subject::Host,
        key: SubjectKey::host(),
        identity: Identity::default(),
        verdict,
        capability: Capability::Full,
    }]
}
