//! railwatch: is this node's every data path healthy, is it the one in use, how fast is it?
//!
//! The crate is a house of rooms, and a file's path tells its rule:
//! [`core`] is pure (no files, network, processes, clock or log), [`host`] reads a host and runs
//! inside a reader child, [`daemon`] polls, keeps and serves, [`cli`] holds one file per command.
//! The direction of use is `core ← host ← daemon ← cli`; `tests/tidy.rs` holds it up.

pub mod cli;
pub mod core;
pub mod daemon;
pub mod host;
