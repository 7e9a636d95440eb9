//! Facts: identities, lists and switches in the texts that say what a device is.
//!
//! Every function takes text that [`super::text`] has already bounded and trimmed, unless it says
//! bytes.

use crate::core::ids::NetdevName;
use crate::core::model::outcome::FaultReason;

/// Longest netdev name, bytes (`IFNAMSIZ` - 1 of `K:include/uapi/linux/if.h`).
const NETDEV_NAME_BYTES: usize = 15;
/// Most names taken from one list; a bond has at most a few members.
const NAMES: usize = 64;

/// A GUID in four groups of four hex digits, in lower case; `None` for anything else.
///
/// The nil GUID is `None` too: a device that was never given one has no identity.
#[must_use]
pub fn guid(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(':').collect();
    let right = groups.len() == 4 && groups.iter().all(|group| is_hex(group, 4));
    let nil = text.bytes().all(|b| matches!(b, b'0' | b':'));
    (right && !nil).then(|| text.to_ascii_lowercase())
}

/// `0x15b3` → its number: PCI vendor and device ids.
///
/// # Errors
///
/// [`FaultReason::NotANumber`] without `0x` or hex digits, [`FaultReason::OutOfRange`] above 16
/// bits.
pub fn hex_id(text: &str) -> Result<u16, FaultReason> {
    u16::try_from(hex(text)?).map_err(|_| FaultReason::OutOfRange)
}

/// `0x020700` → its number: PCI class, capability masks, `dev_id`.
///
/// # Errors
///
/// [`FaultReason::NotANumber`] without `0x` or hex digits, [`FaultReason::OutOfRange`] above 32
/// bits.
pub fn hex(text: &str) -> Result<u32, FaultReason> {
    let digits = text.strip_prefix("0x").ok_or(FaultReason::NotANumber)?;
    if !is_hex(digits, digits.len()) {
        return Err(FaultReason::NotANumber);
    }
    u32::from_str_radix(digits, 16).map_err(|_| FaultReason::OutOfRange)
}

/// `0` → 0: `dev_port`, `sfnum`, `node_type`'s number and the like.
///
/// # Errors
///
/// As a counter's, and [`FaultReason::OutOfRange`] above 32 bits.
pub fn decimal(text: &str) -> Result<u32, FaultReason> {
    let value = super::number::within(text, 32)?;
    u32::try_from(value).map_err(|_| FaultReason::OutOfRange)
}

/// `1: CA` → 1.
///
/// # Errors
///
/// [`FaultReason::NotANumber`] and its kin for another form.
pub fn id(text: &str) -> Result<u32, FaultReason> {
    let value = super::state::id(text)?;
    u32::try_from(value).map_err(|_| FaultReason::OutOfRange)
}

/// `numa_node`: -1 is the kernel's "not known".
///
/// # Errors
///
/// As a counter's for anything else that is no number.
pub fn numa_node(text: &str) -> Result<Option<u32>, FaultReason> {
    if text == "-1" {
        return Ok(None);
    }
    decimal(text).map(Some)
}

/// `1`, `Y` → true; `0`, `N` → false: module parameters and switches.
///
/// # Errors
///
/// [`FaultReason::NotANumber`] for anything else.
pub fn switch(text: &str) -> Result<bool, FaultReason> {
    match text {
        "1" | "Y" | "y" => Ok(true),
        "0" | "N" | "n" => Ok(false),
        _ => Err(FaultReason::NotANumber),
    }
}

/// A netdev's name, if the kernel would take it (`dev_valid_name` of `K:net/core/dev.c`); so it is
/// one path component and never `.` or `..`.
#[must_use]
pub fn netdev_name(text: &str) -> Option<NetdevName> {
    let bad = |c: char| c == '/' || c == ':' || c == '\\' || c.is_whitespace() || c.is_control();
    let right = (1..=NETDEV_NAME_BYTES).contains(&text.len())
        && !matches!(text, "." | "..")
        && !text.contains(bad);
    right.then(|| NetdevName::new(text))
}

/// `eth0 eth1` → the names (`bonding/slaves`); words that are no netdev's name are left out.
#[must_use]
pub fn netdev_names(text: &str) -> Vec<NetdevName> {
    text.split_ascii_whitespace()
        .filter_map(netdev_name)
        .take(NAMES)
        .collect()
}

/// Whether a port netdev's `phys_port_name` is that of a representor: `pf0vf3`, `pf1sf88`, with a
/// controller `c1pf0vf3` (`K:net/devlink/port.c`).
#[must_use]
pub fn is_representor(phys_port_name: &str) -> bool {
    let rest = phys_port_name
        .strip_prefix('c')
        .map_or(phys_port_name, after_digits);
    let Some(rest) = rest.strip_prefix("pf") else {
        return false;
    };
    let function = after_digits(rest);
    // `pf0` alone stands for the host's own function behind a DPU.
    function.is_empty() && rest != function
        || ["vf", "sf"].into_iter().any(|kind| {
            function
                .strip_prefix(kind)
                .is_some_and(|n| !n.is_empty() && after_digits(n).is_empty())
        })
}

/// Whether a PCI function's vital product data says that it is an NVSwitch management function,
/// whose firmware refuses every counter (`SMDL=SW_MNG`). Takes the file's bytes.
#[must_use]
pub fn is_switch_management(vpd: &[u8]) -> bool {
    let mark = b"SMDL=SW_MNG";
    vpd.windows(mark.len()).any(|window| window == mark)
}

fn after_digits(text: &str) -> &str {
    super::number::split_digits(text).1
}

fn is_hex(text: &str, digits: usize) -> bool {
    !text.is_empty() && text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_guid_has_four_groups_and_is_not_nil() {
        assert_eq!(
            guid("B83F:d203:0012:3456").as_deref(),
            Some("b83f:d203:0012:3456")
        );
        for text in [
            "",
            "0000:0000:0000:0000",
            "b83f:d203:0012",
            "b83f:d203:0012:3456:1",
            "b83fd20300123456",
            "b83g:d203:0012:3456",
            "b83f:d203:0012:345",
            ":::",
        ] {
            assert_eq!(guid(text), None, "{text:?}");
        }
    }

    #[test]
    fn hex_ids_keep_to_their_width() {
        assert_eq!(hex_id("0x15b3"), Ok(0x15b3));
        assert_eq!(hex("0x020700"), Ok(0x0002_0700));
        assert_eq!(hex_id("0x020700"), Err(FaultReason::OutOfRange));
        assert_eq!(hex("0x1020304050"), Err(FaultReason::OutOfRange));
        for text in ["", "0x", "15b3", "0xg", "0x+1", "-1"] {
            assert_eq!(hex(text), Err(FaultReason::NotANumber), "{text:?}");
        }
    }

    #[test]
    fn small_numbers_and_ids_are_read() {
        assert_eq!(decimal("88"), Ok(88));
        assert_eq!(decimal("4294967296"), Err(FaultReason::OutOfRange));
        assert_eq!(id("7: unspecified"), Ok(7));
        assert_eq!(id("CA"), Err(FaultReason::NotANumber));
        assert_eq!(numa_node("1"), Ok(Some(1)));
        assert_eq!(numa_node("-1"), Ok(None));
        assert_eq!(numa_node("-2"), Err(FaultReason::Negative));
        assert_eq!(switch("Y"), Ok(true));
        assert_eq!(switch("0"), Ok(false));
        assert_eq!(switch("2"), Err(FaultReason::NotANumber));
    }

    #[test]
    fn a_netdev_name_is_one_path_component() {
        assert_eq!(netdev_name("ens1f0np0"), Some(NetdevName::new("ens1f0np0")));
        for text in ["", ".", "..", "a/b", "a b", "a:1", "abcdefghijklmnop"] {
            assert_eq!(netdev_name(text), None, "{text:?}");
        }
        assert_eq!(
            netdev_names("eth0 ../x eth1"),
            [NetdevName::new("eth0"), NetdevName::new("eth1")]
        );
        assert_eq!(netdev_names(""), []);
    }

    #[test]
    fn a_representor_is_told_from_an_uplink() {
        for name in ["pf0vf3", "pf1sf88", "c1pf0vf3", "pf0", "c1pf1"] {
            assert!(is_representor(name), "{name}");
        }
        for name in ["", "p0", "p1", "pf", "pfvf", "pf0vf", "pf0xf1", "vf1"] {
            assert!(!is_representor(name), "{name}");
        }
    }

    #[test]
    fn a_switch_management_function_says_so_in_its_vpd() {
        assert!(is_switch_management(b"\x82\x10\0VA\x0bSMDL=SW_MNG\x78"));
        assert!(!is_switch_management(b"\x82\x10\0VA\x0bSMDL=CONNECT"));
        assert!(!is_switch_management(b""));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_fact_parser_panic(text in ".{0,48}") {
            black_box((guid(&text), hex(&text).ok(), netdev_names(&text)));
            black_box(is_representor(&text));
        }
    }
}
