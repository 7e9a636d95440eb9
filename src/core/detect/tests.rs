//! Every rule over a made-up node, second by second: what raises it, what stays just below, what
//! ends it, and what must not disturb it.

mod node;

mod device_missing;
mod expectation;
mod firmware_differs;
mod life;
mod link_down;
mod link_flap;
mod maintenance_forgotten;
mod pcie_degraded;
mod rate_degraded;
