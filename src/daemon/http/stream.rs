//! A connection's byte stream with its deadlines: a client that is slow to ask, slow to take its
//! answer or silent for long is cut, because each connection holds one of a few places.
//!
//! It knows nothing of HTTP but three stages: a head is awaited, an answer is due, nothing goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How long a client may take, by stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For a request's head, from its first byte (from the start on a new connection).
    pub(super) head: Duration,
    /// For taking an answer, from the moment the kernel's buffer was full.
    pub(super) answer: Duration,
    /// Between an answer and the next request.
    pub(super) idle: Duration,
}

/// Tells the stream that a request's head has been read, and others whether an answer is due.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    told: AtomicBool,
    answering: AtomicBool,
}

impl Asked {
    /// A request is being answered from now on.
    pub(super) fn tell(&self) {
        self.0.told.store(true, Ordering::Relaxed);
        self.0.answering.store(true, Ordering::Relaxed);
    }

    /// Whether the client is owed an answer.
    pub(super) fn owes(&self) -> bool {
        self.0.answering.load(Ordering::Relaxed)
    }

    fn take(&self) -> bool {
        self.0.told.swap(false, Ordering::Relaxed)
    }

    fn answered(&self) {
        self.0.answering.store(false, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    Answer { begun: bool },
    Idle,
}

/// The stream.
#[derive(Debug)]
pub(super) struct Timed<S> {
    inner: S,
    limits: Limits,
    asked: Asked,
    stage: Stage,
    deadline: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl<S> Timed<S> {
    /// Starts the clock of the first head.
    pub(super) fn new(inner: S, limits: Limits, asked: Asked) -> Self {
        let deadline = Instant::now() + limits.head;
        Self {
            inner,
            limits,
            asked,
            stage: Stage::Head,
            deadline: Some(deadline),
            timer: Box::pin(tokio::time::sleep_until(deadline)),
        }
    }

    fn notice_request(&mut self) {
        if self.asked.take() {
            self.stage = Stage::Answer { begun: false };
            self.deadline = None;
        }
    }

    fn enter(&mut self, stage: Stage, within: Duration) {
        self.stage = stage;
        self.deadline = Some(Instant::now() + within);
    }

    /// What a call that would wait gives: `Pending` until the stage's deadline, then an error.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let Some(deadline) = self.deadline else {
            return Poll::Pending;
        };
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client took too long",
        )))
    }

    fn written(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match result {
            Poll::Ready(Ok(count)) => {
                if count > 0 && matches!(self.stage, Stage::Answer { .. }) {
                    self.stage = Stage::Answer { begun: true };
                }
                Poll::Ready(Ok(count))
            }
            Poll::Ready(error) => Poll::Ready(error),
            Poll::Pending => {
                // An answer in several parts may have been flushed in between.
                if self.deadline.is_none() || self.stage == Stage::Idle {
                    self.enter(Stage::Answer { begun: true }, self.limits.answer);
                }
                self.wait(cx)
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.notice_request();
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buffer) {
            Poll::Ready(result) => {
                if this.stage == Stage::Idle && buffer.filled().len() > before {
                    this.enter(Stage::Head, this.limits.head);
                }
                Poll::Ready(result)
            }
            Poll::Pending => this.wait(cx),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.notice_request();
        let result = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.written(cx, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.notice_request();
        let result = Pin::new(&mut this.inner).poll_write_vectored(cx, parts);
        this.written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.notice_request();
        ready!(Pin::new(&mut this.inner).poll_flush(cx))?;
        // hyper flushes its stream only after it has written all it holds.
        if this.stage == (Stage::Answer { begun: true }) {
            this.enter(Stage::Idle, this.limits.idle);
            this.asked.answered();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::{Asked, Limits, Timed};

    const NEVER: Duration = Duration::from_secs(3600);
    const SOON: Duration = Duration::from_millis(20);

    fn limits() -> Limits {
        Limits {
            head: NEVER,
            answer: NEVER,
            idle: NEVER,
        }
    }

    #[tokio::test]
    async fn a_connection_without_a_next_request_is_cut() {
        let (server, mut client) = tokio::io::duplex(64);
        let asked = Asked::default();
        let idle = SOON;
        let mut stream = Timed::new(server, Limits { idle, ..limits() }, asked.clone());
        client.write_all(b"ask").await.unwrap();
        stream.read_exact(&mut [0; 3]).await.unwrap();
        asked.tell();
        stream.write_all(b"answer").await.unwrap();
        stream.flush().await.unwrap();
        let cut = stream.read(&mut [0; 3]).await.unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn an_answer_that_is_not_taken_is_cut_also_in_its_second_part() {
        let (server, mut client) = tokio::io::duplex(8);
        let asked = Asked::default();
        let answer = SOON;
        let mut stream = Timed::new(server, Limits { answer, ..limits() }, asked.clone());
        asked.tell();
        stream.write_all(b"part one").await.unwrap();
        stream.flush().await.unwrap();
        client.read_exact(&mut [0; 8]).await.unwrap();
        let cut = stream.write_all(b"a second part").await.unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn an_answer_may_take_its_time_to_be_made() {
        let (server, mut client) = tokio::io::duplex(64);
        let asked = Asked::default();
        let head = SOON;
        let mut stream = Timed::new(server, Limits { head, ..limits() }, asked.clone());
        asked.tell();
        let waiting = tokio::time::timeout(SOON * 5, stream.read(&mut [0; 3])).await;
        assert!(waiting.is_err(), "{waiting:?}");
        client.write_all(b"x").await.unwrap();
        assert_eq!(stream.read(&mut [0; 3]).await.unwrap(), 1);
    }
}
