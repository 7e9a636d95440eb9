//! Which devices are left alone because a read of them did not return, and until when.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::core::ids::DeviceKey;
use crate::core::model::time::BootTime;

/// First rest of a stalled device; each further one is twice as long.
const FIRST_REST: Duration = Duration::from_secs(60);
/// Longest rest: a card that was reset by hand is back within the hour.
const LONGEST_REST: Duration = Duration::from_secs(3600);

/// Why and how long a device rests. Times are of this boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalled {
    /// How often it has stalled.
    pub times: u32,
    /// Not before then.
    pub retry_at: BootTime,
}

/// Every stalled device.
#[derive(Debug, Default)]
pub struct Stalls {
    devices: BTreeMap<DeviceKey, Stalled>,
    /// Children that still hang in a device's driver: it is not tried while one does.
    held: BTreeMap<DeviceKey, u64>,
}

impl Stalls {
    /// Takes up what an earlier daemon of this boot knew.
    #[must_use]
    pub fn known(devices: BTreeMap<DeviceKey, Stalled>) -> Self {
        Self {
            devices,
            held: BTreeMap::new(),
        }
    }

    /// All of them.
    #[must_use]
    pub fn devices(&self) -> &BTreeMap<DeviceKey, Stalled> {
        &self.devices
    }

    /// Those that are due to be left alone at `now`.
    #[must_use]
    pub fn resting(&self, now: BootTime) -> Vec<DeviceKey> {
        self.devices
            .keys()
            .filter(|key| self.rests(key, now))
            .cloned()
            .collect()
    }

    fn rests(&self, key: &DeviceKey, now: BootTime) -> bool {
        let until = self.devices.get(key).map(|stalled| stalled.retry_at);
        self.held.contains_key(key) || until.is_some_and(|until| now < until)
    }

    /// A device did not return in this child.
    pub fn add(&mut self, key: DeviceKey, child: u64, now: BootTime) {
        let times = self
            .devices
            .get(&key)
            .map_or(1, |known| known.times.saturating_add(1));
        let doubled = FIRST_REST.saturating_mul(1 << times.saturating_sub(1).min(10));
        let retry_at = now.after(doubled.min(LONGEST_REST));
        self.devices
            .insert(key.clone(), Stalled { times, retry_at });
        self.held.insert(key, child);
    }

    /// A child has ended at last: what it held is free.
    pub fn released(&mut self, child: u64) {
        self.held.retain(|_, holder| *holder != child);
    }

    /// A device answered: it is well again.
    pub fn answered(&mut self, key: &DeviceKey) -> bool {
        !self.held.contains_key(key) && self.devices.remove(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> DeviceKey {
        DeviceKey::new("sys/devices/pci0000:00/0000:00:01.0")
    }

    #[test]
    fn a_device_rests_until_the_child_that_hangs_in_it_has_ended() {
        let mut stalls = Stalls::default();
        stalls.add(key(), 1, BootTime(0));
        let late = BootTime(0).after(LONGEST_REST * 2);
        assert_eq!(stalls.resting(late), [key()]);
        stalls.released(1);
        assert!(stalls.resting(late).is_empty());
    }

    #[test]
    fn each_stall_in_a_row_rests_twice_as_long() {
        let mut stalls = Stalls::default();
        for times in 0..20 {
            stalls.add(key(), times, BootTime(0));
            let rest = stalls.devices()[&key()].retry_at.since(BootTime(0));
            let expected = FIRST_REST * 2_u32.pow(u32::try_from(times).unwrap().min(10));
            assert_eq!(rest, expected.min(LONGEST_REST));
        }
    }

    #[test]
    fn a_device_that_answers_starts_over() {
        let mut stalls = Stalls::default();
        stalls.add(key(), 1, BootTime(0));
        assert!(!stalls.answered(&key()), "the child still hangs in it");
        stalls.released(1);
        assert!(stalls.answered(&key()));
        assert!(stalls.devices().is_empty());
    }
}
