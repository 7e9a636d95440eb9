//! What happened to a counter between two readings.

use crate::core::catalog::AtTop;

/// What happened between two readings of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It grew by this much.
    Increase(u64),
    /// It started again at zero and has counted this much since.
    Reset(u64),
    /// It stands at its top: what happened above it is not known.
    Saturated,
}

/// Top of a data counter of the basic PortCounters attribute: 32 bits (IBA vol. 1 §16.1.3.5).
const NARROW_TOP: u64 = 0xffff_ffff;

/// Judges two readings of a counter of `width` bits.
///
/// A counter that wraps is believed to have wrapped when the way over the top is shorter than
/// half its range, else to have been reset. A counter that saturates never wraps.
#[must_use]
pub fn between(before: u64, after: u64, width: u8, at_top: AtTop) -> Change {
    let top = top(width);
    let sticks = match at_top {
        AtTop::Saturate => width < 64 && after >= top,
        // A counter of 64 bits is at this very number for less than a microsecond.
        AtTop::WrapOrStick => after == NARROW_TOP,
        AtTop::Wrap | AtTop::Trunc => false,
    };
    if sticks {
        return Change::Saturated;
    }
    if let Some(grown) = after.checked_sub(before) {
        return Change::Increase(grown);
    }
    let over_the_top = top
        .saturating_sub(before)
        .saturating_add(after)
        .saturating_add(1);
    let wraps = matches!(at_top, AtTop::Wrap | AtTop::Trunc) && width < 64 && before <= top;
    if wraps && over_the_top <= top >> 1 {
        return Change::Increase(over_the_top);
    }
    Change::Reset(after)
}

/// The highest number a counter of `width` bits holds.
#[must_use]
pub fn top(width: u8) -> u64 {
    1_u64
        .checked_shl(u32::from(width))
        .map_or(u64::MAX, |end| end.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_counter_goes_over_its_top() {
        assert_eq!(between(65_530, 3, 16, AtTop::Trunc), Change::Increase(9));
    }

    #[test]
    fn a_saturating_counter_that_falls_was_reset() {
        assert_eq!(between(200, 3, 8, AtTop::Saturate), Change::Reset(3));
    }

    #[test]
    fn a_counter_at_its_top_says_nothing() {
        assert_eq!(between(254, 255, 8, AtTop::Saturate), Change::Saturated);
        assert_eq!(between(15, 15, 4, AtTop::Saturate), Change::Saturated);
    }

    #[test]
    fn a_data_counter_of_32_bits_sticks_and_one_of_64_goes_on() {
        let narrow = 0xffff_ffff;
        assert_eq!(
            between(narrow - 1, narrow, 64, AtTop::WrapOrStick),
            Change::Saturated
        );
        assert_eq!(
            between(narrow - 1, narrow + 1, 64, AtTop::WrapOrStick),
            Change::Increase(2)
        );
        assert_eq!(
            between(narrow - 1, narrow, 64, AtTop::Wrap),
            Change::Increase(1)
        );
    }

    #[test]
    fn a_wrapping_counter_that_falls_far_was_reset() {
        assert_eq!(between(1 << 20, 7, 32, AtTop::Wrap), Change::Reset(7));
    }
}
