//! `linerate ndr --http`: the same search, of an HTTP server and by what is expected of it.

mod device;
mod json;
mod result;
mod text;

use std::time::Instant;

use lab::no_drop::{self, Goal, LoadLimit, Progress, SearchPlan, TrialPlan};
use load::client::Url;

use self::device::{ClosedLoop, ServerDevice};
use self::result::{Asked, Results};
use super::{Destination, LIVE, LIVE_PLAIN, Pace, destination};
use crate::args::{NdrArgs, NdrSearchArgs};
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::{rate, seconds};
use crate::run::warn_of_debug_build;
use crate::screen::Screen;

/// The largest load is so many times what a closed loop gets: an open one that queues behind the
/// same connections gets no more.
const CLOSED_TIMES: f64 = 2.0;
/// The same where the CPU of this client was the limit: it has to be in time, too.
const BUSY_TIMES: f64 = 0.9;

/// Searches the rate of the server at `url`.
pub(super) fn run(args: &NdrArgs, url: &Url, output: Output) -> Outcome {
    let json = destination(args.json.as_deref())?;
    let mut plan = plan(&args.search)?;
    let limits = Limits::of(&args.search)?;
    warn_of_debug_build(output);
    let interrupt = Interrupt::watch()?;
    let mut device = ServerDevice::new(args, url, &interrupt)?;
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    screen.begin(&format!("  {}: first look", url.host));
    let begun = Instant::now();
    let closed = device
        .closed_loop(args.search.duration)
        .map_err(Error::check_failed)?;
    limits.set(&mut plan, closed)?;
    let mut pace = Pace::new(begun, false);
    let mut tell = |progress: &Progress, trial: &TrialPlan| {
        if screen.is_due() {
            screen.show(&live_line(progress, trial, &pace));
        }
        pace.add(trial.duration);
        !interrupt.is_asked()
    };
    let finding = no_drop::search(&mut device, plan, &mut tell).map_err(Error::check_failed)?;
    screen.clear();
    let asked = Asked { args, url, closed };
    let results = Results::new(asked, finding, device.trials);
    results
        .warnings
        .iter()
        .for_each(|warning| output.warn(warning));
    write(&results, json, output)?;
    Ok(match results.finding.is_sound() {
        true => ExitCode::Done,
        false => ExitCode::CheckFailed,
    })
}

/// A search for the one goal that all which is expected holds.
fn plan(search: &NdrSearchArgs) -> Result<SearchPlan, Error> {
    let goal = Goal {
        duration_sum: search.duration * search.confirm,
        exceed: search.exceed,
        ..Goal::new(0.0, search.duration, search.precision)
    };
    goal.check().map_err(Error::refused)?;
    let mut plan = SearchPlan::new(vec![goal], u64::MAX, LoadLimit::Asked);
    plan.trials_max = search.trials as usize;
    Ok(plan)
}

/// Requests a second between which a rate is searched.
struct Limits {
    least: u64,
    most: Option<u64>,
}

impl Limits {
    fn of(search: &NdrSearchArgs) -> Result<Self, Error> {
        let number = |rate: traffic::Rate| match rate {
            traffic::Rate::Frames(number) => Ok(number),
            _ => Err(Error::refused(
                "--min and --max are requests a second with --http: write 1000 or 50k",
            )),
        };
        Ok(Self {
            least: number(search.min)?.max(1),
            most: search.max.map(number).transpose()?,
        })
    }

    fn set(&self, plan: &mut SearchPlan, closed: ClosedLoop) -> Result<(), Error> {
        let times = match closed.is_busy {
            true => BUSY_TIMES,
            false => CLOSED_TIMES,
        };
        let ceiling = (closed.rate * times).ceil() as u64;
        plan.load_min = self.least;
        (plan.load_max, plan.limit) = match self.most {
            Some(most) if most <= ceiling => (most, LoadLimit::Asked),
            _ => (ceiling, LoadLimit::Sender),
        };
        if plan.load_max < plan.load_min {
            return Err(Error::refused(format!(
                "no rate from {} to {} req/s is left to try (a closed loop got {}): change --min \
                 or --max, or give more connections (-c)",
                plan.load_min,
                plan.load_max,
                rate(closed.rate, "req/s")
            )));
        }
        Ok(())
    }
}

fn live_line(progress: &Progress, trial: &TrialPlan, pace: &Pace) -> Vec<String> {
    vec![
        format!("  {}", progress.doing),
        format!(
            "trial {}, {} for {}",
            progress.trials + 1,
            rate(trial.load as f64, "req/s"),
            seconds(trial.duration.as_secs_f64())
        ),
        format!("about {} left", seconds(pace.left(progress.left))),
    ]
}

fn write(results: &Results, json: Option<Destination>, output: Output) -> Result<(), Error> {
    let stream = Stream::Stdout;
    let run = json::Run::new(results);
    match json {
        Some(Destination::Stdout) => output.print_json(&run).map(drop),
        file => {
            let (paint, width) = (output.paint(stream), output.width(stream));
            output.print(stream, &text::render(results, paint, width))?;
            let text = serde_json::to_string_pretty(&run)
                .map_err(|error| Error::check_failed(format!("no JSON: {error}")))?;
            file.map_or(Ok(()), |file| file.write(&(text + "\n")).map(drop))
        }
    }
}
