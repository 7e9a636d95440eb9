//! Numbers and names as a person says them.

use crate::core::model::facts::SkipReason;
use crate::core::units;

/// What stands where nothing is known.
pub(super) const UNKNOWN: &str = "–";

/// Why a device is left alone.
pub(super) fn skip_reason(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Restricted => {
            "its firmware refuses to be read (a management function), so it is not asked"
        }
        SkipReason::Moved => "its interfaces are in another network namespace",
        SkipReason::NoDriver => "no driver is bound to it",
        SkipReason::Passthrough => "it is handed to a virtual machine",
        SkipReason::Stalled => "a read of it does not return; it rests until that read has ended",
        SkipReason::TooMany => "more devices than are read",
        SkipReason::Unreadable => "it cannot be listed; what is in it is not known",
    }
}

/// `12345678` → `12.3 MB`.
pub(super) fn bytes(count: u64) -> String {
    const NAMES: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = units::float(count);
    let mut names = NAMES.into_iter();
    let mut name = names.next().unwrap_or_default();
    for larger in names {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        name = larger;
    }
    if name == "B" {
        format!("{count} B")
    } else {
        format!("{value:.1} {name}")
    }
}

/// A rate of a link.
pub(super) fn rate(bytes_per_second: u64) -> String {
    format!("{} Gb/s", units::gigabits_per_second(bytes_per_second))
}

/// `32 GT/s x16`; what is not known is left out.
pub(super) fn pcie(transfers_per_second: Option<u64>, lanes: Option<u64>) -> String {
    let speed = transfers_per_second
        .map(|speed| format!("{} GT/s", units::gigatransfers_per_second(speed)));
    let width = lanes.map(|lanes| format!("x{lanes}"));
    match (speed, width) {
        (Some(speed), Some(width)) => format!("{speed} {width}"),
        (one, other) => one.or(other).unwrap_or_else(|| UNKNOWN.to_owned()),
    }
}

/// An RDMA port's state (`enum ib_port_state`, include/rdma/ib_verbs.h).
pub(super) fn port_state(id: u64) -> &'static str {
    match id {
        1 => "down",
        2 => "initialising",
        3 => "armed",
        4 => "active",
        5 => "active, deferred",
        _ => "no state",
    }
}

/// An RDMA port's physical state (IBA vol. 1, PortInfo:PortPhysicalState).
pub(super) fn physical_state(id: u64) -> &'static str {
    match id {
        1 => "sleeping",
        2 => "polling",
        3 => "disabled",
        4 => "training",
        5 => "link up",
        6 => "recovering from link errors",
        7 => "in a test mode",
        _ => "no physical state",
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, pcie, rate};

    #[test]
    fn sizes_are_said_in_three_digits() {
        for (count, said) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(count), said);
        }
    }

    #[test]
    fn rates_are_said_as_vendors_do() {
        assert_eq!(rate(50_000_000_000), "400 Gb/s");
        assert_eq!(rate(312_500_000), "2.5 Gb/s");
        assert_eq!(pcie(Some(32_000_000_000), Some(16)), "32 GT/s x16");
        assert_eq!(pcie(None, Some(8)), "x8");
        assert_eq!(pcie(None, None), "–");
    }
}
