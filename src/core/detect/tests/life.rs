//! What findings live through: restarts, renames, silence.

use super::node::Node;
use crate::core::detect::engine::{Engine, Happened};
use crate::core::ids::DeviceName;
use crate::core::model::expectation::Expectation;
use crate::core::model::subject::Subject;
use crate::core::model::time::BootTime;

#[test]
fn an_open_finding_survives_a_restart_and_is_not_raised_twice() {
    let mut node = Node::healthy();
    node.pass(60).down(3).pass(20);
    let open = node.engine.findings().active.clone();
    let wall = 1_700_000_000.0 + 10_080.0;
    node.engine = Engine::new(Expectation::default(), Expectation::default());
    let now = BootTime(node.second * 1_000_000_000);
    node.engine
        .restore((open.clone(), Vec::new()), 41, (now, wall));
    node.told.clear();
    node.pass(30);
    assert!(node.told.is_empty(), "{:?}", node.told);
    assert_eq!(node.first().id, open[0].id);
    assert!((node.first().since - open[0].since).abs() < 1.0);
    node.down(4);
    node.scene.links[4].up = Some(true);
    node.pass(3).up(3).pass(150);
    assert_eq!(node.told.len(), 1, "{:?}", node.told);
    // The next one does not take a number that was given.
    node.down(3).pass(20);
    assert!(node.first().id > 41);
}

#[test]
fn a_finding_follows_its_hardware_to_another_name() {
    let mut node = Node::healthy();
    node.pass(60).down(3).pass(20);
    let link = &mut node.scene.links[3];
    link.subject = Subject::Device(DeviceName::new("rail3"));
    node.told.clear();
    node.pass(20);
    assert!(node.told.is_empty(), "{:?}", node.told);
    assert_eq!(node.first().subject, "rail3");
}

#[test]
fn a_suspended_host_raises_nothing_when_it_wakes() {
    let mut node = Node::healthy();
    node.pass(60).sleep(8 * 3600);
    node.down(3).pass(5).up(3).pass(60);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_subject_that_goes_out_of_sight_closes_after_fifteen_minutes() {
    let mut node = Node::healthy();
    node.pass(60).down(3).pass(20);
    node.scene.links.remove(3);
    node.scene.functions.remove(3);
    node.pass(800);
    assert!(node.has("link_down"));
    node.pass(200);
    assert!(!node.has("link_down"));
    assert!(matches!(
        node.told.last().unwrap().3,
        Happened::Over(crate::core::detect::latch::Why::LostSight)
    ));
}

#[test]
fn nothing_is_found_on_a_healthy_node_for_a_day() {
    let mut node = Node::healthy();
    node.pass(24 * 3600);
    assert!(node.told.is_empty(), "{:?}", node.told);
}
