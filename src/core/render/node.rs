//! The document `railwatch-node/1`: everything read of a node, for the API and for `--output json`.
//!
//! Base units, exact integers; what is not known is not there.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::entry::{self, Entry};
use crate::core::ids::{NetdevName, PciAddress, PortNumber};
use crate::core::model::facts::{FactFault, Function, Skipped};
use crate::core::model::outcome::FaultReason;
use crate::core::model::snapshot::{SlotState, Snapshot, SourceView};
use crate::core::model::time::BootTime;

/// The document's name and version.
pub const SCHEMA: &str = "railwatch-node/1";

/// The document could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the document {SCHEMA}: {0}")]
pub struct NodeError(#[from] serde_json::Error);

/// The document of a snapshot: JSON and a line feed.
///
/// # Errors
///
/// Never for a snapshot of this crate; the JSON writer's error type has to go somewhere.
pub fn document(snapshot: &Snapshot) -> Result<Vec<u8>, NodeError> {
    let entries: Vec<Vec<Entry<'_>>> = snapshot
        .devices
        .iter()
        .map(|device| entry::entries(device))
        .collect();
    let node = Node {
        schema: SCHEMA,
        at: rfc3339(snapshot.wall_seconds),
        t: snapshot.wall_seconds,
        host: host(snapshot),
        ports: entries
            .iter()
            .flatten()
            .map(|entry| port(entry, snapshot.at))
            .collect(),
        gpus: [],
        sources: sources(snapshot),
    };
    let mut bytes = serde_json::to_vec(&node)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Wall time as RFC 3339 in UTC with milliseconds; `None` outside the calendar.
pub(super) fn rfc3339(wall_seconds: f64) -> Option<String> {
    let since = SignedDuration::try_from_secs_f64(wall_seconds).ok()?;
    let time = Timestamp::from_duration(since).ok()?;
    Some(format!("{time:.3}"))
}

#[derive(Debug, Serialize)]
struct Node<'a> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    t: f64,
    host: Host<'a>,
    ports: Vec<Port<'a>>,
    gpus: [(); 0],
    sources: Vec<SourceState<'a>>,
}

#[derive(Debug, Serialize)]
struct Host<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hostname: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime_seconds: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Port<'a> {
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<PortNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    netdev: Option<&'a NetdevName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pci: Option<PciAddress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numa_node: Option<u32>,
    function: FunctionEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_layer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    firmware: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guid: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    members: &'a [NetdevName],
    readings: BTreeMap<String, Value>,
    faults: Vec<Fault<'a>>,
}

/// What kind of function a device is; the wire's own form of it is not self-describing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum FunctionEntry {
    Physical,
    Virtual {
        #[serde(skip_serializing_if = "Option::is_none")]
        physfn: Option<PciAddress>,
    },
    Sub {
        #[serde(skip_serializing_if = "Option::is_none")]
        sfnum: Option<u32>,
    },
    Software,
}

impl FunctionEntry {
    fn of(function: &Function) -> Self {
        match *function {
            Function::Physical => Self::Physical,
            Function::Virtual { physfn } => Self::Virtual { physfn },
            Function::Sub { sfnum } => Self::Sub { sfnum },
            Function::Software => Self::Software,
        }
    }
}

#[derive(Debug, Serialize)]
struct Value {
    value: u64,
    age_seconds: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    saturated: bool,
}

#[derive(Debug, Serialize)]
struct Fault<'a> {
    what: std::borrow::Cow<'a, str>,
    reason: FaultReason,
}

#[derive(Debug, Serialize)]
struct SourceState<'a> {
    name: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_seconds: Option<f64>,
    faults: BTreeMap<&'static str, u64>,
    skipped: Vec<SkippedDevice<'a>>,
}

#[derive(Debug, Serialize)]
struct SkippedDevice<'a> {
    device: &'a str,
    reason: &'static str,
}

fn host(snapshot: &Snapshot) -> Host<'_> {
    let facts = &snapshot.own.host;
    Host {
        hostname: facts.hostname.as_deref(),
        kernel: facts.kernel.as_deref(),
        os: facts.os.as_deref(),
        cpus: facts.cpus,
        memory_bytes: facts.memory_bytes,
        boot_id: facts.boot_id.as_deref(),
        // A captured node has none of its own.
        uptime_seconds: facts
            .boot_id
            .is_some()
            .then(|| snapshot.at.since(BootTime(0)).as_secs_f64()),
    }
}

fn port<'a>(entry: &Entry<'a>, at: BootTime) -> Port<'a> {
    let facts = entry.facts;
    let pci = facts.pci.as_ref();
    let rdma = facts.rdma.as_ref();
    Port {
        device: facts.name.as_str(),
        port: entry.port.map(|port| port.number),
        netdev: entry.netdev,
        driver: facts.driver.as_deref(),
        pci: pci.map(|pci| pci.address),
        slot: pci.and_then(|pci| pci.slot.as_deref()),
        numa_node: pci.and_then(|pci| pci.numa_node),
        function: FunctionEntry::of(&facts.function),
        link_layer: entry.port.and_then(|port| port.link_layer.as_deref()),
        firmware: rdma.and_then(|rdma| rdma.firmware.as_deref()),
        board: rdma.and_then(|rdma| rdma.board_id.as_deref()),
        guid: rdma.and_then(|rdma| rdma.node_guid.as_deref()),
        members: entry
            .port
            .map_or_else(|| members(entry), |port| port.members.as_slice()),
        readings: readings(entry, at),
        faults: faults(entry),
    }
}

fn members<'a>(entry: &Entry<'a>) -> &'a [NetdevName] {
    let mut netdevs = entry.facts.netdevs.iter();
    netdevs
        .find(|netdev| Some(&netdev.name) == entry.netdev)
        .map_or(&[], |netdev| netdev.members.as_slice())
}

fn readings(entry: &Entry<'_>, at: BootTime) -> BTreeMap<String, Value> {
    let value = |(slot, state): &(&_, SlotState)| {
        let SlotState::Current {
            saturated,
            at: read,
            ..
        } = *state
        else {
            return None;
        };
        let value = Value {
            value: entry::scaled(slot, *state)?,
            age_seconds: at.since(read).as_secs_f64(),
            saturated,
        };
        Some((entry::key(slot)?, value))
    };
    entry.slots.iter().filter_map(value).collect()
}

fn faults<'a>(entry: &Entry<'a>) -> Vec<Fault<'a>> {
    let slots = entry.slots.iter().filter_map(|(slot, state)| {
        let SlotState::Fault(reason) = *state else {
            return None;
        };
        let what = entry::key(slot)?.into();
        Some(Fault { what, reason })
    });
    let facts = entry
        .facts
        .faults
        .iter()
        .map(|FactFault { what, reason }| Fault {
            what: what.as_str().into(),
            reason: *reason,
        });
    slots.chain(facts).collect()
}

fn sources(snapshot: &Snapshot) -> Vec<SourceState<'_>> {
    let source = |view| source(view, snapshot);
    snapshot.sources.iter().map(source).collect()
}

fn source<'a>(view: &SourceView, snapshot: &'a Snapshot) -> SourceState<'a> {
    let seconds = |span: Duration| (!span.is_zero()).then_some(span.as_secs_f64());
    SourceState {
        name: view.source.as_str(),
        state: state(view),
        age_seconds: view
            .ended
            .map(|ended| snapshot.at.since(ended).as_secs_f64()),
        interval_seconds: seconds(view.interval),
        faults: view
            .faults
            .iter()
            .map(|(reason, count)| (reason.as_str(), *count))
            .collect(),
        skipped: snapshot.skipped.iter().map(skipped).collect(),
    }
}

fn skipped(skipped: &Skipped) -> SkippedDevice<'_> {
    SkippedDevice {
        device: skipped.device.as_str(),
        reason: skipped.reason.as_str(),
    }
}

/// A source's state in one word.
fn state(view: &SourceView) -> &'static str {
    match view.success {
        _ if view.stalled => "stalled",
        Some(true) => "ok",
        Some(false) => "failed",
        // It has ended a pass and still says nothing: there was nothing to read.
        None if view.ended.is_some() => "empty",
        None => "waiting",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{document, rfc3339};
    use crate::core::model::outcome::FaultReason;
    use crate::core::model::snapshot::{SlotState, Snapshot};
    use crate::core::render::sample::{
        PORT, current, device, netdev, plain_netdev, raw, saturated, slot, snapshot,
    };
    use crate::core::wire::Place;

    fn parsed(snapshot: &Snapshot) -> Value {
        let bytes = document(snapshot).unwrap();
        assert!(bytes.ends_with(b"}\n"));
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_port_has_its_own_its_netdevs_and_its_devices_readings() {
        let bytes = "railwatch_port_transmit_bytes_total";
        let read = vec![
            (slot(bytes, PORT), current(u64::MAX / 4)),
            (
                slot("railwatch_port_link_downed_total", PORT),
                saturated(255),
            ),
            (
                slot("railwatch_pcie_link_width_lanes", Place::Device),
                current(16),
            ),
            (slot("railwatch_netdev_carrier", netdev("eth0")), current(1)),
            (raw("brand_new"), current(5)),
            (
                slot("railwatch_port_rate_bytes_per_second", PORT),
                SlotState::Absent,
            ),
            (
                slot("railwatch_port_symbol_errors_total", PORT),
                SlotState::Fault(FaultReason::Permission),
            ),
        ];
        let node = parsed(&snapshot(vec![device("mlx5_0", "eth0", read)]));
        let [port] = node["ports"].as_array().unwrap().as_slice() else {
            panic!("one entry: {node}");
        };
        let value = |value: u64| json!({"value": value, "age_seconds": 0.5});
        assert_eq!(
            port["readings"],
            json!({
                "port_transmit_bytes": value(u64::MAX / 4 * 4),
                "port_link_downed": {"value": 255, "age_seconds": 0.5, "saturated": true},
                "pcie_link_width_lanes": value(16),
                "netdev_carrier": value(1),
                "raw_reading/hw_counters/brand_new": value(5),
            })
        );
        assert_eq!(
            port["faults"],
            json!([{"what": "port_symbol_errors", "reason": "permission"}])
        );
        assert_eq!(port["function"], json!({"kind": "physical"}));
        assert_eq!(port["members"], json!(["eth0"]));
        assert_eq!(port.get("numa_node"), None);
    }

    #[test]
    fn a_plain_netdev_is_an_entry_without_a_port() {
        let read = vec![(slot("railwatch_netdev_carrier", netdev("eno1")), current(1))];
        let node = parsed(&snapshot(vec![plain_netdev("eno1", read)]));
        let entry = &node["ports"][0];
        assert_eq!(
            (&entry["device"], &entry["netdev"]),
            (&json!("eno1"), &json!("eno1"))
        );
        assert_eq!(entry.get("port"), None);
        assert_eq!(entry["readings"]["netdev_carrier"]["value"], 1);
    }

    #[test]
    fn times_are_utc_with_milliseconds() {
        assert_eq!(rfc3339(0.0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(
            rfc3339(1_772_366_400.25).as_deref(),
            Some("2026-03-01T12:00:00.250Z")
        );
        assert_eq!(rfc3339(f64::NAN), None);
        assert_eq!(rfc3339(1e300), None);
    }
}
