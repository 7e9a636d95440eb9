//! The landing page: what this node is and how its ports are, for a person who has just come.
//!
//! Escaped by construction (askama), whole in itself, without script.

mod line;
mod words;

use std::time::Duration;

use askama::Template;

use super::entry;
use super::node::rfc3339;
use crate::core::model::facts::Skipped;
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
        summary: summary(page.snapshot.is_some(), &lines),
        notes: lines.iter().flat_map(Line::notes).collect(),
        lines,
        skipped: skipped.iter().map(left_alone).collect(),
        telemetry_path: page.telemetry_path,
    };
    Ok(status.render()?)
}

fn summary(polled: bool, lines: &[Line<'_>]) -> String {
    if !polled {
        return "The first poll of this node has not ended yet.".to_owned();
    }
    if lines.is_empty() {
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
        "{} ports and interfaces: {up} up, {} not; {narrow} below their PCIe maximum; {failing} with reads that fail.",
        lines.len(),
        lines.len().saturating_sub(up),
    )
}

fn left_alone(skipped: &Skipped) -> Note {
    Note {
        subject: skipped.device.to_string(),
        class: "odd",
        text: words::skip_reason(skipped.reason).to_owned(),
    }
}
