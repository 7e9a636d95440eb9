//! What survives a restart within one boot: devices that are not to be touched.
//!
//! One small file in the state directory, replaced as a whole. Without it the daemon works and
//! learns again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::core::ids::DeviceKey;
use crate::daemon::child::Stalled;
use crate::daemon::keeper::{self, Keeper};

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
    keeper: Keeper,
    boot_id: String,
    kept: Kept,
}

impl Store {
    /// Opens the state of this boot; what an earlier boot or a newer version left counts as empty.
    #[must_use]
    pub fn open(directory: &Path, boot_id: String) -> Self {
        let path = file_in(directory);
        let kept = match read(&path) {
            Ok(document) => of_boot(document, &boot_id),
            Err(error) => {
                keeper::set_aside(&path, &error);
                Kept::default()
            }
        };
        Self {
            keeper: Keeper::of(path),
            boot_id,
            kept,
        }
    }

    /// What was kept.
    #[must_use]
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Keeps this from now on; writes only if it differs.
    pub fn keep(&mut self, kept: Kept) {
        if kept == self.kept {
            return;
        }
        let document = Document {
            schema: SCHEMA.to_owned(),
            boot_id: self.boot_id.clone(),
            kept,
        };
        // It is made of maps of texts and numbers, which JSON has.
        if let Ok(content) = serde_json::to_vec_pretty(&document) {
            self.keeper.put(content);
        }
        self.kept = document.kept;
    }
}

/// What a daemon of this boot has kept, for a command that only looks; nothing if that cannot be
/// told.
#[must_use]
pub fn peek(directory: &Path, boot_id: &str) -> Kept {
    read(&file_in(directory)).map_or_else(|_| Kept::default(), |found| of_boot(found, boot_id))
}

fn file_in(directory: &Path) -> PathBuf {
    directory.join("state.json")
}

fn of_boot(document: Option<Document>, boot_id: &str) -> Kept {
    document
        .filter(|document| document.boot_id == boot_id)
        .map_or_else(Kept::default, |document| document.kept)
}

fn read(path: &Path) -> io::Result<Option<Document>> {
    let Some(bytes) = keeper::read(path, LIMIT)? else {
        return Ok(None);
    };
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

#[cfg(test)]
mod tests {
    use std::fs;

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
