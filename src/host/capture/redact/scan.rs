//! Finds what looks like an address in text.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The bytes of an even number of hexadecimal digits.
pub(super) fn hex(digits: &str) -> Result<Vec<u8>, ()> {
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(());
    }
    let starts = (0..digits.len()).step_by(2);
    let pairs = starts.map(|start| digits.get(start..start.saturating_add(2)).ok_or(()));
    pairs
        .map(|pair| u8::from_str_radix(pair?, 16).map_err(drop))
        .collect()
}

/// Plain hexadecimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").ok();
    }
    text
}

/// `b8:3f:d2`.
pub(super) fn pairs(bytes: &[u8]) -> String {
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(":")
}

/// `b83f:d203`.
pub(super) fn quads(bytes: &[u8]) -> String {
    let quads: Vec<_> = bytes.chunks(2).map(digits).collect();
    quads.join(":")
}

/// The bytes of groups of exactly `width` digits.
pub(super) fn groups(token: &str, separator: char, width: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in token.split(separator) {
        if group.len() != width {
            return None;
        }
        bytes.extend(hex(group).ok()?);
    }
    Some(bytes)
}

/// `8-4-4-4-12` digits.
pub(super) fn is_uuid(token: &str) -> bool {
    let lengths: Vec<_> = token.split('-').map(str::len).collect();
    let digits = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
    lengths == [8, 4, 4, 4, 12] && token.bytes().all(digits)
}

/// Replaces the runs of characters that addresses are made of.
pub(super) fn tokens(text: &str, mut replace: impl FnMut(&str) -> Option<String>) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(part).unwrap_or(rest.len());
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !part(c)).unwrap_or(from.len());
        let (token, after) = from.split_at(end);
        out.push_str(before);
        // A full stop or a colon after an address belongs to the sentence.
        let bare = token.trim_end_matches(['.', ':', '-']);
        let bare = if token.ends_with("::") { token } else { bare };
        let tail = token.get(bare.len()..).unwrap_or("");
        out.push_str(&replace(bare).unwrap_or_else(|| bare.to_owned()));
        out.push_str(tail);
        rest = after;
    }
    out
}

/// Replaces known addresses written as plain digits anywhere in a token. A token of decimal digits
/// alone is a number.
pub(super) fn replace_digits(token: &str, known: &BTreeMap<String, String>) -> Option<String> {
    if token.len() < 12 || token.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut out = token.to_owned();
    for length in [16, 12] {
        for start in 0..out.len() {
            let window = out.get(start..start.saturating_add(length));
            let window = window.map(str::to_ascii_lowercase);
            if let Some(stand_in) = window.and_then(|window| known.get(&window)) {
                out.replace_range(start..start.saturating_add(length), stand_in);
            }
        }
    }
    (out != token).then_some(out)
}

/// Replaces known words where no letter or digit touches them, the longest first.
pub(super) fn replace_words(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    let mut longest: Vec<_> = words.iter().collect();
    longest.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    for (word, stand_in) in longest {
        if text.contains(word.as_str()) {
            text = replace_word(&text, word, stand_in);
        }
    }
    text
}

fn replace_word(text: &str, word: &str, stand_in: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let (before, from) = rest.split_at(start);
        let (found, after) = from.split_at(word.len());
        let touched =
            before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if touched { found } else { stand_in });
        rest = after;
    }
    out.push_str(rest);
    out
}
