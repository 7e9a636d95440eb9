//! From readings to answers: detectors judge a scene, latches hold their verdicts, arbitration
//! leaves one cause for each trouble.
//!
//! A detector is one file below here and one line in [`RULES`]. It is a pure function of a scene,
//! of what is remembered ([`windows`]) and of what is expected; it keeps no state.

pub mod arbitrate;
pub mod coverage;
mod device_missing;
pub mod engine;
pub mod expect;
pub mod expect_file;
mod firmware_differs;
pub mod latch;
mod learn;
mod link_down;
mod link_flap;
mod maintenance_forgotten;
mod pcie_degraded;
mod rate_degraded;
pub mod rule;
pub mod scene;
pub mod windows;

use rule::Rule;

/// Every rule, in the order in which causes explain each other: of two on one subject the earlier
/// one is the cause.
pub static RULES: [&Rule; 7] = [
    &device_missing::RULE,
    &link_down::RULE,
    &link_flap::RULE,
    &rate_degraded::RULE,
    &pcie_degraded::RULE,
    &firmware_differs::RULE,
    &maintenance_forgotten::RULE,
];

/// The rule of a code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code).copied()
}

#[cfg(test)]
mod tests;
