//! A small file that is replaced as a whole, by a thread of its own: a disk that hangs holds nobody
//! up. Only the newest content counts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::{info, warn};

/// How long a read at the start may take.
const READ: Duration = Duration::from_secs(2);
/// How long the end waits for the last content.
const LAST: Duration = Duration::from_secs(1);

/// Writes one file.
#[derive(Debug)]
pub(super) struct Keeper {
    mail: Arc<Mail>,
}

#[derive(Debug, Default)]
struct Mail {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    newest: Option<Vec<u8>>,
    busy: bool,
    end: bool,
}

impl Mail {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeper {
    /// Starts the thread that writes `path`. Without one nothing is kept, which is said.
    pub(super) fn of(path: PathBuf) -> Self {
        let mail = Arc::new(Mail::default());
        let theirs = Arc::clone(&mail);
        let name = path.display().to_string();
        let started = thread::Builder::new()
            .name("keeper".to_owned())
            .stack_size(128 << 10)
            .spawn(move || keep(&path, &theirs));
        if let Err(error) = started {
            warn!(path = name, error = %error, "cannot start the thread that keeps a file; it is not kept");
            mail.lock().end = true;
        }
        Self { mail }
    }

    /// Keeps this from now on; returns at once.
    pub(super) fn put(&self, content: Vec<u8>) {
        let mut state = self.mail.lock();
        if !state.end {
            state.newest = Some(content);
            self.mail.changed.notify_all();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let mut state = self.mail.lock();
        state.end = true;
        self.mail.changed.notify_all();
        let unwritten = |state: &mut State| state.busy || state.newest.is_some();
        // A disk that hangs keeps the thread; the process ends without it.
        drop(self.mail.changed.wait_timeout_while(state, LAST, unwritten));
    }
}

fn keep(path: &Path, mail: &Mail) {
    let mut complained = false;
    loop {
        let idle = |state: &mut State| state.newest.is_none() && !state.end;
        let waited = mail.changed.wait_while(mail.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(content) = state.newest.take() else {
            return;
        };
        state.busy = true;
        drop(state);
        match write(path, &content) {
            Ok(()) if complained => {
                complained = false;
                info!(path = %path.display(), "the file is kept again");
            }
            Ok(()) => {}
            Err(error) if !complained => {
                complained = true;
                warn!(path = %path.display(), error = %error, "cannot keep the file; a restart knows what it last held");
            }
            Err(_) => {}
        }
        mail.lock().busy = false;
        mail.changed.notify_all();
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

/// Reads a file of at most `limit` bytes, in time; `None` if it is not there.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let (to, from) = sync_channel(1);
    let path = path.to_owned();
    thread::Builder::new()
        .name("keeper".to_owned())
        .stack_size(128 << 10)
        .spawn(move || {
            // Nobody listens any more if it took too long.
            to.send(read_now(&path, limit)).ok();
        })?;
    from.recv_timeout(READ)
        .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
}

fn read_now(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A file that is not ours to understand is kept for a person and out of the way.
pub(super) fn set_aside(path: &Path, error: &io::Error) {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".aside");
    let timed_out = error.kind() == io::ErrorKind::TimedOut;
    let moved = !timed_out && fs::rename(path, &aside).is_ok();
    warn!(path = %path.display(), error = %error, moved, "cannot use the file; starting without it");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_content_is_on_disk_when_the_keeper_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        let keeper = Keeper::of(path.clone());
        for number in 0..100 {
            keeper.put(number.to_string().into_bytes());
        }
        drop(keeper);
        assert_eq!(read(&path, 64).unwrap().unwrap(), b"99");
    }

    #[test]
    fn a_disk_that_hangs_holds_nobody_up() {
        // A pipe nobody reads: opening it for writing waits for ever.
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.json");
        let fifo = directory.path().join("file.json.new");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let keeper = Keeper::of(path);
        keeper.put(vec![1]);
        keeper.put(vec![2]);
        drop(keeper);
        // What is no file is not opened: that would wait for ever, too.
        assert!(read(&fifo, 64).is_err());
    }
}
