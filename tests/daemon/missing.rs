//! A counter's file that goes while the daemon watches: its value is absent, one fault says that it
//! is not exposed any more, nothing else changes, and it is back when the file is.
//!
//! Only a daemon can know: to a command that looks once, the file never was.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use serde_json::Value;

use crate::process::{Daemon, copy_of, until};
use crate::samples_without_own;

/// Every lane once a minute, and a minute in 0.15 s.
const HURRIED: &str = "--test.clock-factor=400";
const LANES: [(&str, &str); 4] = [
    ("RAILWATCH__READER__DEADLINE_SECONDS", "600"),
    ("RAILWATCH__LANES__FAST_SECONDS", "60"),
    ("RAILWATCH__LANES__LINK_SECONDS", "60"),
    ("RAILWATCH__LANES__SLOW_SECONDS", "60"),
];
/// Polls after which a file that is gone and changed nothing is one that nobody reads.
const POLLS: u64 = 4;

/// What the daemon says: lines with a value, and faults.
#[derive(Debug, Clone, PartialEq)]
struct Said {
    lines: BTreeSet<String>,
    faults: BTreeSet<String>,
    polls: u64,
}

fn said(daemon: &Daemon) -> Said {
    let document: Value = serde_json::from_str(&daemon.get("/api/v1/node")).unwrap();
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).unwrap().clone();
    let mut faults = BTreeSet::new();
    for port in list(&document, "ports") {
        for fault in list(&port, "faults") {
            let part =
                |of: &Value, key: &str| of.get(key).map(Value::to_string).unwrap_or_default();
            let (device, netdev) = (part(&port, "device"), part(&port, "netdev"));
            let (what, reason) = (part(&fault, "what"), part(&fault, "reason"));
            faults.insert(format!("{device}/{netdev} {what}: {reason}"));
        }
    }
    let text = daemon.metrics();
    let polls = text
        .lines()
        .find_map(|line| line.strip_prefix("railwatch_polls_total "))
        .and_then(|count| count.parse().ok());
    let lines = samples_without_own(&text).into_iter().collect();
    Said {
        lines,
        faults,
        polls: polls.unwrap(),
    }
}

/// The metric that alone was lost, if everything else is as it was and one fault says so.
fn lost(sound: &Said, now: &Said) -> Option<String> {
    let metric = |line: &String| line.split('{').next().unwrap_or_default().to_owned();
    let about = |name: &String| {
        name == "railwatch_counter_source_info" || name == "railwatch_reading_saturated"
    };
    let gone: BTreeSet<String> = sound.lines.difference(&now.lines).map(metric).collect();
    let mut values = gone.iter().filter(|name| !about(name));
    let (Some(name), None) = (values.next(), values.next()) else {
        return None;
    };
    let faults: Vec<&String> = now.faults.difference(&sound.faults).collect();
    let told = matches!(faults.as_slice(), [fault] if fault.ends_with(": \"not_exposed\""));
    let nothing_new = now.lines.is_subset(&sound.lines);
    let one_series = sound
        .lines
        .difference(&now.lines)
        .all(|line| line.contains(name));
    (told && nothing_new && one_series).then(|| name.clone())
}

/// Files with counters below a directory of the node.
fn counter_files(node: &Path, class: &str, directories: &[&str]) -> Vec<std::path::PathBuf> {
    let at = node.join("sys/class").join(class);
    let mut paths = Vec::new();
    for directory in directories {
        for entry in fs::read_dir(at.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.ends_with("lifespan") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

fn every_counter_that_goes_is_told(name: &str, device: &str, netdev: &str) {
    let node = copy_of(name);
    let mut files = counter_files(
        node.path(),
        &format!("infiniband/{device}"),
        &["ports/1/counters", "ports/1/hw_counters"],
    );
    files.extend(counter_files(
        node.path(),
        &format!("net/{netdev}"),
        &["statistics"],
    ));
    let at = node.path().join("sys/class/net").join(netdev);
    files.extend(["carrier_down_count", "mtu"].map(|file| at.join(file)));
    let daemon = Daemon::hurried(node.path(), HURRIED, &LANES);
    let sound = until("a whole exposition", || {
        let (first, second) = (said(&daemon), said(&daemon));
        let whole = first.lines.len() > 40 && first.lines == second.lines;
        whole.then_some(second)
    });
    let mut told = BTreeSet::new();
    let aside = node.path().join("aside");
    for file in &files {
        fs::rename(file, &aside).unwrap();
        let before = said(&daemon).polls;
        told.extend(until(&format!("one fault for {}", file.display()), || {
            let now = said(&daemon);
            let unread = now.lines == sound.lines && now.faults == sound.faults;
            match lost(&sound, &now) {
                Some(name) => Some(Some(name)),
                None if unread && now.polls >= before + POLLS => Some(None),
                None => None,
            }
        }));
        fs::rename(&aside, file).unwrap();
        until("the exposition as it was", || {
            let now = said(&daemon);
            (now.lines == sound.lines && now.faults == sound.faults).then_some(())
        });
    }
    let labels = [
        format!("{{device=\"{device}\""),
        format!("{{netdev=\"{netdev}\""),
    ];
    let expected: BTreeSet<String> = sound
        .lines
        .iter()
        .filter(|line| labels.iter().any(|labels| line.contains(labels)))
        .filter_map(|line| line.split('{').next())
        .filter(|name| name.ends_with("_total") || *name == "railwatch_netdev_mtu_bytes")
        .map(str::to_owned)
        .collect();
    assert!(expected.len() > 40, "{} counters", expected.len());
    assert_eq!(told, expected);
}

#[test]
fn every_counter_that_goes_while_watched_is_told() {
    thread::scope(|scope| {
        scope.spawn(|| every_counter_that_goes_is_told("mlx5-2", "mlx5_0", "ens1np0"));
        scope.spawn(|| every_counter_that_goes_is_told("bnxt_re-7.2", "bnxt_re0", "ens6f0np0"));
    });
}
