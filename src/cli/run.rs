//! `railwatch run`: the daemon.

use std::sync::Arc;

use crate::cli::arguments::{Global, RunOptions};
use crate::cli::exit::{Failure, Reason};
use crate::daemon::config::layers::{self, Inputs};
use crate::daemon::http::{ListenError, ServeError};
use crate::daemon::log;
use crate::daemon::run::{self, Interrupted, Loaded, Options};
use crate::host::tree::captured::OpenError;

/// Runs until a signal ends it.
///
/// # Errors
///
/// The command line or, with `--config.strict`, the configuration is wrong; the daemon cannot
/// start or go on.
pub fn run(global: &Global, options: &RunOptions) -> Result<(), Failure> {
    let mut inputs = global.inputs();
    inputs.flags.extend(options.flags());
    let loaded = global.load(&inputs)?;
    let node = global.wanted_node(&loaded.config)?;
    let log = log::init(&loaded.config.log)
        .map_err(|error| Failure::new(Reason::Internal, &error.into()))?;
    if loaded.file_ignored {
        tracing::error!(
            "nothing of the configuration file is used: its keys are at their defaults"
        );
    }
    let strict = global.config_strict;
    let options = Options {
        loaded: plain(loaded),
        load: Arc::new(move || again(&inputs, strict, &log)),
        node,
        clock_factor: options.clock_factor,
    };
    run::run(options).map_err(|error| Failure::new(reason(&error), &error))
}

/// Loads the configuration for a reload. A file that cannot be used changes nothing.
fn again(inputs: &Inputs, strict: bool, log: &log::Handle) -> Result<Loaded, String> {
    let loaded = layers::load(inputs).map_err(|error| error.to_string())?;
    let ignored = loaded.file_ignored;
    let loaded = plain(loaded);
    if ignored || (strict && !loaded.problems.is_empty()) {
        let problems = loaded.problems.join("\n");
        return Err(format!("the configuration is as it was\n{problems}"));
    }
    log.set_level(&loaded.config.log.level)
        .map_err(|error| error.to_string())?;
    Ok(loaded)
}

fn plain(loaded: layers::Loaded) -> Loaded {
    let problems = loaded.problems.iter();
    Loaded {
        problems: problems.map(|problem| problem.to_string()).collect(),
        config: loaded.config,
    }
}

fn reason(error: &anyhow::Error) -> Reason {
    if error.is::<Interrupted>() {
        return Reason::Interrupted;
    }
    if error.is::<OpenError>() {
        return Reason::Input;
    }
    match error.downcast_ref::<ServeError>() {
        Some(
            ServeError::NoAddress
            | ServeError::TelemetryPath { .. }
            | ServeError::Listen(ListenError::Form { .. } | ListenError::Resolve { .. }),
        ) => Reason::Usage,
        Some(ServeError::Listen(_)) => Reason::Missing,
        Some(ServeError::Thread(_)) | None => Reason::Internal,
    }
}
