use std::time::Duration;

use super::node::Node;

const HOUR: u64 = 3600;

#[test]
fn maintenance_of_a_work_shift_is_forgotten_and_a_shorter_one_is_not() {
    let mut node = Node::healthy();
    for hours in 0..8 {
        node.scene.in_maintenance = Some(Duration::from_secs(hours * HOUR + 3599));
        node.pass(61);
        assert!(!node.has("maintenance_forgotten"), "{hours} h");
    }
    node.scene.in_maintenance = Some(Duration::from_secs(8 * HOUR));
    node.pass(61);
    assert!(node.has("maintenance_forgotten"));
    node.scene.in_maintenance = None;
    node.pass(130);
    assert!(!node.has("maintenance_forgotten"));
}
