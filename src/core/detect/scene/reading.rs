//! The newest reading of a concept at a place of a device.

use crate::core::catalog::{self, Row};
use crate::core::model::change::Point;
use crate::core::model::snapshot::{DeviceView, SlotState};
use crate::core::wire::{Place, What};

/// What the newest reading of a concept gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// A value, in the metric's unit, with its metric.
    Value {
        /// The number; for a counter its point in our own sum, in the kernel's unit.
        point: Point,
        /// Value in the metric's unit.
        scaled: u64,
        /// The metric.
        metric: &'static str,
    },
    /// The kernel answered that there is nothing to say.
    Nothing,
    /// The newest read failed or is too old.
    Failed,
    /// The device has no such thing.
    Missing,
}

impl Got {
    /// The value in the metric's unit.
    #[must_use]
    pub fn value(self) -> Option<u64> {
        match self {
            Self::Value { scaled, .. } => Some(scaled),
            _ => None,
        }
    }

    /// The value's point.
    #[must_use]
    pub fn point(self) -> Option<Point> {
        match self {
            Self::Value { point, .. } => Some(point),
            _ => None,
        }
    }
}

/// The newest reading of a concept at a place. Where several rows carry the concept the first the
/// device has speaks: of those that exclude each other it has one.
#[must_use]
pub fn got(device: &DeviceView, concept: &str, place: &Place) -> Got {
    let Some(position) = device.concepts.find(concept, place) else {
        return Got::Missing;
    };
    let (Some(slot), Some(state)) = (device.slots.get(position), device.states.get(position))
    else {
        return Got::Missing;
    };
    match slot.what {
        What::Row { row, entry } => match catalog::row(row) {
            Some(row) => read(row, entry, *state),
            None => Got::Missing,
        },
        What::Raw { .. } => Got::Missing,
    }
}

fn read(row: &'static Row, entry: u16, state: SlotState) -> Got {
    match state {
        SlotState::Current {
            value,
            saturated,
            at,
            run,
        } => {
            let entry = row.entries.get(usize::from(entry));
            let scale = entry.map_or(1, |entry| u64::from(entry.scale));
            Got::Value {
                point: Point {
                    value,
                    at,
                    run,
                    saturated,
                },
                scaled: value.saturating_mul(scale),
                metric: row.metric,
            }
        }
        SlotState::Absent => Got::Nothing,
        SlotState::Fault(_) | SlotState::NotCurrent => Got::Failed,
    }
}
