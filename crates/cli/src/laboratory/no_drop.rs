//! `linerate ndr`: the search for the no-drop rate, its tables, its page.

mod curves;
mod http;
mod json;
mod pace;
mod page;
mod result;
mod target;
mod text;

use std::time::{Duration, Instant};

use lab::no_drop::{self, Progress, TrialPlan};

use self::pace::Pace;
use self::result::{Results, SizeResult};
use self::target::Target;
use super::destination::Destination;
use crate::args::NdrArgs;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::{brief, seconds};
use crate::run::warn_of_debug_build;
use crate::screen::Screen;

/// How often a line is due on a terminal, and elsewhere.
const LIVE: Duration = Duration::from_millis(100);
const LIVE_PLAIN: Duration = Duration::from_secs(10);

/// Runs the command.
pub(crate) fn run(args: &NdrArgs, output: Output) -> Outcome {
    match &args.http.url {
        Some(url) => http::run(args, url, output),
        None => frames(args, output),
    }
}

/// The searches of a device, one a size.
fn frames(args: &NdrArgs, output: Output) -> Outcome {
    let json = destination(args.json.as_deref())?;
    let html = destination(args.html.as_deref())?;
    if json.is_some() && json == html {
        return Err(Error::refused(
            "--json and --html want the same place: name two files",
        ));
    }
    let plans = target::plans(args)?;
    if args.simulate.is_none() {
        warn_of_debug_build(output);
    }
    let interrupt = Interrupt::watch()?;
    let mut target = Target::open(args, output)?;
    let mut results = Results::new(args);
    let mut failure = None;
    for (size, plan) in args.frames.size.iter().zip(plans) {
        let following = Following::of(&results.sizes, args.frames.size.len());
        let found = one(
            &mut target,
            args,
            (size, plan),
            following,
            (output, &interrupt),
        );
        match found {
            Ok(found) => results.sizes.push(found),
            // What was found with the sizes before is a result all the same.
            Err(error) => failure = Some(error),
        }
        if failure.is_some() || interrupt.is_asked() {
            break;
        }
    }
    results.warnings.extend(target.close());
    if let Some(error) = failure.take_if(|_| results.sizes.is_empty()) {
        return Err(error);
    }
    for warning in results.all_warnings() {
        output.warn(&warning);
    }
    write(&results, json, html, output)?;
    if let Some(error) = failure {
        return Err(error);
    }
    let sound = results.is_sound(args.frames.size.len());
    Ok(if sound && results.ledgers_close() {
        ExitCode::Done
    } else {
        ExitCode::CheckFailed
    })
}

fn destination(path: Option<&std::path::Path>) -> Result<Option<Destination>, Error> {
    path.map(Destination::open).transpose()
}

/// The search of one size.
fn one(
    target: &mut Target,
    args: &NdrArgs,
    (size, plan): (&traffic::Sizes, target::SizePlan),
    following: Following,
    (output, interrupt): (Output, &Interrupt),
) -> Result<SizeResult, Error> {
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    screen.begin(&format!("  {size}: first look"));
    let begun = Instant::now();
    let (device, search) = target.device(args, size, plan)?;
    let mut pace = Pace::new(begun, args.simulate.is_some());
    let mut tell = |progress: &Progress, trial: &TrialPlan| {
        if screen.is_due() {
            let mut line = live_line(size, progress, trial, &pace);
            line.extend(following.left(begun.elapsed(), pace.left(progress.left)));
            screen.show(&line);
        }
        pace.add(trial.duration);
        !interrupt.is_asked()
    };
    let line = search.line;
    let finding = no_drop::search(device, search.plan, &mut tell).map_err(Error::check_failed)?;
    screen.clear();
    Ok(SizeResult {
        size: size.to_string(),
        size_mean: size.frame_bytes_mean() + traffic::FCS_BYTES as f64,
        line,
        finding,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// The sizes that come after this one.
#[derive(Clone, Copy, Debug)]
struct Following {
    sizes: usize,
    /// What a size took so far, seconds.
    mean: Option<f64>,
}

impl Following {
    fn of(done: &[SizeResult], all: usize) -> Self {
        let taken: f64 = done.iter().map(|size| size.seconds).sum();
        Self {
            sizes: all - done.len() - 1,
            mean: (!done.is_empty()).then(|| taken / done.len() as f64),
        }
    }

    /// What all sizes together still take, if each takes as long as those before it.
    fn left(self, elapsed: Duration, left: f64) -> Option<String> {
        let each = self.mean.unwrap_or(elapsed.as_secs_f64() + left);
        let all = left + each * self.sizes as f64;
        (self.sizes > 0).then(|| format!("{} for all sizes", seconds(all)))
    }
}

fn live_line(
    size: &traffic::Sizes,
    progress: &Progress,
    trial: &TrialPlan,
    pace: &Pace,
) -> Vec<String> {
    vec![
        format!("  {size}: {}", progress.doing),
        format!(
            "trial {}, {}pps for {}",
            progress.trials + 1,
            brief(trial.load as f64),
            seconds(trial.duration.as_secs_f64())
        ),
        format!("about {} left", seconds(pace.left(progress.left))),
    ]
}

fn write(
    results: &Results,
    json: Option<Destination>,
    html: Option<Destination>,
    output: Output,
) -> Result<(), Error> {
    let stream = Stream::Stdout;
    let run = json::Run::new(results);
    match (&json, &html) {
        (Some(Destination::Stdout), _) => output.print_json(&run)?,
        (_, Some(Destination::Stdout)) => output.print(stream, &page::render(results))?,
        _ => {
            let (paint, width) = (output.paint(stream), output.width(stream));
            output.print(stream, &text::render(results, paint, width))?
        }
    };
    if let Some(json) = json {
        let text = serde_json::to_string(&run);
        let text = text.map_err(|error| Error::check_failed(format!("no JSON: {error}")))?;
        json.write(&(text + "\n"))?;
    }
    if let Some(html) = html {
        html.write(&page::render(results))?;
    }
    Ok(())
}
