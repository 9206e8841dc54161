//! `linerate layout`: whether memory layout decides how fast a program is, and arithmetic on it.

mod check;
mod json;
mod run;
mod sentences;
mod text;

use crate::args::{LayoutArgs, LayoutCommand};
use crate::error::Outcome;
use crate::output::Output;

/// Runs a program, or does what the subcommand says.
pub(crate) fn run(args: &LayoutArgs, output: Output) -> Outcome {
    match &args.command {
        Some(LayoutCommand::Check(args)) => check::run(args, output),
        None => run::run(&args.run, output),
    }
}
