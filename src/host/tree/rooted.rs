//! Files beneath one directory: nothing resolves outside it, whatever links say.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    Dir, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat, openat2, readlinkat,
};
use rustix::io::Errno;

use crate::core::model::outcome::FaultReason;
use crate::host::errno::reason;
use crate::host::tree::Handle;

/// Names taken from one directory; a class directory of a real host has a few hundred.
const NAMES: usize = 1 << 16;

/// Times a path is walked again because something was renamed meanwhile, anywhere on the machine:
/// `openat2` then cannot tell that `..` stayed beneath the root and answers `EAGAIN`. A second walk
/// is nearly always undisturbed.
const WALKS: usize = 256;

/// A directory whose links resolve beneath it (`openat2`, Linux 5.6).
#[derive(Debug)]
pub(super) struct Rooted {
    root: OwnedFd,
    walk: Walk,
    /// The root's own path as the kernel spells it, to be cut off resolved paths.
    own_path: String,
}

/// How paths are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// The kernel keeps every link beneath the root.
    Beneath,
    /// As any program walks. Only for mounts the kernel fills itself: their links stay inside.
    Plain,
}

impl Rooted {
    /// Opens the root of a tree that anyone may have written.
    ///
    /// Where `openat2` is not to be had the error says so: older container runtimes refuse it.
    pub(super) fn open(root: &Path) -> Result<Self, Errno> {
        let rooted = Self::walked(root, Walk::Beneath)?;
        rooted.walk_once(".", OFlags::PATH).map(|_| rooted)
    }

    /// Opens the root of a mount that the kernel fills, with `openat2` where there is one.
    pub(super) fn open_mount(root: &Path) -> Result<Self, Errno> {
        match Self::open(root) {
            Err(Errno::NOSYS | Errno::PERM) => Self::walked(root, Walk::Plain),
            opened => opened,
        }
    }

    fn walked(root: &Path, walk: Walk) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(root, flags, Mode::empty())?;
        let own_path = path_of(&root).map_err(|_| Errno::NOENT)?;
        Ok(Self {
            root,
            walk,
            own_path,
        })
    }

    /// A directory right beneath, as a root of its own.
    pub(super) fn child(&self, name: &str) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = openat(&self.root, name, flags, Mode::empty())?;
        let own_path = path_of(&root).map_err(|_| Errno::NOENT)?;
        Ok(Self {
            root,
            walk: self.walk,
            own_path,
        })
    }

    /// Tells one state of a file from another; nothing where there is no such file.
    pub(super) fn stamp(&self, path: &str) -> Option<Stamp> {
        let stat = fstat(self.at(path, OFlags::PATH).ok()?).ok()?;
        Some(Stamp {
            inode: stat.st_ino,
            size: stat.st_size,
            seconds: stat.st_mtime,
            nanos: stat.st_mtime_nsec,
        })
    }

    fn walk_once(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        if self.walk == Walk::Plain {
            return openat(&self.root, path, flags, Mode::empty());
        }
        // Magic links (/proc/<pid>/fd) lead anywhere; real trees have none below a device.
        let beneath = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, path, flags, Mode::empty(), beneath)
    }

    fn at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, FaultReason> {
        let path = if path.is_empty() { "." } else { path };
        let mut walked = self.walk_once(path, flags);
        for _ in 1..WALKS {
            if walked.as_ref().err() != Some(&Errno::AGAIN) {
                break;
            }
            walked = self.walk_once(path, flags);
        }
        walked.map_err(reason)
    }

    /// Opens a regular file for reading. FIFOs, sockets and device nodes are never opened.
    pub(super) fn file(&self, path: &str) -> Result<File, FaultReason> {
        let fd = self.at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        Ok(File(fd))
    }

    /// What kind of thing is there, without opening it.
    pub(super) fn kind(&self, path: &str) -> Result<FileType, FaultReason> {
        let fd = self.at(path, OFlags::PATH)?;
        Ok(FileType::from_raw_mode(fstat(&fd).map_err(reason)?.st_mode))
    }

    /// Sorted names; names that are no UTF-8 cannot be sysfs's and are left out.
    pub(super) fn list(&self, path: &str) -> Result<Vec<String>, FaultReason> {
        let fd = self.at(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(fd).map_err(reason)?.take(NAMES) {
            let entry = entry.map_err(reason)?;
            if let Ok(name) = entry.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A link's target as written.
    pub(super) fn link(&self, path: &str) -> Result<String, FaultReason> {
        let fd = self.at(path, OFlags::PATH | OFlags::NOFOLLOW)?;
        text(readlinkat(&fd, "", Vec::new()).map_err(reason)?)
    }

    /// The path beneath the root with every link followed.
    pub(super) fn resolve(&self, path: &str) -> Result<String, FaultReason> {
        let full = path_of(&self.at(path, OFlags::PATH)?)?;
        let beneath = full
            .strip_prefix(&self.own_path)
            .ok_or(FaultReason::NotExposed)?;
        Ok(beneath.trim_start_matches('/').to_owned())
    }
}

/// What changes when a file is edited in place or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    size: i64,
    seconds: i64,
    nanos: u64,
}

/// A file that is open.
#[derive(Debug)]
pub(super) struct File(OwnedFd);

impl Handle for File {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, FaultReason> {
        rustix::io::pread(&self.0, buffer, 0).map_err(reason)
    }
}

impl File {
    /// Reads to the end, at most `limit` bytes.
    pub(super) fn all(&self, limit: usize) -> Result<Vec<u8>, FaultReason> {
        let mut bytes = vec![0; limit.saturating_add(1)];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let offset = u64::try_from(filled).unwrap_or(u64::MAX);
            match rustix::io::pread(&self.0, rest, offset).map_err(reason)? {
                0 => break,
                count => filled = filled.saturating_add(count),
            }
        }
        if filled > limit {
            return Err(FaultReason::TooLong);
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// Where a descriptor points, as the kernel spells it.
fn path_of(fd: &OwnedFd) -> Result<String, FaultReason> {
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    text(rustix::fs::readlink(link, Vec::new()).map_err(reason)?)
}

fn text(bytes: CString) -> Result<String, FaultReason> {
    bytes.into_string().map_err(|_| FaultReason::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a link as sysfs has them, and one that leads out.
    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("devices/eth0")).unwrap();
        std::fs::create_dir_all(tree.path().join("class/net")).unwrap();
        std::fs::write(tree.path().join("devices/eth0/mtu"), "1500\n").unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, tree.path().join("class/net").join(name)).unwrap();
        };
        link("../../devices/eth0", "eth0");
        link("/etc", "out");
        tree
    }

    #[test]
    fn both_walks_follow_a_mounts_own_links() {
        let tree = tree();
        for walk in [Walk::Beneath, Walk::Plain] {
            let rooted = Rooted::walked(tree.path(), walk).unwrap();
            assert_eq!(rooted.resolve("class/net/eth0").unwrap(), "devices/eth0");
            assert_eq!(
                rooted.file("class/net/eth0/mtu").unwrap().all(64).unwrap(),
                b"1500\n"
            );
            assert_eq!(rooted.list("class/net").unwrap(), ["eth0", "out"]);
        }
    }

    #[test]
    fn a_link_does_not_lead_out_of_a_tree_that_anyone_may_have_written() {
        let tree = tree();
        let rooted = Rooted::open(tree.path()).unwrap();
        assert_eq!(rooted.list("class/net/out"), Err(FaultReason::NotExposed));
    }
}
