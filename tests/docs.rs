//! Documents that are made from the code are what the code makes.

use railwatch::core::render::{families, findings_doc, metrics_doc};

#[test]
fn the_reference_of_metrics_is_what_the_catalog_makes() {
    is_what_is_made("METRICS.md", &metrics_doc::markdown(), "metrics_doc");
}

#[test]
fn the_reference_of_findings_is_what_the_rules_make() {
    is_what_is_made("FINDINGS.md", &findings_doc::markdown(), "findings_doc");
}

fn is_what_is_made(name: &str, made: &str, example: &str) {
    let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let line = page
        .lines()
        .zip(made.lines())
        .position(|(old, new)| old != new)
        .unwrap_or_else(|| page.lines().count().min(made.lines().count()));
    assert!(
        page == made,
        "docs/{name} is out of date from line {}: read what changed and run\n    \
         cargo run --example {example} > docs/{name}",
        line + 1
    );
}

#[test]
fn every_other_family_has_a_proper_name_and_help() {
    let mut names = std::collections::BTreeSet::new();
    for family in families::ALL {
        assert!(names.insert(family.name), "{} twice", family.name);
        assert!(family.name.starts_with("railwatch_"), "{}", family.name);
        let counter = family.kind == railwatch::core::catalog::Kind::Counter;
        assert_eq!(family.name.ends_with("_total"), counter, "{}", family.name);
        assert!(!family.help.ends_with('.') && !family.help.contains(['\n', '|']));
        let row = railwatch::core::catalog::rows()
            .iter()
            .find(|row| row.metric == family.name);
        assert!(row.is_none(), "{} is a row, too", family.name);
    }
}
