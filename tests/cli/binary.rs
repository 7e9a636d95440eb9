//! Starts the binary with nothing of this machine's environment.
#![expect(
    clippy::disallowed_methods,
    reason = "a test starts what a user would start, and ends at the first surprise"
)]

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything takes, shorter than anybody waits.
const DEADLINE: Duration = Duration::from_secs(60);

/// The binary with these arguments, a configuration that says nothing and no daemon in reach.
pub(crate) fn railwatch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_railwatch"));
    command
        .env_clear()
        .env("RAILWATCH__PATH__RUNTIME", "/nonexistent")
        .env("RAILWATCH__PATH__STATE", "/nonexistent")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .stdin(Stdio::null());
    if !arguments.contains(&"--config.file") && !arguments.contains(&"reader-nic") {
        command.args(["--config.file", "tests/config/empty.toml"]);
    }
    command
}

/// What the binary says to these arguments.
pub(crate) fn said(arguments: &[&str]) -> Said {
    Said::of(&railwatch(arguments).output().unwrap())
}

/// Code, standard output and standard error.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// A daemon that watches a copy of a capture and ends with the test.
pub(crate) struct Running {
    child: Child,
    dir: tempfile::TempDir,
}

impl Running {
    /// Starts one and waits for its socket.
    pub(crate) fn start(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("railwatch.toml");
        std::fs::write(&file, config).unwrap();
        let log = std::fs::File::create(dir.path().join("log")).unwrap();
        let child = railwatch(&["run", "--config.file", file.to_str().unwrap()])
            .args(["--web.listen-address", "127.0.0.1:0"])
            .args(["--node", "tests/fixtures/efa-4"])
            .env("RAILWATCH__PATH__RUNTIME", dir.path())
            .env("RAILWATCH__PATH__STATE", dir.path().join("state"))
            .stderr(log)
            .spawn()
            .unwrap();
        let mut running = Self { child, dir };
        let socket = running.dir.path().join("api.sock");
        wait_for("the socket", || {
            let ended = running.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}\n{}", running.log());
            socket.exists()
        });
        running
    }

    /// Its configuration file.
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("railwatch.toml")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// What the binary says to these arguments beside this daemon.
    pub(crate) fn said(&self, arguments: &[&str]) -> Said {
        let mut command = railwatch(arguments);
        command.env("RAILWATCH__PATH__RUNTIME", self.dir.path());
        Said::of(&command.output().unwrap())
    }

    /// Sends it a signal and gives the code it ends with.
    pub(crate) fn end(&mut self, signal: Signal) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.unwrap(), signal).unwrap();
        let mut code = None;
        wait_for("the end", || {
            let ended = self.child.try_wait().unwrap();
            code = ended.and_then(|status| status.code());
            ended.is_some()
        });
        code
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended before.
        self.child.kill().ok();
        self.child.wait().unwrap();
    }
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !is_there() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
