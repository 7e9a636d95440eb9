//! Polls through reader children, keeps histories, publishes snapshots and serves them.

pub mod child;
pub mod complaint;
pub mod config;
pub mod history;
pub mod http;
pub mod journal;
pub mod judge;
mod keeper;
pub mod log;
pub mod maintenance;
pub mod notify;
pub mod once;
pub mod own;
pub mod poller;
pub mod run;
pub mod schedule;
pub mod socket;
pub mod store;
