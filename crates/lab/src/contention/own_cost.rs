//! What recording costs whoever is watched: the same call with and without it.

use std::hint::black_box;
use std::io;
use std::sync::atomic::AtomicU32;

use rustix::thread::futex;

use super::recorder::{Over, Recorder};
use super::tracefs::Tracepoints;
use crate::Samples;
use crate::sys::perf_event::{Code, Counter, SOFTWARE, Scope};

/// `PERF_COUNT_SW_TASK_CLOCK`.
const TASK_CLOCK: u64 = 1;
const ROUNDS: usize = 7;
/// Calls of a round: two records each, which a ring has room for.
const CALLS: u32 = 1000;

/// What a call of `futex(2)` takes that does not wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnCost {
    /// Without recording, nanoseconds.
    pub off_ns: f64,
    /// With it.
    pub on_ns: f64,
}

impl OwnCost {
    /// Nanoseconds that one record costs: such a call has two.
    #[must_use]
    pub fn of_a_record(&self) -> f64 {
        (self.on_ns - self.off_ns).max(0.0) / 2.0
    }
}

/// Interleaved rounds with and without, in this thread. Its CPU time counts, so that other work on
/// the machine does not.
pub(super) fn measure(tracepoints: &Tracepoints) -> Result<OwnCost, String> {
    let clock = Code {
        kind: SOFTWARE,
        config: TASK_CLOCK,
    };
    let refused = |error: io::Error| format!("the own cost cannot be measured: {error}");
    let clock = Counter::open(clock, Scope::ThisThread, false).map_err(refused)?;
    clock.begin().map_err(refused)?;
    let (mut off, mut on) = (Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        off.push(calls(&clock).map_err(refused)?);
        let recorder = Recorder::open(tracepoints, Over::ThisThread)?;
        recorder.begin();
        on.push(calls(&clock).map_err(refused)?);
    }
    Ok(OwnCost {
        off_ns: off.median(),
        on_ns: on.median(),
    })
}

/// Nanoseconds of a call that finds another value than it is to wait for.
fn calls(clock: &Counter) -> io::Result<f64> {
    let word = AtomicU32::new(1);
    let begun = clock.read()?.value;
    for _ in 0..CALLS {
        // It fails by design: EAGAIN.
        let _ = black_box(futex::wait(&word, futex::Flags::PRIVATE, 0, None));
    }
    let taken = clock.read()?.value.saturating_sub(begun);
    Ok(taken as f64 / f64::from(CALLS))
}
