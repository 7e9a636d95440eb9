//! What is found, asked for: findings, coverage, a check, and what a person may change.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::routes::{App, broken, text};
use crate::core::detect::rule::Area;
use crate::core::model::snapshot::Snapshot;
use crate::core::render::check::{Check, FailOn};
use crate::core::render::document::DocumentError;
use crate::core::render::{doctor, finding};
use crate::daemon::judge::Ask;

/// How long a request waits for the first snapshot.
const WAIT: Duration = Duration::from_secs(1);

/// What a check is asked.
#[derive(Debug, Deserialize)]
pub(super) struct CheckQuery {
    /// Areas with commas; all of them if absent.
    areas: Option<String>,
    /// `warning`, `critical` or `unknown`.
    fail_on: Option<String>,
    /// `text` or `json`.
    output: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Shape {
    /// `text` or `json`.
    output: Option<String>,
}

pub(super) async fn findings(State(app): State<Arc<App>>, Query(shape): Query<Shape>) -> Response {
    let Some(snapshot) = app.newest(WAIT).await else {
        return not_yet();
    };
    said(&snapshot, None, &shape)
}

/// Findings in the shape that was asked for.
fn said(snapshot: &Snapshot, id: Option<u64>, shape: &Shape) -> Response {
    match shape.output.as_deref() {
        Some("text") => text(StatusCode::OK, finding::list(snapshot, id)),
        Some("ticket") => text(StatusCode::OK, finding::tickets(snapshot, id)),
        _ => json(finding::document(snapshot, id)),
    }
}

pub(super) async fn one_finding(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(shape): Query<Shape>,
) -> Response {
    let Some(snapshot) = app.newest(WAIT).await else {
        return not_yet();
    };
    let known = id.parse().ok().filter(|id: &u64| {
        let findings = snapshot.findings.iter();
        let mut all = findings.flat_map(|found| found.active.iter().chain(&found.recent));
        all.any(|finding| finding.id == *id)
    });
    match known {
        Some(id) => said(&snapshot, Some(id), &shape),
        None => {
            let line = format!("there is no finding {id}; /api/v1/findings lists them");
            text(StatusCode::NOT_FOUND, line)
        }
    }
}

pub(super) async fn coverage(State(app): State<Arc<App>>, Query(shape): Query<Shape>) -> Response {
    if shape.output.as_deref() == Some("text") {
        return match app.newest(WAIT).await {
            Some(snapshot) => text(StatusCode::OK, doctor::text(&snapshot)),
            None => not_yet(),
        };
    }
    shown(&app, doctor::document).await
}

pub(super) async fn check(
    State(app): State<Arc<App>>,
    Query(query): Query<CheckQuery>,
) -> Response {
    let areas = match areas(query.areas.as_deref().unwrap_or_default()) {
        Ok(areas) => areas,
        Err(why) => return text(StatusCode::BAD_REQUEST, why),
    };
    let fail_on = match fail_on(query.fail_on.as_deref().unwrap_or("warning")) {
        Ok(fail_on) => fail_on,
        Err(why) => return text(StatusCode::BAD_REQUEST, why),
    };
    let snapshot = match app.current(WAIT).await {
        Ok(snapshot) => snapshot,
        Err(reason) => return text(StatusCode::SERVICE_UNAVAILABLE, reason.to_string()),
    };
    let check = Check::new(&snapshot, &areas);
    if query.output.as_deref() == Some("text") {
        text(StatusCode::OK, check.text())
    } else {
        json(check.document(fail_on))
    }
}

/// Does what a person asks for; on the local socket only.
pub(super) async fn ask(State(app): State<Arc<App>>, body: Bytes) -> Response {
    let ask: Ask = match serde_json::from_slice(&body) {
        Ok(ask) => ask,
        Err(error) => {
            let line = format!("cannot understand what is asked for: {error}");
            return text(StatusCode::BAD_REQUEST, line);
        }
    };
    let asked = Arc::clone(&app.ask);
    match tokio::task::spawn_blocking(move || asked(ask)).await {
        Ok(Ok(done)) => text(StatusCode::OK, done),
        Ok(Err(refused)) => text(StatusCode::UNPROCESSABLE_ENTITY, refused),
        Err(error) => broken(&error),
    }
}

/// Areas from a list with commas.
fn areas(list: &str) -> Result<Vec<Area>, String> {
    let names = list.split(',').filter(|name| !name.is_empty());
    let area = |name: &str| {
        let known = Area::ALL.into_iter().find(|area| area.as_str() == name);
        known.ok_or_else(|| format!("there is no area {name:?}"))
    };
    names.map(area).collect()
}

fn fail_on(word: &str) -> Result<FailOn, String> {
    match word {
        "warning" => Ok(FailOn::Warning),
        "critical" => Ok(FailOn::Critical),
        "unknown" => Ok(FailOn::Unknown),
        other => Err(format!(
            "fail_on {other:?} is not possible, allowed warning, critical, unknown"
        )),
    }
}

async fn shown(
    app: &App,
    document: impl FnOnce(&Snapshot) -> Result<Vec<u8>, DocumentError>,
) -> Response {
    match app.newest(WAIT).await {
        Some(snapshot) => json(document(&snapshot)),
        None => not_yet(),
    }
}

fn json(document: Result<Vec<u8>, DocumentError>) -> Response {
    match document {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => broken(&error),
    }
}

fn not_yet() -> Response {
    let line = "no snapshot yet: the first poll has not ended";
    text(StatusCode::SERVICE_UNAVAILABLE, line.to_owned())
}
