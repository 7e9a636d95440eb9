//! A PCIe path that trained narrower or slower than its weakest port allows.

use std::time::Duration;

use crate::core::detect::rule::{Area, Cadence, Capability, Hold, Judgement, Rule, Verdict, View};
use crate::core::detect::scene::Function;
use crate::core::model::facts::PcieHop;
use crate::core::model::finding::{Evidence, Quantity, Severity};
use crate::core::units::{
    float, gigabits_per_second, gigatransfers_per_second, pcie_bytes_per_second,
};

/// Share of a port's rate from which on its function counts as working.
const WORKING: f64 = 0.01;

/// Cards of one model that say what another should have.
const SIBLINGS: usize = 3;

/// The rule.
pub(super) static RULE: Rule = Rule {
    code: "pcie_degraded",
    title: "PCIe link degraded",
    area: Area::Pcie,
    severities: &[Severity::Info, Severity::Warning, Severity::Critical],
    cadence: Cadence::Tick,
    hold: Hold {
        need: Duration::from_secs(5),
        span: Duration::from_secs(20),
        off: Duration::from_secs(20),
    },
    gate: false,
    symptom: "A NIC reaches half of its rate or less, in one direction or both, and pauses its peers.",
    physics: "The card, a riser or a slot lost lanes or trained at a lower generation: a bad seat, a \
        dirty contact, a bent pin. What the wire brings cannot get into memory.",
    formula: "Each link between the root port and the function is compared with the lesser of what \
        its two ends support: fewer lanes always count, a lower speed only while the function moves \
        more than 1 % of its port's rate, as idle links save power. It is also compared with what the \
        expectation file says or this node has learnt, and its lanes with those of its siblings: a \
        card in a narrower slot than the others, or one in a virtual machine, where the other end \
        is not to be seen. Held for 5 s within 20 s. Half the bandwidth or \
        less is critical. A path that is as designed and yet slower than the port is told as info.",
    resolution: "Widths and speeds once a minute, traffic each second.",
    next_step: "Reseat the card and its riser, look for the same fault after swapping slots, compare \
        the BIOS settings of the slot (bifurcation, generation) with those of a sibling.",
    judge,
};

fn judge(view: View<'_>) -> Vec<Judgement> {
    let with_path = view
        .scene
        .functions
        .iter()
        .filter(|function| !function.path.is_empty());
    let judged = with_path.map(|function| Judgement {
        subject: function.subject.clone(),
        key: function.key.clone(),
        identity: function.identity.clone(),
        verdict: verdict(view, function),
        capability: capability(view, function),
    });
    judged.collect()
}

/// One link of the path.
struct PcieLink<'a> {
    /// The port above, where it is to be seen.
    above: Option<&'a PcieHop>,
    /// The port below, which says what the link is now.
    below: &'a PcieHop,
}

/// The links of a path, from the function up: every second step is one, those between are inside a
/// switch.
fn links(path: &[PcieHop]) -> Vec<PcieLink<'_>> {
    path.rchunks(2)
        .filter_map(|pair| match pair {
            [above, below] => Some(PcieLink {
                above: Some(above),
                below,
            }),
            [below] => Some(PcieLink { above: None, below }),
            _ => None,
        })
        .collect()
}

fn both(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.min(b?))
}

impl PcieLink<'_> {
    fn width_by_design(&self) -> Option<u64> {
        both(self.above?.max_width, self.below.max_width)
    }

    fn speed_by_design(&self) -> Option<u64> {
        both(self.above?.max_speed, self.below.max_speed)
    }
}

fn capability(view: View<'_>, function: &Function) -> Capability {
    let links = links(&function.path);
    let Some(own) = links.first() else {
        return Capability::None("the PCIe path cannot be read");
    };
    if own.below.width.is_none() {
        return Capability::None("the PCIe link cannot be read");
    }
    let known = own.width_by_design().is_some() || view.expected.function(function).is_some();
    if known {
        Capability::Full
    } else {
        Capability::Degraded("the port above the card is not to be seen, as in a virtual machine")
    }
}

/// How far a link is from what it should be.
struct Lack {
    what: &'static str,
    is: u64,
    should: u64,
    share: f64,
    at: String,
}

fn verdict(view: View<'_>, function: &Function) -> Verdict {
    let links = links(&function.path);
    if links.first().is_none_or(|link| link.below.width.is_none()) {
        return Verdict::Unknown {
            why: "the PCIe link cannot be read, or the function sleeps",
        };
    }
    let working = is_working(view, function);
    let mut lacks: Vec<Lack> = links.iter().flat_map(|link| lacks(link, working)).collect();
    lacks.extend(lacks_expected(view, function, &links, working));
    let worst = lacks.into_iter().min_by(|a, b| a.share.total_cmp(&b.share));
    match worst {
        Some(lack) => raise(function, &lack),
        None => by_design(function, &links),
    }
}

/// Whether the function moves enough that its links must be at their speed.
fn is_working(view: View<'_>, function: &Function) -> bool {
    let moved = view
        .windows
        .function(&function.key)
        .and_then(|window| window.bytes_per_second);
    match (moved, function.rate) {
        (Some(moved), Some(rate)) => moved > float(rate) * WORKING,
        _ => false,
    }
}

fn lack(what: &'static str, is: Option<u64>, should: Option<u64>, at: String) -> Option<Lack> {
    let (is, should) = (is?, should?);
    (is < should).then(|| Lack {
        what,
        is,
        should,
        share: float(is) / float(should),
        at,
    })
}

fn lacks(link: &PcieLink<'_>, working: bool) -> Vec<Lack> {
    let at = link.below.address.to_string();
    let width = lack(LANES, link.below.width, link.width_by_design(), at.clone());
    let speed = lack(SPEED, link.below.speed, link.speed_by_design(), at);
    width.into_iter().chain(speed.filter(|_| working)).collect()
}

const LANES: &str = "lanes";
const SPEED: &str = "transfers_per_second";

/// What the node is expected to have, where the path alone does not show it.
fn lacks_expected(
    view: View<'_>,
    function: &Function,
    links: &[PcieLink<'_>],
    working: bool,
) -> Vec<Lack> {
    let expected = view.expected.function(function);
    let (wide, fast) = expected.map_or((None, None), |known| (known.width, known.speed));
    let wide = wide.or_else(|| usual_width(view, function));
    let at = || {
        function
            .path
            .last()
            .map_or_else(String::new, |hop| hop.address.to_string())
    };
    let width = links.iter().filter_map(|link| link.below.width).min();
    let speed = links.iter().filter_map(|link| link.below.speed).min();
    let width = lack(LANES, width, wide, at());
    let speed = lack(SPEED, speed, fast, at());
    width.into_iter().chain(speed.filter(|_| working)).collect()
}

/// Lanes that more than half of at least three siblings have.
fn usual_width(view: View<'_>, function: &Function) -> Option<u64> {
    let model = function.model.as_ref()?;
    let others = view.scene.functions.iter().filter(|other| {
        other.key != function.key && other.is_rdma && other.model.as_ref() == Some(model)
    });
    let widths: Vec<u64> = others
        .filter_map(|other| other.path.last()?.width)
        .collect();
    let of = |width: u64| widths.iter().filter(|other| **other == width).count();
    let usual = widths.iter().copied().max_by_key(|width| of(*width))?;
    (widths.len() >= SIBLINGS && of(usual).saturating_mul(2) > widths.len()).then_some(usual)
}

fn raise(function: &Function, lack: &Lack) -> Verdict {
    let words = |value: u64| match lack.what {
        LANES => format!("{value} lanes"),
        _ => format!("{} GT/s", gigatransfers_per_second(value)),
    };
    let metric = match lack.what {
        LANES => "railwatch_pcie_link_width_lanes",
        _ => "railwatch_pcie_link_speed_transfers_per_second",
    };
    let measured = Evidence::of(format!("PCIe link of {}", lack.at), float(lack.is))
        .unit(lack.what)
        .threshold(float(lack.should))
        .counters(&[metric]);
    Verdict::Raise {
        severity: if lack.share <= 0.5 {
            Severity::Critical
        } else {
            Severity::Warning
        },
        meaning: format!(
            "the PCIe link of {} at {} has {} and should have {}",
            function.name,
            lack.at,
            words(lack.is),
            words(lack.should)
        ),
        evidence: vec![measured],
    }
}

/// A path that is as it was built, and yet narrower than what comes over the wire.
fn by_design(function: &Function, links: &[PcieLink<'_>]) -> Verdict {
    let widths = links.iter().filter_map(|link| {
        // An idle link saves power: what it can is what counts.
        let speed = link.speed_by_design().or(link.below.max_speed)?;
        let carries = pcie_bytes_per_second(speed, link.below.width?);
        Some((carries, link.below.address))
    });
    let (Some((carries, at)), Some(rate)) = (widths.min(), function.rate) else {
        return Verdict::Clear;
    };
    if carries >= rate {
        return Verdict::Clear;
    }
    let unit = "bytes_per_second";
    let measured = Evidence::of("bandwidth of the PCIe path", float(carries));
    Verdict::Raise {
        severity: Severity::Info,
        meaning: format!(
            "the PCIe path of {} carries {:.0} Gb/s at {at}, less than its port's {} Gb/s; it is built so",
            function.name,
            gigabits_per_second(carries),
            gigabits_per_second(rate)
        ),
        evidence: vec![measured.unit(unit).threshold(Quantity::Number(float(rate)))],
    }
}
