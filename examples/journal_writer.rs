//! Writes findings into a journal for ever and prints each number a second after it was recorded:
//! for `tests/journal.rs`, which ends it in the middle.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use railwatch::core::detect::engine::{Happened, Transition};
use railwatch::core::detect::latch::Why;
use railwatch::core::model::finding::{Finding, Identity, Severity, State};
use railwatch::core::model::subject::SubjectKey;
use railwatch::daemon::journal::{Journal, Options};
use railwatch::host::clock::{BootClock, Clock};

fn finding(id: u64, state: State) -> Finding {
    Finding {
        id,
        code: "link_down".to_owned(),
        severity: Severity::Critical,
        state,
        subject: "mlx5_0".to_owned(),
        key: SubjectKey::host(),
        identity: Identity::default(),
        since: 4e9,
        until: (state == State::Cleared).then_some(4e9),
        meaning: "x".repeat(300),
        next_step: String::new(),
        evidence: Vec::new(),
    }
}

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or_else(|| io::Error::other("no directory given"))?;
    let (journal, restored) = Journal::open(Options::of(directory));
    let clock = BootClock::new(1);
    let (_never, pause) = channel::<()>();
    let mut unsaid = VecDeque::new();
    let mut id = restored.newest_id;
    loop {
        id = id.saturating_add(1);
        journal.record(&Transition {
            finding: finding(id, State::Active),
            what: Happened::Raised,
        });
        // All but every tenth are over at once.
        if !id.is_multiple_of(10) {
            journal.record(&Transition {
                finding: finding(id, State::Cleared),
                what: Happened::Over(Why::Cleared),
            });
        }
        unsaid.push_back((id, clock.now()));
        while let Some((old, at)) = unsaid.front() {
            if clock.now().since(*at) <= Duration::from_secs(1) {
                break;
            }
            writeln!(io::stdout(), "{old}")?;
            unsaid.pop_front();
        }
        pause.recv_timeout(Duration::from_millis(2)).ok();
    }
}
