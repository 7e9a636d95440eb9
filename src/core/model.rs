//! What was read and what it means: facts, readings, changes, the snapshot that is published.

pub mod change;
pub mod facts;
pub mod outcome;
pub mod snapshot;
pub mod time;
