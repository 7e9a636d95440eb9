//! Families and samples before they are encoded: ordered, without duplicates, never empty.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::core::catalog::Kind;
use crate::core::ids::PortNumber;

/// Longer label values are cut: a series name must stay small whatever a host calls its devices.
const LABEL_LIMIT: usize = 256;

/// Families by name.
#[derive(Debug, Default)]
pub(super) struct Sheet<'a> {
    families: BTreeMap<&'static str, Family<'a>>,
}

/// One family and its samples.
#[derive(Debug)]
pub(super) struct Family<'a> {
    pub(super) help: &'static str,
    pub(super) kind: Kind,
    pub(super) samples: Vec<Sample<'a>>,
}

/// One sample.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    pub(super) labels: Labels<'a>,
    pub(super) value: f64,
    /// Where the value comes from, if it is a slot's.
    pub(super) origin: Option<Origin>,
}

/// A slot of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// Position of the device.
    pub(super) device: usize,
    /// Position of the slot in the device.
    pub(super) slot: usize,
    /// Factor to the family's unit.
    pub(super) scale: u32,
}

/// What tells the samples of a family apart. The order is the order of the exposition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Labels<'a> {
    /// `device`, and `port` where the value is a port's.
    Device {
        device: Cow<'a, str>,
        port: Option<PortNumber>,
    },
    /// `netdev`.
    Netdev(Cow<'a, str>),
    /// As listed.
    Listed(Vec<(&'static str, Cow<'a, str>)>),
}

impl<'a> Sheet<'a> {
    /// The samples of a family, which is made if it is not there; `None` if there is one of this
    /// name and another kind.
    pub(super) fn family(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: Kind,
    ) -> Option<&mut Vec<Sample<'a>>> {
        let family = self.families.entry(name).or_insert_with(|| Family {
            help,
            kind,
            samples: Vec::new(),
        });
        (family.kind == kind).then_some(&mut family.samples)
    }

    /// The families that have samples, by name; samples by label, the first of equal ones.
    pub(super) fn finish(self) -> impl Iterator<Item = (&'static str, Family<'a>)> {
        self.families.into_iter().filter_map(|(name, mut family)| {
            family.samples.sort_by(|a, b| a.labels.cmp(&b.labels));
            family.samples.dedup_by(|b, a| a.labels == b.labels);
            (!family.samples.is_empty()).then_some((name, family))
        })
    }
}

/// Host text as a label value: cut to [`LABEL_LIMIT`] characters, control characters replaced.
pub(super) fn label(text: &str) -> Cow<'_, str> {
    let end = text
        .char_indices()
        .nth(LABEL_LIMIT)
        .map_or(text.len(), |(end, _)| end);
    let text = text.get(..end).unwrap_or_default();
    if text.contains(char::is_control) {
        Cow::Owned(text.replace(char::is_control, "?"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Labels, Sample, Sheet, label};
    use crate::core::catalog::Kind;

    fn sample(netdev: &str, value: f64) -> Sample<'_> {
        Sample {
            labels: Labels::Netdev(netdev.into()),
            value,
            origin: None,
        }
    }

    #[test]
    fn samples_are_ordered_and_the_first_of_equal_ones_stays() {
        let mut sheet = Sheet::default();
        let samples = sheet.family("a", "h", Kind::Gauge).unwrap();
        samples.extend([sample("b", 1.0), sample("a", 2.0), sample("b", 3.0)]);
        let values: Vec<f64> = sheet
            .finish()
            .flat_map(|(_, family)| family.samples)
            .map(|sample| sample.value)
            .collect();
        assert_eq!(values, [2.0, 1.0]);
    }

    #[test]
    fn a_family_has_one_kind_and_an_empty_one_is_not_there() {
        let mut sheet = Sheet::default();
        assert!(sheet.family("a", "h", Kind::Gauge).is_some());
        assert!(sheet.family("a", "h", Kind::Counter).is_none());
        assert_eq!(sheet.finish().count(), 0);
    }

    #[test]
    fn a_label_is_short_and_printable() {
        assert_eq!(label("a\u{1b}[31m\n"), "a?[31m?");
        assert_eq!(label(&"ä".repeat(300)), "ä".repeat(256));
        assert_eq!(label("mlx5_0"), "mlx5_0");
    }
}
