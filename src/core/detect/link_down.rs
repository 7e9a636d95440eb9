//! A link that should be up and is not.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::{Link, Technology};
use crate::core::detect::windows::{BOOT_GRACE, CHANGE_GRACE};
use crate::core::model::expectation::Speaker;
use crate::core::model::finding::{Evidence, Severity};
use crate::core::model::time::BootTime;

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "link_down",
    title: "Link down",
    area: Area::Link,
    severities: &[Severity::Warning, Severity::Critical],
    cadence: Cadence::Tick,
    hold: Hold {
        need: Duration::from_secs(8),
        span: Duration::from_secs(10),
        off: Duration::from_secs(60),
    },
    gate: true,
    symptom: "A job hangs at its start or loses a rail: one port of the node carries nothing.",
    physics: "The port has no signal or did not train: cable, optics, the switch port, or its \
        partner is off. An InfiniBand port that has trained waits for a subnet manager.",
    formula: "The link is not up for 8 s within 10 s although it is wanted up (not administratively \
        down) and expected: the expectation file names it, it was up since the daemon started, it was \
        learnt on this node, every other port of its model is up, or it has a signal and waits for a \
        subnet manager. 8 s lets a retraining pass; the \
        vendor's own bar is 30 s. No verdict in the first 300 s after boot and for 30 s after an \
        administrator's change or a restart of the device. A port that never was up and that nobody \
        expects is silent. Over when it is up for 60 s.",
    resolution: "State and carrier each second.",
    next_step: "Look at the lamp of the port and of its partner; reseat or swap the cable with a \
        healthy neighbour's and see whether the fault moves along; ask the switch for its port's log.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let judged = view.scene.links.iter().map(|link| Judgement {
        subject: link.subject.clone(),
        key: link.key.clone(),
        identity: link.identity.clone(),
        verdict: verdict(view, link),
        capability: if link.up.is_some() || link.wanted == Some(false) {
            Capability::Full
        } else {
            Capability::None("neither the port's state nor its carrier can be read")
        },
    });
    judged.collect()
}

fn verdict(view: View<'_>, link: &Link) -> Verdict {
    if link.wanted == Some(false) {
        return Verdict::Idle;
    }
    match link.up {
        None => return unknown("neither the port's state nor its carrier can be read"),
        Some(true) => return Verdict::Clear,
        Some(false) => {}
    }
    let Some(speaker) = expected_by(view, link) else {
        return Verdict::Clear;
    };
    let window = view.windows.link(&link.key);
    let now = view.scene.now;
    if now.since(BootTime(0)) < BOOT_GRACE {
        return unknown("the host has just started");
    }
    let recently = |at: BootTime| at > BootTime(0) && now.since(at) < CHANGE_GRACE;
    let changed = window.is_some_and(|window| recently(window.wanted_since));
    if changed || link.restarted.is_some_and(recently) {
        return unknown("the link was just switched on or its device restarted");
    }
    let down_for = window.map(|window| now.since(window.since));
    Verdict::Raise {
        severity: if link.is_rdma {
            Severity::Critical
        } else {
            Severity::Warning
        },
        meaning: meaning(link),
        evidence: evidence(link, speaker, down_for),
    }
}

fn unknown(why: &'static str) -> Verdict {
    Verdict::Unknown { why }
}

/// Who expects the link to be up; `None` if nobody does.
fn expected_by(view: View<'_>, link: &Link) -> Option<Speaker> {
    if let Some(expected) = view.expected.link(link) {
        return Some(expected.by);
    }
    // A port with a signal is cabled: somebody meant it to be used.
    let has_partner = link.technology == Technology::InfiniBand
        && matches!(link.state, Some(2 | 3))
        && link.physical_state == Some(5);
    let was_up = view
        .windows
        .link(&link.key)
        .is_some_and(|window| window.was_up);
    if was_up {
        return Some(Speaker::Learnt);
    }
    has_partner.then_some(Speaker::Signal)
}

fn meaning(link: &Link) -> String {
    let subject = &link.subject;
    match (link.technology, link.state, link.physical_state) {
        (Technology::InfiniBand, Some(2 | 3), Some(5)) => format!(
            "{subject} has a signal but no subnet manager has brought it up; nothing goes over it"
        ),
        (_, _, Some(2)) => {
            format!("{subject} is looking for a partner and gets no signal; nothing goes over it")
        }
        _ => format!("{subject} has no link; nothing goes over it"),
    }
}

fn evidence(link: &Link, speaker: Speaker, down_for: Option<Duration>) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    let mut state = |what: &str, value: Option<u64>, expected: f64, metric| {
        if let Some(value) = value {
            let value = crate::core::units::float(value);
            evidence.push(
                Evidence::of(what, value)
                    .threshold(expected)
                    .counters(&[metric]),
            );
        }
    };
    state(
        "state of the port",
        link.state,
        4.0,
        "railwatch_port_state_id",
    );
    let physical = "railwatch_port_physical_state_id";
    state(
        "physical state of the port",
        link.physical_state,
        5.0,
        physical,
    );
    if link.identity.netdev.is_some() && link.technology == Technology::Ethernet {
        let carrier = ["railwatch_netdev_carrier"];
        evidence.push(
            Evidence::of("carrier", 0.0)
                .threshold(1.0)
                .counters(&carrier),
        );
    }
    if let Some(down_for) = down_for {
        let seconds = down_for.as_secs_f64();
        evidence.push(Evidence::of("down for", seconds).unit("seconds"));
    }
    evidence.push(Evidence::of("expected to be up by", speaker.as_str()));
    evidence
}
