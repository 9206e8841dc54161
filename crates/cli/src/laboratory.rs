//! `linerate lab`: experiments by name, and their tables.

use engine::Machine;
use serde_json::{Map, Value, json};

use crate::args::{LabArgs, LabCommand, LabRunArgs};
use crate::build;
use crate::error::{Error, Outcome};
use crate::output::{Output, Stream};
use crate::paint::Paint;
use crate::report::number::count;
use crate::report::table::{Align, Table, wrap};
use crate::screen::Screen;

/// Runs the command.
pub(crate) fn run(args: &LabArgs, output: Output) -> Outcome {
    match &args.command {
        LabCommand::List(_) => list(output),
        LabCommand::Run(args) => experiment(args, output),
    }
}

fn list(output: Output) -> Outcome {
    let mut table = Table::new(&[("experiment", Align::Left), ("varies", Align::Left)]);
    for experiment in lab::EXPERIMENTS {
        table.row([experiment.name.to_owned(), experiment.sentence.to_owned()]);
    }
    let stream = Stream::Stdout;
    output.print(
        stream,
        &table.render(output.paint(stream), output.width(stream)),
    )
}

fn experiment(args: &LabRunArgs, output: Output) -> Outcome {
    let Some(experiment) = lab::find(&args.name) else {
        return Err(Error::refused(format!(
            "there is no experiment '{}': 'linerate lab list' names them",
            args.name
        )));
    };
    if build::DEBUG {
        output.warn(build::DEBUG_WARNING);
    }
    let mut screen = Screen::new(output);
    let mut progress = |done: usize, all: usize| {
        screen.passing(&format!("  {}: round {done} of {all}", experiment.name));
    };
    let mut settings = lab::Settings {
        quick: args.quick,
        seed: args.seed,
        progress: &mut progress,
    };
    let outcome = (experiment.run)(&mut settings).map_err(Error::refused)?;
    screen.clear();
    if args.json {
        return output.print_json(&object(args, &outcome));
    }
    let stream = Stream::Stdout;
    output.print(
        stream,
        &text(&outcome, output.paint(stream), output.width(stream)),
    )
}

fn object(args: &LabRunArgs, outcome: &lab::Outcome) -> Value {
    let machine = Machine::read();
    let row = |row: &lab::Row| {
        let variant: Map<String, Value> = row
            .variant
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value_json(value)))
            .collect();
        json!({
            "variant": variant,
            "metric": row.metric,
            "median": row.samples.median(),
            "low": row.samples.low(),
            "high": row.samples.high(),
            "samples": row.samples.all(),
        })
    };
    json!({
        "experiment": args.name,
        "version": build::VERSION,
        "debug_build": build::DEBUG,
        "machine": { "cpu": machine.cpu, "kernel": machine.kernel, "cpus": machine.cpus },
        "seed": args.seed,
        "rows": outcome.rows.iter().map(row).collect::<Vec<_>>(),
        "findings": outcome.findings,
    })
}

fn value_json(value: &lab::Value) -> Value {
    match value {
        lab::Value::Number(number) => (*number).into(),
        lab::Value::Word(word) => (*word).into(),
    }
}

fn cell(value: &lab::Value) -> String {
    match value {
        lab::Value::Number(number) => count(*number),
        lab::Value::Word(word) => (*word).to_owned(),
    }
}

fn text(outcome: &lab::Outcome, paint: Paint, width: usize) -> String {
    let Some(first) = outcome.rows.first() else {
        return String::new();
    };
    let mut columns: Vec<(&str, Align)> = first
        .variant
        .iter()
        .map(|&(name, _)| (name, Align::Right))
        .collect();
    columns.extend([(first.metric, Align::Right), ("quartiles", Align::Left)]);
    let mut table = Table::new(&columns);
    for row in &outcome.rows {
        let mut cells: Vec<String> = row.variant.iter().map(|(_, value)| cell(value)).collect();
        cells.push(format!("{:.2}", row.samples.median()));
        cells.push(format!(
            "{:.2} to {:.2}",
            row.samples.low(),
            row.samples.high()
        ));
        table.push(cells);
    }
    let findings: String = outcome
        .findings
        .iter()
        .map(|text| wrap(text, 2, width))
        .collect();
    format!("{}\n{findings}", table.render(paint, width))
}
