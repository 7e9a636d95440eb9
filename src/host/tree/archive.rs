//! An archive of a capture, held in memory: read once, never unpacked to a disk.
//!
//! What an archive says is hostile: every bound of it is counted while it is read, names that lead
//! out of it are ignored, and its links resolve beneath its own root.

mod load;
mod nodes;

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::tree::archive::nodes::{Content, Node, Nodes};
use crate::host::tree::captured::{Faulty, OpenError};
use crate::host::tree::faults::{BadLine, FILE, Fault, Faults, LIMIT, canonical};
use crate::host::tree::{Handle, Tree};

/// An archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Neither a directory nor a regular file.
    #[error("it is neither a directory nor a regular file")]
    NotAFile,
    /// A compression this program does not read.
    #[error("it is packed by {0}; unpack it or use .tar.gz or .tar.zst")]
    Compression(&'static str),
    /// The stream is cut short, damaged or no tar.
    #[error("it is no whole tar, tar.gz or tar.zst: {0}")]
    Damaged(String),
    /// It unpacks to more than a capture may hold.
    #[error("it unpacks to more than {} MiB", load::UNPACKED >> 20)]
    TooBig,
    /// It has more entries than a capture may have.
    #[error("it has more than {} entries", load::ENTRIES)]
    TooMany,
}

/// A capture in memory.
#[derive(Debug)]
pub(super) struct Archive {
    nodes: Nodes,
    faults: Faults,
}

impl Archive {
    /// Reads the whole archive.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let owned = || PathBuf::from(path);
        let nodes = load::load(path).map_err(|error| match error {
            load::LoadError::Open(errno) => OpenError::Path {
                path: owned(),
                errno,
            },
            load::LoadError::Archive(error) => OpenError::Archive {
                path: owned(),
                error,
            },
        })?;
        let nodes = nodes
            .rooted()
            .ok_or_else(|| OpenError::NoSys { path: owned() })?;
        let faults = faults_of(&nodes, path).map_err(|error| OpenError::Faults {
            path: owned(),
            error,
        })?;
        Ok(Self { nodes, faults })
    }

    fn fault(&self, path: &str) -> Option<Fault> {
        self.faults.find(path, |path| {
            canonical(path, |path| self.nodes.resolve(path))
        })
    }

    fn content(&self, path: &str) -> Result<Content, FaultReason> {
        match self.nodes.get(&self.nodes.resolve(path)?) {
            Some(Node::File(content)) => Ok(content.clone()),
            Some(Node::TooLong) => Err(FaultReason::TooLong),
            Some(_) => Err(FaultReason::NotAFile),
            None => Err(FaultReason::NotExposed),
        }
    }
}

fn faults_of(nodes: &Nodes, path: &Path) -> Result<Faults, BadLine> {
    let file = path.join(FILE).display().to_string();
    let unreadable = |what: &str| BadLine {
        file: file.clone(),
        line: 0,
        what: what.to_owned(),
    };
    match nodes.get(FILE) {
        None => Ok(Faults::default()),
        Some(Node::File(bytes)) if bytes.len() <= LIMIT => {
            let text = std::str::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8"))?;
            Faults::parse(text, &file, |path| {
                canonical(path, |path| nodes.resolve(path))
            })
        }
        Some(_) => Err(unreadable("it is no file of a sensible length")),
    }
}

impl Tree for Archive {
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason> {
        let open = || -> Result<Box<dyn Handle>, FaultReason> {
            Ok(Box::new(InMemory(self.content(path)?)))
        };
        match self.fault(path) {
            None => open(),
            Some(fault) => Ok(Box::new(Faulty {
                fault,
                file: open(),
            })),
        }
    }

    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason> {
        self.fault(path).map_or(Ok(()), Fault::strike)?;
        let content = self.content(path)?;
        if content.len() > limit {
            return Err(FaultReason::TooLong);
        }
        Ok(content.to_vec())
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
        self.fault(path).map_or(Ok(()), Fault::strike)?;
        match self.nodes.get(&self.nodes.resolve(path)?) {
            Some(Node::Directory(names)) => Ok(names.iter().cloned().collect()),
            _ => Err(FaultReason::NotAFile),
        }
    }

    fn link(&self, path: &str) -> Result<String, FaultReason> {
        self.nodes.link(path)
    }

    fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        self.nodes.resolve(path)
    }
}

/// A file of the archive.
#[derive(Debug)]
struct InMemory(Content);

impl Handle for InMemory {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FaultReason> {
        let count = self.0.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(self.0.iter()) {
            *to = *from;
        }
        Ok(count)
    }
}

impl From<Errno> for load::LoadError {
    fn from(errno: Errno) -> Self {
        Self::Open(errno)
    }
}
