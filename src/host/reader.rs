//! The reader child: reads one node for a daemon at the other end of a pipe.
//!
//! A dispatcher takes requests, lists what is there and hands each poll to the devices' own
//! threads; their reports go back in one frame as far as they come together. It ends with the pipe
//! and with its parent.

mod budget;
mod device;
mod dispatch;
mod outbox;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::core::wire::{Event, Hello, Node, PROTOCOL, Request};
use crate::host::clock::BootClock;
use crate::host::frame::{self, FrameError};
use crate::host::reader::dispatch::Dispatcher;
use crate::host::reader::outbox::Outbox;
use crate::host::tree::Tree;
use crate::host::tree::live::Live;

/// Why a reader ended before its pipe did.
#[derive(Debug, thiserror::Error)]
pub enum ReaderError {
    /// The process could not be set up.
    #[error("cannot set up the reader's process")]
    Setup(#[source] io::Error),
    /// The pipe brought something else than requests.
    #[error("the daemon's pipe brought no request")]
    Pipe(#[from] FrameError),
    /// The first frame is no greeting of our version.
    #[error("the daemon does not greet with protocol {PROTOCOL}")]
    Greeting,
    /// The node cannot be read.
    #[error("{0}")]
    Node(String),
}

/// Reads for the daemon at standard input and output until it closes them.
///
/// # Errors
///
/// [`ReaderError`]; the daemon replaces a reader that ended.
pub fn run_stdio() -> Result<(), ReaderError> {
    live_no_longer_than_the_parent().map_err(ReaderError::Setup)?;
    // Started through a link, the kernel would call us after the link.
    rustix::thread::set_name(c"reader-nic").map_err(|errno| ReaderError::Setup(errno.into()))?;
    let stdin =
        rustix::io::dup(io::stdin().as_fd()).map_err(|errno| ReaderError::Setup(errno.into()))?;
    let stdout =
        rustix::io::dup(io::stdout().as_fd()).map_err(|errno| ReaderError::Setup(errno.into()))?;
    run(File::from(stdin), File::from(stdout))
}

/// Reads for the daemon at these pipes until it closes the first.
///
/// # Errors
///
/// [`ReaderError`].
pub fn run(
    mut requests: impl io::Read,
    events: impl io::Write + Send + 'static,
) -> Result<(), ReaderError> {
    let mut buffer = Vec::new();
    let Some(Request::Hello(hello)) = frame::read(&mut requests, &mut buffer)? else {
        return Err(ReaderError::Greeting);
    };
    let outbox = Arc::new(Outbox::new(events));
    outbox.say(Event::Ready { protocol: PROTOCOL })?;
    if hello.protocol != PROTOCOL {
        return Err(ReaderError::Greeting);
    }
    let tree = match open(&hello.node) {
        Ok(tree) => tree,
        Err(why) => {
            outbox.say(Event::Refused { why: why.clone() })?;
            return Err(ReaderError::Node(why));
        }
    };
    let product = product(&*tree);
    outbox.say(Event::Node { product })?;
    serve(requests, buffer, Dispatcher::new(tree, hello, outbox))
}

/// As [`run`] after the greeting, over any tree.
fn serve(
    mut requests: impl io::Read,
    mut buffer: Vec<u8>,
    mut dispatcher: Dispatcher,
) -> Result<(), ReaderError> {
    while let Some(request) = frame::read(&mut requests, &mut buffer)? {
        match request {
            Request::Poll { seq, lanes } => dispatcher.poll(seq, lanes)?,
            Request::Hello(_) => return Err(ReaderError::Greeting),
        }
    }
    Ok(())
}

/// What the maker calls the whole machine.
fn product(tree: &dyn Tree) -> Option<String> {
    let bytes = tree
        .read("sys/devices/virtual/dmi/id/product_name", 256)
        .ok()?;
    let name = crate::core::parse::text(&bytes, 128).ok()?;
    Some(name).filter(|name| !name.is_empty())
}

fn open(node: &Node) -> Result<Arc<dyn Tree>, String> {
    match node {
        Node::Host { sysfs, procfs } => {
            let live =
                Live::open(Path::new(sysfs), Path::new(procfs)).map_err(|error| chain(&error))?;
            Ok(Arc::new(live))
        }
        Node::Captured { path } => {
            crate::host::tree::captured::open(Path::new(path)).map_err(|error| chain(&error))
        }
    }
}

/// An error with its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn clock(hello: &Hello) -> BootClock {
    BootClock::new(hello.clock_factor)
}

/// Nothing a reader runs may gain privileges, and no reader survives its daemon.
fn live_no_longer_than_the_parent() -> io::Result<()> {
    let parent = getppid();
    rustix::thread::set_no_new_privs(true)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the signal was asked for.
    if getppid() == parent {
        Ok(())
    } else {
        Err(io::Error::other("the daemon has ended"))
    }
}

#[cfg(test)]
mod tests;
