//! `linerate layout -- COMMAND`.

use std::time::Duration;

use lab::layout::{self, Request};
use lab::{Better, LoadWatch};

use super::{json, text};
use crate::args::{BetterWhich, LayoutOnly, LayoutRunArgs};
use crate::error::{Error, Outcome};
use crate::interrupt;
use crate::output::{Output, Stream};
use crate::screen::Screen;

/// How often a line is due on a terminal, and elsewhere.
const EVERY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// Investigates and says what was found. That layout matters is a result and no failure.
pub(super) fn run(args: &LayoutRunArgs, output: Output) -> Outcome {
    interrupt::end_with("interrupted before it was known whether layout matters: no result")?;
    let request = request(args);
    let mut screen = Screen::live(output, EVERY.0, Some(EVERY.1));
    screen.begin("  running the program for the first time");
    let mut progress = |stage: &str, done: usize, all: usize| {
        if screen.is_due() {
            screen.show(&[format!("  {stage}: {} %", done * 100 / all.max(1))]);
        }
    };
    let watch = LoadWatch::begin();
    let found = layout::investigate(&request, &mut progress);
    screen.clear();
    let report = found.map_err(Error::refused)?;
    let load = watch.end();
    for warning in lab::Conditions::read().warnings(&load) {
        output.warn(&warning);
    }
    if args.json {
        return output.print_json(&json::Found::new(&report));
    }
    let stream = Stream::Stdout;
    let (paint, width) = (output.paint(stream), output.width(stream));
    output.print(stream, &text::render(&report, paint, width))
}

fn request(args: &LayoutRunArgs) -> Request {
    let better = match (&args.metric, args.better) {
        (Some(_), BetterWhich::Higher) => Better::Higher,
        _ => Better::Lower,
    };
    Request {
        command: args.command.clone(),
        from_bytes: args.from,
        metric: args.metric.clone(),
        better,
        rounds: usize::from(args.rounds),
        blocks: args.only != Some(LayoutOnly::Stack),
        stack: args.only != Some(LayoutOnly::Blocks),
        seed: args.seed,
    }
}
