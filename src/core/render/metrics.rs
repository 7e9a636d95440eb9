//! The text exposition, version 0.0.4: a snapshot in, bytes out.
//!
//! The only file that knows the `prometheus` crate. Its encoder panics on an untyped family, fails
//! on an empty one and lets duplicates pass; `Sheet` lets none of these come to it.

mod device;
mod own;
mod sheet;

use prometheus::TextEncoder;
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};

use crate::core::catalog::Kind;
use crate::core::model::snapshot::Snapshot;
use sheet::{Family, Labels, Sample, Sheet};

/// Whether the families about our own sources, processes and host are part of the exposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OwnFamilies {
    /// They are.
    #[default]
    Shown,
    /// They are not; build and configuration problems stay. What is left depends on the devices'
    /// state alone.
    Hidden,
}

/// The exposition could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("cannot encode the exposition: {0}")]
pub struct EncodeError(#[from] prometheus::Error);

/// Encodes a snapshot: families by name, samples by label, only current values.
///
/// # Errors
///
/// The encoder refused a family.
pub fn encode(snapshot: &Snapshot, own: OwnFamilies) -> Result<String, EncodeError> {
    let mut sheet = Sheet::default();
    device::add(&mut sheet, snapshot);
    own::add(&mut sheet, snapshot, own);
    let families: Vec<MetricFamily> = sheet
        .finish()
        .map(|(name, family)| prometheus_family(name, family))
        .collect();
    let mut text = String::with_capacity(64 << 10);
    TextEncoder::new().encode_utf8(&families, &mut text)?;
    Ok(text)
}

fn prometheus_family(name: &str, family: Family<'_>) -> MetricFamily {
    let kind = family.kind;
    let mut made = MetricFamily::default();
    made.set_name(name.to_owned());
    made.set_help(family.help.to_owned());
    made.set_field_type(match kind {
        Kind::Counter => MetricType::COUNTER,
        Kind::Gauge => MetricType::GAUGE,
    });
    let samples = family.samples.into_iter();
    made.set_metric(samples.map(|sample| metric(kind, sample)).collect());
    made
}

fn metric(kind: Kind, sample: Sample<'_>) -> Metric {
    let mut made = Metric::from_label(label_pairs(sample.labels));
    match kind {
        Kind::Counter => {
            let mut counter = Counter::default();
            counter.set_value(sample.value);
            made.set_counter(counter);
        }
        Kind::Gauge => {
            let mut gauge = Gauge::default();
            gauge.set_value(sample.value);
            made.set_gauge(gauge);
        }
    }
    made
}

fn label_pairs(labels: Labels<'_>) -> Vec<LabelPair> {
    match labels {
        Labels::Device { device, port } => {
            let mut pairs = Vec::with_capacity(2);
            pairs.push(pair("device", device.into_owned()));
            pairs.extend(port.map(|port| pair("port", port.to_string())));
            pairs
        }
        Labels::Netdev(netdev) => vec![pair("netdev", netdev.into_owned())],
        Labels::Listed(labels) => labels
            .into_iter()
            .map(|(name, value)| pair(name, value.into_owned()))
            .collect(),
    }
}

fn pair(name: &str, value: String) -> LabelPair {
    let mut made = LabelPair::default();
    made.set_name(name.to_owned());
    made.set_value(value);
    made
}
