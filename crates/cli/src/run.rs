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
    )
}

/// Watches a run to its end, or until the first Ctrl-C.
pub(crate) fn watch(
    running: Running,
    interrupt: &Interrupt,
    screen: &mut Screen,
) -> Result<RunReport, Error> {
    let mut before = running.snapshot();
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
            .for_each(|news| screen.warn(news));
        if screen.is_due() {
            let now = running.snapshot();
            screen.show(&live_line(&before, &now, &running));
            before = now;
        }
        thread::sleep(nap);
        nap = (nap * 2).min(NAP_LAST);
    }
    running
        .take_news()
        .iter()
        .for_each(|news| screen.warn(news));
    screen.clear();
    running.join().map_err(Error::check_failed)
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

fn judge(run: &RunReport, report: &Report) -> Outcome {
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
