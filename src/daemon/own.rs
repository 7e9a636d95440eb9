//! What the daemon knows of the host it is on and of its own processes.

use std::fs;
use std::path::{Path, PathBuf};

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::core::model::snapshot::{HostFacts, Own, ProcessView};
use crate::host::clock::wall_seconds;

/// Clock ticks in a second as the kernel shows them to user space (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Facts of this host, as far as they are known.
#[must_use]
pub fn host() -> HostFacts {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory);
    let cpus = std::thread::available_parallelism().ok();
    HostFacts {
        hostname: System::host_name().ok(),
        kernel: System::kernel_version().ok(),
        os: System::long_os_version().ok(),
        cpus: cpus.and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: system
            .ok()
            .map(|system| system.total_memory())
            .filter(|bytes| *bytes > 0),
        boot_id: boot_id(),
    }
}

/// The kernel's name for this boot.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// What the daemon knows of itself now.
#[must_use]
pub fn own(host: &HostFacts, reader: Option<u32>, config_problems: u64) -> Own {
    let mut processes = vec![process("daemon", Path::new("/proc/self"))];
    let reader = reader.map(|pid| PathBuf::from(format!("/proc/{pid}")));
    processes.extend(reader.map(|path| process("reader-nic", &path)));
    Own {
        host: host.clone(),
        processes,
        config_problems,
    }
}

fn process(name: &'static str, path: &Path) -> ProcessView {
    let stat = fs::read_to_string(path.join("stat")).ok();
    let fields = stat.as_deref().map(after_name).unwrap_or_default();
    let ticks = |position: usize| {
        fields
            .get(position)
            .and_then(|text| text.parse::<f64>().ok())
    };
    // Positions of utime, stime and starttime after the name (proc_pid_stat(5): 14, 15 and 22).
    let cpu_seconds = ticks(11)
        .zip(ticks(12))
        .map(|(user, system)| (user + system) / TICKS);
    let age = ticks(19)
        .zip(uptime())
        .map(|(start, uptime)| uptime - start / TICKS);
    ProcessView {
        process: name,
        pss_bytes: pss(path),
        cpu_seconds,
        open_fds: fs::read_dir(path.join("fd"))
            .ok()
            .and_then(|fds| u64::try_from(fds.count()).ok()),
        start_seconds: age.map(|age| wall_seconds() - age),
    }
}

/// Fields after the name, which may hold blanks and brackets.
fn after_name(stat: &str) -> Vec<&str> {
    stat.rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace().collect())
        .unwrap_or_default()
}

fn uptime() -> Option<f64> {
    fs::read_to_string("/proc/uptime")
        .ok()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Proportional set size: pages that daemon and reader share count once.
fn pss(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path.join("smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}
