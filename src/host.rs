//! Reads a host or a capture. Everything here runs inside a reader child or a one-shot command.

pub mod clock;
pub mod tree;
