//! `railwatch reload`: the running daemon reads its configuration again.

use crate::cli::arguments::Global;
use crate::cli::exit::{Failure, Reason};
use crate::cli::local::Daemon;
use crate::cli::output;

/// Asks for it and says what came of it.
///
/// # Errors
///
/// There is no daemon, or it kept its configuration.
pub fn run(global: &Global) -> Result<(), Failure> {
    let config = global.load_and_tell(&global.inputs())?;
    let answer = Daemon::new(&config.path.runtime, global.patience())
        .ask("POST", "/api/v1/reload")
        .map_err(|error| Failure::new(Reason::Missing, &error.into()))?;
    match answer.status {
        200 => output::print(output::lines(&[answer.text()]).as_bytes()),
        422 => Err(Failure::told(Reason::Usage, answer.text())),
        status => Err(Failure::told(
            Reason::Internal,
            format!("the daemon answered {status}: {}", answer.text()),
        )),
    }
}
