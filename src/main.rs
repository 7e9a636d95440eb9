//! The `railwatch` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    railwatch::cli::main(std::env::args_os())
}
