//! What the engine tells: what happened to a finding, and what is found at one time.

use std::collections::BTreeMap;

use crate::core::detect::coverage::Coverage;
use crate::core::detect::latch::Why;
use crate::core::model::finding::Finding;

/// What happened to a finding.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The finding after it.
    pub finding: Finding,
    /// What happened.
    pub what: Happened,
}

/// What can happen to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// It began.
    Raised,
    /// It goes on after less than a minute.
    Reopened,
    /// It has become worse.
    Worse,
    /// It is over.
    Over(Why),
}

impl Happened {
    /// In one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Reopened => "reopened",
            Self::Worse => "worse",
            Self::Over(why) => why.as_str(),
        }
    }
}

/// What is found at one time; shared with everybody who shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Findings that hold, one for each trouble, the worst first.
    pub active: Vec<Finding>,
    /// Findings that are over, the newest first.
    pub recent: Vec<Finding>,
    /// Times each rule has raised one since the daemon started.
    pub raised: BTreeMap<&'static str, u64>,
    /// How well each rule can judge each subject.
    pub coverage: Vec<Coverage>,
    /// Numbers of findings nobody wants to be told of, also of those that are over.
    pub quiet: Vec<u64>,
    /// Somebody works on the node.
    pub maintenance: bool,
}
