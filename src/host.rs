//! Reads a host or a capture. Everything here runs inside a reader child or a one-shot command.

pub mod capture;
pub mod clock;
pub mod discover;
pub mod errno;
pub mod frame;
pub mod reader;
pub mod tree;
