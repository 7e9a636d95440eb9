//! The dispatcher: knows which devices there are and hands polls to them. Enters no driver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::core::catalog::{Lane, LaneSet};
use crate::core::ids::DeviceKey;
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::wire::{Event, Hello};
use crate::host::discover::{Census, Located, Names, Shape, census, names, shape};
use crate::host::frame::FrameError;
use crate::host::reader::budget::Budget;
use crate::host::reader::clock;
use crate::host::reader::device::{Device, Queue, Restricted};
use crate::host::reader::outbox::Outbox;
use crate::host::tree::Tree;

/// Hands polls to devices.
#[derive(Debug)]
pub(super) struct Dispatcher {
    tree: Arc<dyn Tree>,
    hello: Hello,
    outbox: Arc<Outbox>,
    restricted: Restricted,
    budget: Budget,
    names: Option<Names>,
    shape: Option<Shape>,
    census: Census,
    queues: BTreeMap<DeviceKey, (Located, Queue)>,
    told: Option<(Vec<DeviceKey>, Vec<Skipped>)>,
    generations: Arc<AtomicU32>,
}

impl Dispatcher {
    pub(super) fn new(tree: Arc<dyn Tree>, hello: Hello, outbox: Arc<Outbox>) -> Self {
        let restricted = Restricted::new(hello.restricted.iter().cloned());
        Self {
            tree,
            hello,
            outbox,
            restricted,
            budget: Budget::of_process(),
            names: None,
            shape: None,
            census: Census::default(),
            queues: BTreeMap::new(),
            told: None,
            generations: Arc::default(),
        }
    }

    /// Gives every device that is not busy this poll, and sends what comes back in time.
    pub(super) fn poll(&mut self, seq: u64, lanes: LaneSet) -> Result<(), FrameError> {
        if self.tree.list("sys").is_err() {
            let why = "its sys directory cannot be listed any more".to_owned();
            self.outbox.say(Event::Refused { why })?;
            // What comes back is told anew, all of it.
            (self.told, self.names, self.shape) = (None, None, None);
            self.queues.clear();
            self.outbox.begin(seq, 0, Vec::new());
            return self.outbox.finish(seq, || None);
        }
        self.look(lanes);
        let restricted = &self.restricted;
        self.queues.retain(|key, _| !restricted.has(key));
        let mut first: Vec<Event> = self.present().into_iter().collect();
        let (mut free, mut busy) = (Vec::new(), Vec::new());
        for (key, (_, queue)) in &self.queues {
            if queue.is_busy() {
                busy.push(key.clone())
            } else {
                free.push(queue.clone())
            }
        }
        first.extend(busy.into_iter().map(|device| Event::Busy { seq, device }));
        self.outbox.begin(seq, free.len(), first);
        for queue in free {
            if !queue.give(seq, lanes) {
                // Its thread is gone, which a caught panic leaves no way to; it has no report.
                self.outbox.report(seq, Vec::new());
            }
        }
        let outbox = Arc::clone(&self.outbox);
        outbox.finish(seq, || self.present())
    }

    /// Takes the census again if the classes changed, or on the slow lane.
    fn look(&mut self, lanes: LaneSet) {
        let names = match names(&*self.tree) {
            Ok(names) => Some(names),
            // What was there is there still, as far as is known.
            Err(_) if self.shape.is_some() => return,
            Err(_) => None,
        };
        let due = lanes.has(Lane::Slow) || !self.tree.keeps();
        if names == self.names && !due {
            return;
        }
        self.names = names;
        let shape = shape(&*self.tree);
        if self.shape.as_ref() != Some(&shape) || due {
            self.census = census(&*self.tree, &shape);
            self.shape = Some(shape);
        }
        let here = self.census.devices.iter().map(|device| &device.key);
        self.restricted.keep(&here.collect());
        let stalled: BTreeSet<&DeviceKey> = self.hello.stalled.iter().collect();
        let wanted: BTreeMap<DeviceKey, Located> = self
            .census
            .devices
            .iter()
            .filter(|device| !stalled.contains(&device.key) && !self.restricted.has(&device.key))
            .map(|device| (device.key.clone(), device.clone()))
            .collect();
        // A device that is gone, or is something else now, loses its queue and so its thread.
        self.queues
            .retain(|key, (located, _)| wanted.get(key) == Some(located));
        for (key, located) in wanted {
            if !self.queues.contains_key(&key)
                && let Some(queue) = self.start(located.clone())
            {
                self.queues.insert(key, (located, queue));
            }
        }
    }

    fn start(&self, located: Located) -> Option<Queue> {
        let device = Device {
            tree: Arc::clone(&self.tree),
            outbox: Arc::clone(&self.outbox),
            restricted: self.restricted.clone(),
            budget: self.budget.clone(),
            clock: clock(&self.hello),
            raw: self.hello.raw,
            located,
            generations: Arc::clone(&self.generations),
        };
        device.start().ok()
    }

    /// What is there, if it differs from what was last told.
    fn present(&mut self) -> Option<Event> {
        let mut skipped = self.census.skipped.clone();
        for device in &self.census.devices {
            let reason = if self.hello.stalled.contains(&device.key) {
                SkipReason::Stalled
            } else if self.restricted.has(&device.key) {
                SkipReason::Restricted
            } else {
                continue;
            };
            skipped.push(Skipped {
                key: device.key.clone(),
                device: device.name.clone(),
                reason,
            });
        }
        let restricted = &self.restricted;
        let devices: Vec<DeviceKey> = self
            .queues
            .keys()
            .filter(|key| !restricted.has(key))
            .cloned()
            .collect();
        let now = (devices, skipped);
        if self.told.as_ref() == Some(&now) {
            return None;
        }
        let (devices, skipped) = now.clone();
        self.told = Some(now);
        Some(Event::Present { devices, skipped })
    }
}
