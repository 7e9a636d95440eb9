//! Judges each snapshot, and keeps what outlives it: what was learnt, what people asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use crate::core::detect::engine::{Engine, Findings, Happened, Transition};
use crate::core::detect::expect_file::parse;
use crate::core::model::attention::{self, LONGEST, Maintenance, Silence};
use crate::core::model::expectation::Expectation;
use crate::core::model::finding::Severity;
use crate::core::model::snapshot::Snapshot;
use crate::core::model::time::BootTime;
use crate::daemon::keeper::{self, Keeper};

/// Version of the file with what was learnt.
const LEARNT: &str = "railwatch-learnt/1";
/// Version of the file with what people asked for.
const ASKED: &str = "railwatch-asked/1";
/// Bytes of either that are read at most.
const LIMIT: u64 = 4 << 20;
/// Time between two judgements: a little less than two polls, as no rule needs less than five
/// seconds. Each costs a tenth of what a poll costs.
const APART: Duration = Duration::from_millis(1900);
/// Silences that are kept.
const SILENCES: usize = 256;

/// What a person may ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Ask {
    /// The node is in maintenance for so many seconds.
    MaintenanceOn {
        /// How long.
        seconds: f64,
        /// Why.
        reason: String,
    },
    /// It is no longer.
    MaintenanceOff,
    /// Do not tell of a finding for so many seconds.
    Silence {
        /// Which code.
        code: String,
        /// Which subject; all of them if absent.
        #[serde(default)]
        subject: Option<String>,
        /// How long.
        seconds: f64,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// What there is now is what there should be.
    Accept,
}

#[derive(Debug, Serialize, Deserialize)]
struct Learnt {
    schema: String,
    expectation: Expectation,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Asked {
    schema: String,
    #[serde(default)]
    silences: Vec<Silence>,
}

/// Judges.
#[derive(Debug)]
pub struct Judge {
    engine: Engine,
    maintenance: Option<Maintenance>,
    /// What a file says.
    by_file: Option<Maintenance>,
    asked: Asked,
    /// The expectation file's text and the product it was read for.
    file: (Option<String>, Option<String>),
    /// Nothing has been judged yet.
    first: bool,
    /// What was last found, and when.
    newest: Option<(BootTime, Arc<Findings>)>,
    learnt: Option<Keeper>,
    kept: Option<Keeper>,
}

impl Judge {
    /// A judge that goes on with what an earlier one kept in a directory; without one it keeps
    /// nothing, as with a captured node.
    #[must_use]
    pub fn new(file: Option<String>, state: Option<&Path>) -> Self {
        let at = |name: &str| state.map(|state| state.join(name));
        let (learnt_at, asked_at) = (at("learnt.json"), at("asked.json"));
        let learnt = learnt_at.as_deref().and_then(|path| {
            let read: Learnt = read(path, |learnt: &Learnt| learnt.schema == LEARNT)?;
            Some(read.expectation)
        });
        let asked = asked_at
            .as_deref()
            .and_then(|path| read(path, |asked: &Asked| asked.schema == ASKED));
        Self {
            engine: Engine::new(Expectation::default(), learnt.unwrap_or_default()),
            file: (file, None),
            first: true,
            newest: None,
            maintenance: None,
            by_file: None,
            asked: asked.unwrap_or_default(),
            learnt: learnt_at.map(Keeper::of),
            kept: asked_at.map(Keeper::of),
        }
    }

    /// The engine, to restore what was open.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Takes another text of the expectation file.
    pub fn expect(&mut self, text: Option<String>) {
        self.file.0 = text;
        self.read_file();
    }

    fn read_file(&mut self) {
        let (text, product) = &self.file;
        let expected = text.as_deref().map(|text| parse(text, product.as_deref()));
        match expected.transpose() {
            Ok(expected) => self.engine.expect(expected.unwrap_or_default()),
            Err(error) => {
                warn!(error = %error, "cannot follow the expectation file; what held before holds");
            }
        }
    }

    /// The maintenance that a file asks for.
    pub fn by_file(&mut self, maintenance: Option<Maintenance>) {
        if maintenance.is_some() != self.by_file.is_some() {
            let on = maintenance.is_some();
            info!(on, "maintenance, by its file");
        }
        self.by_file = maintenance;
    }

    /// Judges a snapshot; `hear` is told what happened.
    pub fn judge(
        &mut self,
        snapshot: &Snapshot,
        hear: &mut dyn FnMut(&Transition),
    ) -> Arc<Findings> {
        if let Some((at, newest)) = &self.newest
            && snapshot.at.since(*at) < APART
        {
            return Arc::clone(newest);
        }
        if self.file.1 != snapshot.product || self.first {
            self.first = false;
            self.file.1.clone_from(&snapshot.product);
            self.read_file();
        }
        let wall = snapshot.wall_seconds;
        let mut asked = self.maintenance.iter().chain(&self.by_file);
        let maintenance = asked.find(|maintenance| maintenance.until > wall);
        let in_maintenance = maintenance.is_some();
        for transition in self.engine.tick(snapshot, maintenance) {
            tell(&transition);
            hear(&transition);
        }
        if let (Some(keeper), Some(learnt)) = (&self.learnt, self.engine.take_learnt()) {
            let document = Learnt {
                schema: LEARNT.to_owned(),
                expectation: learnt.clone(),
            };
            // It is made of texts and numbers, which JSON has.
            if let Ok(content) = serde_json::to_vec_pretty(&document) {
                keeper.put(content);
            }
        }
        self.asked.silences.retain(|silence| silence.until > wall);
        let mut findings = self.engine.findings();
        let all = findings.active.iter().chain(&findings.recent);
        let silenced = all.filter(|finding| {
            let mut silences = self.asked.silences.iter();
            silences.any(|silence| silence.covers(finding))
        });
        findings.quiet = silenced.map(|finding| finding.id).collect();
        attention::apply(&self.asked.silences, &mut findings.active, wall);
        findings.maintenance = in_maintenance;
        let findings = Arc::new(findings);
        self.newest = Some((snapshot.at, Arc::clone(&findings)));
        findings
    }

    /// Does what a person asked for; says what was done.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn ask(&mut self, ask: Ask, wall: f64) -> Result<String, String> {
        // What was asked shows at once.
        self.newest = None;
        match ask {
            Ask::MaintenanceOn { seconds, reason } => {
                let until = wall + checked(seconds)?;
                info!(seconds, reason, "maintenance begins");
                self.maintenance = Some(Maintenance {
                    since: wall,
                    until,
                    reason,
                });
                Ok(format!("in maintenance for {seconds} s"))
            }
            Ask::MaintenanceOff => {
                info!("maintenance ends");
                self.maintenance = None;
                match &self.by_file {
                    None => Ok("not in maintenance".to_owned()),
                    Some(_) => Err("a file asks for maintenance; remove it".to_owned()),
                }
            }
            Ask::Silence {
                code,
                subject,
                seconds,
                reason,
            } => {
                if crate::core::detect::rule(&code).is_none() {
                    return Err(format!(
                        "there is no finding {code:?}; docs/FINDINGS.md lists them"
                    ));
                }
                let until = wall + checked(seconds)?;
                self.silence(Silence {
                    code,
                    subject,
                    until,
                    reason,
                })
            }
            Ask::Accept => {
                self.engine.accept();
                info!("what the node has now is what it should have");
                Ok("what the node has now is what it should have".to_owned())
            }
        }
    }

    fn silence(&mut self, silence: Silence) -> Result<String, String> {
        if self.asked.silences.len() >= SILENCES {
            return Err(format!(
                "there are {SILENCES} silences already; wait for one to end"
            ));
        }
        let said = format!(
            "{} {} is silent",
            silence.code,
            silence.subject.as_deref().unwrap_or("everywhere")
        );
        self.asked.silences.push(silence);
        self.asked.schema = ASKED.to_owned();
        if let (Some(keeper), Ok(content)) = (&self.kept, serde_json::to_vec_pretty(&self.asked)) {
            keeper.put(content);
        }
        Ok(said)
    }
}

/// The text of the expectation file, if there is one that can be read.
#[must_use]
pub fn expectation_text(path: &Path) -> Option<String> {
    let text = keeper::read(path, LIMIT).and_then(|bytes| match bytes {
        None => Ok(None),
        Some(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(std::io::Error::other),
    });
    text.unwrap_or_else(|error| {
        warn!(path = %path.display(), error = %error, "cannot read the expectation file");
        None
    })
}

/// A span somebody asked for.
fn checked(seconds: f64) -> Result<f64, String> {
    if seconds > 0.0 && seconds <= LONGEST {
        Ok(seconds)
    } else {
        Err(format!(
            "{seconds} s is not possible; allowed is more than 0 and at most 24 h"
        ))
    }
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path, is_ours: impl Fn(&T) -> bool) -> Option<T> {
    let found = keeper::read(path, LIMIT).and_then(|bytes| match bytes {
        None => Ok(None),
        Some(bytes) => {
            let document: T = serde_json::from_slice(&bytes)?;
            let other = "it is of another version";
            is_ours(&document)
                .then_some(Some(document))
                .ok_or_else(|| std::io::Error::other(other))
        }
    });
    match found {
        Ok(document) => document,
        Err(error) => {
            keeper::set_aside(&PathBuf::from(path), &error);
            None
        }
    }
}

/// A line in the log for what happened.
fn tell(transition: &Transition) {
    let finding = &transition.finding;
    let (code, subject) = (finding.code.as_str(), finding.subject.as_str());
    let (what, severity) = (transition.what.as_str(), finding.severity.as_str());
    let meaning = finding.meaning.as_str();
    match transition.what {
        Happened::Raised | Happened::Reopened | Happened::Worse
            if finding.severity > Severity::Info =>
        {
            warn!(code, subject, severity, what, meaning, "finding");
        }
        _ => info!(code, subject, severity, what, meaning, "finding"),
    }
}
