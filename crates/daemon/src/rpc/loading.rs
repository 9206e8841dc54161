//! `set.load`: an open file of the client's, read here, within bounds.

use super::answers::{LoadParams, Loaded, RefreshParams, Refreshed, RulesLoadParams, RulesLoaded};
use super::error::{ErrorKind, RpcError};
use super::facts::{Facts, Sets};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lists that are read at a time. Each may need gigabytes.
const AT_A_TIME: usize = 2;

/// How long a load waits for others to end.
const TURN_WITHIN: Duration = Duration::from_secs(60);

/// How long a pipe may bring nothing.
const SILENT_MAX: Duration = Duration::from_secs(30);

/// How long a list may take in all: a pipe that trickles keeps a place from others.
const READ_WITHIN: Duration = Duration::from_secs(600);

/// How often it is looked meanwhile whether the daemon stops.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Longest name of a file, bytes.
const NAME_BYTES_MAX: usize = 1024;

/// Who loads.
#[derive(Debug, Default)]
pub(super) struct Loading {
    busy: Mutex<usize>,
    ended: Condvar,
    /// The daemon does not wait for pipes.
    stopping: AtomicBool,
}

/// A place among those that load; free again when it is dropped.
struct Turn<'a>(&'a Loading);

impl Loading {
    /// Reads `file` into the set, when it is its turn.
    pub(super) fn load(
        &self,
        sets: &dyn Sets,
        params: &LoadParams,
        file: OwnedFd,
    ) -> Result<Loaded, RpcError> {
        check_name("set.load", &params.file)?;
        let texts = [&params.column, &params.columns, &params.json_path];
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.len() > NAME_BYTES_MAX)
        {
            let message = format!(
                "params of set.load: column, columns and json_path have at most {NAME_BYTES_MAX} \
                 bytes"
            );
            return Err(RpcError::params(message));
        }
        let _turn = self.turn()?;
        let began = Instant::now();
        let mut input = self.patient(file, began);
        let mut loaded = sets.load(params, &mut input)?;
        loaded.seconds = began.elapsed().as_secs_f64();
        Ok(loaded)
    }

    /// Reads `file` as the rules that are to hold, when it is its turn.
    pub(super) fn rules(
        &self,
        facts: &dyn Facts,
        params: &RulesLoadParams,
        file: OwnedFd,
    ) -> Result<RulesLoaded, RpcError> {
        check_name("rules.load", &params.file)?;
        let _turn = self.turn()?;
        let mut input = self.patient(file, Instant::now());
        facts.load_rules(params, &mut input)
    }

    fn patient(&self, file: OwnedFd, began: Instant) -> Patient<'_> {
        Patient {
            file: File::from(file),
            end: began + READ_WITHIN,
            stopping: &self.stopping,
        }
    }

    /// Has the sources of a set read, when it is its turn.
    pub(super) fn refresh(
        &self,
        sets: &dyn Sets,
        params: &RefreshParams,
    ) -> Result<Refreshed, RpcError> {
        let _turn = self.turn()?;
        let began = Instant::now();
        let mut refreshed = sets.refresh(params)?;
        refreshed.seconds = began.elapsed().as_secs_f64();
        Ok(refreshed)
    }

    /// Gives up what is being read.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    fn turn(&self) -> Result<Turn<'_>, RpcError> {
        let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |busy: &mut usize| *busy >= AT_A_TIME;
        let waited = self.ended.wait_timeout_while(busy, TURN_WITHIN, full);
        let (mut busy, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && *busy >= AT_A_TIME {
            let message = format!("{AT_A_TIME} other lists are being loaded: try again later");
            return Err(RpcError::new(ErrorKind::Busy, message));
        }
        *busy += 1;
        Ok(Turn(self))
    }
}

/// Refuses what is no name for messages.
fn check_name(method: &str, name: &str) -> Result<(), RpcError> {
    let named = (1..=NAME_BYTES_MAX).contains(&name.len());
    if named && !name.contains(char::is_control) {
        return Ok(());
    }
    Err(RpcError::params(format!(
        "params of {method}: file is a name of 1 to {NAME_BYTES_MAX} bytes without control \
         characters"
    )))
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}

/// A file or a pipe that is not waited for without end.
struct Patient<'l> {
    file: File,
    end: Instant,
    stopping: &'l AtomicBool,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let silent = Instant::now() + SILENT_MAX;
        let late = |within: Duration, what: &str| {
            let text = format!("{what} in {} s", within.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        };
        loop {
            let now = Instant::now();
            if self.stopping.load(Ordering::Relaxed) {
                return Err(io::Error::other("the daemon is stopping"));
            }
            if now >= self.end {
                return late(READ_WITHIN, "it did not end");
            }
            if now >= silent {
                return late(SILENT_MAX, "nothing came");
            }
            let mut waiting = [PollFd::new(&self.file, PollFlags::IN)];
            let within = Timespec {
                tv_sec: 0,
                tv_nsec: i64::from(LOOK_EVERY.subsec_nanos()),
            };
            match poll(&mut waiting, Some(&within)) {
                Ok(0) | Err(Errno::INTR) => {}
                _ => return self.file.read(bytes),
            }
        }
    }
}
