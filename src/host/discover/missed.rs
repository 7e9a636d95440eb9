//! Values a device had and whose files are gone since: they stay, so that the read that fails is
//! told. Which files a driver offers differs, so one that was never there is no fault; one that was
//! there and is not any more is.

use crate::core::model::facts::NetdevRole;
use crate::core::wire::{Place, Slot, What};
use crate::host::discover::probe::Probed;
use crate::host::tree::Tree;

impl Probed {
    /// Keeps the values of an earlier probe whose files are gone, while the device and the place
    /// they belong to are the same. What stood in for one of them, another spelling or the whole
    /// device's counter, is left out: the two sums have nothing to do with each other.
    pub fn keep_missed(&mut self, old: &Self, tree: &dyn Tree) {
        if self.objects != old.objects || self.driver != old.driver || self.slots == old.slots {
            return;
        }
        let mut before: Option<&Slot> = None;
        for (slot, target) in old.slots.iter().zip(&old.targets) {
            let gone = self.is_unlisted(&target.path) || !tree.exists(&target.path);
            let kept = gone && !self.slots.contains(slot) && self.has_place(slot);
            if kept {
                self.drop_stand_ins(slot, &old.slots);
                let after =
                    before.and_then(|before| self.slots.iter().position(|slot| slot == before));
                let position = after.map_or(0, |position| position.saturating_add(1));
                self.slots.insert(position, slot.clone());
                self.targets.insert(position, target.clone());
            }
            if kept || self.slots.contains(slot) {
                before = Some(slot);
            }
        }
    }

    /// Whether a file's directory could not be listed: it may well be there.
    fn is_unlisted(&self, path: &str) -> bool {
        let mut unlisted = self.unlisted.iter();
        unlisted.any(|directory| {
            path.strip_prefix(directory.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Whether the port or netdev of a value is still there.
    fn has_place(&self, slot: &Slot) -> bool {
        match &slot.place {
            Place::Device => true,
            Place::Port(number) => self.facts.ports.iter().any(|port| port.number == *number),
            Place::Netdev(name) => self
                .facts
                .netdevs
                .iter()
                .any(|netdev| netdev.name == *name && netdev.role != NetdevRole::Representor),
        }
    }

    fn drop_stand_ins(&mut self, missed: &Slot, old: &[Slot]) {
        let What::Row { row, .. } = missed.what else {
            return;
        };
        let stands_in = |slot: &Slot| {
            matches!(slot.what, What::Row { row: other, .. } if other == row)
                && (slot.place == missed.place || slot.place == Place::Device)
                && !old.contains(slot)
        };
        while let Some(position) = self.slots.iter().position(stands_in) {
            self.slots.remove(position);
            self.targets.remove(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::host::discover::{Probed, census, probe, shape};
    use crate::host::tree::captured;

    const PORT: &str = "sys/class/infiniband/odd_0/ports/1";

    /// A node with one RDMA device that has these files of its port.
    fn node(files: &[&str]) -> tempfile::TempDir {
        let node = tempfile::tempdir().unwrap();
        for file in files {
            put(node.path(), file);
        }
        node
    }

    fn put(node: &Path, file: &str) {
        let path = node.join(PORT).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "7\n").unwrap();
    }

    fn take(node: &Path, file: &str) {
        fs::remove_file(node.join(PORT).join(file)).unwrap();
    }

    /// Probes after a probe and a change, and says what is read then.
    fn after(node: &Path, change: impl FnOnce()) -> Vec<String> {
        let tree = captured::open(node).unwrap();
        let probe = || -> Probed {
            let census = census(&*tree, &shape(&*tree));
            probe(&*tree, &census.devices[0], false, None)
        };
        let old = probe();
        change();
        let mut probed = probe();
        probed.keep_missed(&old, &*tree);
        assert_eq!(probed.slots.len(), probed.targets.len());
        let paths = probed.targets.iter().map(|target| &target.path);
        paths
            .filter_map(|path| path.strip_prefix(&format!("{PORT}/")))
            .filter(|path| path.contains("port_"))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_file_that_is_gone_stays_where_it_was_read() {
        let files = [
            "counters/port_xmit_data",
            "counters/port_xmit_packets",
            "counters/port_xmit_wait",
        ];
        let node = node(&files);
        let before = after(node.path(), || {});
        let missed = after(node.path(), || {
            take(node.path(), "counters/port_xmit_packets");
            take(node.path(), "counters/port_xmit_wait");
        });
        assert_eq!(missed, before);
        assert!(missed.contains(&"counters/port_xmit_wait".to_owned()));
    }

    #[test]
    fn a_wider_counter_that_comes_late_takes_over() {
        let node = node(&["counters/port_xmit_data"]);
        let read = after(node.path(), || {
            put(node.path(), "counters_ext/port_xmit_data_64");
        });
        assert!(read.contains(&"counters_ext/port_xmit_data_64".to_owned()));
        assert!(!read.contains(&"counters/port_xmit_data".to_owned()));
    }

    #[test]
    fn a_narrower_counter_does_not_stand_in_for_one_that_is_gone() {
        let node = node(&["counters/port_xmit_data", "counters_ext/port_xmit_data_64"]);
        let read = after(node.path(), || {
            take(node.path(), "counters_ext/port_xmit_data_64");
        });
        assert!(read.contains(&"counters_ext/port_xmit_data_64".to_owned()));
        assert!(!read.contains(&"counters/port_xmit_data".to_owned()));
    }

    #[test]
    fn a_device_that_was_made_anew_owes_nothing_of_the_old_one() {
        let node = node(&["counters/port_xmit_data", "counters/port_xmit_wait"]);
        let device = node.path().join("sys/class/infiniband/odd_0");
        let read = after(node.path(), || {
            // The old one stays elsewhere, so that its inode is not given again.
            fs::rename(&device, node.path().join("old")).unwrap();
            put(node.path(), "counters/port_xmit_data");
        });
        assert!(read.contains(&"counters/port_xmit_data".to_owned()));
        assert!(!read.contains(&"counters/port_xmit_wait".to_owned()));
    }

    #[test]
    fn a_port_that_is_gone_takes_its_counters_along() {
        let node = node(&["counters/port_xmit_data"]);
        let read = after(node.path(), || {
            fs::remove_dir_all(node.path().join(PORT)).unwrap();
        });
        assert!(read.is_empty());
    }
}
