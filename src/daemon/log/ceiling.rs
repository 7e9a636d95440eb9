//! At most a hundred lines an hour at warning or above, whatever happens.
//!
//! Every place that logs says repeated things once; this is for what nobody thought of: a node
//! with a thousand faults must not fill the journal of the host it watches.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

use crate::core::model::time::BootTime;
use crate::daemon::config::LogFormat;
use crate::daemon::log::Escaped;
use crate::host::clock::{BootClock, Clock};

/// Lines at warning or above in one hour; the last of them says that more were left out.
const LINES: u32 = 100;
const HOUR: Duration = Duration::from_secs(3600);

/// Hands out writers to standard error until an hour has had its lines.
#[derive(Debug)]
pub(super) struct Ceiling {
    format: LogFormat,
    hour: Mutex<Hour>,
}

#[derive(Debug, Default)]
struct Hour {
    began: Option<BootTime>,
    lines: u32,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Say,
    SayThatMoreIsLeftOut,
    LeaveOut,
}

impl Hour {
    fn judge(&mut self, now: BootTime) -> Verdict {
        let over = self.began.is_none_or(|began| now.since(began) >= HOUR);
        if over {
            *self = Self {
                began: Some(now),
                lines: 0,
            };
        }
        self.lines = self.lines.saturating_add(1);
        match self.lines.cmp(&LINES) {
            std::cmp::Ordering::Less => Verdict::Say,
            std::cmp::Ordering::Equal => Verdict::SayThatMoreIsLeftOut,
            std::cmp::Ordering::Greater => Verdict::LeaveOut,
        }
    }
}

impl Ceiling {
    pub(super) fn new(format: LogFormat) -> Self {
        Self {
            format,
            hour: Mutex::default(),
        }
    }

    fn judge(&self) -> Verdict {
        let now = BootClock::new(1).now();
        self.hour
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(now)
    }
}

impl<'a> MakeWriter<'a> for Ceiling {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(Some(Escaped::stderr()))
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line {
        // Levels are ordered by how much they say: error is the least.
        if *metadata.level() > Level::WARN {
            return self.make_writer();
        }
        match self.judge() {
            Verdict::Say => self.make_writer(),
            Verdict::SayThatMoreIsLeftOut => {
                let message =
                    "more warnings are left out until the hour is over; the metrics count on";
                let line = match self.format {
                    LogFormat::Text => format!("WARN railwatch: {message}\n"),
                    LogFormat::Json => {
                        format!("{{\"level\":\"WARN\",\"message\":\"{message}\"}}\n")
                    }
                };
                // Standard error that cannot be written to cannot be complained of either.
                Escaped::stderr().write_all(line.as_bytes()).ok();
                Line(None)
            }
            Verdict::LeaveOut => Line(None),
        }
    }
}

/// Writes a line, or swallows it.
#[derive(Debug)]
pub(super) struct Line(Option<Escaped<io::Stderr>>);

impl Write for Line {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0
            .as_mut()
            .map_or(Ok(event.len()), |stderr| stderr.write(event))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_a_hundred_lines_and_the_next_begins_anew() {
        let mut hour = Hour::default();
        let said = |hour: &mut Hour, from: u64| {
            let verdicts =
                (0..3000).map(|second| hour.judge(BootTime((from + second) * 1_000_000_000)));
            verdicts
                .filter(|verdict| *verdict != Verdict::LeaveOut)
                .count()
        };
        assert_eq!(said(&mut hour, 0), 100);
        assert_eq!(said(&mut hour, 3600), 100);
    }

    #[test]
    fn the_last_line_of_an_hour_says_that_there_is_more() {
        let mut hour = Hour::default();
        let verdicts: Vec<Verdict> = (0..102).map(|_| hour.judge(BootTime(7))).collect();
        assert_eq!(
            verdicts[98..],
            [
                Verdict::Say,
                Verdict::SayThatMoreIsLeftOut,
                Verdict::LeaveOut,
                Verdict::LeaveOut
            ]
        );
    }
}
