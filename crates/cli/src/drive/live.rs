//! A trial from start to end: live lines and Ctrl-C.

use std::thread;
use std::time::{Duration, Instant};

use engine::{Drive, DriveSnapshot, Trial, TrialReport};

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::report::number::{self, count};
use crate::screen::Screen;

/// How often a run says where it is, on a terminal and elsewhere.
const LIVE: Duration = Duration::from_secs(1);
const LIVE_PLAIN: Duration = Duration::from_secs(10);
/// How long the screen sleeps between two looks at a run, growing to the second.
const NAP_FIRST: Duration = Duration::from_millis(1);
const NAP_LAST: Duration = Duration::from_millis(20);

/// Runs a trial to its end, or until the first Ctrl-C; shows how it goes where told by what.
pub(super) fn run_trial(
    drive: Drive,
    trial: &Trial,
    interrupt: &Interrupt,
    shown_by: Option<Output>,
) -> Result<(Drive, TrialReport), Error> {
    let mut screen = shown_by.map(|output| Screen::live(output, LIVE, Some(LIVE_PLAIN)));
    let running = drive.start(trial).map_err(Error::refused)?;
    let mut before = running.snapshot();
    let mut nap = NAP_FIRST;
    let mut stopped: Option<Instant> = None;
    while !running.is_finished() {
        if interrupt.is_asked() && stopped.is_none() {
            running.stop();
            stopped = Some(Instant::now());
        }
        if let Some(screen) = &mut screen {
            let news = running.take_news();
            news.iter().for_each(|news| screen.warn(news));
            if screen.is_due() {
                let now = running.snapshot();
                screen.show(&live_line(&before, &now));
                before = now;
            }
        }
        thread::sleep(nap);
        nap = (nap * 2).min(NAP_LAST);
    }
    if let Some(screen) = &mut screen {
        let news = running.take_news();
        news.iter().for_each(|news| screen.warn(news));
        screen.clear();
    }
    running.join().map_err(Error::check_failed)
}

/// What happened since the last line.
fn live_line(before: &DriveSnapshot, now: &DriveSnapshot) -> Vec<String> {
    let seconds = (now.seconds - before.seconds).max(1e-9);
    let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    let mut parts = vec![format!("  {:>3.0} s", now.seconds)];
    if now.tx != 0 {
        parts.push(format!(
            "{} sent",
            number::rate(rate(now.sent, before.sent), "pps")
        ));
    }
    if now.rx != 0 {
        parts.push(format!(
            "{} taken in",
            number::rate(rate(now.rx, before.rx), "pps")
        ));
        parts.push(format!("{} test frames", count(now.signed)));
    }
    let full = now.full_nanos.saturating_sub(before.full_nanos) as f64 / 1e9 / seconds;
    if full > 0.001 {
        parts.push(format!("{:.0} % waiting for the port", full * 100.0));
    }
    parts
}
