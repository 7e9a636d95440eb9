//! One child process and its pipes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use crate::core::parse;
use crate::core::wire::{Event, Request};
use crate::host::frame;

/// Bytes of a child's last words that are kept.
const LAST_WORDS: u64 = 4096;

/// How a child is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program; our own binary but for tests.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Launch {
    /// Our own binary with a hidden subcommand. The link keeps to the running version when the file
    /// on disk is replaced by an upgrade.
    #[must_use]
    pub fn own(subcommand: &str) -> Self {
        Self {
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec![subcommand.to_owned()],
        }
    }
}

/// What a child has to say, with the number it was started under.
#[derive(Debug)]
pub struct Said {
    /// Number of the child.
    pub child: u64,
    /// What it said.
    pub word: Word,
}

/// One thing a child says.
#[derive(Debug)]
pub enum Word {
    /// A frame.
    Events(Vec<Event>),
    /// Its pipe ended or brought something that is no frame; nothing follows.
    Ended(String),
}

/// A running child.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    requests: Option<File>,
}

/// A child could not be started; one that was is to be reaped.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: io::Error,
    pub(super) process: Option<Process>,
}

/// Connects a child that was just started; what it says goes to `to`.
fn wire<M: From<Said> + Send + 'static>(
    child: &mut Child,
    number: u64,
    to: Sender<M>,
) -> io::Result<File> {
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("a pipe is missing"));
    };
    let requests = File::from(OwnedFd::from(stdin));
    // A child that does not take its requests must not hold us up.
    rustix::io::ioctl_fionbio(&requests, true)?;
    let listener = move || listen(number, stdout, stderr, &to);
    thread::Builder::new()
        .name("reader-pipe".to_owned())
        .stack_size(128 << 10)
        .spawn(listener)?;
    Ok(requests)
}

impl Process {
    /// Starts a child; what it says goes to `to`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the room where processes are started"
    )]
    pub(super) fn start<M: From<Said> + Send + 'static>(
        launch: &Launch,
        number: u64,
        to: Sender<M>,
    ) -> Result<Self, Failed> {
        let mut child = Command::new(&launch.program)
            .arg0("railwatch")
            .args(&launch.arguments)
            .env_clear()
            // A signal for our group is ours to pass on.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Failed {
                error,
                process: None,
            })?;
        match wire(&mut child, number, to) {
            Ok(requests) => Ok(Self {
                child,
                requests: Some(requests),
            }),
            Err(error) => {
                let requests = None;
                let mut process = Self { child, requests };
                process.kill();
                Err(Failed {
                    error,
                    process: Some(process),
                })
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request; an error if the pipe is closed or full.
    pub(super) fn send(&mut self, request: &Request) -> io::Result<()> {
        let bytes = frame::encode(request).map_err(io::Error::other)?;
        // Requests are far smaller than a pipe's atomic unit, the greeting smaller than its buffer.
        match &mut self.requests {
            Some(requests) => requests.write_all(&bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Asks the kernel to end it.
    pub(super) fn kill(&mut self) {
        // It fails only for a child that has been reaped, which is what was asked for.
        self.child.kill().ok();
        self.requests = None;
    }

    /// Whether it has ended; reaps it.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

fn listen<M: From<Said>>(child: u64, mut stdout: impl Read, mut stderr: impl Read, to: &Sender<M>) {
    let mut buffer = Vec::new();
    let why = loop {
        match frame::read::<Vec<Event>>(&mut stdout, &mut buffer) {
            Ok(Some(events)) => {
                if to
                    .send(
                        Said {
                            child,
                            word: Word::Events(events),
                        }
                        .into(),
                    )
                    .is_err()
                {
                    return;
                }
            }
            Ok(None) => break last_words(&mut stderr),
            Err(error) => break error.to_string(),
        }
    };
    // Nobody listens only when the daemon ends.
    to.send(
        Said {
            child,
            word: Word::Ended(why),
        }
        .into(),
    )
    .ok();
}

/// What the child wrote to standard error, for the log: one line, escaped.
fn last_words(stderr: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    stderr.take(LAST_WORDS).read_to_end(&mut bytes).ok();
    let text = String::from_utf8_lossy(&bytes);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        "it ended without a word".to_owned()
    } else {
        parse::escaped(&text)
    }
}
