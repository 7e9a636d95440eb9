//! Connections: accepted one by one, each with a place, a deadline for every stage and a polite
//! end.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::stream::{Asked, Limits, Timed};

/// The longest request head, bytes; browsers stay below 8 KiB.
const HEAD_LIMIT: usize = 16 << 10;
/// What one connection may hold of input or output beside the shared answer.
const BUFFER_LIMIT: usize = 32 << 10;
/// A new connection waits so long for a place before another one is asked to leave.
const PATIENCE: Duration = Duration::from_millis(20);
/// Pause after a failed accept, usually for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What connections of one kind share.
#[derive(Debug)]
pub(super) struct Door {
    router: Router,
    limits: Limits,
    places: Arc<Semaphore>,
    guests: Mutex<VecDeque<Arc<Guest>>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// A connection that has a place.
#[derive(Debug)]
struct Guest {
    asked: Asked,
    /// It is asked to leave.
    leave: CancellationToken,
}

/// A listening socket.
#[derive(Debug)]
pub(super) enum Listener {
    /// Of an address.
    Tcp(TcpListener),
    /// Of the local socket.
    Local(UnixListener),
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Local(UnixStream),
}

impl Door {
    /// A door with `places` connections at once.
    pub(super) fn new(
        router: Router,
        limits: Limits,
        places: u32,
        (stop, tasks): (CancellationToken, TaskTracker),
    ) -> Self {
        let places = usize::try_from(places.max(1)).unwrap_or(usize::MAX);
        Self {
            router,
            limits,
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            guests: Mutex::default(),
            stop,
            tasks,
        }
    }

    /// Accepts until the server stops.
    pub(super) async fn accept(self: Arc<Self>, listener: Listener) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => stream,
                // The client was gone before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let place = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                place = self.place() => place,
            };
            let door = Arc::clone(&self);
            self.tasks.spawn(async move {
                match stream {
                    Stream::Tcp(stream) => door.serve(stream, place).await,
                    Stream::Local(stream) => door.serve(stream, place).await,
                }
            });
        }
    }

    /// Waits for a place. While there is none, one connection after another is asked to leave, those
    /// that are owed no answer and came first before others.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            let place = Arc::clone(&self.places).acquire_owned();
            match tokio::time::timeout(PATIENCE, place).await {
                Ok(place) => return place.ok(),
                Err(_) => self.ask_one_to_leave(),
            }
        }
    }

    /// Asks the oldest connection to leave that is owed nothing; else the oldest there is, after
    /// its answer.
    fn ask_one_to_leave(&self) {
        let mut guests = self.guests();
        let idle = guests.iter().position(|guest| !guest.asked.owes());
        if let Some(guest) = guests.remove(idle.unwrap_or_default()) {
            guest.leave.cancel();
        }
    }

    fn guests(&self) -> MutexGuard<'_, VecDeque<Arc<Guest>>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve<S>(&self, stream: S, place: Option<OwnedSemaphorePermit>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let asked = Asked::default();
        let guest = Arc::new(Guest {
            asked: asked.clone(),
            leave: CancellationToken::new(),
        });
        self.guests().push_back(Arc::clone(&guest));
        let stream = TokioIo::new(Timed::new(stream, self.limits, asked.clone()));
        let service = Told {
            asked,
            inner: TowerToHyperService::new(self.router.clone()),
        };
        let connection = http1::Builder::new()
            // `Timed` holds the deadlines.
            .header_read_timeout(None)
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(BUFFER_LIMIT)
            .serve_connection(stream, service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            biased;
            result = connection.as_mut() => Some(result),
            () = self.stop.cancelled() => None,
            () = guest.leave.cancelled() => None,
        };
        let result = match ended {
            Some(result) => result,
            // Who has not finished asking is owed nothing, and may never finish.
            None if guest.leave.is_cancelled() && !guest.asked.owes() => Ok(()),
            None => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        self.guests().retain(|other| !Arc::ptr_eq(other, &guest));
        if let Err(error) = result {
            tracing::debug!(%error, "a connection ended early");
        }
        drop(place);
    }
}

impl Listener {
    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // An answer is one write; waiting to fill a segment would only cost the scraper.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "cannot set TCP_NODELAY");
                }
                Ok(Stream::Tcp(stream))
            }
            Self::Local(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(Stream::Local(stream))
            }
        }
    }
}

/// The router, which tells the stream that a head has come.
#[derive(Debug)]
struct Told {
    asked: Asked,
    inner: TowerToHyperService<Router>,
}

impl Service<Request<Incoming>> for Told {
    type Response = Response;
    type Error = Infallible;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.asked.tell();
        self.inner.call(request)
    }
}
