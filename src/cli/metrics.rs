//! `railwatch metrics`: the metrics once, from the running daemon or read here and now.

use std::time::Duration;

use crate::cli::arguments::{Global, MetricsOptions, Output};
use crate::cli::exit::{Failure, Reason};
use crate::cli::local::{Daemon, Unanswered};
use crate::cli::output;
use crate::core::model::snapshot::Snapshot;
use crate::core::render::metrics::{self, OwnFamilies};
use crate::core::render::{families, node};
use crate::daemon::config::Config;
use crate::daemon::once::{self, Once};
use crate::host::clock::wall_seconds;

/// Path of the document.
const DOCUMENT: &str = "/api/v1/node";
/// What the names of families about our own sources, processes and host begin with.
const OUR_OWN: [&str; 5] = [
    "railwatch_source_",
    "railwatch_process_",
    families::READ_FAULTS.name,
    families::HOST_INFO.name,
    families::POLLS.name,
];

/// Prints them.
///
/// # Errors
///
/// The daemon gives none, the node cannot be read, standard output cannot be written.
pub fn run(global: &Global, options: &MetricsOptions) -> Result<(), Failure> {
    let mut inputs = global.inputs();
    inputs.flags.extend(options.web.flags());
    let config = global.load_and_tell(&inputs)?;
    let daemon = Daemon::new(&config.path.runtime, global.patience());
    if !options.direct && !global.is_elsewhere() {
        match asked(&daemon, global.output, &config.web.telemetry_path) {
            Ok(answer) => return told(global.output, &config, &answer),
            Err(Unanswered::NoDaemon(error)) => {
                output::tell(&format!("{error}; reading by myself"));
            }
            Err(Unanswered::Failed(failure)) => return Err(failure),
        }
    }
    direct(global, &config, daemon.left())
}

/// What the daemon has.
struct Answer {
    body: Vec<u8>,
    /// How long ago it was read at most, seconds.
    age: Option<f64>,
}

/// Asks for the document in any case: an exposition does not tell its time. It is asked for
/// first, so that what is printed is no older than is said.
fn asked(daemon: &Daemon, shape: Output, telemetry_path: &str) -> Result<Answer, Unanswered> {
    let document = daemon.get(DOCUMENT)?;
    let age = age(&document);
    let body = match shape {
        Output::Text => daemon.get(telemetry_path)?,
        Output::Json => document,
    };
    Ok(Answer { body, age })
}

fn direct(global: &Global, config: &Config, timeout: Duration) -> Result<(), Failure> {
    let node = global.wanted_node(config)?;
    let Once { snapshot, late } = once::once(config, node, timeout)?;
    for device in late {
        output::tell(&format!(
            "{} did not answer within {timeout:.1?}; it is left out",
            device.as_str()
        ));
    }
    output::print(&rendered(global.output, config, &snapshot)?)
}

fn rendered(shape: Output, config: &Config, snapshot: &Snapshot) -> Result<Vec<u8>, Failure> {
    let rendered = match shape {
        Output::Text => metrics::encode(snapshot, own_families(config))
            .map(String::into_bytes)
            .map_err(anyhow::Error::from),
        Output::Json => node::document(snapshot).map_err(anyhow::Error::from),
    };
    rendered.map_err(|error| Failure::new(Reason::Internal, &error))
}

fn own_families(config: &Config) -> OwnFamilies {
    if config.web.disable_exporter_metrics {
        OwnFamilies::Hidden
    } else {
        OwnFamilies::Shown
    }
}

/// Prints the daemon's answer, and how old it is to the person.
fn told(shape: Output, config: &Config, answer: &Answer) -> Result<(), Failure> {
    if let Some(age) = answer.age {
        output::tell(&format!("read by the daemon {age:.1} s ago"));
    }
    if shape == Output::Text && config.web.disable_exporter_metrics {
        let text = String::from_utf8_lossy(&answer.body);
        return output::print(without_our_own(&text).as_bytes());
    }
    output::print(&answer.body)
}

/// The age of a document, seconds.
fn age(document: &[u8]) -> Option<f64> {
    let document: serde_json::Value = serde_json::from_slice(document).ok()?;
    Some((wall_seconds() - document.get("t")?.as_f64()?).max(0.0))
}

/// The exposition without the families about ourselves.
fn without_our_own(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let sample = ["# HELP ", "# TYPE "]
            .iter()
            .find_map(|comment| line.strip_prefix(comment))
            .unwrap_or(line);
        let end = sample.find(['{', ' ']).unwrap_or(sample.len());
        let name = sample.get(..end).unwrap_or_default();
        if !OUR_OWN.iter().any(|ours| name.starts_with(ours)) {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::snapshot::{Own, ProcessView};

    #[test]
    fn a_daemons_answer_loses_what_the_encoder_would_have_left_out() {
        let own = Own {
            processes: vec![ProcessView {
                process: "daemon",
                pss_bytes: Some(1),
                cpu_seconds: Some(1.0),
                open_fds: Some(1),
                start_seconds: Some(1.0),
            }],
            ..Own::default()
        };
        let snapshot = Snapshot {
            own: std::sync::Arc::new(own),
            ..Snapshot::default()
        };
        let shown = metrics::encode(&snapshot, OwnFamilies::Shown).unwrap();
        let hidden = metrics::encode(&snapshot, OwnFamilies::Hidden).unwrap();
        assert_ne!(shown, hidden);
        assert_eq!(without_our_own(&shown), hidden);
    }

    #[test]
    fn a_document_without_time_has_no_age() {
        assert_eq!(age(b"{}"), None);
        assert_eq!(age(b"no JSON"), None);
        assert!(age(br#"{"t":1}"#).unwrap() > 1e9);
    }
}
