//! Decimal numbers, as `"%llu\n"` of `K:drivers/infiniband/core/sysfs.c` prints them.

use crate::core::model::change::top;
use crate::core::model::outcome::FaultReason;

/// A decimal number no higher than what `width` bits hold.
pub(super) fn within(text: &str, width: u8) -> Result<u64, FaultReason> {
    let value = decimal(text)?;
    if value > top(width) {
        return Err(FaultReason::OutOfRange);
    }
    Ok(value)
}

/// Like [`within`], but all ones of 64 bits say that the device cannot tell.
pub(super) fn unless_all_ones(text: &str, width: u8) -> Result<Option<u64>, FaultReason> {
    if decimal(text)? == u64::MAX {
        return Ok(None);
    }
    within(text, width).map(Some)
}

/// A decimal number of at most 64 bits: digits and nothing else.
pub(super) fn decimal(text: &str) -> Result<u64, FaultReason> {
    if text.starts_with("N/A") {
        return Err(FaultReason::NotAvailable);
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() || rest.starts_with(['x', 'X']) {
        return Err(FaultReason::NotANumber);
    }
    if !rest.is_empty() {
        return Err(FaultReason::TrailingText);
    }
    if negative {
        return Err(FaultReason::Negative);
    }
    digits.parse().map_err(|_| FaultReason::OutOfRange)
}

/// The leading ASCII digits and what follows them.
pub(super) fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_number_has_its_reason() {
        for (text, reason) in [
            ("N/A (no PMA)", FaultReason::NotAvailable),
            ("-5", FaultReason::Negative),
            ("18446744073709551616", FaultReason::OutOfRange),
            (
                "999999999999999999999999999999999999",
                FaultReason::OutOfRange,
            ),
            ("12 foo", FaultReason::TrailingText),
            ("12foo", FaultReason::TrailingText),
            ("12 ", FaultReason::TrailingText),
            ("12\r", FaultReason::TrailingText),
            ("12\n", FaultReason::TrailingText),
            ("12\n13", FaultReason::TrailingText),
            ("12.5", FaultReason::TrailingText),
            ("-5 foo", FaultReason::TrailingText),
            ("12\0", FaultReason::TrailingText),
            ("0x1a", FaultReason::NotANumber),
            ("+5", FaultReason::NotANumber),
            (" 5", FaultReason::NotANumber),
            ("-", FaultReason::NotANumber),
            ("--5", FaultReason::NotANumber),
            ("unknown", FaultReason::NotANumber),
            ("\u{663}", FaultReason::NotANumber),
            ("\0", FaultReason::NotANumber),
        ] {
            assert_eq!(decimal(text), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn a_number_may_reach_its_top_and_no_further() {
        assert_eq!(within("15", 4), Ok(15));
        assert_eq!(within("16", 4), Err(FaultReason::OutOfRange));
        assert_eq!(within("255", 8), Ok(255));
        assert_eq!(within("4294967296", 32), Err(FaultReason::OutOfRange));
        assert_eq!(within("18446744073709551615", 64), Ok(u64::MAX));
    }

    #[test]
    fn all_ones_can_mean_that_the_device_cannot_tell() {
        assert_eq!(unless_all_ones("18446744073709551615", 32), Ok(None));
        assert_eq!(unless_all_ones("7", 32), Ok(Some(7)));
        assert_eq!(
            unless_all_ones("4294967296", 32),
            Err(FaultReason::OutOfRange)
        );
    }
}
