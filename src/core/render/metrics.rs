//! The text exposition, version 0.0.4: a snapshot in, bytes out.
//!
//! The only file that knows the `prometheus` crate. Its encoder panics on an untyped family, fails
//! on an empty one and lets duplicates pass; `Sheet` lets none of these come to it.

mod device;
mod finding;
mod own;
mod sheet;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use prometheus::TextEncoder;
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};

use crate::core::catalog::Kind;
use crate::core::model::facts::{DeviceFacts, Skipped};
use crate::core::model::snapshot::{DeviceView, SlotState, Snapshot};
use crate::core::units;
use crate::core::wire::Slot;
use sheet::{Family, Labels, Origin, Sample, Sheet};

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

/// Encodes one snapshot: families by name, samples by label, only current values.
///
/// # Errors
///
/// The encoder refused a family.
pub fn encode(snapshot: &Snapshot, own: OwnFamilies) -> Result<String, EncodeError> {
    Encoder::new(own).encode(snapshot)
}

/// Encodes one snapshot after another. From poll to poll hardly more than values change, so the
/// device families are kept and only get new values while the set of their samples is the same.
#[derive(Debug)]
pub struct Encoder {
    own: OwnFamilies,
    skeleton: Option<Skeleton>,
    text_bytes: usize,
}

impl Encoder {
    /// An encoder that has seen nothing yet.
    #[must_use]
    pub fn new(own: OwnFamilies) -> Self {
        Self {
            own,
            skeleton: None,
            text_bytes: 0,
        }
    }

    /// The exposition of a snapshot; the same bytes as [`encode`] gives.
    ///
    /// # Errors
    ///
    /// The encoder refused a family.
    pub fn encode(&mut self, snapshot: &Snapshot) -> Result<String, EncodeError> {
        let skeleton = match self.skeleton.take() {
            Some(mut kept) if kept.shape.fits(snapshot) => {
                kept.renew(snapshot);
                kept
            }
            _ => Skeleton::new(snapshot),
        };
        let mut sheet = Sheet::default();
        own::add(&mut sheet, snapshot, self.own);
        finding::add(&mut sheet, snapshot);
        let about_us: Vec<MetricFamily> = sheet
            .finish()
            .map(|(name, family)| prometheus_family(name, family))
            .collect();
        let mut families: Vec<&MetricFamily> = skeleton.families.iter().chain(&about_us).collect();
        families.sort_by_key(|family| family.name());
        // A little more than last time: values grow by a digit now and then.
        let mut text = String::with_capacity(self.text_bytes.saturating_add(1024));
        for family in families {
            TextEncoder::new().encode_utf8(std::slice::from_ref(family), &mut text)?;
        }
        self.text_bytes = text.len();
        self.skeleton = Some(skeleton);
        Ok(text)
    }
}

/// The device families of one shape.
#[derive(Debug)]
struct Skeleton {
    shape: Shape,
    families: Vec<MetricFamily>,
    values: Vec<Live>,
}

/// A sample whose value is a slot's.
#[derive(Debug, Clone, Copy)]
struct Live {
    family: usize,
    metric: usize,
    origin: Origin,
}

impl Skeleton {
    fn new(snapshot: &Snapshot) -> Self {
        let mut sheet = Sheet::default();
        device::add(&mut sheet, snapshot);
        let mut families = Vec::new();
        let mut values = Vec::new();
        for (name, family) in sheet.finish() {
            let samples = family.samples.iter().enumerate();
            let live = samples.filter_map(|(metric, sample)| {
                Some(Live {
                    family: families.len(),
                    metric,
                    origin: sample.origin?,
                })
            });
            values.extend(live);
            families.push(prometheus_family(name, family));
        }
        Self {
            shape: Shape::of(snapshot),
            families,
            values,
        }
    }

    /// Puts a snapshot's values in the places of the last one's, which had the same shape.
    fn renew(&mut self, snapshot: &Snapshot) {
        for live in &self.values {
            let Origin {
                device,
                slot,
                scale,
            } = live.origin;
            let device = snapshot.devices.get(device);
            let state = device.and_then(|device| device.states.get(slot));
            let Some(SlotState::Current { value, .. }) = state else {
                continue;
            };
            let Some(family) = self.families.get_mut(live.family) else {
                continue;
            };
            let kind = family.get_field_type();
            if let Some(metric) = family.mut_metric().get_mut(live.metric) {
                set_value(metric, kind, units::scaled(*value, scale));
            }
        }
    }
}

/// What decides which samples there are.
#[derive(Debug)]
struct Shape {
    devices: Vec<(Arc<DeviceFacts>, Arc<[Slot]>)>,
    presence: Vec<Presence>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Missing,
    Counting,
    Saturated,
}

impl Shape {
    fn of(snapshot: &Snapshot) -> Self {
        let devices = snapshot.devices.iter();
        Self {
            devices: devices
                .map(|device| (Arc::clone(&device.facts), Arc::clone(&device.slots)))
                .collect(),
            presence: presence(snapshot).collect(),
            skipped: snapshot.skipped.clone(),
        }
    }

    fn fits(&self, snapshot: &Snapshot) -> bool {
        let same = |(device, (facts, slots)): (&Arc<DeviceView>, &(_, _))| {
            Arc::ptr_eq(&device.facts, facts) && Arc::ptr_eq(&device.slots, slots)
        };
        self.devices.len() == snapshot.devices.len()
            && snapshot.devices.iter().zip(&self.devices).all(same)
            && self.presence.iter().copied().eq(presence(snapshot))
            && self.skipped == snapshot.skipped
    }
}

fn presence(snapshot: &Snapshot) -> impl Iterator<Item = Presence> {
    let states = snapshot.devices.iter().flat_map(|device| &device.states);
    states.map(|state| match state {
        SlotState::Current {
            saturated: false, ..
        } => Presence::Counting,
        SlotState::Current { .. } => Presence::Saturated,
        SlotState::Absent | SlotState::Fault(_) | SlotState::NotCurrent => Presence::Missing,
    })
}

fn prometheus_family(name: &str, family: Family<'_>) -> MetricFamily {
    let kind = match family.kind {
        Kind::Counter => MetricType::COUNTER,
        Kind::Gauge => MetricType::GAUGE,
    };
    let mut made = MetricFamily::default();
    made.set_name(name.to_owned());
    made.set_help(family.help.to_owned());
    made.set_field_type(kind);
    let samples = family.samples.into_iter();
    made.set_metric(samples.map(|sample| metric(kind, sample)).collect());
    made
}

fn metric(kind: MetricType, sample: Sample<'_>) -> Metric {
    let mut made = Metric::from_label(label_pairs(sample.labels));
    set_value(&mut made, kind, sample.value);
    made
}

fn set_value(metric: &mut Metric, kind: MetricType, value: f64) {
    if kind == MetricType::COUNTER {
        let mut counter = Counter::default();
        counter.set_value(value);
        metric.set_counter(counter);
    } else {
        let mut gauge = Gauge::default();
        gauge.set_value(value);
        metric.set_gauge(gauge);
    }
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
