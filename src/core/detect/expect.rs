//! Puts together what is expected: what the file says, then what was learnt, then what siblings
//! have. Who spoke goes into the evidence.

use crate::core::detect::scene::{Function, Link, Scene};
use crate::core::model::expectation::{Expectation, ExpectedFunction, ExpectedLink, Speaker};

/// Ports of one model that must agree before they say what the odd one should be.
const AGREEING: usize = 3;

impl Expectation {
    /// Who says that a link should be up.
    #[must_use]
    pub fn link(&self, link: &Link) -> Option<&ExpectedLink> {
        self.links
            .iter()
            .find(|expected| expected.up && expected.is_of(link))
    }

    /// The rate expected of a link, and by whom: the first who says one.
    #[must_use]
    pub fn rate(&self, link: &Link) -> Option<(u64, Speaker)> {
        let mut all = self.links.iter().filter(|expected| expected.is_of(link));
        all.find_map(|expected| Some((expected.rate?, expected.by)))
    }

    /// What is expected of a function.
    #[must_use]
    pub fn function(&self, function: &Function) -> Option<&ExpectedFunction> {
        self.functions.iter().find(|expected| {
            expected.key == function.key
                || (expected.pci.is_some() && expected.pci == function.hardware.pci)
        })
    }
}

impl ExpectedLink {
    /// Whether it is about this link: by its hardware, or by its place alone.
    fn is_of(&self, link: &Link) -> bool {
        self.key == link.key || self.key == link.place
    }
}

/// What is expected of a scene.
#[must_use]
pub fn merge(file: &Expectation, learnt: &Expectation, scene: &Scene) -> Expectation {
    let mut merged = file.clone();
    merged.links.extend(learnt.links.iter().cloned());
    for expected in &learnt.functions {
        let named = |known: &ExpectedFunction| {
            known.key == expected.key || (known.pci.is_some() && known.pci == expected.pci)
        };
        if !merged.functions.iter().any(named) {
            merged.functions.push(expected.clone());
        }
    }
    for link in &scene.links {
        merged.links.extend(by_siblings(link, scene));
    }
    merged
}

/// What the siblings of a link say: it should be up if all of them are, and at the rate that most
/// of those have that are up.
/// Ports are siblings if their cards are of one model and they stand at the same place of the card:
/// second ports that nobody ever cabled say nothing of first ones.
fn by_siblings(link: &Link, scene: &Scene) -> Option<ExpectedLink> {
    let others: Vec<&Link> = scene
        .links
        .iter()
        .filter(|other| other.key != link.key && is_sibling(link, other))
        .collect();
    let up: Vec<&Link> = others
        .iter()
        .copied()
        .filter(|other| other.up == Some(true))
        .collect();
    if up.len() < AGREEING {
        return None;
    }
    Some(ExpectedLink {
        key: link.key.clone(),
        pci: link.identity.pci,
        up: up.len() == others.len(),
        rate: usual_rate(&up),
        name: link.subject.to_string(),
        by: Speaker::Siblings,
    })
}

fn is_sibling(link: &Link, other: &Link) -> bool {
    let place = |link: &Link| (link.identity.pci.map(|pci| pci.function), link.port);
    link.model.is_some()
        && link.model == other.model
        && link.is_rdma
        && other.is_rdma
        && link.technology == other.technology
        && place(link) == place(other)
}

/// The rate that more than half of the links have.
fn usual_rate(links: &[&Link]) -> Option<u64> {
    let rates: Vec<u64> = links.iter().filter_map(|link| link.rate).collect();
    let of = |rate: u64| rates.iter().filter(|other| **other == rate).count();
    let usual = rates.iter().copied().max_by_key(|rate| of(*rate))?;
    (of(usual).saturating_mul(2) > links.len()).then_some(usual)
}
