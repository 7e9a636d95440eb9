//! Failed reads in the log: said once, then hourly with a count, and never more than a person reads.

use std::collections::HashMap;
use std::time::Duration;

use tracing::{debug, info, warn};

use crate::core::ids::DeviceKey;
use crate::core::model::outcome::FaultReason;
use crate::core::model::time::BootTime;
use crate::core::wire::Place;
use crate::daemon::history::Failure;

/// How often a lasting fault is said again.
const AGAIN: Duration = Duration::from_secs(3600);
/// Lines an hour: the hundred that `daemon::log` lets through are for everything that happens.
const LINES: u32 = 30;
/// Faults that are kept apart; more are only counted.
const KEPT: usize = 4096;

/// One value of one device: the device's key, the place, the file.
type Key = (DeviceKey, String, String);

/// Decides what is said of failed reads.
#[derive(Debug, Default)]
pub struct Complaints {
    open: HashMap<Key, Open>,
    hour: BootTime,
    said: u32,
    unsaid: u64,
}

#[derive(Debug)]
struct Open {
    reason: FaultReason,
    said_at: BootTime,
}

/// What is to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// A value fails.
    Begins,
    /// It reads again, after having been complained of.
    Ends,
    /// Nothing.
    Nothing,
}

impl Complaints {
    /// Hears of a value whose state changed, and logs it if it is worth a line.
    pub fn hear(&mut self, failure: Failure<'_>, now: BootTime) {
        let device = failure.facts.name.as_str();
        let file = failure.slot.file.as_str();
        let place = match &failure.slot.place {
            Place::Device => "device".to_owned(),
            Place::Port(port) => format!("port {port}"),
            Place::Netdev(netdev) => netdev.to_string(),
        };
        let key = (failure.facts.key.clone(), place.clone(), file.to_owned());
        match self.decide(key, failure.reason, now) {
            Line::Begins => {
                let reason = failure.reason.map_or("", FaultReason::as_str);
                warn!(
                    device,
                    place, file, reason, "a value cannot be read; it is left out"
                );
            }
            Line::Ends => info!(device, place, file, "a value can be read again"),
            Line::Nothing => debug!(
                device,
                place, file, "a value changed between read and failed"
            ),
        }
    }

    /// Says again, once an hour, how many values fail. To be called at every tick.
    pub fn tick(&mut self, now: BootTime) {
        if now.since(self.hour) < AGAIN {
            return;
        }
        self.hour = now;
        self.said = 0;
        let failing = self.open.len();
        if failing > 0 {
            let unsaid = std::mem::take(&mut self.unsaid);
            let example = self
                .open
                .keys()
                .next()
                .map(|(device, _, file)| format!("{} {file}", device.as_str()));
            let example = example.unwrap_or_default();
            warn!(
                failing,
                unsaid,
                example,
                "values cannot be read; railwatch metrics --output json lists them"
            );
        }
    }

    /// Forgets devices that are not there any more: nobody can mend what is gone.
    pub fn keep(&mut self, here: &[DeviceKey]) {
        self.open.retain(|(device, ..), _| here.contains(device));
    }

    fn decide(&mut self, key: Key, reason: Option<FaultReason>, now: BootTime) -> Line {
        let Some(reason) = reason else {
            return if self.open.remove(&key).is_some() {
                Line::Ends
            } else {
                Line::Nothing
            };
        };
        let recent = self
            .open
            .get(&key)
            .is_some_and(|open| open.reason == reason && now.since(open.said_at) < AGAIN);
        if recent || self.open.len() >= KEPT || self.said >= LINES {
            self.unsaid = self.unsaid.saturating_add(1);
            return Line::Nothing;
        }
        self.said = self.said.saturating_add(1);
        self.open.insert(
            key,
            Open {
                reason,
                said_at: now,
            },
        );
        Line::Begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        (
            DeviceKey::new("sys/devices/mlx5_0"),
            "Port(1)".to_owned(),
            format!("counter_{number}"),
        )
    }

    #[test]
    fn thousands_of_failing_values_do_not_flood_the_log() {
        let mut complaints = Complaints::default();
        let mut begun = 0;
        for second in 0..3600_u64 {
            let now = BootTime(second * 1_000_000_000);
            for number in 0..20 {
                let reason = if second % 2 == 0 {
                    Some(FaultReason::Io)
                } else {
                    None
                };
                let line = complaints.decide(key(number), reason, now);
                begun += u32::from(line == Line::Begins);
            }
        }
        assert!(begun <= LINES, "{begun} warnings in an hour");
    }

    #[test]
    fn a_fault_is_said_once_and_its_end_too() {
        let mut complaints = Complaints::default();
        let io = Some(FaultReason::Io);
        assert_eq!(complaints.decide(key(1), io, BootTime(0)), Line::Begins);
        assert_eq!(complaints.decide(key(1), io, BootTime(1)), Line::Nothing);
        assert_eq!(complaints.decide(key(1), None, BootTime(2)), Line::Ends);
        assert_eq!(complaints.decide(key(1), None, BootTime(3)), Line::Nothing);
    }

    #[test]
    fn a_device_that_is_gone_is_not_complained_of() {
        let mut complaints = Complaints::default();
        complaints.decide(key(1), Some(FaultReason::Io), BootTime(0));
        complaints.keep(&[DeviceKey::new("sys/devices/mlx5_1")]);
        assert!(complaints.open.is_empty());
    }

    #[test]
    fn another_reason_is_another_fault() {
        let mut complaints = Complaints::default();
        assert_eq!(
            complaints.decide(key(1), Some(FaultReason::Io), BootTime(0)),
            Line::Begins
        );
        assert_eq!(
            complaints.decide(key(1), Some(FaultReason::Empty), BootTime(1)),
            Line::Begins
        );
    }
}
