//! `railwatch findings`: what the running daemon has found.

use crate::cli::arguments::{Global, Output};
use crate::cli::exit::{Failure, Reason};
use crate::cli::local::{Daemon, Unanswered};
use crate::cli::output;

/// What `findings` takes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of one finding
    pub id: Option<u64>,
    /// The paragraph for a repair order
    #[arg(long)]
    pub ticket: bool,
}

/// Prints them.
///
/// # Errors
///
/// There is no daemon, no such finding, or the answer cannot be written.
pub fn run(global: &Global, args: &Args) -> Result<(), Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let daemon = Daemon::new(&config.path.runtime, global.patience());
    let mut path = "/api/v1/findings".to_owned();
    if let Some(id) = args.id {
        path.push_str(&format!("/{id}"));
    }
    match (args.ticket, global.output) {
        (true, _) => path.push_str("?output=ticket"),
        (false, Output::Text) => path.push_str("?output=text"),
        (false, Output::Json) => {}
    }
    match daemon.get(&path) {
        Ok(answer) => output::print(&answer),
        Err(Unanswered::NoDaemon(error)) => Err(Failure::told(
            Reason::Missing,
            format!("{error}; findings are kept by the daemon, railwatch check --direct looks now"),
        )),
        Err(Unanswered::Failed(failure)) => Err(failure),
    }
}
