//! How a source's thread is woken: when its time has come, by an operator, by a file that changed,
//! or to end.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// Wakes one thread.
#[derive(Debug)]
pub(crate) struct Signal {
    bell: OwnedFd,
    stopped: AtomicBool,
    wanted: Mutex<Wanted>,
}

/// What operators want, since the thread last looked.
#[derive(Debug, Default)]
struct Wanted {
    now: bool,
    force: bool,
    /// What the thread watches has changed.
    touched: bool,
    /// How often anybody wanted anything.
    asks: u64,
}

/// Why a thread was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Its time has come.
    Due,
    /// What it watches has something to say.
    Touched,
    /// An operator wants it now.
    Asked {
        /// Past the guards.
        force: bool,
        /// Which asking this is, with all before it.
        number: u64,
    },
    /// The daemon is stopping.
    Stop,
}

impl Signal {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            stopped: AtomicBool::new(false),
            wanted: Mutex::default(),
        })
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Wants a read now. Gives back the number of the asking, which what was asked before has, too.
    pub(crate) fn ask(&self, force: bool) -> u64 {
        let mut wanted = self.wanted();
        wanted.now = true;
        wanted.force |= force;
        wanted.asks += 1;
        let number = wanted.asks;
        drop(wanted);
        self.ring();
        number
    }

    /// Says that what the thread watches has changed.
    pub(crate) fn touch(&self) {
        self.wanted().touched = true;
        self.ring();
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody wants a read now, or the end.
    pub(crate) fn is_rung(&self) -> bool {
        self.is_stopped() || self.wanted().now
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn ring(&self) {
        // A full counter rings already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// What was signalled, taken.
    fn taken(&self) -> Option<Why> {
        if self.is_stopped() {
            return Some(Why::Stop);
        }
        let mut wanted = self.wanted();
        let touched = std::mem::take(&mut wanted.touched);
        if !std::mem::take(&mut wanted.now) {
            return touched.then_some(Why::Touched);
        }
        let force = std::mem::take(&mut wanted.force);
        let number = wanted.asks;
        drop(wanted);
        self.hush();
        Some(Why::Asked { force, number })
    }

    /// Sleeps until something is signalled, or the time is over.
    pub(crate) fn wait(&self, time: Duration) -> Why {
        let end = Instant::now() + time.min(Duration::from_secs(7 * 24 * 3600));
        loop {
            if let Some(why) = self.taken() {
                return why;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Why::Due;
            }
            self.sleep(left);
        }
    }

    fn sleep(&self, left: Duration) {
        let mut fds = [PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        // An interrupted wait is looked at again, as a false alarm is.
        let _ = poll(&mut fds, Some(&timeout));
        self.hush();
    }

    /// Ends the ringing; what was signalled stays signalled. For those who wait on the bell.
    pub(crate) fn hush(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.bell, &mut count);
    }

    /// For whoever waits on descriptors of its own: readable when something is signalled.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn each_signal_is_seen_once() {
        let signal = Signal::new().unwrap();
        assert_eq!(signal.wait(Duration::ZERO), Why::Due);
        signal.ask(false);
        signal.ask(true);
        let asked = |force, number| Why::Asked { force, number };
        assert_eq!(signal.wait(LONG), asked(true, 2));
        assert_eq!(signal.wait(Duration::from_millis(1)), Why::Due);
        signal.ask(false);
        assert_eq!(signal.wait(LONG), asked(false, 3));
        signal.stop();
        assert_eq!(signal.wait(LONG), Why::Stop);
        assert_eq!(signal.wait(LONG), Why::Stop);
    }

    #[test]
    fn a_sleeper_is_woken() {
        let signal = Arc::new(Signal::new().unwrap());
        let sleeper = Arc::clone(&signal);
        let thread = std::thread::spawn(move || sleeper.wait(LONG));
        signal.stop();
        assert_eq!(thread.join().unwrap(), Why::Stop);
    }

    #[test]
    fn what_is_watched_wakes_unless_there_is_more() {
        let signal = Signal::new().unwrap();
        signal.touch();
        signal.touch();
        assert_eq!(signal.wait(LONG), Why::Touched);
        assert_eq!(signal.wait(Duration::ZERO), Why::Due);
        signal.touch();
        let number = signal.ask(false);
        let asked = Why::Asked {
            force: false,
            number,
        };
        assert_eq!(signal.wait(LONG), asked);
        assert_eq!(signal.wait(Duration::ZERO), Why::Due);
    }
}
