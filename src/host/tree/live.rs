//! This host's files, through its own mounts or through others (`--path.sysfs`, `--path.procfs`).

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::tree::rooted::Rooted;
use crate::host::tree::{Handle, Tree};

/// A live host.
#[derive(Debug)]
pub struct Live {
    sysfs: Rooted,
    procfs: Rooted,
}

/// A mount of the host cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot open {path} as this host's {what}; give its mount with --path.{what}")]
pub struct NoMount {
    path: PathBuf,
    what: &'static str,
    #[source]
    errno: Errno,
}

impl Live {
    /// Opens both mounts.
    ///
    /// # Errors
    ///
    /// [`NoMount`] names the one that is no directory or may not be opened.
    pub fn open(sysfs: &Path, procfs: &Path) -> Result<Self, NoMount> {
        let rooted = |path: &Path, what| {
            let path = path.to_owned();
            Rooted::open_mount(&path).map_err(|errno| NoMount { path, what, errno })
        };
        Ok(Self {
            sysfs: rooted(sysfs, "sysfs")?,
            procfs: rooted(procfs, "procfs")?,
        })
    }

    fn at<'a>(&self, path: &'a str) -> Result<(&Rooted, &'a str), FaultReason> {
        match path.split_once('/').unwrap_or((path, "")) {
            ("sys", rest) => Ok((&self.sysfs, rest)),
            ("proc", rest) => Ok((&self.procfs, rest)),
            _ => Err(FaultReason::NotExposed),
        }
    }
}

impl Tree for Live {
    fn open(&self, path: &str) -> Result<Box<dyn Handle>, FaultReason> {
        let (root, rest) = self.at(path)?;
        Ok(Box::new(root.file(rest)?))
    }

    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, FaultReason> {
        let (root, rest) = self.at(path)?;
        root.file(rest)?.all(limit)
    }

    fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
        let (root, rest) = self.at(path)?;
        root.list(rest)
    }

    fn link(&self, path: &str) -> Result<String, FaultReason> {
        let (root, rest) = self.at(path)?;
        root.link(rest)
    }

    fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        let (root, rest) = self.at(path)?;
        let mount = path.split('/').next().unwrap_or(path);
        Ok(format!("{mount}/{}", root.resolve(rest)?)
            .trim_end_matches('/')
            .to_owned())
    }

    fn object(&self, path: &str) -> Option<u64> {
        let (root, rest) = self.at(path).ok()?;
        Some(root.stamp(rest)?.inode)
    }
}
