//! `faults.tsv`: the failures and the slowness that a capture carries.
//!
//! One line is `path<TAB>ERRNO[<TAB>latency_ms]`; `-` for ERRNO is slowness alone. Lines of other
//! sources (`ethtool:`, `dcb:`, `nldev:`) are for their readers and are no matter of files.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::errno::reason;

/// The file's name beside `sys/`.
pub const FILE: &str = "faults.tsv";
/// Bytes taken from one `faults.tsv`.
pub(super) const LIMIT: usize = 16 << 20;
/// The longest a fault holds a read up.
const LONGEST: Duration = Duration::from_secs(600);
/// Sources whose lines are not about files.
const OTHER_SOURCES: [&str; 3] = ["ethtool:", "dcb:", "nldev:"];

/// The errors a line may name.
const NAMES: [(&str, Errno); 15] = [
    ("EINVAL", Errno::INVAL),
    ("EIO", Errno::IO),
    ("EACCES", Errno::ACCESS),
    ("EPERM", Errno::PERM),
    ("ENODEV", Errno::NODEV),
    ("ENXIO", Errno::NXIO),
    ("EOPNOTSUPP", Errno::OPNOTSUPP),
    ("ENOSYS", Errno::NOSYS),
    ("ENOENT", Errno::NOENT),
    ("ENOMEM", Errno::NOMEM),
    ("EBUSY", Errno::BUSY),
    ("EAGAIN", Errno::AGAIN),
    ("ETIMEDOUT", Errno::TIMEDOUT),
    ("EISDIR", Errno::ISDIR),
    ("ELOOP", Errno::LOOP),
];

/// The name a line gives a reason by: the first errno that means it, `EIO` for those without one.
#[must_use]
pub fn name_of(wanted: FaultReason) -> &'static str {
    NAMES
        .iter()
        .find(|(_, errno)| reason(*errno) == wanted)
        .map_or("EIO", |(name, _)| name)
}

/// A line of `faults.tsv` that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} line {line}: {what}; a line is path<TAB>ERRNO[<TAB>latency_ms]")]
pub struct BadLine {
    /// Which file.
    pub file: String,
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// What happens at one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    reason: Option<FaultReason>,
    latency: Duration,
}

impl Fault {
    /// Holds up the caller for the fault's latency, then fails as the fault says.
    pub(super) fn strike(self) -> Result<(), FaultReason> {
        wait(self.latency);
        self.reason.map_or(Ok(()), Err)
    }
}

/// Every fault of one capture.
#[derive(Debug, Default)]
pub(super) struct Faults {
    at: HashMap<String, Fault>,
}

impl Faults {
    /// Reads the text; `canonical` gives a path with its links followed.
    pub(super) fn parse(
        text: &str,
        file: &str,
        canonical: impl Fn(&str) -> String,
    ) -> Result<Self, BadLine> {
        let mut at = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let parsed = parse_line(line).map_err(|what| BadLine {
                file: file.to_owned(),
                line: index.saturating_add(1),
                what,
            })?;
            if let Some((path, fault)) = parsed {
                at.insert(canonical(path), fault);
                at.insert(path.to_owned(), fault);
            }
        }
        Ok(Self { at })
    }

    /// The fault of a path, given as written or through links.
    pub(super) fn find(&self, path: &str, canonical: impl Fn(&str) -> String) -> Option<Fault> {
        if self.at.is_empty() {
            return None;
        }
        let direct = self.at.get(path);
        direct.or_else(|| self.at.get(&canonical(path))).copied()
    }
}

/// A path with its links followed as far as it exists: a fault may stand for a missing file.
pub(super) fn canonical(
    path: &str,
    resolve: impl Fn(&str) -> Result<String, FaultReason>,
) -> String {
    let path = path.trim_matches('/');
    if let Ok(resolved) = resolve(path) {
        return resolved;
    }
    match path.rsplit_once('/') {
        Some((parent, name)) => match resolve(parent) {
            Ok(parent) => format!("{parent}/{name}"),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

fn parse_line(line: &str) -> Result<Option<(&str, Fault)>, String> {
    let line = line.trim_end_matches('\r');
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split('\t');
    let (Some(path), Some(errno)) = (fields.next(), fields.next()) else {
        return Err("there is no tab in it".to_owned());
    };
    let latency = match fields.next() {
        None | Some("") => 0,
        Some(text) => text
            .trim()
            .parse()
            .map_err(|_| format!("{:?} is no number of milliseconds", shown(text)))?,
    };
    if fields.next().is_some() {
        return Err("it has more than three fields".to_owned());
    }
    let reason = match errno.trim() {
        "-" => None,
        name => Some(named(name)?),
    };
    if OTHER_SOURCES.iter().any(|other| path.starts_with(other)) {
        return Ok(None);
    }
    if !(path.starts_with("sys/") || path.starts_with("proc/")) {
        return Err(format!(
            "{:?} does not begin with sys/ or proc/",
            shown(path)
        ));
    }
    let latency = Duration::from_millis(latency).min(LONGEST);
    Ok(Some((
        path.trim_end_matches('/'),
        Fault { reason, latency },
    )))
}

fn named(name: &str) -> Result<FaultReason, String> {
    NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, errno)| reason(*errno))
        .ok_or_else(|| {
            let known: Vec<_> = NAMES.iter().map(|(known, _)| *known).collect();
            format!("{:?} is none of - {}", shown(name), known.join(" "))
        })
}

/// As much of a bad field as belongs in a message.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Blocks for a span; nothing can end it sooner, as nothing ends a read that hangs in a driver.
fn wait(span: Duration) {
    if span.is_zero() {
        return;
    }
    let never = Mutex::new(());
    let guard = never.lock().unwrap_or_else(PoisonError::into_inner);
    drop(Condvar::new().wait_timeout_while(guard, span, |()| true));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Faults, BadLine> {
        Faults::parse(text, "faults.tsv", |path| {
            path.replace("sys/class/x", "sys/devices/x")
        })
    }

    fn same(path: &str) -> String {
        path.to_owned()
    }

    #[test]
    fn a_fault_is_found_by_its_own_path_and_by_its_resolved_one() {
        let faults = parse("# note\n\nsys/class/x/a\tEINVAL\n").unwrap();
        for path in ["sys/class/x/a", "sys/devices/x/a"] {
            let fault = faults.find(path, same).unwrap();
            assert_eq!(fault.strike(), Err(FaultReason::InvalidArgument), "{path}");
        }
        assert_eq!(faults.find("sys/devices/x/b", same), None);
    }

    #[test]
    fn every_named_error_becomes_the_reason_the_kernel_s_would() {
        for (name, errno) in NAMES {
            let faults = parse(&format!("sys/a\t{name}\n")).unwrap();
            let fault = faults.find("sys/a", same).unwrap();
            assert_eq!(fault.strike(), Err(reason(errno)), "{name}");
        }
    }

    #[test]
    fn a_dash_is_slowness_without_an_error() {
        let fault = parse("sys/a\t-\t1\n").unwrap().find("sys/a", same).unwrap();
        assert_eq!(fault.latency, Duration::from_millis(1));
        assert_eq!(fault.strike(), Ok(()));
    }

    #[test]
    fn latency_is_bounded() {
        let text = format!("sys/a\t-\t{}\n", u64::MAX);
        let fault = parse(&text).unwrap().find("sys/a", same).unwrap();
        assert_eq!(fault.latency, LONGEST);
    }

    #[test]
    fn lines_of_other_sources_are_accepted() {
        assert!(parse("ethtool:eth0\tEIO\ndcb:eth0\tEIO\nnldev:mlx5_0/1\t-\t5\n").is_ok());
    }

    #[test]
    fn a_bad_line_is_named_by_file_and_number() {
        for bad in [
            "sys/a",
            "sys/a\tEWHAT",
            "sys/a\tEIO\tsoon",
            "sys/a\tEIO\t1\t2",
            "/etc/x\tEIO",
            "sys/a\tEIO\t-1",
        ] {
            let error = parse(&format!("\n{bad}\n")).unwrap_err();
            assert_eq!(
                (error.line, error.file.as_str()),
                (2, "faults.tsv"),
                "{bad}"
            );
        }
    }
}
