//! Polls through reader children, keeps histories, publishes snapshots and serves them.

pub mod config;
pub mod http;
pub mod log;
pub mod socket;
