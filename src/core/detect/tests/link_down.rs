use super::node::{FAST, Node};
use crate::core::detect::engine::Happened;
use crate::core::detect::latch::Why;
use crate::core::detect::scene::Technology;
use crate::core::model::finding::Severity;

#[test]
fn a_link_that_stays_down_is_found_after_eight_seconds_and_over_after_a_minute_up() {
    let mut node = Node::healthy();
    node.pass(60).down(3).pass(30);
    let (code, subject) = ("link_down".to_owned(), "mlx5_3".to_owned());
    assert_eq!(
        node.told,
        [(10_069, code.clone(), subject.clone(), Happened::Raised)]
    );
    assert_eq!(
        node.found(),
        [(code.clone(), subject.clone(), Severity::Critical)]
    );
    node.up(3).pass(120);
    let over = Happened::Over(Why::Cleared);
    assert_eq!(node.told[1], (10_150, code, subject, over));
    assert!(node.found().is_empty());
}

#[test]
fn a_link_that_trains_again_within_seconds_is_not_down() {
    let mut node = Node::healthy();
    node.pass(60).down(3).pass(7).up(3).pass(60);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn what_an_administrator_switched_off_is_not_down() {
    let mut node = Node::healthy();
    node.pass(60).down(3);
    node.scene.links[3].wanted = Some(false);
    node.scene.links[3].up = None;
    node.pass(600);
    assert!(node.told.is_empty(), "{:?}", node.told);
    // Switched on again it has its time to train.
    node.scene.links[3].wanted = Some(true);
    node.scene.links[3].up = Some(false);
    node.pass(29).up(3).pass(60);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_port_that_nobody_ever_cabled_is_silent() {
    let mut node = Node::healthy();
    // Another model than the others, never up since.
    node.scene.links[7].model = Some("other".to_owned());
    node.down(7).pass(3600);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn second_ports_that_nobody_cabled_say_nothing() {
    let mut node = Node::healthy();
    for rail in 4..8 {
        node.scene.links[rail].identity.pci = format!("0000:1{rail}:00.1").parse().ok();
        node.down(rail);
    }
    node.pass(3600);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_rail_dead_since_boot_is_found_by_its_siblings_after_the_grace_of_booting() {
    let mut node = Node::knowing(Default::default(), 20);
    node.down(5).pass(275);
    assert!(node.told.is_empty(), "{:?}", node.told);
    node.pass(20);
    assert_eq!(node.told.len(), 1);
    let (second, code, subject, _) = &node.told[0];
    assert_eq!((code.as_str(), subject.as_str()), ("link_down", "mlx5_5"));
    assert!((300..=310).contains(second), "{second}");
    let evidence = node.first().evidence;
    let speaker = evidence.iter().find(|one| one.what.contains("by")).unwrap();
    assert_eq!(
        serde_json::to_value(&speaker.value).unwrap(),
        "its siblings of the same model"
    );
}

#[test]
fn readings_that_fail_neither_raise_nor_end_it() {
    let mut node = Node::healthy();
    node.pass(60);
    node.scene.links[3].up = None;
    node.scene.links[3].wanted = None;
    node.pass(600);
    assert!(node.told.is_empty(), "{:?}", node.told);
    node.up(3).scene.links[3].wanted = Some(true);
    node.pass(60).down(3).pass(20);
    assert!(node.has("link_down"));
    node.scene.links[3].up = None;
    node.pass(300);
    assert!(node.has("link_down"));
}

#[test]
fn a_device_that_restarts_has_its_grace() {
    let mut node = Node::healthy();
    node.pass(60).down(3);
    node.scene.links[3].restarted = Some(crate::core::model::time::BootTime(10_060_000_000_000));
    node.pass(25).up(3).pass(60);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_member_of_a_bond_is_down_though_the_port_is_active() {
    let mut node = Node::healthy();
    node.scene.links[2].state = Some(4);
    node.pass(60).down(2).pass(20);
    assert_eq!(node.found().len(), 1);
}

#[test]
fn an_infiniband_port_without_a_subnet_manager_says_so() {
    let mut node = Node::healthy();
    node.pass(60);
    let link = &mut node.scene.links[1];
    link.technology = Technology::InfiniBand;
    (link.up, link.state, link.physical_state) = (Some(false), Some(2), Some(5));
    node.pass(20);
    assert!(node.first().meaning.contains("no subnet manager"));
}

#[test]
fn a_plain_netdev_warns_and_does_not_gate() {
    let mut node = Node::healthy();
    node.scene.links[0].is_rdma = false;
    node.pass(60).down(0).pass(20);
    assert_eq!(node.found()[0].2, Severity::Warning);
    assert_eq!(node.scene.links[1].rate, Some(FAST));
}
