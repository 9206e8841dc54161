//! `linerate counters`: what a program, a process or CPUs wait for.

mod json;
mod text;

use lab::counters::{Target, measure};

use crate::args::CountersArgs;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};

/// Counts, prints, and ends with 1 where the command failed.
pub(crate) fn run(args: &CountersArgs, output: Output) -> Outcome {
    let interrupt = Interrupt::watch()?;
    let target = target(args);
    let report =
        measure(&target, args.wanted(), &|| interrupt.is_asked()).map_err(Error::refused)?;
    match args.json {
        true => output.print_json(&json::Counted::new(&target, &report))?,
        false => {
            let stream = Stream::Stdout;
            let (paint, width) = (output.paint(stream), output.width(stream));
            output.print(stream, &text::render(&target, &report, paint, width))?
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

fn target(args: &CountersArgs) -> Target {
    match (&args.cpu, args.pid) {
        (Some(cpus), _) => Target::Cpus(cpus.0.iter().map(|cpu| u32::from(cpu.0)).collect()),
        (None, Some(process)) => Target::Process(process),
        (None, None) => Target::Command(args.command.clone()),
    }
}
