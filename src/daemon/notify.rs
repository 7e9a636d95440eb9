//! What the service manager is told, if there is one.

use std::time::Duration;

use sd_notify::NotifyState;
use tracing::debug;

use crate::core::model::time::BootTime;

/// Tells the service manager how we are; silent where none asked.
#[derive(Debug)]
pub struct Notify {
    ready: bool,
    /// How often the watchdog wants to be fed at least, halved.
    feed: Option<Duration>,
    fed: BootTime,
}

impl Default for Notify {
    fn default() -> Self {
        let feed = sd_notify::watchdog_enabled().map(|timeout| timeout / 2);
        Self {
            ready: false,
            feed,
            fed: BootTime(0),
        }
    }
}

impl Notify {
    /// The daemon serves; said once.
    pub fn ready(&mut self, status: &str) {
        if !self.ready {
            self.ready = true;
            tell(&[NotifyState::Ready, NotifyState::Status(status)]);
        }
    }

    /// The poller has ticked. Nothing else feeds the watchdog, so a stuck poller starves it.
    pub fn ticked(&mut self, now: BootTime) {
        if self
            .feed
            .is_some_and(|feed| now.since(self.fed) >= feed / 2)
        {
            self.fed = now;
            tell(&[NotifyState::Watchdog]);
        }
    }

    /// Longest time the poller may sleep.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let second = Duration::from_secs(1);
        self.feed.map_or(second, |feed| second.min(feed / 2))
    }
}

/// A reload begins; [`reloaded`] ends it.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => debug!(error = %error, "cannot read the monotonic clock"),
    }
}

/// A reload has ended.
pub fn reloaded(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The daemon stops.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        debug!(error = %error, "cannot tell the service manager");
    }
}
