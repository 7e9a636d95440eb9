//! A capture as a tree: a directory that is read anew at every poll, or an archive read once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::tree::rooted::Rooted;
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
}

/// Opens a capture.
///
/// # Errors
///
/// [`OpenError`] says what was wrong with the path or with what it holds.
pub fn open(path: &Path) -> Result<Arc<dyn Tree>, OpenError> {
    let root = Rooted::open(path).map_err(|errno| OpenError::Path {
        path: path.to_owned(),
        errno,
    })?;
    let directory = Directory { root };
    if directory.list("sys").is_err() {
        return Err(OpenError::NoSys {
            path: path.to_owned(),
        });
    }
    Ok(Arc::new(directory))
}

#[derive(Debug)]
struct Directory {
    root: Rooted,
}

impl Directory {
    fn regular(&self, path: &str) -> Result<(), FaultReason> {
        match self.root.kind(path)? {
            FileType::RegularFile => Ok(()),
            _ => Err(FaultReason::NotAFile),
        }
    }
}

impl Tree for Directory {
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason> {
        self.regular(path)?;
        Ok(Box::new(self.root.file(path)?))
    }

    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason> {
        self.regular(path)?;
        self.root.file(path)?.all(limit)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
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
}
