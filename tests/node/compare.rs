//! The captured nodes, and how two expositions differ.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The directory with the captured nodes.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The exposition without the line that names the build, which every release changes, and without
/// findings: one reading has none, and a daemon's come with time.
pub(crate) fn comparable(text: &str) -> Vec<&str> {
    const OTHERS: [&str; 4] = [
        "railwatch_build_info{",
        "railwatch_finding_",
        "railwatch_detector_",
        "railwatch_maintenance",
    ];
    let is_other = |line: &str| {
        let sample = line
            .trim_start_matches("# HELP ")
            .trim_start_matches("# TYPE ");
        OTHERS.iter().any(|other| sample.starts_with(other))
    };
    text.lines().filter(|line| !is_other(line)).collect()
}

/// Says how two expositions differ, at most ten lines of each; `None` if they don't.
pub(crate) fn difference(expected: &str, got: &str) -> Option<String> {
    let (expected, got) = (comparable(expected), comparable(got));
    if expected == got {
        return None;
    }
    let mut said = String::new();
    for (title, some, others) in [
        ("expected, not there", &expected, &got),
        ("there, not expected", &got, &expected),
    ] {
        let only: Vec<_> = some.iter().filter(|line| !others.contains(line)).collect();
        if only.is_empty() {
            continue;
        }
        writeln!(said, "  {title} ({} lines):", only.len()).ok();
        for line in only.iter().take(10) {
            writeln!(said, "    {line}").ok();
        }
    }
    if said.is_empty() {
        said.push_str("  the same lines in another order\n");
    }
    Some(said)
}
