//! The real binary: what it prints, and the code it ends with.

#[cfg(test)]
#[path = "cli/binary.rs"]
mod binary;
#[cfg(test)]
#[path = "cli/daemon.rs"]
mod daemon;
#[cfg(test)]
#[path = "cli/usage.rs"]
mod usage;
