//! Every captured node gives its golden exposition, from the command and from the daemon.
//!
//! Goldens are written by `fixtures/make/accept.sh` alone, after an independent reader derived the
//! same samples from the tree.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and wait for them"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "a skipped check is said")]

#[path = "node/compare.rs"]
mod compare;
#[path = "node/exposition.rs"]
mod exposition;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use compare::{difference, fixtures};
use exposition::of_node;

/// Captured nodes, by name.
fn nodes() -> Vec<PathBuf> {
    let mut nodes: Vec<PathBuf> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("capture.json").is_file())
        .collect();
    nodes.sort();
    assert!(nodes.len() >= 20, "only {} nodes found", nodes.len());
    nodes
}

fn golden(node: &Path) -> Result<String, String> {
    let path = node.join("expected/metrics.prom");
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a check on every node and fails with all that was found.
fn on_every_node(check: impl Fn(&Path) -> Result<(), String>) {
    let found: Vec<String> = nodes()
        .iter()
        .filter_map(|node| {
            let name = node.file_name()?.to_string_lossy().into_owned();
            check(node).err().map(|what| format!("{name}:\n{what}"))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    there
}

#[test]
fn every_node_gives_its_golden_exposition() {
    on_every_node(|node| difference(&golden(node)?, &of_node(node)?).map_or(Ok(()), Err));
}

#[test]
fn an_independent_reader_derives_every_golden_sample_from_the_tree() {
    if !is_there("python3") {
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/reader.py");
    on_every_node(|node| {
        let out = Command::new("python3")
            .arg("-B")
            .arg(&reader)
            .arg(node)
            .arg(node.join("expected/metrics.prom"))
            .output()
            .map_err(|error| error.to_string())?;
        if out.status.success() {
            return Ok(());
        }
        let said = [out.stdout, out.stderr].concat();
        Err(String::from_utf8_lossy(&said).into_owned())
    });
}

#[test]
fn promtool_has_nothing_to_say_about_a_golden() {
    if !is_there("promtool") {
        return;
    }
    on_every_node(|node| {
        let text = std::fs::File::open(node.join("expected/metrics.prom"));
        let out = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(text.map_err(|error| error.to_string())?)
            .output()
            .map_err(|error| error.to_string())?;
        let said = [out.stdout, out.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        // The design names this family; promtool takes the word in it for a type. It ends with 3
        // where it has something to say.
        let named_by_design =
            "railwatch_counter_source_info metric name should not include type 'counter'";
        let left: Vec<&str> = said
            .lines()
            .filter(|line| !line.is_empty() && *line != named_by_design)
            .collect();
        match (left.as_slice(), out.status.code()) {
            ([], Some(0 | 3)) => Ok(()),
            _ => Err(format!("{}: {}", out.status, left.join("\n"))),
        }
    });
}

/// A daemon that ends with the test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn the_daemon_serves_every_golden_exposition() {
    on_every_node(|node| {
        let dirs = tempfile::tempdir().unwrap();
        let port = free_port();
        let child = Command::new(env!("CARGO_BIN_EXE_railwatch"))
            .args(["run", "--web.disable-exporter-metrics", "--node"])
            .arg(node)
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .env("RAILWATCH__PATH__STATE", dirs.path().join("state"))
            .env("RAILWATCH__PATH__RUNTIME", dirs.path().join("run"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let _daemon = Daemon(child);
        let served = scrape(port, Instant::now() + Duration::from_secs(20));
        difference(&golden(node)?, &served).map_or(Ok(()), Err)
    });
}

#[test]
fn a_counter_nobody_has_catalogued_is_raw_and_only_on_demand() {
    let given = |raw: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_railwatch"))
            .args(["metrics", "--web.disable-exporter-metrics", "--node"])
            .arg(fixtures().join("hfi1"))
            .env("RAILWATCH__METRICS__RAW_COUNTERS", raw)
            .output()
            .unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let (with, without) = (given("true"), given("false"));
    assert!(!without.contains("railwatch_raw_reading{"));
    // The value stands in the fixture, in a file whose name no metric could have.
    let file = fixtures().join("hfi1/sys/class/infiniband/hfi1_0/hw_counters/DRIVER_PioWait,32");
    let value = std::fs::read_to_string(file).unwrap();
    let line = format!(
        "railwatch_raw_reading{{device=\"hfi1_0\",group=\"hw_counters\",name=\"DRIVER_PioWait,32\"}} {}",
        value.trim()
    );
    assert!(with.lines().any(|other| other == line), "no {line}");
    assert!(without.lines().all(|line| with.contains(line)));
}

/// A port nobody listened on a moment ago.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Asks until the exposition comes.
fn scrape(port: u16, until: Instant) -> String {
    loop {
        match ask(port) {
            Ok(answer)
                if answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.0 200") =>
            {
                let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                return body.to_owned();
            }
            other => {
                assert!(Instant::now() < until, "no exposition: {other:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

fn ask(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    // HTTP/1.0: the body ends with the connection and is not cut into chunks.
    stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
