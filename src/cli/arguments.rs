//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::exit::{Failure, Reason};
use crate::cli::output;
use crate::cli::{attention, capture, check, expect, findings};
use crate::core::wire::Node;
use crate::daemon::config::Config;
use crate::daemon::config::layers::{self, FlagValue, Inputs, Loaded};
use crate::daemon::config::value::Given;

/// Time for a command that asks or reads: a healthy node answers within one second.
const PATIENCE: Duration = Duration::from_secs(10);

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "railwatch",
    version,
    about = "Watches the data paths of a GPU host",
    after_help = "Exit codes: 0 done or ok; check: 1 warning, 2 critical, 3 unknown; 64 usage or configuration, 66 an input cannot be opened, \
                  69 what is needed is not there, 70 internal, 74 the output cannot be written, 130 interrupted"
)]
pub struct Arguments {
    /// Flags of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Read this capture, a directory or an archive, instead of this host
    #[arg(long, global = true, value_name = "PATH")]
    pub node: Option<PathBuf>,
    /// Where this host's sysfs is seen
    #[arg(long = "path.sysfs", global = true, value_name = "PATH")]
    pub sysfs: Option<String>,
    /// Where this host's procfs is seen
    #[arg(long = "path.procfs", global = true, value_name = "PATH")]
    pub procfs: Option<String>,
    /// The configuration instead of /etc/railwatch/railwatch.toml
    #[arg(long = "config.file", global = true, value_name = "FILE")]
    pub config_file: Option<PathBuf>,
    /// Refuse a configuration that has any problem
    #[arg(long = "config.strict", global = true)]
    pub config_strict: bool,
    /// error, warn, info, debug or trace, or a list of target=level
    #[arg(long = "log.level", global = true, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// Shape of a log line: text or json
    #[arg(long = "log.format", global = true, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// A command ends by then, such as 500ms, 2s, 1m, 2h or plain seconds; 10s where not said, 1m for capture
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Shape of what a command answers
    #[arg(long, global = true, value_enum, default_value_t = Output::Text, value_name = "SHAPE")]
    pub output: Output,
}

/// Shape of what a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people, or as scrapers have it.
    Text,
    /// A document.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch this host and serve what is seen
    Run(RunOptions),
    /// Print the metrics once
    Metrics(MetricsOptions),
    /// Check, show or write the configuration
    Config {
        /// What to do with it.
        #[command(subcommand)]
        what: ConfigCommand,
    },
    /// Freeze this host as files that railwatch reads elsewhere; identities are replaced
    Capture(capture::Args),
    /// Say whether the node is healthy; the exit code says it too
    Check(check::Args),
    /// Say what can be seen and judged here, what not, and what would widen it
    Doctor(check::DoctorArgs),
    /// List what was found
    Findings(findings::Args),
    /// Write down what this node has as what it should have
    Expect(expect::Args),
    /// Do not tell of a finding for a while
    Silence(attention::SilenceArgs),
    /// Tell that somebody works on this node, or no longer
    Maintenance {
        /// What to tell.
        #[command(subcommand)]
        what: attention::MaintenanceCommand,
    },
    /// Make the running daemon read its configuration again
    Reload,
    /// Read for the daemon at the other end of the pipe.
    #[command(hide = true)]
    ReaderNic,
}

/// Flags of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Address to listen on, host:port or :port; may be given several times
    #[arg(long = "web.listen-address", value_name = "ADDRESS")]
    pub listen_address: Vec<String>,
    /// How the metrics are served.
    #[command(flatten)]
    pub web: WebOptions,
    /// Runs the clock so many times as fast.
    #[arg(long = "test.clock-factor", hide = true, default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub clock_factor: u32,
}

/// Flags of `metrics`.
#[derive(Debug, Args)]
pub struct MetricsOptions {
    /// Read the node here and now, do not ask the daemon
    #[arg(long)]
    pub direct: bool,
    /// How the metrics are served.
    #[command(flatten)]
    pub web: WebOptions,
}

/// How the metrics are served.
#[derive(Debug, Args)]
pub struct WebOptions {
    /// Path of the metrics
    #[arg(long = "web.telemetry-path", value_name = "PATH")]
    pub telemetry_path: Option<String>,
    /// Leave out the metrics about railwatch itself
    #[arg(long = "web.disable-exporter-metrics")]
    pub disable_exporter_metrics: bool,
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigCommand {
    /// List every problem at once; code 64 if there is any
    Check,
    /// Show what holds, and where each value comes from
    Show,
    /// Print a file with every key at its default
    Default,
}

impl Global {
    /// Where the configuration comes from.
    #[must_use]
    pub fn inputs(&self) -> Inputs {
        let text = |key, flag, value: &Option<String>| {
            let value = Given::Text(value.clone()?);
            Some(FlagValue { key, flag, value })
        };
        let flags = [
            text(("path", "sysfs"), "--path.sysfs", &self.sysfs),
            text(("path", "procfs"), "--path.procfs", &self.procfs),
            text(("log", "level"), "--log.level", &self.log_level),
            text(("log", "format"), "--log.format", &self.log_format),
        ];
        Inputs {
            file: self.config_file.clone(),
            environment: std::env::vars_os().collect(),
            flags: flags.into_iter().flatten().collect(),
        }
    }

    /// Loads the configuration; a wrong flag is a usage error, other problems are for the caller.
    ///
    /// # Errors
    ///
    /// A wrong flag, any problem with `--config.strict`, a named file that cannot be read.
    pub fn load(&self, inputs: &Inputs) -> Result<Loaded, Failure> {
        let loaded =
            layers::load(inputs).map_err(|error| Failure::new(Reason::Input, &error.into()))?;
        let refused: Vec<String> = loaded
            .problems
            .iter()
            .filter(|problem| self.config_strict || problem.is_flag())
            .map(ToString::to_string)
            .collect();
        if refused.is_empty() {
            return Ok(loaded);
        }
        output::tell_lines(&refused);
        Err(Failure::told(Reason::Usage, ""))
    }

    /// Loads the configuration for a command that ends at once: problems are told.
    ///
    /// # Errors
    ///
    /// As [`Global::load`].
    pub fn load_and_tell(&self, inputs: &Inputs) -> Result<Config, Failure> {
        let loaded = self.load(inputs)?;
        let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
        output::tell_lines(&problems);
        Ok(loaded.config)
    }

    /// By when a command that asks or reads has to end.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.timeout.unwrap_or(PATIENCE)
    }

    /// The node that is asked for.
    ///
    /// # Errors
    ///
    /// There is no such capture.
    pub fn wanted_node(&self, config: &Config) -> Result<Node, Failure> {
        let Some(path) = &self.node else {
            return Ok(Node::Host {
                sysfs: text_of(&config.path.sysfs)?,
                procfs: text_of(&config.path.procfs)?,
            });
        };
        let cannot = |error: std::io::Error| {
            let message = format!("cannot open the node {}: {error}", path.display());
            Failure::told(Reason::Input, message)
        };
        std::fs::metadata(path).map_err(cannot)?;
        Ok(Node::Captured {
            path: text_of(&std::path::absolute(path).map_err(cannot)?)?,
        })
    }

    /// Whether another node than the daemon's is asked for.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.node.is_some() || self.sysfs.is_some() || self.procfs.is_some()
    }
}

impl RunOptions {
    /// The flags as a layer.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let mut flags = self.web.flags();
        if !self.listen_address.is_empty() {
            let each = self.listen_address.iter().cloned().map(Given::Text);
            flags.push(FlagValue {
                key: ("web", "listen_address"),
                flag: "--web.listen-address",
                value: Given::List(each.collect()),
            });
        }
        flags
    }
}

impl WebOptions {
    /// The flags as a layer.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagValue> {
        let path = self.telemetry_path.iter().map(|path| FlagValue {
            key: ("web", "telemetry_path"),
            flag: "--web.telemetry-path",
            value: Given::Text(path.clone()),
        });
        let disabled = self.disable_exporter_metrics.then_some(FlagValue {
            key: ("web", "disable_exporter_metrics"),
            flag: "--web.disable-exporter-metrics",
            value: Given::Switch(true),
        });
        path.chain(disabled).collect()
    }
}

fn text_of(path: &Path) -> Result<String, Failure> {
    path.to_str().map(ToOwned::to_owned).ok_or_else(|| {
        let message = format!("cannot use the path {}: not UTF-8", path.display());
        Failure::told(Reason::Usage, message)
    })
}

/// A time as people write it.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let allowed =
        || "allowed is a time above 0 and up to a day: 500ms, 2s, 1m, 2h or seconds".to_owned();
    let (number, factor) = if let Some(number) = text.strip_suffix("ms") {
        (number, 0.001)
    } else if let Some(number) = text.strip_suffix('s') {
        (number, 1.0)
    } else if let Some(number) = text.strip_suffix('m') {
        (number, 60.0)
    } else if let Some(number) = text.strip_suffix('h') {
        (number, 3600.0)
    } else {
        (text, 1.0)
    };
    let seconds = number.parse::<f64>().map_err(|_| allowed())? * factor;
    if !(0.001..=86_400.0).contains(&seconds) {
        return Err(allowed());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| allowed())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expected) in [
            ("500ms", Some(Duration::from_millis(500))),
            ("2s", Some(Duration::from_secs(2))),
            ("1m", Some(Duration::from_secs(60))),
            ("0.5", Some(Duration::from_millis(500))),
            ("3", Some(Duration::from_secs(3))),
            ("0", None),
            ("-1s", None),
            ("inf", None),
            ("NaN", None),
            ("1e30m", None),
            ("", None),
            ("ms", None),
            ("2 h", None),
        ] {
            assert_eq!(duration(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn global_flags_stand_before_and_after_the_command() {
        for line in [
            [
                "railwatch",
                "--timeout",
                "2s",
                "metrics",
                "--output",
                "json",
            ],
            [
                "railwatch",
                "metrics",
                "--output",
                "json",
                "--timeout",
                "2s",
            ],
        ] {
            let arguments = Arguments::try_parse_from(line).unwrap();
            assert_eq!(arguments.global.timeout, Some(Duration::from_secs(2)));
            assert_eq!(arguments.global.output, Output::Json);
        }
    }
}
