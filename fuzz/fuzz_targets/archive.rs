//! Whatever an archive holds, opening it gives a tree or an error, and reading the tree ends.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use railwatch::host::discover::{census, probe, shape};
use railwatch::host::tree::captured;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let Ok(tree) = captured::open(file.path()) else {
        return;
    };
    for device in census(&*tree, &shape(&*tree)).devices {
        let probed = probe(&*tree, &device, true);
        for target in probed.targets {
            let _ = tree.read(&target.path, 4096);
        }
    }
});
