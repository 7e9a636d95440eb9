//! Reader children: the one place where processes are started, spoken to, killed and given up.
//!
//! [`Supervisor`] keeps one child of a kind alive and decides who is guilty when one does not
//! answer. It waits for nothing: whatever it has to wait for comes back as a [`Said`] or is looked
//! at again at the next tick. It knows nothing of what readings mean.

mod leaving;
mod process;
mod running;
mod stall;
mod supervisor;

pub use process::{Launch, Said, Word};
pub use stall::{Stalled, Stalls};
pub use supervisor::{Counts, Supervisor};
