//! Exit codes: one list for every command.

use std::fmt;
use std::process::ExitCode;

use crate::daemon::once::OnceError;

/// Why a command ends without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The command line or the configuration is wrong.
    Usage,
    /// An input cannot be opened.
    Input,
    /// What the command needs is not there.
    Missing,
    /// Our own fault.
    Internal,
    /// The output cannot be written.
    Output,
    /// Somebody ended it.
    Interrupted,
}

impl Reason {
    fn number(self) -> u8 {
        match self {
            Self::Usage => 64,
            Self::Input => 66,
            Self::Missing => 69,
            Self::Internal => 70,
            Self::Output => 74,
            Self::Interrupted => 130,
        }
    }
}

impl From<Reason> for ExitCode {
    fn from(reason: Reason) -> Self {
        Self::from(reason.number())
    }
}

/// A command that failed: the reason, and what the user is told.
#[derive(Debug)]
pub struct Failure {
    /// Decides the exit code.
    pub reason: Reason,
    /// One line for each thing that is wrong.
    pub message: String,
}

impl Failure {
    /// A failure that is told as `error` with all its causes.
    #[must_use]
    pub fn new(reason: Reason, error: &anyhow::Error) -> Self {
        let mut message = String::new();
        for cause in error.chain().map(ToString::to_string) {
            // Some errors name their cause themselves.
            if message.ends_with(&cause) {
                continue;
            }
            if !message.is_empty() {
                message.push_str(": ");
            }
            message.push_str(&cause);
        }
        Self::told(reason, message)
    }

    /// A failure that is told like this.
    #[must_use]
    pub fn told(reason: Reason, message: impl fmt::Display) -> Self {
        Self {
            reason,
            message: message.to_string(),
        }
    }
}

impl From<OnceError> for Failure {
    fn from(error: OnceError) -> Self {
        let reason = match error {
            OnceError::Refused(_) => Reason::Input,
            OnceError::Nothing(_) => Reason::Missing,
            OnceError::Expectation { .. } => Reason::Usage,
        };
        Self::new(reason, &error.into())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let plain = || anyhow::anyhow!("no such file");
        let named = plain().context("cannot read x: no such file");
        let failure = Failure::new(Reason::Input, &named);
        assert_eq!(failure.message, "cannot read x: no such file");
        let apart = Err::<(), _>(plain()).context("cannot read x").unwrap_err();
        let failure = Failure::new(Reason::Input, &apart);
        assert_eq!(failure.message, "cannot read x: no such file");
    }
}
