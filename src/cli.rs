//! One file a command.

pub mod arguments;
pub mod attention;
pub mod capture;
pub mod check;
pub mod config;
pub mod exit;
pub mod expect;
pub mod findings;
pub mod local;
pub mod metrics;
pub mod output;
pub mod reader_nic;
pub mod reload;
pub mod run;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::arguments::{Arguments, Command};
use crate::cli::exit::{Failure, Reason};

/// Does what the command line asks for.
#[must_use]
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    match guarded(|| command(arguments)) {
        Ok(code) => code,
        Err(failure) => {
            output::tell(&failure.message);
            failure.reason.into()
        }
    }
}

/// A panic is our own fault, too; its place has been told by then.
fn guarded(command: impl FnOnce() -> Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let message = "internal error; please report the lines above";
        Err(Failure::told(Reason::Internal, message))
    })
}

fn command(arguments: Vec<OsString>) -> Result<ExitCode, Failure> {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return not_a_command(&error).map(|()| ExitCode::SUCCESS),
    };
    let global = &arguments.global;
    let done = match &arguments.command {
        Command::Check(options) => {
            return check::run(global, options).map(ExitCode::from);
        }
        Command::Doctor(options) => check::doctor(global, options),
        Command::Findings(options) => findings::run(global, options),
        Command::Expect(options) => expect::run(global, options),
        Command::Silence(options) => attention::silence(global, options),
        Command::Maintenance { what } => attention::maintenance(global, what),
        Command::ReaderNic => reader_nic::run(),
        Command::Run(web) => run::run(global, web),
        Command::Metrics(options) => metrics::run(global, options),
        Command::Config { what } => config::run(global, *what),
        Command::Capture(options) => capture::run(global, options),
        Command::Reload => reload::run(global),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// Help and version are answers; everything else is a usage error.
fn not_a_command(error: &clap::Error) -> Result<(), Failure> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        return output::print(text.as_bytes());
    }
    output::tell_plainly(&text);
    Err(Failure::told(Reason::Usage, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_internal_error() {
        let failure = guarded(|| panic!("on purpose")).unwrap_err();
        assert_eq!(failure.reason, Reason::Internal);
        assert!(guarded(|| Ok(ExitCode::SUCCESS)).is_ok());
    }
}
