//! Holds up the walls of the house: what no lint can see.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

/// Files that may hold `unsafe`, each with its reason.
const UNSAFE: &[(&str, &str)] = &[];
/// The one file that knows the exposition crate.
const PROMETHEUS: &str = "src/core/render/metrics.rs";
/// Lines a source file may have; tables of the catalog are exempt.
const LINES: usize = 400;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `dir`, as (path relative to the project, text).
fn sources(dir: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            // Fixtures hold links in circles, as sysfs does: links are not followed.
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((relative(&path), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap()
        .to_string_lossy()
        .into_owned()
}

/// Lines of code, comments left out, numbered from 1.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.split("//").next().unwrap_or("").trim();
        (!line.is_empty()).then_some((index + 1, line))
    })
}

/// Fails with every line of `dir` that holds one of `words` and is not excused.
fn forbid(dir: &str, words: &[&str], excused: impl Fn(&str) -> bool, why: &str) {
    let mut found = Vec::new();
    let files = sources(dir);
    assert!(
        !files.is_empty(),
        "no Rust file below {dir}: this test proves nothing"
    );
    for (path, text) in files {
        if excused(&path) {
            continue;
        }
        for (number, line) in code(&text) {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{path}:{number}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn the_core_names_no_other_room_and_does_no_io() {
    let words = [
        "crate::host",
        "crate::daemon",
        "crate::cli",
        "crate::bench",
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "std::thread",
        "std::time::Instant",
        "SystemTime",
        "tokio",
        "tracing",
        "rustix",
        "axum",
        "hyper",
    ];
    forbid("src/core", &words, |_| false, "core is pure");
}

#[test]
fn no_room_reaches_up() {
    forbid(
        "src/host",
        &["crate::daemon", "crate::cli"],
        |_| false,
        "host knows only core",
    );
    forbid(
        "src/daemon",
        &["crate::cli"],
        |_| false,
        "daemon knows only core and host",
    );
}

#[test]
fn the_exposition_crate_is_used_in_one_file() {
    forbid(
        "src",
        &["prometheus::"],
        |path| path == PROMETHEUS,
        "prometheus is metrics.rs's alone",
    );
}

#[test]
fn unsafe_stands_only_where_it_is_listed() {
    let listed = |path: &str| UNSAFE.iter().any(|(file, _)| *file == path);
    forbid(
        "src",
        &["unsafe {", "unsafe fn", "unsafe impl"],
        listed,
        "unsafe needs a listed reason",
    );
}

#[test]
fn files_stay_short_enough_to_read() {
    let long: Vec<String> = sources("src")
        .into_iter()
        .filter(|(path, _)| !path.starts_with("src/core/catalog/"))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LINES)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "over {LINES} lines:\n{}", long.join("\n"));
}

#[test]
fn no_file_is_named_after_a_pattern() {
    let names = [
        "utils", "util", "common", "manager", "helpers", "helper", "types", "misc", "mod",
    ];
    for (path, _) in sources("src") {
        let stem = Path::new(&path)
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert!(
            !names.contains(&stem.as_str()),
            "{path} says nothing of what it holds"
        );
    }
}

#[test]
fn unfinished_work_leaves_no_marks() {
    let marks = [
        "TODO",
        "FIXME",
        "XXX",
        "unimplemented!",
        "todo!",
        "#[ignore",
    ];
    let mut found = Vec::new();
    for dir in ["src", "tests", "benches"] {
        if !root().join(dir).exists() {
            continue;
        }
        for (path, text) in sources(dir) {
            if path == "tests/tidy.rs" {
                continue;
            }
            for (index, line) in text.lines().enumerate() {
                if marks.iter().any(|mark| line.contains(mark)) {
                    found.push(format!("{path}:{}: {}", index + 1, line.trim()));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "marks of unfinished work:\n{}",
        found.join("\n")
    );
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let table = text
        .split("[dependencies]")
        .nth(1)
        .unwrap()
        .split("\n[")
        .next()
        .unwrap();
    let mut before = "";
    for line in table.lines() {
        let is_dependency = line.contains('=') && !line.trim_start().starts_with('#');
        let has_reason = line.contains(" # ") || before.trim_start().starts_with('#');
        assert!(!is_dependency || has_reason, "no reason given: {line}");
        before = line;
    }
}

#[test]
fn each_command_has_one_file() {
    let listed = fs::read_to_string(root().join("src/cli.rs")).unwrap();
    for (path, _) in sources("src/cli") {
        if Path::new(&path).components().count() != 3 {
            continue;
        }
        let stem = Path::new(&path)
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert!(
            listed.contains(&format!("mod {stem};")),
            "{path} is not part of src/cli.rs"
        );
    }
}

#[test]
fn each_rule_is_listed_and_tested_and_has_its_alert() {
    let listed = std::fs::read_to_string(root().join("src/core/detect.rs")).unwrap();
    let alerts = root().join("deploy/prometheus/railwatch.rules.yml");
    let alerts = std::fs::read_to_string(alerts).unwrap();
    let mut count = 0;
    for (path, text) in sources("src/core/detect") {
        if !text.contains("static RULE: Rule") {
            continue;
        }
        count += 1;
        let name = path.rsplit('/').next().unwrap().trim_end_matches(".rs");
        assert!(text.contains(&format!("code: \"{name}\"")), "{path}");
        assert!(
            listed.contains(&format!("&{name}::RULE")),
            "{path} is not listed"
        );
        let tests = root().join(format!("src/core/detect/tests/{name}.rs"));
        assert!(tests.is_file(), "{path} has no scenarios");
        assert!(
            alerts.contains(&format!("finding=\"{name}\"")),
            "{path} has no alert"
        );
    }
    assert_eq!(count, railwatch::core::detect::RULES.len());
}
