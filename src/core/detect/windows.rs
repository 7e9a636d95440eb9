//! What is remembered from scene to scene: since when a link is up, when it went down, how much a
//! function carries. Kept per hardware, not per name; bounded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::core::detect::scene::{Function, Link, Scene};
use crate::core::model::change::{Change, Point};
use crate::core::model::subject::SubjectKey;
use crate::core::model::time::BootTime;

/// How long a link that went down is remembered.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Downs of one link that are remembered; more than a rule asks for.
const DOWNS: usize = 64;
/// Links go up and down while the host starts (measured by others, detection.md §1.3).
pub const BOOT_GRACE: Duration = Duration::from_secs(300);
/// After an administrator's change or a restart of the device a down is expected.
pub const CHANGE_GRACE: Duration = Duration::from_secs(30);
/// Subjects that are remembered: all that one host can have, and the gone ones of a day.
const SUBJECTS: usize = 4096;

/// What is remembered of one link.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkWindow {
    /// Whether it was up when it last said.
    pub up: Option<bool>,
    /// Since when `up` is what it is.
    pub since: BootTime,
    /// It was up at some time since the daemon started.
    pub was_up: bool,
    /// Since when it is wanted up, or not.
    pub wanted_since: BootTime,
    wanted: Option<bool>,
    downs: VecDeque<(BootTime, u64)>,
    point: Option<Point>,
    seen: BootTime,
}

impl LinkWindow {
    /// Downs within the last `span`.
    #[must_use]
    pub fn downs_within(&self, now: BootTime, span: Duration) -> u64 {
        let counted = self
            .downs
            .iter()
            .filter(|(at, _)| now.since(*at) <= span)
            .map(|(_, count)| count);
        counted.fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How long ago it last went down.
    #[must_use]
    pub fn last_down(&self, now: BootTime) -> Option<Duration> {
        self.downs.back().map(|(at, _)| now.since(*at))
    }

    fn observe(&mut self, link: &Link, now: BootTime) {
        if link.wanted.is_some() && link.wanted != self.wanted {
            self.wanted = link.wanted;
            self.wanted_since = now;
        }
        let fell = self.up == Some(true) && link.up == Some(false);
        if link.up.is_some() && link.up != self.up {
            self.up = link.up;
            self.since = now;
        }
        self.was_up |= link.up == Some(true);
        let counted = Change::between(self.point, link.downs);
        self.point = link.downs.or(self.point);
        let downs = match counted {
            Change::Increase { by, .. } => by,
            // The counter says nothing: what was seen is all there is.
            Change::Unknown | Change::Saturated => u64::from(fell),
            Change::Reset => 0,
        };
        if downs > 0 && !self.is_excused(link, now) {
            self.downs.push_back((now, downs));
        }
        while self.downs.len() > DOWNS
            || self
                .downs
                .front()
                .is_some_and(|(at, _)| now.since(*at) > DAY)
        {
            self.downs.pop_front();
        }
        self.seen = now;
    }

    /// Whether a down now is somebody's doing, or part of starting up.
    fn is_excused(&self, link: &Link, now: BootTime) -> bool {
        let recently = |at: BootTime| now.since(at) < CHANGE_GRACE;
        now.since(BootTime(0)) < BOOT_GRACE
            || link.wanted == Some(false)
            || (self.wanted_since > BootTime(0) && recently(self.wanted_since))
            || link.restarted.is_some_and(recently)
    }
}

/// What is remembered of one function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionWindow {
    points: Vec<Point>,
    /// RDMA bytes per second over the last interval, both directions; `None` if not known.
    pub bytes_per_second: Option<f64>,
    seen: BootTime,
}

impl FunctionWindow {
    fn observe(&mut self, function: &Function, now: BootTime) {
        let same = self.points.len() == function.traffic.len();
        if same && self.points == function.traffic {
            // Nothing was read since.
            return;
        }
        let rates = self.points.iter().zip(&function.traffic);
        let rates =
            rates.map(
                |(before, after)| match Change::between(Some(*before), Some(*after)) {
                    Change::Increase { by, over } => {
                        Some(crate::core::units::float(by) / over.as_secs_f64())
                    }
                    Change::Reset | Change::Saturated | Change::Unknown => None,
                },
            );
        let sum: Option<f64> = rates.sum();
        self.bytes_per_second = sum.filter(|_| same && !function.traffic.is_empty());
        self.points.clone_from(&function.traffic);
        self.seen = now;
    }
}

/// Everything that is remembered from scene to scene.
#[derive(Debug, Default)]
pub struct Windows {
    links: BTreeMap<SubjectKey, LinkWindow>,
    functions: BTreeMap<SubjectKey, FunctionWindow>,
}

impl Windows {
    /// Takes a scene.
    pub fn observe(&mut self, scene: &Scene) {
        for link in &scene.links {
            let window = self
                .links
                .entry(link.key.clone())
                .or_insert_with(|| LinkWindow {
                    // What it was before the first look is not known to have been another.
                    wanted: link.wanted,
                    ..LinkWindow::default()
                });
            window.observe(link, scene.now);
        }
        for function in &scene.functions {
            let window = self.functions.entry(function.key.clone()).or_default();
            window.observe(function, scene.now);
        }
        self.forget(scene);
    }

    /// What is remembered of a link.
    #[must_use]
    pub fn link(&self, key: &SubjectKey) -> Option<&LinkWindow> {
        self.links.get(key)
    }

    /// What is remembered of a function.
    #[must_use]
    pub fn function(&self, key: &SubjectKey) -> Option<&FunctionWindow> {
        self.functions.get(key)
    }

    fn forget(&mut self, scene: &Scene) {
        let now = scene.now;
        if self.links.len() > scene.links.len() {
            let here: BTreeSet<&SubjectKey> = scene.links.iter().map(|link| &link.key).collect();
            let many = self.links.len() > SUBJECTS;
            self.links.retain(|key, window| {
                here.contains(key) || (!many && now.since(window.seen) < DAY)
            });
        }
        if self.functions.len() > scene.functions.len() {
            let here: BTreeSet<&SubjectKey> = scene
                .functions
                .iter()
                .map(|function| &function.key)
                .collect();
            self.functions.retain(|key, _| here.contains(key));
        }
    }
}
