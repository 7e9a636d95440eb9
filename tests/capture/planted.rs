//! A node whose every kind of file holds an identity.

use std::path::Path;

/// Writes the node.
pub(crate) fn planted(root: &Path) {
    let function = "sys/devices/pci0000:00/0000:00:01.0";
    let net = format!("{function}/net/enx0c42a112abcd");
    // One file a line: its path, a tab, its text with a backslash and n for the end of a line.
    for line in include_str!("planted.tsv").lines() {
        let (path, text) = line.split_once('\t').unwrap();
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("\\n", "\n")).unwrap();
    }
    for (at, to) in [
        (
            "sys/class/infiniband/ibx0c42a1030012abcd",
            format!("../../../{function}/infiniband/ibx0c42a1030012abcd"),
        ),
        ("sys/class/net/enx0c42a112abcd", format!("../../../{net}")),
        (
            "sys/bus/pci/devices/0000:00:01.0",
            format!("../../../../{function}"),
        ),
    ] {
        let at = root.join(at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, at).unwrap();
    }
    let fault = format!("{net}/carrier\tEINVAL\n{net}/speed\tEINVAL\n");
    std::fs::write(root.join(format!("{net}/carrier")), "").unwrap();
    std::fs::write(root.join("faults.tsv"), fault).unwrap();
}

/// What may be nowhere in a capture of that node.
pub(crate) const SECRETS: [&str; 17] = [
    "0c42a1030012abcd",
    "0c42a112abcd",
    "0c:42:a1:12:ab:cd",
    "a103:0012:abcd",
    "fe12:abcd",
    "0a4d:5832",
    "77aa",
    "10.77.88.50",
    "77.88",
    "secretnode7",
    "bluebird",
    "SN99X123",
    "c0ffee",
    "lab.example",
    "uplink",
    "12:ab:cd",
    "12abcd",
];
