//! How many files may stay open between polls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::host::discover::DEVICES;

/// Descriptors that are not for keeping: pipes and mounts, and one file for each device that is being
/// read right now.
const RESERVED: u64 = 64 + DEVICES as u64;

/// Files that may stay open; what is beyond is opened anew at each poll.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<AtomicUsize>);

/// The right to keep one file open; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit(Budget);

impl Budget {
    /// As many as the process may have, after raising its soft limit to its hard one: eight NICs with
    /// their netdevs are beyond the usual 1024.
    pub(super) fn of_process() -> Self {
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // Refused, the soft limit is what there is.
        setrlimit(Resource::Nofile, limit).ok();
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::of(usize::try_from(descriptors.saturating_sub(RESERVED)).unwrap_or(usize::MAX))
    }

    /// So many.
    pub(super) fn of(files: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(files)))
    }

    /// Asks to keep one more.
    pub(super) fn take(&self) -> Option<Permit> {
        let less = |left: usize| left.checked_sub(1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.ok().map(|_| Permit(self.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_given_back() {
        let budget = Budget::of(2);
        let (first, second) = (budget.take(), budget.take());
        assert!(first.is_some() && second.is_some() && budget.take().is_none());
        drop(first);
        assert!(budget.take().is_some());
    }
}
