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

/// A pause in a capture that is worth a word, nanoseconds.
const PAUSE_NANOS: u64 = 3_000_000_000;

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
    let mut paused = false;
    while !running.is_finished() {
        if interrupt.is_asked() && stopped.is_none() {
            running.stop();
            stopped = Some(Instant::now());
        }
        if let Some(screen) = &mut screen {
            let news = running.take_news();
            news.iter().for_each(|news| screen.warn(news));
            let now = running.snapshot();
            let pauses = now.pause_nanos >= PAUSE_NANOS;
            if pauses && !std::mem::replace(&mut paused, pauses) {
                screen.tell(&[
                    pause(now.pause_nanos),
                    "--speed max sends without pauses".into(),
                ]);
            }
            paused &= now.pause_nanos != 0;
            if screen.is_due() {
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
    if now.pause_nanos >= PAUSE_NANOS {
        parts.push(pause(now.pause_nanos));
    }
    let full = now.full_nanos.saturating_sub(before.full_nanos) as f64 / 1e9 / seconds;
    if full > 0.001 {
        parts.push(format!("{:.0} % waiting for the port", full * 100.0));
    }
    parts
}

fn pause(nanos: u64) -> String {
    let seconds = nanos.div_ceil(1_000_000_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let time = match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {minutes} min", count(hours)),
    };
    format!("the capture pauses: its next frame is due in {time}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_told_in_words() {
        for (nanos, time) in [
            (3_000_000_000, "3 s"),
            (59_000_000_001, "1 min 0 s"),
            (65_536_000_000_000, "18 h 12 min"),
            (u64::MAX, "5,124,095 h 34 min"),
        ] {
            let text = pause(nanos);
            assert!(text.ends_with(&format!("due in {time}")), "{text}");
        }
    }
}
