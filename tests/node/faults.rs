//! The faults a node's document tells of.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What `railwatch metrics --output json` says failed, as "place what: reason".
pub(crate) fn of_node(node: &Path) -> Result<BTreeSet<String>, String> {
    let out = Command::new(env!("CARGO_BIN_EXE_railwatch"))
        .args(["metrics", "--output", "json", "--node"])
        .arg(node)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start railwatch: {error}"))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(format!(
            "railwatch metrics --output json: {}: {said}",
            out.status
        ));
    }
    let document: Value = serde_json::from_slice(&out.stdout)
        .map_err(|error| format!("railwatch metrics --output json: {error}"))?;
    let mut found = BTreeSet::new();
    for port in list(&document, "ports")? {
        let place = [
            text(port, "device"),
            text(port, "port"),
            text(port, "netdev"),
        ]
        .join("/");
        for fault in list(port, "faults")? {
            found.insert(format!(
                "{place} {}: {}",
                text(fault, "what"),
                text(fault, "reason")
            ));
        }
    }
    Ok(found)
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    let list = value.get(key).and_then(Value::as_array);
    list.ok_or_else(|| format!("no list {key}"))
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
