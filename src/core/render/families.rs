//! The metric families that are not rows of the catalog: our own health, and facts as labels.
//!
//! One constant per family, so that the exposition and the generated reference say the same thing.

use crate::core::catalog::Kind;

/// One metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Full metric name.
    pub name: &'static str,
    /// One sentence for HELP, without a full stop.
    pub help: &'static str,
    /// Counter or gauge.
    pub kind: Kind,
    /// Label names in the order in which they are documented; one that is not known or does not
    /// apply is left empty on `_info` families and is left out elsewhere.
    pub labels: &'static [&'static str],
}

/// Polls sent to readers.
pub const POLLS: Family = counter(
    "railwatch_polls_total",
    "Polls sent to the readers since the daemon started",
    &[],
);
/// Whether the newest pass of a source worked.
pub const SOURCE_SUCCESS: Family = gauge(
    "railwatch_source_success",
    "Whether the newest pass of the source gave at least one value and did not stall (1) or not (0); absent before the first pass and where there is nothing to read",
    &["source"],
);
/// Age of a source's newest pass.
pub const SOURCE_AGE_SECONDS: Family = gauge(
    "railwatch_source_age_seconds",
    "Time since the newest pass of the source ended",
    &["source"],
);
/// Time a source's newest pass took.
pub const SOURCE_DURATION_SECONDS: Family = gauge(
    "railwatch_source_duration_seconds",
    "Time the newest pass of the source took, summed over its devices",
    &["source"],
);
/// Interval at which a source is really read.
pub const SOURCE_INTERVAL_SECONDS: Family = gauge(
    "railwatch_source_interval_seconds",
    "Actual time between two passes of the fastest lane of the source",
    &["source"],
);
/// Whether a read hangs.
pub const SOURCE_STALLED: Family = gauge(
    "railwatch_source_stalled",
    "Whether a read of the source has not returned within its deadline (1) or none hangs (0)",
    &["source"],
);
/// Polls that found a device busy.
pub const SOURCE_OVERRUNS: Family = counter(
    "railwatch_source_overruns_total",
    "Polls that found a device of the source still busy with an earlier one",
    &["source"],
);
/// Readers started again.
pub const SOURCE_RESTARTS: Family = counter(
    "railwatch_source_restarts_total",
    "Times the reader process of the source was started again",
    &["source"],
);
/// Readers given up.
pub const SOURCE_ABANDONED: Family = counter(
    "railwatch_source_abandoned_total",
    "Reader processes of the source that hung in the kernel and were given up",
    &["source"],
);
/// Failed reads by reason.
pub const READ_FAULTS: Family = counter(
    "railwatch_read_faults_total",
    "Reads that failed or gave no number, by reason",
    &["source", "reason"],
);
/// Devices that are left alone.
pub const DEVICE_SKIPPED: Family = gauge(
    "railwatch_device_skipped",
    "Device that is deliberately not read, with the reason; present (1) while it is skipped",
    &["device", "reason"],
);
/// What a device is.
pub const DEVICE_INFO: Family = gauge(
    "railwatch_device_info",
    "What a device is; always 1",
    &["device", "driver", "pci", "slot", "numa_node"],
);
/// What an RDMA port is.
pub const PORT_INFO: Family = gauge(
    "railwatch_port_info",
    "What an RDMA port is and which netdev carries it; always 1",
    &[
        "device",
        "port",
        "netdev",
        "driver",
        "pci",
        "link_layer",
        "firmware",
        "board",
        "guid",
    ],
);
/// Counters that stand at their top.
pub const READING_SATURATED: Family = gauge(
    "railwatch_reading_saturated",
    "Counter that stands at the top of its width and counts no more; present (1) while it does",
    &["metric", "device", "port"],
);
/// Which kernel counter is behind a vendor-neutral one.
pub const COUNTER_SOURCE_INFO: Family = gauge(
    "railwatch_counter_source_info",
    "Name of the kernel counter behind a metric whose drivers spell it differently; always 1",
    &["metric", "device", "port", "name"],
);
/// Counters the catalog lacks.
pub const RAW_READING: Family = gauge(
    "railwatch_raw_reading",
    "Counter of a driver that the catalog does not know, as the kernel gives it; off by default",
    &["device", "port", "group", "name"],
);
/// The build.
pub const BUILD_INFO: Family = gauge(
    "railwatch_build_info",
    "Version and, where the build knew it, source revision of the running program; always 1",
    &["version", "revision"],
);
/// Problems of the configuration.
pub const CONFIG_PROBLEMS: Family = gauge(
    "railwatch_config_problems",
    "Problems of the configuration that were answered with a default",
    &[],
);
/// What is found.
pub const FINDING_SEVERITY: Family = gauge(
    "railwatch_finding_severity",
    "Severity of a finding (1 info, 2 warning, 3 critical); present while it is active and for two minutes after",
    &["finding", "subject"],
);
/// How often something was found.
pub const FINDING_RAISED: Family = counter(
    "railwatch_finding_raised_total",
    "Findings raised since the daemon started",
    &["finding"],
);
/// How well rules can judge.
pub const DETECTOR_CAPABILITY: Family = gauge(
    "railwatch_detector_capability",
    "How well a rule can judge (0 not at all, 1 with less than it wants, 2 as it should): the worst over its subjects; absent where it has none",
    &["finding"],
);
/// Whether somebody works on the node.
pub const MAINTENANCE: Family = gauge(
    "railwatch_maintenance",
    "Whether the node is in maintenance (1), which caps exported severities at info, or not (0)",
    &[],
);
/// The host.
pub const HOST_INFO: Family = gauge(
    "railwatch_host_info",
    "Name, kernel release and distribution of the host; always 1",
    &["hostname", "kernel", "os"],
);
/// Memory of our processes.
pub const PROCESS_PSS_BYTES: Family = gauge(
    "railwatch_process_pss_bytes",
    "Proportional set size of one of our processes",
    &["process"],
);
/// CPU time of our processes.
pub const PROCESS_CPU_SECONDS: Family = counter(
    "railwatch_process_cpu_seconds_total",
    "User and system time of one of our processes",
    &["process"],
);
/// Descriptors of our processes.
pub const PROCESS_OPEN_FDS: Family = gauge(
    "railwatch_process_open_fds",
    "Open descriptors of one of our processes",
    &["process"],
);
/// Start of our processes.
pub const PROCESS_START_TIME_SECONDS: Family = gauge(
    "railwatch_process_start_time_seconds",
    "Start of one of our processes in seconds since 1970",
    &["process"],
);

/// Every family above, in the order of the reference.
pub const ALL: [Family; 27] = [
    FINDING_SEVERITY,
    FINDING_RAISED,
    DETECTOR_CAPABILITY,
    MAINTENANCE,
    PORT_INFO,
    DEVICE_INFO,
    DEVICE_SKIPPED,
    READING_SATURATED,
    COUNTER_SOURCE_INFO,
    RAW_READING,
    POLLS,
    SOURCE_SUCCESS,
    SOURCE_AGE_SECONDS,
    SOURCE_DURATION_SECONDS,
    SOURCE_INTERVAL_SECONDS,
    SOURCE_STALLED,
    SOURCE_OVERRUNS,
    SOURCE_RESTARTS,
    SOURCE_ABANDONED,
    READ_FAULTS,
    HOST_INFO,
    BUILD_INFO,
    CONFIG_PROBLEMS,
    PROCESS_PSS_BYTES,
    PROCESS_CPU_SECONDS,
    PROCESS_OPEN_FDS,
    PROCESS_START_TIME_SECONDS,
];

const fn gauge(name: &'static str, help: &'static str, labels: &'static [&'static str]) -> Family {
    Family {
        name,
        help,
        kind: Kind::Gauge,
        labels,
    }
}

const fn counter(
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
) -> Family {
    Family {
        name,
        help,
        kind: Kind::Counter,
        labels,
    }
}
