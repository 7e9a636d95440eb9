//! A node's files, wherever they are: this host's mounts, a captured directory, an archive.
//!
//! Paths are relative and start with `sys/` or `proc/`, as in a capture. They never leave the
//! tree: a symlink that points outside resolves beneath the root or fails.

pub mod archive;
pub mod captured;
pub mod faults;
pub mod live;
mod rooted;

use std::fmt::Debug;

use crate::core::model::outcome::FaultReason;

/// One node's files.
pub trait Tree: Debug + Send + Sync {
    /// Opens a file for repeated reading; no bytes are read yet on a live host.
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason>;

    /// Reads a file once, at most `limit` bytes; more is [`FaultReason::TooLong`].
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason>;

    /// Names in a directory, sorted. Does not enter a driver.
    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason>;

    /// The target of a symlink, as written.
    fn link(&self, path: &str) -> Result<String, FaultReason>;

    /// The path with every symlink resolved, e.g. `sys/class/net/eth0/device` →
    /// `sys/devices/pci0000:00/0000:00:03.0`.
    fn resolve(&self, path: &str) -> Result<String, FaultReason>;

    /// Whether handles stay good from poll to poll. A captured directory is read anew each time, as
    /// an editor replaces files.
    fn keeps(&self) -> bool {
        true
    }

    /// Tells the object behind a path from another that took its place under the same name (its
    /// inode); `None` where it is not there or nothing ever takes a place.
    fn object(&self, _path: &str) -> Option<u64> {
        None
    }

    /// Whether something is there; a directory that may not be looked into is not there.
    fn exists(&self, path: &str) -> bool {
        self.resolve(path).is_ok()
    }
}

/// A file kept open.
pub trait Handle: Debug + Send {
    /// Reads from the start into `buffer` with one system call. A file that fills the whole buffer
    /// is too long.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FaultReason>;
}
