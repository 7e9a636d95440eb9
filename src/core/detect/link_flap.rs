//! A link that goes down again and again.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Link;
use crate::core::detect::windows::LinkWindow;
use crate::core::model::finding::{Evidence, Severity};
use crate::core::units::float;

const TEN_MINUTES: Duration = Duration::from_secs(600);
const HOUR: Duration = Duration::from_secs(3600);
const SIX_HOURS: Duration = Duration::from_secs(6 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Downs in ten minutes that are a flap.
const WARNING: u64 = 2;
/// Downs in an hour that a job will not survive.
const CRITICAL_HOUR: u64 = 3;
/// Downs in a day after which others take a node out.
const CRITICAL_DAY: u64 = 5;

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "link_flap",
    title: "Link flaps",
    area: Area::Link,
    severities: &[Severity::Warning, Severity::Critical],
    cadence: Cadence::Tick,
    hold: Hold {
        need: Duration::ZERO,
        span: Duration::ZERO,
        off: Duration::ZERO,
    },
    gate: false,
    symptom: "Steps of a job take seconds longer now and then, or it dies of retries that ran out.",
    physics: "The link loses its signal and trains again: a dirty or loose connector, a dying \
        transceiver, a bent cable. Each time, everything in flight is lost and sent again.",
    formula: "2 downs within 10 min warn; 3 within 1 h or 5 within 24 h are critical, the count at \
        which large operators take a node out. Counted by the hardware or the kernel, so that a flap \
        between two readings is not missed; where that counter is saturated or absent, by what was \
        seen. Downs in the first 300 s after boot, by an administrator, and within 30 s of a restart \
        of the device are not counted. Over when there was none for 10 min (6 h after 3).",
    resolution: "Count of downs, state and carrier each second.",
    next_step: "Clean and reseat both ends; swap the cable with a healthy neighbour's and see \
        whether the flaps move along; compare with the count of the switch's port.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let judged = view.scene.links.iter().map(|link| {
        let window = view.windows.link(&link.key);
        Judgement {
            subject: link.subject.clone(),
            key: link.key.clone(),
            identity: link.identity.clone(),
            verdict: window.map_or(NOT_SEEN, |window| verdict(view, link, window)),
            capability: capability(link),
        }
    });
    judged.collect()
}

const NOT_SEEN: Verdict = Verdict::Unknown {
    why: "the link has not been seen yet",
};

fn capability(link: &Link) -> Capability {
    match link.downs {
        Some(point) if !point.saturated => Capability::Full,
        Some(_) => Capability::Degraded("the count of downs stands at its top; clear it"),
        None if link.up.is_some() => {
            Capability::Degraded("nobody counts downs; one between two readings is missed")
        }
        None => Capability::None("neither downs nor the state can be read"),
    }
}

fn verdict(view: View<'_>, link: &Link, window: &LinkWindow) -> Verdict {
    let now = view.scene.now;
    let within = |span| window.downs_within(now, span);
    let (minutes, hour, day) = (within(TEN_MINUTES), within(HOUR), within(DAY));
    let found = if hour >= CRITICAL_HOUR {
        Some((Severity::Critical, hour, HOUR, CRITICAL_HOUR))
    } else if day >= CRITICAL_DAY {
        Some((Severity::Critical, day, DAY, CRITICAL_DAY))
    } else if minutes >= WARNING {
        Some((Severity::Warning, minutes, TEN_MINUTES, WARNING))
    } else {
        None
    };
    if let Some((severity, count, span, limit)) = found {
        return raise(link, severity, count, span, limit);
    }
    match window.last_down(now) {
        Some(ago) if ago < TEN_MINUTES => Verdict::Hold,
        Some(ago) if ago < SIX_HOURS && within(SIX_HOURS) >= CRITICAL_HOUR => Verdict::Hold,
        _ if link.up.is_none() && link.downs.is_none() && link.wanted != Some(false) => {
            Verdict::Unknown {
                why: "neither downs nor the state can be read",
            }
        }
        _ => Verdict::Clear,
    }
}

fn raise(link: &Link, severity: Severity, count: u64, span: Duration, limit: u64) -> Verdict {
    let evidence = Evidence::of("downs", float(count))
        .threshold(float(limit))
        .window(span.as_secs_f64());
    let metrics: Vec<&str> = link.downs_metric.into_iter().collect();
    let minutes = span.as_secs() / 60;
    Verdict::Raise {
        severity,
        meaning: format!(
            "{} lost its link {count} times in {minutes} min; each time what was in flight is lost",
            link.subject
        ),
        evidence: vec![evidence.counters(&metrics)],
    }
}
