//! Rings of records of all tracepoints, one ring a CPU.

use std::fs;
use std::io;

use super::pairing::Pairing;
use super::sample;
use super::tracefs::Tracepoints;
use crate::online::online;
use crate::sys::perf_event::{Counter, Scope};
use crate::sys::perf_ring::Ring;

/// Pages of a ring: room for some thousand records.
const PAGES: usize = 256;

/// Whose waits are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Of programs that this thread starts.
    Children,
    /// Of this thread alone.
    ThisThread,
    /// Of everything.
    Machine,
}

/// Counters that record, and their rings.
#[derive(Debug)]
pub(super) struct Recorder {
    tracepoints: Tracepoints,
    counters: Vec<Counter>,
    rings: Vec<Ring>,
}

impl Recorder {
    /// Opens all; whole-machine recorders begin at once, and those of children as these start.
    pub(super) fn open(tracepoints: &Tracepoints, over: Over) -> Result<Self, String> {
        let mut recorder = Self {
            tracepoints: *tracepoints,
            counters: Vec::new(),
            rings: Vec::new(),
        };
        let opened = scopes(over)
            .into_iter()
            .try_for_each(|scope| recorder.add(scope));
        opened.map_err(|error| refused(&error))?;
        if over == Over::Machine {
            recorder.begin();
        }
        Ok(recorder)
    }

    /// One ring, which all tracepoints of a scope share.
    fn add(&mut self, scope: Scope) -> io::Result<()> {
        let first = self.counters.len();
        for (number, calls) in numbers(&self.tracepoints) {
            let counter = Counter::record(number, scope, calls)?;
            match self.counters.get(first) {
                Some(owner) => counter.join(owner)?,
                None => self.rings.push(Ring::of(&counter, PAGES)?),
            }
            self.counters.push(counter);
        }
        Ok(())
    }

    pub(super) fn begin(&self) {
        // One that does not begin has no records.
        self.counters
            .iter()
            .for_each(|counter| drop(counter.begin()));
    }

    pub(super) fn end(&self) {
        self.counters.iter().for_each(|counter| drop(counter.end()));
    }

    /// Takes in what was recorded since the last time.
    pub(super) fn read(&mut self, pairing: &mut Pairing) {
        let tracepoints = self.tracepoints;
        for ring in &mut self.rings {
            ring.drain(|record| pairing.take(sample::read(record, &tracepoints)));
        }
    }
}

fn scopes(over: Over) -> Vec<Scope> {
    match over {
        Over::ThisThread => vec![Scope::ThisThread],
        Over::Children => online().into_iter().map(Scope::ChildrenOn).collect(),
        Over::Machine => online().into_iter().map(Scope::Cpu).collect(),
    }
}

/// The tracepoints' numbers, and whether the calls that lead there are wanted.
fn numbers(tracepoints: &Tracepoints) -> Vec<(u64, bool)> {
    let mut numbers = Vec::new();
    if let Some(points) = &tracepoints.locks {
        numbers.extend([(points.begin, true), (points.end, false)]);
    }
    if let Some(points) = &tracepoints.futexes {
        numbers.extend([(points.enter, false), (points.exit, false)]);
    }
    numbers
}

fn refused(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            format!(
                "this user may not record tracepoints (kernel.perf_event_paranoid is {}): run it \
                 as root or with CAP_PERFMON",
                paranoid.unwrap_or_default().trim()
            )
        }
        _ => format!("the kernel does not record its tracepoints here: {error}"),
    }
}
