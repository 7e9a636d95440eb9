//! What the program says of a captured node.

use std::path::Path;
use std::process::{Command, Stdio};

/// What `railwatch metrics` prints of a node, without our own families.
pub(crate) fn of_node(node: &Path) -> Result<String, String> {
    let out = Command::new(env!("CARGO_BIN_EXE_railwatch"))
        .args(["metrics", "--web.disable-exporter-metrics", "--node"])
        .arg(node)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start railwatch: {error}"))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(format!("railwatch metrics: {}: {said}", out.status));
    }
    String::from_utf8(out.stdout).map_err(|_| "railwatch metrics: not UTF-8".to_owned())
}
