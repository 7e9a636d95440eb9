//! Codes and output of commands that end at once.

use std::fs::File;
use std::process::Stdio;

use crate::binary::{Said, railwatch, said};

#[test]
fn a_wrong_command_line_ends_with_64() {
    for arguments in [
        &[][..],
        &["bogus"],
        &["config"],
        &["metrics", "--bogus"],
        &["metrics", "--timeout", "soon"],
        &["metrics", "--output", "xml"],
        &["metrics", "--log.level", "inof"],
        &["metrics", "--log.format", "xml"],
        &["metrics", "--path.sysfs", ""],
        &["run", "--web.listen-address", "nothing"],
        &["run", "--web.telemetry-path", "metrics"],
        &["run", "--test.clock-factor", "0"],
        &["capture", "--out", "-"],
        &["capture", "--out", "node.zip"],
        &["capture", "--out", "node.tar.xz"],
    ] {
        let said = said(arguments);
        assert_eq!(said.code, Some(64), "{arguments:?} {said:?}");
        assert_eq!(said.out, "", "{arguments:?}");
        assert!(!said.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_opened_ends_with_66() {
    for arguments in [
        &["metrics", "--node", "no/such/node"][..],
        &["run", "--node", "no/such/node"],
        &["metrics", "--node", "Cargo.toml"],
        &["config", "check", "--config.file", "no/such/file.toml"],
        &["run", "--config.file", "no/such/file.toml"],
        &["metrics", "--config.file", "src"],
    ] {
        let said = said(arguments);
        assert_eq!(said.code, Some(66), "{arguments:?} {said:?}");
        let last = arguments.last().copied().unwrap_or_default();
        assert!(said.err.contains(last), "{arguments:?} {said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
}

#[test]
fn a_file_that_is_no_capture_is_not_repeated() {
    let said = said(&["metrics", "--node", "Cargo.toml"]);
    assert_eq!(said.code, Some(66));
    assert!(said.err.contains("no tar archive"), "{said:?}");
    assert!(!said.err.contains("package"), "{said:?}");
}

#[test]
fn help_and_version_are_answers() {
    let version = said(&["--version"]);
    let expected = format!("railwatch {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((version.code, version.out), (Some(0), expected));
    let help = said(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    for hidden in ["reader-nic", "clock-factor"] {
        assert!(!help.out.contains(hidden), "{}", help.out);
    }
}

#[test]
fn a_strict_configuration_is_refused_with_every_problem_at_once() {
    let file = "tests/config/seven.toml";
    let expected = std::fs::read_to_string("tests/config/seven.expected").unwrap();
    assert_eq!(expected.lines().count(), 7);
    let expected: String = expected
        .lines()
        .map(|line| format!("tests/config/{line}\n"))
        .collect();
    let check = said(&["config", "check", "--config.file", file]);
    assert_eq!(
        (check.code, check.out.as_str(), check.err.as_str()),
        (Some(64), expected.as_str(), "")
    );
    for command in ["run", "metrics", "reload"] {
        let strict = said(&[command, "--config.strict", "--config.file", file]);
        assert_eq!(
            (strict.code, strict.out.as_str(), strict.err.as_str()),
            (Some(64), "", expected.as_str()),
            "{command}"
        );
    }
}

#[test]
fn what_holds_is_shown_with_where_it_comes_from() {
    let mut command = railwatch(&["config", "show", "--log.level", "debug"]);
    command.env("RAILWATCH__LANES__FAST_SECONDS", "2.5");
    let said = Said::of(&command.output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    for line in [
        "log.level = \"debug\"  # flag --log.level",
        "lanes.fast_seconds = 2.5  # environment RAILWATCH__LANES__FAST_SECONDS",
        "lanes.slow_seconds = 60  # default",
        "web.listen_address = [\":29400\"]  # default",
    ] {
        assert!(said.out.lines().any(|shown| shown == line), "{}", said.out);
    }
    let json = crate::binary::said(&["config", "show", "--output", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["keys"]["web.max_connections"]["value"], 64);
}

#[test]
fn the_example_is_printed_as_it_is_shipped() {
    let said = said(&["config", "default"]);
    let shipped = std::fs::read_to_string("deploy/railwatch.toml").unwrap();
    assert_eq!((said.code, said.out), (Some(0), shipped));
    let check = crate::binary::said(&["config", "check", "--config.file", "deploy/railwatch.toml"]);
    assert_eq!((check.code, check.out.as_str()), (Some(0), "ok\n"));
}

#[test]
fn a_full_disk_ends_with_74() {
    for arguments in [&["config", "default"][..], &["--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = railwatch(arguments)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = Said::of(&output);
        assert_eq!(said.code, Some(74), "{said:?}");
        assert!(said.err.contains("cannot write to standard output"));
    }
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = railwatch(&["config", "default"])
        .stdout(writer)
        .output()
        .unwrap();
    let said = Said::of(&output);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}

#[test]
fn a_reader_child_ends_with_its_pipe() {
    let output = railwatch(&["reader-nic"]).output().unwrap();
    let said = Said::of(&output);
    assert_eq!((said.code, said.out.as_str()), (Some(70), ""), "{said:?}");
    assert!(said.err.starts_with("railwatch: "), "{said:?}");
}
