//! One bad file costs one value: every file of a node in turn is missing, unreadable or nonsense.
//!
//! A counter's file: every other line of the exposition is the same and there is one fault, with the
//! right reason. A structural file: every line of the other devices is the same.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and wait for them"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "node/breakage.rs"]
mod breakage;
#[path = "node/exposition.rs"]
mod exposition;
#[path = "node/faults.rs"]
mod faults;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use breakage::{BREAKAGES, Breakage, Copy};

/// What a node says: lines with a value, and faults as "device, what: reason".
#[derive(Debug, Clone, PartialEq)]
struct Said {
    lines: BTreeSet<String>,
    faults: BTreeSet<String>,
}

fn said(node: &Path) -> Result<Said, String> {
    Ok(Said {
        lines: lines(node)?,
        faults: faults::of_node(node)?,
    })
}

/// Lines with a value.
fn lines(node: &Path) -> Result<BTreeSet<String>, String> {
    let text = exposition::of_node(node)?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures").join(name)
}

/// Files and links in a directory of a node, as paths below the node.
fn files(node: &Path, directory: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(node.join(directory))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| node.join(directory).join(name).is_file())
        .map(|name| format!("{directory}/{name}"))
        .collect();
    names.sort();
    names
}

/// Where a name of a class points, as a path below the node.
fn resolved(node: &Path, class: &str, name: &str) -> String {
    let full = node.join("sys/class").join(class).join(name);
    let full = full.canonicalize().unwrap();
    let node = node.canonicalize().unwrap();
    full.strip_prefix(node)
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

/// A file below the node, and how it is bad.
type Case = (String, Breakage);

/// Tries every case, on as many copies of the node as there are processors. Gives what the judge
/// gave, or fails with all findings.
fn try_all<S: PartialEq + std::fmt::Debug, T: Send>(
    node: &Path,
    cases: &[Case],
    ask: impl Fn(&Path) -> Result<S, String> + Sync,
    judge: impl Fn(&S, S, &Case) -> Result<T, String> + Sync,
) -> Vec<(Case, T)> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let (passed, found) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let copy = Copy::of(node);
                let sound = ask(&copy.node()).unwrap();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (path, breakage) = case;
                    let broken = copy.while_broken(path, *breakage, &ask);
                    match broken.and_then(|broken| judge(&sound, broken, case)) {
                        Ok(given) => passed.lock().unwrap().push((case.clone(), given)),
                        Err(why) => {
                            let name = breakage.name;
                            found
                                .lock()
                                .unwrap()
                                .push(format!("{path} is {name}: {why}"));
                        }
                    }
                }
                let mended = ask(&copy.node()).unwrap();
                assert_eq!(mended, sound, "the copy is not as before");
            });
        }
    });
    let found = found.into_inner().unwrap();
    let shown: Vec<_> = found.iter().take(40).map(String::as_str).collect();
    let (many, all) = (found.len(), cases.len());
    assert!(
        found.is_empty(),
        "{many} of {all} cases:\n{}",
        shown.join("\n")
    );
    passed.into_inner().unwrap()
}

fn cases(paths: &[String]) -> Vec<Case> {
    let with_all = |path: &String| BREAKAGES.map(|breakage| (path.clone(), breakage));
    paths.iter().flat_map(with_all).collect()
}

/// Every file with a counter of an RDMA device and its netdev, and the netdev's MTU.
fn counter_files(node: &Path, device: &str, netdev: &str) -> Vec<String> {
    let device = resolved(node, "infiniband", device);
    let netdev = resolved(node, "net", netdev);
    let mut paths = Vec::new();
    for directory in ["ports/1/counters", "ports/1/hw_counters"] {
        paths.extend(files(node, &format!("{device}/{directory}")));
    }
    paths.extend(files(node, &format!("{netdev}/statistics")));
    paths.push(format!("{netdev}/carrier_down_count"));
    paths.push(format!("{netdev}/mtu"));
    paths.retain(|path| !path.ends_with("/lifespan"));
    paths
}

fn metric(line: &str) -> &str {
    line.split('{').next().unwrap_or_default()
}

/// Whether every kernel and driver with the directory has the file: the standard counters but for
/// those that depend on extended support. Of the rest, kernels have what they have.
fn is_due(path: &str) -> bool {
    let optional = ["cast_xmit_packets", "cast_rcv_packets", "port_xmit_wait"];
    path.contains("/counters/") && !optional.iter().any(|end| path.ends_with(end))
}

/// At most one value is gone, with the lines that are about it; one fault says why; nothing else
/// changed. Gives the metric that is gone; a file that nobody reads has none.
fn one_value_is_lost(
    sound: &Said,
    broken: Said,
    (path, breakage): &Case,
) -> Result<Option<String>, String> {
    let lost: Vec<&String> = sound.lines.difference(&broken.lines).collect();
    let new: Vec<&String> = broken.lines.difference(&sound.lines).collect();
    let faults: Vec<&String> = broken.faults.difference(&sound.faults).collect();
    if lost.is_empty() && new.is_empty() && faults.is_empty() {
        return Ok(None);
    }
    let values = lost.iter().map(|line| metric(line));
    let values: Vec<&str> = values
        .filter(|name| !name.starts_with("railwatch_counter_"))
        .collect();
    let [name] = values.as_slice() else {
        return Err(format!(
            "not one value lost: {lost:?}, new {new:?}, faults {faults:?}"
        ));
    };
    if let Some(other) = lost.iter().chain(&new).find(|line| !line.contains(name)) {
        return Err(format!("with {name} changed {other}"));
    }
    let gone = breakage.name == "missing";
    // Where a driver's counter is not there at all, another spelling of it may stand in.
    if !new.is_empty() && !gone {
        return Err(format!("lines that were not there: {new:?}"));
    }
    match faults.as_slice() {
        [fault] if fault.ends_with(&format!(": {}", breakage.reason)) => {}
        [] if gone && !is_due(path) => {}
        _ => return Err(format!("faults {faults:?}, not one {}", breakage.reason)),
    }
    Ok(Some((*name).to_owned()))
}

/// Breaks every counter's file of a device in every way: each costs its own value, every value has
/// its file.
fn break_every_counter(fixture_name: &str, device: &str, netdev: &str) {
    let node = fixture(fixture_name);
    let paths = counter_files(&node, device, netdev);
    let lost = try_all(&node, &cases(&paths), said, one_value_is_lost);
    let of_device = [
        format!("{{device=\"{device}\""),
        format!("{{netdev=\"{netdev}\""),
    ];
    let sound = said(&node).unwrap().lines;
    let expected: BTreeSet<String> = sound
        .iter()
        .filter(|line| of_device.iter().any(|labels| line.contains(labels)))
        .map(|line| metric(line))
        .filter(|name| name.ends_with("_total") || *name == "railwatch_netdev_mtu_bytes")
        .map(str::to_owned)
        .collect();
    assert!(expected.len() > 40, "{} counters", expected.len());
    for breakage in BREAKAGES {
        let mut names: Vec<&String> = lost
            .iter()
            .filter(|((_, how), _)| how.name == breakage.name)
            .filter_map(|(_, name)| name.as_ref())
            .collect();
        names.sort();
        let expected: Vec<&String> = expected.iter().collect();
        assert_eq!(names, expected, "lost when a file is {}", breakage.name);
    }
}

#[test]
fn a_bad_counter_of_mlx5_costs_its_own_value_and_no_other() {
    break_every_counter("mlx5-2", "mlx5_0", "ens1np0");
}

#[test]
fn a_bad_counter_of_bnxt_re_costs_its_own_value_and_no_other() {
    break_every_counter("bnxt_re-7.2", "bnxt_re0", "ens6f0np0");
}

/// A state has a form of its own, which says why a text is none; the kernel's EINVAL for a netdev
/// that is down is no fault. For the rest a state is like a counter.
fn one_state_is_lost(sound: &Said, broken: Said, (path, breakage): &Case) -> Result<(), String> {
    let lost: BTreeSet<&str> = sound
        .lines
        .difference(&broken.lines)
        .map(|line| metric(line))
        .collect();
    let new: Vec<&String> = broken.lines.difference(&sound.lines).collect();
    let faults: Vec<&String> = broken.faults.difference(&sound.faults).collect();
    if lost.len() != 1 || !new.is_empty() || faults.len() > 1 {
        return Err(format!("lost {lost:?}, new {new:?}, faults {faults:?}"));
    }
    let silent = breakage.name == "missing" || path.contains("/net/");
    if faults.is_empty() && !silent {
        return Err("no fault".to_owned());
    }
    Ok(())
}

#[test]
fn a_bad_state_costs_its_own_value_and_no_other() {
    let node = fixture("mlx5-2");
    let device = resolved(&node, "infiniband", "mlx5_0");
    let netdev = resolved(&node, "net", "ens1np0");
    let (function, _) = netdev.rsplit_once("/net/").unwrap();
    let mut paths = vec![
        format!("{device}/ports/1/phys_state"),
        format!("{device}/ports/1/rate"),
    ];
    paths.extend(["carrier", "operstate", "speed"].map(|file| format!("{netdev}/{file}")));
    for link in [
        "current_link_speed",
        "current_link_width",
        "max_link_speed",
        "max_link_width",
    ] {
        paths.push(format!("{function}/{link}"));
    }
    try_all(&node, &cases(&paths), said, one_state_is_lost);
}

/// Every file, link and directory that says what a device is.
fn structural_paths(node: &Path) -> Vec<String> {
    let device = resolved(node, "infiniband", "mlx5_0");
    let netdev = resolved(node, "net", "ens1np0");
    let (function, _) = netdev.rsplit_once("/net/").unwrap();
    let mut paths = vec![
        "sys/class/infiniband/mlx5_0".to_owned(),
        "sys/class/net/ens1np0".to_owned(),
        "sys/class/net/lo".to_owned(),
        "sys/bus/pci/devices/0000:41:00.0".to_owned(),
    ];
    paths.extend(files(node, &device));
    paths.extend(files(node, &format!("{device}/ports/1")));
    paths.extend(files(node, &netdev));
    paths.extend(files(node, function));
    for directory in ["gids", "gid_attrs/types", "gid_attrs/ndevs"] {
        paths.extend(files(node, &format!("{device}/ports/1/{directory}")));
    }
    let below = |at: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("{at}/{name}")).collect()
    };
    paths.extend(below(&device, &["device", "subsystem", "ports", "ports/1"]));
    paths.extend(below(
        &format!("{device}/ports/1"),
        &[
            "counters",
            "hw_counters",
            "gids",
            "gid_attrs",
            "gid_attrs/types",
            "gid_attrs/ndevs",
        ],
    ));
    paths.extend(below(&netdev, &["device", "subsystem", "statistics"]));
    paths.extend(below(
        function,
        &["driver", "subsystem", "infiniband", "net"],
    ));
    paths
}

#[test]
fn a_bad_structural_file_leaves_every_other_device_as_it_is() {
    let node = fixture("mlx5-2");
    let others = |lines: &BTreeSet<String>| -> Vec<String> {
        let of_others = |line: &&String| line.contains("mlx5_1") || line.contains("ens2np0");
        lines.iter().filter(of_others).cloned().collect()
    };
    let mut cases = cases(&structural_paths(&node));
    // A link has no read of its own that could fail: a fault named so is one of what it points to.
    cases.retain(|(path, breakage)| !(breakage.is_errno() && node.join(path).is_symlink()));
    try_all(&node, &cases, lines, |sound, broken, _| {
        let (sound, broken) = (others(sound), others(&broken));
        assert!(sound.len() > 60, "{} lines", sound.len());
        if sound == broken {
            return Ok(());
        }
        let lost: Vec<_> = sound.iter().filter(|line| !broken.contains(line)).collect();
        let new: Vec<_> = broken.iter().filter(|line| !sound.contains(line)).collect();
        Err(format!("lost {lost:?}, new {new:?}"))
    });
}

#[test]
fn a_device_that_vanishes_is_absent_and_the_others_stay() {
    let node = fixture("mlx5-2");
    let device = resolved(&node, "infiniband", "mlx5_0");
    let netdev = resolved(&node, "net", "ens1np0");
    let copy = Copy::of(&node);
    let sound = said(&copy.node()).unwrap();
    // Every read answers ENODEV: the device went while it was read.
    let mut faults = fs::read_to_string(node.join("faults.tsv")).unwrap();
    for path in counter_files(&node, "mlx5_0", "ens1np0") {
        faults.push_str(&format!("{path}\tENODEV\n"));
    }
    for file in ["state", "phys_state", "rate"] {
        faults.push_str(&format!("{device}/ports/1/{file}\tENODEV\n"));
    }
    for file in ["carrier", "operstate", "speed"] {
        faults.push_str(&format!("{netdev}/{file}\tENODEV\n"));
    }
    fs::write(copy.node().join("faults.tsv"), faults).unwrap();
    let going = said(&copy.node()).unwrap();
    // Then it is not there.
    fs::remove_file(copy.node().join("sys/class/infiniband/mlx5_0")).unwrap();
    fs::remove_file(copy.node().join("sys/class/net/ens1np0")).unwrap();
    fs::remove_file(copy.node().join("sys/bus/pci/devices/0000:41:00.0")).unwrap();
    fs::remove_dir_all(copy.node().join("sys/devices/pci0000:40")).unwrap();
    let gone = said(&copy.node()).unwrap();

    let is_value = |line: &&String| !metric(line).ends_with("_info") && !line.contains("pcie");
    let of_it = |line: &&String| line.contains("mlx5_0") || line.contains("ens1np0");
    let values = |said: &Said| said.lines.iter().filter(of_it).filter(is_value).count();
    assert!(values(&sound) > 40);
    assert_eq!(values(&going), 0);
    assert_eq!(gone.lines.iter().filter(of_it).count(), 0);
    let others = |said: &Said| -> Vec<String> {
        said.lines
            .iter()
            .filter(|line| !of_it(line))
            .cloned()
            .collect()
    };
    assert_eq!(others(&going), others(&sound));
    assert_eq!(others(&gone), others(&sound));
}

#[test]
fn a_class_that_cannot_be_listed_is_told() {
    let copy = Copy::of(&fixture("mlx5-2"));
    let faults = copy.node().join("faults.tsv");
    let before = fs::read_to_string(&faults).unwrap_or_default();
    fs::write(&faults, format!("{before}sys/class/infiniband\tEACCES\n")).unwrap();
    let said = lines(&copy.node()).unwrap();
    let told = "railwatch_device_skipped{device=\"sys/class/infiniband\",reason=\"unreadable\"} 1";
    assert!(said.contains(told), "{said:?}");
    assert!(said.iter().any(|line| line.contains("ens1np0")), "{said:?}");
}
