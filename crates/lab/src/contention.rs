//! Who waits for which lock, by tracepoints of the kernel.
//!
//! Kernel locks are seen by `lock:contention_begin` and `lock:contention_end`, user locks by
//! threads that sleep in `futex(2)`. Both see waits alone: for how long a lock is held, and how
//! often it is taken without a wait, no source here can know.

mod kernel;
mod own_cost;
mod pairing;
mod recorder;
mod sample;
mod table;
mod tracefs;

use std::ffi::OsString;
use std::time::{Duration, Instant};

pub use own_cost::OwnCost;
pub use table::{Row, Source};

use crate::counters::{ended, start, wait};
use kernel::Symbols;
use pairing::Pairing;
use recorder::{Over, Recorder};
use table::Waits;
use tracefs::Tracepoints;

/// How often records are read.
const EVERY: Duration = Duration::from_millis(10);

/// What is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A program that is started for it, and all that it starts.
    Command(Vec<OsString>),
    /// The whole machine, for so long.
    Machine(Duration),
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// From the start to the end.
    pub seconds: f64,
    /// A row a lock and place, in no order.
    pub rows: Vec<Row>,
    /// Records that were read.
    pub records: u64,
    /// Records that the kernel dropped, since the ring was full, and waits beyond what is kept.
    pub lost: u64,
    /// Waits that had begun and not ended when watching did.
    pub unfinished: u64,
    /// What recording costs.
    pub cost: OwnCost,
    /// Seconds that reading the records took.
    pub reading_seconds: f64,
    /// What could not be watched and why, a sentence each.
    pub missing: Vec<String>,
    /// How the command failed; none for success, and where there is no command.
    pub failure: Option<String>,
}

/// Looks now and then until the command or the time is over, and says how the command failed.
fn follow(
    watched: &Watched,
    is_asked: &dyn Fn() -> bool,
    look: &mut dyn FnMut(),
) -> Result<Option<String>, String> {
    let mut looked = Instant::now();
    let is_over = || {
        if looked.elapsed() >= EVERY {
            look();
            looked = Instant::now();
        }
        is_asked()
    };
    match watched {
        Watched::Machine(wanted) => {
            wait(*wanted, is_over);
            Ok(None)
        }
        Watched::Command(command) => {
            let mut child = start(command)?;
            let status = ended(&mut child, is_over).map_err(|error| format!("waiting: {error}"))?;
            Ok((!status.success()).then(|| status.to_string()))
        }
    }
}

/// Watches until the command ends, the time is over, or `is_asked` says so.
///
/// # Errors
/// There are no tracepoints, this user may not have them, or the command cannot be started, as a
/// sentence.
pub fn watch(watched: &Watched, is_asked: &dyn Fn() -> bool) -> Result<Report, String> {
    let tracepoints = Tracepoints::find()?;
    let cost = own_cost::measure(&tracepoints)?;
    let over = match watched {
        Watched::Command(_) => Over::Children,
        Watched::Machine(_) => Over::Machine,
    };
    let mut recorder = Recorder::open(&tracepoints, over)?;
    let symbols = tracepoints.locks.map(|_| Symbols::read());
    let mut waits = Waits::new(symbols.unwrap_or_default());
    let mut pairing = Pairing::new(std::process::id());
    let mut reading = Duration::ZERO;
    let mut look = || {
        let begun = Instant::now();
        recorder.read(&mut pairing);
        pairing.settle(&mut waits);
        reading += begun.elapsed();
    };
    let begun = Instant::now();
    let failure = follow(watched, is_asked, &mut look)?;
    let seconds = begun.elapsed().as_secs_f64();
    recorder.end();
    recorder.read(&mut pairing);
    let unfinished = pairing.finish(&mut waits);
    Ok(Report {
        seconds,
        records: pairing.records,
        lost: pairing.lost + waits.beyond,
        unfinished,
        rows: waits.rows(),
        cost,
        reading_seconds: reading.as_secs_f64(),
        missing: tracepoints.missing(),
        failure,
    })
}
