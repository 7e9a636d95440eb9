//! Who holds a TCP port: `/proc/net/tcp{,6}` gives the listening socket's inode, the descriptors
//! below `/proc/<pid>/fd` give the process. Other users' descriptors are visible to root alone.

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::Path;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Bytes of `/proc/net/tcp` that are looked at: some 25 000 sockets.
const TABLE_LIMIT: u64 = 4 << 20;
/// Descriptors that are looked at; a process table larger than that is not worth the wait.
const DESCRIPTOR_LIMIT: usize = 200_000;
/// `st` of a listening socket in `/proc/net/tcp` (`TCP_LISTEN`, include/net/tcp_states.h).
const LISTEN: &str = "0A";

/// A process that listens on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its command name, cleaned of control characters.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, pid } = self;
        write!(f, "{name} (pid {pid})")
    }
}

/// Finds the process that listens on `port`, as far as this user may see it, while `go_on` says so.
pub(super) fn find(proc: &Path, port: u16, go_on: &dyn Fn() -> bool) -> Option<Holder> {
    let inodes: Vec<String> = ["net/tcp", "net/tcp6"]
        .into_iter()
        .filter_map(|table| bounded(&proc.join(table), TABLE_LIMIT))
        .flat_map(|table| listening(&table, port))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let mut left = DESCRIPTOR_LIMIT;
    for process in fs::read_dir(proc).ok()?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        if !go_on() || left == 0 {
            return None;
        }
        if holds(&process.path().join("fd"), &inodes, &mut left) {
            return Some(Holder {
                name: name(pid),
                pid,
            });
        }
    }
    None
}

/// Inodes of the sockets that listen on `port`.
fn listening(table: &str, port: u16) -> Vec<String> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let (_, local_port) = fields.nth(1)?.rsplit_once(':')?;
            let state = fields.nth(1)?;
            let inode = fields.nth(5)?;
            let ours = u16::from_str_radix(local_port, 16) == Ok(port) && state == LISTEN;
            ours.then(|| format!("socket:[{inode}]"))
        })
        .collect()
}

fn holds(descriptors: &Path, inodes: &[String], left: &mut usize) -> bool {
    let Ok(entries) = fs::read_dir(descriptors) else {
        return false;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return false;
        }
        *left = left.saturating_sub(1);
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if inodes
            .iter()
            .any(|inode| target.as_os_str() == inode.as_str())
        {
            return true;
        }
    }
    false
}

fn name(pid: u32) -> String {
    let text = of_process(Pid::from_u32(pid)).unwrap_or_default();
    let visible = text.chars().map(|c| if c.is_control() { '?' } else { c });
    let clean: String = visible.take(64).collect();
    if clean.is_empty() {
        "a process".to_owned()
    } else {
        clean
    }
}

fn of_process(pid: Pid) -> Option<String> {
    let mut system = System::new().ok()?;
    let only = ProcessesToUpdate::Some(&[pid]);
    system.refresh_processes_specifics(only, false, ProcessRefreshKind::nothing());
    Some(system.process(pid)?.name().to_string_lossy().into_owned())
}

fn bounded(path: &Path, limit: u64) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .ok()?
        .take(limit)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::path::Path;

    use super::{find, listening};

    #[test]
    fn only_listening_sockets_of_the_port_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 00000000:72D8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n   \
            1: 0100007F:72D8 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1\n   \
            2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0\n";
        assert_eq!(listening(table, 29400), ["socket:[4711]"]);
        assert!(listening("", 29400).is_empty());
        assert!(listening("head\n0: junk\n1: a:zz 0 0A\n", 29400).is_empty());
    }

    #[test]
    fn the_holder_of_a_port_is_this_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let holder = find(Path::new("/proc"), port, &|| true).unwrap();
        assert_eq!(holder.pid, std::process::id());
        assert!(!holder.name.is_empty());
    }

    #[test]
    fn a_search_that_may_not_go_on_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(find(Path::new("/proc"), port, &|| false), None);
    }
}
