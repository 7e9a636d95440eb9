use super::node::{FAST, Node, hop};
use crate::core::model::finding::Severity;

const GEN3: u64 = 8_000_000_000;

fn work(node: &mut Node, rail: usize, seconds: u64) {
    for _ in 0..seconds {
        node.scene.functions[rail].traffic[0].value += FAST / 2;
        node.pass(1);
    }
}

#[test]
fn lost_lanes_are_found_whether_or_not_the_card_works() {
    let mut node = Node::healthy();
    node.pass(60);
    node.scene.functions[2].path[1].width = Some(12);
    node.pass(4);
    assert!(!node.has("pcie_degraded"));
    node.pass(3);
    assert_eq!(
        node.found(),
        [(
            "pcie_degraded".to_owned(),
            "mlx5_2".to_owned(),
            Severity::Warning
        )]
    );
    node.scene.functions[2].path[1].width = Some(16);
    node.pass(30);
    assert!(!node.has("pcie_degraded"));
}

#[test]
fn half_the_lanes_are_critical() {
    let mut node = Node::healthy();
    node.scene.functions[2].path[1].width = Some(8);
    node.pass(10);
    let finding = node.first();
    assert_eq!(finding.severity, Severity::Critical);
    assert!(finding.meaning.contains("8 lanes and should have 16 lanes"));
}

#[test]
fn the_weakest_link_of_the_path_is_named_wherever_it_is() {
    let mut node = Node::healthy();
    let path = &mut node.scene.functions[2].path;
    // Root port, switch up, switch down, card.
    path.insert(1, hop("0000:01:00.0", 4));
    path.insert(2, hop("0000:02:04.0", 16));
    node.pass(10);
    assert!(node.first().meaning.contains("at 0000:01:00.0 has 4 lanes"));
}

#[test]
fn a_lower_generation_counts_only_while_the_card_works() {
    let mut node = Node::healthy();
    node.scene.functions[2].path[1].speed = Some(GEN3);
    node.pass(600);
    assert!(!node.has("pcie_degraded"), "an idle link saves power");
    work(&mut node, 2, 4);
    assert!(!node.has("pcie_degraded"));
    work(&mut node, 2, 6);
    assert!(node.has("pcie_degraded"));
}

#[test]
fn a_card_in_a_slot_of_an_older_generation_is_as_designed() {
    let mut node = Node::healthy();
    let path = &mut node.scene.functions[2].path;
    path[0].max_speed = Some(GEN3 * 2);
    for hop in path {
        hop.speed = Some(GEN3 * 2);
    }
    work(&mut node, 2, 30);
    let finding = node.first();
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.meaning.contains("built so"), "{}", finding.meaning);
}

#[test]
fn a_slot_with_fewer_lanes_is_as_designed() {
    let mut node = Node::healthy();
    for function in &mut node.scene.functions {
        function.path[0].max_width = Some(8);
        function.path[1].width = Some(8);
        function.rate = Some(FAST / 4);
    }
    node.pass(60);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn one_card_in_a_narrower_slot_than_its_siblings_is_found() {
    let mut node = Node::healthy();
    let path = &mut node.scene.functions[2].path;
    path[0].max_width = Some(8);
    path[1].width = Some(8);
    node.pass(10);
    assert_eq!(node.first().severity, Severity::Critical);
}

#[test]
fn a_card_that_sleeps_says_nothing() {
    let mut node = Node::healthy();
    node.pass(60);
    for hop in &mut node.scene.functions[2].path {
        (hop.speed, hop.width) = (None, None);
    }
    node.pass(600);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn in_a_virtual_machine_what_was_learnt_speaks() {
    let mut node = Node::healthy();
    for function in &mut node.scene.functions {
        function.path.remove(0);
    }
    node.pass(700);
    assert!(node.told.is_empty(), "{:?}", node.told);
    node.scene.functions[2].path[0].width = Some(8);
    node.pass(10);
    assert!(node.has("pcie_degraded"));
}
