//! `docs/FINDINGS.md`, made from the registry of rules.

use std::fmt::Write;

use crate::core::detect::RULES;
use crate::core::detect::rule::{Cadence, Rule};
use crate::core::model::finding::Severity;

const HEAD: &str = "\
# Findings

Generated from the registry of rules: `cargo run --example findings_doc > docs/FINDINGS.md`.

A code is the same in metrics (`railwatch_finding_severity{finding=…}`), JSON, log and alert names.
*Must hold* says for how long a verdict must be so before it is a finding, and for how long it must
not be so before that is over, in seconds in which it could be judged: what was not seen speaks for
nobody. What a finding means on a node, and what was measured, is told with it: `railwatch findings`.
";

/// The page.
#[must_use]
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for rule in RULES {
        page.push_str(&section(rule));
    }
    page
}

fn section(rule: &Rule) -> String {
    let severities: Vec<&str> = rule
        .severities
        .iter()
        .map(|severity: &Severity| severity.as_str())
        .collect();
    let mut text = format!("\n## {}\n\n**{}**\n\n", rule.code, rule.title);
    for (what, told) in [
        ("Symptom", rule.symptom),
        ("What happens", rule.physics),
        ("How it is judged", rule.formula),
        ("Needs", rule.resolution),
        ("Next step", rule.next_step),
    ] {
        writeln!(text, "* {what}: {told}").ok();
    }
    let gate = if rule.gate {
        "a critical one keeps jobs off (`check --for slurm`)"
    } else {
        "keeps no job off"
    };
    writeln!(
        text,
        "* Area {}, severity {}, judged {}, {gate}.",
        rule.area.as_str(),
        severities.join(" or "),
        cadence(rule.cadence),
    )
    .ok();
    let hold = rule.hold;
    writeln!(
        text,
        "* Must hold: {} s within {} s; over after {} s.",
        hold.need.as_secs(),
        hold.span.as_secs(),
        hold.off.as_secs()
    )
    .ok();
    text
}

fn cadence(cadence: Cadence) -> &'static str {
    match cadence {
        Cadence::Tick => "with each poll",
        Cadence::Second => "each second",
        Cadence::Minute => "each minute",
    }
}
