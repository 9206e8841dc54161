//! Help whose sentences end: clap takes the full stop off a comment of one paragraph, so that some
//! texts of a help would have one and some would not.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The command, those below it and their options, each with an end to its sentence; clap's own
/// options too.
pub(crate) fn ended(mut command: Command) -> Command {
    command.build();
    end_all(command)
}

fn end_all(command: Command) -> Command {
    let about = command.get_about().map(with_end);
    let command = command.mut_args(end_option).mut_subcommands(end_all);
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}

fn end_option(option: Arg) -> Arg {
    match option.get_help().map(with_end) {
        Some(help) => option.help(help),
        None => option,
    }
}

fn with_end(text: &StyledStr) -> String {
    let text = text.to_string();
    match text.ends_with(['.', '?', ':']) {
        true => text,
        false => text + ".",
    }
}
