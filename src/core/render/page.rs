//! The landing page: what this node is and how its ports are, for a person who has just come.
//!
//! Escaped by construction (askama), whole in itself, without script.

mod line;
mod words;

use std::time::Duration;

use askama::Template;

use super::entry;
use super::node::rfc3339;
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::snapshot::Snapshot;
use line::{Line, Note};

/// What the page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The newest snapshot, if there is one.
    pub snapshot: Option<&'a Snapshot>,
    /// Where the exposition is.
    pub telemetry_path: &'a str,
    /// Age of the snapshot, if it should long have been replaced.
    pub stale: Option<Duration>,
}

/// The page could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the page: {0}")]
pub struct PageError(#[from] askama::Error);

#[derive(Debug, Template)]
#[template(path = "status.html")]
struct Status<'a> {
    title: &'a str,
    kernel: Option<&'a str>,
    os: Option<&'a str>,
    version: &'static str,
    at: Option<String>,
    stale: Option<u64>,
    summary: String,
    notes: Vec<Note>,
    lines: Vec<Line<'a>>,
    skipped: Vec<Note>,
    telemetry_path: &'a str,
}

/// The page as HTML.
///
/// # Errors
///
/// The template could not be filled.
pub fn html(page: &Page<'_>) -> Result<String, PageError> {
    let host = page.snapshot.map(|snapshot| &snapshot.own.host);
    let lines: Vec<Line<'_>> = page
        .snapshot
        .iter()
        .flat_map(|snapshot| &snapshot.devices)
        .flat_map(|device| entry::entries(device))
        .filter(|entry| !entry.is_representor())
        .map(|entry| Line::new(&entry))
        .collect();
    let skipped = page.snapshot.map_or(&[][..], |snapshot| &snapshot.skipped);
    let status = Status {
        title: host
            .and_then(|host| host.hostname.as_deref())
            .unwrap_or("this node"),
        kernel: host.and_then(|host| host.kernel.as_deref()),
        os: host.and_then(|host| host.os.as_deref()),
        version: env!("CARGO_PKG_VERSION"),
        at: page
            .snapshot
            .and_then(|snapshot| rfc3339(snapshot.wall_seconds)),
        stale: page.stale.map(|age| age.as_secs()),
        summary: summary(page.snapshot, &lines),
        notes: notes(&lines, skipped),
        lines,
        skipped: skipped.iter().map(left_alone).collect(),
        telemetry_path: page.telemetry_path,
    };
    Ok(status.render()?)
}

/// What is wrong, above the table: what the ports say, and devices that should be read and are not.
fn notes(lines: &[Line<'_>], skipped: &[Skipped]) -> Vec<Note> {
    let unread = |skipped: &&Skipped| {
        matches!(
            skipped.reason,
            SkipReason::Stalled | SkipReason::TooMany | SkipReason::Unreadable
        )
    };
    let unread = skipped.iter().filter(unread).map(|skipped| Note {
        class: "bad",
        ..left_alone(skipped)
    });
    unread.chain(lines.iter().flat_map(Line::notes)).collect()
}

fn summary(snapshot: Option<&Snapshot>, lines: &[Line<'_>]) -> String {
    let Some(snapshot) = snapshot else {
        return "The first poll of this node has not ended yet.".to_owned();
    };
    if let Some(why) = &snapshot.trouble {
        return format!("This node cannot be read: {why}.");
    }
    let hang = |skipped: &&Skipped| skipped.reason == SkipReason::Stalled;
    let hanging = snapshot.skipped.iter().filter(hang).count();
    if lines.is_empty() && hanging == 0 {
        return "There is no RDMA device and no physical network interface to read here."
            .to_owned();
    }
    let up = lines
        .iter()
        .filter(|line| line.state.class == "good")
        .count();
    let failing = lines.iter().filter(|line| !line.faults.is_empty()).count();
    let narrow = lines.iter().filter(|line| line.pcie.class == "bad").count();
    format!(
        "Up: {up} of {} ports and interfaces. Below their PCIe maximum: {narrow}. With reads that fail: {failing}.{}",
        lines.len(),
        if hanging > 0 {
            format!(" Devices that do not answer: {hanging}.")
        } else {
            String::new()
        }
    )
}

fn left_alone(skipped: &Skipped) -> Note {
    Note {
        subject: skipped.device.to_string(),
        class: "odd",
        text: words::skip_reason(skipped.reason).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, html};
    use crate::core::model::outcome::FaultReason;
    use crate::core::model::snapshot::{SlotState, Snapshot};
    use crate::core::render::sample::{PORT, current, device, slot, snapshot};
    use crate::core::wire::Place;

    fn page(snapshot: &Snapshot) -> String {
        html(&Page {
            snapshot: Some(snapshot),
            telemetry_path: "/metrics",
            stale: None,
        })
        .unwrap()
    }

    #[test]
    fn a_stranger_is_told_what_is_wrong_before_the_table() {
        let pcie = |what: &str, value| {
            let metric = format!("railwatch_pcie_link_{what}");
            (slot(&metric, Place::Device), current(value))
        };
        let read = vec![
            pcie("speed_transfers_per_second", 16_000_000_000),
            pcie("width_lanes", 8),
            pcie("max_speed_transfers_per_second", 32_000_000_000),
            pcie("max_width_lanes", 16),
            (slot("railwatch_port_state_id", PORT), current(1)),
            (slot("railwatch_port_physical_state_id", PORT), current(3)),
            (
                slot("railwatch_port_symbol_errors_total", PORT),
                SlotState::Fault(FaultReason::InvalidArgument),
            ),
        ];
        let page = page(&snapshot(vec![device("mlx5_3", "eth3", read)]));
        let above = page.split("<table>").next().unwrap();
        for told in [
            "<span class=\"bad\">mlx5_3/1</span>: PCIe 16 GT/s x8 of 32 GT/s x16</li>",
            "<span class=\"bad\">mlx5_3/1</span>: down (disabled)</li>",
            "mlx5_3/1</span>: cannot read port_symbol_errors: invalid_argument</li>",
            "Up: 0 of 1 ports and interfaces. Below their PCIe maximum: 1. With reads that fail: 1.",
        ] {
            assert!(above.contains(told), "{told}\n{above}");
        }
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_nothing_is_fetched_from_elsewhere() {
        let page = page(&snapshot(vec![device("mlx5_0", "eth0", Vec::new())]));
        assert!(page.contains("<td data-what=\"Sent\">–</td>"), "{page}");
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("src="));
    }
}
