//! Families about railwatch itself: its sources, processes, host and build.

use std::borrow::Cow;

use super::OwnFamilies;
use super::sheet::{Labels, Sample, Sheet, label};
use crate::core::model::snapshot::{HostFacts, ProcessView, Snapshot, SourceView};
use crate::core::render::families::{
    BUILD_INFO, CONFIG_PROBLEMS, Family, HOST_INFO, POLLS, PROCESS_CPU_SECONDS, PROCESS_OPEN_FDS,
    PROCESS_PSS_BYTES, PROCESS_START_TIME_SECONDS, READ_FAULTS, SOURCE_ABANDONED,
    SOURCE_AGE_SECONDS, SOURCE_DURATION_SECONDS, SOURCE_INTERVAL_SECONDS, SOURCE_OVERRUNS,
    SOURCE_RESTARTS, SOURCE_STALLED, SOURCE_SUCCESS,
};
use crate::core::units::float;

/// Source revision, where the build was told it.
const REVISION: Option<&str> = option_env!("RAILWATCH_REVISION");

/// Adds every family about ourselves that was asked for.
pub(super) fn add<'a>(sheet: &mut Sheet<'a>, snapshot: &'a Snapshot, own: OwnFamilies) {
    let build = [env!("CARGO_PKG_VERSION"), REVISION.unwrap_or_default()];
    put(sheet, &BUILD_INFO, &build, Some(1.0));
    let problems = float(snapshot.own.config_problems);
    put(sheet, &CONFIG_PROBLEMS, &[], Some(problems));
    if own == OwnFamilies::Hidden {
        return;
    }
    put(sheet, &POLLS, &[], Some(float(snapshot.polls)));
    host(sheet, &snapshot.own.host);
    for source in &snapshot.sources {
        add_source(sheet, snapshot, source);
    }
    for process in &snapshot.own.processes {
        add_process(sheet, process);
    }
}

/// Adds one sample whose label values stand in the family's order; `None` is not known.
pub(super) fn put<'a>(
    sheet: &mut Sheet<'a>,
    family: &Family,
    values: &[&'a str],
    value: Option<f64>,
) {
    let Some(value) = value else {
        return;
    };
    let labels = family.labels.iter().copied();
    let labels = labels
        .zip(values.iter().map(|text| label(text)))
        .collect::<Vec<(&'static str, Cow<'a, str>)>>();
    if let Some(samples) = sheet.family(family.name, family.help, family.kind) {
        samples.push(Sample {
            labels: Labels::Listed(labels),
            value,
            origin: None,
        });
    }
}

fn host<'a>(sheet: &mut Sheet<'a>, facts: &'a HostFacts) {
    let known = [&facts.hostname, &facts.kernel, &facts.os];
    if known.iter().any(|fact| fact.is_some()) {
        let values = known.map(|fact| fact.as_deref().unwrap_or_default());
        put(sheet, &HOST_INFO, &values, Some(1.0));
    }
}

fn add_source<'a>(sheet: &mut Sheet<'a>, snapshot: &'a Snapshot, view: &'a SourceView) {
    let name = view.source.as_str();
    let age = view.ended.map(|ended| snapshot.at.since(ended));
    let duration = view.ended.map(|_| view.duration.as_secs_f64());
    let interval = (!view.interval.is_zero()).then_some(view.interval.as_secs_f64());
    let flag = |set: bool| if set { 1.0 } else { 0.0 };
    for (family, value) in [
        (&SOURCE_SUCCESS, view.success.map(flag)),
        (&SOURCE_AGE_SECONDS, age.map(|age| age.as_secs_f64())),
        (&SOURCE_DURATION_SECONDS, duration),
        (&SOURCE_INTERVAL_SECONDS, interval),
        (&SOURCE_STALLED, Some(flag(view.stalled))),
        (&SOURCE_OVERRUNS, Some(float(view.overruns))),
        (&SOURCE_RESTARTS, Some(float(view.restarts))),
        (&SOURCE_ABANDONED, Some(float(view.abandoned))),
    ] {
        put(sheet, family, &[name], value);
    }
    for (reason, count) in &view.faults {
        let labels = [name, reason.as_str()];
        put(sheet, &READ_FAULTS, &labels, Some(float(*count)));
    }
}

fn add_process<'a>(sheet: &mut Sheet<'a>, view: &'a ProcessView) {
    for (family, value) in [
        (&PROCESS_PSS_BYTES, view.pss_bytes.map(float)),
        (&PROCESS_CPU_SECONDS, view.cpu_seconds),
        (&PROCESS_OPEN_FDS, view.open_fds.map(float)),
        (&PROCESS_START_TIME_SECONDS, view.start_seconds),
    ] {
        put(sheet, family, &[view.process], value);
    }
}
