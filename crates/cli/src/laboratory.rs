//! `linerate lab`: experiments by name, what came of them, and one run against another.

mod chart;
mod compare;
pub(crate) mod date;
mod destination;
mod facts;
mod field;
mod grid;
mod json;
mod markup;
mod no_drop;
mod page;
mod progress;
mod published;
mod run;
mod text;
mod unit;

#[cfg(test)]
mod sample;

use crate::args::{LabArgs, LabCommand};
use crate::error::Outcome;
use crate::output::{Output, Stream};
use crate::report::table::{Align, Table};
pub(crate) use no_drop::run as no_drop;

/// Runs the command.
pub(crate) fn run(args: &LabArgs, output: Output) -> Outcome {
    match &args.command {
        LabCommand::List(_) => list(output),
        LabCommand::Run(args) => run::run(args, output),
        LabCommand::Compare(args) => compare::run(args, output),
    }
}

fn list(output: Output) -> Outcome {
    let mut table = Table::new(&[("experiment", Align::Left), ("what it shows", Align::Left)]);
    for experiment in lab::EXPERIMENTS {
        table.row([experiment.name.to_owned(), experiment.sentence.to_owned()]);
    }
    let stream = Stream::Stdout;
    output.print(
        stream,
        &table.render(output.paint(stream), output.width(stream)),
    )
}
