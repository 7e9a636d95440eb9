//! The pure room: what a counter is, what a reading means, how a snapshot is shown.
//!
//! Nothing here opens a file, a socket or a process, asks a clock or writes a log line.

pub mod catalog;
pub mod detect;
pub mod ids;
pub mod model;
pub mod parse;
pub mod render;
pub mod units;
pub mod wire;
