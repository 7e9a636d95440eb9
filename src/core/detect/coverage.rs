//! What can be judged, and how well.

use crate::core::detect::rule::{Capability, Rule};
use crate::core::model::subject::Subject;

/// How well one rule can judge one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// The rule.
    pub rule: &'static Rule,
    /// The subject.
    pub subject: Subject,
    /// How well.
    pub capability: Capability,
    /// Why the newest judgement could not tell; `None` if it could.
    pub unknown: Option<&'static str>,
}

/// The worst capability of a rule over its subjects; `None` if it has none.
#[must_use]
pub fn worst(coverage: &[Coverage], rule: &Rule) -> Option<Capability> {
    coverage
        .iter()
        .filter(|covered| covered.rule.code == rule.code)
        .map(|covered| covered.capability)
        .min_by_key(|capability| capability.number())
}
