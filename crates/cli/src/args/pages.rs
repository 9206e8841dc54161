//! `linerate man` and `linerate completions`: what packages install beside the program.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Write the man pages of all commands, for those who make packages.
///
/// They are made of the same texts as --help, one file a command: linerate.1, linerate-run.1,
/// linerate-set-add.1 and so on.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The folder to write them into; it is made if it is not there.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// Print completions for a shell.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, zsh, fish, elvish or powershell.
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  linerate man man1
      all pages into the folder man1
  man man1/linerate-run.1
      read one of them";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  linerate completions bash > /etc/bash_completion.d/linerate
      for all users of bash
  linerate completions zsh > ~/.zfunc/_linerate
      for one user of zsh whose fpath has ~/.zfunc";
