//! What survives a restart within one boot: devices that are not to be touched.
//!
//! One small file in the state directory, replaced as a whole. Without it the daemon works and
//! learns again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::core::ids::DeviceKey;
use crate::daemon::child::Stalled;

/// Version of the file.
const SCHEMA: &str = "railwatch-state/1";
/// Bytes of the file that are read at most.
const LIMIT: u64 = 1 << 20;

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// Devices whose firmware refuses every counter.
    pub restricted: BTreeSet<DeviceKey>,
    /// Devices whose reads did not return.
    pub stalled: BTreeMap<DeviceKey, Stalled>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    schema: String,
    boot_id: String,
    #[serde(flatten)]
    kept: Kept,
}

/// The file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    boot_id: String,
    written: Kept,
    /// A failure is said once.
    complained: bool,
}

impl Store {
    /// Opens the state of this boot; what an earlier boot or a newer version left counts as empty.
    #[must_use]
    pub fn open(directory: &Path, boot_id: String) -> Self {
        let path = directory.join("state.json");
        let written = match read(&path) {
            Ok(Some(document)) if document.boot_id == boot_id => document.kept,
            Ok(_) => Kept::default(),
            Err(error) => {
                set_aside(&path, &error);
                Kept::default()
            }
        };
        Self {
            path,
            boot_id,
            written,
            complained: false,
        }
    }

    /// What was kept.
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.written
    }

    /// Keeps this from now on; writes only if it differs.
    pub fn keep(&mut self, kept: Kept) {
        if kept == self.written {
            return;
        }
        let document = Document {
            schema: SCHEMA.to_owned(),
            boot_id: self.boot_id.clone(),
            kept,
        };
        if let Err(error) = write(&self.path, &document)
            && !self.complained
        {
            self.complained = true;
            warn!(path = %self.path.display(), error = %error, "cannot keep which devices are not to be touched; a restart learns it again");
        }
        self.written = document.kept;
    }
}

fn read(path: &Path) -> io::Result<Option<Document>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT).read_to_end(&mut bytes)?;
    let document: Document = serde_json::from_slice(&bytes)?;
    if document.schema == SCHEMA {
        Ok(Some(document))
    } else {
        Err(io::Error::other(format!(
            "its schema is {:?}, not {SCHEMA}",
            document.schema
        )))
    }
}

/// A file that is not ours to understand is kept for a person and out of the way.
fn set_aside(path: &Path, error: &io::Error) {
    let aside = path.with_extension("json.aside");
    let moved = fs::rename(path, &aside).is_ok();
    warn!(path = %path.display(), error = %error, moved, "cannot use the state file; starting without it");
}

fn write(path: &Path, document: &Document) -> io::Result<()> {
    let fresh = path.with_extension("json.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(&serde_json::to_vec_pretty(document)?)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        Kept {
            restricted: BTreeSet::from([DeviceKey::new("sys/devices/pci0000:00/0000:00:01.0")]),
            stalled: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_kept_is_there_after_a_restart_of_the_same_boot_only() {
        let directory = tempfile::tempdir().unwrap();
        let open = |boot: &str| Store::open(directory.path(), boot.to_owned());
        open("a").keep(kept());
        assert_eq!(open("a").kept(), &kept());
        assert_eq!(open("b").kept(), &Kept::default());
    }

    #[test]
    fn a_file_of_a_newer_version_or_junk_is_set_aside() {
        for text in [
            "{",
            "{\"schema\":\"railwatch-state/9\",\"boot_id\":\"a\",\"restricted\":[],\"stalled\":{}}",
            "\0\0",
        ] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join("state.json"), text).unwrap();
            let store = Store::open(directory.path(), "a".to_owned());
            assert_eq!(store.kept(), &Kept::default());
            assert!(directory.path().join("state.json.aside").exists());
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_no_end() {
        let mut store = Store::open(Path::new("/nonexistent/railwatch"), "a".to_owned());
        store.keep(kept());
        assert_eq!(store.kept(), &kept());
    }
}
