//! The one place where units are converted.

/// Bits in a byte.
const BITS_PER_BYTE: u64 = 8;
/// IBTA data counters count 32-bit words (PortCountersExtended, IBA vol. 1 §16.1.4.5): 4 bytes,
/// whatever the number of lanes.
pub const BYTES_PER_WORD: u32 = 4;
/// Bytes per second in one Mb/s, the unit of `/sys/class/net/<netdev>/speed`.
pub const BYTES_PER_SECOND_PER_MEGABIT: u32 = 125_000;

/// Tenths of Gb/s (`2.5 Gb/sec` is 25) → bytes per second; `None` when it does not fit.
#[must_use]
pub fn bytes_per_second_from_tenth_gigabits(tenths: u64) -> Option<u64> {
    tenths.checked_mul(100_000_000)?.checked_div(BITS_PER_BYTE)
}

/// Tenths of GT/s (`2.5 GT/s` is 25) → transfers per second; `None` when it does not fit.
#[must_use]
pub fn transfers_per_second_from_tenth_gigatransfers(tenths: u64) -> Option<u64> {
    tenths.checked_mul(100_000_000)
}

/// Bytes per second → Gb/s, as vendors name links; for people only.
#[must_use]
pub fn gigabits_per_second(bytes_per_second: u64) -> f64 {
    float(bytes_per_second) / 125_000_000.0
}

/// What a PCIe link carries, bytes per second in each direction: speed times lanes, less its line
/// code (8b/10b up to 5 GT/s, 128b/130b above; PCI Express Base Specification §4.2).
#[must_use]
pub fn pcie_bytes_per_second(transfers_per_second: u64, lanes: u64) -> u64 {
    let bits = transfers_per_second.saturating_mul(lanes);
    let coded = if transfers_per_second <= 5_000_000_000 {
        bits.saturating_mul(8).checked_div(10)
    } else {
        bits.saturating_mul(128).checked_div(130)
    };
    coded.unwrap_or_default() / BITS_PER_BYTE
}

/// Transfers per second → GT/s, as the PCIe specification names links; for people only.
#[must_use]
pub fn gigatransfers_per_second(transfers_per_second: u64) -> f64 {
    float(transfers_per_second) / 1e9
}

/// A counter as the text format's float; above 2^53 it is rounded to the nearest float.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "the text format has only floats"
)]
pub fn float(value: u64) -> f64 {
    value as f64
}

/// A counter times its row's factor as a float.
#[must_use]
pub fn scaled(value: u64, scale: u32) -> f64 {
    float(value) * f64::from(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_in_gigabits_becomes_bytes_per_second() {
        assert_eq!(bytes_per_second_from_tenth_gigabits(25), Some(312_500_000));
        assert_eq!(
            bytes_per_second_from_tenth_gigabits(4000),
            Some(50_000_000_000)
        );
        assert_eq!(bytes_per_second_from_tenth_gigabits(u64::MAX), None);
    }

    #[test]
    fn a_pcie_link_carries_its_lanes_less_the_line_code() {
        // 252 Gb/s for Gen5 x8, 504 for x16 and 8 for Gen1 x4.
        assert_eq!(pcie_bytes_per_second(32_000_000_000, 8) / 125_000_000, 252);
        assert_eq!(pcie_bytes_per_second(32_000_000_000, 16) / 125_000_000, 504);
        assert_eq!(pcie_bytes_per_second(2_500_000_000, 4) / 125_000_000, 8);
    }

    #[test]
    fn a_pcie_speed_becomes_transfers_per_second() {
        assert_eq!(
            transfers_per_second_from_tenth_gigatransfers(320),
            Some(32_000_000_000)
        );
    }
}
