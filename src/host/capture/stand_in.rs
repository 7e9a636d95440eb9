//! Stand-ins for identities: the same one for the same identity throughout one capture, and no way
//! back, as the key is random and never kept.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Middles of a GUID that follow from a MAC or from nothing, and are no identity.
const MIDDLES: [[u8; 2]; 4] = [[0xff, 0xfe], [0x03, 0x00], [0x00, 0x03], [0x00, 0x00]];

/// Makes stand-ins for one capture.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    key: RandomState,
    /// Stand-ins of the last three bytes, by vendor and by them.
    tails: HashMap<[u8; 6], [u8; 3]>,
    taken: HashSet<[u8; 6]>,
}

impl StandIns {
    /// Eight bytes for anything.
    pub(super) fn bytes(&self, of: impl Hash) -> [u8; 8] {
        self.key.hash_one(of).to_be_bytes()
    }

    /// Hexadecimal text for a text, two digits a byte.
    pub(super) fn word(&self, of: &str) -> String {
        let [a, b, c, d, ..] = self.bytes(of);
        format!("{a:02x}{b:02x}{c:02x}{d:02x}")
    }

    /// The vendor, the multicast bit and the local bit stay.
    pub(super) fn mac(&mut self, mac: [u8; 6]) -> [u8; 6] {
        if mac == [0; 6] || mac == [0xff; 6] {
            return mac;
        }
        let [a, b, c, ..] = mac;
        let [d, e, f] = self.tail(mac);
        [a, b, c, d, e, f]
    }

    fn tail(&mut self, mac: [u8; 6]) -> [u8; 3] {
        if let Some(known) = self.tails.get(&mac) {
            return *known;
        }
        let [a, b, c, ..] = mac;
        for attempt in 0..u8::MAX {
            let [d, e, f, ..] = self.bytes((mac, attempt));
            let stand_in = [a, b, c, d, e, f];
            // A stand-in that is the identity, or another's stand-in, would say what is not so.
            if stand_in != mac && self.taken.insert(stand_in) {
                self.tails.insert(mac, [d, e, f]);
                return [d, e, f];
            }
        }
        [0; 3]
    }

    /// Consistent with the MAC the GUID was made of.
    pub(super) fn guid(&mut self, guid: [u8; 8]) -> [u8; 8] {
        if guid == [0; 8] || guid == [0xff; 8] {
            return guid;
        }
        let [a, b, c, m, n, d, e, f] = guid;
        // An EUI-64 inverts the local bit of the MAC.
        let first = if [m, n] == [0xff, 0xfe] { a ^ 2 } else { a };
        let [x, y, z] = self.tail([first, b, c, d, e, f]);
        let [m, n] = if MIDDLES.contains(&[m, n]) {
            [m, n]
        } else {
            let [m, n, ..] = self.bytes(("middle", guid));
            [m, n]
        };
        [a, b, c, m, n, x, y, z]
    }

    /// Link-local and v4-mapped prefixes stay.
    pub(super) fn gid(&mut self, gid: Ipv6Addr) -> Ipv6Addr {
        if gid.is_unspecified() || gid.is_loopback() {
            return gid;
        }
        if let Some(v4) = gid.to_ipv4_mapped() {
            return self.ipv4(v4).to_ipv6_mapped();
        }
        let [p0, p1, p2, p3, p4, p5, p6, p7, rest @ ..] = gid.octets();
        let prefix = [p0, p1, p2, p3, p4, p5, p6, p7];
        let [a, b, c, d, e, f, g, h] = match prefix {
            [0xfe, 0x80, 0, 0, 0, 0, 0, 0] => prefix,
            _ => {
                let [_, _, c, d, e, f, g, h] = self.bytes(("prefix", prefix));
                [p0, p1, c, d, e, f, g, h]
            }
        };
        let [i, j, k, l, m, n, o, p] = self.guid(rest);
        Ipv6Addr::from([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])
    }

    /// What tells private networks, link-local, loopback and multicast stays; addresses of one
    /// network have stand-ins of one network.
    pub(super) fn ipv4(&self, address: Ipv4Addr) -> Ipv4Addr {
        if address.is_unspecified() || address.is_broadcast() || address.is_loopback() {
            return address;
        }
        let [a, b, c, d] = address.octets();
        // Bits of the second byte that belong to a prefix with a meaning.
        let kept = match [a, b] {
            [192, 168] | [169, 254] => 0xff,
            [172, 16..=31] => 0xf0,
            [100, 64..=127] => 0xc0,
            _ => 0,
        };
        let [second, ..] = self.bytes(("ipv4", [a].as_slice()));
        let [third, ..] = self.bytes(("ipv4", [a, b].as_slice()));
        let [fourth, ..] = self.bytes(("ipv4", [a, b, c].as_slice()));
        Ipv4Addr::new(a, b ^ (second & !kept), c ^ third, d ^ fourth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_s_stand_in_is_that_of_its_mac() {
        let mut ins = StandIns::default();
        let [a, b, c, d, e, f] = ins.mac([0xb8, 0x3f, 0xd2, 1, 2, 3]);
        let eui = ins.guid([0xba, 0x3f, 0xd2, 0xff, 0xfe, 1, 2, 3]);
        assert_eq!(eui, [a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
        let vendor = ins.guid([0xb8, 0x3f, 0xd2, 3, 0, 1, 2, 3]);
        assert_eq!(vendor, [a, b, c, 3, 0, d, e, f]);
        assert_eq!([a, b, c], [0xb8, 0x3f, 0xd2]);
        assert_ne!([d, e, f], [1, 2, 3]);
    }

    #[test]
    fn prefixes_that_mean_something_stay() {
        let mut ins = StandIns::default();
        let link_local = ins.gid("fe80::ba3f:d2ff:fe01:203".parse().unwrap());
        assert_eq!(link_local.octets()[..8], [0xfe, 0x80, 0, 0, 0, 0, 0, 0]);
        let mapped = ins.gid("::ffff:10.1.2.3".parse().unwrap());
        let v4 = mapped.to_ipv4_mapped().unwrap();
        assert_eq!(v4, ins.ipv4("10.1.2.3".parse().unwrap()));
        assert_eq!(v4.octets()[0], 10);
        assert_ne!(v4.octets()[1..], [1, 2, 3]);
        for (prefix, of) in [
            (&[169, 254][..], [169, 254, 1, 2]),
            (&[192, 168], [192, 168, 10, 1]),
            (&[10], [10, 9, 8, 7]),
        ] {
            let octets = ins.ipv4(of.into()).octets();
            assert!(octets.starts_with(prefix), "{octets:?}");
        }
        assert!((16..32).contains(&ins.ipv4([172, 20, 1, 1].into()).octets()[1]));
    }

    #[test]
    fn neighbours_stay_neighbours() {
        let ins = StandIns::default();
        let stand_in = |d| ins.ipv4([192, 168, 10, d].into()).octets();
        let all: HashSet<_> = (0..=255).map(stand_in).collect();
        assert_eq!(all.len(), 256);
        assert!(all.iter().all(|other| other[..3] == stand_in(1)[..3]));
        assert_ne!(
            stand_in(1)[..3],
            ins.ipv4([192, 168, 11, 1].into()).octets()[..3]
        );
    }

    #[test]
    fn another_capture_has_other_stand_ins() {
        let mac = [0xb8, 0x3f, 0xd2, 1, 2, 3];
        let macs: HashSet<_> = (0..8).map(|_| StandIns::default().mac(mac)).collect();
        assert!(macs.len() > 1);
    }
}
