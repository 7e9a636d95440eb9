//! Writes the man pages and the shells' completions into the directory that is its argument.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::{Shell, generate_to};
use railwatch::cli::arguments::Arguments;

fn main() -> io::Result<()> {
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "usage: man_pages OUTDIR");
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or_else(usage)?);
    let pages = directory.join("man");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(Arguments::command(), &pages)?;
    let completions = directory.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut Arguments::command(), "railwatch", &completions)?;
    }
    Ok(())
}
