//! `docs/CONFIG.md`, made from the schema.

use super::Config;
use super::layers::DEFAULT_PATH;
use super::schema::{self, SECTIONS};

/// The page.
#[must_use]
pub fn markdown() -> String {
    let defaults = Config::default();
    let mut page = head();
    for section in SECTIONS {
        page.push_str(&format!(
            "\n## `[{}]`\n\n{}.\n\n",
            section.name, section.what
        ));
        page.push_str("| key | default | allowed | meaning | why this default | environment |\n");
        page.push_str("|---|---|---|---|---|---|\n");
        for key in schema::section_keys(section.name) {
            page.push_str(&format!(
                "| `{}` | `{}` | {} | {} | {} | `{}` |\n",
                key.name,
                key.field.shown(&defaults),
                key.field.allowed(),
                key.what,
                key.why,
                key.variable()
            ));
        }
    }
    page
}

fn head() -> String {
    format!(
        "<!-- Made by `cargo run --example config_doc`; edit src/daemon/config/schema.rs. -->\n\
         # Configuration\n\n\
         railwatch runs without any. What it is told comes from, each above the one before:\n\n\
         1. the defaults below, which are also those of `deploy/railwatch.toml`;\n\
         2. the file `{DEFAULT_PATH}`, or the one of `--config.file`;\n\
         3. the environment, `RAILWATCH__SECTION__KEY`, where a list has commas;\n\
         4. flags, such as `--log.level` and `--web.listen-address`.\n\n\
         A key that is not known or a value that is not possible does not keep the daemon from \
         its work: it is logged, counted in `railwatch_config_problems`, and the layer below \
         holds. A file that is no TOML is left out as a whole; at a reload, the configuration \
         stays as it was. With `--config.strict` all of these end the command with code 64.\n\n\
         - `railwatch config check` lists every problem at once, as `file:line key: what, \
         allowed …`;\n\
         - `railwatch config show` shows what holds, and where each value comes from;\n\
         - `railwatch config default` prints a file with every key;\n\
         - `railwatch reload` makes the running daemon read its configuration again.\n"
    )
}
