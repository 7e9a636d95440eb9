//! Prints `docs/CONFIG.md`, or with `toml` as its argument `deploy/railwatch.toml`.

use std::io::{self, Write};

use railwatch::daemon::config::{example, reference};

fn main() -> io::Result<()> {
    let page = match std::env::args().nth(1).as_deref() {
        Some("toml") => example::toml(),
        _ => reference::markdown(),
    };
    io::stdout().lock().write_all(page.as_bytes())
}
