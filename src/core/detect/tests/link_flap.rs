use super::node::Node;
use crate::core::model::change::{Began, Run};
use crate::core::model::finding::Severity;
use crate::core::model::time::BootTime;

#[test]
fn two_downs_in_ten_minutes_warn_and_one_does_not() {
    let mut node = Node::healthy();
    node.pass(60).flap(4).pass(599);
    assert!(!node.has("link_flap"));
    node.flap(4).pass(700);
    assert!(!node.has("link_flap"), "the first was too long ago");
    node.flap(4).pass(100).flap(4);
    let (code, subject, severity) = node.found()[0].clone();
    assert_eq!((code.as_str(), subject.as_str()), ("link_flap", "mlx5_4"));
    // The third within the hour, with the two before.
    assert_eq!(severity, Severity::Critical);
}

#[test]
fn two_downs_are_a_warning_and_over_ten_minutes_after_the_last() {
    let mut node = Node::healthy();
    node.pass(60).flap(4).pass(10).flap(4);
    assert_eq!(node.found()[0].2, Severity::Warning);
    node.pass(590);
    assert!(node.has("link_flap"));
    node.pass(60);
    assert!(!node.has("link_flap"));
}

#[test]
fn three_downs_in_an_hour_are_critical_and_stay_six_hours() {
    let mut node = Node::healthy();
    node.pass(60).flap(4).pass(1200).flap(4).pass(1200).flap(4);
    assert_eq!(node.found()[0].2, Severity::Critical);
    node.pass(5 * 3600);
    assert!(node.has("link_flap"));
    node.pass(3700);
    assert!(!node.has("link_flap"));
}

#[test]
fn five_downs_in_a_day_are_critical() {
    let mut node = Node::healthy();
    node.pass(60);
    for _ in 0..4 {
        node.flap(4).pass(4 * 3600);
        assert!(!node.has("link_flap"));
    }
    node.flap(4);
    assert_eq!(node.found()[0].2, Severity::Critical);
}

#[test]
fn downs_between_two_readings_are_counted_and_seen_ones_only_once() {
    let mut node = Node::healthy();
    node.pass(60).down(4).pass(3).up(4).pass(30);
    assert!(!node.has("link_flap"), "one down is one");
    node.flap(4);
    assert!(node.has("link_flap"));
}

#[test]
fn where_nobody_counts_what_was_seen_counts() {
    let mut node = Node::healthy();
    node.scene.links[4].downs = None;
    node.pass(60).down(4).pass(3).up(4).pass(30);
    assert!(!node.has("link_flap"));
    node.down(4).pass(3).up(4).pass(3);
    assert!(node.has("link_flap"));
}

#[test]
fn a_counter_that_starts_again_is_no_flap() {
    let mut node = Node::healthy();
    node.pass(60);
    let point = node.scene.links[4].downs.as_mut().unwrap();
    point.value += 100;
    point.run = Run {
        since: BootTime(10_060_500_000_000),
        began: Began::Reset,
    };
    node.pass(600);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_saturated_counter_is_made_up_for_by_what_is_seen() {
    let mut node = Node::healthy();
    node.scene.links[4].downs.as_mut().unwrap().saturated = true;
    node.pass(60);
    for _ in 0..2 {
        node.scene.links[4].up = Some(false);
        node.pass(3).up(4).pass(20);
    }
    assert!(node.has("link_flap"));
}

#[test]
fn downs_while_the_host_boots_or_an_administrator_works_are_nothing() {
    let mut node = Node::knowing(Default::default(), 20);
    node.pass(5).flap(4).flap(4).flap(4).pass(600);
    assert!(node.told.is_empty(), "{:?}", node.told);
    for _ in 0..4 {
        node.down(4).scene.links[4].wanted = Some(false);
        node.pass(10);
        node.scene.links[4].wanted = Some(true);
        node.pass(5).up(4).pass(60);
    }
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_restarting_device_does_not_flap() {
    let mut node = Node::healthy();
    node.pass(60);
    for _ in 0..3 {
        node.scene.links[4].restarted = Some(BootTime(node.second * 1_000_000_000));
        node.flap(4).pass(60);
    }
    assert!(node.told.is_empty(), "{:?}", node.told);
}
