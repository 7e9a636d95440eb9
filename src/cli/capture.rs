//! `railwatch capture`: a node's files, to be read elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::cli::arguments::Global;
use crate::cli::exit::{Failure, Reason};
use crate::cli::output;
use crate::core::wire::Node;
use crate::host::capture::pack::{self, Existing};
use crate::host::capture::redact::Redactor;
use crate::host::capture::{Gathered, gather};
use crate::host::clock::{BootClock, wall_seconds};
use crate::host::tree::live::Live;
use crate::host::tree::{Tree, captured};

/// Time for a capture: a device that does not answer is given up well before.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest list of what was left out that the terminal is given.
const TOLD: usize = 20;

/// What `capture` takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to: a .tar.zst, .tar.gz or .tar file, or a directory that is empty or not there
    #[arg(short, long, value_name = "FILE|DIR")]
    pub out: PathBuf,
    /// Keep addresses, GUIDs, serial numbers and host names as they are
    #[arg(long)]
    pub keep_identities: bool,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
}

/// `capture.json`.
#[derive(Debug, Serialize)]
struct About<'a> {
    format: &'static str,
    version: &'static str,
    kernel: Option<&'a str>,
    time: Option<String>,
    redacted: bool,
    errors: &'a [String],
}

/// Takes the capture; it ends in time with what it has.
///
/// # Errors
///
/// The node cannot be opened (66), the output cannot be written or is there already (74).
pub fn run(global: &Global, args: &Args) -> Result<(), Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let node = global.wanted_node(&config)?;
    take(args, &node, global.timeout.unwrap_or(PATIENCE))?;
    output::tell(&format!("wrote {}", args.out.display()));
    Ok(())
}

/// Takes the capture of this node within this time.
///
/// # Errors
///
/// As [`run`].
pub fn take(args: &Args, node: &Node, timeout: Duration) -> Result<(), Failure> {
    let existing = match args.force {
        true => Existing::Replace,
        false => Existing::Keep,
    };
    let unwritten = |error: pack::PackError| {
        let reason = match error {
            pack::PackError::Name(_) => Reason::Usage,
            _ => Reason::Output,
        };
        Failure::new(reason, &error.into())
    };
    // Before the node is read, as that may take a minute.
    pack::refuse(&args.out, existing).map_err(unwritten)?;
    let tree = open(node)?;
    let gathered = gather(&tree, &BootClock::new(1), reading_time(timeout));
    let gathered = match args.keep_identities {
        true => gathered,
        false => Redactor::redact(gathered, hostname(tree.as_ref()).as_deref()),
    };
    let about = about(&gathered, tree.as_ref(), !args.keep_identities)?;
    pack::write(&gathered, &about, &args.out, existing).map_err(unwritten)?;
    for error in gathered.errors.iter().take(TOLD) {
        output::tell(error);
    }
    Ok(())
}

fn open(node: &Node) -> Result<Arc<dyn Tree>, Failure> {
    let failed = |error: anyhow::Error| Failure::new(Reason::Input, &error);
    match node {
        Node::Host { sysfs, procfs } => Live::open(Path::new(sysfs), Path::new(procfs))
            .map(|live| Arc::new(live) as Arc<dyn Tree>)
            .map_err(|error| failed(error.into())),
        Node::Captured { path } => {
            captured::open(Path::new(path)).map_err(|error| failed(error.into()))
        }
    }
}

/// The node's name, only to look for it in what is captured.
fn hostname(tree: &dyn Tree) -> Option<String> {
    let bytes = tree.read("proc/sys/kernel/hostname", 256).ok()?;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}

fn about(gathered: &Gathered, tree: &dyn Tree, redacted: bool) -> Result<String, Failure> {
    let release = tree.read("proc/sys/kernel/osrelease", 256).ok();
    let release = release.and_then(|bytes| String::from_utf8(bytes).ok());
    let time = Duration::try_from_secs_f64(wall_seconds())
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let about = About {
        format: "railwatch-capture/1",
        version: env!("CARGO_PKG_VERSION"),
        kernel: release.as_deref().map(str::trim),
        time: time.map(|time| time.to_string()),
        redacted,
        errors: &gathered.errors,
    };
    serde_json::to_string_pretty(&about)
        .map(|text| format!("{text}\n"))
        .map_err(|error| Failure::new(Reason::Internal, &error.into()))
}

/// Nine tenths: the rest is for the stand-ins and for writing.
fn reading_time(timeout: Duration) -> Duration {
    timeout.saturating_sub(timeout.checked_div(10).unwrap_or_default())
}
