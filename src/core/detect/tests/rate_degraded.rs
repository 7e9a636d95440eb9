use super::node::{FAST, Node};
use crate::core::model::finding::Severity;

#[test]
fn a_rail_slower_than_its_siblings_is_found_and_over_when_it_is_right() {
    let mut node = Node::healthy();
    node.pass(60);
    node.scene.links[6].rate = Some(FAST / 4 * 3);
    node.pass(4);
    assert!(!node.has("rate_degraded"));
    node.pass(3);
    assert_eq!(node.found()[0].0, "rate_degraded");
    assert_eq!(node.found()[0].2, Severity::Warning);
    node.up(6).pass(15);
    assert!(node.has("rate_degraded"));
    node.pass(10);
    assert!(!node.has("rate_degraded"));
}

#[test]
fn half_the_rate_is_critical() {
    let mut node = Node::healthy();
    node.scene.links[6].rate = Some(FAST / 2);
    node.pass(10);
    assert_eq!(node.found()[0].2, Severity::Critical);
}

#[test]
fn what_this_node_has_learnt_speaks_before_siblings() {
    let mut node = Node::healthy();
    for link in &mut node.scene.links {
        link.rate = Some(FAST / 2);
    }
    node.pass(700);
    assert!(node.told.is_empty(), "all are alike: {:?}", node.told);
    node.scene.links[0].rate = Some(FAST / 4);
    node.scene.links[1].model = None;
    node.scene.links[1].rate = Some(FAST / 4);
    node.pass(10);
    assert_eq!(node.found().len(), 2);
}

#[test]
fn a_rate_that_is_not_known_says_nothing() {
    let mut node = Node::healthy();
    node.pass(60);
    node.scene.links[6].rate = None;
    node.pass(1000);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_link_that_is_down_is_not_slow_too() {
    let mut node = Node::healthy();
    node.pass(60);
    node.scene.links[6].rate = Some(FAST / 4);
    node.pass(10).down(6).pass(30);
    let found = node.found();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "link_down");
    let also = node.first().evidence;
    assert!(also.iter().any(|one| one.what == "also rate_degraded"));
}
