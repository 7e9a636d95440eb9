//! Takes identities out of a capture: out of contents, file names, links, faults and messages.

mod scan;

use std::collections::{BTreeMap, BTreeSet};

use crate::host::capture::stand_in::StandIns;
use crate::host::capture::{Gathered, Item};

/// The shortest name that is looked for within other text.
const SHORTEST: usize = 3;
/// Files of which the whole content is an identity.
const SERIALS: [&str; 4] = ["serial", "serial_number", "boot_id", "uuid"];
/// Files whose dotted numbers are versions and no addresses.
const VERSIONS: [&str; 3] = ["fw_ver", "version", "osrelease"];

/// What a capture's identities are replaced by.
#[derive(Debug, Default)]
pub struct Redactor {
    ins: StandIns,
    /// Texts to be found as whole words: host names, descriptions, serial numbers.
    words: BTreeMap<String, String>,
    /// Addresses written as plain hexadecimal digits.
    digits: BTreeMap<String, String>,
    /// Devices' descriptions, which some drivers also give as the model.
    descriptions: BTreeSet<String>,
}

impl Redactor {
    /// Replaces every identity; `hostname` is a name the files need not hold.
    #[must_use]
    pub fn redact(gathered: Gathered, hostname: Option<&str>) -> Gathered {
        let mut redactor = Self::default();
        if let Some(hostname) = hostname {
            redactor.learn_host(hostname);
        }
        for (path, item) in &gathered.items {
            if let Item::File(bytes) = item {
                redactor.learn(path, &String::from_utf8_lossy(bytes));
            }
        }
        redactor.learn_names(&gathered);
        redactor.apply(gathered)
    }

    fn learn_host(&mut self, name: &str) {
        let name = name.trim();
        let short = name.split('.').next().unwrap_or(name);
        for name in [name, short] {
            if name.len() >= SHORTEST && !name.starts_with("localhost") && name != "(none)" {
                let stand_in = format!("host-{}", self.ins.word(short));
                self.words.insert(name.to_owned(), stand_in);
            }
        }
    }

    fn learn(&mut self, path: &str, text: &str) {
        let file = path.rsplit('/').next().unwrap_or(path);
        match file {
            "node_desc" => drop(self.descriptions.insert(text.trim().to_owned())),
            file if SERIALS.contains(&file) => self.learn_word(text.trim(), "id"),
            "phys_switch_id" | "phys_port_id" => self.learn_digits(text.trim()),
            _ => {}
        }
        // Looking at an address makes its stand-in, and so its plain digits become known.
        self.text(path, text);
    }

    fn learn_word(&mut self, word: &str, kind: &str) {
        if word.len() >= SHORTEST && !word.chars().all(|digit| digit == '0') {
            let stand_in = format!("{kind}-{}", self.ins.word(word));
            self.words.entry(word.to_owned()).or_insert(stand_in);
        }
    }

    /// `enx0123456789ab` holds an address that its own file may spell with colons.
    fn learn_names(&mut self, gathered: &Gathered) {
        let parts = gathered.items.keys().flat_map(|path| path.split('/'));
        for part in parts {
            let digits = ["enx", "wlx", "ibx", "ibs", "ibp", "rocex", "iwx", "opax"]
                .iter()
                .find_map(|prefix| part.strip_prefix(prefix));
            if let Some(digits) = digits.filter(|digits| matches!(digits.len(), 12 | 16)) {
                self.learn_digits(digits);
            }
        }
    }

    fn learn_digits(&mut self, digits: &str) {
        let Ok(bytes) = scan::hex(digits) else {
            return;
        };
        if let Ok(mac) = <[u8; 6]>::try_from(bytes.as_slice()) {
            self.mac(mac);
        } else if let Ok(guid) = <[u8; 8]>::try_from(bytes.as_slice()) {
            self.guid(guid);
        } else if bytes.iter().any(|byte| *byte != 0) {
            self.learn_word(digits, "id");
        }
    }

    fn mac(&mut self, mac: [u8; 6]) -> [u8; 6] {
        let stand_in = self.ins.mac(mac);
        self.pair(&mac, &stand_in);
        stand_in
    }

    fn guid(&mut self, guid: [u8; 8]) -> [u8; 8] {
        let stand_in = self.ins.guid(guid);
        self.pair(&guid, &stand_in);
        stand_in
    }

    fn gid(&mut self, gid: [u8; 16]) -> [u8; 16] {
        let [.., a, b, c, d, e, f, g, h] = gid;
        // A GUID's plain digits may stand elsewhere; an IPv4 address in its place has none.
        if std::net::Ipv6Addr::from(gid).to_ipv4_mapped().is_none() {
            self.guid([a, b, c, d, e, f, g, h]);
        }
        self.ins.gid(gid.into()).octets()
    }

    fn pair(&mut self, from: &[u8], to: &[u8]) {
        if from != to {
            self.digits.insert(scan::digits(from), scan::digits(to));
        }
    }

    /// A text of a file, or with an empty `path` a path itself, with its identities replaced.
    fn text(&mut self, path: &str, text: &str) -> String {
        let file = path.rsplit('/').next().unwrap_or(path);
        let dotted = !VERSIONS.contains(&file);
        // Names of files come from the kernel and from udev; words of a host could only break them.
        let text = match path {
            "" => text.to_owned(),
            _ => scan::replace_words(text, &self.words),
        };
        scan::tokens(&text, |token| {
            let text = self.address(token, dotted);
            let text = text.or_else(|| self.within(token, dotted));
            scan::replace_digits(text.as_deref().unwrap_or(token), &self.digits).or(text)
        })
    }

    fn address(&mut self, token: &str, dotted: bool) -> Option<String> {
        if let Some(groups) = scan::groups(token, ':', 2) {
            return match groups.len() {
                6 => {
                    let mac = <[u8; 6]>::try_from(groups).ok()?;
                    Some(scan::pairs(&self.mac(mac)))
                }
                // InfiniBand's own: queue pair, then a GID.
                20 => {
                    let (pair, gid) = groups.split_at_checked(4)?;
                    let gid = self.gid(<[u8; 16]>::try_from(gid).ok()?);
                    Some(format!("{}:{}", scan::pairs(pair), scan::pairs(&gid)))
                }
                8 => {
                    let guid = <[u8; 8]>::try_from(groups).ok()?;
                    Some(scan::pairs(&self.guid(guid)))
                }
                _ => None,
            };
        }
        if let Some(groups) = scan::groups(token, ':', 4) {
            if let Ok(guid) = <[u8; 8]>::try_from(groups.as_slice()) {
                return Some(scan::quads(&self.guid(guid)));
            }
            if let Ok(gid) = <[u8; 16]>::try_from(groups.as_slice()) {
                return Some(scan::quads(&self.gid(gid)));
            }
        }
        if scan::is_uuid(token) {
            return Some(self.uuid(token));
        }
        if token.matches(':').count() >= 2
            && let Ok(address) = token.parse::<std::net::Ipv6Addr>()
        {
            return Some(self.ins.gid(address).to_string());
        }
        if dotted && let Ok(address) = token.parse() {
            return Some(self.ins.ipv4(address).to_string());
        }
        None
    }

    /// An address that something is attached to: a port, the end of a range, a word before it.
    fn within(&mut self, token: &str, dotted: bool) -> Option<String> {
        let separator = ['-', ':'].into_iter().find(|by| token.contains(*by))?;
        let parts: Vec<_> = token.split(separator).collect();
        let mut out = Vec::new();
        let mut rest = parts.as_slice();
        while let Some((first, after)) = rest.split_first() {
            let lengths = [20, 8, 6, 4].into_iter().filter(|_| separator == ':');
            let found = lengths
                .filter_map(|length| rest.split_at_checked(length))
                .find_map(|(some, after)| Some((self.address(&some.join(":"), dotted)?, after)));
            if let Some((stand_in, after)) = found {
                out.push(stand_in);
                rest = after;
                continue;
            }
            let part = self.address(first, dotted);
            let part = part.or_else(|| self.within(first, dotted));
            out.push(part.unwrap_or_else(|| (*first).to_owned()));
            rest = after;
        }
        Some(out.join(&separator.to_string()))
    }

    /// A file that is nothing but an identity in plain digits.
    fn plain(&mut self, text: &str) -> String {
        let bytes = scan::hex(text.trim()).unwrap_or_default();
        let stand_in = if let Ok(mac) = <[u8; 6]>::try_from(bytes.as_slice()) {
            scan::digits(&self.mac(mac))
        } else if let Ok(guid) = <[u8; 8]>::try_from(bytes.as_slice()) {
            scan::digits(&self.guid(guid))
        } else if text.trim().is_empty() {
            return text.to_owned();
        } else {
            scan::digits(&self.ins.bytes(text.trim()))
        };
        format!("{stand_in}\n")
    }

    fn uuid(&self, token: &str) -> String {
        let token = token.to_ascii_lowercase();
        let (front, back) = (
            u64::from_be_bytes(self.ins.bytes(("uuid", &token))),
            u64::from_be_bytes(self.ins.bytes(("uuid, second half", &token))),
        );
        let all = format!("{front:016x}{back:016x}");
        let part = |from, to| all.get(from..to).unwrap_or("");
        [
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32),
        ]
        .join("-")
    }

    fn apply(&mut self, gathered: Gathered) -> Gathered {
        let mut items = BTreeMap::new();
        for (path, item) in gathered.items {
            let item = match item {
                Item::Directory => Item::Directory,
                Item::Link(target) => Item::Link(self.text("", &target)),
                Item::File(bytes) => Item::File(self.content(&path, bytes)),
            };
            items.insert(self.text("", &path), item);
        }
        let faults = gathered.faults.into_iter();
        let faults = faults.map(|(path, name)| (self.text("", &path), name));
        let faults = faults.collect();
        let errors = gathered.errors.into_iter();
        let errors = errors.map(|text| self.text("", &text)).collect();
        Gathered {
            items,
            faults,
            errors,
        }
    }

    /// Bytes that are no text stay only where they hold no word: they are dropped.
    fn content(&mut self, path: &str, bytes: Vec<u8>) -> Vec<u8> {
        String::from_utf8(bytes).map_or_else(
            |_| b"\xff".to_vec(),
            |text| match path.rsplit('/').next() {
                Some("phys_switch_id" | "phys_port_id") => self.plain(&text).into_bytes(),
                Some("node_desc") => self.description(path, &text).into_bytes(),
                Some("hca_type") if self.descriptions.contains(text.trim()) => {
                    self.description(path, &text).into_bytes()
                }
                _ => self.text(path, &text).into_bytes(),
            },
        )
    }

    /// Free text: each word has a stand-in, but for the device's own name.
    fn description(&self, path: &str, text: &str) -> String {
        let device = path.rsplit('/').nth(1).unwrap_or("");
        let words = text.split_whitespace().map(|word| {
            if word == device {
                return word.to_owned();
            }
            let known = self.words.get(word).cloned();
            known.unwrap_or_else(|| format!("desc-{}", self.ins.word(word)))
        });
        format!("{}\n", words.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        Redactor::default().text("x", text)
    }

    #[test]
    fn an_address_is_found_whatever_is_attached_to_it() {
        for (text, secret) in [
            ("10.77.88.50:4791", "77.88"),
            ("10.77.88.50-10.77.88.60", "77.88"),
            ("10.77.88.50/24,10.77.88.51", "77.88"),
            ("lladdr:0c:42:a1:12:ab:cd", "12:ab:cd"),
            ("[2001:db8:77aa::1]:4791", "77aa"),
            ("fe80::e42:a1ff:fe12:abcd%eth0", "12:abcd"),
            ("0x0c42:a103:0012:abcd, 0c42:a103:0012:abcd.", "12:abcd."),
        ] {
            let out = redacted(text);
            assert!(!out.contains(secret), "{text} became {out}");
        }
    }

    #[test]
    fn what_is_no_address_stays() {
        for text in [
            "0000:c1:00.0",
            "sys/devices/pci0000:00/0000:00:01.0/net/eth0",
            "0-31,64-95",
            "123456789012",
            "32.0 GT/s PCIe",
            "4: ACTIVE",
            "28.43.2026 (MT_0000000838)",
            "00000000,ffffffff",
            "mlx5_core.sf.4",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn a_switch_identity_of_decimal_digits_is_replaced_too() {
        let mut redactor = Redactor::default();
        assert_ne!(redactor.plain("9803001203004502\n"), "9803001203004502\n");
    }
}
