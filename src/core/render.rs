//! A snapshot shown: text exposition, JSON documents, page.

mod entry;
pub mod families;
pub mod metrics;
pub mod metrics_doc;
pub mod node;
pub mod page;
#[cfg(test)]
mod sample;
