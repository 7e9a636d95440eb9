//! The file's text: every value with its line, every problem at once.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;
use super::problem::{Origin, Problem};
use super::schema::{self, KEYS, Key, SECTIONS};
use super::value::Given;
use crate::daemon::config::Config;

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Values that can be taken.
    pub(super) values: Vec<(&'static Key, Given, Origin)>,
    /// What is wrong, in the file's order.
    pub(super) problems: Vec<Problem>,
    /// It is no TOML: nothing of it is taken.
    pub(super) unreadable: bool,
}

/// Reads the text of the file at `path`.
pub(super) fn read(path: &Path, text: &str) -> Said {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut walk = Walk {
        path,
        text,
        said: Said::default(),
        found: Vec::new(),
    };
    if errors.is_empty() {
        walk.sections(table.get_ref());
    }
    for error in &errors {
        let message = error.message().replace('\n', ", ");
        let span = error.span().unwrap_or_default();
        walk.problem(span, None, format!("not TOML: {message}"));
    }
    walk.said.unreadable = !errors.is_empty();
    walk.finish()
}

struct Walk<'a> {
    path: &'a Path,
    text: &'a str,
    said: Said,
    found: Vec<(usize, Problem)>,
}

impl Walk<'_> {
    fn sections(&mut self, table: &DeTable<'_>) {
        for (name, value) in table {
            let section = name.get_ref();
            match value.get_ref() {
                DeValue::Table(keys) if schema::is_section(section) => self.keys(section, keys),
                DeValue::Table(_) => {
                    let known = SECTIONS.iter().map(|section| section.name);
                    let what = match nearest(section, known.clone()) {
                        Some(near) => format!("unknown section, did you mean [{near}]"),
                        None => format!("unknown section, allowed {}", listed(known)),
                    };
                    self.problem(name.span(), Some(section.to_string()), what);
                }
                other if schema::is_section(section) => {
                    let kind = Given::from_toml(other);
                    let what = format!(
                        "{} is of the wrong type, allowed a section [{section}]",
                        kind.kind()
                    );
                    self.problem(name.span(), Some(section.to_string()), what);
                }
                _ => {
                    let what = format!("unknown key, {}", outside(section));
                    self.problem(name.span(), Some(section.to_string()), what);
                }
            }
        }
    }

    fn keys(&mut self, section: &str, keys: &DeTable<'_>) {
        for (name, value) in keys {
            match schema::find(section, name.get_ref()) {
                Some(key) => self.value(key, name, value.get_ref()),
                None => {
                    let dotted = format!("{section}.{}", name.get_ref());
                    let what = format!("unknown key, {}", inside(section, name.get_ref()));
                    self.problem(name.span(), Some(dotted), what);
                }
            }
        }
    }

    fn value(&mut self, key: &'static Key, name: &Spanned<Cow<'_, str>>, value: &DeValue<'_>) {
        let given = Given::from_toml(value);
        if let Err(wrong) = key.field.set(&mut Config::default(), &given) {
            let what = format!("{wrong}, allowed {}", key.field.allowed());
            self.problem(name.span(), Some(key.dotted()), what);
        } else {
            let origin = self.origin(name.span().start);
            self.said.values.push((key, given, origin));
        }
    }

    fn problem(&mut self, span: Range<usize>, key: Option<String>, what: String) {
        let origin = self.origin(span.start);
        self.found.push((span.start, Problem { origin, key, what }));
    }

    fn origin(&self, at: usize) -> Origin {
        let before = self.text.bytes().take(at);
        Origin::File {
            path: self.path.to_owned(),
            line: before.filter(|byte| *byte == b'\n').count() + 1,
        }
    }

    fn finish(mut self) -> Said {
        self.found.sort_by_key(|(at, _)| *at);
        self.said.problems = self.found.into_iter().map(|(_, problem)| problem).collect();
        self.said
    }
}

/// What is allowed instead of an unknown key in a section.
pub(super) fn inside(section: &str, name: &str) -> String {
    let known = schema::section_keys(section).map(|key| key.name);
    if let Some(near) = nearest(name, known) {
        return format!("did you mean {section}.{near}");
    }
    match elsewhere(name) {
        Some(key) => format!("did you mean {}", key.dotted()),
        None => format!(
            "allowed {}",
            listed(schema::section_keys(section).map(|key| key.name))
        ),
    }
}

/// What is allowed instead of a key outside every section.
fn outside(name: &str) -> String {
    match elsewhere(name) {
        Some(key) => format!("did you mean {} in section [{}]", key.name, key.section),
        None => format!(
            "allowed sections {}",
            listed(SECTIONS.iter().map(|section| section.name))
        ),
    }
}

fn elsewhere(name: &str) -> Option<&'static Key> {
    let near = nearest(name, KEYS.iter().map(|key| key.name))?;
    KEYS.iter().find(|key| key.name == near)
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
