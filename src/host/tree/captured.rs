//! A capture as a tree: a directory that is read anew at every poll, or an archive read once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::tree::archive::{self, Archive};
use crate::host::tree::faults::{BadLine, FILE, Fault, Faults, LIMIT, canonical};
use crate::host::tree::rooted::{Rooted, Stamp};
use crate::host::tree::{Handle, Tree};

/// A capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The path is not there or may not be read.
    #[error(
        "cannot open the capture {path}; a capture is a directory with sys/ in it, or a .tar, .tar.gz or .tar.zst of one"
    )]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        errno: Errno,
    },
    /// There is no `sys` in it.
    #[error("{path} holds no sys/: it is no capture")]
    NoSys {
        /// Which.
        path: PathBuf,
    },
    /// The archive cannot be unpacked.
    #[error("cannot unpack the capture {path}")]
    Archive {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        error: archive::ArchiveError,
    },
    /// Its `faults.tsv` has a line nobody can follow.
    #[error("cannot follow the faults of the capture {path}: {error}")]
    Faults {
        /// Which capture.
        path: PathBuf,
        /// Which line.
        error: BadLine,
    },
}

/// Opens a capture: a directory, or an archive of one.
///
/// # Errors
///
/// [`OpenError`] says what was wrong with the path or with what it holds.
pub fn open(path: &Path) -> Result<Arc<dyn Tree>, OpenError> {
    match Rooted::open(path) {
        Ok(root) => Ok(Arc::new(Directory::open(root, path)?)),
        Err(Errno::NOTDIR) => Ok(Arc::new(Archive::open(path)?)),
        Err(errno) => Err(OpenError::Path {
            path: path.to_owned(),
            errno,
        }),
    }
}

#[derive(Debug)]
struct Directory {
    root: Rooted,
    /// The faults and the stamp of the file they were read from.
    faults: Mutex<(Option<Stamp>, Arc<Faults>)>,
}

impl Directory {
    fn open(root: Rooted, path: &Path) -> Result<Self, OpenError> {
        let root = beneath_wrapper(root, path)?;
        let directory = Self {
            root,
            faults: Mutex::new((None, Arc::new(Faults::default()))),
        };
        let stamp = directory.root.stamp(FILE);
        if stamp.is_some() {
            let faults = directory
                .parse_faults(&path.join(FILE).display().to_string())
                .map_err(|error| OpenError::Faults {
                    path: path.to_owned(),
                    error,
                })?;
            *directory.slot() = (stamp, Arc::new(faults));
        }
        Ok(directory)
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, (Option<Stamp>, Arc<Faults>)> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parse_faults(&self, name: &str) -> Result<Faults, BadLine> {
        let unreadable = |what: &str| BadLine {
            file: name.to_owned(),
            line: 0,
            what: what.to_owned(),
        };
        let bytes = self
            .regular(FILE)
            .and_then(|()| self.root.file(FILE)?.all(LIMIT))
            .map_err(|reason| unreadable(&format!("the file cannot be read ({reason})")))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8"))?;
        Faults::parse(&text, name, |path| self.canonical(path))
    }

    /// The faults as the file has them now. A file changed to something bad leaves the last good
    /// ones: half a file, caught while it is being written, must not make the node healthy.
    fn faults(&self) -> Arc<Faults> {
        let stamp = self.root.stamp(FILE);
        let mut slot = self.slot();
        if slot.0 != stamp {
            slot.0 = stamp;
            match stamp {
                None => slot.1 = Arc::new(Faults::default()),
                Some(_) => {
                    if let Ok(faults) = self.parse_faults(FILE) {
                        slot.1 = Arc::new(faults);
                    }
                }
            }
        }
        Arc::clone(&slot.1)
    }

    fn fault(&self, path: &str) -> Option<Fault> {
        self.faults().find(path, |path| self.canonical(path))
    }

    fn canonical(&self, path: &str) -> String {
        canonical(path, |path| self.root.resolve(path))
    }

    fn regular(&self, path: &str) -> Result<(), FaultReason> {
        match self.root.kind(path)? {
            FileType::RegularFile => Ok(()),
            _ => Err(FaultReason::NotAFile),
        }
    }
}

/// A capture may lie in one directory of its own, as archives of a directory do.
fn beneath_wrapper(root: Rooted, path: &Path) -> Result<Rooted, OpenError> {
    if root.list("sys").is_ok() {
        return Ok(root);
    }
    let names = root.list("").unwrap_or_default();
    let mut inner = names
        .iter()
        .filter(|name| root.list(&format!("{name}/sys")).is_ok());
    match (inner.next(), inner.next()) {
        (Some(name), None) => root.child(name).map_err(|errno| OpenError::Path {
            path: path.join(name),
            errno,
        }),
        _ => Err(OpenError::NoSys {
            path: path.to_owned(),
        }),
    }
}

impl Tree for Directory {
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason> {
        let open = || -> Result<Box<dyn Handle>, FaultReason> {
            self.regular(path)?;
            Ok(Box::new(self.root.file(path)?))
        };
        match self.fault(path) {
            None => open(),
            // The fault strikes when the file is read, and again at each further read.
            Some(fault) => Ok(Box::new(Faulty {
                fault,
                file: open(),
            })),
        }
    }

    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason> {
        self.fault(path).map_or(Ok(()), Fault::strike)?;
        self.regular(path)?;
        self.root.file(path)?.all(limit)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
        self.fault(path).map_or(Ok(()), Fault::strike)?;
        self.root.list(path)
    }

    fn link(&self, path: &str) -> Result<String, FaultReason> {
        self.root.link(path)
    }

    fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        self.root.resolve(path)
    }

    fn keeps(&self) -> bool {
        false
    }

    fn object(&self, path: &str) -> Option<u64> {
        Some(self.root.stamp(path)?.inode)
    }
}

/// A file with a fault on it.
#[derive(Debug)]
pub(super) struct Faulty {
    pub(super) fault: Fault,
    pub(super) file: Result<Box<dyn Handle>, FaultReason>,
}

impl Handle for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FaultReason> {
        self.fault.strike()?;
        self.file.as_mut().map_err(|reason| *reason)?.read(buffer)
    }
}
