use super::node::Node;
use crate::core::model::expectation::{Expectation, ExpectedFunction, Speaker};
use crate::core::model::finding::Severity;

fn flash(node: &mut Node, rail: usize, version: Option<&str>) {
    node.scene.functions[rail].identity.firmware = version.map(str::to_owned);
}

#[test]
fn a_card_unlike_its_siblings_is_told_and_ends_when_it_is_alike() {
    let mut node = Node::healthy();
    flash(&mut node, 5, Some("28.39.1002"));
    node.pass(2);
    assert_eq!(
        node.found(),
        [(
            "firmware_differs".to_owned(),
            "mlx5_5".to_owned(),
            Severity::Info
        )]
    );
    flash(&mut node, 5, Some("28.43.2026"));
    node.pass(130);
    assert!(node.found().is_empty());
}

#[test]
fn of_two_halves_the_older_one_differs() {
    let mut node = Node::healthy();
    for rail in 0..4 {
        flash(&mut node, rail, Some("28.9.9999"));
    }
    node.pass(2);
    assert_eq!(node.found().len(), 4);
    assert_eq!(node.found()[0].1, "mlx5_0");
}

#[test]
fn other_models_and_unknown_versions_are_not_compared() {
    let mut node = Node::healthy();
    flash(&mut node, 5, Some("22.1.1"));
    node.scene.functions[5].model = Some("BlueField".to_owned());
    flash(&mut node, 6, None);
    node.pass(200);
    assert!(node.told.is_empty(), "{:?}", node.told);
}

#[test]
fn a_version_the_file_wants_is_a_warning() {
    let mut node = Node::healthy();
    let mut file = Expectation::default();
    let function = &node.scene.functions[0];
    file.functions.push(ExpectedFunction {
        key: function.key.without_guid(&function.hardware),
        pci: function.hardware.pci,
        slot: None,
        guid: None,
        is_rdma: true,
        model: None,
        width: None,
        speed: None,
        firmware: Some("28.44.1000".to_owned()),
        name: "mlx5_0".to_owned(),
        by: Speaker::File,
    });
    node.engine.expect(file);
    node.pass(2);
    assert_eq!(node.found()[0].2, Severity::Warning);
}
