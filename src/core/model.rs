//! What was read and what it means: facts, readings, changes, the snapshot that is published.

pub mod attention;
pub mod change;
pub mod expectation;
pub mod facts;
pub mod finding;
pub mod outcome;
pub mod snapshot;
pub mod subject;
pub mod time;
