//! Writes a capture: an archive or a directory, whole or not at all, readable by its owner alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tar::{EntryType, Header};

use crate::host::capture::{Gathered, Item};

/// What an output's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Tar,
    Gzip,
    Zstd,
    Directory,
}

/// Whether what is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Nothing is replaced but an empty directory.
    Keep,
    /// A file is replaced.
    Replace,
}

/// A capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// There is something already.
    #[error("{0} exists; --force replaces a file, a directory must be empty")]
    Exists(PathBuf),
    /// Its name is that of an archive we do not write.
    #[error(
        "cannot write the capture {0}: the name must end with .tar.zst, .tar.gz, .tgz or .tar, or be that of a directory"
    )]
    Name(PathBuf),
    /// The file system refused.
    #[error("cannot write the capture {path}")]
    Write {
        /// Which output.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

/// Writes the capture to `out`: `.tar`, `.tar.gz`, `.tgz`, `.tar.zst` by name, else a directory.
///
/// # Errors
///
/// [`PackError`]; nothing is left behind then.
pub fn write(
    gathered: &Gathered,
    about: &str,
    out: &Path,
    existing: Existing,
) -> Result<(), PackError> {
    refuse(out, existing)?;
    let failed = |error| PackError::Write {
        path: out.to_owned(),
        error,
    };
    let name = out
        .file_name()
        .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let name = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
    let part = out.with_file_name(name);
    let format = format_of(out);
    let written = match format {
        Format::Directory => directory(gathered, about, &part),
        _ => archive(gathered, about, &part, format),
    };
    let moved = written.and_then(|()| put_in_place(&part, out, (existing, format)));
    if moved.is_err() {
        // Best effort: the reason of the failure is what the user must see.
        drop(std::fs::remove_file(&part));
        drop(std::fs::remove_dir_all(&part));
    }
    moved.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
            PackError::Exists(out.to_owned())
        }
        _ => failed(error),
    })
}

/// Whether `write` would refuse this output for what is there already.
///
/// # Errors
///
/// [`PackError::Exists`].
pub fn refuse(out: &Path, existing: Existing) -> Result<(), PackError> {
    if is_foreign(out) {
        return Err(PackError::Name(out.to_owned()));
    }
    let Ok(there) = std::fs::symlink_metadata(out) else {
        return Ok(());
    };
    let fine = match format_of(out) {
        Format::Directory => {
            there.is_dir() && std::fs::read_dir(out).is_ok_and(|mut names| names.next().is_none())
        }
        _ => there.is_file() && existing == Existing::Replace,
    };
    match fine {
        true => Ok(()),
        false => Err(PackError::Exists(out.to_owned())),
    }
}

fn format_of(out: &Path) -> Format {
    let name = out.to_string_lossy().to_ascii_lowercase();
    let ends = |suffix| name.ends_with(suffix);
    match () {
        () if ends(".tar") => Format::Tar,
        () if ends(".tar.gz") || ends(".tgz") => Format::Gzip,
        () if ends(".tar.zst") => Format::Zstd,
        () => Format::Directory,
    }
}

/// Whether a name promises what we do not write: another archive, or standard output.
fn is_foreign(out: &Path) -> bool {
    const OTHERS: [&str; 10] = [
        ".zip", ".7z", ".rar", ".xz", ".txz", ".bz2", ".tbz2", ".lz4", ".gz", ".zst",
    ];
    let name = out.to_string_lossy().to_ascii_lowercase();
    let is_ours = format_of(out) != Format::Directory;
    name == "-" || (!is_ours && OTHERS.iter().any(|suffix| name.ends_with(suffix)))
}

fn put_in_place(part: &Path, out: &Path, how: (Existing, Format)) -> io::Result<()> {
    match how {
        // A rename over a directory succeeds only where that is empty.
        (Existing::Replace, _) | (_, Format::Directory) => std::fs::rename(part, out),
        _ => match renameat_with(CWD, part, CWD, out, RenameFlags::NOREPLACE) {
            // Not every file system can refuse by itself; it was looked at before.
            Err(rustix::io::Errno::INVAL) => std::fs::rename(part, out),
            other => other.map_err(io::Error::from),
        },
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Everything of a capture in the order it is written. What lies beneath a link or a file is left
/// out: written as a directory, it would be written elsewhere.
fn each(
    gathered: &Gathered,
    about: &str,
    mut put: impl FnMut(&str, &Item) -> io::Result<()>,
) -> io::Result<()> {
    put("capture.json", &Item::File(about.as_bytes().to_vec()))?;
    let faults = gathered.faults.iter();
    let faults: String = faults
        .map(|(path, name)| format!("{path}\t{name}\n"))
        .collect();
    put("faults.tsv", &Item::File(faults.into_bytes()))?;
    for (path, item) in &gathered.items {
        let mut parents = path
            .match_indices('/')
            .filter_map(|(end, _)| path.get(..end));
        let blocked = |parent| !matches!(gathered.items.get(parent), None | Some(Item::Directory));
        let whole = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if whole && !parents.any(blocked) {
            put(path, item)?;
        }
    }
    Ok(())
}

fn directory(gathered: &Gathered, about: &str, root: &Path) -> io::Result<()> {
    let make = |path: &Path| {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(path)
    };
    make(root)?;
    make(&root.join("sys"))?;
    each(gathered, about, |path, item| {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        match item {
            Item::Directory => make(&path),
            Item::File(bytes) => create(&path)?.write_all(bytes),
            Item::Link(target) => symlink(target, &path),
        }
    })
}

fn archive(gathered: &Gathered, about: &str, path: &Path, format: Format) -> io::Result<()> {
    let file = create(path)?;
    let file = match format {
        Format::Gzip => {
            let level = flate2::Compression::default();
            tar(gathered, about, flate2::write::GzEncoder::new(file, level))?.finish()?
        }
        Format::Zstd => tar(gathered, about, zstd::Encoder::new(file, 0)?)?.finish()?,
        Format::Tar | Format::Directory => tar(gathered, about, file)?,
    };
    file.sync_all()
}

fn tar<W: Write>(gathered: &Gathered, about: &str, into: W) -> io::Result<W> {
    let mut builder = tar::Builder::new(into);
    let mut sys = header(EntryType::Directory, 0o700);
    builder.append_data(&mut sys, "sys", io::empty())?;
    each(gathered, about, |path, item| match item {
        Item::Directory if path == "sys" => Ok(()),
        Item::Directory => {
            let mut header = header(EntryType::Directory, 0o700);
            builder.append_data(&mut header, path, io::empty())
        }
        Item::File(bytes) => {
            let mut header = header(EntryType::Regular, 0o600);
            header.set_size(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            builder.append_data(&mut header, path, bytes.as_slice())
        }
        Item::Link(target) => {
            let mut header = header(EntryType::Symlink, 0o777);
            builder.append_link(&mut header, path, target)
        }
    })?;
    builder.into_inner()
}

fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(0);
    header
}
