//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean end, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Error;
use crate::exit::ExitCode;

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
        Self::ending_by([SIGINT, SIGTERM].into_iter().chain(hangup))
    }

    /// The same for a screen, which SIGHUP ends at once: its terminal is gone, and there is nothing
    /// to put back.
    pub(crate) fn watch_on_screen() -> Result<Self, Error> {
        Self::ending_by([SIGINT, SIGTERM])
    }

    /// The same for a daemon, which SIGHUP tells to read its configuration again.
    pub(crate) fn watch_and_reload() -> Result<Self, Error> {
        let interrupt = Self::ending_by([SIGINT, SIGTERM])?;
        flag::register(SIGHUP, Arc::clone(&interrupt.reload)).map_err(|error| uncaught(&error))?;
        Ok(interrupt)
    }

    fn ending_by(signals: impl IntoIterator<Item = i32>) -> Result<Self, Error> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in signals {
            // Order matters: the first signal must find the flag down and only then raise it.
            let code = ExitCode::CheckFailed as i32;
            flag::register_conditional_shutdown(signal, code, Arc::clone(&asked))
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
