//! A daemon on a captured node, for tests.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Polls until `look` finds something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "no {what} within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Path of a fixture.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A copy of a fixture that may be changed.
pub(crate) fn copy_of(name: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let from = format!("{}/.", fixture(name).display());
    let copied = Command::new("cp")
        .args(["-a", &from])
        .arg(directory.path())
        .status()
        .unwrap();
    assert!(copied.success());
    directory
}

/// Clock ticks after boot at which a process was started (proc_pid_stat(5), field 22).
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

/// Whether a process runs; a zombie does not.
pub(crate) fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// A running daemon; it ends with the test.
pub(crate) struct Daemon {
    child: Child,
    address: String,
    _directories: tempfile::TempDir,
}

impl Daemon {
    pub(crate) fn on(node: &Path) -> Self {
        Self::at(node, "127.0.0.1:0", &[])
    }

    pub(crate) fn with(node: &Path, environment: &[(&str, &str)]) -> Self {
        Self::at(node, "127.0.0.1:0", environment)
    }

    /// Starts one and waits until it says where it listens.
    pub(crate) fn at(node: &Path, address: &str, environment: &[(&str, &str)]) -> Self {
        let node = format!("--node={}", node.display());
        Self::start(&[&node], address, environment)
    }

    /// One with a further flag.
    pub(crate) fn hurried(node: &Path, flag: &str, environment: &[(&str, &str)]) -> Self {
        let node = format!("--node={}", node.display());
        Self::start(&[&node, flag], "127.0.0.1:0", environment)
    }

    /// One that takes this node's sysfs for its own host's, and keeps its state in a directory.
    pub(crate) fn seeing(node: &Path, state: &Path) -> Self {
        let sysfs = format!("--path.sysfs={}", node.join("sys").display());
        Self::start(
            &[&sysfs],
            "127.0.0.1:0",
            &[("RAILWATCH__PATH__STATE", state.to_str().unwrap())],
        )
    }

    /// One with these flags.
    pub(crate) fn start(what: &[&str], address: &str, environment: &[(&str, &str)]) -> Self {
        let directories = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_railwatch"))
            .args(["run", "--log.format=json"])
            .args(what)
            .arg(format!("--web.listen-address={address}"))
            .env("RAILWATCH__PATH__STATE", directories.path().join("state"))
            .env("RAILWATCH__PATH__RUNTIME", directories.path())
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // Read on when nobody listens any more: a full pipe would hold the daemon up.
                to.send(line).ok();
            }
        });
        let address = loop {
            let line = lines
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("the daemon does not listen"));
            if let Some(rest) = line.split("http://").nth(1) {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        Self {
            child,
            address,
            _directories: directories,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// The reader: a child of the daemon that is no zombie.
    pub(crate) fn reader(&self) -> Option<u32> {
        let parent = self.pid().to_string();
        fs::read_dir("/proc").unwrap().find_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            (fields.get(1) == Some(&parent.as_str()) && alive(pid)).then_some(pid)
        })
    }

    /// The exposition; waits for the first snapshot.
    pub(crate) fn metrics(&self) -> String {
        self.get("/metrics")
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        body.to_owned()
    }

    /// Whether a path is answered with a status.
    pub(crate) fn status(&self, path: &str, status: u16) -> bool {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.starts_with(&format!("HTTP/1.1 {status} "))
    }

    /// Asks it to end; its exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        until("the daemon's end", || self.child.try_wait().unwrap()).code()
    }

    /// Ends it without asking.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended in the test already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
