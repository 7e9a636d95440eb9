//! Every key there is: the file, the environment, the flags, the shipped example and
//! `docs/CONFIG.md` are made from this one table.

use super::field::Field;

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The section it is in.
    pub section: &'static str,
    /// Its name in the section.
    pub name: &'static str,
    /// What it holds.
    pub field: Field,
    /// What it means, one sentence without a full stop.
    pub what: &'static str,
    /// Why its default is the default, one sentence without a full stop.
    pub why: &'static str,
}

/// One section.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub what: &'static str,
}

/// The sections, in the order in which they are written.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "web",
        what: "The HTTP server",
    },
    Section {
        name: "lanes",
        what: "How often values are read",
    },
    Section {
        name: "reader",
        what: "The processes that read devices",
    },
    Section {
        name: "metrics",
        what: "What is exported beside the catalogued metrics",
    },
    Section {
        name: "log",
        what: "The log, on standard error",
    },
    Section {
        name: "path",
        what: "Where things are on this host",
    },
];

/// The keys, in the order in which they are written.
pub const KEYS: &[Key] = &[
    Key {
        section: "web",
        name: "listen_address",
        field: Field::Addresses {
            of: |config| &mut config.web.listen_address,
        },
        what: "Addresses to listen on; \":port\" is every address of the host",
        why: "A scraper is on another host as a rule; 29400 is the port of this exporter",
    },
    Key {
        section: "web",
        name: "telemetry_path",
        field: Field::UrlPath {
            of: |config| &mut config.web.telemetry_path,
        },
        what: "Path of the metrics",
        why: "It is where Prometheus looks without being told",
    },
    Key {
        section: "web",
        name: "max_connections",
        field: Field::Count {
            of: |config| &mut config.web.max_connections,
            range: (1, 4096),
        },
        what: "Connections served at once; further ones wait",
        why: "Two Prometheus servers, a browser and some room; a connection costs about 20 kB",
    },
    Key {
        section: "web",
        name: "header_timeout_seconds",
        field: Field::Seconds {
            of: |config| &mut config.web.header_timeout,
            range: (1, 60),
        },
        what: "A request's headers must have come by then",
        why: "A scraper sends them at once; who is slower holds a place others need",
    },
    Key {
        section: "web",
        name: "request_timeout_seconds",
        field: Field::Seconds {
            of: |config| &mut config.web.request_timeout,
            range: (1, 300),
        },
        what: "An answer must have been taken by then",
        why: "It is how long Prometheus waits for a scrape by default",
    },
    Key {
        section: "web",
        name: "disable_exporter_metrics",
        field: Field::Switch {
            of: |config| &mut config.web.disable_exporter_metrics,
        },
        what: "Leave out the metrics about railwatch's own sources, processes and host",
        why: "Without them nobody sees that a source has stopped",
    },
    Key {
        section: "lanes",
        name: "fast_seconds",
        field: Field::Seconds {
            of: |config| &mut config.lanes.fast,
            range: (1, 60),
        },
        what: "Between two readings of data, packets and RDMA counters",
        why: "A file of sysfs costs an mlx5 card a firmware command, so not more often than each second",
    },
    Key {
        section: "lanes",
        name: "link_seconds",
        field: Field::Seconds {
            of: |config| &mut config.lanes.link,
            range: (1, 60),
        },
        what: "Between two readings of port states and carriers",
        why: "A flap of the link lasts seconds",
    },
    Key {
        section: "lanes",
        name: "slow_seconds",
        field: Field::Seconds {
            of: |config| &mut config.lanes.slow,
            range: (10, 3600),
        },
        what: "Between two readings of what hardly ever changes",
        why: "Firmware versions and PCIe widths change with a reset or a repair",
    },
    Key {
        section: "reader",
        name: "deadline_seconds",
        field: Field::Seconds {
            of: |config| &mut config.reader.deadline,
            range: (1, 600),
        },
        what: "A device that has not answered a poll by then is given up and its reader replaced",
        why: "A healthy card answers within milliseconds, and mlx5 waits up to 60 s for a stuck one",
    },
    Key {
        section: "metrics",
        name: "raw_counters",
        field: Field::Switch {
            of: |config| &mut config.metrics.raw_counters,
        },
        what: "Export counters the catalog does not know as railwatch_raw_reading",
        why: "They have no known meaning or unit, and a new driver can bring hundreds",
    },
    Key {
        section: "log",
        name: "level",
        field: Field::Level {
            of: |config| &mut config.log.level,
        },
        what: "What is logged",
        why: "At info there is nothing per poll or scrape: start, stop and changes only",
    },
    Key {
        section: "log",
        name: "format",
        field: Field::Format {
            of: |config| &mut config.log.format,
        },
        what: "Shape of a log line",
        why: "The journal is read by people as a rule",
    },
    Key {
        section: "path",
        name: "sysfs",
        field: Field::Path {
            of: |config| &mut config.path.sysfs,
        },
        what: "Where this host's sysfs is seen",
        why: "A container sees it elsewhere",
    },
    Key {
        section: "path",
        name: "procfs",
        field: Field::Path {
            of: |config| &mut config.path.procfs,
        },
        what: "Where this host's procfs is seen",
        why: "A container sees it elsewhere",
    },
    Key {
        section: "path",
        name: "state",
        field: Field::Path {
            of: |config| &mut config.path.state,
        },
        what: "Directory of what survives a restart",
        why: "systemd makes it for the unit",
    },
    Key {
        section: "path",
        name: "runtime",
        field: Field::Path {
            of: |config| &mut config.path.runtime,
        },
        what: "Directory of the local socket",
        why: "systemd makes it for the unit",
    },
    Key {
        section: "path",
        name: "expect",
        field: Field::Path {
            of: |config| &mut config.path.expect,
        },
        what: "File with what nodes should have, from railwatch expect --from-this-node",
        why: "One file serves a fleet; where there is none, what was learnt and siblings speak",
    },
];

impl Key {
    /// `section.name`, as messages have it.
    #[must_use]
    pub fn dotted(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// Its environment variable.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("RAILWATCH__{}__{}", self.section, self.name).to_uppercase()
    }
}

/// The key of that name.
#[must_use]
pub fn find(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter()
        .find(|key| key.section == section && key.name == name)
}

/// The keys of a section.
pub fn section_keys(section: &str) -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().filter(move |key| key.section == section)
}

/// Whether there is a section of that name.
#[must_use]
pub fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|section| section.name == name)
}
