//! The injected clock: the one place that asks the kernel for the time.

use std::fmt::Debug;
use std::time::Duration;

use crate::core::model::time::BootTime;

/// Tells the time since boot.
pub trait Clock: Debug + Send + Sync {
    /// Now.
    fn now(&self) -> BootTime;

    /// How long a thread must wait in real time for `span` to pass on this clock.
    fn real(&self, span: Duration) -> Duration;
}

/// `CLOCK_BOOTTIME`, run `factor` times as fast since `origin`.
///
/// Factor 1 is the kernel's own time. Reader and daemon agree because both count from zero.
#[derive(Debug, Clone, Copy)]
pub struct BootClock {
    factor: u32,
}

impl BootClock {
    /// A clock of this speed; 0 is taken as 1.
    #[must_use]
    pub fn new(factor: u32) -> Self {
        Self {
            factor: factor.max(1),
        }
    }
}

impl Clock for BootClock {
    fn now(&self) -> BootTime {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        let now = seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        BootTime(now.saturating_mul(u64::from(self.factor)))
    }

    fn real(&self, span: Duration) -> Duration {
        span.checked_div(self.factor).unwrap_or(span)
    }
}

/// Wall time in seconds since 1970; only for documents and file names.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the clock's own room")]
pub fn wall_seconds() -> f64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
