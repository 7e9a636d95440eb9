//! The kernel's text forms, one file a form family. Bytes in, [`Outcome`] or a fact out.
//!
//! Total functions: any bytes give an answer, none panics. What a form does not allow is a fault
//! with its reason, never a guess. Knows no path, no device and no errno.

pub mod facts;
mod number;
mod speed;
mod state;

use crate::core::catalog::Form;
use crate::core::model::outcome::{FaultReason, Outcome};

/// What a file's bytes say under a form.
///
/// `width` is the counter's, in bits: a number above its top is [`FaultReason::OutOfRange`]. One
/// newline at the end belongs to the form; leading blanks, a plus sign, a carriage return or a
/// second line do not. `Form::Rate` is judged here without the port's state.
#[must_use]
pub fn outcome(bytes: &[u8], form: Form, width: u8) -> Outcome {
    match line(bytes).and_then(|text| said(text, form, width)) {
        Ok(Some(value)) => Outcome::Value(value),
        Ok(None) => Outcome::Absent,
        Err(reason) => Outcome::Fault(reason),
    }
}

/// What a failed read means under a form.
///
/// The kernel answers `EINVAL` for `carrier` and `speed` of a netdev that is administratively down
/// (`K:net/core/net-sysfs.c`): it has nothing to say, which is no fault.
#[must_use]
pub fn failed(reason: FaultReason, form: Form) -> Outcome {
    match (reason, form) {
        (FaultReason::InvalidArgument, Form::Flag | Form::NetSpeed) => Outcome::Absent,
        (reason, _) => Outcome::Fault(reason),
    }
}

/// A fact's text: blanks around it cut off, at most `max_chars` characters.
///
/// Control and invisible formatting characters are escaped (`\u{1b}`), as the text goes to labels,
/// logs and terminals. An empty text is `Ok("")`: the host says nothing, which some drivers do for
/// `fw_ver`.
///
/// # Errors
///
/// [`FaultReason::NotUtf8`], and [`FaultReason::TooLong`] for a longer text: cut short it could
/// be taken for another one.
pub fn text(bytes: &[u8], max_chars: usize) -> Result<String, FaultReason> {
    let text = std::str::from_utf8(bytes).map_err(|_| FaultReason::NotUtf8)?;
    let text = text.trim();
    if text.chars().nth(max_chars).is_some() {
        return Err(FaultReason::TooLong);
    }
    Ok(escaped(text))
}

/// `text` with control, line-breaking, bidirectional and zero-width characters as `\u{…}`.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The one line of a sysfs file, without its newline.
fn line(bytes: &[u8]) -> Result<&str, FaultReason> {
    let text = std::str::from_utf8(bytes).map_err(|_| FaultReason::NotUtf8)?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return Err(FaultReason::Empty);
    }
    Ok(text)
}

/// The value, or `None` where the kernel has nothing to say.
fn said(text: &str, form: Form, width: u8) -> Result<Option<u64>, FaultReason> {
    match form {
        Form::Number => number::within(text, width).map(Some),
        Form::NumberOrAllOnes => number::unless_all_ones(text, width),
        Form::StateId => state::id(text).map(Some),
        Form::Flag => state::flag(text).map(Some),
        Form::Operstate => state::operstate(text),
        Form::Rate => speed::rate(text),
        Form::NetSpeed => speed::megabits(text),
        Form::PcieSpeed => speed::pcie(text),
        Form::PcieWidth => speed::lanes(text),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use proptest::prelude::*;

    use super::*;

    const FORMS: [Form; 9] = [
        Form::Number,
        Form::NumberOrAllOnes,
        Form::StateId,
        Form::Flag,
        Form::Operstate,
        Form::Rate,
        Form::NetSpeed,
        Form::PcieSpeed,
        Form::PcieWidth,
    ];

    #[test]
    fn bytes_that_are_no_text_are_refused_under_every_form() {
        for form in FORMS {
            for (bytes, reason) in [
                (&b""[..], FaultReason::Empty),
                (b"\n", FaultReason::Empty),
                (b"\xff\xfe", FaultReason::NotUtf8),
                (b"12\xc3", FaultReason::NotUtf8),
            ] {
                assert_eq!(
                    outcome(bytes, form, 64),
                    Outcome::Fault(reason),
                    "{form:?} {bytes:?}"
                );
            }
        }
    }

    #[test]
    fn a_netdev_that_is_down_has_no_carrier_and_no_speed_to_tell() {
        for form in [Form::Flag, Form::NetSpeed] {
            assert_eq!(failed(FaultReason::InvalidArgument, form), Outcome::Absent);
            assert_eq!(
                failed(FaultReason::Io, form),
                Outcome::Fault(FaultReason::Io)
            );
        }
        assert_eq!(
            failed(FaultReason::InvalidArgument, Form::Number),
            Outcome::Fault(FaultReason::InvalidArgument)
        );
    }

    #[test]
    fn text_is_trimmed_and_bounded_and_its_control_characters_are_escaped() {
        for (bytes, expected) in [
            (&b"28.43.2026\n"[..], Ok("28.43.2026")),
            (b"\n", Ok("")),
            (b"", Ok("")),
            ("gr\u{fc}n".as_bytes(), Ok("gr\u{fc}n")),
            (b"a\x1b[31mb", Ok("a\\u{1b}[31mb")),
            (b"a\nb\n", Ok("a\\u{a}b")),
            (b"a\0", Ok("a\\u{0}")),
            ("a\u{202e}b".as_bytes(), Ok("a\\u{202e}b")),
            (b"12345678901234567", Err(FaultReason::TooLong)),
            (b"\xff", Err(FaultReason::NotUtf8)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(text(bytes, 16), expected, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), width in any::<u8>()) {
            for form in FORMS {
                black_box(outcome(&bytes, form, width));
            }
            black_box(text(&bytes, 8)).ok();
        }

        #[test]
        fn no_nearly_right_text_makes_a_parser_panic(text in "[-+0-9a-fx.:/ ()XGTbsecPCIe\n]{0,24}") {
            for form in FORMS {
                black_box(outcome(text.as_bytes(), form, 64));
            }
        }

        #[test]
        fn a_printed_number_parses_back(value in any::<u64>()) {
            prop_assert_eq!(
                outcome(format!("{value}\n").as_bytes(), Form::Number, 64),
                Outcome::Value(value)
            );
        }

        #[test]
        fn no_number_above_its_width_is_taken(value in any::<u64>(), width in 1_u8..64) {
            let top = crate::core::model::change::top(width);
            let expected = if value <= top {
                Outcome::Value(value)
            } else {
                Outcome::Fault(FaultReason::OutOfRange)
            };
            prop_assert_eq!(outcome(value.to_string().as_bytes(), Form::Number, width), expected);
        }

        #[test]
        fn escaped_text_holds_no_control_character(bytes in ".{0,32}") {
            if let Ok(text) = text(bytes.as_bytes(), 64) {
                prop_assert!(!text.chars().any(char::is_control));
            }
        }
    }
}
