//! `linerate lab run`.

use lab::LoadWatch;

use super::destination::Destination;
use super::facts::Facts;
use super::progress::Progress;
use super::{json, page, text};
use crate::args::LabRunArgs;
use crate::build;
use crate::error::{Error, Outcome};
use crate::hints;
use crate::interrupt;
use crate::output::{Output, Stream};

/// Where what was found goes.
struct Destinations {
    json: Option<Destination>,
    html: Option<Destination>,
}

/// Runs one experiment and says what came of it.
pub(super) fn run(args: &LabRunArgs, output: Output) -> Outcome {
    let Some(experiment) = lab::find(&args.name) else {
        let near = hints::experiment_near(&args.name);
        let near = near.map_or_else(String::new, |near| format!("did you mean '{near}'? "));
        return Err(Error::refused(format!(
            "there is no experiment '{}': {near}'linerate lab list' names them",
            args.name
        )));
    };
    let wire = match (&args.tx, &args.rx) {
        (Some(tx), Some(rx)) => Some(lab::Wire { tx, rx }),
        _ => None,
    };
    if wire.is_some() && !experiment.over_ports {
        return Err(Error::refused(format!(
            "'{}' runs without ports: leave out --tx and --rx, or run {}",
            experiment.name,
            over_ports().join(", ")
        )));
    }
    interrupt::end_with(
        "interrupted before the experiment was over: there is no result, and no file was written",
    )?;
    let destinations = Destinations::open(args)?;
    if build::DEBUG {
        output.warn(build::DEBUG_WARNING);
    }
    let watch = LoadWatch::begin();
    let mut progress = Progress::new(output, experiment.name);
    let mut tell = |done: usize, all: usize| progress.tell(done, all);
    let mut settings = lab::Settings {
        quick: args.quick,
        seed: args.seed,
        wire,
        progress: &mut tell,
    };
    let outcome = (experiment.run)(&mut settings).map_err(Error::refused)?;
    progress.end();
    let facts = Facts::new(args, *experiment, watch.end(), &outcome);
    for warning in facts
        .warnings
        .iter()
        .filter(|text| *text != build::DEBUG_WARNING)
    {
        output.warn(warning);
    }
    destinations.write(&facts, &outcome, output)
}

/// The experiments that can.
fn over_ports() -> Vec<&'static str> {
    let able = lab::EXPERIMENTS
        .iter()
        .filter(|experiment| experiment.over_ports);
    able.map(|experiment| experiment.name).collect()
}

impl Destinations {
    fn open(args: &LabRunArgs) -> Result<Self, Error> {
        let open = |path: &Option<_>| path.as_deref().map(Destination::open).transpose();
        let found = Self {
            json: open(&args.json)?,
            html: open(&args.html)?,
        };
        match (&found.json, &found.html) {
            (Some(json), Some(html)) if json == html => Err(Error::refused(
                "--json and --html want the same place: name two files",
            )),
            _ => Ok(found),
        }
    }

    /// What goes to standard output comes first: it is there even if a file cannot be written.
    fn write(&self, facts: &Facts, outcome: &lab::Outcome, output: Output) -> Outcome {
        let stream = Stream::Stdout;
        let run = json::Run::new(facts, outcome);
        let done = match (&self.json, &self.html) {
            (Some(Destination::Stdout), _) => output.print_json(&run)?,
            (_, Some(Destination::Stdout)) => {
                output.print(stream, &page::render(facts, outcome))?
            }
            _ => {
                let (paint, width) = (output.paint(stream), output.width(stream));
                output.print(stream, &text::render(facts, outcome, paint, width))?
            }
        };
        if let Some(json) = &self.json {
            let text = serde_json::to_string(&run);
            let text = text.map_err(|error| Error::check_failed(format!("no JSON: {error}")))?;
            json.write(&(text + "\n"))?;
        }
        if let Some(html) = &self.html {
            html.write(&page::render(facts, outcome))?;
        }
        Ok(done)
    }
}
