//! Reads a tar stream into names, counting everything it makes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use tar::EntryType;

use crate::host::tree::archive::ArchiveError;
use crate::host::tree::archive::nodes::{Node, Nodes};

/// Bytes an archive may unpack to, its names included.
pub(super) const UNPACKED: u64 = 256 << 20;
/// Entries it may have, directories that only follow from names included.
pub(super) const ENTRIES: usize = 500_000;
/// Bytes one file may have; a longer one reads as too long.
const FILE: u64 = 16 << 20;
/// Directories one name may lie beneath.
const DEPTH: usize = 64;
/// Bytes one name or one link may have.
const NAME: usize = 1024;
/// The largest window a zstd stream may ask memory for, as a power of two.
const WINDOW: u32 = 27;

/// Why an archive was not read.
#[derive(Debug)]
pub(super) enum LoadError {
    /// It could not be opened.
    Open(Errno),
    /// It could be opened but not be unpacked.
    Archive(ArchiveError),
}

impl From<ArchiveError> for LoadError {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}

/// Reads the archive.
pub(super) fn load(path: &Path) -> Result<Nodes, LoadError> {
    // A FIFO must not hold the opening up.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(ArchiveError::NotAFile.into());
    }
    let mut packed = BufReader::with_capacity(1 << 16, File::from(file));
    let magic = packed.fill_buf().map_err(damaged)?;
    let stream: Box<dyn Read> = match magic {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(packed)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(damaged)?;
            decoder.window_log_max(WINDOW).map_err(damaged)?;
            Box::new(decoder)
        }
        [0xfd, b'7', b'z', b'X', b'Z', ..] => return Err(ArchiveError::Compression("xz").into()),
        [b'B', b'Z', b'h', ..] => return Err(ArchiveError::Compression("bzip2").into()),
        _ => Box::new(packed),
    };
    Ok(unpack(Bounded {
        stream,
        left: UNPACKED,
    })?)
}

/// A stream that fails beyond a length.
struct Bounded {
    stream: Box<dyn Read>,
    left: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let taken = u64::try_from(count).unwrap_or(u64::MAX);
        self.left = self
            .left
            .checked_sub(taken)
            .ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(count)
    }
}

fn damaged(error: io::Error) -> ArchiveError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::FileTooLarge
        {
            return ArchiveError::TooBig;
        }
        cause = error.source();
    }
    // The library's own words repeat what it read, which may be anybody's file.
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early",
        _ => "it is no tar archive, or a damaged one",
    };
    ArchiveError::Damaged(what.to_owned())
}

fn unpack(stream: Bounded) -> Result<Nodes, ArchiveError> {
    let mut nodes = Nodes::new();
    let mut kept = 0_u64;
    let mut archive = tar::Archive::new(stream);
    for (seen, entry) in archive.entries().map_err(damaged)?.enumerate() {
        let mut entry = entry.map_err(damaged)?;
        if seen >= ENTRIES {
            return Err(ArchiveError::TooMany);
        }
        let Some(path) = inside(&entry.path_bytes()) else {
            continue;
        };
        let Some(node) = node_of(&mut entry, &nodes)? else {
            continue;
        };
        if let Node::File(bytes) = &node {
            kept = kept.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        let names = nodes.insert(&path, node);
        kept = kept.saturating_add(u64::try_from(names).unwrap_or(u64::MAX));
        if kept > UNPACKED {
            return Err(ArchiveError::TooBig);
        }
        if nodes.count() > ENTRIES {
            return Err(ArchiveError::TooMany);
        }
    }
    Ok(nodes)
}

/// The name without `.` and doubled slashes; none if it leads out, is no UTF-8 or is overlong.
fn inside(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    if name.starts_with('/') || name.contains('\0') || name.len() > NAME {
        return None;
    }
    let parts: Vec<_> = name
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let within = !parts.is_empty() && parts.len() <= DEPTH && !parts.contains(&"..");
    within.then(|| parts.join("/"))
}

fn node_of<R: Read>(
    entry: &mut tar::Entry<'_, R>,
    nodes: &Nodes,
) -> Result<Option<Node>, ArchiveError> {
    let kind = entry.header().entry_type();
    let node = match kind {
        EntryType::Directory => Some(Node::Directory(BTreeSet::new())),
        EntryType::Symlink => entry
            .link_name_bytes()
            .filter(|target| target.len() <= NAME)
            .and_then(|target| String::from_utf8(target.into_owned()).ok())
            .map(Node::Link),
        EntryType::Link => entry
            .link_name_bytes()
            .and_then(|target| inside(&target))
            .and_then(|target| same_file(nodes.get(&target)?)),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => Some(file(entry)?),
        EntryType::Char | EntryType::Block | EntryType::Fifo => Some(Node::Special),
        _ => None,
    };
    Ok(node)
}

/// A hard link is the file it names, if that came before it.
fn same_file(node: &Node) -> Option<Node> {
    match node {
        Node::File(content) => Some(Node::File(content.clone())),
        Node::TooLong => Some(Node::TooLong),
        _ => None,
    }
}

fn file<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<Node, ArchiveError> {
    let size = entry.size();
    if size > FILE {
        return Ok(Node::TooLong);
    }
    let mut bytes = Vec::new();
    entry
        .take(FILE.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(damaged)?;
    let got = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if got < size {
        return Err(ArchiveError::Damaged("it ends within a file".to_owned()));
    }
    if got > FILE {
        return Ok(Node::TooLong);
    }
    Ok(Node::File(bytes.into()))
}
