//! What is read of a node, and in which parts.

use std::collections::BTreeSet;

use crate::core::parse::facts::is_switch_management;
use crate::host::capture::Item;
use crate::host::capture::walk::{Counters, Walker};
use crate::host::tree::Tree;

const CLASSES: [&str; 2] = ["sys/class/infiniband", "sys/class/net"];
const PCI: &str = "sys/bus/pci/devices";
/// What a PCI function tells about itself; the links among them are kept as links.
const FUNCTION: [&str; 23] = [
    "class",
    "vendor",
    "device",
    "revision",
    "subsystem_vendor",
    "subsystem_device",
    "numa_node",
    "local_cpus",
    "local_cpulist",
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "driver",
    "subsystem",
    "physfn",
    "sriov_numvfs",
    "sriov_totalvfs",
    "sriov_offset",
    "sriov_stride",
    "sriov_vf_device",
    "sriov_drivers_autoprobe",
    "sfnum",
];
/// Files of the host that hold no identity, whole.
const PLAIN: [&str; 5] = [
    "sys/devices/virtual/dmi/id/product_name",
    "proc/meminfo",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/possible",
];
/// Parts of the kernel's command line that are kept.
const ARGUMENTS: [&str; 12] = [
    "iommu",
    "intel_iommu",
    "amd_iommu",
    "pci",
    "pcie_aspm",
    "pcie_ports",
    "numa",
    "nvidia",
    "hugepages",
    "default_hugepagesz",
    "isolcpus",
    "mitigations",
];
/// The VPD of a function whose counters may not be read, as far as it is kept.
const MANAGEMENT_VPD: &[u8] = b"SMDL=SW_MNG";
const VPD_BYTES: usize = 1 << 15;
const TEXT: usize = 4 << 20;

/// One thread's part.
#[derive(Debug)]
pub(super) enum Job {
    /// What belongs to no device.
    Host,
    /// A PCI function, by its resolved path, with what hangs on it.
    Function {
        /// `sys/devices/…`.
        path: String,
        /// Resolved paths of the RDMA devices and netdevs on it.
        classes: Vec<String>,
    },
    /// RDMA devices and netdevs on no PCI function.
    Software {
        /// Resolved class path.
        path: String,
    },
}

impl Job {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Host => "proc",
            Self::Function { path, .. } | Self::Software { path } => path,
        }
    }
}

/// The parts of a node, from its class directories alone: no driver is entered.
pub(super) fn devices(tree: &dyn Tree) -> Vec<Job> {
    let resolved = |class: &str| -> BTreeSet<String> {
        let names = tree.list(class).unwrap_or_default();
        names
            .iter()
            .filter_map(|name| tree.resolve(&format!("{class}/{name}")).ok())
            .collect()
    };
    let mut classes: BTreeSet<String> = CLASSES.iter().flat_map(|class| resolved(class)).collect();
    let mut jobs = Vec::new();
    // The deepest first: a device belongs to its own function, not to the bridge above that.
    for path in resolved(PCI).into_iter().rev() {
        let beneath = format!("{path}/");
        let mine: Vec<_> = classes
            .iter()
            .filter(|class| class.starts_with(&beneath))
            .cloned()
            .collect();
        classes.retain(|class| !class.starts_with(&beneath));
        jobs.push(Job::Function {
            path,
            classes: mine,
        });
    }
    jobs.extend(classes.into_iter().map(|path| Job::Software { path }));
    jobs
}

/// Reads one part.
pub(super) fn run(job: &Job, walker: &Walker) {
    match job {
        Job::Host => host(walker),
        Job::Function { path, classes } => {
            let counters = function(path, walker);
            for class in classes {
                between(path, class, walker);
                walker.everything(class, counters);
            }
        }
        Job::Software { path } => {
            if let Some((function, _)) = path
                .rsplit_once("/infiniband/")
                .or_else(|| path.rsplit_once("/net/"))
                && function != "sys/devices/virtual"
                && !function.starts_with("sys/class")
            {
                known(function, walker);
            }
            walker.everything(path, Counters::Read);
        }
    }
}

/// The auxiliary device between a function and a class device, as sub-functions have one.
fn between(function: &str, class: &str, walker: &Walker) {
    let holder = class
        .rsplit_once("/infiniband/")
        .or_else(|| class.rsplit_once("/net/"));
    if let Some((holder, _)) = holder
        && holder != function
    {
        known(holder, walker);
    }
}

/// The files of a function that are known and there. Reading the link of one that sleeps wakes it.
fn known(path: &str, walker: &Walker) {
    let asleep = asleep(path, walker);
    for name in walker.names(path) {
        let wakes = name.contains("_link_");
        let wanted = FUNCTION.contains(&name.as_str()) || name.starts_with("virtfn");
        if wanted && !(asleep && wakes) {
            walker.leaf(&format!("{path}/{name}"));
        }
    }
    if walker.tree.exists(&format!("{path}/power/runtime_status")) {
        walker.file(&format!("{path}/power/runtime_status"));
    }
}

fn asleep(path: &str, walker: &Walker) -> bool {
    let status = walker.bytes(&format!("{path}/power/runtime_status"), 64);
    status.is_ok_and(|text| text.starts_with(b"suspend"))
}

fn function(path: &str, walker: &Walker) -> Counters {
    known(path, walker);
    if asleep(path, walker) {
        walker.error(format!("{path} sleeps; its files were not read"));
        return Counters::Asleep;
    }
    let driver = walker
        .tree
        .link(&format!("{path}/driver"))
        .unwrap_or_default();
    // Only physical functions have firmware that refuses every counter.
    let is_virtual = walker.tree.link(&format!("{path}/physfn")).is_ok();
    if is_virtual || !driver.ends_with("/mlx5_core") {
        return Counters::Read;
    }
    let vpd = format!("{path}/vpd");
    if !walker.tree.exists(&vpd) {
        return Counters::StopAtRefusal;
    }
    match walker.bytes(&vpd, VPD_BYTES) {
        Ok(bytes) if is_switch_management(&bytes) => {
            walker.put(&vpd, Item::File(MANAGEMENT_VPD.to_vec()));
            return Counters::LeaveAlone;
        }
        // The rest of it is serial numbers, and tells the readers nothing.
        Ok(_) => {}
        Err(reason) => walker.refused(&vpd, reason),
    }
    Counters::StopAtRefusal
}

fn host(walker: &Walker) {
    for path in PLAIN {
        if walker.tree.exists(path) {
            walker.file(path);
        }
    }
    let boot = "proc/sys/kernel/random/boot_id";
    if walker.tree.exists(boot) {
        walker.file(boot);
    }
    kept(walker, "proc/version", version);
    kept(walker, "proc/cpuinfo", cpuinfo);
    kept(walker, "proc/cmdline", cmdline);
    for class in CLASSES.into_iter().chain([PCI]) {
        for name in walker.names(class) {
            walker.link(&format!("{class}/{name}"));
        }
    }
    each(walker, "proc/net/bonding", &[""]);
    each(walker, "sys/bus/pci/slots", &["/address"]);
    each(walker, "sys/module", &["/version"]);
    let nodes = ["/cpulist", "/distance", "/meminfo"];
    each(walker, "sys/devices/system/node", &nodes);
}

/// The same files of everything a directory names.
fn each(walker: &Walker, directory: &str, files: &[&str]) {
    let names = walker.tree.list(directory).unwrap_or_default();
    for path in names.iter().flat_map(|name| {
        files
            .iter()
            .map(move |file| format!("{directory}/{name}{file}"))
    }) {
        if walker.tree.exists(&path) {
            walker.file(&path);
        }
    }
}

/// A text of which only a part is kept.
fn kept(walker: &Walker, path: &str, part: impl Fn(&str) -> String) {
    if let Ok(bytes) = walker.bytes(path, TEXT) {
        let text = part(&String::from_utf8_lossy(&bytes));
        walker.put(path, Item::File(text.into_bytes()));
    }
}

/// Without who built the kernel, and where.
fn version(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().take(3).collect();
    format!("{}\n", words.join(" "))
}

fn cpuinfo(text: &str) -> String {
    let names = [
        "processor",
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "physical id",
    ];
    let lines = text.lines().filter(|line| {
        let name = line.split(':').next().unwrap_or("").trim();
        line.is_empty() || names.contains(&name)
    });
    lines.map(|line| format!("{line}\n")).collect()
}

fn cmdline(text: &str) -> String {
    let words: Vec<_> = text
        .split_whitespace()
        .filter(|word| {
            let key = word.split(['=', '.']).next().unwrap_or(word);
            ARGUMENTS.contains(&key) || key.starts_with("numa") || key.starts_with("nvidia")
        })
        .collect();
    format!("{}\n", words.join(" "))
}
