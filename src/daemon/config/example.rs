//! The shipped example: every key at its default, with what it means and why.

use super::Config;
use super::schema::{self, SECTIONS};

/// The text of `deploy/railwatch.toml`.
#[must_use]
pub fn toml() -> String {
    let defaults = Config::default();
    let mut text = "# What railwatch can be told; every value here is the default.\n\
                    # The environment (RAILWATCH__SECTION__KEY) and flags stand above this file.\n"
        .to_owned();
    for section in SECTIONS {
        text.push_str(&format!("\n# {}.\n[{}]", section.what, section.name));
        for key in schema::section_keys(section.name) {
            text.push_str(&format!(
                "\n# {}.\n# Allowed: {}.\n# {}.\n{} = {}\n",
                key.what,
                key.field.allowed(),
                key.why,
                key.name,
                key.field.shown(&defaults)
            ));
        }
    }
    text
}
