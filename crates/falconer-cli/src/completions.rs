//! `falconer completions` and `falconer man`: for shells and for `man`.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::command::Falconer;
use crate::exit::{Done, Exit, Fault};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer completions bash > ~/.local/share/bash-completion/completions/falconer
  falconer completions zsh > ~/.zfunc/_falconer
  falconer completions fish > ~/.config/fish/completions/falconer.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(arguments: &Completions) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Falconer::command(),
        "falconer",
        &mut text,
    );
    std::io::Write::write_all(&mut std::io::stdout(), &text)?;
    Ok(Exit::Success)
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer man > falconer.1
  falconer man --dir man/man1    a page for each command")]
pub(crate) struct Man {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
}

pub(crate) fn man(arguments: Man) -> Done {
    match arguments.dir {
        None => clap_mangen::Man::new(Falconer::command()).render(&mut std::io::stdout())?,
        Some(directory) => {
            let failed = |error: std::io::Error| {
                let text = format!("failed to write to {}: {error}", directory.display());
                Fault::setup(text, "choose a writable directory")
            };
            std::fs::create_dir_all(&directory).map_err(failed)?;
            clap_mangen::generate_to(Falconer::command(), &directory).map_err(failed)?;
        }
    }
    Ok(Exit::Success)
}
