//! `railwatch expect`: what nodes should have.

use crate::cli::arguments::Global;
use crate::cli::attention::ask;
use crate::cli::exit::Failure;
use crate::cli::output;
use crate::core::detect::expect_file;
use crate::core::detect::scene::Scene;
use crate::daemon::judge::Ask;
use crate::daemon::once;

/// What `expect` takes.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Args {
    /// Print an expectation file with what this node has now
    #[arg(long)]
    pub from_this_node: bool,
    /// Tell the daemon that what this node has now is what it should have
    #[arg(long)]
    pub accept: bool,
}

/// Prints a file, or tells the daemon.
///
/// # Errors
///
/// The node cannot be read, there is no daemon, standard output cannot be written.
pub fn run(global: &Global, args: &Args) -> Result<(), Failure> {
    if args.accept {
        return ask(global, &Ask::Accept);
    }
    let config = global.load_and_tell(&global.inputs())?;
    let node = global.wanted_node(&config)?;
    let once = once::once(&config, node, global.patience())?;
    for device in &once.late {
        output::tell(&format!("{} did not answer in time", device.as_str()));
    }
    let scene = Scene::of(&once.snapshot);
    let text = expect_file::write(&scene, once.snapshot.product.as_deref());
    output::print(text.as_bytes())
}
