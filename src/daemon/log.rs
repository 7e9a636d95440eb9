//! The log: lines on standard error, with a level that can be changed while running.

mod ceiling;

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

use crate::daemon::config::{Log, LogFormat};
use crate::daemon::log::ceiling::Ceiling;

/// Levels there are, from the quietest.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The log cannot be set up or changed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// It is no level.
    #[error("cannot log at {level:?}: not a level, nor a list of target=level")]
    Level {
        /// As given.
        level: String,
    },
    /// A log has been set up before.
    #[error("cannot set up the log: {0}")]
    Twice(String),
    /// The log is gone.
    #[error("cannot change the level of the log: {0}")]
    Gone(#[from] reload::Error),
}

/// Changes the log while it is written.
#[derive(Debug, Clone)]
pub struct Handle(reload::Handle<Targets, Registry>);

impl Handle {
    /// Logs at this level, or these levels, from now on.
    ///
    /// # Errors
    ///
    /// It is no level; the log stays as it was.
    pub fn set_level(&self, level: &str) -> Result<(), LogError> {
        Ok(self.0.reload(targets(level)?)?)
    }
}

/// Logs to standard error from now on. Once a process.
///
/// # Errors
///
/// The level is none, or there is a log already.
pub fn init(log: &Log) -> Result<Handle, LogError> {
    let (filter, handle) = reload::Layer::new(targets(&log.level)?);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(Ceiling::new(log.format))
        .with_ansi(false)
        .log_internal_errors(false);
    let lines = match log.format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text if the_journal_tells_the_time() => lines.without_time().boxed(),
        LogFormat::Text => lines.boxed(),
    };
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .try_init()
        .map_err(|error| LogError::Twice(error.to_string()))?;
    Ok(Handle(handle))
}

/// Whether the log can be written at this level, or at this list of levels.
#[must_use]
pub fn is_level(text: &str) -> bool {
    targets(text).is_ok()
}

/// Only names of levels are levels: a misspelt one would be a target that is never logged.
fn targets(level: &str) -> Result<Targets, LogError> {
    let known = |name: &str| LEVELS.contains(&name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte);
    let possible = level.split(',').all(|each| match each.split_once('=') {
        None => known(each),
        Some((target, name)) => !target.is_empty() && target.bytes().all(plain) && known(name),
    });
    let parsed = possible.then(|| level.parse().ok()).flatten();
    parsed.ok_or_else(|| LogError::Level {
        level: level.to_owned(),
    })
}

fn the_journal_tells_the_time() -> bool {
    std::env::var_os("JOURNAL_STREAM").is_some() && !io::stderr().is_terminal()
}

/// Writes events with their control characters escaped: host text must not drive a terminal or
/// make up lines. The escape is JSON's, so that a JSON line stays one.
#[derive(Debug)]
struct Escaped<W>(W);

impl Escaped<io::Stderr> {
    fn stderr() -> Self {
        Self(io::stderr())
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let (line, end) = match text.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (&*text, ""),
        };
        let mut safe = String::with_capacity(text.len());
        for character in line.chars() {
            if character.is_control() {
                safe.push_str(&format!("\\u{:04x}", u32::from(character)));
            } else {
                safe.push(character);
            }
        }
        safe.push_str(end);
        self.0.write_all(safe.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_the_line_ends_once() {
        let mut written = Vec::new();
        let event = "a\u{1b}[2J\nb\u{9b}é\n".as_bytes();
        assert_eq!(Escaped(&mut written).write(event).unwrap(), event.len());
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "a\\u001b[2J\\u000ab\\u009bé\n"
        );
    }

    #[test]
    fn a_misspelt_level_is_no_level() {
        for level in [
            "info",
            "off",
            "warn,railwatch::host=debug",
            "railwatch=trace",
        ] {
            assert!(is_level(level), "{level}");
        }
        for level in [
            "", "inof", "INFO", "info,", "=info", "a=inof", "a b=info", "[x]=info",
        ] {
            assert!(!is_level(level), "{level}");
        }
    }
}
