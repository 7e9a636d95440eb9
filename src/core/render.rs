//! A snapshot shown: text exposition, JSON documents, page.

pub mod families;
