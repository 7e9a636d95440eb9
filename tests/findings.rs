//! From a port that goes down to everyone who must hear of it: metrics, API, commands, exit codes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test starts processes and ends at the first surprise"
)]
#![expect(
    dead_code,
    reason = "the daemon of other tests has more than this one needs"
)]

#[path = "daemon/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use process::{Daemon, copy_of, until};
use serde_json::Value;

/// A second is forty: what takes a minute takes one and a half seconds.
const HURRIED: &str = "--test.clock-factor=40";
const PATIENT: [(&str, &str); 1] = [("RAILWATCH__READER__DEADLINE_SECONDS", "600")];
const DOWN: &str = "railwatch_finding_severity{finding=\"link_down\",subject=\"mlx5_0\"}";

/// What a command came to.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

fn said(runtime: &Path, arguments: &[&str]) -> Said {
    let out = Command::new(env!("CARGO_BIN_EXE_railwatch"))
        .args(arguments)
        .env("RAILWATCH__PATH__RUNTIME", runtime)
        .env("RAILWATCH__PATH__STATE", runtime.join("none"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said {
        code: out.status.code().unwrap(),
        out: String::from_utf8(out.stdout).unwrap(),
        err: String::from_utf8(out.stderr).unwrap(),
    }
}

/// Files that say whether the first port of mlx5-2 has a link.
fn link_files(node: &Path) -> Vec<(PathBuf, &'static str, &'static str)> {
    let port = node.join("sys/class/infiniband/mlx5_0/ports/1");
    let netdev = node.join("sys/class/net/ens1np0");
    vec![
        (port.join("state"), "4: ACTIVE\n", "1: DOWN\n"),
        (port.join("phys_state"), "5: LinkUp\n", "3: Disabled\n"),
        (netdev.join("carrier"), "1\n", "0\n"),
        (netdev.join("operstate"), "up\n", "down\n"),
    ]
}

fn put_link(node: &Path, up: bool) {
    for (path, when_up, when_down) in link_files(node) {
        fs::write(path, if up { when_up } else { when_down }).unwrap();
    }
}

/// The value of a sample, if it is there.
fn sample(daemon: &Daemon, name: &str) -> Option<String> {
    let text = daemon.metrics();
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}

fn findings(daemon: &Daemon) -> Value {
    serde_json::from_str(&daemon.get("/api/v1/findings")).unwrap()
}

#[test]
fn a_port_that_goes_down_is_told_everywhere_and_gone_when_it_is_back() {
    let node = copy_of("mlx5-2");
    put_link(node.path(), true);
    let runtime = tempfile::tempdir().unwrap();
    let mut environment = PATIENT.to_vec();
    environment.push(("RAILWATCH__PATH__RUNTIME", runtime.path().to_str().unwrap()));
    let daemon = Daemon::hurried(node.path(), HURRIED, &environment);
    let at = runtime.path();
    until("a healthy node", || {
        (said(at, &["check", "link"]).code == 0).then_some(())
    });
    assert_eq!(sample(&daemon, DOWN), None);
    let raised = "railwatch_finding_raised_total{finding=\"link_down\"}";
    assert_eq!(sample(&daemon, raised).as_deref(), Some("0"));

    put_link(node.path(), false);
    until("a finding", || {
        (sample(&daemon, DOWN)? == "3").then_some(())
    });
    assert_eq!(sample(&daemon, raised).as_deref(), Some("1"));
    let document = findings(&daemon);
    let finding = document.pointer("/findings/0").unwrap();
    assert_eq!(finding.get("code").unwrap(), "link_down");
    assert_eq!(finding.get("state").unwrap(), "active");
    assert_eq!(finding.pointer("/identity/pci").unwrap(), "0000:41:00.0");
    assert!(
        finding
            .get("since")
            .unwrap()
            .as_str()
            .unwrap()
            .ends_with('Z')
    );

    everyone_is_told(at);
    maintenance_and_silence_are_heeded(at, &daemon);

    put_link(node.path(), true);
    until("the end of it", || {
        let document = findings(&daemon);
        (document.pointer("/findings/0/state")? == "cleared").then_some(())
    });
    assert_eq!(sample(&daemon, DOWN), None, "it was silenced to its end");
}

/// What the commands say of a port that is down.
fn everyone_is_told(at: &Path) {
    let check = said(at, &["check"]);
    assert_eq!(check.code, 2, "{check:?}");
    assert!(check.out.starts_with("CRITICAL link_down mlx5_0 "));
    assert!(check.out.contains("next: "));
    assert!(check.err.contains("read by the daemon"));
    assert_eq!(said(at, &["check", "pcie"]).code, 0);
    assert_eq!(
        said(at, &["check", "roce"]).code,
        3,
        "nothing judges it yet"
    );
    let critical = said(at, &["check", "--fail-on", "critical", "roce"]);
    assert_eq!(critical.code, 0);
    let json = said(at, &["check", "--output", "json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json.get("exit").unwrap(), 2);
    assert_eq!(json.pointer("/areas/link/status").unwrap(), "critical");
    let gate = said(at, &["check", "--for", "slurm"]);
    assert_eq!(gate.code, 1);
    assert_eq!(gate.out.lines().count(), 1);
    let ticket = said(at, &["findings", "--ticket"]);
    assert!(ticket.out.contains("PCI 0000:41:00.0"), "{ticket:?}");
    let doctor = said(at, &["doctor"]);
    assert!(doctor.out.contains("link_down mlx5_0 full"), "{doctor:?}");
}

fn maintenance_and_silence_are_heeded(at: &Path, daemon: &Daemon) {
    let maintenance = said(
        at,
        &["maintenance", "on", "--for", "2h", "--reason", "cable"],
    );
    assert_eq!(maintenance.code, 0, "{maintenance:?}");
    until("severity capped at info", || {
        (sample(daemon, DOWN)? == "1").then_some(())
    });
    assert_eq!(
        sample(daemon, "railwatch_maintenance").as_deref(),
        Some("1")
    );
    assert_eq!(said(at, &["maintenance", "off"]).code, 0);
    until("severity as it is", || {
        (sample(daemon, DOWN)? == "3").then_some(())
    });

    let silence = said(at, &["silence", "link_down", "mlx5_0", "--for", "1h"]);
    assert_eq!(silence.code, 0, "{silence:?}");
    until("silence", || sample(daemon, DOWN).is_none().then_some(()));
    assert_eq!(said(at, &["check"]).code, 0);
    let silenced = findings(daemon);
    assert_eq!(silenced.pointer("/findings/0/state").unwrap(), "silenced");
}

#[test]
fn only_what_must_keep_jobs_off_drains_a_node() {
    // Warning: one port slower than its siblings, by the eyes of a command that looks itself.
    let node = copy_of("ib-8xndr");
    let rate = node.path().join("sys/class/infiniband/mlx5_4/ports/1/rate");
    fs::write(&rate, "200 Gb/sec (4X HDR)\n").unwrap();
    // The two ports that are down in this node are up.
    for device in ["mlx5_6", "mlx5_7"] {
        let port = node
            .path()
            .join(format!("sys/class/infiniband/{device}/ports/1"));
        for (file, text) in [
            ("state", "4: ACTIVE\n"),
            ("phys_state", "5: LinkUp\n"),
            ("rate", "400 Gb/sec (4X NDR)\n"),
        ] {
            fs::write(port.join(file), text).unwrap();
        }
    }
    let runtime = tempfile::tempdir().unwrap();
    let path = node.path().to_str().unwrap();
    let ask = |extra: &[&str]| {
        let mut arguments = vec!["check", "--node", path];
        arguments.extend(extra);
        said(runtime.path(), &arguments)
    };
    let plain = ask(&[]);
    assert_eq!(plain.code, 2, "half the rate is critical: {plain:?}");
    let slurm = ask(&["--for", "slurm"]);
    assert_eq!((slurm.code, slurm.out.as_str()), (0, ""), "it is no gate");
    assert!(slurm.err.contains("not draining"));
    // Not knowing, no daemon and no node are no reasons either.
    let unknown = ask(&["roce", "--for", "slurm"]);
    assert_eq!(unknown.code, 0);
    let nothing = said(
        runtime.path(),
        &["check", "--node", "/nonexistent", "--for", "slurm"],
    );
    assert_eq!(nothing.code, 0);
    assert!(nothing.err.contains("not draining"));
    assert_eq!(
        said(runtime.path(), &["check", "--bogus", "--for", "slurm"]).code,
        64
    );
}

#[test]
fn a_wrong_request_is_refused_with_what_would_be_right() {
    let runtime = tempfile::tempdir().unwrap();
    let environment = [("RAILWATCH__PATH__RUNTIME", runtime.path().to_str().unwrap())];
    let _daemon = Daemon::with(&process::fixture("mlx5-2"), &environment);
    let at = runtime.path();
    for (arguments, part) in [
        (&["silence", "no_such_code"][..], "there is no finding"),
        (&["silence", "link_down", "--for", "48h"], "up to a day"),
        (&["maintenance", "on", "--for", "25h"], "up to a day"),
    ] {
        let said = said(at, arguments);
        assert_eq!(said.code, 64, "{arguments:?} {said:?}");
        assert!(said.err.contains(part), "{said:?}");
    }
    assert_eq!(said(at, &["findings", "77"]).code, 69);
    for arguments in [
        &["check", "nonsense"][..],
        &["check", "--fail-on", "never"],
        &["check", "--for", "pbs"],
        &["findings", "x"],
        &["doctor", "--bogus"],
        &["silence"],
        &["maintenance"],
        &["maintenance", "on", "--for", "soon"],
    ] {
        assert_eq!(said(at, arguments).code, 64, "{arguments:?}");
    }
}

#[test]
fn an_open_finding_survives_a_restart_as_open_and_is_not_raised_twice() {
    let node = copy_of("mlx5-2");
    put_link(node.path(), true);
    let kept = tempfile::tempdir().unwrap();
    let expect = kept.path().join("expect.toml");
    let path = node.path().to_str().unwrap();
    let file = said(kept.path(), &["expect", "--from-this-node", "--node", path]);
    assert!(file.out.contains("[[node.nic.port]]"), "{file:?}");
    fs::write(&expect, file.out).unwrap();
    let state = kept.path().join("state");
    let mut environment = PATIENT.to_vec();
    environment.push(("RAILWATCH__PATH__STATE", state.to_str().unwrap()));
    environment.push(("RAILWATCH__PATH__EXPECT", expect.to_str().unwrap()));
    // Never seen up by any daemon: the file alone expects it.
    put_link(node.path(), false);
    let sysfs = format!("--path.sysfs={}", node.path().join("sys").display());
    let start = || Daemon::start(&[&sysfs, HURRIED], "127.0.0.1:0", &environment);
    let mut daemon = start();
    until("a finding", || {
        (sample(&daemon, DOWN)? == "3").then_some(())
    });
    let before = findings(&daemon);
    let first = before.pointer("/findings/0").unwrap();
    let evidence = first.get("evidence").unwrap().to_string();
    assert!(evidence.contains("the expectation file"), "{evidence}");
    assert_eq!(daemon.terminate(), Some(0));
    let daemon = start();
    until("the finding again", || sample(&daemon, DOWN));
    let after = findings(&daemon);
    for part in ["/findings/0/id", "/findings/0/since", "/findings/0/state"] {
        assert_eq!(before.pointer(part), after.pointer(part), "{part}");
    }
    let raised = "railwatch_finding_raised_total{finding=\"link_down\"}";
    assert_eq!(sample(&daemon, raised).as_deref(), Some("0"));
    put_link(node.path(), true);
    until("the end of it", || {
        let document = findings(&daemon);
        (document.pointer("/findings/0/state")? == "cleared").then_some(())
    });
}

/// The prolog's code with this runtime directory and this program first in the path.
fn prolog(runtime: &Path, programs: &Path) -> i32 {
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/slurm/50-railwatch.sh");
    Command::new("sh")
        .arg(script)
        .env("PATH", path)
        .env("RAILWATCH__PATH__RUNTIME", runtime)
        .env("RAILWATCH__PATH__STATE", runtime.join("none"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap()
        .code()
        .unwrap()
}

/// A directory with a program called railwatch that does this.
fn program(text: &str) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("railwatch");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

#[test]
fn the_slurm_prolog_drains_for_a_gate_and_for_nothing_else() {
    let node = copy_of("mlx5-2");
    put_link(node.path(), true);
    let runtime = tempfile::tempdir().unwrap();
    let at = runtime.path();
    let mut environment = PATIENT.to_vec();
    environment.push(("RAILWATCH__PATH__RUNTIME", at.to_str().unwrap()));
    let expect = at.join("expect.toml");
    let path = node.path().to_str().unwrap();
    let file = said(at, &["expect", "--from-this-node", "--node", path]);
    fs::write(&expect, file.out).unwrap();
    environment.push(("RAILWATCH__PATH__EXPECT", expect.to_str().unwrap()));
    let real = program(&format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_railwatch")));
    assert_eq!(prolog(at, real.path()), 0, "no daemon");
    let mut daemon = Daemon::hurried(node.path(), HURRIED, &environment);
    until("a healthy node", || {
        (said(at, &["check", "link"]).code == 0).then_some(())
    });
    assert_eq!(prolog(at, real.path()), 0, "ok");
    // Half the PCIe lanes: critical, and no gate.
    let width = fs::canonicalize(node.path().join("sys/bus/pci/devices/0000:41:00.0")).unwrap();
    let width = width.join("current_link_width");
    let whole = fs::read(&width).unwrap();
    fs::write(&width, "8\n").unwrap();
    until("a critical finding that is no gate", || {
        (said(at, &["check"]).code == 2).then_some(())
    });
    assert_eq!(prolog(at, real.path()), 0, "critical and no gate");
    // A card with other lanes than it had: a warning at most.
    fs::write(&width, "12\n").unwrap();
    assert_eq!(prolog(at, real.path()), 0, "warning");
    fs::write(&width, whole).unwrap();
    put_link(node.path(), false);
    until("a gate", || (prolog(at, real.path()) == 1).then_some(()));
    daemon.kill();
    assert_eq!(prolog(at, real.path()), 0, "the daemon is gone");
    for (text, what) in [
        ("exit 3", "unknown"),
        ("exit 70", "broken"),
        ("kill -9 $$", "killed"),
        ("sleep 600", "hanging"),
    ] {
        let odd = program(text);
        assert_eq!(prolog(at, odd.path()), 0, "{what}");
    }
    let none = tempfile::tempdir().unwrap();
    assert_eq!(prolog(at, none.path()), 0, "not installed");
}
