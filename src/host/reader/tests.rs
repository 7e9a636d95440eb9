//! The reader over trees that no file system can be: reads that block, panic or are refused.

use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, pipe};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::*;
use crate::core::catalog::LaneSet;
use crate::core::model::facts::SkipReason;
use crate::core::model::outcome::{FaultReason, Outcome};
use crate::core::wire::Report;
use crate::host::tree::Handle;

const PATIENCE: Duration = Duration::from_secs(30);
const FUNCTION: &str = "sys/devices/pci0000:c0/0000:c1:00.0";

/// What a read of a file does.
#[derive(Debug, Clone, Copy)]
enum Act {
    Say(&'static str),
    Refuse(FaultReason),
    Block,
    Panic,
}

/// A tree of prepared acts that counts the reads.
#[derive(Debug, Default)]
struct Prepared {
    files: BTreeMap<String, Act>,
    links: BTreeMap<String, String>,
    reads: Mutex<BTreeMap<String, u32>>,
    released: Mutex<bool>,
    release: Condvar,
}

impl Prepared {
    /// An RDMA device with these files of its only port's `counters`.
    fn with(mut self, device: &str, counters: &[(&str, Act)]) -> Self {
        let port = format!("sys/class/infiniband/{device}/ports/1");
        self.files
            .insert(format!("{port}/link_layer"), Act::Say("Ethernet\n"));
        for (name, act) in counters {
            self.files.insert(format!("{port}/counters/{name}"), *act);
        }
        self
    }

    /// Puts a device on a PCI function of `mlx5_core` whose runtime status is this.
    fn on_mlx5(mut self, device: &str, status: &'static str) -> Self {
        self.links.insert(
            format!("sys/class/infiniband/{device}/device"),
            FUNCTION.to_owned(),
        );
        self.links.insert(
            format!("{FUNCTION}/driver"),
            "sys/bus/pci/drivers/mlx5_core".to_owned(),
        );
        self.files
            .insert(format!("{FUNCTION}/power/runtime_status"), Act::Say(status));
        self.files
            .insert(format!("{FUNCTION}/vpd"), Act::Say("no mark"));
        self.files.insert(
            "sys/bus/pci/drivers/mlx5_core/bind".to_owned(),
            Act::Say(""),
        );
        self
    }

    fn followed(&self, path: &str) -> String {
        let link = self.links.iter().find(|(link, _)| path.starts_with(*link));
        link.map_or_else(
            || path.to_owned(),
            |(link, target)| path.replacen(link, target, 1),
        )
    }

    fn act(&self, path: &str) -> Result<&'static str, FaultReason> {
        let path = self.followed(path);
        *self.reads.lock().unwrap().entry(path.clone()).or_default() += 1;
        match self.files.get(&path).ok_or(FaultReason::NotExposed)? {
            Act::Say(text) => Ok(text),
            Act::Refuse(reason) => Err(*reason),
            Act::Panic => panic!("on purpose"),
            Act::Block => {
                let locked = self.released.lock().unwrap();
                let (_unlocked, waited) = self
                    .release
                    .wait_timeout_while(locked, PATIENCE, |released| !*released)
                    .unwrap();
                assert!(!waited.timed_out(), "nobody released the read");
                Ok("7\n")
            }
        }
    }

    fn reads_of(&self, part: &str) -> u32 {
        let reads = self.reads.lock().unwrap();
        reads
            .iter()
            .filter(|(path, _)| path.contains(part))
            .map(|(_, count)| count)
            .sum()
    }
}

#[derive(Debug)]
struct Opened(Arc<Prepared>, String);

impl Handle for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FaultReason> {
        let text = self.0.act(&self.1)?;
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

/// The tree as a reader has it.
#[derive(Debug)]
struct Shared(Arc<Prepared>);

impl Tree for Shared {
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason> {
        Ok(Box::new(Opened(Arc::clone(&self.0), path.to_owned())))
    }

    fn read(&self, path: &str, _limit: usize) -> Result<Vec<u8>, FaultReason> {
        self.0.act(path).map(|text| text.as_bytes().to_vec())
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
        let inside = format!("{}/", self.0.followed(path));
        let names = self
            .0
            .files
            .keys()
            .filter_map(|file| file.strip_prefix(&inside));
        let mut names: Vec<String> = names
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        names.dedup();
        Ok(names)
    }

    fn link(&self, path: &str) -> Result<String, FaultReason> {
        self.0
            .links
            .get(path)
            .cloned()
            .ok_or(FaultReason::NotExposed)
    }

    fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        let path = self.0.followed(path);
        let there = self.0.files.keys().any(|file| file.starts_with(&path));
        there.then_some(path).ok_or(FaultReason::NotExposed)
    }
}

/// A reader over a prepared tree, and the daemon's ends of its pipes.
struct Stage {
    tree: Arc<Prepared>,
    requests: PipeWriter,
    events: PipeReader,
    seq: u64,
}

impl Stage {
    fn new(tree: Prepared) -> Self {
        let tree = Arc::new(tree);
        let (requests_in, requests) = pipe().unwrap();
        let (events, events_out) = pipe().unwrap();
        let hello = Hello {
            protocol: PROTOCOL,
            node: Node::Captured {
                path: String::new(),
            },
            stalled: Vec::new(),
            restricted: Vec::new(),
            raw: false,
            clock_factor: 1,
        };
        let shared: Arc<dyn Tree> = Arc::new(Shared(Arc::clone(&tree)));
        let dispatcher = Dispatcher::new(shared, hello, Arc::new(Outbox::new(events_out)));
        thread::spawn(move || serve(requests_in, Vec::new(), dispatcher));
        Self {
            tree,
            requests,
            events,
            seq: 0,
        }
    }

    fn poll(&mut self) {
        self.seq += 1;
        let request = Request::Poll {
            seq: self.seq,
            lanes: LaneSet::all(),
        };
        frame::write(&mut self.requests, &request).unwrap();
    }

    fn hear(&mut self) -> Vec<Event> {
        frame::read(&mut self.events, &mut Vec::new())
            .unwrap()
            .unwrap()
    }

    /// Everything up to the end of this poll.
    fn until_done(&mut self, seq: u64) -> Vec<Event> {
        let mut heard = Vec::new();
        while !heard.contains(&Event::Done { seq }) {
            heard.extend(self.hear());
        }
        heard
    }
}

fn report<'a>(events: &'a [Event], device: &str) -> Option<&'a Report> {
    events.iter().find_map(|event| match event {
        Event::Report(report) if report.device.as_str().ends_with(device) => Some(report),
        _ => None,
    })
}

#[test]
fn a_device_that_blocks_holds_nobody_up() {
    let mut stage = Stage::new(
        Prepared::default()
            .with("stuck", &[("port_xmit_data", Act::Block)])
            .with("well", &[("port_xmit_data", Act::Say("1\n"))]),
    );
    stage.poll();
    let mut first = stage.hear();
    while report(&first, "well").is_none() {
        first.extend(stage.hear());
    }
    assert!(!first.contains(&Event::Done { seq: 1 }));
    stage.poll();
    let second = stage.until_done(2);
    assert!(report(&second, "well").is_some());
    let is_busy = |event: &Event| matches!(event, Event::Busy { seq: 2, device } if device.as_str().ends_with("stuck"));
    assert!(second.iter().any(is_busy), "{second:?}");
    *stage.tree.released.lock().unwrap() = true;
    stage.tree.release.notify_all();
    let late = stage.until_done(1);
    assert_eq!(report(&late, "stuck").unwrap().seq, 1);
}

#[test]
fn a_panic_is_a_fault_of_its_own_device() {
    let mut stage = Stage::new(
        Prepared::default()
            .with("odd", &[("port_xmit_data", Act::Panic)])
            .with("well", &[("port_xmit_data", Act::Say("1\n"))]),
    );
    for seq in 1..=2 {
        stage.poll();
        let events = stage.until_done(seq);
        let odd = report(&events, "odd").unwrap();
        let failed =
            |reading: &crate::core::wire::Reading| matches!(reading.outcome, Outcome::Fault(_));
        assert!(odd.readings.iter().all(failed), "{odd:?}");
        let well = report(&events, "well").unwrap();
        assert!(
            well.readings
                .iter()
                .any(|reading| reading.outcome == Outcome::Value(1))
        );
    }
}

#[test]
fn a_function_that_refuses_every_counter_is_asked_twice_and_never_again() {
    let refused = Act::Refuse(FaultReason::InvalidArgument);
    let counters = [
        "port_xmit_data",
        "port_rcv_data",
        "port_xmit_packets",
        "symbol_error",
    ];
    let counters = counters.map(|name| (name, refused));
    let mut stage = Stage::new(
        Prepared::default()
            .with("mlx5_0", &counters)
            .on_mlx5("mlx5_0", "active"),
    );
    for seq in 1..=3 {
        stage.poll();
        let events = stage.until_done(seq);
        let nothing = report(&events, "0000:c1:00.0").is_none_or(|said| said.readings.is_empty());
        assert!(nothing, "poll {seq}: {events:?}");
        let told = |event: &Event| {
            matches!(event, Event::Present { skipped, .. }
                if skipped.iter().any(|skipped| skipped.reason == SkipReason::Restricted))
        };
        assert_eq!(events.iter().any(told), seq == 1, "poll {seq}: {events:?}");
    }
    assert_eq!(stage.tree.reads_of("/counters/"), 2);
}

#[test]
fn one_refused_counter_restricts_nothing() {
    let counters = [
        ("port_xmit_data", Act::Refuse(FaultReason::InvalidArgument)),
        ("port_rcv_data", Act::Say("2\n")),
    ];
    let mut stage = Stage::new(
        Prepared::default()
            .with("mlx5_0", &counters)
            .on_mlx5("mlx5_0", "active"),
    );
    stage.poll();
    let events = stage.until_done(1);
    let readings = &report(&events, "0000:c1:00.0").unwrap().readings;
    assert!(
        readings
            .iter()
            .any(|reading| reading.outcome == Outcome::Value(2))
    );
}

#[test]
fn a_sleeping_function_is_not_woken() {
    let counters = [("port_xmit_data", Act::Say("1\n"))];
    let mut stage = Stage::new(
        Prepared::default()
            .with("mlx5_0", &counters)
            .on_mlx5("mlx5_0", "suspended"),
    );
    stage.poll();
    let events = stage.until_done(1);
    let readings = &report(&events, "0000:c1:00.0").unwrap().readings;
    assert!(!readings.is_empty());
    assert!(
        readings
            .iter()
            .all(|reading| reading.outcome == Outcome::Absent)
    );
    assert_eq!(
        stage.tree.reads_of("/counters/") + stage.tree.reads_of("vpd"),
        0
    );
}
