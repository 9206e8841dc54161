//! Again and again: the rhythm, and where the text goes.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::interrupt::Interrupt;

/// How soon Ctrl-C is noticed.
const NAP: Duration = Duration::from_millis(50);

/// Something done in even steps until Ctrl-C.
pub(super) struct Rhythm {
    interval: Duration,
    interrupt: Interrupt,
}

impl Rhythm {
    pub(super) fn new(interval: Duration) -> Result<Self, Error> {
        Ok(Self {
            interval,
            interrupt: Interrupt::watch()?,
        })
    }

    /// Does it now and after each interval, until Ctrl-C or until it says false.
    pub(super) fn each(&self, mut act: impl FnMut() -> Result<bool, Error>) -> Outcome {
        let mut due = Instant::now();
        while !self.interrupt.is_asked() {
            let now = Instant::now();
            if now < due {
                thread::sleep((due - now).min(NAP));
                continue;
            }
            if !act()? {
                break;
            }
            // What took longer than an interval is not made up for.
            due = (due + self.interval).max(now);
        }
        Ok(ExitCode::Done)
    }
}

/// A page over the one before on a terminal, below it elsewhere.
pub(super) fn page(text: &str) -> String {
    if io::stdout().is_terminal() {
        // Home, and everything from there on is cleared.
        format!("\x1b[H\x1b[J{text}")
    } else {
        format!("{text}\n")
    }
}
