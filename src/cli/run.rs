//! `railwatch run`: the daemon.

use crate::cli::arguments::{Global, RunOptions};
use crate::cli::exit::{Failure, Reason};
use crate::daemon::config::Config;
use crate::daemon::config::layers::{self, Inputs};
use crate::daemon::log;
use crate::daemon::run::{self, Options};

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
    for problem in &loaded.problems {
        tracing::warn!(%problem, "a part of the configuration is not used");
    }
    if loaded.file_ignored {
        tracing::error!("the configuration file cannot be used: every key it would set is at its default");
    }
    let options = Options {
        problems: loaded.problems.len(),
        config: loaded.config,
        node,
        clock_factor: options.clock_factor,
        reload: Box::new(move || again(&inputs, &log)),
    };
    run::run(options).map_err(|error| Failure::new(Reason::Internal, &error))
}

/// Loads the configuration for a reload. A file that cannot be used changes nothing.
fn again(inputs: &Inputs, log: &log::Handle) -> Result<(Config, Vec<String>), String> {
    let loaded = layers::load(inputs).map_err(|error| error.to_string())?;
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    if loaded.file_ignored {
        return Err(problems.join("\n"));
    }
    log.set_level(&loaded.config.log.level)
        .map_err(|error| error.to_string())?;
    Ok((loaded.config, problems))
}
