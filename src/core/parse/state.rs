//! States: RDMA port states, carrier, operational state of a netdev.

use super::number::{decimal, split_digits};
use crate::core::model::outcome::FaultReason;

/// Highest id taken for a state; the kernel's enumerations end below 10.
const HIGHEST_ID: u64 = 255;

/// `4: ACTIVE` → 4 (`"%d: %s"` of `K:drivers/infiniband/core/sysfs.c`). The name is not judged: a
/// newer kernel may have a newer one.
pub(super) fn id(text: &str) -> Result<u64, FaultReason> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() || !rest.starts_with(": ") {
        // Neither a bare number nor a bare name is the form.
        return Err(decimal(text).err().unwrap_or(FaultReason::NotANumber));
    }
    if unsigned.len() < text.len() {
        return Err(FaultReason::Negative);
    }
    match decimal(digits)? {
        id if id <= HIGHEST_ID => Ok(id),
        _ => Err(FaultReason::OutOfRange),
    }
}

/// `1` or `0` (`carrier` of `K:net/core/net-sysfs.c`).
pub(super) fn flag(text: &str) -> Result<u64, FaultReason> {
    match decimal(text)? {
        flag @ 0..=1 => Ok(flag),
        _ => Err(FaultReason::OutOfRange),
    }
}

/// The seven words of RFC 2863 as `K:net/core/net-sysfs.c` spells them: 1 if up, 0 if down here or
/// below, `None` where up or down is not said.
pub(super) fn operstate(text: &str) -> Result<Option<u64>, FaultReason> {
    match text {
        "up" => Ok(Some(1)),
        "down" | "lowerlayerdown" => Ok(Some(0)),
        "unknown" | "notpresent" | "testing" | "dormant" => Ok(None),
        _ => Err(FaultReason::NotANumber),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_its_number() {
        assert_eq!(id("4: ACTIVE"), Ok(4));
        assert_eq!(id("0: <unknown>"), Ok(0));
        assert_eq!(id("6: LinkErrorRecovery"), Ok(6));
        assert_eq!(id("9: UNKNOWN"), Ok(9));
        for (text, reason) in [
            ("ACTIVE", FaultReason::NotANumber),
            ("4", FaultReason::NotANumber),
            ("4:ACTIVE", FaultReason::TrailingText),
            ("4 ACTIVE", FaultReason::TrailingText),
            ("-1: ?", FaultReason::Negative),
            ("256: ?", FaultReason::OutOfRange),
            ("18446744073709551616: ?", FaultReason::OutOfRange),
            (": ACTIVE", FaultReason::NotANumber),
            ("N/A (no PMA)", FaultReason::NotAvailable),
        ] {
            assert_eq!(id(text), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn a_flag_is_one_or_zero() {
        assert_eq!(flag("1"), Ok(1));
        assert_eq!(flag("0"), Ok(0));
        assert_eq!(flag("2"), Err(FaultReason::OutOfRange));
        assert_eq!(flag("yes"), Err(FaultReason::NotANumber));
    }

    #[test]
    fn only_up_and_down_are_said_of_a_netdev() {
        for (word, expected) in [
            ("up", Some(1)),
            ("down", Some(0)),
            ("lowerlayerdown", Some(0)),
            ("unknown", None),
            ("dormant", None),
            ("testing", None),
            ("notpresent", None),
        ] {
            assert_eq!(operstate(word), Ok(expected), "{word}");
        }
        for word in ["UP", "up ", "1"] {
            assert_eq!(operstate(word), Err(FaultReason::NotANumber), "{word:?}");
        }
    }
}
