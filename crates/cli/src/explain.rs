//! `linerate explain`: one frame through the classifier and the policy of a bridge, and what came
//! of it in words.

mod facts;
mod headers;
mod judge;
mod source;
mod text;

use serde::Serialize;

use crate::args::ExplainArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::load::{self, ReadChoices};
use crate::output::{Output, Stream};
use crate::resolve::SetPlan;
use facts::FrameFacts;
use judge::Judge;
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

/// Explains one frame, or all of a capture.
pub(crate) fn run(args: &ExplainArgs, output: Output) -> Outcome {
    let mut plan = SetPlan::resolve(&args.policy)?;
    if let Some(names) = &args.policy.router {
        let ports = names.ports("--router", &["first", "second"]);
        plan.policy.router = ports.map_err(Error::refused)?;
    }
    if plan.stdin_count() != 0 {
        return Err(Error::refused(
            "a list is read again for each address, which standard input cannot be: write it to a \
             file and name that",
        ));
    }
    let mut reader = FrameReader::open(&args.frame)?;
    let choices = ReadChoices::new(&args.read, args.skip_bad_lines);
    let sets = load::load_sets(&plan, &choices, false, output)?;
    let mut judge = Judge::new(&plan, sets.compiled, choices, args.workers)?;
    let (stream, mut frames, mut unread) = (Stream::Stdout, Vec::new(), Vec::new());
    let (paint, width) = (output.paint(stream), output.width(stream).min(WIDTH_MAX));
    while let Some(found) = reader.next()? {
        let text = match found {
            Found::Frame(frame) => {
                let facts = judge.explain(&frame)?;
                let text = text::render(&facts, paint, width);
                frames.extend(args.json.then_some(facts));
                text
            }
            Found::Unread(record) => {
                let text = text::render_unread(&record, paint, width);
                unread.extend(args.json.then_some(record));
                text
            }
        };
        if !args.json && !output.print_on(&text)? {
            break;
        }
    }
    let warnings = reader.warnings();
    warnings.iter().for_each(|warning| output.warn(warning));
    reader.finish()?;
    match args.json {
        true => output.print_json(&Explained {
            version: VERSION,
            frames,
            unread,
            warnings,
        }),
        false => Ok(crate::exit::ExitCode::Done),
    }
}
