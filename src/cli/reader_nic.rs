//! `railwatch reader-nic`: the child that reads for the daemon. Sets up nothing else.

use crate::cli::exit::{Failure, Reason};
use crate::host::reader;

/// Reads until the daemon closes the pipe.
///
/// # Errors
///
/// The reader ended before its pipe did.
pub fn run() -> Result<(), Failure> {
    reader::run_stdio().map_err(|error| Failure::new(Reason::Internal, &error.into()))
}
