//! What works here and what does not: `railwatch-doctor/1`, for `railwatch doctor` and the API.

use std::fmt::Write as _;

use serde::Serialize;

use super::document::{At, DocumentError, written};
use crate::core::detect::coverage::Coverage;
use crate::core::detect::rule::Capability;
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::outcome::FaultReason;
use crate::core::model::snapshot::{DeviceView, JournalState, SlotState, Snapshot, SourceView};

/// The document's name and version.
pub const SCHEMA: &str = "railwatch-doctor/1";

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    #[serde(flatten)]
    at: At,
    sources: Vec<State>,
    devices: Vec<State>,
    detectors: Vec<Detector>,
}

/// Whether one thing works.
#[derive(Debug, Serialize)]
struct State {
    name: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The one thing that would widen what can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    widen: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Detector {
    code: &'static str,
    subject: String,
    capability: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// The document of a snapshot.
///
/// # Errors
///
/// Never for a snapshot of this crate; the JSON writer's error has to go somewhere.
pub fn document(snapshot: &Snapshot) -> Result<Vec<u8>, DocumentError> {
    written(&examined(snapshot))
}

/// The same for a terminal.
#[must_use]
pub fn text(snapshot: &Snapshot) -> String {
    let examined = examined(snapshot);
    let mut text = String::new();
    for (title, states) in [
        ("sources", &examined.sources),
        ("devices", &examined.devices),
    ] {
        writeln!(text, "{title}").ok();
        for state in states {
            let State {
                name,
                state,
                why,
                widen,
            } = state;
            let why = why
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            writeln!(text, "  {name} {state}{why}").ok();
            if let Some(widen) = widen {
                writeln!(text, "    {widen}").ok();
            }
        }
    }
    writeln!(text, "detectors").ok();
    for detector in &examined.detectors {
        let why = detector
            .why
            .map_or_else(String::new, |why| format!(": {why}"));
        let (code, subject) = (detector.code, &detector.subject);
        writeln!(text, "  {code} {subject} {}{why}", detector.capability).ok();
    }
    text
}

fn examined(snapshot: &Snapshot) -> Document {
    let skipped = snapshot.skipped.iter().map(left_alone);
    let coverage = snapshot
        .findings
        .as_ref()
        .map_or(&[][..], |findings| &findings.coverage);
    Document {
        schema: SCHEMA,
        at: At::new(snapshot.wall_seconds),
        sources: snapshot
            .sources
            .iter()
            .map(source)
            .chain(snapshot.journal.as_ref().map(journal))
            .collect(),
        devices: snapshot
            .devices
            .iter()
            .map(|view| device(view))
            .chain(skipped)
            .collect(),
        detectors: coverage.iter().map(detector).collect(),
    }
}

fn source(view: &SourceView) -> State {
    let name = view.source.as_str().to_owned();
    let (state, why) = match (view.stalled, view.success) {
        (true, _) => ("degraded", Some("a read does not return".to_owned())),
        (false, Some(true)) => ("works", None),
        (false, Some(false)) => ("can't", Some("its newest pass gave no value".to_owned())),
        (false, None) if view.lanes.is_empty() => {
            ("can't", Some("there is nothing to read here".to_owned()))
        }
        (false, None) => ("can't", Some("no pass has ended yet".to_owned())),
    };
    State {
        name,
        state,
        why,
        widen: None,
    }
}

fn journal(state: &JournalState) -> State {
    let (state, why, widen) = match state {
        JournalState::Working => ("works", None, None),
        JournalState::Failing(why) => (
            "degraded",
            Some(why.clone()),
            Some("disk: findings are kept in memory; make room in the state directory or mend it"),
        ),
    };
    State {
        name: "journal".to_owned(),
        state,
        why,
        widen,
    }
}

fn device(view: &DeviceView) -> State {
    let of_slots = view.states.iter().filter_map(|state| match state {
        SlotState::Fault(reason) => Some(*reason),
        _ => None,
    });
    let of_facts = view.facts.faults.iter().map(|fault| fault.reason);
    let faults: Vec<FaultReason> = of_slots.chain(of_facts).collect();
    let denied = faults.contains(&FaultReason::Permission);
    let first = faults.first();
    State {
        name: view.facts.name.to_string(),
        state: match faults.len() {
            0 => "works",
            count if count >= view.states.len() => "can't",
            _ => "degraded",
        },
        why: first.map(|first| format!("{} reads fail, {} first", faults.len(), first.as_str())),
        widen: denied
            .then_some("permission: run the daemon as a user who may read these files, or as root"),
    }
}

fn left_alone(skipped: &Skipped) -> State {
    let (state, why, widen) = match skipped.reason {
        SkipReason::Restricted => (
            "can't",
            "its firmware refuses to be read: a management function of an NVSwitch",
            None,
        ),
        SkipReason::Moved => (
            "can't",
            "its interfaces are in another network namespace",
            Some("namespace: run railwatch in that network namespace too, or on the host's"),
        ),
        SkipReason::NoDriver => (
            "can't",
            "no driver is bound to it",
            Some("driver: load the driver of the card"),
        ),
        SkipReason::Passthrough => (
            "can't",
            "it is handed to a virtual machine",
            Some("guest: run railwatch in that virtual machine"),
        ),
        SkipReason::Stalled => (
            "can't",
            "a read of it does not return",
            Some("driver: the kernel log tells what its driver waits for"),
        ),
        SkipReason::TooMany => ("can't", "more devices than are read", None),
        SkipReason::Unreadable => (
            "can't",
            "it cannot be listed",
            Some("permission: run the daemon as a user who may list it, or as root"),
        ),
    };
    State {
        name: skipped.device.to_string(),
        state,
        why: Some(why.to_owned()),
        widen,
    }
}

fn detector(coverage: &Coverage) -> Detector {
    let why = coverage.capability.why();
    Detector {
        code: coverage.rule.code,
        subject: coverage.subject.to_string(),
        capability: coverage.capability.as_str(),
        why: match coverage.capability {
            Capability::Full => coverage.unknown,
            Capability::Degraded(_) | Capability::None(_) => Some(why),
        },
    }
}
