//! Maintenance by a file: whoever may write in the runtime directory may say that somebody works on
//! the node. The directory is gone at a reboot, and so is the file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::core::model::attention::{LONGEST, Maintenance};

/// Bytes of the reason that are kept.
const REASON: u64 = 256;

/// What the file says: its time of writing, its first line as the reason, and at most a day; with
/// `for 2h` in that line so long. `None` if it is not there or says a time that is over.
///
/// # Errors
///
/// The file cannot be read.
pub fn of_file(path: &Path, wall: f64) -> io::Result<Option<Maintenance>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let written = meta.modified()?.duration_since(UNIX_EPOCH);
    // A time in the future is a clock that was wrong: it begins now.
    let since = written.map_or(wall, |since| since.as_secs_f64()).min(wall);
    let mut text = Vec::new();
    File::open(path)?.take(REASON).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default().trim();
    let until = since + span(line).unwrap_or(LONGEST).min(LONGEST);
    Ok((until > wall).then(|| Maintenance {
        since,
        until,
        reason: crate::core::parse::escaped(line),
    }))
}

/// The span after the word `for`, seconds.
fn span(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "for")?;
    let word = words.next()?;
    let end = word.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = word.split_at(end);
    let number: u32 = number.parse().ok()?;
    let unit = match unit {
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3600),
        _ => return None,
    };
    Some(f64::from(number) * unit.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path) -> f64 {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        modified.duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
    }

    #[test]
    fn the_file_says_how_long_and_why() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("maintenance");
        assert_eq!(of_file(&path, 0.0).unwrap(), None);
        fs::write(&path, "new cable in slot 3 for 2h\n").unwrap();
        let at = written(&path);
        let found = of_file(&path, at + 1.0).unwrap().unwrap();
        assert_eq!(found.reason, "new cable in slot 3 for 2h");
        assert!((found.until - found.since - 7200.0).abs() < 1.0);
        assert_eq!(of_file(&path, at + 7201.0).unwrap(), None);
    }

    #[test]
    fn a_file_without_a_time_holds_a_day_and_no_longer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("maintenance");
        for text in ["", "for 99h", "for ever"] {
            fs::write(&path, text).unwrap();
            let found = of_file(&path, written(&path) + 1.0).unwrap().unwrap();
            assert!((found.until - found.since - LONGEST).abs() < 1.0, "{text}");
        }
    }
}
