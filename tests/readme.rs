//! Runs every shell block of README.md, as a reader would paste it.
//!
//! `make run` is started first and serves while the others run. `make test` is the run this test
//! is part of: it is proven by its own end, and told as skipped where this test runs alone.
#![expect(
    clippy::disallowed_methods,
    reason = "a test starts what the reader would start"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The addresses README names; the daemon of `make run` must answer there.
const READY: &str = "curl -fsS http://localhost:29400/-/ready";

/// A command of the README, and the output it shows for it.
#[derive(Default)]
struct Block {
    script: String,
    shown: Vec<String>,
}

/// Every ```sh block, in order, with the ```text block that follows it.
fn shell_blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = "";
    for line in markdown.lines().map(str::trim_end) {
        match (inside, line) {
            ("", "```sh") => {
                inside = "sh";
                blocks.push(Block::default());
            }
            ("", "```text") => inside = "text",
            (_, "```") => inside = "",
            ("sh", line) => blocks.last_mut().unwrap().script += &format!("{line}\n"),
            ("text", line) => blocks.last_mut().unwrap().shown.push(line.to_owned()),
            _ => {}
        }
    }
    blocks
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .process_group(0);
    command
}

/// A group of processes that ends with the test, however it ends.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            rustix::process::kill_process_group(pid, rustix::process::Signal::TERM).unwrap();
        }
        self.0.wait().unwrap();
    }
}

fn wait_until_it_serves(served: &mut Group) {
    // A first build of everything is part of the block.
    let deadline = Instant::now() + Duration::from_secs(900);
    while Instant::now() < deadline {
        if let Some(status) = served.0.try_wait().unwrap() {
            panic!("make run ended by itself: {status}");
        }
        if shell(READY)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    panic!("make run does not serve within fifteen minutes");
}

#[test]
fn every_command_of_the_readme_works() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let blocks = shell_blocks(&std::fs::read_to_string(path).unwrap());
    assert!(
        blocks.iter().any(|block| block.script == "make run\n"),
        "README lost its first command"
    );
    assert!(
        blocks.iter().any(|block| block.script == "make test\n"),
        "README lost its second command"
    );
    if std::net::TcpStream::connect("127.0.0.1:29400").is_ok() {
        panic!("port 29400 is in use here: stop what listens there, README's commands need it");
    }
    let mut served = Group(shell("NO_INSTALL=1 make run").spawn().unwrap());
    wait_until_it_serves(&mut served);
    for block in blocks {
        match block.script.as_str() {
            "make run\n" => {}
            "make test\n" if std::env::var_os("RAILWATCH_STAGES").is_some() => {}
            "make test\n" => println!("SKIPPED: README's `make test` is proven only by make test"),
            script => run(script, &block.shown),
        }
    }
}

/// Runs a block; what the README shows must be among what it says.
fn run(script: &str, shown: &[String]) {
    let bounded = format!("timeout 120 bash -euo pipefail <<'BLOCK'\n{script}BLOCK");
    let output = shell(&bounded).output().unwrap();
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{script}\n{said}\n{told}");
    assert!(!said.is_empty(), "says nothing:\n{script}");
    for line in shown {
        assert!(
            said.lines().any(|other| other == line),
            "not said by {script}: {line}\n{said}"
        );
    }
}
