//! Man pages and completions, made of the command line's own declarations.

use std::fs;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};

/// Writes a page a command.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let folder = &args.folder;
    let written = fs::create_dir_all(folder);
    let written = written.and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        let shown = folder.display();
        Error::refused(format!(
            "man pages cannot be written into {shown} ({error}): name a folder that is yours"
        ))
    })?;
    Ok(ExitCode::Done)
}

/// Prints what a shell needs.
pub(crate) fn completions(args: &CompletionsArgs, output: Output) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "linerate", &mut text);
    output.print(Stream::Stdout, &String::from_utf8_lossy(&text))
}
