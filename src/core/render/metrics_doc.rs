//! `docs/METRICS.md`, made from the catalog and the list of other families.
//!
//! A pure function of constants: the page cannot drift from what is read and exported.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::families::{self, Family};
use crate::core::catalog::{At, AtTop, Cost, Entry, GROUPS, Group, Kind, Row, Scope};

const HEAD: &str = "\
# Metrics

Generated from the catalog: `cargo run --example metrics_doc > docs/METRICS.md`.

A value that is not known is absent, never 0 and never the last one. A counter is the daemon's own
sum: it starts at the first reading and goes on over a reset or a wrap of the device's. One that
stands at the top of its width keeps its value and has `railwatch_reading_saturated` beside it.

The JSON key of a metric is its name without `railwatch_` and `_total`.

Columns of the tables of kernel counters: *file* is below the directory of the place that the
labels name; *bits* is the counter's width; *at its top* it `saturates` (stands still), `wraps` to
zero or is `masked` by the driver, which wraps it too; *scope* is what it counts over; *cost* is
what a read takes: `free` memory of the driver, `dma` memory the device writes by itself,
`firmware` a command to the device, `rtnl` the kernel's network lock. `K:` is a path in the Linux
source, IBA the InfiniBand Architecture specification.
";

/// The page.
#[must_use]
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    for group in GROUPS {
        page.push_str(&section(&group));
    }
    page.push_str("\n## About railwatch and its devices\n\n");
    page.push_str("| metric | type | labels | meaning |\n|---|---|---|---|\n");
    for family in families::ALL {
        page.push_str(&family_line(&family));
    }
    page.push_str(&concepts());
    page
}

fn section(group: &Group) -> String {
    let mut text = format!("\n## {}\n\n{}\n", group.name, group.about);
    for row in group.rows {
        text.push_str(&row_section(row));
    }
    text
}

fn row_section(row: &Row) -> String {
    let Row {
        metric, help, lane, ..
    } = row;
    let mut text = format!(
        "\n### `{metric}`\n\n{help}.\n\n{} in {}, labels {}, {} lane{}.\n\n",
        kind(row.kind),
        row.unit.as_str().replace('_', " "),
        labels(row),
        lane.as_str(),
        concept(row),
    );
    text.push_str(
        "| driver | file | factor | bits | at its top | scope | refresh | cost | source |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for entry in row.entries {
        text.push_str(&entry_line(row, entry));
    }
    text
}

fn entry_line(row: &Row, entry: &Entry) -> String {
    let (bits, top) = match row.kind {
        Kind::Counter => (entry.width.to_string(), at_top(entry.at_top)),
        Kind::Gauge => ("–".to_owned(), "–"),
    };
    let refresh = match entry.native_refresh_ms {
        0 => "each read".to_owned(),
        milliseconds => format!("{milliseconds} ms"),
    };
    format!(
        "| {} | `{}` | {} | {bits} | {top} | {} | {refresh} | {} | {} |\n",
        entry.driver.as_str(),
        entry.file.path(),
        entry.scale,
        scope(entry.scope),
        cost(entry.cost),
        entry.source,
    )
}

fn family_line(family: &Family) -> String {
    let labels: Vec<String> = family
        .labels
        .iter()
        .map(|label| format!("`{label}`"))
        .collect();
    let labels = if labels.is_empty() {
        "–".to_owned()
    } else {
        labels.join(", ")
    };
    format!(
        "| `{}` | {} | {labels} | {} |\n",
        family.name,
        kind(family.kind).to_ascii_lowercase(),
        family.help
    )
}

/// What detectors ask for, with the rows that are added.
fn concepts() -> String {
    let rows = || GROUPS.iter().flat_map(|group| group.rows);
    let names: BTreeSet<&str> = rows().filter_map(|row| row.concept).collect();
    let mut text = String::from(
        "\n## Concepts\n\nWhat is asked for whatever the driver: the sum of the rows that name it.\n\n\
         | concept | rows |\n|---|---|\n",
    );
    for name in names {
        let of: Vec<String> = rows()
            .filter(|row| row.concept == Some(name))
            .map(|row| format!("`{}`{}", row.metric, gives_way(row)))
            .collect();
        // Writing to a string cannot fail.
        writeln!(text, "| {name} | {} |", of.join(", ")).ok();
    }
    text
}

fn gives_way(row: &Row) -> String {
    row.yields_to
        .map(|better| format!(" (only without `{better}`)"))
        .unwrap_or_default()
}

fn concept(row: &Row) -> String {
    row.concept
        .map(|name| format!(", concept {name}{}", gives_way(row)))
        .unwrap_or_default()
}

/// Labels follow from the places its entries are at.
fn labels(row: &Row) -> String {
    let places: BTreeSet<At> = row.entries.iter().map(|entry| entry.file.at()).collect();
    let has = |at| places.contains(&at);
    let text = if has(At::Netdev) {
        "`netdev`"
    } else if has(At::Port) && has(At::Device) {
        "`device`, `port` (no `port` where only the whole device counts)"
    } else if has(At::Port) {
        "`device`, `port`"
    } else {
        "`device`"
    };
    text.to_owned()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Counter => "Counter",
        Kind::Gauge => "Gauge",
    }
}

fn at_top(at_top: AtTop) -> &'static str {
    match at_top {
        AtTop::Saturate => "saturates",
        AtTop::Wrap => "wraps",
        AtTop::Trunc => "masked",
        AtTop::WrapOrStick => "wraps; sticks at 32 bits where the device has no more",
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Port => "port",
        Scope::Function => "function",
        Scope::Device => "device",
    }
}

fn cost(cost: Cost) -> &'static str {
    match cost {
        Cost::Free => "free",
        Cost::Dma => "dma",
        Cost::Firmware => "firmware",
        Cost::Rtnl => "rtnl",
    }
}
