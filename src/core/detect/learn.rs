//! What this node had, healthy, for ten minutes: what it should have from then on.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::core::detect::scene::{Function, Link, Scene};
use crate::core::model::expectation::{Expectation, ExpectedFunction, ExpectedLink, Speaker};
use crate::core::model::subject::SubjectKey;
use crate::core::model::time::BootTime;

/// How long something must be healthy before it is expected.
const HEALTHY: Duration = Duration::from_secs(600);

/// Learns what is expected.
#[derive(Debug, Default)]
pub(super) struct Learner {
    learnt: Expectation,
    links: BTreeMap<SubjectKey, (BootTime, u64)>,
    functions: BTreeMap<SubjectKey, (BootTime, Option<(u64, u64)>)>,
    changed: bool,
}

impl Learner {
    /// Goes on with what was learnt before.
    pub(super) fn knowing(learnt: Expectation) -> Self {
        Self {
            learnt,
            ..Self::default()
        }
    }

    /// What is expected by now.
    pub(super) fn learnt(&self) -> &Expectation {
        &self.learnt
    }

    /// What is expected by now, if it is not what was last taken.
    pub(super) fn take_changed(&mut self) -> Option<&Expectation> {
        std::mem::take(&mut self.changed).then_some(&self.learnt)
    }

    /// Takes what there is now for what there should be.
    pub(super) fn accept(&mut self, scene: &Scene) {
        let up = scene.links.iter().filter(|link| link.up == Some(true));
        self.learnt = Expectation {
            links: up.map(|link| expected_link(link, link.rate)).collect(),
            functions: scene.functions.iter().map(expected_function).collect(),
        };
        self.changed = true;
    }

    /// Takes a scene.
    pub(super) fn observe(&mut self, scene: &Scene) {
        for link in &scene.links {
            self.observe_link(link, scene.now);
        }
        for function in &scene.functions {
            self.observe_function(function, scene.now);
        }
        let keys = |key: &SubjectKey| scene.links.iter().any(|link| link.key == *key);
        self.links.retain(|key, _| keys(key));
        let keys = |key: &SubjectKey| scene.functions.iter().any(|function| function.key == *key);
        self.functions.retain(|key, _| keys(key));
    }

    fn observe_link(&mut self, link: &Link, now: BootTime) {
        let rate = link.rate.unwrap_or_default();
        let healthy = link.up == Some(true);
        if !healthy {
            self.links.remove(&link.key);
            return;
        }
        let seen = self.links.entry(link.key.clone()).or_insert((now, rate));
        if seen.1 != rate {
            *seen = (now, rate);
        }
        if now.since(seen.0) < HEALTHY {
            return;
        }
        let rate = link.rate;
        let known = self
            .learnt
            .links
            .iter_mut()
            .find(|known| known.key == link.key);
        match known {
            // A port that is slower than it was is not what it should be.
            Some(known) if known.rate >= rate => {}
            Some(known) => {
                known.rate = rate;
                self.changed = true;
            }
            None => {
                self.learnt.links.push(expected_link(link, rate));
                self.changed = true;
            }
        }
    }

    fn observe_function(&mut self, function: &Function, now: BootTime) {
        let pcie = narrowest(function);
        let seen = self
            .functions
            .entry(function.key.clone())
            .or_insert((now, pcie));
        if seen.1 != pcie {
            *seen = (now, pcie);
        }
        if now.since(seen.0) < HEALTHY {
            return;
        }
        let mut expected = expected_function(function);
        let place = |known: &ExpectedFunction| known.pci.is_some() && known.pci == expected.pci;
        let position = self
            .learnt
            .functions
            .iter()
            .position(|known| known.key == expected.key || place(known));
        match position.and_then(|position| self.learnt.functions.get_mut(position)) {
            None => {
                self.learnt.functions.push(expected);
                self.changed = true;
            }
            Some(known) => {
                expected.width = known.width.max(expected.width);
                expected.speed = known.speed.max(expected.speed);
                expected.is_rdma |= known.is_rdma;
                if *known != expected {
                    *known = expected;
                    self.changed = true;
                }
            }
        }
    }
}

/// Lanes and speed of the narrowest and slowest link of the path.
fn narrowest(function: &Function) -> Option<(u64, u64)> {
    let width = function.path.iter().filter_map(|hop| hop.width).min()?;
    let speed = function.path.iter().filter_map(|hop| hop.speed).min()?;
    Some((width, speed))
}

fn expected_link(link: &Link, rate: Option<u64>) -> ExpectedLink {
    ExpectedLink {
        key: link.key.clone(),
        pci: link.identity.pci,
        up: true,
        rate,
        name: link.subject.to_string(),
        by: Speaker::Learnt,
    }
}

fn expected_function(function: &Function) -> ExpectedFunction {
    let pcie = narrowest(function);
    ExpectedFunction {
        key: function.key.clone(),
        pci: function.hardware.pci,
        slot: function.identity.slot.clone(),
        guid: function.hardware.guid.clone(),
        is_rdma: function.is_rdma,
        model: function.model.clone(),
        width: pcie.map(|(width, _)| width),
        speed: pcie.map(|(_, speed)| speed),
        firmware: None,
        name: function.name.to_string(),
        by: Speaker::Learnt,
    }
}
