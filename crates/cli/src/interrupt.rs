//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean end, a later one ends at once.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::error::Error;
use crate::exit::ExitCode;

/// Signals within so long of the first are the same wish: timeout(1) signals its child and then the
/// group that the child is in.
const SAME_WISH: Duration = Duration::from_millis(300);

/// Whether somebody asked the program to end.
#[derive(Debug)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches the signals from now on; before that they end the program as usual.
    pub(crate) fn watch() -> Result<Self, Error> {
        let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
        let impatient = impatient_later([SIGINT, SIGTERM].into_iter().chain(hangup))?;
        Self::ending_by([SIGINT, SIGTERM].into_iter().chain(hangup), &impatient)
    }

    /// The same for a screen, which SIGHUP ends at once: its terminal is gone, and there is nothing
    /// to put back.
    pub(crate) fn watch_on_screen() -> Result<Self, Error> {
        let impatient = impatient_later([SIGINT, SIGTERM])?;
        Self::ending_by([SIGINT, SIGTERM], &impatient)
    }

    /// The same for a daemon, which SIGHUP tells to read its configuration again. No thread is
    /// begun for it, since it would keep the privileges that are given up later: each signal
    /// counts by itself.
    pub(crate) fn watch_and_reload() -> Result<Self, Error> {
        let asked = Arc::new(AtomicBool::new(false));
        let interrupt = Self::ending(asked.clone(), [SIGINT, SIGTERM], &asked)?;
        flag::register(SIGHUP, Arc::clone(&interrupt.reload)).map_err(|error| uncaught(&error))?;
        Ok(interrupt)
    }

    fn ending_by(
        signals: impl IntoIterator<Item = i32>,
        impatient: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        Self::ending(Arc::default(), signals, impatient)
    }

    /// Each of `signals` raises `asked`, and ends the program where it finds `impatient` raised.
    fn ending(
        asked: Arc<AtomicBool>,
        signals: impl IntoIterator<Item = i32>,
        impatient: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        for signal in signals {
            // Order matters: the first signal must find the flag down and only then raise it.
            let code = ExitCode::CheckFailed as i32;
            flag::register_conditional_shutdown(signal, code, Arc::clone(impatient))
                .and_then(|_| flag::register(signal, Arc::clone(&asked)))
                .map_err(|error| uncaught(&error))?;
        }
        let reload = Arc::default();
        Ok(Self { asked, reload })
    }

    /// The same, for who looks at it elsewhere.
    pub(crate) fn asked(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether the configuration is to be read again; each signal is told once.
    pub(crate) fn is_to_reload(&self) -> bool {
        self.reload.swap(false, Ordering::Relaxed)
    }
}

/// Raised so long after the first of these signals as is the [`SAME_WISH`], by a thread that waits
/// for it.
fn impatient_later(signals: impl IntoIterator<Item = i32>) -> Result<Arc<AtomicBool>, Error> {
    let impatient = Arc::new(AtomicBool::new(false));
    let mut first = told_of(signals)?;
    let raised = Arc::clone(&impatient);
    in_background(move || {
        while first.read_exact(&mut [0]).is_ok() {
            thread::sleep(SAME_WISH);
            raised.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(impatient)
}

/// For what has no clean end between its beginning and its result: the first signal ends the
/// program with this sentence.
pub(crate) fn end_with(sentence: &'static str) -> Result<(), Error> {
    let hangup = (!hangup_is_ignored()).then_some(SIGHUP);
    let mut signals = told_of([SIGINT, SIGTERM].into_iter().chain(hangup))?;
    in_background(move || {
        if signals.read_exact(&mut [0]).is_ok() {
            eprintln!("linerate: {sentence}");
            std::process::exit(ExitCode::CheckFailed as i32);
        }
    })
}

/// Has a byte to read for each of these signals that comes; its other end lives as long as the
/// program does.
fn told_of(signals: impl IntoIterator<Item = i32>) -> Result<UnixStream, Error> {
    let (first, told) = UnixStream::pair().map_err(|error| uncaught(&error))?;
    for signal in signals {
        let told = told.try_clone().map_err(|error| uncaught(&error))?;
        pipe::register(signal, told).map_err(|error| uncaught(&error))?;
    }
    Ok(first)
}

fn in_background(wait: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(wait).map_err(|error| uncaught(&error))?;
    Ok(())
}

fn uncaught(error: &std::io::Error) -> Error {
    Error::refused(format!("signals cannot be caught: {error}"))
}

/// Whether whoever started the program wants it to outlive the terminal, as nohup(1) does.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}
