//! `linerate bypass`: what forwards while no bridge runs, shown and taken away.

use port::{Standing, standing, take_away};
use serde::Serialize;

use crate::args::{BypassCommand, BypassOffArgs, BypassPlace, BypassShowArgs};
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};
use crate::report::number::count;
use crate::report::table::{Align, Table};

#[derive(Debug, Serialize)]
struct Shown {
    version: &'static str,
    bypasses: Vec<Shape>,
}

/// A bypass, as JSON has it.
#[derive(Debug, Serialize)]
struct Shape {
    interface: String,
    /// Where its frames go; null where that interface is gone.
    peer: Option<String>,
    /// `bridged` while a bridge runs, else `unfiltered`; `off` once it was taken away.
    state: &'static str,
    /// Frames that passed unfiltered since the bridge that runs, or ran last, began.
    unfiltered: u64,
    /// Frames dropped because the other interface was gone.
    stranded: u64,
    /// `driver` or `generic`.
    program_in: &'static str,
    program_id: u32,
    /// Whether promiscuous mode was set for it.
    promiscuous: bool,
    /// What was switched off for it.
    offloads_off: Vec<String>,
}

/// Does what was asked for.
pub(crate) fn run(command: &BypassCommand, output: Output) -> Outcome {
    match command {
        BypassCommand::Show(args) => show(args, output),
        BypassCommand::Off(args) => off(args, output),
    }
}

fn show(args: &BypassShowArgs, output: Output) -> Outcome {
    let standing = standing(&args.place.folder).map_err(Error::refused)?;
    let state = |found: &Standing| {
        if found.bridged {
            "bridged"
        } else {
            "unfiltered"
        }
    };
    let shapes = standing.into_iter().map(|found| {
        let state = state(&found);
        Shape::of(found, state)
    });
    print(shapes.collect(), &args.place, output)
}

/// All that were named; an error ends it after those before.
fn off(args: &BypassOffArgs, output: Output) -> Outcome {
    let mut taken = Vec::new();
    let mut failure = None;
    for interface in &args.interfaces {
        match take_away(&args.place.folder, interface) {
            Ok(found) => taken.push(Shape::of(found, "off")),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let printed = print(taken, &args.place, output);
    failure.map_or(printed, |error| Err(Error::refused(error)))
}

fn print(bypasses: Vec<Shape>, place: &BypassPlace, output: Output) -> Outcome {
    if place.json {
        let version = VERSION;
        return output.print_json(&Shown { version, bypasses });
    }
    let stream = Stream::Stdout;
    if bypasses.is_empty() {
        let folder = place.folder.display();
        return output.print(stream, &format!("no bypass in {folder}\n"));
    }
    let columns = [
        ("interface", Align::Left),
        ("to", Align::Left),
        ("state", Align::Left),
        ("unfiltered", Align::Right),
        ("stranded", Align::Right),
        ("program", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for shape in bypasses {
        table.row([
            shape.interface,
            shape.peer.unwrap_or_else(|| "nowhere".to_owned()),
            shape.state.to_owned(),
            count(shape.unfiltered),
            count(shape.stranded),
            format!("{} (id {})", shape.program_in, shape.program_id),
        ]);
    }
    output.print(
        stream,
        &table.render(output.paint(stream), output.width(stream)),
    )
}

impl Shape {
    fn of(found: Standing, state: &'static str) -> Self {
        Self {
            interface: found.interface,
            peer: found.peer,
            state,
            unfiltered: found.unfiltered,
            stranded: found.stranded,
            program_in: if found.native { "driver" } else { "generic" },
            program_id: found.program,
            promiscuous: found.promiscuous,
            offloads_off: found.offloads,
        }
    }
}
