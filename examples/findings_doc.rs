//! Prints `docs/FINDINGS.md`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let page = railwatch::core::render::findings_doc::markdown();
    io::stdout().lock().write_all(page.as_bytes())
}
