use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::{Encoder, OwnFamilies, encode};
use crate::core::catalog::Source;
use crate::core::ids::{DeviceKey, DeviceName};
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::outcome::FaultReason;
use crate::core::model::snapshot::{
    DeviceView, HostFacts, Own, ProcessView, SlotState, Snapshot, SourceView,
};
use crate::core::model::time::BootTime;
use crate::core::render::sample::{
    PORT, current, device, netdev, plain_netdev, raw, saturated, slot, snapshot,
};
use crate::core::wire::Place;

const BYTES: &str = "railwatch_port_transmit_bytes_total";
const DOWNED: &str = "railwatch_port_link_downed_total";
const WIDTH: &str = "railwatch_pcie_link_width_lanes";
const NETDEV_BYTES: &str = "railwatch_netdev_transmit_bytes_total";

/// The sample lines about devices, without what stands there for every device.
fn samples(snapshot: &Snapshot) -> Vec<String> {
    let text = encode(snapshot, OwnFamilies::Hidden).unwrap();
    let usual = ["#", "railwatch_build_info", "railwatch_config_problems"];
    text.lines()
        .filter(|line| !usual.iter().any(|usual| line.starts_with(usual)))
        .filter(|line| !line.contains("_info{"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn values_are_in_base_units_under_the_labels_of_their_place() {
    let device = device(
        "mlx5_0",
        "eth0",
        vec![
            (slot(WIDTH, Place::Device), current(16)),
            (slot(BYTES, PORT), current(25)),
            (slot(NETDEV_BYTES, netdev("eth0")), current(7)),
            (raw("new \"counter\"\\\n"), current(3)),
        ],
    );
    assert_eq!(
        samples(&snapshot(vec![device])),
        [
            r#"railwatch_netdev_transmit_bytes_total{netdev="eth0"} 7"#,
            r#"railwatch_pcie_link_width_lanes{device="mlx5_0"} 16"#,
            r#"railwatch_port_transmit_bytes_total{device="mlx5_0",port="1"} 100"#,
            r#"railwatch_raw_reading{device="mlx5_0",port="1",group="hw_counters",name="new \"counter\"\\?"} 3"#,
        ]
    );
}

#[test]
fn what_is_not_current_has_no_sample() {
    let states = [
        SlotState::Absent,
        SlotState::NotCurrent,
        SlotState::Fault(FaultReason::Io),
    ];
    for state in states {
        let device = device("mlx5_0", "eth0", vec![(slot(BYTES, PORT), state)]);
        assert!(samples(&snapshot(vec![device])).is_empty(), "{state:?}");
    }
}

#[test]
fn a_saturated_counter_keeps_its_value_and_is_told() {
    let device = device("mlx5_0", "eth0", vec![(slot(DOWNED, PORT), saturated(255))]);
    assert_eq!(
        samples(&snapshot(vec![device])),
        [
            r#"railwatch_port_link_downed_total{device="mlx5_0",port="1"} 255"#,
            r#"railwatch_reading_saturated{metric="railwatch_port_link_downed_total",device="mlx5_0",port="1"} 1"#,
        ]
    );
}

#[test]
fn a_series_is_there_once_though_two_devices_claim_it() {
    let claim = |value| vec![(slot(NETDEV_BYTES, netdev("eth0")), current(value))];
    let devices = vec![
        device("mlx5_0", "eth0", claim(1)),
        plain_netdev("eth0", claim(2)),
    ];
    assert_eq!(
        samples(&snapshot(devices)),
        [r#"railwatch_netdev_transmit_bytes_total{netdev="eth0"} 1"#]
    );
}

#[test]
fn facts_are_labels_and_unknown_ones_are_empty() {
    let read = vec![
        (slot(BYTES, PORT), current(1)),
        (
            slot("railwatch_rdma_out_of_sequence_total", PORT),
            current(2),
        ),
    ];
    let device = device("mlx5_0", "eth0", read);
    let text = encode(&snapshot(vec![device]), OwnFamilies::Hidden).unwrap();
    assert!(!text.contains(r#"source_info{metric="railwatch_port_transmit_bytes_total""#));
    for line in [
        r#"railwatch_port_info{device="mlx5_0",port="1",netdev="eth0",driver="mlx5_core",pci="0000:c1:00.0",link_layer="Ethernet",firmware="28.39.1002",board="",guid="a088:c203:00ab:cdef"} 1"#,
        r#"railwatch_device_info{device="mlx5_0",driver="mlx5_core",pci="0000:c1:00.0",slot="5",numa_node=""} 1"#,
        r#"railwatch_counter_source_info{metric="railwatch_rdma_out_of_sequence_total",device="mlx5_0",port="1",name="#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

fn about_us() -> Snapshot {
    let mut snapshot = snapshot(Vec::new());
    snapshot.sources = vec![
        SourceView {
            source: Source::Infiniband,
            success: Some(false),
            ended: Some(BootTime(98_000_000_000)),
            duration: Duration::from_millis(250),
            interval: Duration::from_secs(1),
            stalled: true,
            overruns: 4,
            restarts: 3,
            abandoned: 2,
            faults: BTreeMap::from([(FaultReason::Io, 9)]),
            lanes: BTreeMap::new(),
        },
        SourceView {
            source: Source::Pci,
            success: None,
            ended: None,
            duration: Duration::ZERO,
            interval: Duration::ZERO,
            stalled: false,
            overruns: 0,
            restarts: 0,
            abandoned: 0,
            faults: BTreeMap::new(),
            lanes: BTreeMap::new(),
        },
    ];
    snapshot.own = Arc::new(Own {
        host: HostFacts {
            hostname: Some("gpu-17".to_owned()),
            ..HostFacts::default()
        },
        processes: vec![ProcessView {
            process: "daemon",
            pss_bytes: Some(7_000_000),
            cpu_seconds: Some(0.25),
            open_fds: None,
            start_seconds: None,
        }],
        config_problems: 2,
    });
    snapshot
}

#[test]
fn sources_and_processes_tell_only_what_they_know() {
    let text = encode(&about_us(), OwnFamilies::Shown).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.contains("build_info"))
        .collect();
    assert_eq!(
        lines,
        [
            "railwatch_config_problems 2",
            r#"railwatch_host_info{hostname="gpu-17",kernel="",os=""} 1"#,
            "railwatch_polls_total 0",
            r#"railwatch_process_cpu_seconds_total{process="daemon"} 0.25"#,
            r#"railwatch_process_pss_bytes{process="daemon"} 7000000"#,
            r#"railwatch_read_faults_total{source="infiniband",reason="io"} 9"#,
            r#"railwatch_source_abandoned_total{source="infiniband"} 2"#,
            r#"railwatch_source_abandoned_total{source="pci"} 0"#,
            r#"railwatch_source_age_seconds{source="infiniband"} 2"#,
            r#"railwatch_source_duration_seconds{source="infiniband"} 0.25"#,
            r#"railwatch_source_interval_seconds{source="infiniband"} 1"#,
            r#"railwatch_source_overruns_total{source="infiniband"} 4"#,
            r#"railwatch_source_overruns_total{source="pci"} 0"#,
            r#"railwatch_source_restarts_total{source="infiniband"} 3"#,
            r#"railwatch_source_restarts_total{source="pci"} 0"#,
            r#"railwatch_source_stalled{source="infiniband"} 1"#,
            r#"railwatch_source_stalled{source="pci"} 0"#,
            r#"railwatch_source_success{source="infiniband"} 0"#,
        ]
    );
}

#[test]
fn without_our_own_families_only_build_and_configuration_are_left() {
    let text = encode(&about_us(), OwnFamilies::Hidden).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    assert_eq!(names, ["railwatch_build_info", "railwatch_config_problems"]);
}

#[test]
fn every_family_has_its_help_and_type_once() {
    let device = device(
        "mlx5_0",
        "eth0",
        vec![(slot(BYTES, PORT), current(1)), (raw("x"), current(1))],
    );
    let mut snapshot = about_us();
    snapshot.devices = vec![Arc::new(device)];
    let text = encode(&snapshot, OwnFamilies::Shown).unwrap();
    let mut types: Vec<&str> = text.lines().filter(|l| l.starts_with("# TYPE")).collect();
    let count = types.len();
    assert!(types.is_sorted());
    types.dedup();
    assert_eq!(types.len(), count);
    let helps = text.lines().filter(|line| line.starts_with("# HELP"));
    assert_eq!(helps.count(), count);
}

/// A node whose samples come and go, and whose devices change, at every other step.
fn step(number: u64, views: &[DeviceView]) -> Snapshot {
    let mut made = snapshot(Vec::new());
    let phase = number / 2;
    let seen = views.iter().filter(|_| phase != 5);
    made.devices = seen
        .map(|view| {
            let states = (0..).zip(&view.states).map(|(position, _)| {
                match (phase.wrapping_mul(7) + position) % 9 {
                    0 if phase > 1 => SlotState::NotCurrent,
                    1 if phase > 2 => saturated(number),
                    // Nothing else is new in this step.
                    _ if number == 9 && position == 2 => saturated(number),
                    _ => current(number.wrapping_mul(1000) + position),
                }
            });
            Arc::new(DeviceView {
                facts: Arc::clone(&view.facts),
                slots: Arc::clone(&view.slots),
                states: states.collect(),
                restarted: None,
                concepts: Arc::default(),
            })
        })
        .collect();
    if number == 7 {
        made.skipped = vec![Skipped {
            key: DeviceKey::new("sys/devices/x"),
            device: DeviceName::new("mlx5_9"),
            reason: SkipReason::Moved,
        }];
    }
    made
}

#[test]
fn an_encoder_that_remembers_gives_the_bytes_of_one_that_does_not() {
    let read = || {
        vec![
            (slot(BYTES, PORT), current(0)),
            (slot(DOWNED, PORT), current(0)),
            (slot(WIDTH, Place::Device), current(0)),
            (raw("x"), current(0)),
        ]
    };
    // `b` before `a`: the order of devices is not the order of samples.
    let views = [device("b", "eth1", read()), device("a", "eth0", read())];
    let mut remembering = Encoder::new(OwnFamilies::Shown);
    for number in 0..18 {
        let snapshot = step(number, &views);
        let fresh = encode(&snapshot, OwnFamilies::Shown).unwrap();
        assert_eq!(
            remembering.encode(&snapshot).unwrap(),
            fresh,
            "step {number}"
        );
    }
}
