//! Holds verdicts until they are findings, and findings until they are over.
//!
//! Time counts as evidence only while the rule could judge: what was not seen speaks for nobody.

use std::collections::VecDeque;
use std::time::Duration;

use crate::core::detect::rule::{Hold, Verdict};
use crate::core::model::finding::{Evidence, Severity};
use crate::core::model::time::BootTime;

/// A finding whose subject does nothing any more is closed after so long.
const IDLE: Duration = Duration::from_secs(90);
/// A finding that cannot be judged any more is closed after so long.
const LOST: Duration = Duration::from_secs(900);
/// A finding that is raised again so soon after its end is the same one.
const REOPEN: Duration = Duration::from_secs(60);
/// The shortest life of a finding.
const SHORTEST: Duration = Duration::from_secs(10);
/// Judgements further apart than this are no unbroken evidence.
const BREAK: Duration = Duration::from_secs(150);
/// Judgements that raise and are kept: `span` at ten a second.
const SAMPLES: usize = 1024;

/// What a latch has to say after a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing new.
    Same,
    /// A finding begins; it is the last one going on if `again`.
    Raised {
        /// Less than a minute after the last one's end.
        again: bool,
    },
    /// It has become worse.
    Worse,
    /// It is over, and why.
    Over(Why),
}

/// Why a finding is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The trouble has gone.
    Cleared,
    /// Nothing goes on that could show it.
    Idle,
    /// It cannot be judged any more.
    LostSight,
}

impl Why {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Idle => "idle",
            Self::LostSight => "lost sight of it",
        }
    }
}

/// What was last raised.
#[derive(Debug, Clone, PartialEq)]
pub struct Raised {
    /// The worst so far within one finding.
    pub severity: Severity,
    /// What it means.
    pub meaning: String,
    /// What was measured.
    pub evidence: Vec<Evidence>,
    /// When the trouble began, as far as is known.
    pub since: BootTime,
}

/// One rule's latch on one subject.
#[derive(Debug, Default)]
pub struct Latch {
    raised: VecDeque<(BootTime, Duration)>,
    first: Option<BootTime>,
    clear_for: Duration,
    idle_for: Duration,
    unknown_for: Duration,
    last: Option<BootTime>,
    active: Option<BootTime>,
    ended: Option<BootTime>,
    what: Option<Raised>,
    unknown: Option<&'static str>,
}

impl Latch {
    /// A latch that goes on with a finding from before a restart.
    #[must_use]
    pub fn restored(raised: Raised, now: BootTime) -> Self {
        Self {
            active: Some(raised.since),
            first: Some(raised.since),
            last: Some(now),
            what: Some(raised),
            ..Self::default()
        }
    }

    /// What is raised, while it is a finding.
    #[must_use]
    pub fn active(&self) -> Option<&Raised> {
        self.active.and(self.what.as_ref())
    }

    /// Why the newest judgement could not tell; `None` if it could.
    #[must_use]
    pub fn unknown(&self) -> Option<&'static str> {
        self.unknown
    }

    /// Whether it has nothing to remember.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.active.is_none() && self.raised.is_empty() && self.ended.is_none()
    }

    /// Takes a verdict at a time.
    pub fn take(&mut self, verdict: Verdict, now: BootTime, hold: Hold) -> Step {
        let passed = self.last.map_or(Duration::ZERO, |last| now.since(last));
        let passed = if passed > BREAK {
            Duration::ZERO
        } else {
            passed
        };
        self.last = Some(now);
        self.unknown = match verdict {
            Verdict::Unknown { why } => Some(why),
            _ => None,
        };
        self.forget(now, hold.span);
        match verdict {
            Verdict::Raise {
                severity,
                meaning,
                evidence,
            } => {
                self.quiet();
                self.raise(now, passed);
                self.note(now, severity, meaning, evidence, hold)
            }
            Verdict::Hold => {
                self.quiet();
                Step::Same
            }
            Verdict::Clear => {
                self.clear_for = self.clear_for.saturating_add(passed);
                (self.idle_for, self.unknown_for) = (Duration::ZERO, Duration::ZERO);
                self.end_if(self.clear_for >= hold.off, Why::Cleared, now)
            }
            Verdict::Idle => {
                self.idle_for = self.idle_for.saturating_add(passed);
                self.end_if(self.idle_for >= IDLE, Why::Idle, now)
            }
            Verdict::Unknown { .. } => {
                self.unknown_for = self.unknown_for.saturating_add(passed);
                self.end_if(self.unknown_for >= LOST, Why::LostSight, now)
            }
        }
    }

    fn quiet(&mut self) {
        self.clear_for = Duration::ZERO;
        self.idle_for = Duration::ZERO;
        self.unknown_for = Duration::ZERO;
    }

    fn raise(&mut self, now: BootTime, passed: Duration) {
        if self.raised.len() >= SAMPLES {
            self.raised.pop_front();
        }
        // The first of a series has not lasted yet.
        let lasted = if self.raised.is_empty() {
            Duration::ZERO
        } else {
            passed
        };
        self.raised.push_back((now, lasted));
        self.first.get_or_insert(now);
    }

    fn note(
        &mut self,
        now: BootTime,
        severity: Severity,
        meaning: String,
        evidence: Vec<Evidence>,
        hold: Hold,
    ) -> Step {
        let since = self.first.unwrap_or(now);
        let before = self.active.and(self.what.as_ref());
        let worst = before.map_or(severity, |before| before.severity.max(severity));
        let worse = before.is_some_and(|before| severity > before.severity);
        self.what = Some(Raised {
            severity: worst,
            meaning,
            evidence,
            since,
        });
        if self.active.is_some() {
            return if worse { Step::Worse } else { Step::Same };
        }
        let held: Duration = self.raised.iter().map(|(_, lasted)| *lasted).sum();
        if held < hold.need {
            return Step::Same;
        }
        self.active = Some(now);
        let again = self
            .ended
            .take()
            .is_some_and(|ended| now.since(ended) < REOPEN);
        Step::Raised { again }
    }

    fn forget(&mut self, now: BootTime, span: Duration) {
        while self
            .raised
            .front()
            .is_some_and(|(at, _)| now.since(*at) > span)
        {
            self.raised.pop_front();
        }
        if self.active.is_none() && self.raised.is_empty() {
            self.first = None;
        }
        if self.ended.is_some_and(|ended| now.since(ended) >= REOPEN) {
            self.ended = None;
        }
    }

    fn end_if(&mut self, due: bool, why: Why, now: BootTime) -> Step {
        let lived = self
            .active
            .is_some_and(|active| now.since(active) >= SHORTEST);
        if !(due && lived) {
            return Step::Same;
        }
        self.active = None;
        self.first = None;
        self.ended = Some(now);
        self.raised.clear();
        Step::Over(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Hold = Hold {
        need: Duration::from_secs(8),
        span: Duration::from_secs(10),
        off: Duration::from_secs(20),
    };

    fn raise(severity: Severity) -> Verdict {
        Verdict::Raise {
            severity,
            meaning: String::new(),
            evidence: Vec::new(),
        }
    }

    /// Takes one verdict a second; the seconds at which something happened.
    fn run(
        latch: &mut Latch,
        from: u64,
        verdicts: impl IntoIterator<Item = Verdict>,
    ) -> Vec<(u64, Step)> {
        let mut steps = Vec::new();
        for (second, verdict) in (from..).zip(verdicts) {
            let step = latch.take(verdict, BootTime(second * 1_000_000_000), HOLD);
            if step != Step::Same {
                steps.push((second, step));
            }
        }
        steps
    }

    fn times(verdict: Verdict, count: usize) -> impl Iterator<Item = Verdict> {
        std::iter::repeat_n(verdict, count)
    }

    #[test]
    fn a_verdict_becomes_a_finding_when_it_has_held_and_is_over_when_it_has_not() {
        let mut latch = Latch::default();
        let steps = run(&mut latch, 100, times(raise(Severity::Warning), 15));
        assert_eq!(steps, [(108, Step::Raised { again: false })]);
        assert_eq!(latch.active().unwrap().since, BootTime(100_000_000_000));
        let steps = run(&mut latch, 115, times(Verdict::Clear, 40));
        assert_eq!(steps, [(134, Step::Over(Why::Cleared))]);
        assert!(latch.active().is_none());
    }

    #[test]
    fn what_does_not_hold_long_enough_is_no_finding() {
        let mut latch = Latch::default();
        let mut second = 100;
        for _ in 0..20 {
            assert_eq!(
                run(&mut latch, second, times(raise(Severity::Warning), 7)),
                []
            );
            assert_eq!(run(&mut latch, second + 7, times(Verdict::Clear, 7)), []);
            second += 14;
        }
    }

    #[test]
    fn what_is_not_known_speaks_for_nobody() {
        let mut latch = Latch::default();
        run(&mut latch, 100, times(raise(Severity::Warning), 10));
        let unknown = Verdict::Unknown { why: "no reading" };
        assert_eq!(run(&mut latch, 110, times(unknown.clone(), 600)), []);
        assert_eq!(latch.unknown(), Some("no reading"));
        let steps = run(&mut latch, 710, times(unknown, 400));
        assert_eq!(steps, [(1009, Step::Over(Why::LostSight))]);
    }

    #[test]
    fn an_idle_subject_closes_its_finding() {
        let mut latch = Latch::default();
        run(&mut latch, 100, times(raise(Severity::Warning), 10));
        let steps = run(&mut latch, 110, times(Verdict::Idle, 100));
        assert_eq!(steps, [(199, Step::Over(Why::Idle))]);
    }

    #[test]
    fn a_finding_only_gets_worse() {
        let mut latch = Latch::default();
        run(&mut latch, 100, times(raise(Severity::Warning), 10));
        let steps = run(&mut latch, 110, times(raise(Severity::Critical), 5));
        assert_eq!(steps, [(110, Step::Worse)]);
        run(&mut latch, 115, times(raise(Severity::Warning), 5));
        assert_eq!(latch.active().unwrap().severity, Severity::Critical);
    }

    #[test]
    fn what_comes_back_within_a_minute_is_the_same_finding() {
        let mut latch = Latch::default();
        run(&mut latch, 100, times(raise(Severity::Warning), 10));
        run(&mut latch, 110, times(Verdict::Clear, 25));
        let steps = run(&mut latch, 135, times(raise(Severity::Warning), 20));
        assert_eq!(steps, [(143, Step::Raised { again: true })]);
    }

    #[test]
    fn a_long_silence_is_no_evidence() {
        let mut latch = Latch::default();
        run(&mut latch, 100, times(raise(Severity::Warning), 3));
        // The host slept for an hour.
        assert_eq!(
            run(&mut latch, 3700, times(raise(Severity::Warning), 5)),
            []
        );
    }

    #[test]
    fn a_restored_finding_is_not_raised_again() {
        let raised = Raised {
            severity: Severity::Critical,
            meaning: String::new(),
            evidence: Vec::new(),
            since: BootTime(5),
        };
        let mut latch = Latch::restored(raised, BootTime(100_000_000_000));
        assert_eq!(
            run(&mut latch, 101, times(raise(Severity::Warning), 30)),
            []
        );
        assert_eq!(latch.active().unwrap().severity, Severity::Critical);
    }
}
