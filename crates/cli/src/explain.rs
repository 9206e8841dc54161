//! `linerate explain`, and `--explain` of switch and router: one frame through the classifier, the
//! policy and what is behind it, and what came of it in words.

mod behind;
mod facts;
mod headers;
mod judge;
mod rules;
mod source;
mod text;

use frame::PortId;
use serde::Serialize;

use crate::args::{ExplainArgs, ForwardArgs, FrameSource};
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::load::{self, ReadChoices};
use crate::output::{Output, Stream};
use crate::resolve::{BridgeSettings, SetPlan};
use behind::Behind;
use facts::FrameFacts;
use judge::{Judge, Question};
use source::{Found, FrameReader, Unread};

/// Widest text there is: a frame's headers are read beside something else.
const WIDTH_MAX: usize = 80;

/// What programs read.
#[derive(Debug, Serialize)]
struct Explained {
    version: &'static str,
    frames: Vec<FrameFacts>,
    /// Records of a capture that have a number and cannot be explained.
    unread: Vec<Unread>,
    /// What standard error was told, a sentence each.
    warnings: Vec<String>,
}

/// Explains one frame, or all of a capture, as a bridge sees it.
pub(crate) fn run(args: &ExplainArgs, output: Output) -> Outcome {
    let mut plan = SetPlan::resolve(&args.policy)?;
    if let Some(names) = &args.policy.router {
        let ports = names.ports("--router", &["first", "second"]);
        plan.policy.router = ports.map_err(Error::refused)?;
    }
    if let Some(file) = &args.rules {
        plan.read_rules(file, &args.ports)?;
    }
    let question = Question {
        plan: &plan,
        choices: ReadChoices::new(&args.read, args.skip_bad_lines),
        behind: &Behind::Pair,
        from: PortId(0),
        workers: args.workers,
    };
    answer(question, &args.frame, args.json, output)
}

/// Explains what a switch or router, which opens no port, would do.
pub(crate) fn run_stage(
    settings: &BridgeSettings,
    common: &ForwardArgs,
    source: &FrameSource,
    output: Output,
) -> Outcome {
    let names = settings.port_names()?;
    let from = match &common.explain.at {
        Some(word) => names.port(word).map_err(Error::refused)?,
        None => PortId(0),
    };
    let question = Question {
        plan: &settings.sets,
        choices: ReadChoices::new(&common.read, common.skip_bad_lines),
        behind: &Behind::of(settings, names)?,
        from,
        workers: u16::try_from(settings.layout.cpus.len()).unwrap_or(u16::MAX),
    };
    answer(question, source, common.run.json, output)
}

fn answer(question: Question<'_>, source: &FrameSource, json: bool, output: Output) -> Outcome {
    if question.plan.stdin_count() != 0 {
        return Err(Error::refused(
            "a list is read again for each address, which standard input cannot be: write it to a \
             file and name that",
        ));
    }
    let mut reader = FrameReader::open(source)?;
    let sets = load::load_sets(question.plan, &question.choices, false, output)?;
    let mut judge = Judge::new(question, sets.compiled)?;
    let (stream, mut frames, mut unread) = (Stream::Stdout, Vec::new(), Vec::new());
    let (paint, width) = (output.paint(stream), output.width(stream).min(WIDTH_MAX));
    while let Some(found) = reader.next()? {
        let text = match found {
            Found::Frame(frame) => {
                let facts = judge.explain(&frame)?;
                let text = text::render(&facts, paint, width);
                frames.extend(json.then_some(facts));
                text
            }
            Found::Unread(record) => {
                let text = text::render_unread(&record, paint, width);
                unread.extend(json.then_some(record));
                text
            }
        };
        if !json && !output.print_on(&text)? {
            break;
        }
    }
    let warnings = reader.warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    reader.finish()?;
    match json {
        true => output.print_json(&Explained {
            version: VERSION,
            frames,
            unread,
            warnings,
        }),
        false => Ok(crate::exit::ExitCode::Done),
    }
}
