//! The daemon as a process: what happens to the rest when a reader dies, hangs or lies.
//!
//! What is claimed of processes is read from `/proc`, not from our own log.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test starts processes and ends at the first surprise"
)]

#[path = "daemon/missing.rs"]
mod missing;
#[path = "daemon/process.rs"]
mod process;

use std::fs;
use std::time::Duration;

use process::{Daemon, alive, fixture, start_time, until};
use rustix::process::{Pid, Signal, kill_process};

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A reader that is not the one before, by pid or by the time it was started.
fn fresh_reader(daemon: &Daemon, before: (u32, u64)) -> u32 {
    until("a fresh reader", || {
        let pid = daemon.reader()?;
        ((pid, start_time(pid)?) != before).then_some(pid)
    })
}

fn samples_without_own(text: &str) -> Vec<String> {
    let own = |line: &&str| {
        !line.contains("railwatch_source_")
            && !line.contains("railwatch_process_")
            && !line.contains("railwatch_polls_")
            && !line.contains("railwatch_read_faults_")
            && !line.contains("railwatch_finding_")
            && !line.contains("railwatch_detector_")
    };
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter(own)
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_killed_reader_is_replaced_and_nobody_notices() {
    let daemon = Daemon::on(&fixture("mlx5-2"));
    let before = samples_without_own(&daemon.metrics());
    assert!(
        before
            .iter()
            .any(|line| line.starts_with("railwatch_port_receive_bytes_total"))
    );
    let reader = until("a reader", || daemon.reader());
    let known = (reader, start_time(reader).unwrap());
    signal(reader, Signal::KILL);
    fresh_reader(&daemon, known);
    until("the same exposition", || {
        (samples_without_own(&daemon.metrics()) == before).then_some(())
    });
    let restarts = "railwatch_source_restarts_total{source=\"infiniband\"} 1";
    until("the restart's count", || {
        daemon.metrics().contains(restarts).then_some(())
    });
}

#[test]
fn a_stopped_reader_is_replaced() {
    let daemon = Daemon::with(
        &fixture("mlx5-2"),
        &[("RAILWATCH__READER__DEADLINE_SECONDS", "1")],
    );
    let before = samples_without_own(&daemon.metrics());
    let reader = until("a reader", || daemon.reader());
    let known = (reader, start_time(reader).unwrap());
    signal(reader, Signal::STOP);
    fresh_reader(&daemon, known);
    until("the same exposition", || {
        (samples_without_own(&daemon.metrics()) == before).then_some(())
    });
    until("the end of the stopped one", || {
        (!alive(reader)).then_some(())
    });
}

#[test]
fn no_reader_survives_its_daemon() {
    let mut daemon = Daemon::on(&fixture("mlx5-2"));
    let reader = until("a reader", || daemon.reader());
    daemon.kill();
    until("the reader's end", || (!alive(reader)).then_some(()));
}

#[test]
fn a_daemon_starts_again_on_its_port_while_its_old_reader_hangs() {
    let mut daemon = Daemon::on(&fixture("mlx5-2"));
    let (reader, address) = (until("a reader", || daemon.reader()), daemon.address());
    signal(reader, Signal::STOP);
    daemon.terminate();
    let again = Daemon::at(&fixture("mlx5-2"), &address, &[]);
    assert!(
        again
            .metrics()
            .contains("railwatch_port_receive_bytes_total")
    );
    until("the old reader's end", || (!alive(reader)).then_some(()));
}

#[test]
fn the_serving_process_holds_nothing_of_the_node() {
    let daemon = Daemon::on(&fixture("mlx5-2"));
    daemon.metrics();
    for entry in fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap() {
        let target = fs::read_link(entry.unwrap().path()).unwrap_or_default();
        let target = target.to_string_lossy().into_owned();
        assert!(
            !target.contains("mlx5-2") && !target.starts_with("/sys"),
            "open: {target}"
        );
    }
}

#[test]
fn a_reader_holds_only_its_pipes_and_what_it_reads() {
    let daemon = Daemon::on(&fixture("mlx5-2"));
    daemon.metrics();
    let reader = until("a reader", || daemon.reader());
    for entry in fs::read_dir(format!("/proc/{reader}/fd")).unwrap() {
        let target = fs::read_link(entry.unwrap().path()).unwrap_or_default();
        let target = target.to_string_lossy().into_owned();
        let own = ["/dev/null", ""].contains(&target.as_str())
            || target.starts_with("pipe:")
            || target.contains("/tests/fixtures/");
        assert!(own, "a reader holds {target}");
    }
}

#[test]
fn a_change_of_the_node_is_seen() {
    let node = process::copy_of("mlx5-2");
    let daemon = Daemon::on(node.path());
    daemon.metrics();
    let port = node.path().join("sys/class/infiniband/mlx5_0/ports/1");
    let file = port.join("counters/symbol_error");
    fs::write(&file, "4242\n").unwrap();
    until("the changed counter", || {
        let text = daemon.metrics();
        let line = text.lines().find(|line| {
            line.starts_with("railwatch_port_symbol_errors_total{device=\"mlx5_0\"")
        })?;
        // Our sum goes on from where it was: a lower number is a counter that began again.
        (!line.ends_with(" 0")).then_some(())
    });
    fs::write(port.join("state"), "1: DOWN\n").unwrap();
    until("the port's state", || {
        daemon
            .metrics()
            .contains("railwatch_port_state_id{device=\"mlx5_0\",port=\"1\"} 1")
            .then_some(())
    });
    let text = daemon.metrics();
    assert!(
        !text.contains("railwatch_port_rate_bytes_per_second{device=\"mlx5_0\""),
        "a down port has no rate"
    );
    assert!(text.contains("railwatch_port_rate_bytes_per_second{device=\"mlx5_1\""));
}

#[test]
fn a_device_that_vanishes_is_absent_and_the_rest_stays() {
    let node = process::copy_of("mlx5-2");
    let daemon = Daemon::on(node.path());
    assert!(daemon.metrics().contains("device=\"mlx5_0\""));
    fs::remove_file(node.path().join("sys/class/infiniband/mlx5_0")).unwrap();
    let text = until("its absence", || {
        let text = daemon.metrics();
        (!text.contains("device=\"mlx5_0\"")).then_some(text)
    });
    assert!(text.contains("railwatch_port_receive_bytes_total{device=\"mlx5_1\""));
}

#[test]
fn a_restricted_function_is_learnt_once_a_boot() {
    let node = process::copy_of("restricted-pf");
    let state = tempfile::tempdir().unwrap();
    let skipped = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| line.contains("reason=\"restricted\""));
        lines.map(str::to_owned).collect()
    };
    let mut daemon = Daemon::seeing(node.path(), state.path());
    let first = until("the restricted functions", || {
        Some(skipped(&daemon.metrics())).filter(|lines| !lines.is_empty())
    });
    assert_eq!(daemon.terminate(), Some(0));
    // From here on the functions look ordinary; asked again, they would be read.
    for device in fs::read_dir(node.path().join("sys/class/infiniband")).unwrap() {
        let vpd = device.unwrap().path().join("device/vpd");
        if vpd.exists() {
            fs::write(vpd, "SMDL=ORDINARY").unwrap();
        }
    }
    let daemon = Daemon::seeing(node.path(), state.path());
    assert_eq!(skipped(&daemon.metrics()), first, "it was asked again");
    let fresh = tempfile::tempdir().unwrap();
    let daemon = Daemon::seeing(node.path(), fresh.path());
    assert_ne!(
        skipped(&daemon.metrics()),
        first,
        "the mark is not what it was learnt from"
    );
}

#[test]
fn a_reader_with_few_descriptors_reads_as_much() {
    let sysfs = fixture("roce-8x400-bond-vf").join("sys");
    let read = |limit: &str| {
        let script = format!(
            "ulimit -n {limit}; exec \"$0\" metrics --direct --web.disable-exporter-metrics --path.sysfs=\"$1\""
        );
        let out = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_railwatch")])
            .arg(&sysfs)
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let plenty = read("4096");
    assert!(plenty.lines().count() > 1000);
    assert_eq!(read("64"), plenty);
}

#[test]
fn a_signal_drains_and_ends_with_zero() {
    let mut daemon = Daemon::on(&fixture("mlx5-2"));
    daemon.metrics();
    assert_eq!(daemon.terminate(), Some(0));
}

#[test]
fn a_second_signal_does_not_wait_and_says_so() {
    let mut daemon = Daemon::on(&fixture("mlx5-2"));
    daemon.metrics();
    // A request that is being answered would have the whole grace.
    let mut half = std::net::TcpStream::connect(daemon.address()).unwrap();
    std::io::Write::write_all(&mut half, b"GET /metrics HTTP/1.1\r\n").unwrap();
    signal(daemon.pid(), Signal::INT);
    let code = daemon.terminate();
    assert!(matches!(code, Some(130 | 0)), "{code:?}");
}

#[test]
fn a_node_that_cannot_be_read_any_more_is_not_ready_and_says_why() {
    let node = process::copy_of("mlx5-2");
    let daemon = Daemon::on(node.path());
    daemon.metrics();
    assert_eq!(daemon.get("/-/ready"), "ready\n");
    fs::rename(node.path().join("sys"), node.path().join("gone")).unwrap();
    until("not ready", || daemon.status("/-/ready", 503).then_some(()));
    assert!(daemon.get("/").contains("This node cannot be read"));
    until("no success", || {
        let text = daemon.metrics();
        let failed = "railwatch_source_success{source=\"infiniband\"} 0";
        text.contains(failed).then_some(())
    });
    fs::rename(node.path().join("gone"), node.path().join("sys")).unwrap();
    until("ready again", || {
        daemon.status("/-/ready", 200).then_some(())
    });
}

#[test]
fn one_device_that_hangs_stalls_its_own_source_only() {
    let node = process::copy_of("mlx5-2");
    let faults = node.path().join("faults.tsv");
    let mut text = fs::read_to_string(&faults).unwrap_or_default();
    let hangs = fs::canonicalize(node.path().join("sys/class/infiniband/mlx5_0")).unwrap();
    let hangs = hangs
        .strip_prefix(fs::canonicalize(node.path()).unwrap())
        .unwrap();
    text.push_str(&format!("{}/node_type\t-\t600000\n", hangs.display()));
    fs::write(&faults, text).unwrap();
    let deadline = [("RAILWATCH__READER__DEADLINE_SECONDS", "1")];
    let daemon = Daemon::with(node.path(), &deadline);
    until("a stall", || {
        let text = daemon.metrics();
        text.contains("railwatch_source_stalled{source=\"infiniband\"} 1")
            .then_some(())
    });
    let text = daemon.metrics();
    assert!(text.contains("railwatch_source_stalled{source=\"netdev\"} 0"));
    assert!(daemon.get("/").contains("Devices that do not answer: 1."));
}

#[test]
fn a_daemon_says_when_it_is_ready_and_when_it_stops() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut daemon = Daemon::with(
        &fixture("mlx5-2"),
        &[
            ("NOTIFY_SOCKET", path.to_str().unwrap()),
            ("WATCHDOG_USEC", "2000000"),
        ],
    );
    let said = |wanted: &str| {
        let mut buffer = [0; 4096];
        loop {
            let count = socket.recv(&mut buffer).unwrap();
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            if text.lines().any(|line| line.starts_with(wanted)) {
                break;
            }
        }
    };
    said("READY=1");
    said("WATCHDOG=1");
    signal(daemon.pid(), Signal::HUP);
    said("RELOADING=1");
    said("READY=1");
    assert_eq!(daemon.terminate(), Some(0));
    said("STOPPING=1");
}
