//! What becomes of sums and runs when devices fail, fall silent, start again or change their names.

use proptest::prelude::*;

use super::*;
use crate::core::catalog::{self, LaneSet};
use crate::core::ids::{DeviceName, NetdevName, PortNumber};
use crate::core::model::change::{Change, Point};
use crate::core::model::facts::{Function, NetdevFacts, NetdevRole};
use crate::core::model::snapshot::SlotState;
use crate::core::wire::{Place, Reading, What};

const SECOND: u64 = 1_000_000_000;
const EACH_SECOND: Intervals = Intervals {
    fast: Duration::from_secs(1),
    link: Duration::from_secs(1),
    slow: Duration::from_secs(1),
};
const KEY: &str = "sys/devices/pci0000:c0/0000:c1:00.0";

fn slots() -> Vec<Slot> {
    let metrics = [
        "railwatch_port_transmit_bytes_total",
        "railwatch_port_receive_bytes_total",
        "railwatch_port_transmit_packets_total",
    ];
    let slot = |metric: &&str| {
        let rows = (0_u16..).zip(catalog::rows());
        let (row, _) = rows.clone().find(|(_, row)| row.metric == *metric).unwrap();
        Slot {
            what: What::Row { row, entry: 0 },
            place: Place::Port(PortNumber(1)),
            file: (*metric).to_owned(),
            lane: Lane::Fast,
            source: Source::Infiniband,
        }
    };
    metrics.iter().map(slot).collect()
}

fn facts(name: &str) -> DeviceFacts {
    DeviceFacts {
        key: DeviceKey::new(KEY),
        name: DeviceName::new(name),
        driver: None,
        function: Function::Physical,
        pci: None,
        rdma: None,
        ports: Vec::new(),
        netdevs: vec![NetdevFacts {
            name: NetdevName::new(name),
            role: NetdevRole::Uplink,
            master: None,
            members: Vec::new(),
            phys_port_name: None,
        }],
        faults: Vec::new(),
    }
}

/// A node with one device of three counters.
struct Node {
    history: History,
    now: u64,
    generation: u32,
}

impl Node {
    fn new() -> Self {
        let mut node = Self {
            history: History::default(),
            now: SECOND,
            generation: 0,
        };
        node.present(true);
        node.named("mlx5_0");
        node
    }

    fn take(&mut self, event: Event) {
        let now = BootTime(self.now);
        self.history.take(event, now, &EACH_SECOND, &mut |_| {});
    }

    fn present(&mut self, is: bool) {
        let devices = is.then(|| DeviceKey::new(KEY)).into_iter().collect();
        self.take(Event::Present {
            devices,
            skipped: Vec::new(),
        });
    }

    fn named(&mut self, name: &str) {
        self.generation += 1;
        self.take(Event::Facts {
            generation: self.generation,
            facts: Box::new(facts(name)),
            slots: slots(),
        });
    }

    /// One pass that gives these outcomes.
    fn read(&mut self, outcomes: [Outcome; 3]) -> Option<Point> {
        let reading = |outcome| Reading {
            offset_nanos: 0,
            outcome,
        };
        self.take(Event::Report(Report {
            seq: 1,
            device: DeviceKey::new(KEY),
            generation: self.generation,
            lanes: LaneSet::all(),
            began: BootTime(self.now),
            readings: outcomes.map(reading).to_vec(),
            spent: Vec::new(),
        }));
        self.point()
    }

    fn values(&mut self, values: [u64; 3]) -> Option<Point> {
        self.read(values.map(Outcome::Value))
    }

    /// The first counter as it stands now.
    fn point(&self) -> Option<Point> {
        let views = self.history.views(BootTime(self.now), &EACH_SECOND);
        match *views.first()?.states.first()? {
            SlotState::Current {
                value,
                saturated,
                at,
                run,
            } => Some(Point {
                value,
                at,
                run,
                saturated,
            }),
            _ => None,
        }
    }

    fn restarted(&self) -> Option<BootTime> {
        let views = self.history.views(BootTime(self.now), &EACH_SECOND);
        views.first()?.restarted
    }
}

#[test]
fn a_device_whose_counters_fall_together_has_started_again() {
    let mut node = Node::new();
    let before = node.values([1000, 2000, 3000]);
    node.now += SECOND;
    assert_eq!(node.restarted(), None);
    // The first counter has grown past its old value already: alone it would seem to have gone on.
    node.values([1, 2, 3]);
    node.now += SECOND;
    assert_eq!(node.restarted(), Some(BootTime(2 * SECOND)));
    let after = node.values([5000, 4, 5]);
    assert_eq!(Change::between(before, after), Change::Reset);
}

#[test]
fn one_counter_that_was_cleared_is_not_a_restart_of_the_device() {
    let mut node = Node::new();
    let before = node.values([1000, 2000, 3000]);
    node.now += SECOND;
    let after = node.values([1, 2001, 3001]);
    assert_eq!(node.restarted(), None);
    assert_eq!(Change::between(before, after), Change::Reset);
}

#[test]
fn a_renamed_device_keeps_its_sums() {
    let mut node = Node::new();
    let before = node.values([1000, 2000, 3000]);
    node.now += SECOND;
    node.named("mlx5_9");
    let after = node.values([1007, 2000, 3000]);
    assert_eq!(Change::between(before, after).increase(), Some(7));
}

#[test]
fn a_device_that_was_away_has_started_again() {
    let mut node = Node::new();
    let before = node.values([1000, 2000, 3000]);
    node.present(false);
    node.now += SECOND;
    node.present(true);
    node.named("mlx5_0");
    let after = node.values([1007, 2000, 3000]);
    assert_eq!(node.restarted(), Some(BootTime(2 * SECOND)));
    assert_eq!(Change::between(before, after), Change::Reset);
}

#[derive(Debug, Clone)]
enum Act {
    Grow(u64),
    Fail,
    /// The host slept or the daemon did: no pass for so many seconds.
    Silent(u64),
    Restart,
    Rename,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..1_000_000_u64).prop_map(Act::Grow),
        1 => Just(Act::Fail),
        // Longer than a device may take of itself.
        1 => (26..10_000_u64).prop_map(Act::Silent),
        1 => Just(Act::Restart),
        1 => Just(Act::Rename),
    ]
}

#[test]
fn a_device_that_takes_longer_than_its_lane_is_still_current() {
    let mut node = Node::new();
    for seconds in 1..=5 {
        node.now += 5 * SECOND;
        node.values([1000 + seconds, 2000, 3000]);
    }
    node.now += 5 * SECOND;
    assert!(node.point().is_some());
    node.now += 20 * SECOND;
    assert!(node.point().is_none());
}

#[test]
fn a_late_word_of_a_thread_that_was_replaced_is_not_a_reset() {
    let mut node = Node::new();
    node.values([1000, 2000, 3000]);
    node.now += SECOND;
    let newest = node.values([1010, 2010, 3010]).unwrap();
    node.now -= SECOND / 2;
    node.values([1005, 2005, 3005]);
    node.now += SECOND / 2;
    assert_eq!(node.point().unwrap(), newest);
}

proptest! {
    /// Whatever happens, an increase is what the counter grew by, with nothing in between.
    #[test]
    fn an_increase_is_what_was_counted_and_never_across_a_gap(acts in prop::collection::vec(act(), 1..40)) {
        let mut node = Node::new();
        let mut raw = 1_u64 << 40;
        let mut total = raw;
        // Points with what had truly been counted, and how many breaks came before.
        let mut points = Vec::new();
        let mut breaks = 0;
        for act in acts {
            node.now += SECOND;
            match act {
                Act::Grow(by) => {
                    raw += by;
                    total += by;
                }
                Act::Fail => {
                    breaks += 1;
                    node.read([Outcome::Fault(FaultReason::Io); 3]);
                    continue;
                }
                Act::Silent(seconds) => {
                    breaks += 1;
                    node.now += seconds * SECOND;
                }
                Act::Restart => {
                    breaks += 1;
                    raw /= 2;
                }
                Act::Rename => node.named("mlx5_7"),
            }
            let point = node.values([raw, raw, raw]);
            prop_assert!(point.is_some());
            points.push((point, total, breaks));
        }
        for (i, (before, counted, broken)) in points.iter().enumerate() {
            for (after, counted_then, broken_then) in points.iter().skip(i + 1) {
                if let Change::Increase { by, .. } = Change::between(*before, *after) {
                    prop_assert_eq!(broken, broken_then);
                    prop_assert_eq!(by, counted_then - counted);
                }
            }
        }
    }
}
