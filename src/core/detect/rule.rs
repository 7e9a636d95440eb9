//! What a rule says of itself: the one registry of codes for metrics, JSON, alerts, FINDINGS.md.

use std::time::Duration;

use crate::core::detect::scene::Scene;
use crate::core::detect::windows::Windows;
use crate::core::model::expectation::Expectation;
use crate::core::model::finding::{Evidence, Identity, Severity};
use crate::core::model::subject::{Subject, SubjectKey};

/// What one area of `railwatch check` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// Ports and cables.
    Link,
    /// RDMA over Ethernet.
    Roce,
    /// Links between GPUs.
    Nvlink,
    /// GPUs.
    Gpu,
    /// PCIe links.
    Pcie,
    /// What the node has, and how it is connected.
    Topology,
    /// Which paths jobs use.
    Route,
    /// Measured collectives.
    Bench,
    /// The host and railwatch itself.
    Host,
}

impl Area {
    /// Every area, in the order of `check`.
    pub const ALL: [Self; 9] = [
        Self::Link,
        Self::Roce,
        Self::Nvlink,
        Self::Gpu,
        Self::Pcie,
        Self::Topology,
        Self::Route,
        Self::Bench,
        Self::Host,
    ];

    /// The word on the command line and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Roce => "roce",
            Self::Nvlink => "nvlink",
            Self::Gpu => "gpu",
            Self::Pcie => "pcie",
            Self::Topology => "topology",
            Self::Route => "route",
            Self::Bench => "bench",
            Self::Host => "host",
        }
    }
}

/// How often a rule is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cadence {
    /// With each snapshot.
    Tick,
    /// Once a second.
    Second,
    /// Once a minute.
    Minute,
}

impl Cadence {
    /// The time between two judgements; zero for each snapshot.
    #[must_use]
    pub fn interval(self) -> Duration {
        match self {
            Self::Tick => Duration::ZERO,
            Self::Second => Duration::from_secs(1),
            Self::Minute => Duration::from_secs(60),
        }
    }
}

/// How long a verdict must hold, in seconds of evidence: time in which the rule could judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// Raised for so long …
    pub need: Duration,
    /// … within so long makes it a finding.
    pub span: Duration,
    /// Clear for so long without a break ends it.
    pub off: Duration,
}

/// What a rule may say of a subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is so, this badly, for these reasons.
    Raise {
        /// How bad.
        severity: Severity,
        /// What it means here, in a sentence.
        meaning: String,
        /// What was measured.
        evidence: Vec<Evidence>,
    },
    /// Neither: between the threshold that raises and the one that clears.
    Hold,
    /// It is not so.
    Clear,
    /// There is nothing going on that could show it.
    Idle,
    /// It cannot be told.
    Unknown {
        /// Why.
        why: &'static str,
    },
}

/// How well a rule can judge a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Not at all, and why.
    None(&'static str),
    /// With less than it wants, and what is missing.
    Degraded(&'static str),
    /// As it should.
    Full,
}

impl Capability {
    /// The number in `railwatch_detector_capability`.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::None(_) => 0,
            Self::Degraded(_) => 1,
            Self::Full => 2,
        }
    }

    /// The word in JSON and text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None(_) => "none",
            Self::Degraded(_) => "degraded",
            Self::Full => "full",
        }
    }

    /// What is missing; empty when nothing is.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::None(why) | Self::Degraded(why) => why,
            Self::Full => "",
        }
    }
}

/// Everything a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The node as it stands.
    pub scene: &'a Scene,
    /// What is remembered of it.
    pub windows: &'a Windows,
    /// What it should have.
    pub expected: &'a Expectation,
}

/// One subject, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What it is about.
    pub subject: Subject,
    /// Under what it is remembered.
    pub key: SubjectKey,
    /// What it is.
    pub identity: Identity,
    /// What the rule says.
    pub verdict: Verdict,
    /// How well it could judge.
    pub capability: Capability,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its code: metric label, JSON, alert name.
    pub code: &'static str,
    /// A few words for people.
    pub title: &'static str,
    /// Its area.
    pub area: Area,
    /// Severities it may give, mildest first.
    pub severities: &'static [Severity],
    /// How often it is judged.
    pub cadence: Cadence,
    /// How long a verdict must hold.
    pub hold: Hold,
    /// A critical finding of it keeps jobs off the node (`check --for slurm`).
    pub gate: bool,
    /// What an operator sees.
    pub symptom: &'static str,
    /// What happens, physically.
    pub physics: &'static str,
    /// How it is judged, with the reasons for the thresholds.
    pub formula: &'static str,
    /// What readings it needs, and how often.
    pub resolution: &'static str,
    /// What to do next.
    pub next_step: &'static str,
    /// Judges every subject it is about.
    pub judge: fn(View<'_>) -> Vec<Judgement>,
}
