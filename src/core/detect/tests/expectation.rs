//! The expectation file, written from one node and read on another.

use super::node::{FAST, Node, function};
use crate::core::detect::expect_file::{parse, write};
use crate::core::model::expectation::{Expectation, Speaker};
use crate::core::model::finding::Severity;

fn file_of_a_healthy_node() -> String {
    let mut node = Node::healthy();
    node.pass(2);
    write(&node.scene, Some("DGX \"H100\""))
}

#[test]
fn what_is_written_is_read_by_nodes_of_the_product_alone() {
    let text = file_of_a_healthy_node();
    let mine = parse(&text, Some("DGX \"H100\"")).unwrap();
    assert_eq!((mine.links.len(), mine.functions.len()), (8, 8));
    assert!(
        mine.links
            .iter()
            .all(|link| link.by == Speaker::File && link.rate == Some(FAST))
    );
    assert_eq!(parse(&text, Some("other")).unwrap(), Expectation::default());
    assert_eq!(parse(&text, None).unwrap(), Expectation::default());
}

#[test]
fn the_file_finds_on_a_new_node_what_nobody_could_have_learnt() {
    let file = parse(&file_of_a_healthy_node(), Some("DGX \"H100\"")).unwrap();
    // Another node of the fleet: other GUIDs, two rails dead, one card missing, one in a narrow slot.
    let mut node = Node::knowing(Expectation::default(), 10);
    for (link, function) in node.scene.links.iter_mut().zip(&mut node.scene.functions) {
        function.hardware.guid = Some("other".to_owned());
        link.key = link.place.clone();
    }
    node.scene.functions[5].path[1].width = Some(8);
    node.scene.functions.remove(7);
    node.scene.links.remove(7);
    node.down(2).down(3).engine.expect(file);
    node.pass(320);
    let found: Vec<String> = node
        .found()
        .into_iter()
        .filter(|(_, _, severity)| *severity == Severity::Critical)
        .map(|(code, subject, _)| format!("{code} {subject}"))
        .collect();
    for wanted in [
        "link_down mlx5_2",
        "link_down mlx5_3",
        "device_missing mlx5_7",
        "pcie_degraded mlx5_5",
    ] {
        assert!(
            found.iter().any(|found| found == wanted),
            "{wanted} in {found:?}"
        );
    }
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(function(0).name.as_str(), "mlx5_0");
}

#[test]
fn a_file_that_cannot_be_followed_says_where() {
    for (text, part) in [
        ("", "schema"),
        ("schema = \"railwatch-expect/9\"", "railwatch-expect/9"),
        ("schema = \"railwatch-expect/1\"\nnods = 1", "nods"),
        (
            "schema = \"railwatch-expect/1\"\n[[node]]\n[[node.nic]]\npci = \"c1:00\"",
            "line 4",
        ),
    ] {
        let error = parse(text, None).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
