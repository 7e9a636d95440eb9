//! A link that is up and slower than it should be.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Link;
use crate::core::model::finding::{Evidence, Severity};
use crate::core::units::{float, gigabits_per_second};

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "rate_degraded",
    title: "Link slower than it should be",
    area: Area::Link,
    severities: &[Severity::Warning, Severity::Critical],
    cadence: Cadence::Tick,
    hold: Hold {
        need: Duration::from_secs(5),
        span: Duration::from_secs(20),
        off: Duration::from_secs(20),
    },
    gate: false,
    symptom: "Every collective runs at the pace of one slow rail.",
    physics: "The link trained with fewer lanes or at a lower speed: a damaged cable, a transceiver \
        of another kind, a switch port configured otherwise. All ranks wait for the slowest.",
    formula: "The rate of a link that is up is below the expected one for 5 s within 20 s: what the \
        expectation file says, else the best this node has learnt of the port, else what most ports \
        of its model have. Half or less is critical. Over when it is right for 20 s.",
    resolution: "Rate and state each second.",
    next_step: "Compare the port's speed with its partner's and its siblings'; swap the cable; see \
        whether the switch port is split or pinned to a speed. A change that is meant is taken over \
        with `railwatch expect --accept`.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let judged = view.scene.links.iter().map(|link| Judgement {
        subject: link.subject.clone(),
        key: link.key.clone(),
        identity: link.identity.clone(),
        verdict: verdict(view, link),
        capability: capability(view, link),
    });
    judged.collect()
}

fn expected(view: View<'_>, link: &Link) -> Option<(u64, &'static str)> {
    let expected = view.expected.rate(link)?;
    Some((expected.0, expected.1.as_str()))
}

fn capability(view: View<'_>, link: &Link) -> Capability {
    match (link.up, expected(view, link)) {
        (Some(true), _) if link.rate.is_none() => Capability::None("the rate cannot be read"),
        (_, None) => Capability::Degraded(
            "nobody says how fast the link should be; write an expectation file",
        ),
        _ => Capability::Full,
    }
}

fn verdict(view: View<'_>, link: &Link) -> Verdict {
    if link.up != Some(true) {
        return Verdict::Idle;
    }
    let Some(rate) = link.rate else {
        return Verdict::Unknown {
            why: "the rate cannot be read",
        };
    };
    let Some((wanted, speaker)) = expected(view, link) else {
        return Verdict::Clear;
    };
    if rate >= wanted {
        return Verdict::Clear;
    }
    let metric = if link.state.is_some() {
        "railwatch_port_rate_bytes_per_second"
    } else {
        "railwatch_netdev_speed_bytes_per_second"
    };
    let measured = Evidence::of("rate of the link", float(rate))
        .unit("bytes_per_second")
        .threshold(float(wanted))
        .counters(&[metric]);
    Verdict::Raise {
        severity: if rate.saturating_mul(2) <= wanted {
            Severity::Critical
        } else {
            Severity::Warning
        },
        meaning: format!(
            "{} runs at {} Gb/s and should at {}; every collective waits for it",
            link.subject,
            gigabits_per_second(rate),
            gigabits_per_second(wanted)
        ),
        evidence: vec![measured, Evidence::of("expected by", speaker)],
    }
}
