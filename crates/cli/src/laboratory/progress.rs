//! How far a run is and how long it will take.

use std::time::{Duration, Instant};

use crate::output::Output;
use crate::screen::Screen;

/// How often a line is due on a terminal, and elsewhere.
const EVERY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));
/// An estimate from less would jump about.
const DONE_MIN: f64 = 0.02;

/// A live line about one experiment.
pub(super) struct Progress {
    screen: Screen,
    name: &'static str,
    begun: Instant,
    done: usize,
}

impl Progress {
    pub(super) fn new(output: Output, name: &'static str) -> Self {
        let mut screen = Screen::live(output, EVERY.0, Some(EVERY.1));
        screen.begin(&format!("  {name}: preparing"));
        Self {
            screen,
            name,
            begun: Instant::now(),
            done: 0,
        }
    }

    /// An experiment in several parts begins again with each.
    pub(super) fn tell(&mut self, done: usize, all: usize) {
        if self.done == 0 || done < self.done {
            self.begun = Instant::now();
        }
        self.done = done;
        if self.screen.is_due() {
            let left = left(done, all, self.begun.elapsed());
            self.screen.show(&[format!("  {}: {left}", self.name)]);
        }
    }

    pub(super) fn end(mut self) {
        self.screen.clear();
    }
}

fn left(done: usize, all: usize, elapsed: Duration) -> String {
    let share = done as f64 / all.max(1) as f64;
    let percent = format!("{:.0} %", share * 100.0);
    if share < DONE_MIN {
        return percent;
    }
    let left = elapsed.as_secs_f64() * (1.0 - share) / share;
    match left {
        left if left < 1.0 => percent,
        left if left < 100.0 => format!("{percent}, about {left:.0} s left"),
        left => format!("{percent}, about {:.0} min left", left / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates() {
        let ten = Duration::from_secs(10);
        assert_eq!(left(0, 0, ten), "0 %");
        assert_eq!(left(1, 100, ten), "1 %");
        assert_eq!(left(50, 100, ten), "50 %, about 10 s left");
        assert_eq!(left(5, 100, ten), "5 %, about 3 min left");
        assert_eq!(left(100, 100, ten), "100 %");
    }
}
