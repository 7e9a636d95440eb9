//! The one place that prints. A reader that has gone away (`| head`) is no failure.

use std::io::{self, ErrorKind, Write};

use crate::cli::exit::{Failure, Reason};
use crate::core::parse;

/// Writes bytes to standard output, at once.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe counts as written.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::told(
            Reason::Output,
            format!("cannot write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Tells the person at standard error; whatever is not printable is escaped, lines stay lines.
pub fn tell(message: &str) {
    let mut err = io::stderr().lock();
    for line in message.lines() {
        // Nobody is left to be told when this fails.
        drop(writeln!(err, "railwatch: {}", printable(line)));
    }
}

/// Tells the person these lines as they are, but printable.
pub fn tell_lines(each: &[String]) {
    tell_plainly(&lines(each));
}

/// The lines as one printable text.
#[must_use]
pub fn lines(each: &[String]) -> String {
    let mut text = String::new();
    for line in each.iter().flat_map(|each| each.lines()) {
        text.push_str(&printable(line));
        text.push('\n');
    }
    text
}

/// Writes text we made ourselves to standard error, as it is.
pub fn tell_plainly(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// The text with what would drive a terminal or hide on it escaped.
#[must_use]
pub fn printable(text: &str) -> String {
    parse::escaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_drive_a_terminal_is_escaped() {
        assert_eq!(printable("a\u{1b}[2Jb\u{9b}"), "a\\u{1b}[2Jb\\u{9b}");
        assert_eq!(printable("naïve\t"), "naïve\\u{9}");
    }
}
