//! A card that runs other firmware than its siblings, or than it should.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Function;
use crate::core::model::finding::{Evidence, Severity};

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "firmware_differs",
    title: "Firmware differs",
    area: Area::Topology,
    severities: &[Severity::Info, Severity::Warning],
    cadence: Cadence::Minute,
    hold: Hold {
        need: Duration::ZERO,
        span: Duration::ZERO,
        off: Duration::ZERO,
    },
    gate: false,
    symptom: "One rail behaves unlike the others: other counters, other congestion control, other bugs.",
    physics: "A card was replaced, or an update did not reach it.",
    formula: "The version is not the one of the expectation file (warning), or not the one that most \
        cards of the same model on this host run (info; with a tie the newer one counts).",
    resolution: "The version once a minute.",
    next_step: "Bring the card to the version of the others, or take the new one over in the \
        expectation file.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let cards = view
        .scene
        .functions
        .iter()
        .filter(|function| function.is_rdma);
    let judged = cards.map(|function| Judgement {
        subject: function.subject.clone(),
        key: function.key.clone(),
        identity: function.identity.clone(),
        verdict: verdict(view, function),
        capability: if function.identity.firmware.is_some() {
            Capability::Full
        } else {
            Capability::None("the driver does not tell the version")
        },
    });
    judged.collect()
}

fn verdict(view: View<'_>, function: &Function) -> Verdict {
    let Some(firmware) = &function.identity.firmware else {
        return Verdict::Unknown {
            why: "the driver does not tell the version",
        };
    };
    let wanted = view
        .expected
        .function(function)
        .and_then(|expected| expected.firmware.clone());
    if let Some(wanted) = wanted {
        return differs(function, firmware, &wanted, Severity::Warning);
    }
    match usual(view, function) {
        Some(usual) => differs(function, firmware, &usual, Severity::Info),
        None => Verdict::Clear,
    }
}

fn differs(function: &Function, firmware: &str, wanted: &str, severity: Severity) -> Verdict {
    if firmware == wanted {
        return Verdict::Clear;
    }
    let who = if severity == Severity::Warning {
        "should run"
    } else {
        "its siblings run"
    };
    Verdict::Raise {
        severity,
        meaning: format!("{} runs firmware {firmware}, {who} {wanted}", function.name),
        evidence: vec![Evidence::of("firmware", firmware).threshold(wanted)],
    }
}

/// The version most cards of the model run.
fn usual(view: View<'_>, function: &Function) -> Option<String> {
    let model = function.model.as_ref()?;
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    let siblings = view.scene.functions.iter();
    for sibling in siblings.filter(|sibling| sibling.model.as_ref() == Some(model)) {
        if let Some(firmware) = &sibling.identity.firmware {
            let count = counted.entry(firmware).or_default();
            *count = count.saturating_add(1);
        }
    }
    let by_count_and_age = |(version, count): &(&str, usize)| (*count, numbers(version));
    let usual = counted.into_iter().max_by_key(by_count_and_age)?;
    Some(usual.0.to_owned())
}

/// `28.43.2026` → its numbers, so that versions compare as people read them.
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}
