//! `railwatch silence` and `railwatch maintenance`: what a person asks the daemon for.

use std::time::Duration;

use clap::Subcommand;

use crate::cli::arguments::{Global, duration};
use crate::cli::exit::{Failure, Reason};
use crate::cli::local::Daemon;
use crate::cli::output;
use crate::daemon::judge::Ask;

/// What `silence` takes.
#[derive(Debug, clap::Args)]
pub struct SilenceArgs {
    /// Code of the finding, such as link_down
    pub code: String,
    /// Subject, such as mlx5_3; every one if it is not given
    pub subject: Option<String>,
    /// How long, at most 24h
    #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "1h")]
    pub span: Duration,
    /// Why, for those who come after
    #[arg(long, default_value = "")]
    pub reason: String,
}

/// What to tell.
#[derive(Debug, Subcommand)]
pub enum MaintenanceCommand {
    /// Somebody works on this node
    On {
        /// How long, at most 24h
        #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "2h")]
        span: Duration,
        /// Why, for those who come after
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Nobody does any more
    Off,
}

/// Silences a finding.
///
/// # Errors
///
/// There is no daemon, or it refuses.
pub fn silence(global: &Global, args: &SilenceArgs) -> Result<(), Failure> {
    ask(
        global,
        &Ask::Silence {
            code: args.code.clone(),
            subject: args.subject.clone(),
            seconds: args.span.as_secs_f64(),
            reason: args.reason.clone(),
        },
    )
}

/// Begins or ends maintenance.
///
/// # Errors
///
/// There is no daemon, or it refuses.
pub fn maintenance(global: &Global, what: &MaintenanceCommand) -> Result<(), Failure> {
    let asked = match what {
        MaintenanceCommand::On { span, reason } => Ask::MaintenanceOn {
            seconds: span.as_secs_f64(),
            reason: reason.clone(),
        },
        MaintenanceCommand::Off => Ask::MaintenanceOff,
    };
    ask(global, &asked)
}

/// Asks the daemon for something and says what came of it.
pub(super) fn ask(global: &Global, asked: &Ask) -> Result<(), Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let body = serde_json::to_string(asked)
        .map_err(|error| Failure::new(Reason::Internal, &error.into()))?;
    let answer = Daemon::new(&config.path.runtime, global.patience())
        .send("POST", "/api/v1/ask", &body)
        .map_err(|error| Failure::new(Reason::Missing, &error.into()))?;
    match answer.status {
        200 => output::print(output::lines(&[answer.text()]).as_bytes()),
        400 | 422 => Err(Failure::told(Reason::Usage, answer.text())),
        status => Err(Failure::told(
            Reason::Internal,
            format!("the daemon answered {status}: {}", answer.text()),
        )),
    }
}
