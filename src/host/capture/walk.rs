//! Reads names of a tree into a capture, one at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::core::model::outcome::FaultReason;
use crate::host::capture::{Item, Shared, locked};
use crate::host::tree::Tree;

/// Bytes kept of one file; sysfs gives at most a page.
const FILE: usize = 1 << 16;
/// Directories a device's own files lie beneath.
const DEPTH: usize = 6;
/// Names that say nothing of a device's state, or that are free text of the host's owner.
const LEFT_OUT: [&str; 6] = ["uevent", "ifalias", "queues", "power", "proto_down", "vpd"];

/// Reads for one device.
#[derive(Debug)]
pub(super) struct Walker {
    pub(super) tree: Arc<dyn Tree>,
    into: Shared,
    /// The path being read, for the message when it never ends.
    at: Arc<Mutex<String>>,
    /// Whether the device has refused its counters.
    refused: AtomicBool,
}

impl Walker {
    pub(super) fn new(tree: Arc<dyn Tree>, into: Shared, at: Arc<Mutex<String>>) -> Self {
        Self {
            tree,
            into,
            at,
            refused: AtomicBool::new(false),
        }
    }

    fn touch(&self, path: &str) {
        path.clone_into(&mut locked(&self.at));
    }

    /// Puts something in that was not read as it is.
    pub(super) fn put(&self, path: &str, item: Item) {
        locked(&self.into).items.insert(path.to_owned(), item);
    }

    /// Notes what was left out.
    pub(super) fn error(&self, what: String) {
        locked(&self.into).errors.push(what);
    }

    /// A directory's names; none and a fault if it does not answer.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        self.touch(path);
        match self.tree.list(path) {
            Ok(names) => {
                let mut into = locked(&self.into);
                into.items.entry(path.to_owned()).or_insert(Item::Directory);
                names
            }
            Err(FaultReason::NotExposed | FaultReason::NotAFile) => Vec::new(),
            Err(reason) => {
                let mut into = locked(&self.into);
                into.items.entry(path.to_owned()).or_insert(Item::Directory);
                into.fault(path, reason);
                Vec::new()
            }
        }
    }

    /// A file's bytes, for what is kept of it.
    pub(super) fn bytes(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason> {
        self.touch(path);
        self.tree.read(path, limit)
    }

    /// Reads a file that a directory's listing named. The reason it gave nothing, if it did.
    pub(super) fn file(&self, path: &str) -> Option<FaultReason> {
        self.touch(path);
        let (item, fault) = match self.tree.read(path, FILE) {
            Ok(bytes) => (Item::File(bytes), None),
            Err(FaultReason::NotAFile) => return Some(FaultReason::NotAFile),
            Err(reason) => (Item::File(Vec::new()), Some(reason)),
        };
        let mut into = locked(&self.into);
        if let Some(reason) = fault {
            into.fault(path, reason);
        }
        into.items.insert(path.to_owned(), item);
        fault
    }

    /// Keeps that a file is there and why it could not be read.
    pub(super) fn refused(&self, path: &str, reason: FaultReason) {
        let mut into = locked(&self.into);
        into.fault(path, reason);
        into.items.insert(path.to_owned(), Item::File(Vec::new()));
    }

    /// Keeps a link, and that there is something at its end.
    pub(super) fn link(&self, path: &str) -> bool {
        let Ok(target) = self.tree.link(path) else {
            return false;
        };
        let end = self.tree.resolve(path).ok();
        let mut into = locked(&self.into);
        into.items.insert(path.to_owned(), Item::Link(target));
        if let Some(end) = end {
            into.items.entry(end).or_insert(Item::Directory);
        }
        true
    }

    /// A link, or a file.
    pub(super) fn leaf(&self, path: &str) {
        if !self.link(path) {
            self.file(path);
        }
    }

    /// Everything beneath a directory, links kept and not followed. `counters` says whether the
    /// counter directories may be read.
    pub(super) fn everything(&self, path: &str, counters: Counters) {
        self.descend(path, counters, DEPTH);
    }

    fn left_alone(&self, counters: Counters) -> bool {
        matches!(counters, Counters::LeaveAlone | Counters::Asleep)
            || self.refused.load(Ordering::Relaxed)
    }

    fn descend(&self, path: &str, counters: Counters, depth: usize) {
        let mut refused = 0;
        let mut answered = false;
        let directory = path.rsplit('/').next().unwrap_or(path);
        let mut names = self.names(path);
        // Error counters alone are refused to others, too: the data counters decide.
        names.sort_by_key(|name| !name.ends_with("_data"));
        for name in names {
            if LEFT_OUT.contains(&name.as_str())
                || (is_counters(&name) && self.left_alone(counters))
            {
                continue;
            }
            let path = format!("{path}/{name}");
            if self.link(&path) {
                continue;
            }
            self.touch(&path);
            if depth > 0 && self.tree.list(&path).is_ok() {
                self.descend(&path, counters, depth.saturating_sub(1));
                continue;
            }
            if counters == Counters::Asleep {
                continue;
            }
            let fault = self.file(&path);
            answered |= fault != Some(FaultReason::InvalidArgument);
            if counters == Counters::StopAtRefusal && is_counters(directory) && !answered {
                refused += 1;
            }
            if refused >= 2 {
                self.refused.store(true, Ordering::Relaxed);
                self.error(format!(
                    "{path}: the device refuses its counters; no more are read"
                ));
                return;
            }
        }
    }
}

fn is_counters(name: &str) -> bool {
    matches!(name, "counters" | "hw_counters")
}

/// How a device's counters may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counters {
    /// Each of them.
    Read,
    /// Until two are refused: the device is then one whose firmware logs every attempt.
    StopAtRefusal,
    /// None.
    LeaveAlone,
    /// No file of the device at all: reading one wakes it. Names and links stay.
    Asleep,
}
