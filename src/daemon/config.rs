//! What the daemon can be told, and its defaults.
//!
//! `schema` lists every key once; the file, the environment and the flags are layers over the
//! defaults, and every problem of every layer is found before anything is said.

pub mod example;
pub mod field;
pub mod layers;
mod nearest;
pub mod problem;
pub mod reference;
pub mod schema;
mod text;
pub mod value;

use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be set; a missing key has the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// Section `[web]`.
    pub web: Web,
    /// Section `[lanes]`.
    pub lanes: Lanes,
    /// Section `[reader]`.
    pub reader: Reader,
    /// Section `[metrics]`.
    pub metrics: Metrics,
    /// Section `[log]`.
    pub log: Log,
    /// Section `[path]`.
    pub path: Paths,
}

/// Section `[web]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Web {
    /// `host:port` to listen on; `:port` is every address of the host.
    pub listen_address: Vec<String>,
    /// Path of the exposition.
    pub telemetry_path: String,
    /// Connections served at once; more wait in the backlog.
    pub max_connections: u32,
    /// A request's headers must have come by then.
    pub header_timeout: Duration,
    /// A response must have been taken by then.
    pub request_timeout: Duration,
    /// Leaves our own process and source families out.
    pub disable_exporter_metrics: bool,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            listen_address: vec![":29400".to_owned()],
            telemetry_path: "/metrics".to_owned(),
            // Two Prometheus servers, a browser and some room; each connection costs ~20 kB.
            max_connections: 64,
            header_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            disable_exporter_metrics: false,
        }
    }
}

/// Section `[lanes]`: how often rows are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes {
    /// Data, packets, RDMA counters.
    pub fast: Duration,
    /// Port state and carrier.
    pub link: Duration,
    /// What hardly ever changes.
    pub slow: Duration,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            // sysfs costs mlx5 firmware commands per file: never below a second on this path.
            fast: Duration::from_secs(1),
            link: Duration::from_secs(1),
            slow: Duration::from_secs(60),
        }
    }
}

/// Section `[reader]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// A device that has not answered a poll by then is given up and its reader replaced.
    pub deadline: Duration,
}

impl Default for Reader {
    fn default() -> Self {
        // mlx5 gives a firmware command up to 60 s before it resets the card, but a healthy one
        // answers in microseconds; ten seconds tells a slow card from a stuck one.
        Self {
            deadline: Duration::from_secs(10),
        }
    }
}

/// Section `[metrics]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// Export counters the catalog lacks as `railwatch_raw_reading`.
    pub raw_counters: bool,
}

/// Section `[log]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`, or a filter of `tracing`.
    pub level: String,
    /// Shape of a line.
    pub format: LogFormat,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            format: LogFormat::Text,
        }
    }
}

/// Shape of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people and the journal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Section `[path]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Paths {
    /// Where this host's sysfs is seen.
    pub sysfs: PathBuf,
    /// Where this host's procfs is seen.
    pub procfs: PathBuf,
    /// What survives a restart.
    pub state: PathBuf,
    /// The local socket's directory.
    pub runtime: PathBuf,
    /// What nodes should have; need not be there.
    pub expect: PathBuf,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            sysfs: PathBuf::from("/sys"),
            procfs: PathBuf::from("/proc"),
            state: PathBuf::from("/var/lib/railwatch"),
            runtime: PathBuf::from("/run/railwatch"),
            expect: PathBuf::from("/etc/railwatch/expect.toml"),
        }
    }
}
