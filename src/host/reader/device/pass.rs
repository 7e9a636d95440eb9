//! One pass over a device's slots.

use std::collections::BTreeMap;

use crate::core::catalog::{Driver, Form, Lane, LaneSet, Source};
use crate::core::model::facts::Function;
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::model::time::BootTime;
use crate::core::parse;
use crate::core::wire::{Place, Reading, Slot, What};
use crate::host::clock::{BootClock, Clock};
use crate::host::discover::{Probed, Target};
use crate::host::reader::budget::{Budget, Permit};
use crate::host::tree::{Handle, Tree};

/// Bytes of one read: sysfs never gives more than a page.
const PAGE: usize = 4096;
/// `state` of a port that carries traffic (`K:include/rdma/ib_verbs.h`, `IB_PORT_ACTIVE`).
const ACTIVE: u64 = 4;
/// Standard counters that must refuse before a function counts as restricted.
const REFUSALS: usize = 2;

/// Files kept open between passes, by position of the slot.
#[derive(Debug, Default)]
pub(super) struct Handles {
    slots: Vec<Option<Kept>>,
    status: Option<Kept>,
    /// A standard counter has been read: the function refuses none.
    open: bool,
}

/// An open file, and the right to keep it.
#[derive(Debug)]
struct Kept(Box<dyn Handle>, Permit);

impl Handles {
    /// Closes everything.
    pub(super) fn forget(&mut self) {
        self.slots.clear();
        self.status = None;
    }
}

/// What a pass gave.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) began: BootTime,
    pub(super) readings: Vec<Reading>,
    pub(super) spent: Vec<(Source, u64)>,
}

/// A pass to be made.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) clock: BootClock,
    pub(super) budget: &'a Budget,
    pub(super) probed: &'a Probed,
    pub(super) lanes: LaneSet,
}

impl Pass<'_> {
    /// Reads every slot that is due; `None` if the function turned out to be restricted.
    pub(super) fn run(&self, handles: &mut Handles) -> Option<Read> {
        let began = self.clock.now();
        let mut read = Read {
            began,
            readings: Vec::new(),
            spent: Vec::new(),
        };
        let mut spent: BTreeMap<Source, u64> = BTreeMap::new();
        handles.slots.resize_with(self.probed.slots.len(), || None);
        let asleep = self.is_asleep(handles);
        let may_be_restricted = self.may_be_restricted() && !handles.open;
        let mut buffer = [0; PAGE];
        let (mut state, mut asked, mut refused) = (None, 0, 0);
        let mut last = 0;
        let all = self
            .probed
            .slots
            .iter()
            .zip(&self.probed.targets)
            .zip(&mut handles.slots);
        let mut open = handles.open;
        for ((slot, target), handle) in all.filter(|((slot, _), _)| self.lanes.has(slot.lane)) {
            let silent = asleep || (target.form == Form::Rate && state != Some(ACTIVE));
            let outcome = if silent {
                Outcome::Absent
            } else {
                self.slot(target, handle, &mut buffer)
            };
            let offset =
                u64::try_from(self.clock.now().since(began).as_nanos()).unwrap_or(u64::MAX);
            let time = spent.entry(slot.source).or_default();
            *time = time.saturating_add(offset.saturating_sub(last));
            last = offset;
            if is_state(slot) {
                state = if let Outcome::Value(id) = outcome {
                    Some(id)
                } else {
                    None
                };
            }
            open |= is_standard_counter(target) && matches!(outcome, Outcome::Value(_));
            if may_be_restricted && !silent && is_standard_counter(target) && asked < REFUSALS {
                asked = asked.saturating_add(1);
                refused += usize::from(outcome == Outcome::Fault(FaultReason::InvalidArgument));
                if refused == REFUSALS {
                    return None;
                }
            }
            read.readings.push(Reading {
                offset_nanos: offset,
                outcome,
            });
        }
        handles.open = open;
        read.spent = spent.into_iter().collect();
        Some(read)
    }

    /// Only physical mlx5 functions have firmware that refuses every counter, and only a pass that
    /// begins with the data counters can tell: error counters alone are refused to others, too.
    fn may_be_restricted(&self) -> bool {
        self.probed.driver == Some(Driver::Mlx5)
            && self.probed.facts.function == Function::Physical
            && self.lanes.has(Lane::Fast)
    }

    /// One value: one bounded read.
    fn slot(&self, target: &Target, handle: &mut Option<Kept>, buffer: &mut [u8]) -> Outcome {
        match self.bytes(&target.path, handle, buffer) {
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                parse::outcome(bytes, target.form, target.width)
            }
            Err(reason) => parse::failed(reason, target.form),
        }
    }

    fn bytes(
        &self,
        path: &str,
        kept: &mut Option<Kept>,
        buffer: &mut [u8],
    ) -> Result<usize, FaultReason> {
        let (mut handle, permit) = match kept.take() {
            Some(Kept(handle, permit)) => (handle, Some(permit)),
            None => (self.tree.open(path)?, None),
        };
        let count = handle.read(buffer)?;
        // A failed read closes the file: after ENODEV only a fresh one speaks again.
        if self.tree.keeps() {
            let permit = permit.or_else(|| self.budget.take());
            *kept = permit.map(|permit| Kept(handle, permit));
        }
        if count == buffer.len() {
            Err(FaultReason::TooLong)
        } else {
            Ok(count)
        }
    }

    /// Whether the function is suspended: reading its counters would wake it.
    fn is_asleep(&self, handles: &mut Handles) -> bool {
        let Some(path) = &self.probed.runtime_status else {
            return false;
        };
        let mut buffer = [0; 64];
        let read = self.bytes(path, &mut handles.status, &mut buffer);
        read.is_ok_and(|count| {
            buffer
                .get(..count)
                .unwrap_or_default()
                .starts_with(b"suspend")
        })
    }
}

fn is_state(slot: &Slot) -> bool {
    matches!(slot.place, Place::Port(_))
        && matches!(slot.what, What::Row { .. })
        && slot.file == "state"
}

fn is_standard_counter(target: &Target) -> bool {
    target.path.rsplit('/').nth(1) == Some("counters")
}
