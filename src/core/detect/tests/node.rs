//! A made-up node with eight rails, and a clock.

use crate::core::detect::engine::{Engine, Happened};
use crate::core::detect::scene::{Function, Link, Scene, Technology};
use crate::core::ids::DeviceName;
use crate::core::model::change::{Began, Point, Run};
use crate::core::model::expectation::Expectation;
use crate::core::model::facts::PcieHop;
use crate::core::model::finding::{Finding, Identity, Severity};
use crate::core::model::subject::{Hardware, Subject, SubjectKey};
use crate::core::model::time::BootTime;

/// 400 Gb/s in bytes per second.
pub(super) const FAST: u64 = 50_000_000_000;
/// Seconds after boot at which a made-up daemon starts: long after the grace of booting.
const START: u64 = 10_000;
const SECOND: u64 = 1_000_000_000;

/// A made-up node.
pub(super) struct Node {
    pub(super) engine: Engine,
    pub(super) scene: Scene,
    /// Seconds after boot.
    pub(super) second: u64,
    /// What happened: second, code, subject, what.
    pub(super) told: Vec<(u64, String, String, Happened)>,
}

impl Node {
    /// Eight rails of one model, all up.
    pub(super) fn healthy() -> Self {
        Self::knowing(Expectation::default(), START)
    }

    /// The same, just started so long after boot, with what was learnt before.
    pub(super) fn knowing(learnt: Expectation, second: u64) -> Self {
        Self {
            engine: Engine::new(Expectation::default(), learnt),
            scene: Scene {
                now: BootTime(second * SECOND),
                links: (0..8).map(link).collect(),
                functions: (0..8).map(function).collect(),
                skipped: Vec::new(),
                in_maintenance: None,
            },
            second,
            told: Vec::new(),
        }
    }

    /// Lets seconds pass, one judgement each.
    pub(super) fn pass(&mut self, seconds: u64) -> &mut Self {
        for _ in 0..seconds {
            self.second += 1;
            self.look();
        }
        self
    }

    /// The host, or the daemon, sleeps.
    pub(super) fn sleep(&mut self, seconds: u64) -> &mut Self {
        self.second += seconds;
        self
    }

    fn look(&mut self) {
        let now = BootTime(self.second * SECOND);
        for link in &mut self.scene.links {
            if let Some(point) = &mut link.downs {
                point.at = now;
            }
        }
        for function in &mut self.scene.functions {
            for point in &mut function.traffic {
                point.at = now;
            }
        }
        let scene = Scene {
            now,
            links: self.scene.links.clone(),
            functions: self.scene.functions.clone(),
            skipped: self.scene.skipped.clone(),
            in_maintenance: self.scene.in_maintenance,
        };
        let wall = 1_700_000_000.0 + f64::from(u32::try_from(self.second).unwrap());
        for transition in self.engine.judge(scene, wall) {
            let Finding { code, subject, .. } = transition.finding;
            self.told
                .push((self.second, code, subject, transition.what));
        }
    }

    /// The rail's link goes down; the kernel counts it.
    pub(super) fn down(&mut self, rail: usize) -> &mut Self {
        let link = &mut self.scene.links[rail];
        link.up = Some(false);
        link.rate = None;
        if let Some(point) = &mut link.downs {
            point.value += 1;
        }
        self
    }

    /// The rail's link comes back.
    pub(super) fn up(&mut self, rail: usize) -> &mut Self {
        let link = &mut self.scene.links[rail];
        link.up = Some(true);
        link.rate = Some(FAST);
        self
    }

    /// Goes down and up again within one second, unseen but counted.
    pub(super) fn flap(&mut self, rail: usize) -> &mut Self {
        self.down(rail).up(rail).pass(1)
    }

    /// What is found now, as code, subject, severity.
    pub(super) fn found(&self) -> Vec<(String, String, Severity)> {
        let findings = self.engine.findings();
        let told = findings.active.iter().map(|finding| {
            (
                finding.code.clone(),
                finding.subject.clone(),
                finding.severity,
            )
        });
        told.collect()
    }

    /// Whether a code is found.
    pub(super) fn has(&self, code: &str) -> bool {
        self.found().iter().any(|(found, ..)| found == code)
    }

    /// The first finding.
    pub(super) fn first(&self) -> Finding {
        self.engine.findings().active[0].clone()
    }
}

fn hardware(rail: u8) -> Hardware {
    Hardware {
        pci: format!("0000:{:02x}:00.0", 0x10 + rail).parse().ok(),
        guid: Some(format!("b83f:d203:00a1:b2c{rail}")),
        name: format!("mlx5_{rail}"),
    }
}

fn identity(rail: u8) -> Identity {
    let Hardware { pci, guid, .. } = hardware(rail);
    Identity {
        pci,
        guid,
        slot: Some(format!("{rail}")),
        firmware: Some("28.43.2026".to_owned()),
        ..Identity::default()
    }
}

/// A rail's link, up at 400 Gb/s.
pub(super) fn link(rail: u8) -> Link {
    let hardware = hardware(rail);
    let key = SubjectKey::of(&hardware, None);
    Link {
        subject: Subject::Device(DeviceName::new(hardware.name.clone())),
        place: key.without_guid(&hardware),
        key,
        identity: identity(rail),
        device: DeviceName::new(hardware.name),
        port: None,
        model: Some("MT_0000000838".to_owned()),
        technology: Technology::Ethernet,
        is_rdma: true,
        wanted: Some(true),
        up: Some(true),
        state: Some(4),
        physical_state: Some(5),
        rate: Some(FAST),
        downs: Some(point(7)),
        downs_metric: Some("railwatch_netdev_carrier_down_total"),
        restarted: None,
    }
}

/// A point of an unbroken run.
pub(super) fn point(value: u64) -> Point {
    Point {
        value,
        at: BootTime(0),
        run: Run {
            since: BootTime(0),
            began: Began::First,
        },
        saturated: false,
    }
}

/// One PCIe port.
pub(super) fn hop(address: &str, width: u64) -> PcieHop {
    PcieHop {
        address: address.parse().unwrap(),
        speed: Some(32_000_000_000),
        width: Some(width),
        max_speed: Some(32_000_000_000),
        max_width: Some(16),
    }
}

/// A rail's function behind a root port, Gen5 x16.
pub(super) fn function(rail: u8) -> Function {
    let hardware = hardware(rail);
    let own = hardware.pci.unwrap().to_string();
    Function {
        subject: Subject::Device(DeviceName::new(hardware.name.clone())),
        key: SubjectKey::of(&hardware, None),
        identity: identity(rail),
        name: DeviceName::new(hardware.name.clone()),
        hardware,
        model: Some("MT_0000000838".to_owned()),
        is_rdma: true,
        path: vec![hop("0000:00:01.0", 16), hop(&own, 16)],
        traffic: vec![point(0), point(0)],
        rate: Some(FAST),
    }
}
