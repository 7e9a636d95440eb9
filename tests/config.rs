//! The configuration: what is told about wrong ones, and which layer holds.
//!
//! `tests/config/NAME.toml` are files, `NAME.expected` is what `config check` says of them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use railwatch::daemon::config::field::Field;
use railwatch::daemon::config::layers::{FlagValue, Inputs, LoadError, Loaded, load};
use railwatch::daemon::config::schema::{self, KEYS, SECTIONS};
use railwatch::daemon::config::value::Given;
use railwatch::daemon::config::{Config, LogFormat, example, reference};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn with_file(path: &Path) -> Inputs {
    Inputs {
        file: Some(path.to_owned()),
        ..Inputs::default()
    }
}

/// Without a file of this machine.
fn with_environment(variables: &[(&str, &str)]) -> Inputs {
    let variables = variables.iter();
    Inputs {
        environment: variables
            .map(|&(name, value)| (OsString::from(name), OsString::from(value)))
            .collect(),
        ..with_file(&data("empty.toml"))
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(ROOT).join("tests/config").join(name)
}

fn lines(loaded: &Loaded) -> Vec<String> {
    loaded.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_wrong_file_is_told_with_its_lines() {
    let mut seen = 0;
    for entry in std::fs::read_dir(data("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() != Some(OsStr::new("toml")) {
            continue;
        }
        seen += 1;
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        let place = format!("{}/", path.parent().unwrap().display());
        let said: Vec<String> = lines(&load(&with_file(&path)).unwrap())
            .iter()
            .map(|line| {
                line.strip_prefix(&place)
                    .unwrap()
                    .replace('\u{1b}', "\\u{1b}")
            })
            .collect();
        let expected: Vec<&str> = expected.lines().filter(|line| *line != "ok").collect();
        assert_eq!(said, expected, "{}", path.display());
    }
    assert!(seen >= 8, "only {seen} files");
}

#[test]
fn what_is_wrong_leaves_the_rest_alone() {
    let loaded = load(&with_file(&data("values.toml"))).unwrap();
    assert_eq!(loaded.config, Config::default());
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        path.path(),
        "[lanes]\nfast_seconds = 0\nlink_seconds = 2\nslow_seconds = 12.5\n[x]\n",
    )
    .unwrap();
    let loaded = load(&with_file(path.path())).unwrap();
    assert_eq!(loaded.problems.len(), 2);
    assert!(!loaded.file_ignored);
    assert_eq!(loaded.config.lanes.fast, Config::default().lanes.fast);
    assert_eq!(loaded.config.lanes.link, Duration::from_secs(2));
    assert_eq!(loaded.config.lanes.slow, Duration::from_millis(12_500));
}

#[test]
fn nothing_is_taken_from_a_file_that_is_no_toml() {
    for name in ["unreadable.toml", "twice.toml"] {
        let loaded = load(&with_file(&data(name))).unwrap();
        assert!(loaded.file_ignored, "{name}");
        assert_eq!(loaded.config, Config::default(), "{name}");
    }
    let odd = tempfile::NamedTempFile::new().unwrap();
    for text in [&b"\xff"[..], &vec![b'#'; (1 << 20) + 1]] {
        std::fs::write(odd.path(), text).unwrap();
        let loaded = load(&with_file(odd.path())).unwrap();
        assert!(loaded.file_ignored);
        assert_eq!(loaded.problems.len(), 1, "{:?}", lines(&loaded));
    }
}

#[test]
fn a_named_file_that_cannot_be_read_is_an_error() {
    for path in [data("no-such-file.toml"), data("")] {
        let error = load(&with_file(&path)).unwrap_err();
        assert!(matches!(error, LoadError::File { .. }), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
}

#[test]
fn a_pipe_without_a_writer_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(load(&with_file(&pipe)).unwrap().config, Config::default());
}

#[test]
fn flags_stand_above_the_environment_above_the_file_above_defaults() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "[lanes]\nfast_seconds = 2\nlink_seconds = 3\nslow_seconds = 30\n[path]\nsysfs = \"/f\"\n",
    )
    .unwrap();
    let mut inputs = with_environment(&[
        ("RAILWATCH__LANES__LINK_SECONDS", "4"),
        ("RAILWATCH__PATH__SYSFS", "/e"),
    ]);
    inputs.file = Some(file.path().to_owned());
    inputs.flags = vec![FlagValue {
        key: ("path", "sysfs"),
        flag: "--path.sysfs",
        value: Given::Text("/flag".to_owned()),
    }];
    let loaded = load(&inputs).unwrap();
    assert_eq!(lines(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config.path.procfs, Path::new("/proc"));
    assert_eq!(loaded.config.lanes.fast, Duration::from_secs(2));
    assert_eq!(loaded.config.lanes.link, Duration::from_secs(4));
    assert_eq!(loaded.config.path.sysfs, Path::new("/flag"));
    let origin = |key: &str| loaded.origins.get(key).map(String::as_str);
    let second = format!("{}:2", file.path().display());
    assert_eq!(origin("lanes.fast_seconds"), Some(second.as_str()));
    assert_eq!(
        origin("lanes.link_seconds"),
        Some("environment RAILWATCH__LANES__LINK_SECONDS")
    );
    assert_eq!(origin("path.sysfs"), Some("flag --path.sysfs"));
    assert_eq!(origin("path.procfs"), None);
}

#[test]
fn every_key_can_be_set_by_its_variable() {
    for key in KEYS {
        let (text, given) = match key.field {
            Field::Seconds { range, .. } | Field::Count { range, .. } => {
                (range.1.to_string(), range.1.to_string())
            }
            Field::Switch { .. } => ("true".to_owned(), "true".to_owned()),
            Field::UrlPath { .. } => ("/x".to_owned(), "\"/x\"".to_owned()),
            Field::Level { .. } => ("trace".to_owned(), "\"trace\"".to_owned()),
            Field::Format { .. } => ("json".to_owned(), "\"json\"".to_owned()),
            Field::Addresses { .. } => (
                "localhost:1, :2".to_owned(),
                "[\"localhost:1\",\":2\"]".to_owned(),
            ),
            Field::Path { .. } => ("/x/1".to_owned(), "\"/x/1\"".to_owned()),
        };
        let name = key.dotted();
        assert_ne!(key.field.shown(&Config::default()), given, "{name}");
        let loaded = load(&with_environment(&[(&key.variable(), &text)])).unwrap();
        assert_eq!(lines(&loaded), Vec::<String>::new(), "{name}");
        assert_eq!(key.field.shown(&loaded.config), given, "{name}");
        assert_eq!(loaded.origins.len(), 1, "{name} sets more than itself");
        let others = KEYS.iter().filter(|other| other.dotted() != name);
        for other in others {
            let default = other.field.shown(&Config::default());
            assert_eq!(other.field.shown(&loaded.config), default, "{name}");
        }
    }
}

#[test]
fn the_ends_of_every_range_are_possible_and_what_is_beyond_is_not() {
    for key in KEYS {
        let (Field::Seconds { range, .. } | Field::Count { range, .. }) = key.field else {
            continue;
        };
        for (number, possible) in [
            (i64::from(range.0), true),
            (i64::from(range.1), true),
            (i64::from(range.0) - 1, false),
            (i64::from(range.1) + 1, false),
        ] {
            let text = number.to_string();
            let loaded = load(&with_environment(&[(&key.variable(), &text)])).unwrap();
            assert_eq!(
                loaded.problems.is_empty(),
                possible,
                "{text} {:?}",
                key.dotted()
            );
        }
    }
}

#[test]
fn wrong_variables_are_told_by_their_names() {
    let mut inputs = with_environment(&[
        ("RAILWATCH__WEB__MAX_CONNECTIONS", "lots"),
        ("RAILWATCH__WEB__MAX_CONECTIONS", "1"),
        ("RAILWATCH__WBE__MAX_CONNECTIONS", "1"),
        ("RAILWATCH__WEB", "1"),
        ("RAILWATCH__LANES__FAST_SECONDS", ""),
        ("RAILWATCH__LOG__LEVEL", "inof"),
        ("RAILWATCH__PATH__STATE__X", "/x"),
    ]);
    inputs.environment.push((
        OsString::from("RAILWATCH__PATH__SYSFS"),
        OsStr::from_bytes(b"/\xff").to_owned(),
    ));
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.config, Config::default());
    let said = lines(&loaded);
    assert_eq!(said.len(), 8, "{said:#?}");
    for (variable, part) in [
        (
            "WEB__MAX_CONNECTIONS",
            "\"lots\" is not possible, allowed a whole number from 1",
        ),
        (
            "WEB__MAX_CONECTIONS",
            "unknown key, did you mean web.max_connections",
        ),
        ("WBE__MAX_CONNECTIONS", "unknown section"),
        ("WEB", "unknown section"),
        (
            "LANES__FAST_SECONDS",
            "\"\" is not possible, allowed 1 to 60 seconds",
        ),
        ("LOG__LEVEL", "\"inof\" is not possible"),
        ("PATH__STATE__X", "unknown key"),
        ("PATH__SYSFS", "not UTF-8"),
    ] {
        let begin = format!("environment RAILWATCH__{variable}: {part}");
        let told = said.iter().filter(|line| line.starts_with(&begin)).count();
        assert_eq!(told, 1, "{begin}\n{said:#?}");
    }
}

#[test]
fn what_kubernetes_puts_into_the_environment_is_none_of_ours() {
    let loaded = load(&with_environment(&[
        ("RAILWATCH_PORT", "tcp://10.0.0.1:29400"),
        ("RAILWATCH_SERVICE_HOST", "10.0.0.1"),
        ("RAILWATCH_WEB_LISTEN_ADDRESS", ":1"),
        ("RAILWATCHX__WEB__MAX_CONNECTIONS", "1"),
        ("RAILWATCH", "1"),
    ]))
    .unwrap();
    assert_eq!(lines(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config, Config::default());
}

#[test]
fn the_shipped_example_is_the_defaults() {
    let path = Path::new(ROOT).join("deploy/railwatch.toml");
    let shipped = std::fs::read_to_string(&path).unwrap();
    assert!(
        shipped == example::toml(),
        "deploy/railwatch.toml is out of date: read what changed and run\n    \
         cargo run --example config_doc toml > deploy/railwatch.toml"
    );
    let loaded = load(&with_file(&path)).unwrap();
    assert_eq!(lines(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.origins.len(), KEYS.len(), "a key is missing in it");
}

#[test]
fn the_reference_of_keys_is_what_the_schema_makes() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/CONFIG.md")).unwrap();
    assert!(
        page == reference::markdown(),
        "docs/CONFIG.md is out of date: read what changed and run\n    \
         cargo run --example config_doc > docs/CONFIG.md"
    );
}

#[test]
fn the_schema_is_sound() {
    let names: BTreeSet<String> = KEYS.iter().map(schema::Key::dotted).collect();
    assert_eq!(names.len(), KEYS.len(), "a key is there twice");
    let sections: BTreeSet<&str> = SECTIONS.iter().map(|section| section.name).collect();
    for key in KEYS {
        assert!(sections.contains(key.section), "{}", key.dotted());
        let is_time = matches!(key.field, Field::Seconds { .. });
        assert_eq!(key.name.ends_with("_seconds"), is_time, "{}", key.dotted());
        for text in [key.what, key.why] {
            assert!(
                !text.ends_with('.') && !text.contains(['\n', '|']),
                "{text}"
            );
        }
    }
    for section in SECTIONS {
        assert!(schema::section_keys(section.name).next().is_some());
    }
}

#[test]
fn every_field_has_a_key() {
    // A field that no key changes is still at its default after every key was set.
    let mut config = Config::default();
    for key in KEYS {
        let given = match key.field {
            Field::Seconds { range, .. } | Field::Count { range, .. } => {
                Given::Integer(range.1.into())
            }
            Field::Switch { .. } => Given::Switch(true),
            Field::UrlPath { .. } => Given::Text("/x".to_owned()),
            Field::Level { .. } => Given::Text("trace".to_owned()),
            Field::Format { .. } => Given::Text("json".to_owned()),
            Field::Addresses { .. } => Given::List(vec![Given::Text(":1".to_owned())]),
            Field::Path { .. } => Given::Text("/x".to_owned()),
        };
        key.field.set(&mut config, &given).unwrap();
    }
    assert_eq!(config.log.format, LogFormat::Json);
    let (set, default) = (format!("{config:#?}"), format!("{:#?}", Config::default()));
    for (set, default) in set.lines().zip(default.lines()) {
        let is_value = set.contains(": ") && !set.ends_with(['{', '[']);
        assert!(!is_value || set != default, "no key sets{set}");
    }
}
