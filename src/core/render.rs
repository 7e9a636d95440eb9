//! A snapshot shown: text exposition, JSON documents, page.

pub mod families;
pub mod metrics_doc;
