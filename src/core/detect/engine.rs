//! Runs the rules over snapshots and keeps what they found.

mod told;

pub use told::{Findings, Happened, Transition};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::core::detect::RULES;
use crate::core::detect::arbitrate::arbitrate;
use crate::core::detect::coverage::Coverage;
use crate::core::detect::expect::merge;
use crate::core::detect::latch::{Latch, Raised, Step};
use crate::core::detect::learn::Learner;
use crate::core::detect::rule::{Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Scene;
use crate::core::detect::windows::Windows;
use crate::core::model::attention::Maintenance;
use crate::core::model::expectation::Expectation;
use crate::core::model::finding::{Finding, State};
use crate::core::model::snapshot::Snapshot;
use crate::core::model::subject::SubjectKey;
use crate::core::model::time::BootTime;

/// Findings that are over and still told.
const RECENT: usize = 64;
/// Findings that can be open at once; beyond it a new one is counted and not kept.
const OPEN: usize = 1024;

/// How long a verdict must hold for who looks only twice.
const AT_ONCE: Hold = Hold {
    need: Duration::ZERO,
    span: Duration::from_secs(60),
    off: Duration::ZERO,
};

/// The time of a scene.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: BootTime,
    wall: f64,
}

type Place = (&'static str, SubjectKey);

/// Runs the rules.
#[derive(Debug, Default)]
pub struct Engine {
    windows: Windows,
    file: Expectation,
    learner: Learner,
    latches: BTreeMap<Place, Latch>,
    open: BTreeMap<Place, Finding>,
    recent: VecDeque<Finding>,
    raised: BTreeMap<&'static str, u64>,
    judged: BTreeMap<&'static str, BootTime>,
    coverage: BTreeMap<&'static str, Vec<Coverage>>,
    newest_id: u64,
    scene: Scene,
    impatient: bool,
}

impl Engine {
    /// An engine with what the file says and what was learnt before.
    #[must_use]
    pub fn new(file: Expectation, learnt: Expectation) -> Self {
        Self {
            file,
            learner: Learner::knowing(learnt),
            ..Self::default()
        }
    }

    /// An engine for two looks: what it sees it believes.
    #[must_use]
    pub fn impatient() -> Self {
        Self {
            impatient: true,
            ..Self::default()
        }
    }

    /// Goes on with what was found before the daemon ended; `newest_id` is the highest number that
    /// was given.
    pub fn restore(
        &mut self,
        (open, recent): (Vec<Finding>, Vec<Finding>),
        newest_id: u64,
        (now, wall): (BootTime, f64),
    ) {
        self.newest_id = newest_id;
        self.recent = recent.into();
        self.recent.truncate(RECENT);
        for finding in open {
            let Some(rule) = crate::core::detect::rule(&finding.code) else {
                continue;
            };
            let ago = (wall - finding.since).max(0.0);
            let ago = std::time::Duration::try_from_secs_f64(ago).unwrap_or_default();
            let nanos = u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX);
            let raised = Raised {
                severity: finding.severity,
                meaning: finding.meaning.clone(),
                evidence: finding.evidence.clone(),
                since: BootTime(now.0.saturating_sub(nanos)),
            };
            let place = (rule.code, finding.key.clone());
            self.latches
                .insert(place.clone(), Latch::restored(raised, now));
            self.newest_id = self.newest_id.max(finding.id);
            self.open.insert(place, finding);
        }
    }

    /// What was learnt, when that has changed.
    pub fn take_learnt(&mut self) -> Option<&Expectation> {
        self.learner.take_changed()
    }

    /// What was learnt.
    #[must_use]
    pub fn learnt(&self) -> &Expectation {
        self.learner.learnt()
    }

    /// Takes the node as it is for what it should be.
    pub fn accept(&mut self) {
        self.learner.accept(&self.scene);
    }

    /// Takes another expectation file.
    pub fn expect(&mut self, file: Expectation) {
        self.file = file;
    }

    /// Judges a snapshot of a node that is in `maintenance`, or not.
    pub fn tick(
        &mut self,
        snapshot: &Snapshot,
        maintenance: Option<&Maintenance>,
    ) -> Vec<Transition> {
        let wall = snapshot.wall_seconds;
        let scene = Scene {
            in_maintenance: maintenance.map(|maintenance| {
                let lasted = (wall - maintenance.since).max(0.0);
                Duration::try_from_secs_f64(lasted).unwrap_or_default()
            }),
            ..Scene::of(snapshot)
        };
        self.judge(scene, wall)
    }

    /// Judges a scene; `wall` is its time in seconds since 1970.
    pub fn judge(&mut self, scene: Scene, wall: f64) -> Vec<Transition> {
        let now = Moment {
            at: scene.now,
            wall,
        };
        self.windows.observe(&scene);
        self.learner.observe(&scene);
        let expected = merge(&self.file, self.learner.learnt(), &scene);
        let mut transitions = Vec::new();
        for rule in RULES {
            if !self.is_due(rule, scene.now) {
                continue;
            }
            let view = View {
                scene: &scene,
                windows: &self.windows,
                expected: &expected,
            };
            let judged = (rule.judge)(view);
            self.hear(rule, judged, now, &mut transitions);
        }
        self.scene = scene;
        transitions
    }

    fn is_due(&mut self, rule: &'static Rule, now: BootTime) -> bool {
        let due = self
            .judged
            .get(rule.code)
            .is_none_or(|last| now.since(*last) >= rule.cadence.interval());
        if due {
            self.judged.insert(rule.code, now);
        }
        due
    }

    fn hear(
        &mut self,
        rule: &'static Rule,
        judged: Vec<Judgement>,
        now: Moment,
        transitions: &mut Vec<Transition>,
    ) {
        let keys: BTreeSet<SubjectKey> = judged.iter().map(|one| one.key.clone()).collect();
        let mut coverage = Vec::with_capacity(judged.len());
        for judgement in judged {
            let unknown = match judgement.verdict {
                Verdict::Unknown { why } => Some(why),
                _ => None,
            };
            coverage.push(Coverage {
                rule,
                subject: judgement.subject.clone(),
                capability: judgement.capability,
                unknown,
            });
            transitions.extend(self.take(rule, judgement, now));
        }
        self.coverage.insert(rule.code, coverage);
        transitions.extend(self.lose(rule, &keys, now));
    }

    fn take(
        &mut self,
        rule: &'static Rule,
        judgement: Judgement,
        now: Moment,
    ) -> Option<Transition> {
        let place = (rule.code, judgement.key.clone());
        let quiet = matches!(judgement.verdict, Verdict::Clear | Verdict::Idle);
        if quiet && !self.latches.contains_key(&place) {
            return None;
        }
        let latch = self.latches.entry(place.clone()).or_default();
        let hold = if self.impatient { AT_ONCE } else { rule.hold };
        let step = latch.take(judgement.verdict.clone(), now.at, hold);
        let raised = latch.active().cloned();
        if latch.is_empty() {
            self.latches.remove(&place);
        }
        if let (Some(raised), Some(finding)) = (&raised, self.open.get_mut(&place)) {
            finding.severity = raised.severity;
            finding.meaning.clone_from(&raised.meaning);
            finding.evidence.clone_from(&raised.evidence);
            finding.subject = judgement.subject.to_string();
            finding.identity = judgement.identity.clone();
        }
        self.step(
            step,
            rule,
            place,
            raised.map(|raised| (raised, judgement)),
            now,
        )
    }

    /// Subjects that a rule has not judged this time have gone out of sight.
    fn lose(
        &mut self,
        rule: &'static Rule,
        judged: &BTreeSet<SubjectKey>,
        now: Moment,
    ) -> Vec<Transition> {
        let gone: Vec<Place> = self
            .latches
            .keys()
            .filter(|(code, key)| *code == rule.code && !judged.contains(key))
            .cloned()
            .collect();
        let mut transitions = Vec::new();
        for place in gone {
            let Some(latch) = self.latches.get_mut(&place) else {
                continue;
            };
            let why = "it is not there any more";
            let step = latch.take(Verdict::Unknown { why }, now.at, rule.hold);
            if latch.is_empty() {
                self.latches.remove(&place);
            }
            transitions.extend(self.step(step, rule, place, None, now));
        }
        transitions
    }

    fn step(
        &mut self,
        step: Step,
        rule: &'static Rule,
        place: Place,
        raised: Option<(Raised, Judgement)>,
        now: Moment,
    ) -> Option<Transition> {
        let what = match step {
            Step::Same => return None,
            Step::Worse => Happened::Worse,
            Step::Raised { again: true } => Happened::Reopened,
            Step::Raised { again: false } => Happened::Raised,
            Step::Over(why) => Happened::Over(why),
        };
        match what {
            Happened::Over(_) => {
                let mut finding = self.open.remove(&place)?;
                finding.state = State::Cleared;
                finding.until = Some(now.wall);
                self.recent.push_front(finding.clone());
                self.recent.truncate(RECENT);
                Some(Transition { finding, what })
            }
            Happened::Worse => {
                let finding = self.open.get(&place)?.clone();
                Some(Transition { finding, what })
            }
            Happened::Raised | Happened::Reopened => {
                let (raised, judgement) = raised?;
                let finding = self.begin(rule, &place, raised, judgement, now, what)?;
                Some(Transition { finding, what })
            }
        }
    }

    fn begin(
        &mut self,
        rule: &'static Rule,
        place: &Place,
        raised: Raised,
        judgement: Judgement,
        now: Moment,
        what: Happened,
    ) -> Option<Finding> {
        let before = self.recent.iter().position(|old| {
            what == Happened::Reopened && old.code == rule.code && old.key == place.1
        });
        let before = before.and_then(|position| self.recent.remove(position));
        if before.is_none() {
            self.newest_id = self.newest_id.saturating_add(1);
            let count = self.raised.entry(rule.code).or_default();
            *count = count.saturating_add(1);
        }
        if self.open.len() >= OPEN {
            return None;
        }
        let ago = now.at.since(raised.since).as_secs_f64();
        let finding = Finding {
            id: before.as_ref().map_or(self.newest_id, |old| old.id),
            code: rule.code.to_owned(),
            severity: raised.severity,
            state: State::Active,
            subject: judgement.subject.to_string(),
            key: judgement.key,
            identity: judgement.identity,
            since: before.map_or(now.wall - ago, |old| old.since),
            until: None,
            meaning: raised.meaning,
            next_step: rule.next_step.to_owned(),
            evidence: raised.evidence,
        };
        self.open.insert(place.clone(), finding.clone());
        Some(finding)
    }

    /// What is found now.
    #[must_use]
    pub fn findings(&self) -> Findings {
        let open: Vec<Finding> = self.open.values().cloned().collect();
        let mut active = arbitrate(&open);
        active.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.id.cmp(&b.id)));
        let raised = RULES.iter().map(|rule| {
            let count = self.raised.get(rule.code).copied().unwrap_or_default();
            (rule.code, count)
        });
        Findings {
            active,
            recent: self.recent.iter().cloned().collect(),
            raised: raised.collect(),
            coverage: self.coverage.values().flatten().cloned().collect(),
            quiet: Vec::new(),
            maintenance: false,
        }
    }
}
