//! Kinds of values a key can have: what is allowed, how it is told, where it goes.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::time::Duration;

use crate::daemon::config::value::Given;
use crate::daemon::config::{Config, LogFormat};
use crate::daemon::{http, log};

/// What a key holds, which values it can have, and the part of [`Config`] it stands for.
#[derive(Debug, Clone, Copy)]
pub enum Field {
    /// A time in seconds, whole or with a fraction.
    Seconds {
        /// Its place.
        of: fn(&mut Config) -> &mut Duration,
        /// Shortest and longest, seconds.
        range: (u32, u32),
    },
    /// A number.
    Count {
        /// Its place.
        of: fn(&mut Config) -> &mut u32,
        /// Smallest and largest.
        range: (u32, u32),
    },
    /// `true` or `false`.
    Switch {
        /// Its place.
        of: fn(&mut Config) -> &mut bool,
    },
    /// The path of the exposition.
    UrlPath {
        /// Its place.
        of: fn(&mut Config) -> &mut String,
    },
    /// Levels of the log.
    Level {
        /// Its place.
        of: fn(&mut Config) -> &mut String,
    },
    /// Shape of a log line.
    Format {
        /// Its place.
        of: fn(&mut Config) -> &mut LogFormat,
    },
    /// Addresses to listen on, at least one.
    Addresses {
        /// Its place.
        of: fn(&mut Config) -> &mut Vec<String>,
    },
    /// A file's or directory's path.
    Path {
        /// Its place.
        of: fn(&mut Config) -> &mut PathBuf,
    },
}

/// Why a value cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// It is of another kind, which is named.
    Kind(String),
    /// It is of the right kind, but cannot be.
    Value(String),
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(given) => write!(f, "{given} is of the wrong type"),
            Self::Value(given) => write!(f, "{given} is not possible"),
        }
    }
}

impl Field {
    /// What is allowed, for people.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Self::Seconds { range, .. } => format!("{} to {} seconds", range.0, range.1),
            Self::Count { range, .. } => format!("a whole number from {} to {}", range.0, range.1),
            Self::Switch { .. } => "true or false".to_owned(),
            Self::UrlPath { .. } => "a path of / followed by letters, digits and any of - _ . ~ / \
                                     that is not one of the other routes"
                .to_owned(),
            Self::Level { .. } => "error, warn, info, debug or trace, or a list such as \
                                   \"info,railwatch::host=debug\""
                .to_owned(),
            Self::Format { .. } => "\"text\" or \"json\"".to_owned(),
            Self::Addresses { .. } => {
                "a list of at least one \"host:port\", \"[host]:port\" or \":port\"".to_owned()
            }
            Self::Path { .. } => "a path, not empty".to_owned(),
        }
    }

    /// The value as it would be written in the file, as `config` has it.
    #[must_use]
    pub fn shown(&self, config: &Config) -> String {
        self.value(config).to_string()
    }

    /// The value `config` has.
    #[must_use]
    pub fn value(&self, config: &Config) -> serde_json::Value {
        // The places are reached by `&mut` only, so that one function serves both ways.
        let config = &mut config.clone();
        match self {
            Self::Seconds { of, .. } => match of(config).subsec_nanos() {
                0 => of(config).as_secs().into(),
                _ => of(config).as_secs_f64().into(),
            },
            Self::Count { of, .. } => (*of(config)).into(),
            Self::Switch { of } => (*of(config)).into(),
            Self::UrlPath { of } | Self::Level { of } => of(config).as_str().into(),
            Self::Format { of } => match of(config) {
                LogFormat::Text => "text".into(),
                LogFormat::Json => "json".into(),
            },
            Self::Addresses { of } => of(config).clone().into(),
            Self::Path { of } => of(config).to_string_lossy().into(),
        }
    }

    /// Checks a value and puts it in its place.
    ///
    /// # Errors
    ///
    /// The value is of another kind or not possible; `config` is as it was.
    pub fn set(&self, config: &mut Config, given: &Given) -> Result<(), Wrong> {
        match self {
            Self::Seconds { of, range } => *of(config) = seconds(given, *range)?,
            Self::Count { of, range } => *of(config) = count(given, *range)?,
            Self::Switch { of } => *of(config) = given.switch().ok_or_else(|| kind(given))?,
            Self::UrlPath { of } => *of(config) = text(given, http::is_telemetry_path)?,
            Self::Level { of } => *of(config) = text(given, log::is_level)?,
            Self::Format { of } => {
                *of(config) = match given.text().ok_or_else(|| kind(given))? {
                    "text" => LogFormat::Text,
                    "json" => LogFormat::Json,
                    _ => return Err(value(given)),
                }
            }
            Self::Addresses { of } => *of(config) = addresses(given)?,
            Self::Path { of } => {
                let possible = |path: &str| !path.is_empty() && !path.contains('\0');
                *of(config) = PathBuf::from(text(given, possible)?);
            }
        }
        Ok(())
    }

    /// What a text without types, from the environment or a flag, stands for.
    #[must_use]
    pub fn read(&self, text: &str) -> Given {
        match self {
            Self::Seconds { .. } | Self::Count { .. } | Self::Switch { .. } => {
                Given::from_text(text)
            }
            Self::UrlPath { .. } | Self::Level { .. } | Self::Format { .. } | Self::Path { .. } => {
                Given::Text(text.to_owned())
            }
            Self::Addresses { .. } => {
                let each = text
                    .split(',')
                    .map(|each| Given::Text(each.trim().to_owned()));
                Given::List(each.collect())
            }
        }
    }
}

fn seconds(given: &Given, range: (u32, u32)) -> Result<Duration, Wrong> {
    let seconds = given.number().ok_or_else(|| kind(given))?;
    if !(f64::from(range.0)..=f64::from(range.1)).contains(&seconds) {
        return Err(value(given));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| value(given))
}

fn count(given: &Given, range: (u32, u32)) -> Result<u32, Wrong> {
    // A number that is not whole, or does not fit, is still a number.
    given.number().ok_or_else(|| kind(given))?;
    let number = given.integer().ok_or_else(|| value(given))?;
    u32::try_from(number)
        .ok()
        .filter(|number| (range.0..=range.1).contains(number))
        .ok_or_else(|| value(given))
}

fn text(given: &Given, possible: fn(&str) -> bool) -> Result<String, Wrong> {
    let text = given.text().ok_or_else(|| kind(given))?;
    if possible(text) {
        Ok(text.to_owned())
    } else {
        Err(value(given))
    }
}

fn addresses(given: &Given) -> Result<Vec<String>, Wrong> {
    let list = given.list().ok_or_else(|| kind(given))?;
    if list.is_empty() {
        return Err(value(given));
    }
    list.iter().map(|each| text(each, is_address)).collect()
}

/// `host:port` with a port; whether the host exists is seen when it is listened on.
fn is_address(text: &str) -> bool {
    let plain = |character: char| !character.is_whitespace() && !character.is_control();
    text.chars().all(plain)
        && text
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

fn kind(given: &Given) -> Wrong {
    Wrong::Kind(given.kind().to_owned())
}

fn value(given: &Given) -> Wrong {
    Wrong::Value(given.to_string())
}

/// A TOML basic string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
