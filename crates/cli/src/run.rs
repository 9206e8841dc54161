//! A run from start to end: live lines, Ctrl-C, and what the end means for the exit code.

use std::thread;
use std::time::{Duration, Instant};

use daemon::Layout;
use engine::{EndedBy, Engine, Plan, RunReport, Running, Snapshot};
use port::PortErrorKind;

use crate::build;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number::rate;
use crate::report::{self, Report};
use crate::screen::Screen;

/// How long the screen sleeps between two looks at a run. Short at first, since a small capture
/// is filtered in a millisecond.
const NAP_FIRST: Duration = Duration::from_millis(1);
const NAP_LAST: Duration = Duration::from_millis(20);

/// After Ctrl-C workers send what they hold, which takes milliseconds; whoever waits longer is
/// told.
const STALLED_AFTER: Duration = Duration::from_secs(3);

/// Runs a plan to its end, or until the first Ctrl-C.
pub(crate) fn drive(
    plan: Plan,
    interrupt: &Interrupt,
    screen: &mut Screen,
) -> Result<RunReport, Error> {
    watch(
        Engine::start(plan).map_err(Error::refused)?,
        interrupt,
        screen,
        Vec::new,
    )
}

/// Who watches a run beside its supervisor.
pub(crate) trait Onlooker {
    /// Looks at the run, every few milliseconds; returns sentences beside the run's own.
    fn look(&mut self) -> Vec<String>;

    /// The parts of a live line.
    fn line(&mut self, now: &Snapshot, running: &Running) -> Vec<String>;
}

/// Shows frames, and sentences that come from somewhere else.
struct FrameWatch<F> {
    before: Snapshot,
    news: F,
}

impl<F: Fn() -> Vec<String>> Onlooker for FrameWatch<F> {
    fn look(&mut self) -> Vec<String> {
        (self.news)()
    }

    fn line(&mut self, now: &Snapshot, running: &Running) -> Vec<String> {
        let line = live_line(&self.before, now, running);
        self.before = *now;
        line
    }
}

/// Watches a run to its end, or until the first Ctrl-C. `news` has sentences beside the run's own.
pub(crate) fn watch(
    running: Running,
    interrupt: &Interrupt,
    screen: &mut Screen,
    news: impl Fn() -> Vec<String>,
) -> Result<RunReport, Error> {
    let before = running.snapshot();
    watch_by(running, interrupt, screen, &mut FrameWatch { before, news })
}

/// [`watch`], with what an onlooker says and shows.
pub(crate) fn watch_by(
    running: Running,
    interrupt: &Interrupt,
    screen: &mut Screen,
    onlooker: &mut impl Onlooker,
) -> Result<RunReport, Error> {
    let mut nap = NAP_FIRST;
    let mut asked: Option<Instant> = None;
    let mut told = false;
    while !running.is_finished() {
        if interrupt.is_asked() {
            running.stop();
            let since = *asked.get_or_insert_with(Instant::now);
            if !told && since.elapsed() > STALLED_AFTER {
                told = true;
                screen.warn(
                    "an output takes nothing of what is left to write; Ctrl-C once more ends \
                     without it",
                );
            }
        }
        running
            .take_news()
            .iter()
            .chain(&onlooker.look())
            .for_each(|news| screen.warn(news));
        if screen.is_due() {
            screen.show(&onlooker.line(&running.snapshot(), &running));
        }
        thread::sleep(nap);
        nap = (nap * 2).min(NAP_LAST);
    }
    running
        .take_news()
        .iter()
        .for_each(|news| screen.warn(news));
    screen.clear();
    let report = running.join().map_err(Error::check_failed);
    onlooker.look();
    report
}

/// What happened since the last line.
fn live_line(before: &Snapshot, now: &Snapshot, running: &Running) -> Vec<String> {
    let frames = now.rx.saturating_sub(before.rx) as f64;
    let seconds = (now.seconds - before.seconds).max(1e-9);
    let busy = now.busy_nanos.saturating_sub(before.busy_nanos) as f64;
    let dropped = now.dropped.saturating_sub(before.dropped) as f64;
    let per_frame = |part: f64| if frames > 0.0 { part / frames } else { 0.0 };
    vec![
        format!("  {:>3.0} s", now.seconds),
        format!("{:>11}", rate(frames / seconds, "pps")),
        format!("{:>6.1} ns a frame", per_frame(busy)),
        format!("{:>5.1} % dropped", per_frame(dropped) * 100.0),
        running.memory().pages.clone(),
    ]
}

/// Prints the report, to standard output as JSON or as text, and judges the run.
pub(crate) fn conclude(
    run: &RunReport,
    report: &Report,
    json: bool,
    report_to: Stream,
    output: Output,
) -> Outcome {
    for warning in &report.warnings {
        output.warn(warning);
    }
    if json {
        output.print_json(report)?;
    } else {
        let (paint, width) = (output.paint(report_to), output.width(report_to));
        output.print(report_to, &report::render(report, paint, width))?;
    }
    judge(run, report)
}

/// Whether a run is what it should be.
pub(crate) fn judge(run: &RunReport, report: &Report) -> Outcome {
    match &run.ended_by {
        // Who reads our output has seen enough: no fault of this run.
        EndedBy::Failed(error) if error.kind() == PortErrorKind::BrokenPipe => {}
        EndedBy::Failed(error) => return Err(Error::of_port(error)),
        _ => {}
    }
    if !run.balanced {
        return Err(Error::check_failed(
            "the books do not balance: frames were lost without a reason, which is a bug; please \
             report it with the command line and the output of --json",
        ));
    }
    match report.ledger.complaint() {
        Some(complaint) => Err(Error::check_failed(complaint)),
        None => Ok(ExitCode::Done),
    }
}

/// Names the CPUs that workers of other processes have, too.
pub(crate) fn warn_of_shared_cpus(layout: &Layout, output: Output) {
    for warning in &layout.warnings {
        output.warn(warning);
    }
}

/// Shouts when the figures mean nothing.
pub(crate) fn warn_of_debug_build(output: Output) {
    if build::DEBUG {
        output.warn(build::DEBUG_WARNING);
    }
}
