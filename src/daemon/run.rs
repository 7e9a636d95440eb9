//! Puts the daemon together, and ends it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tracing::{error, info, warn};

use crate::core::model::snapshot::{HostFacts, Snapshot};
use crate::core::wire::{Hello, Node, PROTOCOL};
use crate::daemon::child::{Launch, Supervisor};
use crate::daemon::config::Config;
use crate::daemon::history::Intervals;
use crate::daemon::http::{self, ServeOptions};
use crate::daemon::journal::{self, Journal};
use crate::daemon::judge::{Judge, expectation_text};
use crate::daemon::poller::{Message, Parts, Poller, Settings};
use crate::daemon::store::{Kept, Store};
use crate::daemon::{notify, own};
use crate::host::clock::{BootClock, Clock, wall_seconds};
use crate::host::tree::captured;

/// How long a first signal waits for requests that are being answered.
const GRACE: Duration = Duration::from_secs(5);
/// How long the poller may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How often it is looked whether every thread still lives.
const ALIVE: Duration = Duration::from_secs(5);

/// Loads the configuration again.
pub type Load = Arc<dyn Fn() -> Result<Loaded, String> + Send + Sync>;

/// A configuration that was loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// It.
    pub config: Config,
    /// What was wrong and has its default, a line each.
    pub problems: Vec<String>,
}

/// What a daemon is started with.
pub struct Options {
    /// The configuration at the start.
    pub loaded: Loaded,
    /// Loads it again, and sets the log's level.
    pub load: Load,
    /// Which node to read.
    pub node: Node,
    /// Clock speed; 1 but for tests.
    pub clock_factor: u32,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("loaded", &self.loaded)
            .finish_non_exhaustive()
    }
}

/// Intervals of the lanes as configured.
#[must_use]
pub fn intervals(config: &Config) -> Intervals {
    let lanes = &config.lanes;
    Intervals {
        fast: lanes.fast,
        link: lanes.link,
        slow: lanes.slow,
    }
}

/// Runs until a signal ends it.
///
/// # Errors
///
/// The capture cannot be opened ([`captured::OpenError`]), an address cannot be listened on
/// ([`http::ServeError`]), or a thread of ours has ended.
pub fn run(options: Options) -> anyhow::Result<()> {
    rustix::thread::set_no_new_privs(true).context("cannot give up gaining privileges")?;
    if let Node::Captured { path } = &options.node {
        captured::open(Path::new(path))?;
    }
    for problem in &options.loaded.problems {
        warn!(problem, "a setting is not used; what holds below it is");
    }
    let mut signals = Signals::listen()?;
    let (to, inbox) = channel();
    let (publish, snapshots) = watch::channel(None);
    let problems = Arc::new(AtomicU64::new(count(&options.loaded.problems)));
    let reload = reload(&options, to.clone(), Arc::clone(&problems));
    let server = serve(ServeOptions {
        web: options.loaded.config.web.clone(),
        runtime_dir: options.loaded.config.path.runtime.clone(),
        snapshots,
        reload: Arc::clone(&reload),
        ask: asking(to.clone()),
        clock: Arc::new(BootClock::new(options.clock_factor)),
    })?;
    let parts = parts(
        &options,
        Channels {
            to: to.clone(),
            inbox,
            publish,
        },
        problems,
    );
    let (ended, poller_ended) = oneshot::channel();
    let poller = thread::Builder::new()
        .name("poller".to_owned())
        .spawn(move || {
            Poller::new(parts).run();
            // The receiver is gone only when nobody waits any more.
            ended.send(()).ok();
        })
        .context("cannot start the poller")?;
    let why = signals.wait(&reload, &server, poller_ended);
    notify::stopping();
    to.send(Message::Stop).ok();
    if matches!(why, Why::Thread) {
        anyhow::bail!("a thread of the daemon has ended by itself");
    }
    info!("stopping");
    signals.stop(server, poller)
}

/// Listens and says where.
fn serve(options: ServeOptions) -> anyhow::Result<http::Handle> {
    let path = options.web.telemetry_path.clone();
    let server = http::serve(options)?;
    for address in server.addresses() {
        let (host, port) = (reachable(address), address.port());
        info!(page = %format_args!("http://{host}:{port}/"), metrics = %format_args!("http://{host}:{port}{path}"), "serving");
    }
    if let Some(path) = server.socket() {
        info!(path = %path.display(), "serving commands");
    }
    Ok(server)
}

/// What to type into a browser on this host; "every address" is none.
fn reachable(address: &SocketAddr) -> String {
    match address.ip() {
        ip if ip.is_unspecified() => "localhost".to_owned(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        IpAddr::V4(ip) => ip.to_string(),
    }
}

/// The poller's ways in and out.
struct Channels {
    to: Sender<Message>,
    inbox: Receiver<Message>,
    publish: watch::Sender<Option<Arc<Snapshot>>>,
}

fn parts(options: &Options, channels: Channels, problems: Arc<AtomicU64>) -> Parts {
    let config = &options.loaded.config;
    let host = if is_host(&options.node) {
        own::host()
    } else {
        HostFacts::default()
    };
    let store = host
        .boot_id
        .clone()
        .map(|boot| Store::open(&config.path.state, boot));
    let state = host
        .boot_id
        .is_some()
        .then_some(config.path.state.as_path());
    let mut judge = Judge::new(expectation_text(&config.path.expect), state);
    let journal = state.map(|state| {
        let (journal, restored) = Journal::open(journal::Options::of(state.to_owned()));
        let now = BootClock::new(options.clock_factor).now();
        let found = (restored.open, restored.recent);
        let at = (now, wall_seconds());
        judge.engine().restore(found, restored.newest_id, at);
        journal
    });
    let kept = store
        .as_ref()
        .map(|store| store.kept().clone())
        .unwrap_or_default();
    Parts {
        clock: BootClock::new(options.clock_factor),
        inbox: channels.inbox,
        supervisor: supervisor(options, config, kept, channels.to),
        publish: channels.publish,
        intervals: intervals(config),
        host,
        store,
        judge,
        journal,
        maintenance: is_host(&options.node).then(|| config.path.runtime.join("maintenance")),
        problems,
    }
}

fn is_host(node: &Node) -> bool {
    matches!(node, Node::Host { .. })
}

fn count(problems: &[String]) -> u64 {
    u64::try_from(problems.len()).unwrap_or(u64::MAX)
}

fn supervisor(
    options: &Options,
    config: &Config,
    kept: Kept,
    to: Sender<Message>,
) -> Supervisor<Message> {
    let hello = Hello {
        protocol: PROTOCOL,
        node: options.node.clone(),
        stalled: Vec::new(),
        restricted: kept.restricted.into_iter().collect(),
        raw: config.metrics.raw_counters,
        clock_factor: options.clock_factor,
    };
    Supervisor::new(Launch::own("reader-nic"), hello, config.reader.deadline, to)
        .with_stalls(kept.stalled)
}

/// Hands what a person asks for to the poller, which answers at its next turn.
fn asking(to: Sender<Message>) -> http::Asking {
    Arc::new(move |ask| {
        let (answer, said) = sync_channel(1);
        to.send(Message::Ask(ask, answer))
            .map_err(|_| "the poller has ended".to_owned())?;
        said.recv_timeout(ANSWER)
            .unwrap_or_else(|_| Err("the poller does not answer".to_owned()))
    })
}

/// Loads the configuration again and applies what can change while running.
fn reload(options: &Options, to: Sender<Message>, problems: Arc<AtomicU64>) -> http::Reload {
    let (load, started) = (Arc::clone(&options.load), options.loaded.config.clone());
    Arc::new(move || {
        notify::reloading();
        let loaded =
            load().inspect_err(|_| notify::reloaded("running with the old configuration"))?;
        problems.store(count(&loaded.problems), Ordering::Relaxed);
        let config = &loaded.config;
        let settings = Settings {
            intervals: intervals(config),
            raw: config.metrics.raw_counters,
        };
        let expected = expectation_text(&config.path.expect);
        to.send(Message::Expect(expected))
            .map_err(|_| "the poller has ended".to_owned())?;
        to.send(Message::Settings(settings))
            .map_err(|_| "the poller has ended".to_owned())?;
        notify::reloaded("reloaded");
        let mut lines = vec!["reloaded".to_owned()];
        if config.web != started.web
            || config.path != started.path
            || config.reader != started.reader
            || config.log.format != started.log.format
        {
            let late = "web, path and reader settings and log.format take effect with a restart";
            lines.push(late.to_owned());
        }
        lines.extend(loaded.problems);
        Ok(lines.join("\n"))
    })
}

/// Why the daemon ends.
enum Why {
    Signal,
    Thread,
}

/// A second signal came while the daemon was draining.
#[derive(Debug, thiserror::Error)]
#[error("stopped by a second signal")]
pub struct Interrupted;

/// What the kernel tells us to do. Listened to before anything is served: an early SIGHUP would end
/// the daemon.
struct Signals {
    runtime: Runtime,
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let entered = runtime.enter();
        let (terminate, interrupt, hangup) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        );
        drop(entered);
        Ok(Self {
            runtime,
            terminate,
            interrupt,
            hangup,
        })
    }

    /// Waits for a reason to end; reloads on SIGHUP meanwhile.
    fn wait(
        &mut self,
        reload: &http::Reload,
        server: &http::Handle,
        mut poller: oneshot::Receiver<()>,
    ) -> Why {
        let Self {
            runtime,
            terminate,
            interrupt,
            hangup,
        } = self;
        runtime.block_on(async {
            let mut alive = tokio::time::interval(ALIVE);
            loop {
                tokio::select! {
                    _ = terminate.recv() => return Why::Signal,
                    _ = interrupt.recv() => return Why::Signal,
                    _ = hangup.recv() => reload_and_tell(reload),
                    _ = &mut poller => return Why::Thread,
                    _ = alive.tick() => if server.ended() { return Why::Thread },
                }
            }
        })
    }

    /// Drains; a second signal does not wait for it.
    fn stop(mut self, server: http::Handle, poller: thread::JoinHandle<()>) -> anyhow::Result<()> {
        let (drained, done) = oneshot::channel();
        let draining = thread::Builder::new()
            .name("drain".to_owned())
            .spawn(move || {
                server.stop(GRACE);
                let clean = poller.join().is_ok();
                drained.send(clean).ok();
            });
        draining.context("cannot start draining")?;
        self.runtime.block_on(async {
            tokio::select! {
                _ = done => Ok(()),
                _ = tokio::time::sleep(GRACE.saturating_mul(2)) => Ok(()),
                _ = self.terminate.recv() => Err(Interrupted.into()),
                _ = self.interrupt.recv() => Err(Interrupted.into()),
            }
        })
    }
}

fn reload_and_tell(reload: &http::Reload) {
    match reload() {
        Ok(said) => {
            let mut lines = said.lines();
            info!(result = lines.next().unwrap_or_default(), "reloaded");
            for line in lines {
                warn!(problem = line, "after the reload");
            }
        }
        Err(why) => error!(error = why, "cannot reload; the old configuration stays"),
    }
}
