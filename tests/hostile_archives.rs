//! Archives that want harm: each is refused with a reason or read without it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers outside test functions may fail the test"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use railwatch::core::model::outcome::FaultReason;
use railwatch::host::tree::Tree;
use railwatch::host::tree::captured::{OpenError, open};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

/// An archive under construction; names are written as given, whatever the tar crate thinks.
struct Tar(Builder<Vec<u8>>);

impl Tar {
    fn new() -> Self {
        Self(Builder::new(Vec::new()))
    }

    fn entry(mut self, kind: EntryType, name: &str, target: &str, content: &[u8]) -> Self {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        let fields = header.as_ustar_mut().unwrap();
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        self.0.append(&header, content).unwrap();
        self
    }

    fn file(self, name: &str, content: &[u8]) -> Self {
        self.entry(EntryType::Regular, name, "", content)
    }

    fn link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name, target, b"")
    }

    fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

/// A capture that is good, before the harm is added to it.
fn good() -> Tar {
    Tar::new().file("sys/class/net/eth0/carrier", b"1\n")
}

struct Opened {
    directory: TempDir,
    result: Result<Arc<dyn Tree>, OpenError>,
}

fn open_bytes(bytes: &[u8]) -> Opened {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("node.bin");
    std::fs::write(&path, bytes).unwrap();
    let result = open(&path);
    Opened { directory, result }
}

fn tree_of(tar: Tar) -> Arc<dyn Tree> {
    let opened = open_bytes(&tar.bytes());
    let names = std::fs::read_dir(opened.directory.path()).unwrap().count();
    assert_eq!(names, 1, "opening wrote beside the archive");
    let tree = opened.result.unwrap();
    assert_eq!(text(&tree, "sys/class/net/eth0/carrier"), Ok("1\n".into()));
    tree
}

fn text(tree: &Arc<dyn Tree>, path: &str) -> Result<String, FaultReason> {
    Ok(String::from_utf8(tree.read(path, 4096)?).unwrap())
}

fn why(bytes: &[u8]) -> String {
    let error = open_bytes(bytes).result.unwrap_err();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_archive_is_told_by_what_it_holds_and_not_by_its_name() {
    let tar = good().bytes();
    for bytes in [tar.clone(), gz(&tar), zst(&tar)] {
        let tree = open_bytes(&bytes).result.unwrap();
        assert_eq!(text(&tree, "sys/class/net/eth0/carrier"), Ok("1\n".into()));
        assert!(tree.keeps());
    }
}

#[test]
fn one_wrapping_directory_is_looked_through() {
    let tar = Tar::new()
        .file("./node/sys/class/net/eth0/carrier", b"1\n")
        .link("node/sys/top", "/sys/class")
        .bytes();
    let tree = open_bytes(&tar).result.unwrap();
    assert_eq!(tree.list("sys"), Ok(vec!["class".into(), "top".into()]));
    assert_eq!(tree.resolve("sys/top/net"), Ok("sys/class/net".into()));
}

#[test]
fn other_compressions_are_named_and_an_alternative_is_told() {
    assert!(why(b"\xfd7zXZ\0junk").contains("xz; unpack it or use .tar.gz or .tar.zst"));
    assert!(why(b"BZh91AY&SY").contains("bzip2; unpack it"));
}

#[test]
fn names_that_lead_out_are_ignored() {
    let tree = tree_of(
        good()
            .file("/sys/absolute", b"x")
            .file("../sys/outside", b"x")
            .file("sys/../../up", b"x")
            .file("sys/class/../up", b"x"),
    );
    assert_eq!(tree.list("sys"), Ok(vec!["class".into()]));
    assert_eq!(tree.list(""), Ok(vec!["sys".into()]));
}

#[test]
fn links_resolve_beneath_the_root() {
    let tree = tree_of(
        good()
            .link("sys/passwd", "/etc/passwd")
            .link("sys/up", "../../../../../../sys/class/net/eth0")
            .link("sys/fd", "/proc/self/root/etc/passwd"),
    );
    assert_eq!(text(&tree, "sys/passwd"), Err(FaultReason::NotExposed));
    assert_eq!(text(&tree, "sys/fd"), Err(FaultReason::NotExposed));
    assert_eq!(text(&tree, "sys/up/carrier"), Ok("1\n".into()));
    assert_eq!(
        text(&tree, "../../etc/passwd"),
        Err(FaultReason::NotExposed)
    );
    assert_eq!(tree.link("sys/passwd"), Ok("/etc/passwd".into()));
}

#[test]
fn links_in_a_circle_end() {
    let tree = tree_of(
        good()
            .link("sys/a", "b")
            .link("sys/b", "a")
            .link("sys/self", "self/self/self"),
    );
    for path in ["sys/a", "sys/b/x", "sys/self"] {
        assert_eq!(text(&tree, path), Err(FaultReason::SymlinkLoop), "{path}");
    }
}

#[test]
fn hard_links_reach_files_of_the_archive_alone() {
    let tree = tree_of(
        good()
            .entry(
                EntryType::Link,
                "sys/same",
                "sys/class/net/eth0/carrier",
                b"",
            )
            .entry(EntryType::Link, "sys/out", "/etc/passwd", b"")
            .entry(EntryType::Link, "sys/up", "../../etc/passwd", b"")
            .entry(EntryType::Link, "sys/dir", "sys/class", b""),
    );
    assert_eq!(text(&tree, "sys/same"), Ok("1\n".into()));
    for path in ["sys/out", "sys/up", "sys/dir"] {
        assert_eq!(text(&tree, path), Err(FaultReason::NotExposed), "{path}");
    }
}

#[test]
fn device_nodes_and_fifos_are_no_files() {
    let tree = tree_of(
        good()
            .entry(EntryType::Char, "sys/zero", "", b"")
            .entry(EntryType::Block, "sys/disk", "", b"")
            .entry(EntryType::Fifo, "sys/fifo", "", b""),
    );
    for path in ["sys/zero", "sys/disk", "sys/fifo"] {
        assert_eq!(text(&tree, path), Err(FaultReason::NotAFile), "{path}");
    }
}

#[test]
fn the_last_of_duplicates_holds_and_a_directory_stays_one() {
    let tree = tree_of(
        good()
            .file("sys/a", b"first")
            .file("sys/a", b"second")
            .file("sys/class", b"not a directory")
            .file("sys/a/beneath", b"x"),
    );
    assert_eq!(text(&tree, "sys/a"), Ok("second".into()));
    assert_eq!(text(&tree, "sys/a/beneath"), Err(FaultReason::NotAFile));
}

#[test]
fn a_link_is_never_written_through() {
    let tree = tree_of(
        good()
            .link("sys/alias", "class")
            .file("sys/alias/net/eth0/carrier", b"0\n"),
    );
    assert_eq!(text(&tree, "sys/alias/net/eth0/carrier"), Ok("1\n".into()));
}

#[test]
fn a_stream_cut_anywhere_is_refused_or_whole() {
    let tar = good().file("sys/b", &[b'b'; 700]).bytes();
    for length in (0..tar.len()).step_by(97) {
        let opened = open_bytes(&tar[..length]);
        if let Ok(tree) = opened.result {
            assert_eq!(text(&tree, "sys/class/net/eth0/carrier"), Ok("1\n".into()));
        }
    }
    assert!(why(&tar[..512 + 512 + 512 + 300]).contains("no whole tar"));
    let packed = gz(&tar);
    assert!(why(&packed[..packed.len() / 2]).contains("no whole tar"));
    let packed = zst(&tar);
    assert!(why(&packed[..packed.len() / 2]).contains("no whole tar"));
}

#[test]
fn junk_is_refused() {
    assert!(why(&[b'x'; 4096]).contains("no whole tar"));
    assert!(why(b"").contains("holds no sys/"));
    assert!(why(&Tar::new().file("etc/passwd", b"x").bytes()).contains("holds no sys/"));
}

#[test]
fn a_bomb_is_stopped_at_the_bound() {
    // Three hundred files of 1 MiB pack to a few KiB.
    let mebibyte = vec![0; 1 << 20];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bomb.tar.zst");
    write_bomb(&path, &mebibyte);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    let error = open(&path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("more than 256 MiB"), "{source}");
}

fn write_bomb(path: &Path, content: &[u8]) {
    let encoder = zstd::Encoder::new(std::fs::File::create(path).unwrap(), 1).unwrap();
    let mut builder = Builder::new(encoder.auto_finish());
    for number in 0..300 {
        let mut header = Header::new_ustar();
        header.set_path(format!("sys/{number}")).unwrap();
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, content).unwrap();
    }
    builder.finish().unwrap();
}

#[test]
fn a_long_file_reads_as_too_long_and_the_rest_stays_readable() {
    let tree = tree_of(
        good()
            .file("sys/long", &vec![b'7'; (16 << 20) + 1])
            .file("sys/z", b"z"),
    );
    assert_eq!(text(&tree, "sys/long"), Err(FaultReason::TooLong));
    assert_eq!(text(&tree, "sys/z"), Ok("z".into()));
    assert!(tree.open("sys/long").is_err());
}

#[test]
fn deep_names_are_ignored() {
    let deep = format!("sys/{}x", "d/".repeat(40));
    let longest = format!("{}x", "s/".repeat(46));
    let tree = tree_of(good().file(&deep, b"in").file(&longest, b"in"));
    assert_eq!(text(&tree, &deep), Ok("in".into()));
    assert_eq!(text(&tree, &longest), Ok("in".into()));

    // Deeper names than a plain header holds come in a GNU long name.
    let mut builder = Builder::new(good().bytes_open());
    let deeper = format!("{}x", "q/".repeat(70));
    let mut header = Header::new_gnu();
    header.set_size(2);
    builder
        .append_data(&mut header, &deeper, &b"in"[..])
        .unwrap();
    let tree = open_bytes(&builder.into_inner().unwrap()).result.unwrap();
    assert_eq!(text(&tree, &deeper), Err(FaultReason::NotExposed));
}

#[test]
fn faults_of_an_archive_strike() {
    let tree = tree_of(
        good()
            .file("sys/devices/a/speed", b"1\n")
            .link("sys/a", "devices/a")
            .file("faults.tsv", b"sys/a/speed\tEIO\nethtool:eth0\tEINVAL\n"),
    );
    for path in ["sys/a/speed", "sys/devices/a/speed"] {
        assert_eq!(text(&tree, path), Err(FaultReason::Io), "{path}");
        let mut handle = tree.open(path).unwrap();
        assert_eq!(handle.read(&mut [0; 8]), Err(FaultReason::Io), "{path}");
    }
    let bad = good().file("faults.tsv", b"# fine\nsys/a EIO\n").bytes();
    let text = why(&bad);
    assert!(text.contains("faults.tsv line 2"), "{text}");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(matches!(open(&path), Err(OpenError::Archive { .. })));
}

impl Tar {
    /// The bytes so far, without the end mark.
    fn bytes_open(self) -> Vec<u8> {
        let bytes = self.bytes();
        bytes[..bytes.len() - 1024].to_vec()
    }
}
