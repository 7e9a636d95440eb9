//! Captures of captures: what is read is what was there, without its identities.
#![expect(
    clippy::unwrap_used,
    reason = "helpers outside test functions may fail the test"
)]

#[path = "capture/planted.rs"]
mod planted;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use railwatch::cli::capture::{Args, take};
use railwatch::cli::exit::Reason;
use railwatch::core::model::outcome::FaultReason;
use railwatch::core::wire::Node;
use railwatch::host::discover::{census, probe, shape};
use railwatch::host::tree::Tree;
use railwatch::host::tree::captured::open;

use planted::{SECRETS, planted};

const TIME: Duration = Duration::from_secs(60);

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = std::fs::read_dir(root).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.join("sys").is_dir());
    paths.sort();
    assert!(paths.len() > 10, "fixtures are missing");
    paths
}

fn captured(path: &Path) -> Node {
    Node::Captured {
        path: path.to_str().unwrap().to_owned(),
    }
}

fn args(out: &Path) -> Args {
    Args {
        out: out.to_owned(),
        keep_identities: false,
        force: false,
    }
}

fn kept(out: &Path) -> Args {
    Args {
        keep_identities: true,
        ..args(out)
    }
}

/// What the reader would find, and what every value it reads would give.
fn found(tree: &Arc<dyn Tree>) -> String {
    let tree = tree.as_ref();
    let census = census(tree, &shape(tree));
    let mut text = format!("{:?}\n", census.skipped);
    for located in &census.devices {
        let mut probed = probe(tree, located, true, None);
        // Two copies of a device are two objects.
        probed.objects.clear();
        for target in &probed.targets {
            let value = tree.read(&target.path, 4096);
            text.push_str(&format!("{} {value:?}\n", target.path));
        }
        text.push_str(&format!("{probed:#?}\n"));
    }
    text
}

/// Every file, link and directory below a path.
fn everything(root: &Path, at: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            into.insert(name, target.into_os_string().into_encoded_bytes());
        } else if meta.is_dir() {
            into.insert(name, Vec::new());
            everything(root, &path, into);
        } else {
            into.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn a_capture_of_a_capture_is_found_as_the_first_was() {
    let scratch = tempfile::tempdir().unwrap();
    for fixture in fixtures() {
        let name = fixture.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "restricted-pf" {
            // Its counters are left out on purpose; the next test is about it.
            continue;
        }
        let first = found(&open(&fixture).unwrap());
        // Each packing once; every node as a directory and in the packing that is recommended.
        let suffixes: &[_] = match name.as_str() {
            "roce-8x400-bond-vf" => &["", ".tar", ".tar.gz", ".tar.zst"],
            _ => &["", ".tar.zst"],
        };
        for suffix in suffixes {
            let out = scratch.path().join(format!("{name}{suffix}"));
            take(&kept(&out), &captured(&fixture), TIME).unwrap();
            let second = found(&open(&out).unwrap());
            assert!(first == second, "{name}{suffix}:\n{first}\n---\n{second}");
        }
    }
}

#[test]
fn counters_that_may_not_be_read_are_left_out_and_the_reason_is_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    planted(&node);
    let function = node.join("sys/devices/pci0000:00/0000:00:01.0");
    std::fs::write(function.join("vpd"), "SN-VPD-1 SMDL=SW_MNG more").unwrap();
    std::os::unix::fs::symlink(
        "../../../bus/pci/drivers/mlx5_core",
        function.join("driver"),
    )
    .unwrap();
    let out = scratch.path().join("out");
    take(&kept(&out), &captured(&node), TIME).unwrap();
    let tree = open(&out).unwrap();
    let base = "sys/devices/pci0000:00/0000:00:01.0";
    let vpd = tree.read(&format!("{base}/vpd"), 4096);
    assert_eq!(vpd, Ok(b"SMDL=SW_MNG".to_vec()));
    let port = format!("{base}/infiniband/ibx0c42a1030012abcd/ports/1");
    assert!(tree.exists(&format!("{port}/state")));
    assert!(!tree.exists(&format!("{port}/counters")));
}

#[test]
fn every_fault_comes_back_from_a_capture() {
    let scratch = tempfile::tempdir().unwrap();
    for fixture in fixtures() {
        let Ok(faults) = std::fs::read_to_string(fixture.join("faults.tsv")) else {
            continue;
        };
        let out = scratch.path().join(fixture.file_name().unwrap());
        take(&kept(&out), &captured(&fixture), TIME).unwrap();
        let (first, second) = (open(&fixture).unwrap(), open(&out).unwrap());
        let restricted = fixture.ends_with("restricted-pf");
        let paths = faults.lines().filter_map(|line| line.split('\t').next());
        for path in paths.filter(|path| path.starts_with("sys/") && first.exists(path)) {
            if restricted && path.contains("counters/") {
                continue;
            }
            assert_eq!(first.read(path, 4096), second.read(path, 4096), "{path}");
        }
    }
}

#[test]
fn no_planted_identity_is_anywhere_in_a_capture() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    planted(&node);
    let out = scratch.path().join("out");
    take(&args(&out), &captured(&node), TIME).unwrap();
    let mut all = BTreeMap::new();
    everything(&out, &out, &mut all);
    assert!(all.len() > 30, "{all:?}");
    for secret in SECRETS {
        for (path, bytes) in &all {
            let text = String::from_utf8_lossy(bytes).to_lowercase();
            let secret = secret.to_lowercase();
            assert!(
                !path.to_lowercase().contains(&secret),
                "{secret} in the name {path}"
            );
            assert!(!text.contains(&secret), "{secret} in {path}: {text}");
        }
    }
    assert!(all.contains_key("capture.json") && all.contains_key("faults.tsv"));
}

#[test]
fn stand_ins_agree_with_each_other_and_numbers_stay() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    planted(&node);
    let out = scratch.path().join("out.tar.zst");
    take(&args(&out), &captured(&node), TIME).unwrap();
    let tree = open(&out).unwrap();
    let text = |path: &str| String::from_utf8(tree.read(path, 4096).unwrap()).unwrap();
    let net = tree.list("sys/class/net").unwrap().remove(0);
    let rdma = tree.list("sys/class/infiniband").unwrap().remove(0);
    let base = format!("sys/class/net/{net}");
    let port = format!("sys/class/infiniband/{rdma}/ports/1");

    let mac = text(&format!("{base}/address")).trim().replace(':', "");
    assert_eq!(net, format!("enx{mac}"));
    assert!(mac.starts_with("0c42a1"), "{mac}");
    assert_eq!(text(&format!("{port}/gid_attrs/ndevs/0")).trim(), net);
    let guid = text(&format!("sys/class/infiniband/{rdma}/node_guid"));
    assert_eq!(rdma, format!("ibx{}", guid.trim().replace(':', "")));
    assert_eq!(guid.trim().replace(':', "")[10..], mac[6..]);
    let gid = text(&format!("{port}/gids/0"));
    assert!(gid.starts_with("fe80:0000:0000:0000:0e42:a1ff:fe"), "{gid}");
    assert_eq!(gid.trim().replace(':', "")[26..], mac[6..]);
    let mapped = text(&format!("{port}/gids/1"));
    assert!(
        mapped.starts_with("0000:0000:0000:0000:0000:ffff:0a"),
        "{mapped}"
    );
    assert_eq!(
        text(&format!("{port}/counters/port_xmit_data")),
        "123456789012\n"
    );
    assert_eq!(
        text(&format!("sys/class/infiniband/{rdma}/fw_ver")),
        "28.43.2026\n"
    );
    assert_eq!(text("sys/bus/pci/slots/1/address"), "0000:00:01\n");
    assert_eq!(text("proc/cmdline"), "iommu=pt\n");
    assert_eq!(text("proc/version"), "Linux version 6.12.95\n");
    let carrier = tree.read(&format!("{base}/carrier"), 64);
    assert_eq!(carrier, Err(FaultReason::InvalidArgument));
}

#[test]
fn a_capture_is_its_owner_s_and_replaces_nothing_unasked() {
    let scratch = tempfile::tempdir().unwrap();
    let node = captured(&fixtures()[0]);
    let out = scratch.path().join("node.tar.gz");
    take(&args(&out), &node, TIME).unwrap();
    let mode = std::fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let error = take(&args(&out), &node, TIME).unwrap_err();
    assert_eq!(error.reason, Reason::Output);
    assert!(error.message.contains("--force"), "{}", error.message);
    let force = Args {
        force: true,
        ..args(&out)
    };
    take(&force, &node, TIME).unwrap();

    let full = scratch.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("mine"), "x").unwrap();
    let force = Args {
        force: true,
        ..args(&full)
    };
    assert_eq!(
        take(&force, &node, TIME).unwrap_err().reason,
        Reason::Output
    );
    let names = std::fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(names, 2, "something was left behind");
}

#[test]
fn a_place_that_cannot_be_written_is_an_output_error() {
    let out = Path::new("/proc/nowhere/node.tar");
    let error = take(&args(out), &captured(&fixtures()[0]), TIME).unwrap_err();
    assert_eq!(error.reason, Reason::Output);
}

#[test]
fn a_device_that_hangs_costs_its_own_part_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    planted(&node);
    let stuck = "sys/devices/pci0000:00/0000:00:01.0/class\t-\t600000\n";
    std::fs::write(node.join("faults.tsv"), stuck).unwrap();
    let other = node.join("sys/devices/virtual/net/bond0");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("mtu"), "1500\n").unwrap();
    let link = node.join("sys/class/net/bond0");
    std::os::unix::fs::symlink("../../devices/virtual/net/bond0", link).unwrap();
    let out = scratch.path().join("out");
    take(&args(&out), &captured(&node), Duration::from_secs(2)).unwrap();
    let tree = open(&out).unwrap();
    assert_eq!(
        tree.read("sys/class/net/bond0/mtu", 64),
        Ok(b"1500\n".to_vec())
    );
    let stuck = tree.read("sys/devices/pci0000:00/0000:00:01.0/class", 64);
    assert_eq!(stuck, Err(FaultReason::Busy));
    let about = std::fs::read_to_string(out.join("capture.json")).unwrap();
    assert!(about.contains("did not answer in time"), "{about}");
}

#[test]
fn a_directory_s_faults_follow_the_file() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    planted(&node);
    let tree = open(&node).unwrap();
    let through_link = "sys/class/net/enx0c42a112abcd/address";
    assert!(tree.read(through_link, 64).is_ok());
    let faults = node.join("faults.tsv");
    std::fs::write(&faults, format!("{through_link}\tENODEV\n")).unwrap();
    let resolved = tree.resolve(through_link).unwrap();
    for path in [through_link, resolved.as_str()] {
        assert_eq!(tree.read(path, 64), Err(FaultReason::NoDevice), "{path}");
    }
    std::fs::remove_file(&faults).unwrap();
    assert!(tree.read(&resolved, 64).is_ok());
    std::fs::write(&faults, "junk\n").unwrap();
    let error = open(&node).unwrap_err().to_string();
    assert!(error.contains("faults.tsv line 1"), "{error}");
}

#[test]
fn a_capture_wakes_no_sleeping_function() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    take(&kept(&node), &captured(&fixtures_named("mlx5-2")), TIME).unwrap();
    let function = node.join("sys/bus/pci/devices/0000:41:00.0");
    let function = function.canonicalize().unwrap();
    std::fs::create_dir_all(function.join("power")).unwrap();
    std::fs::write(function.join("power/runtime_status"), "suspended\n").unwrap();
    let out = scratch.path().join("out");
    take(&kept(&out), &captured(&node), TIME).unwrap();
    let within = function.strip_prefix(node.canonicalize().unwrap()).unwrap();
    let mut read = BTreeMap::new();
    everything(&out, &out.join(within), &mut read);
    let woken: Vec<&String> = read
        .iter()
        .filter(|(path, content)| {
            let of_driver = path.contains("/infiniband/") || path.contains("/net/");
            let is_link = out.join(path).is_symlink();
            !is_link && !content.is_empty() && (of_driver || path.contains("_link_"))
        })
        .map(|(path, _)| path)
        .collect();
    assert!(woken.is_empty(), "{woken:?}");
    assert!(read.keys().any(|path| path.ends_with("/infiniband/mlx5_0")));
}

#[test]
fn a_card_that_refuses_its_error_counters_keeps_its_data_counters() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("node");
    take(&kept(&node), &captured(&fixtures_named("mlx5-2")), TIME).unwrap();
    let at = node
        .join("sys/class/infiniband/mlx5_0")
        .canonicalize()
        .unwrap();
    let at = at.strip_prefix(node.canonicalize().unwrap()).unwrap();
    let counters = at.join("ports/1/counters");
    let mut faults = std::fs::read_to_string(node.join("faults.tsv")).unwrap_or_default();
    for name in std::fs::read_dir(node.join(&counters)).unwrap() {
        let name = name.unwrap().file_name().into_string().unwrap();
        if !name.contains("_data") && !name.contains("packets") {
            faults.push_str(&format!("{}/{name}\tEINVAL\n", counters.display()));
        }
    }
    std::fs::write(node.join("faults.tsv"), faults).unwrap();
    let out = scratch.path().join("out");
    take(&kept(&out), &captured(&node), TIME).unwrap();
    let data = std::fs::read(out.join(&counters).join("port_xmit_data")).unwrap();
    assert_eq!(
        data,
        std::fs::read(node.join(&counters).join("port_xmit_data")).unwrap()
    );
    assert!(
        out.join(at)
            .join("ports/1/hw_counters/out_of_sequence")
            .is_file()
    );
}

fn fixtures_named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}
