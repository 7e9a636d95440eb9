//! A device that the node should have and has not.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Function;
use crate::core::detect::windows::BOOT_GRACE;
use crate::core::ids::DeviceName;
use crate::core::model::expectation::ExpectedFunction;
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::finding::{Evidence, Identity, Severity};
use crate::core::model::subject::Subject;
use crate::core::model::time::BootTime;

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "device_missing",
    title: "Device missing",
    area: Area::Topology,
    severities: &[Severity::Critical],
    cadence: Cadence::Tick,
    hold: Hold {
        need: Duration::from_secs(5),
        span: Duration::from_secs(30),
        off: Duration::from_secs(5),
    },
    gate: true,
    symptom: "A job does not start, or starts with fewer rails than the node has.",
    physics: "The card fell off the bus, its slot gives no power, its driver is not loaded or gave \
        up on it.",
    formula: "A function that the expectation file names, or that was learnt on this node, has no \
        device for 5 s within 30 s; a device whose driver is bound but which is in another network \
        namespace or given to a virtual machine is not missing. No verdict in the first 300 s after \
        boot.",
    resolution: "The list of devices each second.",
    next_step: "See whether the PCI function is there and what the kernel log says of it; reseat or \
        power-cycle. A device that was taken out on purpose is taken over with `railwatch expect \
        --accept`.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let expected = view.expected.functions.iter();
    expected.map(|expected| judgement(view, expected)).collect()
}

fn judgement(view: View<'_>, expected: &ExpectedFunction) -> Judgement {
    let here = view
        .scene
        .functions
        .iter()
        .find(|function| is_it(expected, function));
    let name = here.map_or_else(
        || DeviceName::new(expected.name.clone()),
        |here| here.name.clone(),
    );
    Judgement {
        subject: Subject::Device(name),
        key: expected.key.clone(),
        identity: Identity {
            pci: expected.pci,
            slot: expected.slot.clone(),
            guid: expected.guid.clone(),
            ..Identity::default()
        },
        verdict: verdict(view, expected, here),
        capability: Capability::Full,
    }
}

/// Whether a function is the expected one: in its place, or the same card in another.
fn is_it(expected: &ExpectedFunction, function: &Function) -> bool {
    let same_place = expected.pci.is_some() && expected.pci == function.hardware.pci;
    let same_card = expected.guid.is_some() && expected.guid == function.hardware.guid;
    same_place || same_card
}

fn verdict(view: View<'_>, expected: &ExpectedFunction, here: Option<&Function>) -> Verdict {
    let now = view.scene.now;
    let missing = match here {
        Some(function) if function.is_rdma || !expected.is_rdma => return Verdict::Clear,
        Some(_) => "it has a netdev and no RDMA device",
        None => match left_alone(view, expected).map(|skipped| skipped.reason) {
            Some(SkipReason::Moved | SkipReason::Passthrough) => return Verdict::Idle,
            Some(SkipReason::Restricted | SkipReason::TooMany) => return Verdict::Clear,
            Some(SkipReason::Unreadable) => {
                return Verdict::Unknown {
                    why: "the devices cannot be listed",
                };
            }
            Some(SkipReason::Stalled) => {
                return Verdict::Unknown {
                    why: "its driver does not answer",
                };
            }
            Some(SkipReason::NoDriver) => "its PCI function is there and no driver is bound to it",
            None => "its PCI function is not there",
        },
    };
    if now.since(BootTime(0)) < BOOT_GRACE {
        return Verdict::Unknown {
            why: "the host has just started",
        };
    }
    Verdict::Raise {
        severity: Severity::Critical,
        meaning: format!("{} is missing: {missing}", expected.name),
        evidence: vec![
            Evidence::of("found", missing),
            Evidence::of("expected by", expected.by.as_str()),
        ],
    }
}

/// What is known of a function that is not read.
fn left_alone<'a>(view: View<'a>, expected: &ExpectedFunction) -> Option<&'a Skipped> {
    let pci = expected.pci?;
    let on = |skipped: &&Skipped| {
        let mut parts = skipped.key.as_str().rsplit('/');
        parts.find_map(|part| part.parse().ok()) == Some(pci)
    };
    view.scene.skipped.iter().find(on)
}
