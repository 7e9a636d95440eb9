//! Asks the running daemon over its local socket. Every wait ends by the deadline.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::cli::exit::{Failure, Reason};
use crate::core::model::time::BootTime;
use crate::daemon::socket;
use crate::host::clock::{BootClock, Clock};

/// The longest answer that is taken, bytes; an exposition of 64 devices has about 4 MiB.
const ANSWER_LIMIT: u64 = 64 << 20;

/// The daemon gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// There is none.
    #[error("no daemon answers at {}: {source}", .path.display())]
    NoDaemon {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is there, and its answer did not come.
    #[error("the daemon at {} did not answer within {timeout:?}", .path.display())]
    TooSlow {
        /// The socket.
        path: PathBuf,
        /// How long was waited.
        timeout: Duration,
    },
    /// The connection broke.
    #[error("the connection to the daemon at {} broke: {source}", .path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its answer is no HTTP, is cut off, or is too long.
    #[error("the answer of {} is not understood: {what}", .path.display())]
    Answer {
        /// The socket.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What the daemon said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body for people.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).trim_end().to_owned()
    }
}

/// Why the daemon gave no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// There is none.
    NoDaemon(LocalError),
    /// It did not answer as it should.
    Failed(Failure),
}

/// A daemon's local socket.
#[derive(Debug)]
pub struct Daemon {
    path: PathBuf,
    timeout: Duration,
    clock: BootClock,
    until: BootTime,
}

impl Daemon {
    /// The daemon of that runtime directory, to be asked within `timeout` from now.
    #[must_use]
    pub fn new(runtime: &Path, timeout: Duration) -> Self {
        let clock = BootClock::new(1);
        Self {
            path: runtime.join(socket::NAME),
            timeout,
            clock,
            until: clock.now().after(timeout),
        }
    }

    /// Asks it, such as `GET` of `/metrics`.
    ///
    /// # Errors
    ///
    /// [`LocalError`].
    pub fn ask(&self, method: &str, path: &str) -> Result<Answer, LocalError> {
        self.send(method, path, "")
    }

    /// Asks it with a body.
    ///
    /// # Errors
    ///
    /// [`LocalError`].
    pub fn send(&self, method: &str, path: &str, body: &str) -> Result<Answer, LocalError> {
        let mut stream = self.connect()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: railwatch\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .map_err(|error| self.failed(error))?;
        let answer = self.read(&mut stream)?;
        parse(&answer).map_err(|what| LocalError::Answer {
            path: self.path.clone(),
            what,
        })
    }

    /// The body of its answer to a `GET`.
    ///
    /// # Errors
    ///
    /// There is no daemon, or it did not answer as it should.
    pub fn get(&self, path: &str) -> Result<Vec<u8>, Unanswered> {
        match self.ask("GET", path) {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => {
                let message = format!("the daemon answered {}: {}", answer.status, answer.text());
                Err(Unanswered::Failed(Failure::told(Reason::Missing, message)))
            }
            Err(error @ LocalError::NoDaemon { .. }) => Err(Unanswered::NoDaemon(error)),
            Err(error) => Err(Unanswered::Failed(Failure::new(
                Reason::Missing,
                &error.into(),
            ))),
        }
    }

    /// What is left of the time.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.since(self.clock.now())
    }

    fn connect(&self) -> Result<UnixStream, LocalError> {
        let connected = || -> rustix::io::Result<UnixStream> {
            let flags = SocketFlags::CLOEXEC;
            let fd =
                rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            // Bounds the wait for a place in the daemon's backlog, too.
            set_socket_timeout(&fd, Timeout::Send, Some(self.pause()))?;
            rustix::net::connect(&fd, &SocketAddrUnix::new(&*self.path)?)?;
            Ok(UnixStream::from(fd))
        };
        connected().map_err(|errno| match errno {
            rustix::io::Errno::AGAIN => self.failed(errno.into()),
            _ => LocalError::NoDaemon {
                path: self.path.clone(),
                source: errno.into(),
            },
        })
    }

    fn read(&self, stream: &mut UnixStream) -> Result<Vec<u8>, LocalError> {
        let mut answer = Vec::new();
        let mut limited = stream.take(ANSWER_LIMIT);
        let mut buffer = [0; 64 << 10];
        loop {
            if self.left().is_zero() {
                return Err(self.failed(io::ErrorKind::WouldBlock.into()));
            }
            limited
                .get_ref()
                .set_read_timeout(Some(self.pause()))
                .map_err(|error| self.failed(error))?;
            match limited.read(&mut buffer) {
                Ok(0) => return Ok(answer),
                Ok(count) => answer.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// What is left of the time, but not nothing, which would mean for ever.
    fn pause(&self) -> Duration {
        self.left().max(Duration::from_millis(1))
    }

    fn failed(&self, source: io::Error) -> LocalError {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => LocalError::TooSlow {
                path,
                timeout: self.timeout,
            },
            _ => LocalError::Broken { path, source },
        }
    }
}

/// An answer with its length, as the daemon gives it.
fn parse(answer: &[u8]) -> Result<Answer, &'static str> {
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or("it has no end of headers")?;
    let (head, body) = answer.split_at(end);
    let body = body.get(4..).unwrap_or_default();
    let head = std::str::from_utf8(head).map_err(|_| "its headers are no text")?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .and_then(|line| line.get(..3)?.parse().ok())
        .ok_or("it is no HTTP/1.1")?;
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok())
        .ok_or("it has no length")?;
    let body = body.get(..length).ok_or("it is cut off")?;
    Ok(Answer {
        status,
        body: body.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_by_its_length() {
        let answer = parse(b"HTTP/1.1 422 X\r\nContent-Length: 3\r\n\r\nno\n").unwrap();
        assert_eq!((answer.status, answer.text()), (422, "no".to_owned()));
    }

    #[test]
    fn an_answer_that_is_cut_off_or_odd_is_not_taken() {
        for answer in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
            "SSH-2.0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 é\r\nContent-Length: 0\r\n\r\n",
        ] {
            assert!(parse(answer.as_bytes()).is_err(), "{answer}");
        }
    }
}
