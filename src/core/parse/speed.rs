//! Speeds and widths of links.

use super::number::{decimal, split_digits};
use crate::core::model::outcome::FaultReason;
use crate::core::units;

/// `400 Gb/sec (4X NDR)`, `2.5 Gb/sec (1X SDR)` → bytes per second (`rate_show` of
/// `K:drivers/infiniband/core/sysfs.c`). Zero, also as the `0 GB/sec` of old vendor drivers on a
/// port that is down, says nothing.
pub(super) fn rate(text: &str) -> Result<Option<u64>, FaultReason> {
    let (tenths, rest) = tenths(text)?;
    let rest = match rest.strip_prefix(" Gb/sec") {
        Some(rest) => rest,
        None if tenths == 0 => rest
            .strip_prefix(" GB/sec")
            .ok_or(FaultReason::NotANumber)?,
        None => return Err(FaultReason::NotANumber),
    };
    let in_brackets = rest.starts_with(" (") && rest.ends_with(')');
    if !rest.is_empty() && !in_brackets {
        return Err(FaultReason::TrailingText);
    }
    if tenths == 0 {
        return Ok(None);
    }
    units::bytes_per_second_from_tenth_gigabits(tenths)
        .map(Some)
        .ok_or(FaultReason::OutOfRange)
}

/// Mb/s of a netdev; -1 in 32 bits, in 16 bits or as text, and 0, are the kernel's unknown
/// (`SPEED_UNKNOWN` of `K:include/uapi/linux/ethtool.h`, 16 bits in its first form).
pub(super) fn megabits(text: &str) -> Result<Option<u64>, FaultReason> {
    if text == "-1" {
        return Ok(None);
    }
    let unknown = [0, u64::from(u16::MAX), u64::from(u32::MAX)];
    match decimal(text)? {
        value if unknown.contains(&value) => Ok(None),
        value if value > u64::from(u32::MAX) => Err(FaultReason::OutOfRange),
        value => Ok(Some(value)),
    }
}

/// `16.0 GT/s PCIe`, or `16 GT/s` of older kernels → transfers per second on each lane
/// (`pci_speed_string` of `K:drivers/pci/probe.c`).
pub(super) fn pcie(text: &str) -> Result<Option<u64>, FaultReason> {
    if matches!(text, "Unknown" | "Unknown speed") {
        return Ok(None);
    }
    let (tenths, rest) = tenths(text)?;
    let rest = rest.strip_prefix(" GT/s").ok_or(FaultReason::NotANumber)?;
    if !matches!(rest, "" | " PCIe") {
        return Err(FaultReason::TrailingText);
    }
    if tenths == 0 {
        return Ok(None);
    }
    units::transfers_per_second_from_tenth_gigatransfers(tenths)
        .map(Some)
        .ok_or(FaultReason::OutOfRange)
}

/// PCIe lanes; 0 (no link, or a virtual function) and 255 (`PCIE_LNK_WIDTH_UNKNOWN` of
/// `K:include/linux/pci.h`) say nothing. The register has six bits, of which all ones is what a
/// device gives that is gone.
pub(super) fn lanes(text: &str) -> Result<Option<u64>, FaultReason> {
    match decimal(text)? {
        0 | 63 | 255 => Ok(None),
        value if value > 32 => Err(FaultReason::OutOfRange),
        value => Ok(Some(value)),
    }
}

/// A number with at most one decimal, in tenths, and what follows it.
fn tenths(text: &str) -> Result<(u64, &str), FaultReason> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = split_digits(unsigned);
    if whole.is_empty() {
        return Err(decimal(text).err().unwrap_or(FaultReason::NotANumber));
    }
    if unsigned.len() < text.len() {
        return Err(FaultReason::Negative);
    }
    let (tenth, rest) = match rest.strip_prefix('.').map(split_digits) {
        Some((digit, rest)) if digit.len() == 1 => (decimal(digit)?, rest),
        Some(_) => return Err(FaultReason::NotANumber),
        None => (0, rest),
    };
    let value = decimal(whole)?
        .checked_mul(10)
        .and_then(|tens| tens.checked_add(tenth))
        .ok_or(FaultReason::OutOfRange)?;
    Ok((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_bytes_per_second() {
        for (text, expected) in [
            ("400 Gb/sec (4X NDR)", Some(50_000_000_000)),
            ("2.5 Gb/sec (1X SDR)", Some(312_500_000)),
            ("25 Gb/sec (1X EDR)", Some(3_125_000_000)),
            ("10 Gb/sec (4X)", Some(1_250_000_000)),
            ("40 Gb/sec", Some(5_000_000_000)),
            ("0 GB/sec (4X)", None),
            ("0 GB/sec", None),
            ("0 Gb/sec (4X SDR)", None),
        ] {
            assert_eq!(rate(text), Ok(expected), "{text:?}");
        }
        for (text, reason) in [
            ("400", FaultReason::NotANumber),
            ("400 GB/sec", FaultReason::NotANumber),
            ("400 Mb/sec", FaultReason::NotANumber),
            ("fast", FaultReason::NotANumber),
            ("2.55 Gb/sec", FaultReason::NotANumber),
            ("2. Gb/sec", FaultReason::NotANumber),
            ("400 Gb/sec (4X NDR) x", FaultReason::TrailingText),
            ("400 Gb/sec 4X", FaultReason::TrailingText),
            ("-400 Gb/sec", FaultReason::Negative),
            ("18446744073709551615 Gb/sec", FaultReason::OutOfRange),
            ("1844674407370955161 Gb/sec", FaultReason::OutOfRange),
            ("99999999999999999999 Gb/sec", FaultReason::OutOfRange),
        ] {
            assert_eq!(rate(text), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_netdev_speed_is_absent() {
        assert_eq!(megabits("400000"), Ok(Some(400_000)));
        for unknown in ["-1", "4294967295", "65535", "0"] {
            assert_eq!(megabits(unknown), Ok(None), "{unknown}");
        }
        assert_eq!(megabits("-2"), Err(FaultReason::Negative));
        assert_eq!(megabits("4294967296"), Err(FaultReason::OutOfRange));
        assert_eq!(megabits("fast"), Err(FaultReason::NotANumber));
    }

    #[test]
    fn a_pcie_speed_is_transfers_per_second() {
        for (text, expected) in [
            ("16.0 GT/s PCIe", Some(16_000_000_000)),
            ("2.5 GT/s PCIe", Some(2_500_000_000)),
            ("64.0 GT/s PCIe", Some(64_000_000_000)),
            ("8 GT/s", Some(8_000_000_000)),
            ("Unknown", None),
            ("Unknown speed", None),
        ] {
            assert_eq!(pcie(text), Ok(expected), "{text:?}");
        }
        for (text, reason) in [
            ("16", FaultReason::NotANumber),
            ("66 MHz PCI", FaultReason::NotANumber),
            ("unknown", FaultReason::NotANumber),
            ("16.0 GT/s PCIe x", FaultReason::TrailingText),
            ("-16.0 GT/s PCIe", FaultReason::Negative),
            ("999999999999999999 GT/s", FaultReason::OutOfRange),
        ] {
            assert_eq!(pcie(text), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn an_unknown_pcie_width_is_absent() {
        assert_eq!(lanes("16"), Ok(Some(16)));
        for unknown in ["0", "63", "255"] {
            assert_eq!(lanes(unknown), Ok(None), "{unknown}");
        }
        assert_eq!(lanes("64"), Err(FaultReason::OutOfRange));
        assert_eq!(lanes("-1"), Err(FaultReason::Negative));
        assert_eq!(lanes("x16"), Err(FaultReason::NotANumber));
    }
}
