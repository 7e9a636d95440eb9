//! The journal under everything a disk and an operator can do to it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test starts processes, waits for them and ends at the first surprise"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use railwatch::core::detect::engine::{Happened, Transition};
use railwatch::core::detect::latch::Why;
use railwatch::core::model::finding::{Finding, Identity, Severity, State};
use railwatch::core::model::snapshot::JournalState;
use railwatch::core::model::subject::SubjectKey;
use railwatch::daemon::journal::{Journal, Options, Restored};

fn finding(id: u64, state: State) -> Finding {
    Finding {
        id,
        code: "link_down".to_owned(),
        severity: Severity::Critical,
        state,
        subject: "mlx5_3".to_owned(),
        key: SubjectKey::host(),
        identity: Identity::default(),
        since: 4_000_000_000.5,
        until: (state == State::Cleared).then_some(4_000_000_100.0),
        meaning: "no link".to_owned(),
        next_step: "look".to_owned(),
        evidence: Vec::new(),
    }
}

fn happened(id: u64, state: State) -> Transition {
    Transition {
        finding: finding(id, state),
        what: match state {
            State::Cleared => Happened::Over(Why::Cleared),
            _ => Happened::Raised,
        },
    }
}

fn open(directory: &Path) -> (Journal, Restored) {
    Journal::open(Options::of(directory.to_owned()))
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "never {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_was_open_is_open_and_what_was_over_is_over_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, restored) = open(directory.path());
    assert!(restored.open.is_empty() && restored.newest_id == 0);
    for id in 1..=3 {
        journal.record(&happened(id, State::Active));
    }
    journal.record(&happened(2, State::Cleared));
    assert_eq!(journal.health(), JournalState::Working);
    drop(journal);
    let (_journal, restored) = open(directory.path());
    let ids: Vec<u64> = restored.open.iter().map(|open| open.id).collect();
    assert_eq!(ids, [1, 3]);
    assert_eq!(restored.open.first(), Some(&finding(1, State::Active)));
    assert_eq!(restored.recent, [finding(2, State::Cleared)]);
    assert_eq!(restored.newest_id, 3);
}

#[test]
fn a_journal_of_nonsense_or_of_a_newer_version_is_set_aside() {
    let newer = tempfile::tempdir().unwrap();
    drop(open(newer.path()));
    let file = rusqlite::Connection::open(newer.path().join("journal.db")).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    let nonsense = tempfile::tempdir().unwrap();
    fs::write(nonsense.path().join("journal.db"), vec![b'x'; 9000]).unwrap();
    for directory in [newer.path(), nonsense.path()] {
        let (journal, restored) = open(directory);
        assert!(restored.open.is_empty());
        assert_eq!(journal.health(), JournalState::Working);
        journal.record(&happened(7, State::Active));
        drop(journal);
        assert!(directory.join("journal.db.aside-1").exists());
        assert_eq!(open(directory).1.newest_id, 7);
    }
}

#[test]
fn a_disk_that_does_not_work_is_told_and_written_when_it_does() {
    let directory = tempfile::tempdir().unwrap();
    // A file where the directory should be: nothing can be made there.
    let state = directory.path().join("state");
    fs::write(&state, "").unwrap();
    let (journal, restored) = open(&state);
    assert!(restored.open.is_empty());
    assert!(matches!(journal.health(), JournalState::Failing(_)));
    // What is there may come back: its numbers must not be given again.
    assert!(restored.newest_id > 1_000_000_000);
    for id in 1..=5 {
        journal.record(&happened(id, State::Active));
    }
    fs::remove_file(&state).unwrap();
    until("working", || journal.health() == JournalState::Working);
    drop(journal);
    assert_eq!(open(&state).1.open.len(), 5);
}

#[test]
fn what_finds_no_room_is_counted_and_nobody_waits() {
    let directory = tempfile::tempdir().unwrap();
    // A pipe: no database can be made of it.
    let path = directory.path().join("journal.db");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let (journal, _) = open(directory.path());
    for id in 1..=5000 {
        journal.record(&happened(id, State::Active));
    }
    until("told", || match journal.health() {
        JournalState::Working => false,
        JournalState::Failing(why) => why.contains("transitions were lost"),
    });
}

#[test]
fn a_full_disk_is_told_and_costs_nothing_that_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(directory.path());
    journal.record(&happened(1, State::Active));
    drop(journal);
    // A process that may write no larger files gets what a full disk gives.
    let out = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 8; exec timeout 3 \"$0\" \"$1\"")
        .arg(writer())
        .arg(directory.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(124), "{out:?}");
    let restored = open(directory.path()).1;
    assert!(restored.open.iter().any(|open| open.id == 1));
}

#[test]
fn old_and_too_many_findings_are_dropped_and_open_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(directory.path());
    journal.record(&happened(1, State::Active));
    for id in 2..=900 {
        journal.record(&happened(id, State::Cleared));
    }
    drop(journal);
    let small = Options {
        max_bytes: 64 << 10,
        max_age: Duration::from_secs(u64::from(u32::MAX)),
        ..Options::of(directory.path().to_owned())
    };
    let (journal, _) = Journal::open(small);
    journal.record(&happened(901, State::Cleared));
    drop(journal);
    let count = |what: &str| -> i64 {
        let file = rusqlite::Connection::open(directory.path().join("journal.db")).unwrap();
        let query = format!("SELECT count(*) FROM {what}");
        file.query_row(&query, [], |row| row.get(0)).unwrap()
    };
    assert!(count("finding") < 400, "{}", count("finding"));
    assert_eq!(count("finding WHERE id = 1"), 1);
    assert_eq!(count("finding WHERE id = 901"), 1);
    assert_eq!(
        count("transition WHERE finding NOT IN (SELECT id FROM finding)"),
        0
    );
}

/// The program that writes for ever.
fn writer() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let made = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--locked",
                "--example",
                "journal_writer",
            ])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(made.success());
        let deps = std::env::current_exe().unwrap();
        let debug = deps.parent().unwrap().parent().unwrap();
        debug.join("examples/journal_writer")
    };
    MADE.get_or_init(make).clone()
}

/// Ends a writer in the middle; every number it printed was in the journal for a second.
fn killed(directory: &Path, after: Duration) -> BTreeSet<u64> {
    let mut child = Command::new(writer())
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let said = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    });
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let text = said.join().unwrap();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn two_hundred_violent_ends_lose_nothing_that_was_written_a_second_ago() {
    let printed: Vec<usize> = thread::scope(|scope| {
        let workers: Vec<_> = (0..10_u64)
            .map(|worker| scope.spawn(move || ends(worker)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let printed: usize = printed.iter().sum();
    assert!(printed > 1000, "only {printed} numbers were promised");
}

/// Twenty ends of writers of one journal, at moments that differ; how many numbers were promised.
fn ends(worker: u64) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let mut promised = BTreeSet::new();
    let mut count = 0;
    for round in 0..20_u64 {
        // Any number does that spreads over half a second.
        let spread = (worker * 7919 + round * 104_729) % 499;
        let said = killed(directory.path(), Duration::from_millis(1050 + spread));
        count += said.len();
        promised.extend(said);
        let (journal, restored) = open(directory.path());
        assert_eq!(journal.health(), JournalState::Working);
        drop(journal);
        let file = rusqlite::Connection::open(directory.path().join("journal.db")).unwrap();
        let mut query = file.prepare("SELECT id FROM finding").unwrap();
        let kept: BTreeSet<u64> = query
            .query_map([], |row| row.get::<_, u64>(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let lost: Vec<&u64> = promised.difference(&kept).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
        let open: Vec<u64> = restored.open.iter().map(|open| open.id).collect();
        let once: BTreeSet<u64> = open.iter().copied().collect();
        assert_eq!(open.len(), once.len(), "restored twice");
        for id in promised.iter().filter(|id| **id % 10 == 0) {
            assert!(once.contains(id), "{id} was open");
        }
    }
    count
}
