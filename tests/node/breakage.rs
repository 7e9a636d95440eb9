//! Ways in which a file of a node can be bad, and a copy of a node in which one file at a time is.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One way in which a file can be bad.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breakage {
    /// What it is called in a failure.
    pub(crate) name: &'static str,
    /// The reason a counter's fault must have.
    pub(crate) reason: &'static str,
    how: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Gone,
    Errno(&'static str),
    Bytes(&'static [u8]),
    Junk(usize),
    Directory,
    Loop,
}

/// Every way the tests try.
pub(crate) const BREAKAGES: [Breakage; 13] = [
    breakage("missing", "not_exposed", How::Gone),
    breakage("EACCES", "permission", How::Errno("EACCES")),
    breakage("EIO", "io", How::Errno("EIO")),
    breakage("EINVAL", "invalid_argument", How::Errno("EINVAL")),
    breakage("EOPNOTSUPP", "not_supported", How::Errno("EOPNOTSUPP")),
    breakage("empty", "empty", How::Bytes(b"")),
    breakage("1 MiB of junk", "too_long", How::Junk(1 << 20)),
    breakage("non-UTF-8", "not_utf8", How::Bytes(b"12\xff34\n")),
    breakage("a directory", "not_a_file", How::Directory),
    breakage("a symlink loop", "symlink_loop", How::Loop),
    breakage(
        "huge",
        "out_of_range",
        How::Bytes(b"99999999999999999999999\n"),
    ),
    breakage("negative", "negative", How::Bytes(b"-7\n")),
    breakage("trailing text", "trailing_text", How::Bytes(b"12 apples\n")),
];

const fn breakage(name: &'static str, reason: &'static str, how: How) -> Breakage {
    Breakage { name, reason, how }
}

impl Breakage {
    /// Whether the file is as it was and a read of it fails.
    pub(crate) fn is_errno(self) -> bool {
        matches!(self.how, How::Errno(_))
    }
}

/// A copy of a captured node, to be broken and mended.
pub(crate) struct Copy {
    dir: tempfile::TempDir,
}

impl Copy {
    /// Copies a node.
    pub(crate) fn of(node: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let copied = Command::new("cp")
            .arg("-a")
            .arg(node)
            .arg(dir.path().join("node"))
            .status()
            .unwrap();
        assert!(copied.success(), "cannot copy {}", node.display());
        Self { dir }
    }

    /// Where the node is.
    pub(crate) fn node(&self) -> PathBuf {
        self.dir.path().join("node")
    }

    /// Breaks the file, link or directory at `path` below the node, does `work`, mends it.
    pub(crate) fn while_broken<T>(
        &self,
        path: &str,
        breakage: Breakage,
        work: impl FnOnce(&Path) -> T,
    ) -> T {
        let (node, saved) = (self.node(), self.dir.path().join("saved"));
        let (file, faults) = (node.join(path), node.join("faults.tsv"));
        if let How::Errno(errno) = breakage.how {
            let before = fs::read(&faults).ok();
            let mut open = fs::OpenOptions::new();
            let mut table = open.create(true).append(true).open(&faults).unwrap();
            writeln!(table, "{path}\t{errno}").unwrap();
            let done = work(&node);
            match before {
                Some(bytes) => fs::write(&faults, bytes).unwrap(),
                None => fs::remove_file(&faults).unwrap(),
            }
            return done;
        }
        fs::rename(&file, &saved).unwrap();
        match breakage.how {
            How::Gone | How::Errno(_) => {}
            How::Bytes(bytes) => fs::write(&file, bytes).unwrap(),
            How::Junk(size) => fs::write(&file, vec![b'z'; size]).unwrap(),
            How::Directory => fs::create_dir(&file).unwrap(),
            How::Loop => symlink(file.file_name().unwrap(), &file).unwrap(),
        }
        let done = work(&node);
        match breakage.how {
            How::Gone | How::Errno(_) => {}
            How::Directory => fs::remove_dir(&file).unwrap(),
            How::Bytes(_) | How::Junk(_) | How::Loop => fs::remove_file(&file).unwrap(),
        }
        fs::rename(&saved, &file).unwrap();
        done
    }
}
