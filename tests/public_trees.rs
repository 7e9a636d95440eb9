//! Parts of `/sys` of real machines, from public test data of other projects, read in place.
//!
//! They lie beside the project, not in it; where they are missing the test says so and ends. The
//! facts below were read off the trees with `cat`, and worked out by hand.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and wait for them"
)]

#[path = "node/exposition.rs"]
mod exposition;

use std::path::{Path, PathBuf};
use std::process::Command;

/// What must, and what must not, be found of a tree.
struct Facts {
    /// The archive's name.
    archive: &'static str,
    /// The node's directory in it.
    node: &'static str,
    /// Lines of the exposition.
    lines: &'static [&'static str],
    /// How many lines begin so.
    counts: &'static [(&'static str, usize)],
}

const TREES: [Facts; 5] = [
    Facts {
        archive: "h100-ndr-8hca-bond.tar.gz",
        node: ".",
        // port_rcv_data 230539874932483, port_xmit_data 230442669431839: four-byte words.
        lines: &[
            r#"railwatch_port_receive_bytes_total{device="mlx5_0",port="1"} 922159499729932"#,
            r#"railwatch_port_transmit_bytes_total{device="mlx5_9",port="1"} 921770677727356"#,
            r#"railwatch_port_transmit_wait_ticks_total{device="mlx5_4",port="1"} 2489603687"#,
            r#"railwatch_port_rate_bytes_per_second{device="mlx5_0",port="1"} 50000000000"#,
            r#"railwatch_port_rate_bytes_per_second{device="mlx5_bond_0",port="1"} 25000000000"#,
            r#"railwatch_port_excessive_buffer_overrun_errors_total{device="mlx5_8",port="1"} 15"#,
            r#"railwatch_reading_saturated{metric="railwatch_port_excessive_buffer_overrun_errors_total",device="mlx5_8",port="1"} 1"#,
            r#"railwatch_port_link_downed_total{device="mlx5_1",port="1"} 255"#,
        ],
        counts: &[
            ("railwatch_port_state_id{", 9),
            // One on each device, and mlx5_1's link_downed.
            ("railwatch_reading_saturated{", 10),
        ],
    },
    Facts {
        archive: "mlx5-mlx4-hfi1.tar.gz",
        node: ".",
        lines: &[
            r#"railwatch_port_receive_bytes_total{device="mlx5_0",port="1"} 72505381512"#,
            r#"railwatch_port_transmit_bytes_total{device="mlx4_0",port="2"} 106161427560"#,
            r#"railwatch_port_receive_packets_total{device="hfi1_0",port="1"} 638036947"#,
            r#"railwatch_port_transmit_wait_ticks_total{device="mlx4_0",port="1"} 3599"#,
            r#"railwatch_port_physical_state_id{device="mlx5_0",port="1"} 4"#,
            r#"railwatch_port_rate_bytes_per_second{device="mlx5_0",port="1"} 3125000000"#,
            r#"railwatch_port_rate_bytes_per_second{device="hfi1_0",port="1"} 12500000000"#,
            r#"railwatch_netdev_speed_bytes_per_second{netdev="eth0"} 125000000"#,
            r#"railwatch_netdev_carrier_down_total{netdev="eth0"} 1"#,
        ],
        counts: &[("railwatch_port_state_id{", 4)],
    },
    Facts {
        archive: "i40iw-mlx4-bond.tar.gz",
        node: ".",
        // Every counter of i40iw0 reads "N/A (no PMA)"; its rate is "10 Gb/sec (4X)".
        lines: &[
            r#"railwatch_port_state_id{device="i40iw0",port="1"} 4"#,
            r#"railwatch_port_rate_bytes_per_second{device="i40iw0",port="1"} 1250000000"#,
            r#"railwatch_port_transmit_bytes_total{device="mlx4_0",port="1"} 14933760"#,
            r#"railwatch_port_transmit_discards_total{device="mlx4_0",port="1"} 5"#,
            r#"railwatch_reading_saturated{metric="railwatch_port_transmit_wait_ticks_total",device="mlx4_0",port="1"} 1"#,
        ],
        counts: &[
            (r#"railwatch_port_symbol_errors_total{device="i40iw0""#, 0),
            (r#"railwatch_port_transmit_bytes_total{device="i40iw0""#, 0),
            ("railwatch_port_state_id{", 3),
        ],
    },
    Facts {
        archive: "two-socket-qib.tar.bz2",
        node: "40intel64-2g2n4c+pci",
        lines: &[
            r#"railwatch_port_state_id{device="qib0",port="1"} 4"#,
            r#"railwatch_port_rate_bytes_per_second{device="qib0",port="1"} 5000000000"#,
            r#"railwatch_pcie_link_speed_transfers_per_second{device="qib0"} 8000000000"#,
            r#"railwatch_pcie_link_width_lanes{device="qib0"} 4"#,
            r#"railwatch_netdev_receive_bytes_total{netdev="ib0"} 3629194973"#,
            r#"railwatch_netdev_up{netdev="eth0"} 1"#,
            r#"railwatch_netdev_up{netdev="eth1"} 0"#,
            r#"railwatch_netdev_speed_bytes_per_second{netdev="eth0"} 125000000"#,
        ],
        counts: &[
            ("railwatch_netdev_up{", 5),
            (r#"railwatch_netdev_carrier{netdev="eth1""#, 0),
        ],
    },
    Facts {
        archive: "two-socket-8accelerators-2hca.tar.bz2",
        node: "32intel64-2p8co2t+8ve",
        // Two ConnectX functions are bound to mlx5_core and have neither netdev nor RDMA device.
        lines: &[
            r#"railwatch_device_skipped{device="0000:1a:00.0",reason="moved"} 1"#,
            r#"railwatch_device_skipped{device="0000:3e:00.0",reason="moved"} 1"#,
            r#"railwatch_netdev_up{netdev="enp96s0f0"} 1"#,
            r#"railwatch_netdev_up{netdev="enp96s0f1"} 0"#,
            r#"railwatch_pcie_link_width_lanes{device="enp96s0f0"} 1"#,
            r#"railwatch_pcie_link_speed_transfers_per_second{device="enp96s0f1"} 2500000000"#,
        ],
        counts: &[("railwatch_device_skipped{", 2)],
    },
];

/// The trees' directory, beside the project.
fn trees() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/trees/public")
}

/// Unpacks an archive; an error says why it can't be.
fn unpack(archive: &Path, to: &Path) -> Result<(), String> {
    let out = Command::new("tar")
        .arg("xf")
        .arg(archive)
        .arg("-C")
        .arg(to)
        .output()
        .map_err(|error| format!("cannot start tar: {error}"))?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if out.status.success() {
        Ok(())
    } else {
        Err(said)
    }
}

#[test]
fn the_public_trees_say_what_their_files_say() {
    let mut wrong = Vec::new();
    for facts in &TREES {
        let archive = trees().join(facts.archive);
        if !archive.is_file() {
            eprintln!("SKIPPED: {} is not there", archive.display());
            continue;
        }
        let temp = tempfile::tempdir().unwrap();
        if let Err(why) = unpack(&archive, temp.path()) {
            eprintln!("SKIPPED: cannot unpack {}: {why}", archive.display());
            continue;
        }
        let got = match exposition::of_node(&temp.path().join(facts.node)) {
            Ok(got) => got,
            Err(why) => {
                wrong.push(format!("{}: {why}", facts.archive));
                continue;
            }
        };
        let missing = facts
            .lines
            .iter()
            .filter(|line| !got.lines().any(|l| l == **line));
        wrong.extend(missing.map(|line| format!("{}: no line {line}", facts.archive)));
        for (prefix, count) in facts.counts {
            let found = got.lines().filter(|line| line.starts_with(prefix)).count();
            if found != *count {
                wrong.push(format!(
                    "{}: {found} lines {prefix}, not {count}",
                    facts.archive
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
