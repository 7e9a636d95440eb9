//! `railwatch check` and `railwatch doctor`: is the node healthy, and how much of it can be judged.

use clap::ValueEnum;

use crate::cli::arguments::{Global, Output};
use crate::cli::exit::{Failure, Reason};
use crate::cli::local::{Daemon, Unanswered};
use crate::cli::output;
use crate::core::detect::rule::Area;
use crate::core::model::snapshot::Snapshot;
use crate::core::render::check::{Check, FailOn};
use crate::core::render::doctor;
use crate::daemon::config::Config;
use crate::daemon::once;

/// What `check` takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to look at; everything if nothing is named
    #[arg(value_enum, value_name = "AREA")]
    pub areas: Vec<AreaName>,
    /// How bad it must be to end with a code other than 0
    #[arg(long, value_enum, default_value_t = FailOnName::Warning, value_name = "SEVERITY")]
    pub fail_on: FailOnName,
    /// Answer as this caller needs it: code 1 and one line only for what must keep jobs off the node
    #[arg(long = "for", value_enum, value_name = "CALLER")]
    pub caller: Option<Caller>,
    /// Read the node here and now, twice, do not ask the daemon
    #[arg(long)]
    pub direct: bool,
}

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Read the node here and now, twice, do not ask the daemon
    #[arg(long)]
    pub direct: bool,
}

/// An area on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum AreaName {
    /// Ports and cables
    Link,
    /// RDMA over Ethernet
    Roce,
    /// Links between GPUs
    Nvlink,
    /// GPUs
    Gpu,
    /// PCIe links
    Pcie,
    /// What the node has
    Topology,
    /// Which paths jobs use
    Route,
    /// Measured collectives
    Bench,
    /// The host and railwatch itself
    Host,
}

impl AreaName {
    fn area(self) -> Area {
        match self {
            Self::Link => Area::Link,
            Self::Roce => Area::Roce,
            Self::Nvlink => Area::Nvlink,
            Self::Gpu => Area::Gpu,
            Self::Pcie => Area::Pcie,
            Self::Topology => Area::Topology,
            Self::Route => Area::Route,
            Self::Bench => Area::Bench,
            Self::Host => Area::Host,
        }
    }
}

/// A severity on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum FailOnName {
    /// Warnings and worse, and what was asked for and cannot be judged
    Warning,
    /// Critical findings alone
    Critical,
    /// As warning
    Unknown,
}

impl FailOnName {
    fn fail_on(self) -> FailOn {
        match self {
            Self::Warning => FailOn::Warning,
            Self::Critical => FailOn::Critical,
            Self::Unknown => FailOn::Unknown,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Unknown => "unknown",
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum Caller {
    /// A prolog or health check of Slurm, which drains the node for any code but 0
    Slurm,
    /// Node Health Check
    Nhc,
}

/// What an answer comes to.
struct Answer {
    body: Vec<u8>,
    exit: u8,
    gate: Option<String>,
}

/// Checks, and says with which code to end.
///
/// # Errors
///
/// Nothing can be asked or read; for a caller that drains nodes that is no failure.
pub fn run(global: &Global, args: &Args) -> Result<u8, Failure> {
    let answer = answer(global, args);
    let Some(_) = args.caller else {
        let answer = answer?;
        output::print(&answer.body)?;
        return Ok(answer.exit);
    };
    // Only what certainly keeps a job from running may take a node away.
    match answer {
        Ok(Answer {
            gate: Some(gate), ..
        }) => {
            output::print(format!("railwatch: {gate}\n").as_bytes())?;
            Ok(1)
        }
        Ok(Answer { exit, .. }) => {
            if exit != 0 {
                output::tell(&format!("not draining: check would end with {exit}"));
            }
            Ok(0)
        }
        Err(failure) => {
            output::tell(&format!("not draining: {}", failure.message));
            Ok(0)
        }
    }
}

fn answer(global: &Global, args: &Args) -> Result<Answer, Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let daemon = Daemon::new(&config.path.runtime, global.patience());
    if !args.direct && !global.is_elsewhere() {
        match asked(&daemon, global.output, args) {
            Ok(answer) => return Ok(answer),
            Err(Unanswered::NoDaemon(error)) => {
                output::tell(&format!("{error}; reading by myself"));
            }
            Err(Unanswered::Failed(failure)) => return Err(failure),
        }
    }
    let snapshot = judged(global, &config, &daemon)?;
    let areas: Vec<Area> = args.areas.iter().map(|area| area.area()).collect();
    let check = Check::new(&snapshot, &areas);
    let fail_on = args.fail_on.fail_on();
    let body = match global.output {
        Output::Text => check.text().into_bytes(),
        Output::Json => check
            .document(fail_on)
            .map_err(|error| Failure::new(Reason::Internal, &error.into()))?,
    };
    Ok(Answer {
        body,
        exit: check.exit(fail_on),
        gate: check.gate(),
    })
}

fn asked(daemon: &Daemon, shape: Output, args: &Args) -> Result<Answer, Unanswered> {
    let areas: Vec<&str> = args.areas.iter().map(|area| area.area().as_str()).collect();
    let path = format!(
        "/api/v1/check?areas={}&fail_on={}",
        areas.join(","),
        args.fail_on.word()
    );
    let document = daemon.get(&path)?;
    let told: serde_json::Value = serde_json::from_slice(&document).map_err(|error| {
        Unanswered::Failed(Failure::told(
            Reason::Internal,
            format!("cannot understand the daemon's answer: {error}"),
        ))
    })?;
    let exit = told.get("exit").and_then(serde_json::Value::as_u64);
    let gate = told.get("gate").and_then(serde_json::Value::as_str);
    let body = match shape {
        Output::Json => document,
        Output::Text => {
            age(&told);
            daemon.get(&format!("{path}&output=text"))?
        }
    };
    Ok(Answer {
        body,
        exit: exit.and_then(|exit| u8::try_from(exit).ok()).unwrap_or(3),
        gate: gate.map(str::to_owned),
    })
}

/// Says how old the daemon's answer is.
fn age(document: &serde_json::Value) {
    if let Some(t) = document.get("t").and_then(serde_json::Value::as_f64) {
        let age = (crate::host::clock::wall_seconds() - t).max(0.0);
        output::tell(&format!("read by the daemon {age:.1} s ago"));
    }
}

/// The node read twice, a second apart, and judged without waiting for verdicts to hold.
fn judged(global: &Global, config: &Config, daemon: &Daemon) -> Result<Snapshot, Failure> {
    let node = global.wanted_node(config)?;
    let once = once::judged(config, node, daemon.left())?;
    for device in &once.late {
        output::tell(&format!("{} did not answer in time", device.as_str()));
    }
    Ok(once.snapshot)
}

/// Says what works here.
///
/// # Errors
///
/// Nothing can be asked or read, or the answer cannot be written.
pub fn doctor(global: &Global, args: &DoctorArgs) -> Result<(), Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let daemon = Daemon::new(&config.path.runtime, global.patience());
    if !args.direct && !global.is_elsewhere() {
        let path = match global.output {
            Output::Text => "/api/v1/coverage?output=text",
            Output::Json => "/api/v1/coverage",
        };
        match daemon.get(path) {
            Ok(answer) => return output::print(&answer),
            Err(Unanswered::NoDaemon(error)) => {
                output::tell(&format!("{error}; reading by myself"));
            }
            Err(Unanswered::Failed(failure)) => return Err(failure),
        }
    }
    let snapshot = judged(global, &config, &daemon)?;
    let body = match global.output {
        Output::Text => doctor::text(&snapshot).into_bytes(),
        Output::Json => doctor::document(&snapshot)
            .map_err(|error| Failure::new(Reason::Internal, &error.into()))?,
    };
    output::print(&body)
}
