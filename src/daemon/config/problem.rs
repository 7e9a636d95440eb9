//! What is wrong with the configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A line of the file.
    File {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub origin: Origin,
    /// The key in a file, as `section.key`; none where the origin says it all.
    pub key: Option<String>,
    /// What, and what is allowed.
    pub what: String,
}

impl Problem {
    /// Whether the command line is wrong.
    #[must_use]
    pub fn is_flag(&self) -> bool {
        matches!(self.origin, Origin::Flag(_))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let Some(key) = &self.key {
            write!(f, " {key}")?;
        }
        write!(f, ": {}", self.what)
    }
}
