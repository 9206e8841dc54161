//! `linerate load http` and `linerate serve http`.

mod figures;
mod live;
mod metrics;
mod plan;
mod serve;
mod text;

use crate::args::{HttpLoadArgs, LoadCommand, ServeCommand};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::host;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::run::warn_of_debug_build;
use figures::Figures;
pub(crate) use plan::clients;

/// Sends requests, by HTTP or alone.
pub(crate) fn load(command: &LoadCommand, output: Output) -> Outcome {
    match command {
        LoadCommand::Http(args) => run(args, output),
        LoadCommand::Tcp(args) => host::load(args, output),
        LoadCommand::Udp(args) => host::load_udp(args, output),
    }
}

/// Answers requests, by HTTP or alone.
pub(crate) fn serve(command: &ServeCommand, output: Output) -> Outcome {
    match command {
        ServeCommand::Http(args) => serve::run(args, output),
        ServeCommand::Tcp(args) => host::serve(args, output),
        ServeCommand::Udp(args) => host::serve_udp(args, output),
    }
}

fn run(args: &HttpLoadArgs, output: Output) -> Outcome {
    let spec = plan::spec(args)?;
    warn_of_debug_build(output);
    let interrupt = Interrupt::watch()?;
    let report = live::run(spec, &args.verdict, &interrupt, output)?;
    let expectations = args.verdict.expect.as_ref().map_or(&[][..], |list| &list.0);
    let figures = Figures::new(&report, expectations);
    if args.verdict.json {
        output.print_json(&figures)?;
    } else {
        let (paint, width) = (output.paint(Stream::Stdout), output.width(Stream::Stdout));
        output.print(Stream::Stdout, &text::render(&figures, paint, width))?;
    }
    if !figures.balanced {
        return Err(Error::check_failed(
            "the books do not balance: this is a fault of linerate, please report it",
        ));
    }
    Ok(match figures.holds() {
        true => ExitCode::Done,
        false => ExitCode::CheckFailed,
    })
}

/// Threads where none were asked for: as many as there are CPUs.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cpus, usize::from)
}
