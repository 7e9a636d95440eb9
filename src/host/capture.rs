//! Takes a capture of a node: reads what the catalog and the topology read, into memory.
//!
//! Each device is read in a thread of its own, so that one whose driver hangs costs only its own
//! part. Nothing is written here and no process is started.

pub mod pack;
mod plan;
pub mod redact;
mod stand_in;
mod walk;

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::core::model::outcome::FaultReason;
use crate::host::capture::plan::Job;
use crate::host::capture::walk::Walker;
use crate::host::clock::Clock;
use crate::host::tree::Tree;
use crate::host::tree::faults::name_of;

/// One name of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A directory, also the empty end of a link whose content is no part of a capture.
    Directory,
    /// A file's bytes.
    File(Vec<u8>),
    /// A symlink's target as written.
    Link(String),
}

/// What was read.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Every name by its path, parents before children.
    pub items: BTreeMap<String, Item>,
    /// `faults.tsv`: the error's name by the path that gave it.
    pub faults: BTreeMap<String, &'static str>,
    /// What was left out, in words.
    pub errors: Vec<String>,
}

impl Gathered {
    /// Notes a read that failed; the file stays, empty, so that it is still known to be there.
    pub(crate) fn fault(&mut self, path: &str, reason: FaultReason) {
        if reason == FaultReason::TooLong {
            self.errors
                .push(format!("{path} is longer than a capture keeps"));
            return;
        }
        self.faults.insert(path.to_owned(), name_of(reason));
    }
}

/// Parts that are read at once.
const AT_ONCE: usize = 64;

type Shared = Arc<Mutex<Gathered>>;

/// Reads the node until everything is read or `span` has passed.
#[must_use]
pub fn gather(tree: &Arc<dyn Tree>, clock: &dyn Clock, span: Duration) -> Gathered {
    let shared = Shared::default();
    let (done, finished) = channel();
    let mut running: BTreeMap<usize, Arc<Mutex<String>>> = BTreeMap::new();
    let jobs = std::iter::once(Job::Host).chain(plan::devices(tree.as_ref()));
    let mut jobs = jobs.enumerate().peekable();
    let until = Until::new(clock, span);
    while !running.is_empty() || jobs.peek().is_some() {
        while running.len() < AT_ONCE
            && let Some((number, job)) = jobs.next()
        {
            let at = Arc::new(Mutex::new(job.name().to_owned()));
            let walker = Walker::new(Arc::clone(tree), Arc::clone(&shared), Arc::clone(&at));
            let name = job.name().to_owned();
            match start(job, walker, (number, done.clone())) {
                Ok(()) => drop(running.insert(number, at)),
                Err(error) => locked(&shared)
                    .errors
                    .push(format!("{name} was not read: {error}")),
            }
        }
        match finished.recv_timeout(until.left()) {
            Ok(number) => drop(running.remove(&number)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    let unread = jobs.count();
    if unread > 0 {
        let what = format!("{unread} further devices were not read: the time was over");
        locked(&shared).errors.push(what);
    }
    let mut gathered = std::mem::take(&mut *locked(&shared));
    for at in running.values() {
        let at = locked(at).clone();
        gathered.errors.push(format!(
            "{at} did not answer in time; the rest of its device is left out"
        ));
        gathered
            .items
            .entry(at.clone())
            .or_insert(Item::File(Vec::new()));
        gathered.faults.insert(at, "ETIMEDOUT");
    }
    gathered
}

/// A moment to stop at.
struct Until<'a> {
    clock: &'a dyn Clock,
    end: u64,
}

impl<'a> Until<'a> {
    fn new(clock: &'a dyn Clock, span: Duration) -> Self {
        let span = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let end = clock.now().0.saturating_add(span);
        Self { clock, end }
    }

    fn left(&self) -> Duration {
        let nanos = self.end.saturating_sub(self.clock.now().0);
        self.clock.real(Duration::from_nanos(nanos))
    }
}

/// Reads one part on a thread of its own: it may never end.
fn start(job: Job, walker: Walker, (number, done): (usize, Sender<usize>)) -> std::io::Result<()> {
    thread::Builder::new()
        .name("capture".to_owned())
        .stack_size(512 << 10)
        .spawn(move || {
            plan::run(&job, &walker);
            done.send(number).ok();
        })
        .map(drop)
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
