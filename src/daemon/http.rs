//! The HTTP server: metrics, health, the node document and a page, over TCP and the local socket.
//!
//! It runs on one thread of its own and shows what the poller has published; it never reads the
//! host. Its accept loop is its own because `axum::serve` has neither header timeouts nor a cap on
//! connections.

mod accept_encoding;
mod connection;
mod exposition;
mod findings;
mod holder;
mod listen;
mod routes;
mod stream;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::core::model::snapshot::Snapshot;
use crate::core::render::metrics::OwnFamilies;
use crate::daemon::config::Web;
use crate::daemon::judge::Ask;
use crate::daemon::socket::{self, LocalSocket, SocketFile};
use crate::host::clock::Clock;
use connection::{Door, Listener};
use exposition::Exposition;
use routes::{App, Way};
use stream::Limits;

pub use holder::Holder;
pub use listen::ListenError;

/// Does a reload and says what came of it: a line for who asked, or why nothing was changed.
pub type Reload = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// Does what a person asks for; what was done, or why nothing was.
pub type Asking = Arc<dyn Fn(Ask) -> Result<String, String> + Send + Sync>;

/// A scraper's next request comes within a minute as a rule; later it has to connect again.
const IDLE: Duration = Duration::from_secs(90);
/// Commands on the local socket do not compete with scrapers for places.
const LOCAL_PLACES: u32 = 16;

/// What the server needs.
pub struct ServeOptions {
    /// Section `[web]` of the configuration.
    pub web: Web,
    /// Directory of the local socket.
    pub runtime_dir: PathBuf,
    /// What the poller publishes.
    pub snapshots: watch::Receiver<Option<Arc<Snapshot>>>,
    /// Called for `POST /api/v1/reload` on the local socket, on a thread that may block.
    pub reload: Reload,
    /// Called for `POST /api/v1/ask` on the local socket, on a thread that may block.
    pub ask: Asking,
    /// The poller's clock: tells how old a snapshot is.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeOptions")
            .field("web", &self.web)
            .field("runtime_dir", &self.runtime_dir)
            .finish_non_exhaustive()
    }
}

/// The server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// There is no address to listen on.
    #[error("cannot serve: no listen address is configured")]
    NoAddress,
    /// The exposition cannot have that path.
    #[error(
        "cannot serve metrics at {path:?}: a telemetry path is / followed by letters, digits and \
         any of - _ . ~ / and is not one of the daemon's other paths"
    )]
    TelemetryPath {
        /// As configured.
        path: String,
    },
    /// The server's thread or its event loop cannot be made.
    #[error("cannot start the HTTP thread: {0}")]
    Thread(#[source] io::Error),
}

/// Whether metrics can be served at that path.
#[must_use]
pub fn is_telemetry_path(path: &str) -> bool {
    routes::is_telemetry_path(path)
}

/// A running server. Dropping it stops it without grace.
#[derive(Debug)]
pub struct Handle {
    addresses: Vec<SocketAddr>,
    socket: Option<PathBuf>,
    stop: CancellationToken,
    grace: Arc<OnceLock<Duration>>,
    thread: Option<JoinHandle<()>>,
}

/// Listens, then serves on a thread of its own. When this returns, clients can connect.
///
/// Without its local socket the server runs on; that is a warning in the log.
///
/// # Errors
///
/// An address is wrong or taken, the telemetry path is not usable, or the thread cannot start.
pub fn serve(options: ServeOptions) -> Result<Handle, ServeError> {
    if !routes::is_telemetry_path(&options.web.telemetry_path) {
        return Err(ServeError::TelemetryPath {
            path: options.web.telemetry_path,
        });
    }
    let runtime = runtime().map_err(ServeError::Thread)?;
    let mut listeners = Vec::new();
    for address in &options.web.listen_address {
        listeners.extend(listen::bind(address, &*options.clock)?);
    }
    if listeners.is_empty() {
        return Err(ServeError::NoAddress);
    }
    let context = runtime.enter();
    let listeners = listeners
        .into_iter()
        .map(TcpListener::from_std)
        .collect::<io::Result<Vec<_>>>()
        .map_err(ServeError::Thread)?;
    let addresses = listeners.iter().flat_map(TcpListener::local_addr).collect();
    let local = local_socket(&options.runtime_dir);
    drop(context);
    let socket = local.as_ref().map(|(_, file)| file.path().to_owned());
    let stop = CancellationToken::new();
    let grace = Arc::new(OnceLock::new());
    let house = House {
        listeners,
        local,
        stop: stop.clone(),
        grace: Arc::clone(&grace),
    };
    let thread = std::thread::Builder::new()
        .name("http".to_owned())
        .spawn(move || house.run(runtime, options))
        .map_err(ServeError::Thread)?;
    Ok(Handle {
        addresses,
        socket,
        stop,
        grace,
        thread: Some(thread),
    })
}

impl Handle {
    /// The addresses listened on.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The local socket, if there is one.
    #[must_use]
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// Whether the server's thread has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Listens no longer, lets requests in progress end within `grace`, then cuts them. Returns
    /// when the thread has ended.
    pub fn stop(mut self, grace: Duration) {
        self.grace.get_or_init(|| grace);
        self.stop.cancel();
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            tracing::error!("the HTTP thread panicked");
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // For reloads alone, one at a time.
        .max_blocking_threads(1)
        .thread_keep_alive(Duration::from_secs(1))
        .build()
}

fn local_socket(runtime_dir: &Path) -> Option<(UnixListener, SocketFile)> {
    let made = LocalSocket::bind(runtime_dir).map_err(anyhow::Error::from);
    let made = made.and_then(|socket| {
        let (listener, file) = socket.into_parts();
        Ok((UnixListener::from_std(listener)?, file))
    });
    match made {
        Ok(local) => Some(local),
        Err(error) => {
            tracing::warn!(error = %error, "no local socket: commands cannot reach this daemon");
            None
        }
    }
}

/// What the server's thread owns.
struct House {
    listeners: Vec<TcpListener>,
    local: Option<(UnixListener, SocketFile)>,
    stop: CancellationToken,
    grace: Arc<OnceLock<Duration>>,
}

impl House {
    fn run(self, runtime: Runtime, options: ServeOptions) {
        runtime.block_on(self.open(options));
        // A reload that hangs must not hold the daemon back.
        runtime.shutdown_background();
    }

    async fn open(self, options: ServeOptions) {
        let web = &options.web;
        let limits = Limits {
            head: web.header_timeout,
            answer: web.request_timeout,
            idle: IDLE,
        };
        let places = web.max_connections;
        let app = Arc::new(app(options, &self.stop));
        let tasks = TaskTracker::new();
        let door = |way, places| {
            let router = routes::router(&app, way);
            let ends = (self.stop.clone(), tasks.clone());
            Arc::new(Door::new(router, limits, places, ends))
        };
        let tcp = door(Way::Tcp, places);
        for listener in self.listeners {
            tasks.spawn(Arc::clone(&tcp).accept(Listener::Tcp(listener)));
        }
        let mut file = None;
        if let Some((listener, kept)) = self.local {
            let local = door(Way::Local, LOCAL_PLACES);
            tasks.spawn(local.accept(Listener::Local(listener)));
            file = Some(kept);
        }
        self.stop.cancelled().await;
        drop(file);
        tasks.close();
        let grace = self.grace.get().copied().unwrap_or_default();
        if tokio::time::timeout(grace, tasks.wait()).await.is_err() {
            tracing::info!("requests were still in progress at the end of the grace time");
        }
    }
}

fn app(options: ServeOptions, stop: &CancellationToken) -> App {
    let own = if options.web.disable_exporter_metrics {
        OwnFamilies::Hidden
    } else {
        OwnFamilies::Shown
    };
    App {
        telemetry_path: options.web.telemetry_path,
        request_timeout: options.web.request_timeout,
        exposition: Exposition::new(own),
        snapshots: options.snapshots,
        clock: options.clock,
        reload: options.reload,
        ask: options.ask,
        socket: options.runtime_dir.join(socket::NAME).display().to_string(),
        stop: stop.clone(),
    }
}
