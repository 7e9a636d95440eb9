//! A server under test: its snapshot, its clock, its reload.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use railwatch::core::catalog::{Lane, Source};
use railwatch::core::ids::{DeviceKey, DeviceName, NetdevName, PortNumber};
use railwatch::core::model::facts::{
    DeviceFacts, FactFault, Function, PciFacts, PortFacts, SkipReason, Skipped,
};
use railwatch::core::model::outcome::FaultReason;
use railwatch::core::model::snapshot::{
    DeviceView, HostFacts, Own, ProcessView, SlotState, Snapshot, SourceView,
};
use railwatch::core::model::time::BootTime;
use railwatch::core::wire::{Place, Slot, What};
use railwatch::daemon::config::Web;
use railwatch::daemon::http::{Handle, ServeError, ServeOptions, serve};
use railwatch::host::clock::Clock;
use tokio::sync::watch;

/// Seconds at which the clock panics.
pub(crate) const BROKEN: u64 = u64::MAX;

/// Stands until a test moves it.
#[derive(Debug)]
pub(crate) struct StoppedClock {
    pub(crate) seconds: AtomicU64,
}

impl Clock for StoppedClock {
    fn now(&self) -> BootTime {
        let seconds = self.seconds.load(Ordering::Relaxed);
        assert_ne!(seconds, BROKEN, "the clock is broken on purpose");
        BootTime(seconds * 1_000_000_000)
    }

    fn real(&self, span: Duration) -> Duration {
        span
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    handle: Option<Handle>,
    snapshots: watch::Sender<Option<Arc<Snapshot>>>,
    reloads: Arc<AtomicU64>,
    pub(crate) clock: Arc<StoppedClock>,
    _runtime_dir: tempfile::TempDir,
}

/// The defaults on a port of the kernel's choice.
pub(crate) fn web() -> Web {
    Web {
        listen_address: vec!["127.0.0.1:0".to_owned()],
        ..Web::default()
    }
}

impl Server {
    pub(crate) fn start(web: Web) -> Result<Self, ServeError> {
        Self::start_in(web, Path::new(""))
    }

    /// A relative `runtime` is below a directory of the test's own.
    pub(crate) fn start_in(web: Web, runtime: &Path) -> Result<Self, ServeError> {
        let runtime_dir = tempfile::tempdir().unwrap();
        let (sender, snapshots) = watch::channel(None);
        let clock = Arc::new(StoppedClock {
            seconds: AtomicU64::new(1000),
        });
        let reloads = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&reloads);
        let handle = serve(ServeOptions {
            web,
            runtime_dir: runtime_dir.path().join(runtime),
            snapshots,
            ask: Arc::new(|_| Ok("done".to_owned())),
            reload: Arc::new(move || match counted.fetch_add(1, Ordering::Relaxed) {
                0 => Ok("reloaded: 0 changes".to_owned()),
                1 => Err("kept: line 3 is wrong".to_owned()),
                _ => loop {
                    std::thread::park();
                },
            }),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
        })?;
        Ok(Self {
            handle: Some(handle),
            snapshots: sender,
            reloads,
            clock,
            _runtime_dir: runtime_dir,
        })
    }

    pub(crate) fn with_snapshot(web: Web) -> Self {
        let server = Self::start(web).unwrap();
        server.publish();
        server
    }

    pub(crate) fn publish(&self) {
        let snapshot = snapshot(self.clock.now());
        self.snapshots.send_replace(Some(Arc::new(snapshot)));
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.handle.as_ref().unwrap()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.handle().addresses()[0]
    }

    pub(crate) fn reloads(&self) -> u64 {
        self.reloads.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&mut self, grace: Duration) {
        self.handle.take().unwrap().stop(grace);
    }
}

/// Tries a thousand times, 10 ms apart.
pub(crate) fn until(mut done: impl FnMut() -> bool) -> bool {
    let (_never, ticks) = std::sync::mpsc::channel::<()>();
    for _ in 0..1000 {
        if done() {
            return true;
        }
        ticks.recv_timeout(Duration::from_millis(10)).unwrap_err();
    }
    false
}

fn snapshot(at: BootTime) -> Snapshot {
    Snapshot {
        polls: 1,
        at,
        wall_seconds: 1_772_366_400.25,
        devices: vec![
            Arc::new(device("mlx5_0")),
            Arc::new(device("<script>\"\\\u{7}")),
        ],
        product: None,
        trouble: None,
        journal: None,
        findings: None,
        skipped: vec![Skipped {
            key: DeviceKey::new("sys/devices/pci0000:c0/0000:c2:00.0"),
            device: DeviceName::new("mlx5_9"),
            reason: SkipReason::Restricted,
        }],
        sources: vec![SourceView {
            source: Source::Infiniband,
            success: Some(true),
            ended: Some(at),
            duration: Duration::from_millis(3),
            interval: Duration::from_secs(1),
            stalled: false,
            overruns: 0,
            restarts: 1,
            abandoned: 0,
            faults: BTreeMap::from([(FaultReason::Permission, 2)]),
            lanes: BTreeMap::from([(Lane::Fast, Duration::from_secs(1))]),
        }],
        own: Arc::new(Own {
            host: HostFacts {
                hostname: Some("gpu-17".to_owned()),
                kernel: Some("6.8.0".to_owned()),
                ..HostFacts::default()
            },
            processes: vec![ProcessView {
                process: "daemon",
                pss_bytes: Some(7_000_000),
                cpu_seconds: Some(0.25),
                open_fds: Some(17),
                start_seconds: Some(1_772_300_000.0),
            }],
            config_problems: 0,
        }),
    }
}

fn device(name: &str) -> DeviceView {
    let slots: Vec<Slot> = (0..3)
        .map(|number| Slot {
            what: What::Raw {
                group: "hw_counters".to_owned(),
            },
            place: Place::Port(PortNumber(1)),
            file: format!("counter_{number}"),
            lane: Lane::Fast,
            source: Source::Infiniband,
        })
        .collect();
    DeviceView {
        facts: Arc::new(DeviceFacts {
            key: DeviceKey::new(format!("sys/devices/{name}")),
            name: DeviceName::new(name),
            driver: Some("mlx5_core".to_owned()),
            function: Function::Physical,
            pci: Some(PciFacts {
                address: "0000:c1:00.0".parse().unwrap(),
                slot: None,
                vendor: Some(0x15b3),
                device: Some(0x1021),
                numa_node: Some(1),
                path: Vec::new(),
            }),
            rdma: None,
            ports: vec![PortFacts {
                number: PortNumber(1),
                link_layer: Some("Ethernet".to_owned()),
                netdev: Some(NetdevName::new("eth0")),
                members: vec![NetdevName::new("eth0")],
            }],
            netdevs: Vec::new(),
            faults: vec![FactFault {
                what: "board_id".to_owned(),
                reason: FaultReason::Io,
            }],
        }),
        slots: slots.into(),
        states: vec![
            SlotState::Current {
                value: 42,
                saturated: false,
                at: BootTime(1),
                run: railwatch::core::model::change::Run::default(),
            },
            SlotState::Fault(FaultReason::Permission),
            SlotState::NotCurrent,
        ],
        restarted: None,
        concepts: Arc::default(),
    }
}
