//! `railwatch config`: what is wrong, what holds, what there is.

use serde_json::{Map, Value, json};

use crate::cli::arguments::{ConfigCommand, Global, Output};
use crate::cli::exit::{Failure, Reason};
use crate::cli::output;
use crate::daemon::config::example;
use crate::daemon::config::layers::{self, Loaded};
use crate::daemon::config::schema::KEYS;

/// Where a value comes from that nobody has set.
const DEFAULT: &str = "default";

/// Does it.
///
/// # Errors
///
/// A wrong configuration, a file that cannot be read, output that cannot be written.
pub fn run(global: &Global, what: ConfigCommand) -> Result<(), Failure> {
    match what {
        ConfigCommand::Check => check(global),
        ConfigCommand::Show => show(global),
        ConfigCommand::Default => output::print(example::toml().as_bytes()),
    }
}

fn check(global: &Global) -> Result<(), Failure> {
    let loaded = layers::load(&global.inputs())
        .map_err(|error| Failure::new(Reason::Input, &error.into()))?;
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let text = match global.output {
        Output::Json => document(&json!({
            "schema": "railwatch-config-check/1",
            "problems": problems,
        })),
        Output::Text if problems.is_empty() => "ok\n".to_owned(),
        Output::Text => output::lines(&problems),
    };
    output::print(text.as_bytes())?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::told(Reason::Usage, ""))
}

fn show(global: &Global) -> Result<(), Failure> {
    let loaded = global.load(&global.inputs())?;
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    output::tell_lines(&problems);
    let text = match global.output {
        Output::Json => shown_as_document(&loaded),
        Output::Text => shown(&loaded),
    };
    output::print(text.as_bytes())
}

fn shown(loaded: &Loaded) -> String {
    let lines: Vec<String> = KEYS
        .iter()
        .map(|key| {
            let name = key.dotted();
            let origin = loaded.origins.get(&name).map_or(DEFAULT, String::as_str);
            format!("{name} = {}  # {origin}", key.field.shown(&loaded.config))
        })
        .collect();
    output::lines(&lines)
}

fn shown_as_document(loaded: &Loaded) -> String {
    let keys: Map<String, Value> = KEYS
        .iter()
        .map(|key| {
            let name = key.dotted();
            let origin = loaded.origins.get(&name).map_or(DEFAULT, String::as_str);
            let value = key.field.value(&loaded.config);
            (name, json!({ "value": value, "origin": origin }))
        })
        .collect();
    document(&json!({ "schema": "railwatch-config/1", "keys": keys }))
}

fn document(value: &Value) -> String {
    format!("{value}\n")
}
