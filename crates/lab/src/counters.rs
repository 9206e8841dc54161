//! What a program, a process or a CPU waits for, by counters of the kernel and of the CPU.
//!
//! [`measure`] opens whatever of them this machine and this user may have, and says of the rest
//! why it is missing.

mod events;
mod family;
mod interrupts;
mod metrics;
mod missing;
mod session;
mod target;

pub use events::{Event, EventKind};
pub use family::Family;
pub use interrupts::Interrupts;
pub use metrics::{Metric, Threshold, Valued};
pub use target::{Target, measure};
pub(crate) use target::{ended, start, wait};

/// How often an event happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The event.
    pub event: Event,
    /// How often, scaled up where counters of the CPU took turns.
    pub value: f64,
    /// The share of the time for which it was counted: 1 where counters did not take turns.
    pub counted: f64,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which events the CPU is known to have.
    pub family: Family,
    /// From the start to the end.
    pub seconds: f64,
    /// Events that could be counted.
    pub counts: Vec<Count>,
    /// What follows from them.
    pub metrics: Vec<Valued>,
    /// Interrupts of the CPUs that were asked for, or of all; none where the kernel lists none.
    pub interrupts: Option<Interrupts>,
    /// What could not be counted and why, a sentence each.
    pub missing: Vec<String>,
    /// How the command failed; none for success, and where there is no command.
    pub failure: Option<String>,
}
