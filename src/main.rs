//! The `railwatch` binary.

fn main() {}
