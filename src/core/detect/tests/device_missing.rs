use super::node::Node;
use crate::core::ids::{DeviceKey, DeviceName};
use crate::core::model::expectation::Expectation;
use crate::core::model::facts::{SkipReason, Skipped};
use crate::core::model::finding::Severity;

/// What a healthy node has learnt.
fn learnt() -> Expectation {
    let mut node = Node::healthy();
    node.pass(610);
    node.engine.learnt().clone()
}

fn without(rail: usize, second: u64) -> Node {
    let mut node = Node::knowing(learnt(), second);
    node.scene.links.remove(rail);
    node.scene.functions.remove(rail);
    node
}

#[test]
fn a_device_that_goes_is_found() {
    let mut node = Node::knowing(learnt(), 10_000);
    node.pass(60);
    node.scene.links.remove(3);
    node.scene.functions.remove(3);
    node.pass(10);
    assert_eq!(
        node.found(),
        [(
            "device_missing".to_owned(),
            "mlx5_3".to_owned(),
            Severity::Critical
        )]
    );
}

#[test]
fn a_device_missing_since_boot_is_found_after_the_grace_of_booting() {
    let mut node = without(3, 10);
    node.pass(289);
    assert!(node.told.is_empty(), "{:?}", node.told);
    node.pass(12);
    assert!(node.has("device_missing"));
}

#[test]
fn a_node_that_knows_nothing_misses_nothing() {
    let mut node = Node::knowing(Expectation::default(), 10_000);
    node.scene.links.remove(3);
    node.scene.functions.remove(3);
    node.pass(900);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_device_elsewhere_is_not_missing_and_one_without_driver_is() {
    for (reason, missing) in [
        (SkipReason::Moved, false),
        (SkipReason::Passthrough, false),
        (SkipReason::Restricted, false),
        (SkipReason::Stalled, false),
        (SkipReason::NoDriver, true),
    ] {
        let mut node = without(3, 10_000);
        node.scene.skipped.push(Skipped {
            key: DeviceKey::new("sys/devices/pci0000:00/0000:00:01.0/0000:13:00.0"),
            device: DeviceName::new("0000:13:00.0"),
            reason,
        });
        node.pass(60);
        assert_eq!(node.has("device_missing"), missing, "{reason:?}");
    }
}

#[test]
fn a_device_whose_rdma_side_went_is_missing() {
    let mut node = Node::knowing(learnt(), 10_000);
    node.scene.functions[3].is_rdma = false;
    node.pass(10);
    assert!(node.first().meaning.contains("no RDMA device"));
}

#[test]
fn a_card_that_was_replaced_or_renamed_or_moved_is_not_missing() {
    let mut node = Node::knowing(learnt(), 10_000);
    // Another card in the same place, and one card in another place.
    node.scene.functions[3].hardware.guid = Some("aaaa:bbbb:cccc:dddd".to_owned());
    node.scene.functions[4].hardware.pci = "0000:99:00.0".parse().ok();
    node.scene.functions[5].name = DeviceName::new("rail5");
    node.pass(900);
    assert!(!node.has("device_missing"), "{:?}", node.told);
}

#[test]
fn what_was_taken_out_on_purpose_is_accepted() {
    let mut node = without(3, 10_000);
    node.pass(60);
    assert!(node.has("device_missing"));
    node.engine.accept();
    node.pass(1000);
    assert!(!node.has("device_missing"));
}

#[test]
fn a_dead_link_of_a_missing_device_is_one_trouble() {
    let mut node = Node::knowing(learnt(), 10_000);
    node.pass(60).down(3).pass(20);
    node.scene.functions.remove(3);
    node.pass(20);
    let found = node.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "device_missing");
}
