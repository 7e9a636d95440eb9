//! What can be asked for, and the answers. No handler touches a source: it shows the snapshot.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use super::accept_encoding;
use super::exposition::{Coding, Exposition};
use super::findings;
use super::{Asking, Reload};
use crate::core::model::snapshot::Snapshot;
use crate::core::render::{node, page};
use crate::host::clock::Clock;

/// Content type of the exposition; the `prometheus` crate's own constant lacks the charset.
const EXPOSITION_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
const TEXT_TYPE: &str = "text/plain; charset=utf-8";
/// What Prometheus sends along: it gives up after so many seconds.
const SCRAPE_TIMEOUT: HeaderName = HeaderName::from_static("x-prometheus-scrape-timeout-seconds");
/// Room for the answer's way back within the scraper's timeout.
const SCRAPE_MARGIN: Duration = Duration::from_millis(500);
/// A request waits so long for the first snapshot.
const FIRST_SNAPSHOT_WAIT: Duration = Duration::from_secs(5);
/// The longest path and query.
const TARGET_LIMIT: usize = 1024;
/// A snapshot is old when nothing was published for this long and five more polls.
const STALE_AFTER: Duration = Duration::from_secs(10);
const STALE_POLLS: u32 = 5;
/// The page brings its own style and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Which way a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Over an address: nothing can be changed.
    Tcp,
    /// Over the local socket.
    Local,
}

/// What the handlers need.
pub(super) struct App {
    pub(super) telemetry_path: String,
    pub(super) request_timeout: Duration,
    pub(super) exposition: Exposition,
    pub(super) snapshots: watch::Receiver<Option<Arc<Snapshot>>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) reload: Reload,
    pub(super) ask: Asking,
    pub(super) socket: String,
    pub(super) stop: CancellationToken,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

/// The routes of one way in.
pub(super) fn router(app: &Arc<App>, way: Way) -> Router {
    let (reload, ask) = match way {
        Way::Local => (post(self::reload), post(findings::ask)),
        Way::Tcp => (any(refuse_change), any(refuse_change)),
    };
    let mut router = Router::new()
        .route("/-/healthy", get(healthy))
        .route("/healthz", get(healthy))
        .route("/-/ready", get(ready))
        .route("/readyz", get(ready))
        .route("/api/v1/node", get(node))
        .route("/api/v1/findings", get(findings::findings))
        .route("/api/v1/findings/{id}", get(findings::one_finding))
        .route("/api/v1/coverage", get(findings::coverage))
        .route("/api/v1/check", get(findings::check))
        .route("/api/v1/reload", reload)
        .route("/api/v1/ask", ask)
        .route(&app.telemetry_path, get(exposition));
    if app.telemetry_path != "/" {
        router = router.route("/", get(landing_page));
    }
    let too_late = StatusCode::SERVICE_UNAVAILABLE;
    router
        .fallback(nothing_here)
        .method_not_allowed_fallback(not_that_way)
        .layer(middleware::from_fn(bounded_target))
        .layer(TimeoutLayer::with_status_code(
            too_late,
            app.request_timeout,
        ))
        .layer(middleware::map_response(with_reason))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::map_response(with_security_headers))
        .with_state(Arc::clone(app))
}

/// Whether a path can be the exposition's: it must not be one of ours or need decoding.
pub(super) fn is_telemetry_path(path: &str) -> bool {
    const TAKEN: [&str; 10] = [
        "/-/healthy",
        "/healthz",
        "/-/ready",
        "/readyz",
        "/api/v1/node",
        "/api/v1/findings",
        "/api/v1/coverage",
        "/api/v1/check",
        "/api/v1/reload",
        "/api/v1/ask",
    ];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.starts_with('/')
        && path.len() <= 256
        && path.bytes().all(plain)
        && !TAKEN.contains(&path)
        && !path.starts_with("/api/v1/findings/")
}

async fn exposition(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let snapshot = match app.current(first_wait(&headers)).await {
        Ok(snapshot) => snapshot,
        Err(reason) => return text(StatusCode::SERVICE_UNAVAILABLE, reason.to_string()),
    };
    let accepted = headers.get_all(header::ACCEPT_ENCODING);
    let accepted = accepted.iter().filter_map(|value| value.to_str().ok());
    let coding = if accept_encoding::wants_gzip(accepted) {
        Coding::Gzip
    } else {
        Coding::Plain
    };
    match app.exposition.bytes(&snapshot, coding) {
        Ok(bytes) => {
            let mut answer = (
                [
                    (header::CONTENT_TYPE, EXPOSITION_TYPE),
                    (header::VARY, "accept-encoding"),
                ],
                bytes,
            )
                .into_response();
            if coding == Coding::Gzip {
                let gzip = HeaderValue::from_static("gzip");
                answer.headers_mut().insert(header::CONTENT_ENCODING, gzip);
            }
            answer
        }
        Err(error) => broken(&error),
    }
}

/// How long a scrape may wait for the first snapshot.
fn first_wait(headers: &HeaderMap) -> Duration {
    headers
        .get(SCRAPE_TIMEOUT)
        .and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok())
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map_or(FIRST_SNAPSHOT_WAIT, |timeout| {
            timeout
                .saturating_sub(SCRAPE_MARGIN)
                .min(FIRST_SNAPSHOT_WAIT)
        })
}

async fn healthy() -> Response {
    text(StatusCode::OK, "healthy".to_owned())
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.current(Duration::ZERO).await {
        Ok(snapshot) => match &snapshot.trouble {
            None => text(StatusCode::OK, "ready".to_owned()),
            Some(why) => {
                let line = format!("the node cannot be read: {why}");
                text(StatusCode::SERVICE_UNAVAILABLE, line)
            }
        },
        Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, reason.to_string()),
    }
}

async fn node(State(app): State<Arc<App>>) -> Response {
    let Some(snapshot) = app.newest(FIRST_SNAPSHOT_WAIT).await else {
        return text(
            StatusCode::SERVICE_UNAVAILABLE,
            NotNow::NoSnapshot.to_string(),
        );
    };
    match node::document(&snapshot) {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => broken(&error),
    }
}

async fn landing_page(State(app): State<Arc<App>>) -> Response {
    let snapshot = app.newest(Duration::ZERO).await;
    let view = page::Page {
        snapshot: snapshot.as_deref(),
        telemetry_path: &app.telemetry_path,
        stale: snapshot.as_ref().and_then(|newest| app.stale(newest)),
    };
    match page::html(&view) {
        Ok(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => broken(&error),
    }
}

async fn reload(State(app): State<Arc<App>>) -> Response {
    let reload = Arc::clone(&app.reload);
    match tokio::task::spawn_blocking(move || reload()).await {
        Ok(Ok(done)) => {
            tracing::info!("reloaded, as asked for over the socket");
            text(StatusCode::OK, done)
        }
        Ok(Err(refused)) => {
            let why = refused.lines().next().unwrap_or_default();
            tracing::error!(error = why, "cannot reload; the old configuration stays");
            text(StatusCode::UNPROCESSABLE_ENTITY, refused)
        }
        Err(error) => broken(&error),
    }
}

async fn refuse_change(State(app): State<Arc<App>>) -> Response {
    let line = format!("changes are made over the local socket {}", app.socket);
    text(StatusCode::FORBIDDEN, line)
}

async fn nothing_here(State(app): State<Arc<App>>) -> Response {
    let line = format!(
        "nothing here; there are {}{}, /api/v1/node, /api/v1/findings, /api/v1/coverage, /api/v1/check, /-/healthy and /-/ready",
        if app.telemetry_path == "/" { "" } else { "/, " },
        app.telemetry_path
    );
    text(StatusCode::NOT_FOUND, line)
}

async fn not_that_way(request: Request) -> Response {
    let line = if matches!(request.uri().path(), "/api/v1/reload" | "/api/v1/ask") {
        "this changes something: use POST"
    } else {
        "this can only be read: use GET or HEAD"
    };
    text(StatusCode::METHOD_NOT_ALLOWED, line.to_owned())
}

async fn bounded_target(request: Request, next: Next) -> Response {
    let target = request.uri().path_and_query();
    if target.is_some_and(|target| target.as_str().len() > TARGET_LIMIT) {
        return text(StatusCode::URI_TOO_LONG, "the path is too long".to_owned());
    }
    next.run(request).await
}

/// The timeout layer's answer is empty.
async fn with_reason(answer: Response) -> Response {
    let told = answer.headers().contains_key(header::CONTENT_TYPE);
    if told || answer.status() != StatusCode::SERVICE_UNAVAILABLE {
        return answer;
    }
    let line = "the answer took too long";
    text(StatusCode::SERVICE_UNAVAILABLE, line.to_owned())
}

async fn with_security_headers(mut answer: Response) -> Response {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        let value = HeaderValue::from_static(value);
        answer.headers_mut().insert(name, value);
    }
    answer
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request handler panicked");
    let line = "internal error; the log tells more";
    text(StatusCode::INTERNAL_SERVER_ERROR, line.to_owned())
}

pub(super) fn broken(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "cannot answer a request");
    text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

pub(super) fn text(status: StatusCode, mut line: String) -> Response {
    if !line.ends_with('\n') {
        line.push('\n');
    }
    (status, [(header::CONTENT_TYPE, TEXT_TYPE)], line).into_response()
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotNow {
    #[error("no snapshot yet: the first poll has not ended")]
    NoSnapshot,
    #[error("the newest snapshot is {} s old: the poller has stopped", .0.as_secs())]
    Stale(Duration),
}

impl App {
    /// The newest snapshot, waited for if there is none yet.
    pub(super) async fn newest(&self, wait: Duration) -> Option<Arc<Snapshot>> {
        let mut snapshots = self.snapshots.clone();
        if let Some(newest) = snapshots.borrow().clone() {
            return Some(newest);
        }
        if wait.is_zero() {
            return None;
        }
        let first = async {
            let first = snapshots.wait_for(Option::is_some).await.ok()?;
            first.clone()
        };
        tokio::select! {
            first = tokio::time::timeout(wait, first) => first.ok().flatten(),
            () = self.stop.cancelled() => None,
        }
    }

    /// The newest snapshot, unless it is so old that its values would be a lie.
    pub(super) async fn current(&self, wait: Duration) -> Result<Arc<Snapshot>, NotNow> {
        let newest = self.newest(wait).await.ok_or(NotNow::NoSnapshot)?;
        match self.stale(&newest) {
            Some(age) => Err(NotNow::Stale(age)),
            None => Ok(newest),
        }
    }

    /// The age of a snapshot that should long have been replaced.
    fn stale(&self, snapshot: &Snapshot) -> Option<Duration> {
        let age = self.clock.now().since(snapshot.at);
        let intervals = snapshot.sources.iter().map(|source| source.interval);
        let known = intervals.filter(|interval| !interval.is_zero());
        let interval = known.min().unwrap_or_default();
        let limit =
            STALE_AFTER.saturating_add(self.clock.real(interval.saturating_mul(STALE_POLLS)));
        (self.clock.real(age) > limit).then_some(age)
    }
}
