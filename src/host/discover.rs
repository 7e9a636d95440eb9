//! Which devices a node has, and what each of them is.
//!
//! [`census()`] lists and follows links, which enters no driver, and may run at every poll.
//! [`probe()`] reads what a device says of itself and belongs on the device's own thread.

mod census;
mod function;
mod missed;
mod netdev;
mod probe;
mod rdma;
mod slots;

pub use census::{Census, Located, Names, Shape, census, names, shape};
pub use probe::{Probed, Target, probe};

/// Devices of one node beyond which the rest is told as too many.
pub const DEVICES: usize = 256;
/// Ports of one device that are read; switchdev representors can have hundreds.
pub const PORTS: usize = 64;
/// Values read from one device.
pub const SLOTS: usize = 4096;

use crate::core::model::facts::FactFault;
use crate::core::model::outcome::FaultReason;
use crate::core::parse;
use crate::host::tree::Tree;

/// Bytes of a fact's file.
const FACT_BYTES: usize = 4096;
/// Characters of a fact.
const FACT_CHARS: usize = 128;
/// Characters of a list of names: a bond may have dozens of members.
const LIST_CHARS: usize = 2048;

/// Reads facts below one directory, keeping what went wrong.
struct Facts<'a> {
    tree: &'a dyn Tree,
    faults: Vec<FactFault>,
}

impl<'a> Facts<'a> {
    fn new(tree: &'a dyn Tree) -> Self {
        Self {
            tree,
            faults: Vec::new(),
        }
    }

    /// The text of a file; `None` if it is not there, empty or faulty. A file that is missing is
    /// no fault: which ones a driver has differs.
    fn text(&mut self, path: &str) -> Option<String> {
        let read = self
            .tree
            .read(path, FACT_BYTES)
            .and_then(|bytes| parse::text(&bytes, FACT_CHARS));
        self.kept(path, read).filter(|text| !text.is_empty())
    }

    /// As [`Self::text`], for a list of names.
    fn list_text(&mut self, path: &str) -> Option<String> {
        let read = self
            .tree
            .read(path, FACT_BYTES)
            .and_then(|bytes| parse::text(&bytes, LIST_CHARS));
        self.kept(path, read).filter(|text| !text.is_empty())
    }

    /// As [`Self::text`], put through a parser.
    fn parsed<T>(
        &mut self,
        path: &str,
        parse: impl Fn(&str) -> Result<T, FaultReason>,
    ) -> Option<T> {
        let text = self.text(path)?;
        self.kept(path, parse(&text))
    }

    fn kept<T>(&mut self, path: &str, read: Result<T, FaultReason>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(FaultReason::NotExposed) => None,
            Err(reason) => {
                self.faults.push(FactFault {
                    what: path.to_owned(),
                    reason,
                });
                None
            }
        }
    }

    /// A link's last component.
    fn link_name(&mut self, path: &str) -> Option<String> {
        let target = self.kept(path, self.tree.link(path))?;
        Some(parse::escaped(last(&target))).filter(|name| !name.is_empty())
    }
}

/// The last component of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
