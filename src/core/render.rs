//! A snapshot shown: text exposition, JSON documents, page.

pub mod check;
pub mod doctor;
pub mod document;
mod entry;
pub mod families;
pub mod finding;
pub mod findings_doc;
pub mod metrics;
pub mod metrics_doc;
pub mod node;
pub mod page;
#[cfg(test)]
mod sample;
