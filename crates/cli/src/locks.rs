//! `linerate locks`: who waits for which lock.

mod columns;
mod json;
mod text;

use lab::contention::{Watched, watch};

use crate::args::LocksArgs;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};

/// Watches, prints, and ends with 1 where the command failed.
pub(crate) fn run(args: &LocksArgs, output: Output) -> Outcome {
    let interrupt = Interrupt::watch()?;
    let watched = match args.wanted() {
        Some(wanted) => Watched::Machine(wanted),
        None => Watched::Command(args.command.clone()),
    };
    let mut report = watch(&watched, &|| interrupt.is_asked()).map_err(Error::refused)?;
    columns::sort(&mut report.rows, args.sort);
    match args.json {
        true => output.print_json(&json::Waits::new(&report))?,
        false => {
            let stream = Stream::Stdout;
            let (paint, width) = (output.paint(stream), output.width(stream));
            let rows = usize::from(args.rows);
            output.print(stream, &text::render(&report, rows, paint, width))?
        }
    };
    Ok(match &report.failure {
        Some(failure) => {
            output.warn(&format!("the command failed ({failure})"));
            ExitCode::CheckFailed
        }
        None => ExitCode::Done,
    })
}
