//! Commands beside a running daemon, or beside something that is none.

use std::os::unix::net::UnixListener;

use rustix::process::Signal;

use crate::binary::{Running, Said, railwatch, said};

#[test]
fn metrics_come_from_the_daemon_with_their_age() {
    let mut running = Running::start("");
    let metrics = running.said(&["metrics"]);
    assert_eq!(metrics.code, Some(0), "{metrics:?}");
    assert!(metrics.out.contains("railwatch_port_info{device=\"efa_0\""));
    assert!(metrics.out.contains("railwatch_source_success{"));
    assert!(
        metrics.err.starts_with("railwatch: read by the daemon ")
            && metrics.err.ends_with(" s ago\n"),
        "{}",
        metrics.err
    );
    let without = running.said(&["metrics", "--web.disable-exporter-metrics"]);
    assert!(without.out.contains("railwatch_port_info{device=\"efa_0\""));
    assert!(!without.out.contains("railwatch_source_success"));
    let document = running.said(&["metrics", "--output", "json"]);
    assert!(
        document.out.starts_with("{\"schema\":\"railwatch-node/1\""),
        "{document:?}"
    );
    let elsewhere = running.said(&["metrics", "--web.telemetry-path", "/elsewhere"]);
    assert_eq!(elsewhere.code, Some(69));
    assert!(elsewhere.err.contains("answered 404"), "{elsewhere:?}");
    let other = running.said(&["metrics", "--node", "tests/fixtures/empty-host"]);
    assert_eq!((other.code, other.err.as_str()), (Some(0), ""));
    assert!(!other.out.contains("efa_0"), "{}", other.out);
    assert_eq!(running.end(Signal::TERM), Some(0));
}

#[test]
fn a_reload_is_answered_with_what_is_wrong() {
    let mut running = Running::start("[lanes]\nslow_seconds = 20\n");
    let reloaded = running.said(&["reload"]);
    assert_eq!(reloaded.code, Some(0), "{reloaded:?}");
    assert_eq!(reloaded.out, "reloaded\n");
    std::fs::write(running.file(), "[lanes]\nslow_secs = 20\n").unwrap();
    let reloaded = running.said(&["reload"]);
    assert_eq!(reloaded.code, Some(0), "{reloaded:?}");
    let wrong = format!(
        "{}:2 lanes.slow_secs: unknown key, did you mean lanes.slow_seconds\n",
        running.file().display()
    );
    assert!(reloaded.out.ends_with(&wrong), "{reloaded:?}");
    std::fs::write(running.file(), "[lanes\n").unwrap();
    let refused = running.said(&["reload"]);
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert!(refused.err.contains(":1: not TOML: "), "{refused:?}");
    std::fs::remove_file(running.file()).unwrap();
    let refused = running.said(&["reload"]);
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert!(refused.err.contains("No such file"), "{refused:?}");
    assert_eq!(running.end(Signal::INT), Some(0));
}

#[test]
fn a_daemon_starts_with_a_wrong_configuration_and_says_so() {
    for (config, parts) in [
        (
            "[web]\nmax_conections = 3\n",
            &["did you mean web.max_connections"][..],
        ),
        (
            "[web\n",
            &["not TOML", "nothing of the configuration file is used"],
        ),
    ] {
        let running = Running::start(config);
        for part in parts {
            assert!(running.log().contains(part), "{}", running.log());
        }
        let metrics = running.said(&["metrics"]);
        assert!(
            metrics.out.contains("\nrailwatch_config_problems 1\n"),
            "{metrics:?}"
        );
    }
}

#[test]
fn a_reload_changes_the_level_of_the_log() {
    let mut running = Running::start("[log]\nlevel = \"error\"\n");
    assert_eq!(running.said(&["metrics"]).code, Some(0));
    assert_eq!(running.log(), "");
    std::fs::write(running.file(), "[log]\nlevel = \"info\"\n").unwrap();
    assert_eq!(running.said(&["reload"]).code, Some(0));
    assert_eq!(running.end(Signal::TERM), Some(0));
    assert!(running.log().contains("stopping"), "{}", running.log());
}

#[test]
fn the_log_is_json_where_that_is_wanted() {
    let running = Running::start("[log]\nformat = \"json\"\n");
    let metrics = running.said(&["metrics"]);
    assert_eq!(metrics.code, Some(0));
    let log = running.log();
    assert!(!log.is_empty());
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line.get("message").is_some(), "{line}");
    }
}

#[test]
fn a_second_daemon_on_an_address_says_so() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = said(&[
        "run",
        "--web.listen-address",
        &address,
        "--node",
        "tests/fixtures/empty-host",
    ]);
    assert_eq!(said.code, Some(69), "{said:?}");
    assert!(said.err.contains("in use by"), "{said:?}");
}

#[test]
fn what_does_not_answer_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let _silent = UnixListener::bind(dir.path().join("api.sock")).unwrap();
    for arguments in [
        ["metrics", "--timeout", "300ms"],
        ["reload", "--timeout", "300ms"],
    ] {
        let mut command = railwatch(&arguments);
        command.env("RAILWATCH__PATH__RUNTIME", dir.path());
        let said = Said::of(&command.output().unwrap());
        assert_eq!(said.code, Some(69), "{said:?}");
        assert!(said.err.contains("did not answer within 300ms"), "{said:?}");
        assert_eq!(said.out, "");
    }
}

#[test]
fn without_a_daemon_metrics_are_read_and_a_reload_fails() {
    let metrics = said(&["metrics", "--path.sysfs", "tests/fixtures/efa-4/sys"]);
    assert_eq!(metrics.code, Some(0), "{metrics:?}");
    assert!(metrics.out.contains("efa_0"), "{}", metrics.out);
    let reload = said(&["reload"]);
    assert_eq!((reload.code, reload.out.as_str()), (Some(69), ""));
    assert_eq!(
        reload.err,
        "railwatch: no daemon answers at /nonexistent/api.sock: No such file or directory (os error 2)\n"
    );
}
